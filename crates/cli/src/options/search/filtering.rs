//! `CFilteringArgs`: masks of queries.

use std::ffi::OsString;

use fleetblast_stats::release::Release;

use super::FILTER;
use crate::options::later::Change;
use crate::options::opt::Opt;
use crate::options::spec::OptionSpec;
use crate::options::values::Values;

/// Returns the options that mask queries of proteins, in the order of the usage text; `seg` is the
/// default of `-seg`.
pub const fn of_residues(seg: &'static str) -> [OptionSpec; 2] {
    [SEG.default(seg).spec, SOFT_MASKING.spec]
}

/// `-seg`; each program has its own default.
pub const SEG: Opt<OsString> = Opt::text(
    "seg",
    FILTER,
    &["Filter query sequence with SEG (Format: 'yes', 'window locut hicut', or 'no' to disable)"],
)
.label("SEG_options");

/// `-soft_masking`.
pub const SOFT_MASKING: Opt<bool> =
    Opt::boolean("soft_masking", FILTER, &["Apply filtering locations as soft masks"])
        .label("soft_masking")
        .default("false");

/// Values of the options that mask queries of proteins.
#[derive(Clone, Debug, PartialEq)]
pub struct FilteringOptions {
    /// `-seg`.
    pub seg: OsString,
    /// `-soft_masking`.
    pub soft_masking: bool,
}

impl FilteringOptions {
    /// Reads the values of the options.
    pub fn read(values: &Values<'_>) -> Self {
        Self { seg: values.get(&SEG), soft_masking: values.get(&SOFT_MASKING) }
    }
}

/// Options that mask queries of nucleotides, in the order of the usage text.
pub const OF_NUCLEOTIDES: &[OptionSpec] = &[
    DUST.spec,
    FILTERING_DB.spec,
    WINDOW_MASKER_TAXID.spec,
    WINDOW_MASKER_DB.spec,
    SOFT_MASKING.default("true").spec,
];

/// Level, window and linker of DUST.
pub const DEFAULT_DUST: &str = "20 64 1";

/// `-dust`.
pub const DUST: Opt<OsString> = Opt::text(
    "dust",
    FILTER,
    &["Filter query sequence with DUST (Format: 'yes', 'level window linker', or 'no' to \
         disable)"],
)
.label("DUST_options")
.default(DEFAULT_DUST)
.later(&[
    Change::Default(None).since(&Release::V2_16_0),
    Change::Help(&[
        "Filter query sequence with DUST (Format: 'yes', 'level window linker', or 'no' to \
         disable) Default = '20 64 1' ('no' for blastn-short)",
    ])
    .since(&Release::V2_16_0),
]);

/// `-filtering_db`.
pub const FILTERING_DB: Opt<OsString> = Opt::text(
    "filtering_db",
    FILTER,
    &["BLAST database containing filtering elements (i.e.: repeats)"],
)
.label("filtering_database");

/// `-window_masker_taxid`.
pub const WINDOW_MASKER_TAXID: Opt<i32> = Opt::integer(
    "window_masker_taxid",
    FILTER,
    &["Enable WindowMasker filtering using a Taxonomic ID"],
)
.label("window_masker_taxid")
.excludes(&["no_taxid_expansion"]);

/// `-window_masker_db`.
pub const WINDOW_MASKER_DB: Opt<OsString> = Opt::text(
    "window_masker_db",
    FILTER,
    &["Enable WindowMasker filtering using this repeats database."],
)
.label("window_masker_db")
.later(&[Change::Excludes(&["remote"]).since(&Release::V2_17_0)]);

/// Values of the options that mask queries of nucleotides.
#[derive(Clone, Debug, PartialEq)]
pub struct NucleotideFilteringOptions {
    /// `-dust`. Tasks have defaults of their own.
    pub dust: Option<OsString>,
    /// `-filtering_db`.
    pub filtering_db: Option<OsString>,
    /// `-window_masker_taxid`.
    pub window_masker_taxid: Option<i32>,
    /// `-window_masker_db`.
    pub window_masker_db: Option<OsString>,
    /// `-soft_masking`.
    pub soft_masking: bool,
}

impl NucleotideFilteringOptions {
    /// Reads the values of the options.
    pub fn read(values: &Values<'_>) -> Self {
        Self {
            dust: values.given(&DUST),
            filtering_db: values.optional(&FILTERING_DB),
            window_masker_taxid: values.optional(&WINDOW_MASKER_TAXID),
            window_masker_db: values.optional(&WINDOW_MASKER_DB),
            soft_masking: values.get(&SOFT_MASKING),
        }
    }
}
