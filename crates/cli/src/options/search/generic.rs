//! `CGenericSearchArgs`: options that most searches have.

use fleetblast_stats::release::Release;

use super::{EXTENSION, GENERAL, RESTRICT, STATISTICS, nucleotide};
use crate::options::constraint::Constraint;
use crate::options::later::{Change, Later};
use crate::options::opt::Opt;
use crate::options::spec::OptionSpec;
use crate::options::values::Values;

/// Options for proteins, in the order of the usage text.
pub const OF_PROTEINS: &[OptionSpec] = &[
    EVALUE.spec,
    WORD_SIZE.with_constraint(Constraint::AtLeast(2)).spec,
    GAPOPEN.spec,
    GAPEXTEND.spec,
    QCOV_HSP_PERC.spec,
    MAX_HSPS.spec,
    XDROP_UNGAP.spec,
    XDROP_GAP.spec,
    XDROP_GAP_FINAL.spec,
    SEARCHSP.spec,
];

/// Options for proteins aligned without gaps, in the order of the usage text.
pub const WITHOUT_GAPS: &[OptionSpec] = &[
    EVALUE.spec,
    WORD_SIZE.with_constraint(Constraint::AtLeast(2)).spec,
    QCOV_HSP_PERC.spec,
    MAX_HSPS.spec,
    XDROP_UNGAP.spec,
    SEARCHSP.spec,
];

/// Options for nucleotides, in the order of the usage text.
pub const OF_NUCLEOTIDES: &[OptionSpec] = &[
    EVALUE
        .later(&[
            EVALUE_OF_TASK[0],
            Change::Help(&[
                "Expectation value (E) threshold for saving hits. Default = 10 (1000 for \
                 blastn-short)",
            ])
            .since(&Release::V2_16_0),
        ])
        .spec,
    WORD_SIZE
        .help(&["Word size for wordfinder algorithm (length of best perfect match)"])
        .with_constraint(Constraint::AtLeast(4))
        .spec,
    GAPOPEN.spec,
    GAPEXTEND.spec,
    nucleotide::PERC_IDENTITY.spec,
    QCOV_HSP_PERC.spec,
    MAX_HSPS.spec,
    XDROP_UNGAP.spec,
    XDROP_GAP.spec,
    XDROP_GAP_FINAL.spec,
    SEARCHSP.spec,
    nucleotide::SUM_STATS.later(&[Change::Removed.since(&Release::V2_16_0)]).spec,
];

/// `-evalue`.
pub const EVALUE: Opt<f64> =
    Opt::real("evalue", GENERAL, &["Expectation value (E) threshold for saving hits "])
        .label("evalue")
        .default("10")
        .later(&EVALUE_OF_TASK);

/// `-evalue` of later releases, whose tasks have defaults of their own.
const EVALUE_OF_TASK: [Later; 2] = [
    Change::Default(None).since(&Release::V2_16_0),
    Change::Help(&["Expectation value (E) threshold for saving hits. Default = 10"])
        .since(&Release::V2_16_0),
];

/// `-word_size`; each program has its own minimum.
pub const WORD_SIZE: Opt<usize> =
    Opt::integer("word_size", GENERAL, &["Word size for wordfinder algorithm"]).label("int_value");

/// `-gapopen`.
pub const GAPOPEN: Opt<i32> =
    Opt::integer("gapopen", GENERAL, &["Cost to open a gap"]).label("open_penalty");

/// `-gapextend`.
pub const GAPEXTEND: Opt<i32> =
    Opt::integer("gapextend", GENERAL, &["Cost to extend a gap"]).label("extend_penalty");

/// `-qcov_hsp_perc`.
pub const QCOV_HSP_PERC: Opt<f64> =
    Opt::real("qcov_hsp_perc", RESTRICT, &["Percent query coverage per hsp"])
        .label("float_value")
        .with_constraint(Constraint::Percent);

/// `-max_hsps`.
pub const MAX_HSPS: Opt<usize> = Opt::integer(
    "max_hsps",
    RESTRICT,
    &["Set maximum number of HSPs per subject sequence to save for each query"],
)
.label("int_value")
.with_constraint(Constraint::AtLeast(1));

/// `-xdrop_ungap`.
pub const XDROP_UNGAP: Opt<f64> =
    Opt::real("xdrop_ungap", EXTENSION, &["X-dropoff value (in bits) for ungapped extensions"])
        .label("float_value");

/// `-xdrop_gap`.
pub const XDROP_GAP: Opt<f64> = Opt::real(
    "xdrop_gap",
    EXTENSION,
    &["X-dropoff value (in bits) for preliminary gapped extensions"],
)
.label("float_value");

/// `-xdrop_gap_final`.
pub const XDROP_GAP_FINAL: Opt<f64> = Opt::real(
    "xdrop_gap_final",
    EXTENSION,
    &["X-dropoff value (in bits) for final gapped alignment"],
)
.label("float_value");

/// `-searchsp`.
pub const SEARCHSP: Opt<i64> =
    Opt::long("searchsp", STATISTICS, &["Effective length of the search space"])
        .label("int_value")
        .with_constraint(Constraint::AtLeast(0));

/// Values of the options that most searches have.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchOptions {
    /// `-evalue`. Tasks have defaults of their own.
    pub evalue: Option<f64>,
    /// `-word_size`.
    pub word_size: Option<usize>,
    /// `-gapopen`.
    pub gap_open: Option<i32>,
    /// `-gapextend`.
    pub gap_extend: Option<i32>,
    /// `-qcov_hsp_perc`.
    pub qcov_hsp_perc: Option<f64>,
    /// `-max_hsps`.
    pub max_hsps: Option<usize>,
    /// `-xdrop_ungap`.
    pub xdrop_ungap: Option<f64>,
    /// `-xdrop_gap`.
    pub xdrop_gap: Option<f64>,
    /// `-xdrop_gap_final`.
    pub xdrop_gap_final: Option<f64>,
    /// `-searchsp`.
    pub searchsp: Option<i64>,
}

impl SearchOptions {
    /// Reads the values of the options.
    pub fn read(values: &Values<'_>) -> Self {
        Self {
            evalue: values.given(&EVALUE),
            word_size: values.optional(&WORD_SIZE),
            gap_open: values.optional_if_listed(&GAPOPEN),
            gap_extend: values.optional_if_listed(&GAPEXTEND),
            qcov_hsp_perc: values.optional(&QCOV_HSP_PERC),
            max_hsps: values.optional(&MAX_HSPS),
            xdrop_ungap: values.optional(&XDROP_UNGAP),
            xdrop_gap: values.optional_if_listed(&XDROP_GAP),
            xdrop_gap_final: values.optional_if_listed(&XDROP_GAP_FINAL),
            searchsp: values.optional(&SEARCHSP),
        }
    }
}
