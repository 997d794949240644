//! `psiblast`: its table of options, the single source for the parser, `-h` and `-help`; and the
//! types of their values.

use fleetblast_stats::program::BlastProgram;

use super::RELEASE;
use super::compat;
use super::parse::GivenOptions;
use super::refused::Refused;
use super::search::common::CommonOptions;
use super::search::metadata::{self, MetadataOptions};
use super::search::program::ProgramSpec;
use super::search::protein::ProteinOptions;
use super::search::psi::{self, PsiOptions};
use super::search::single::{MATRIX, REMOTE_OF_PSIBLAST, THRESHOLD, WINDOW_SIZE};
use super::search::{
    self, composition, database, files, filtering, fleet, formatting, generic, hsps, nucleotide,
    outfmt, query, resources, strategy, threads,
};
use super::spec::{self, OptionSpec, Program};
use super::values::Values;

/// Properties of `psiblast` besides its table of options.
pub const SPEC: ProgramSpec = ProgramSpec {
    program: BlastProgram::Psiblast,
    release: RELEASE,
    // `CPsiBlastApp` ignores `-sorthits`, `-sorthsps` and `delim=` in `-outfmt`.
    has_sort_options: false,
};

/// Options of ranks that `psiblast` does not support yet.
const FLEET: [OptionSpec; 2] = [fleet::PLAN.unsupported().spec, fleet::TRACE.unsupported().spec];

/// Metadata options with the encodings that `psiblast` refuses. The OIDs of a hit list are not
/// enough to repeat an iteration.
const METADATA: [OptionSpec; 2] = [
    metadata::METADATA.refused(Refused::ValuesWhen(&["auto", "oids"], "by psiblast")).spec,
    metadata::METADATA_LIMIT.refused(Refused::When("by psiblast")).spec,
];

/// The command `psiblast` with its table of options.
pub const PSIBLAST: Program = Program {
    name: SPEC.name(),
    release: Some(SPEC.release),
    about: "Position-Specific Iterated BLAST",
    description: &["Position-Specific Iterated BLAST"],
    groups: search::GROUPS_OF_PSIBLAST,
    options: &[
        &[spec::H, spec::HELP],
        strategy::OPTIONS,
        database::LISTS,
        database::IDENTICAL_PROTEINS,
        database::QUERY,
        database::SUBJECTS_WITHOUT_MASKS,
        &[files::QUERY.excludes(psi::OPTIONS_WITH_QUERY).spec, files::OUT.spec],
        generic::OF_PROTEINS,
        &[nucleotide::SUM_STATS.refused(Refused::Values(&["true"])).spec],
        &filtering::of_residues("no"),
        &[MATRIX.spec, THRESHOLD.spec],
        hsps::OPTIONS,
        &[WINDOW_SIZE.spec],
        &[
            query::LCASE_MASKING.spec,
            query::QUERY_LOC.excludes(psi::OPTIONS_WITH_QUERY).spec,
            query::PARSE_DEFLINES.spec,
        ],
        &[outfmt::OUTFMT.spec],
        formatting::LAYOUT,
        threads::WITHOUT_MODE,
        &[REMOTE_OF_PSIBLAST.spec],
        composition::OPTIONS,
        psi::OPTIONS,
        &[spec::VERSION],
        compat::OPTIONS,
        resources::OPTIONS,
        &fleet::with(FLEET),
        &metadata::with(METADATA),
    ],
    details: &[],
    own_version: None,
    positional_option: None,
};

/// Values of the options of `psiblast`. Options left out are `None`, or hold the default if BLAST+
/// always applies one.
#[derive(Clone, Debug, PartialEq)]
pub struct PsiblastOptions {
    /// Options that every search program has.
    pub common: CommonOptions,
    /// Options for a report made at another site.
    pub metadata: MetadataOptions,
    /// Options that searches with amino-acid words share.
    pub protein: ProteinOptions,
    /// `-sum_stats`.
    pub sum_stats: Option<bool>,
    /// Options for iterations and PSSMs.
    pub psi: PsiOptions,
}

impl PsiblastOptions {
    /// Reads the values of the options.
    pub fn new(given: &GivenOptions) -> Self {
        let values = Values::new(&PSIBLAST, given);
        Self {
            common: CommonOptions::read(&values),
            metadata: MetadataOptions::read(&values),
            protein: ProteinOptions::read(&values),
            sum_stats: values.optional(&nucleotide::SUM_STATS),
            psi: PsiOptions::read(&values),
        }
    }
}
