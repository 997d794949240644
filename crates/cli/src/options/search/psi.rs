//! `CGapTriggerArgs`, `CPsiBlastArgs`, `CPssmEngineArgs`, `CPhiBlastArgs`: iterated searches.

use std::ffi::OsString;

use fleetblast_stats::release::Release;

use super::{EXTENSION, PHI_BLAST, PSI_BLAST, PSI_TBLASTN, PSSM_ENGINE};
use crate::options::constraint::Constraint;
use crate::options::later::Change;
use crate::options::opt::Opt;
use crate::options::spec::OptionSpec;
use crate::options::values::Values;

/// The options, in the order of the usage text.
pub const OPTIONS: &[OptionSpec] = &[
    GAP_TRIGGER.spec,
    NUM_ITERATIONS.spec,
    OUT_PSSM.spec,
    OUT_ASCII_PSSM.spec,
    SAVE_PSSM_AFTER_LAST_ROUND.spec,
    SAVE_EACH_PSSM.spec,
    IN_MSA.spec,
    MSA_MASTER_IDX.spec,
    IGNORE_MSA_MASTER.spec,
    IN_PSSM.spec,
    PSEUDOCOUNT.spec,
    INCLUSION_ETHRESH.spec,
    PHI_PATTERN.spec,
];

/// Options for files that contain the query, which exclude options for the query.
pub const OPTIONS_WITH_QUERY: &[&str] =
    &["in_msa", "msa_master_idx", "ignore_msa_master", "in_pssm"];

/// `-gap_trigger`.
pub const GAP_TRIGGER: Opt<f64> =
    Opt::real("gap_trigger", EXTENSION, &["Number of bits to trigger gapping"])
        .label("float_value")
        .default("22");

/// `-num_iterations`.
pub const NUM_ITERATIONS: Opt<u32> = Opt::integer(
    "num_iterations",
    PSI_BLAST,
    &["Number of iterations to perform (0 means run until convergence)"],
)
.label("int_value")
.default("1")
.with_constraint(Constraint::AtLeast(0))
.excludes(&["remote"]);

/// `-out_pssm`.
pub const OUT_PSSM: Opt<OsString> =
    Opt::output("out_pssm", PSI_BLAST, &["File name to store checkpoint file"])
        .label("checkpoint_file");

/// `-out_ascii_pssm`.
pub const OUT_ASCII_PSSM: Opt<OsString> =
    Opt::output("out_ascii_pssm", PSI_BLAST, &["File name to store ASCII version of PSSM"])
        .label("ascii_mtx_file");

/// `-save_pssm_after_last_round`.
pub const SAVE_PSSM_AFTER_LAST_ROUND: Opt<bool> = Opt::flag(
    "save_pssm_after_last_round",
    PSI_BLAST,
    &["Save PSSM after the last database search"],
);

/// `-save_each_pssm`.
pub const SAVE_EACH_PSSM: Opt<bool> = Opt::flag(
    "save_each_pssm",
    PSI_BLAST,
    &["Save PSSM after each iteration (file name is given in -save_pssm or -save_ascii_pssm \
         options)"],
);

/// `-in_msa`.
pub const IN_MSA: Opt<OsString> = Opt::input(
    "in_msa",
    PSSM_ENGINE,
    &["File name of multiple sequence alignment to restart PSI-BLAST"],
)
.label("align_restart")
.excludes(&["in_pssm", "query", "query_loc", "phi_pattern"]);

/// `-msa_master_idx`.
pub const MSA_MASTER_IDX: Opt<usize> = Opt::integer(
    "msa_master_idx",
    PSSM_ENGINE,
    &["Ordinal number (1-based index) of the sequence to use as a master in the multiple \
         sequence alignment. If not provided, the first sequence in the multiple sequence \
         alignment will be used"],
)
.label("index")
.with_constraint(Constraint::AtLeast(1))
.requires(&["in_msa"])
.excludes(&["in_pssm", "query", "query_loc", "phi_pattern", "ignore_msa_master"]);

/// `-ignore_msa_master`.
pub const IGNORE_MSA_MASTER: Opt<bool> =
    Opt::flag("ignore_msa_master", PSSM_ENGINE, &["Ignore the master sequence when creating PSSM"])
        .requires(&["in_msa"])
        .excludes(&["msa_master_idx", "in_pssm", "query", "query_loc", "phi_pattern"]);

/// `-in_pssm`.
pub const IN_PSSM: Opt<OsString> =
    Opt::input("in_pssm", PSSM_ENGINE, &["PSI-BLAST checkpoint file"])
        .label("psi_chkpt_file")
        .excludes(&[
            "in_msa",
            "msa_master_idx",
            "ignore_msa_master",
            "query",
            "query_loc",
            "phi_pattern",
        ])
        .later(&[Change::Excludes(&[
            "in_msa",
            "msa_master_idx",
            "ignore_msa_master",
            "remote",
            "query",
            "query_loc",
            "phi_pattern",
        ])
        .since(&Release::V2_16_0)]);

/// `-in_pssm` of `tblastn`.
pub const IN_PSSM_OF_TBLASTN: Opt<OsString> =
    Opt::input("in_pssm", PSI_TBLASTN, &["PSI-TBLASTN checkpoint file"])
        .label("psi_chkpt_file")
        .excludes(&["remote", "query", "query_loc"]);

/// `-pseudocount`.
pub const PSEUDOCOUNT: Opt<i32> =
    Opt::integer("pseudocount", PSSM_ENGINE, &["Pseudo-count value used when constructing PSSM"])
        .label("pseudocount")
        .default("0");

/// `-inclusion_ethresh`.
pub const INCLUSION_ETHRESH: Opt<f64> = Opt::real(
    "inclusion_ethresh",
    PSSM_ENGINE,
    &["E-value inclusion threshold for pairwise alignments"],
)
.label("ethresh")
.default("0.002");

/// `-phi_pattern`.
pub const PHI_PATTERN: Opt<OsString> =
    Opt::input("phi_pattern", PHI_BLAST, &["File name containing pattern to search"])
        .label("file")
        .excludes(&["in_msa", "msa_master_idx", "ignore_msa_master", "in_pssm"]);

/// Values of the options for iterated searches.
#[derive(Clone, Debug, PartialEq)]
pub struct PsiOptions {
    /// `-gap_trigger`.
    pub gap_trigger: f64,
    /// `-num_iterations`; 0 to iterate until convergence.
    pub num_iterations: u32,
    /// `-out_pssm`.
    pub out_pssm: Option<OsString>,
    /// `-out_ascii_pssm`.
    pub out_ascii_pssm: Option<OsString>,
    /// `-save_pssm_after_last_round`.
    pub save_pssm_after_last_round: bool,
    /// `-save_each_pssm`.
    pub save_each_pssm: bool,
    /// `-in_msa`.
    pub in_msa: Option<OsString>,
    /// `-msa_master_idx`.
    pub msa_master_idx: Option<usize>,
    /// `-ignore_msa_master`.
    pub ignore_msa_master: bool,
    /// `-in_pssm`.
    pub in_pssm: Option<OsString>,
    /// `-pseudocount`.
    pub pseudocount: i32,
    /// `-inclusion_ethresh`.
    pub inclusion_ethresh: f64,
    /// `-phi_pattern`.
    pub phi_pattern: Option<OsString>,
}

impl PsiOptions {
    /// Reads the values of the options.
    pub fn read(values: &Values<'_>) -> Self {
        Self {
            gap_trigger: values.get(&GAP_TRIGGER),
            num_iterations: values.get(&NUM_ITERATIONS),
            out_pssm: values.optional(&OUT_PSSM),
            out_ascii_pssm: values.optional(&OUT_ASCII_PSSM),
            save_pssm_after_last_round: values.get(&SAVE_PSSM_AFTER_LAST_ROUND),
            save_each_pssm: values.get(&SAVE_EACH_PSSM),
            in_msa: values.optional(&IN_MSA),
            msa_master_idx: values.optional(&MSA_MASTER_IDX),
            ignore_msa_master: values.get(&IGNORE_MSA_MASTER),
            in_pssm: values.optional(&IN_PSSM),
            pseudocount: values.get(&PSEUDOCOUNT),
            inclusion_ethresh: values.get(&INCLUSION_ETHRESH),
            phi_pattern: values.optional(&PHI_PATTERN),
        }
    }
}
