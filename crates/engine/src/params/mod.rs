//! Parameters of a search: every option of the command line that changes the result.

mod nucleotide;
mod protein;

pub use fleetblast_stats::karlin::truncate_to_i32;
use fleetblast_stats::nucleotide::NucleotideScoringError;
use fleetblast_stats::release::Release;
use serde::{Deserialize, Serialize};

use crate::pattern::Pattern;

pub use nucleotide::{NucleotideParams, Strands, Template, TemplateKind, WindowMasker};
pub use protein::{
    CompositionMode, HspLinking, ProteinParams, QueryTranslation, SubjectTranslation,
};

/// Residues in a chunk of a long batch of proteins.
const PROTEIN_CHUNK: u64 = 10_000;
/// Residues in a chunk of a long batch of proteins that are compared with translations.
const TRANSLATED_SUBJECT_CHUNK: u64 = 20_000;
/// Bases in a chunk of a long query that is translated.
const TRANSLATED_CHUNK: u64 = 10_002;

/// Default of `-inclusion_ethresh` (`PSI_INCLUSION_ETHRESH`, blast_options.h).
pub const INCLUSION_EVALUE: f64 = 0.002;

/// How long batches of queries are cut into chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkRule {
    /// Letters of a chunk.
    pub size: u64,
    /// Whether queries are translated. Then only single queries are cut, and chunks keep their
    /// size, so that their frames are those of the query.
    pub is_translated: bool,
}

/// How preliminary hits become alignments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// Unchanged: ungapped search.
    Ungapped,
    /// Gapped alignment from the same seeds with the same scores.
    Plain,
    /// Gapped alignment from the same seeds, with an adjusted matrix.
    Redo,
    /// Smith–Waterman alignment, with or without an adjusted matrix.
    SmithWaterman,
}

/// Filter of preliminary and final HSPs of a query.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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

/// Parameters of a search, by the kind of sequences.
#[expect(clippy::large_enum_variant, reason = "a job has one")]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Params {
    /// Proteins.
    Protein(ProteinParams),
    /// Nucleotides.
    Nucleotide(NucleotideParams),
}

/// Parameters of any kind of search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CommonParams {
    /// The release of BLAST+ whose rules apply.
    #[serde(with = "fleetblast_stats::release::by_version")]
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
    /// Whether as many subjects are kept as the preliminary list holds, for the matrices of
    /// psiblast; its reports show H of them (`CBlastTracebackSearch::Run`, traceback_stage.cpp).
    pub keeps_preliminary: bool,
    /// `-max_hsps`.
    pub max_hsps: Option<usize>,
    /// `-qcov_hsp_perc`, 0 for none.
    pub qcov_hsp_perc: f64,
    /// `-subject_besthit`.
    pub subject_besthit: bool,
    /// The filter of HSPs.
    pub filter: HspFilter,
    /// Whether masks keep letters out of the look-up table only.
    pub soft_masking: bool,
    /// Whether lower-case query letters are masked.
    pub lcase_masking: bool,
    /// Start of the queries in their records (`-query_loc`), from 0.
    pub query_from: u32,
    /// `-searchsp`, when given and not 0: replaces the search space.
    pub search_space: Option<i64>,
    /// All hits with an e-value up to this one are kept (`-inclusion_ethresh`).
    pub inclusion_evalue: f64,
}

impl Params {
    /// Parameters of any kind of search.
    pub fn common(&self) -> &CommonParams {
        match self {
            Params::Protein(params) => &params.common,
            Params::Nucleotide(params) => &params.common,
        }
    }

    /// The same search for queries that start at this position of their records.
    #[must_use]
    pub fn of_queries_from(mut self, start: u32) -> Params {
        match &mut self {
            Params::Protein(params) => params.common.query_from = start,
            Params::Nucleotide(params) => params.common.query_from = start,
        }
        self
    }

    /// The pattern that seeds alignments, if there is one.
    pub fn pattern(&self) -> Option<&Pattern> {
        match self {
            Params::Protein(params) => params.pattern.as_ref().map(|search| &search.pattern),
            Params::Nucleotide(_) => None,
        }
    }

    /// The counts by which queries are masked (`-window_masker_db`), if there are some.
    pub fn window_masker(&self) -> Option<&WindowMasker> {
        match self {
            Params::Protein(_) => None,
            Params::Nucleotide(params) => params.window_masker.as_ref(),
        }
    }

    /// The search for repeats to be masked in the queries first: the database as typed
    /// (`-filtering_db`), and how to search it. `None` if no repeats are masked.
    ///
    /// # Errors
    /// None, as long as the statistics of its scores are known.
    pub fn repeat_search(&self) -> Result<Option<(&str, Params)>, NucleotideScoringError> {
        let Params::Nucleotide(params) = self else { return Ok(None) };
        let Some(database) = &params.repeats else { return Ok(None) };
        let mut search = NucleotideParams::repeats(params.common.release)?;
        search.strands = params.strands;
        Ok(Some((database, Params::Nucleotide(search))))
    }

    /// Whether two word hits on neighbouring diagonals count as a pair (`-off_diagonal_range`).
    pub fn pairs_diagonals(&self) -> bool {
        matches!(self, Params::Nucleotide(params) if params.off_diagonal_range > 0)
    }

    /// How preliminary hits become alignments.
    pub(crate) fn method(&self) -> Method {
        match self {
            Params::Protein(params) => params.method(),
            Params::Nucleotide(params) if params.common.ungapped => Method::Ungapped,
            Params::Nucleotide(_) => Method::Plain,
        }
    }

    /// Whether e-values may differ from the order of scores. Linked HSPs have the e-value of their
    /// set. Without gaps each strand has its own statistics, which differ by rounding. Then the
    /// order of a subject's HSPs depends on how many subjects are found (`Blast_HitListUpdate`,
    /// blast_hits.c).
    pub fn evalues_decide(&self) -> bool {
        match self {
            Params::Protein(params) => params.linking.is_some(),
            Params::Nucleotide(params) => params.sum_stats || params.common.ungapped,
        }
    }

    /// Whether nucleotide queries are translated.
    pub fn translates_queries(&self) -> bool {
        matches!(self, Params::Protein(params) if params.query_translation.is_some())
    }

    /// How nucleotide subjects become proteins, if they do.
    pub fn subject_translation(&self) -> Option<&SubjectTranslation> {
        match self {
            Params::Protein(params) => params.subject_translation.as_ref(),
            Params::Nucleotide(_) => None,
        }
    }

    /// The totals of the database on the scale of its letters that are compared: of residues if it
    /// is translated (`BLAST_GapAlignSetUp`, blast_setup.c).
    pub(crate) fn compared_totals(&self, totals: DatabaseTotals) -> DatabaseTotals {
        if self.subject_translation().is_none() {
            return totals;
        }
        DatabaseTotals {
            residues: totals.residues / 3,
            space_residues: totals.space_residues / 3,
            stored_residues: totals.stored_residues / 3,
            min_length: totals.min_length / 3,
            ..totals
        }
    }

    /// The strands of nucleotide queries that are searched; both of proteins.
    pub(crate) fn strands(&self) -> Strands {
        match self {
            Params::Protein(params) => {
                params.query_translation.as_ref().map_or(Strands::Both, |query| query.strands)
            }
            Params::Nucleotide(params) => params.strands,
        }
    }

    /// How long batches of queries are cut, if they are.
    pub(crate) fn chunk(&self) -> Option<ChunkRule> {
        let (size, is_translated) = match self {
            Params::Protein(params) if params.query_translation.is_some() => {
                (TRANSLATED_CHUNK, true)
            }
            Params::Protein(params) if params.pattern.is_some() => return None,
            Params::Protein(params) if params.subject_translation.is_some() => {
                (TRANSLATED_SUBJECT_CHUNK, false)
            }
            Params::Protein(_) => (PROTEIN_CHUNK, false),
            Params::Nucleotide(params) => (u64::from(params.chunk), false),
        };
        Some(ChunkRule { size, is_translated })
    }

    /// Whether alignments are scored by the composition of both sequences, so that preliminary
    /// scores say little.
    pub(crate) fn is_adjusted(&self) -> bool {
        matches!(self, Params::Protein(params) if params.composition != CompositionMode::Off)
    }
}

/// Totals of the whole (filtered) database, whatever part of it is searched here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct DatabaseTotals {
    /// Residues, or `-dbsize`.
    pub residues: i64,
    /// The same for effective search spaces, which ignore a negative `-dbsize`
    /// (`BLAST_CalcEffLengths`, blast_setup.c).
    pub space_residues: i64,
    /// Whether there are no residues, so that there is no search space. Of one or two bases it has
    /// one, though their translations have no residues (`BLAST_CalcEffLengths`).
    pub is_empty: bool,
    /// Number of sequences.
    pub sequences: i64,
    /// Residues of all sequences, independent of `-dbsize` and of the statistics in aliases.
    pub stored_residues: i64,
    /// Mean length of the sequences, independent of `-dbsize` and of the statistics in aliases.
    pub mean_length: i64,
    /// Shortest subject as BLAST+ assumes it: 10 for an unfiltered database (rules 5.1).
    pub min_length: i32,
}
