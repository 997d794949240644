//! `tblastx`: its table of options, the single source for the parser, `-h` and `-help`; and the
//! types of their values.

use std::ffi::OsString;

use fleetblast_engine::params::Strands;
use fleetblast_seq::translation::GeneticCode;
use fleetblast_stats::program::BlastProgram;

use super::RELEASE;
use super::compat;
use super::parse::GivenOptions;
use super::search::common::CommonOptions;
use super::search::filtering::FilteringOptions;
use super::search::metadata::{self, MetadataOptions};
use super::search::nucleotide::SUM_STATS;
use super::search::program::ProgramSpec;
use super::search::query::{self, STRAND};
use super::search::single::{MATRIX, REMOTE, THRESHOLD, WINDOW_SIZE};
use super::search::translation::{DB_GENCODE, MAX_INTRON_LENGTH, QUERY_GENCODE};
use super::search::{
    self, database, files, filtering, fleet, formatting, generic, hsps, outfmt, resources,
    strategy, threads,
};
use super::spec::{self, Program};
use super::values::Values;

/// Properties of `tblastx` besides its table of options.
pub const SPEC: ProgramSpec =
    ProgramSpec { program: BlastProgram::Tblastx, release: RELEASE, has_sort_options: true };

/// The command `tblastx` with its table of options.
pub const TBLASTX: Program = Program {
    name: SPEC.name(),
    release: Some(SPEC.release),
    about: "Translated Query-Translated Subject BLAST",
    description: &["Translated Query-Translated Subject BLAST"],
    groups: search::GROUPS,
    options: &[
        &[spec::H, spec::HELP],
        strategy::OPTIONS,
        database::LISTS,
        database::QUERY,
        database::MASKS,
        database::SUBJECTS_OF_NUCLEOTIDES,
        files::OPTIONS,
        generic::WITHOUT_GAPS,
        &[SUM_STATS.spec, MAX_INTRON_LENGTH.spec],
        &filtering::of_residues("12 2.2 2.5"),
        &[MATRIX.spec, THRESHOLD.spec],
        hsps::OPTIONS,
        &[WINDOW_SIZE.spec],
        query::OF_NUCLEOTIDES,
        &[QUERY_GENCODE.spec, DB_GENCODE.spec],
        &[outfmt::OUTFMT.spec],
        formatting::LAYOUT,
        threads::WITHOUT_MODE,
        &[REMOTE.spec],
        &[spec::VERSION],
        compat::OPTIONS,
        resources::OPTIONS,
        fleet::OPTIONS,
        metadata::OPTIONS,
    ],
    details: &[],
    own_version: None,
    positional_option: None,
};

/// Values of the options of `tblastx`. Options left out are `None`, or hold the default if BLAST+
/// always applies one.
#[derive(Clone, Debug, PartialEq)]
pub struct TblastxOptions {
    /// Options of all searches.
    pub common: CommonOptions,
    /// Options for a report made at another site.
    pub metadata: MetadataOptions,
    /// Options that mask queries.
    pub filtering: FilteringOptions,
    /// `-matrix`.
    pub matrix: Option<OsString>,
    /// `-threshold`.
    pub threshold: Option<f64>,
    /// `-sum_stats`.
    pub sum_stats: Option<bool>,
    /// `-max_intron_length`, in nucleotides.
    pub max_intron_length: i32,
    /// `-strand`.
    pub strands: Strands,
    /// `-query_gencode`.
    pub query_code: GeneticCode,
    /// `-db_gencode`.
    pub db_code: GeneticCode,
}

impl TblastxOptions {
    /// Reads the values of the options.
    pub fn new(given: &GivenOptions) -> Self {
        let values = Values::new(&TBLASTX, given);
        Self {
            common: CommonOptions { ungapped: true, ..CommonOptions::read(&values) },
            metadata: MetadataOptions::read(&values),
            filtering: FilteringOptions::read(&values),
            matrix: values.optional(&MATRIX),
            threshold: values.optional(&THRESHOLD),
            sum_stats: values.optional(&SUM_STATS),
            max_intron_length: values.get(&MAX_INTRON_LENGTH),
            strands: values.get(&STRAND),
            query_code: values.get(&QUERY_GENCODE),
            db_code: values.get(&DB_GENCODE),
        }
    }
}
