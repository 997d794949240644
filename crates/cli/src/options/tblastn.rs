//! `tblastn`: its table of options, the single source for the parser, `-h` and `-help`; and the
//! types of their values.

use std::ffi::OsString;

use fleetblast_seq::translation::GeneticCode;
use fleetblast_stats::program::BlastProgram;

use super::RELEASE;
use super::compat;
use super::opt::{Opt, ValueWords};
use super::parse::GivenOptions;
use super::search::composition::{COMP_BASED_STATS, USE_SW_TBACK};
use super::search::nucleotide::SUM_STATS;
use super::search::program::ProgramSpec;
use super::search::protein::{ProteinProgramOptions, TaskDefaults};
use super::search::psi::IN_PSSM_OF_TBLASTN;
use super::search::query;
use super::search::single::{MATRIX, REMOTE_OF_TBLASTN, THRESHOLD, UNGAPPED, WINDOW_SIZE};
use super::search::translation::{DB_GENCODE, MAX_INTRON_LENGTH};
use super::search::{
    self, database, files, filtering, fleet, formatting, generic, hsps, metadata, outfmt,
    resources, strategy, task, threads,
};
use super::spec::{self, Program};
use super::values::Values;

/// Properties of `tblastn` besides its table of options.
pub const SPEC: ProgramSpec =
    ProgramSpec { program: BlastProgram::Tblastn, release: RELEASE, has_sort_options: true };

const TASKS: ValueWords<TaskDefaults, 2> =
    ValueWords::new([("tblastn", TaskDefaults::USUAL), ("tblastn-fast", TaskDefaults::FAST)]);

/// `-task`.
pub const TASK: Opt<TaskDefaults> = task::option(&TASKS, "tblastn");

/// The option whose file takes the place of a query.
const HOLDS_A_QUERY: &[&str] = &["in_pssm"];

/// The command `tblastn` with its table of options.
pub const TBLASTN: Program = Program {
    name: SPEC.name(),
    release: Some(SPEC.release),
    about: "Protein Query-Translated Subject BLAST",
    description: &["Protein Query-Translated Subject BLAST"],
    groups: search::GROUPS_OF_TBLASTN,
    options: &[
        &[spec::H, spec::HELP],
        strategy::OPTIONS,
        &[TASK.spec],
        database::LISTS,
        database::QUERY,
        database::MASKS,
        database::SUBJECTS_OF_NUCLEOTIDES,
        &[files::QUERY.excludes(HOLDS_A_QUERY).spec, files::OUT.spec],
        generic::OF_PROTEINS,
        &[SUM_STATS.spec, DB_GENCODE.spec, UNGAPPED.spec, MAX_INTRON_LENGTH.spec],
        &filtering::of_residues("12 2.2 2.5"),
        &[MATRIX.spec, THRESHOLD.spec],
        hsps::OPTIONS,
        &[WINDOW_SIZE.spec],
        &[
            query::LCASE_MASKING.spec,
            query::QUERY_LOC.excludes(HOLDS_A_QUERY).spec,
            query::PARSE_DEFLINES.spec,
        ],
        &[outfmt::OUTFMT.spec],
        formatting::LAYOUT,
        threads::OPTIONS,
        &[REMOTE_OF_TBLASTN.spec],
        &[COMP_BASED_STATS.spec, USE_SW_TBACK.spec, IN_PSSM_OF_TBLASTN.spec],
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

/// Values of the options of `tblastn`. Options left out are `None`, or hold the default if BLAST+
/// always applies one.
#[derive(Clone, Debug, PartialEq)]
pub struct TblastnOptions {
    /// Options that programs with tasks and amino-acid words share.
    pub shared: ProteinProgramOptions,
    /// `-sum_stats`.
    pub sum_stats: Option<bool>,
    /// `-max_intron_length`, in nucleotides.
    pub max_intron_length: i32,
    /// `-db_gencode`.
    pub db_code: GeneticCode,
    /// `-in_pssm`.
    pub in_pssm: Option<OsString>,
}

impl TblastnOptions {
    /// Reads the values of the options.
    pub fn new(given: &GivenOptions) -> Self {
        let values = Values::new(&TBLASTN, given);
        Self {
            shared: ProteinProgramOptions::read(&values, &TASK),
            sum_stats: values.optional(&SUM_STATS),
            max_intron_length: values.get(&MAX_INTRON_LENGTH),
            db_code: values.get(&DB_GENCODE),
            in_pssm: values.optional(&IN_PSSM_OF_TBLASTN),
        }
    }
}
