//! What to search for: every choice of the command line that changes the result, resolved to its meaning.

mod nucleotide;
mod protein;

pub use fleetblast_stats::karlin::whole;
use fleetblast_stats::release::Release;

use crate::pattern::Pattern;

pub use nucleotide::{NucleotideParams, Strands, Template, TemplateKind, WindowMasker};
pub use protein::{CompositionMode, ProteinParams};

/// Residues in a chunk of a long batch of proteins.
const PROTEIN_CHUNK: u64 = 10_000;

/// `-inclusion_ethresh` unless something else is typed (`PSI_INCLUSION_ETHRESH`, blast_options.h).
pub const INCLUSION_EVALUE: f64 = 0.002;

/// How preliminary hits become alignments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// As they are: ungapped search.
    Ungapped,
    /// Gapped alignment from the same seeds with the same scores.
    Plain,
    /// Gapped alignment from the same seeds, with an adjusted matrix.
    Redo,
    /// Smith–Waterman alignment, with or without an adjusted matrix.
    SmithWaterman,
}

/// What decides which preliminary and final HSPs a query keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HspFilter {
    /// The best subjects by e-value.
    Collect,
    /// `-culling_limit N`, N > 0.
    Culling(u32),
    /// `-best_hit_overhang` and `-best_hit_score_edge`.
    BestHit {
        /// Allowed overhang as a share of the length.
        overhang: f64,
        /// Score edge.
        edge: f64,
    },
}

/// Everything that steers a search, by the kind of what is searched for.
#[expect(clippy::large_enum_variant, reason = "a job has one")]
#[derive(Clone, Debug)]
pub enum Params {
    /// Proteins.
    Protein(ProteinParams),
    /// Nucleotides as they are.
    Nucleotide(NucleotideParams),
}

/// What steers a search of any kind.
#[derive(Clone, Debug)]
pub struct CommonParams {
    /// The release of BLAST+ whose rules hold.
    pub release: &'static Release,
    /// Ungapped X-drop in bits.
    pub xdrop_ungapped_bits: f64,
    /// Preliminary gapped X-drop in bits.
    pub xdrop_gapped_bits: f64,
    /// Final gapped X-drop in bits.
    pub xdrop_final_bits: f64,
    /// Score in bits from which an ungapped HSP starts a gapped extension.
    pub gap_trigger_bits: f64,
    /// `-evalue`, E0.
    pub evalue: f64,
    /// `-ungapped`.
    pub ungapped: bool,
    /// Number of subjects kept for each query, H.
    pub hitlist_size: usize,
    /// As many subjects stay as the preliminary list holds, for the matrices of psiblast; its reports show H of them
    /// (`CBlastTracebackSearch::Run`, traceback_stage.cpp).
    pub keeps_preliminary: bool,
    /// `-max_hsps`.
    pub max_hsps: Option<usize>,
    /// `-qcov_hsp_perc`, 0 for none.
    pub qcov_hsp_perc: f64,
    /// `-subject_besthit`.
    pub subject_besthit: bool,
    /// Which HSPs are kept.
    pub filter: HspFilter,
    /// Masks keep letters out of the look-up table only.
    pub soft_masking: bool,
    /// Lower-case query letters are masked.
    pub lcase_masking: bool,
    /// Where in their records queries start (`-query_loc`), from 0.
    pub query_from: u32,
    /// `-searchsp`, when given and not 0: replaces the search space.
    pub search_space: Option<i64>,
    /// Matches with an e-value up to this one are kept however many there are (`-inclusion_ethresh`).
    pub inclusion_evalue: f64,
}

impl Params {
    /// What steers a search of any kind.
    pub fn common(&self) -> &CommonParams {
        match self {
            Params::Protein(params) => &params.common,
            Params::Nucleotide(params) => &params.common,
        }
    }

    /// The same search of queries that start there in their records.
    #[must_use]
    pub fn of_queries_from(mut self, start: u32) -> Params {
        match &mut self {
            Params::Protein(params) => params.common.query_from = start,
            Params::Nucleotide(params) => params.common.query_from = start,
        }
        self
    }

    /// The pattern from which alignments begin, if that is asked for.
    pub fn pattern(&self) -> Option<&Pattern> {
        match self {
            Params::Protein(params) => params.pattern.as_ref().map(|search| &search.pattern),
            Params::Nucleotide(_) => None,
        }
    }

    /// How preliminary hits become alignments.
    pub(crate) fn method(&self) -> Method {
        match self {
            Params::Protein(params) => params.method(),
            Params::Nucleotide(params) if params.common.ungapped => Method::Ungapped,
            Params::Nucleotide(_) => Method::Plain,
        }
    }

    /// Whether HSPs of different scores may have e-values in another order, or of equal scores others: those that are linked have
    /// those of their set, and without gaps each strand has statistics of its own, which differ in what was rounded. Then the order
    /// of a subject's HSPs depends on how many subjects are found (`Blast_HitListUpdate`, blast_hits.c).
    pub fn evalues_decide(&self) -> bool {
        matches!(self, Params::Nucleotide(params) if params.sum_stats || params.common.ungapped)
    }

    /// Letters of a long batch of queries that are searched together, where such a batch is cut into chunks at all.
    pub(crate) fn chunk(&self) -> Option<u64> {
        match self {
            Params::Protein(params) => params.pattern.is_none().then_some(PROTEIN_CHUNK),
            Params::Nucleotide(params) => Some(u64::from(params.chunk)),
        }
    }

    /// Whether alignments are scored by the composition of both sequences, so that preliminary scores say little.
    pub(crate) fn is_adjusted(&self) -> bool {
        matches!(self, Params::Protein(params) if params.composition != CompositionMode::Off)
    }
}

/// Totals of the whole (filtered) database, whatever part of it is searched here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct DatabaseTotals {
    /// Residues, or `-dbsize`.
    pub residues: i64,
    /// The same for effective search spaces, for which a negative `-dbsize` does not count (`BLAST_CalcEffLengths`,
    /// blast_setup.c).
    pub space_residues: i64,
    /// Number of sequences.
    pub sequences: i64,
    /// Mean length of the sequences, whatever `-dbsize` and aliases say of statistics.
    pub mean_length: i64,
    /// Shortest subject as BLAST+ believes it: 10 for an unfiltered database (rules 5.1).
    pub min_length: i32,
}
