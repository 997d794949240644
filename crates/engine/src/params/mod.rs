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

/// Number of residues in a chunk of a long batch of proteins.
const PROTEIN_CHUNK: u64 = 10_000;
/// Number of residues in a chunk of a long batch of proteins that are searched in translated
/// subjects.
const TRANSLATED_SUBJECT_CHUNK: u64 = 20_000;
/// Number of bases in a chunk of a long query that is translated.
const TRANSLATED_CHUNK: u64 = 10_002;

/// Default of `-inclusion_ethresh` (`PSI_INCLUSION_ETHRESH`, blast_options.h).
pub const INCLUSION_EVALUE: f64 = 0.002;

/// Rule by which long batches of queries are cut into chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkRule {
    /// Number of letters of a chunk.
    pub size: u64,
    /// Whether queries are translated. Then only a batch of one query is cut, and chunks keep their
    /// size, so that their frames are frames of the query.
    pub is_translated: bool,
}

/// Method that computes alignments from preliminary hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// No alignment: an ungapped search keeps its HSPs.
    Ungapped,
    /// Gapped alignment from the seeds of the preliminary hits, with unadjusted scores.
    Plain,
    /// Gapped alignment from the seeds of the preliminary hits, with an adjusted matrix.
    Redo,
    /// Smith–Waterman alignment, with or without an adjusted matrix.
    SmithWaterman,
}

/// Filter of preliminary and final HSPs of a query.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum HspFilter {
    /// No filter: the best subjects by e-value are kept.
    Collect,
    /// Culling with this limit, above 0 (`-culling_limit`).
    Culling(u32),
    /// Best-hit filter (`-best_hit_overhang` and `-best_hit_score_edge`).
    BestHit {
        /// Length by which a dropped HSP may reach beyond each end of a better one, as a share of
        /// the length of the better one.
        overhang: f64,
        /// Margin by which the score per residue of a better HSP must exceed that of a dropped one,
        /// as a share of the better score per residue.
        edge: f64,
    },
}

/// Parameters of a search, by the kind of sequences.
#[expect(clippy::large_enum_variant, reason = "a job has one")]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Params {
    /// Comparison of proteins or of translated nucleotides.
    Protein(ProteinParams),
    /// Comparison of nucleotides.
    Nucleotide(NucleotideParams),
}

/// Parameters that all kinds of search have.
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
    /// Least score in bits of an ungapped HSP that starts a gapped extension.
    pub gap_trigger_bits: f64,
    /// Largest e-value of a hit (`-evalue`), E0 in the rules.
    pub evalue: f64,
    /// Whether the search is ungapped (`-ungapped`).
    pub ungapped: bool,
    /// Number of subjects kept for each query, H in the rules.
    pub hitlist_size: usize,
    /// Whether the traceback keeps as many subjects as the preliminary list, for the matrices of
    /// psiblast. Reports of psiblast show H of them (`CBlastTracebackSearch::Run`,
    /// traceback_stage.cpp).
    pub keeps_all_preliminary_subjects: bool,
    /// Maximum number of HSPs for each subject (`-max_hsps`).
    pub max_hsps: Option<usize>,
    /// Least coverage of the query by an HSP, in per cent (`-qcov_hsp_perc`); 0 for none.
    pub qcov_hsp_perc: f64,
    /// Whether HSPs are dropped whose query range lies in that of a better HSP of the same subject
    /// (`-subject_besthit`).
    pub subject_besthit: bool,
    /// Filter of HSPs that replaces the plain list of best subjects.
    pub filter: HspFilter,
    /// Whether masks keep letters out of the lookup table only, and not out of alignments.
    pub soft_masking: bool,
    /// Whether lower-case query letters are masked.
    pub lcase_masking: bool,
    /// Start of the queries in their records, from 0 (`-query_loc`).
    pub query_start_in_record: u32,
    /// Search space that replaces the computed one (`-searchsp`, if given and not 0).
    pub search_space: Option<i64>,
    /// E-value up to which all hits are kept (`-inclusion_ethresh`).
    pub inclusion_evalue: f64,
}

impl Params {
    /// Returns the parameters that all kinds of search have.
    pub fn common(&self) -> &CommonParams {
        match self {
            Params::Protein(params) => &params.common,
            Params::Nucleotide(params) => &params.common,
        }
    }

    /// Sets the mode of composition-based statistics, if the search can have one.
    pub fn set_composition(&mut self, mode: CompositionMode) {
        if let Params::Protein(params) = self {
            params.composition = mode;
        }
    }

    /// Returns the parameters for queries that start at this position of their records.
    #[must_use]
    pub fn with_query_start(mut self, start: u32) -> Params {
        match &mut self {
            Params::Protein(params) => params.common.query_start_in_record = start,
            Params::Nucleotide(params) => params.common.query_start_in_record = start,
        }
        self
    }

    /// Returns whether e-values of gapped alignments depend on the finite sizes of sequences.
    pub fn has_finite_size_statistics(&self) -> bool {
        matches!(self, Params::Protein(params) if params.finite_size && !params.common.ungapped)
    }

    /// Returns the pattern that seeds alignments, if there is one.
    pub fn pattern(&self) -> Option<&Pattern> {
        match self {
            Params::Protein(params) => params.pattern.as_ref().map(|search| &search.pattern),
            Params::Nucleotide(_) => None,
        }
    }

    /// Returns the counts by which WindowMasker masks queries (`-window_masker_db`), if there are
    /// any.
    pub fn window_masker(&self) -> Option<&WindowMasker> {
        match self {
            Params::Protein(_) => None,
            Params::Nucleotide(params) => params.window_masker.as_ref(),
        }
    }

    /// Returns the search that finds repeats in the queries, so that they can be masked first: the
    /// database as typed (`-filtering_db`), and the parameters. `None` if no repeats are masked.
    ///
    /// # Errors
    /// If the scores of the repeat search have no statistics. This cannot happen: they are built
    /// in.
    pub fn repeat_search(&self) -> Result<Option<(&str, Params)>, NucleotideScoringError> {
        let Params::Nucleotide(params) = self else { return Ok(None) };
        let Some(database) = &params.repeat_database else { return Ok(None) };
        let mut search = NucleotideParams::repeats(params.common.release)?;
        search.strands = params.strands;
        Ok(Some((database, Params::Nucleotide(search))))
    }

    /// Returns whether two seeds on neighbouring diagonals count as a pair (`-off_diagonal_range`).
    pub fn pairs_diagonals(&self) -> bool {
        matches!(self, Params::Nucleotide(params) if params.off_diagonal_range > 0)
    }

    /// Returns the method that computes alignments from preliminary hits.
    pub(crate) fn method(&self) -> Method {
        match self {
            Params::Protein(params) => params.method(),
            Params::Nucleotide(params) if params.common.ungapped => Method::Ungapped,
            Params::Nucleotide(_) => Method::Plain,
        }
    }

    /// Returns whether the order of e-values may differ from the order of scores. Linked HSPs have
    /// the e-value of their linked set. Each frame of a translated query has its own length, and in
    /// an ungapped search of nucleotides each strand its own statistics, which differ by rounding.
    /// Then the order of a subject's HSPs depends on the number of subjects with hits
    /// (`Blast_HitListUpdate`, blast_hits.c).
    pub fn evalues_may_reorder(&self) -> bool {
        match self {
            Params::Protein(params) => {
                params.linking.is_some() || params.query_translation.is_some()
            }
            Params::Nucleotide(params) => params.sum_stats || params.common.ungapped,
        }
    }

    /// Returns whether nucleotide queries are translated.
    pub fn translates_queries(&self) -> bool {
        matches!(self, Params::Protein(params) if params.query_translation.is_some())
    }

    /// Returns the rule for translating subjects, if they are translated.
    pub fn subject_translation(&self) -> Option<&SubjectTranslation> {
        match self {
            Params::Protein(params) => params.subject_translation.as_ref(),
            Params::Nucleotide(_) => None,
        }
    }

    /// Converts the totals of the database to the letters that are compared: residues, three bases
    /// each, if subjects are translated (`BLAST_GapAlignSetUp`, blast_setup.c).
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

    /// Returns the strands of nucleotide queries that are searched; [`Strands::Both`] for proteins.
    pub(crate) fn strands(&self) -> Strands {
        match self {
            Params::Protein(params) => {
                params.query_translation.as_ref().map_or(Strands::Both, |query| query.strands)
            }
            Params::Nucleotide(params) => params.strands,
        }
    }

    /// Returns the rule by which long batches of queries are cut, if they are cut.
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

    /// Returns whether the composition of both sequences adjusts the scores of alignments. Final
    /// scores may then differ from preliminary ones.
    pub(crate) fn is_adjusted(&self) -> bool {
        matches!(self, Params::Protein(params) if params.composition != CompositionMode::Off)
    }
}

/// Totals of the whole (filtered) database, not of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct DatabaseTotals {
    /// Residues, or `-dbsize`.
    pub residues: i64,
    /// Residues for effective search spaces, which ignore a negative `-dbsize`
    /// (`BLAST_CalcEffLengths`, blast_setup.c).
    pub space_residues: i64,
    /// Whether the database has no letters, and therefore no search space. A database of one or two
    /// bases has a search space, though its translations have no residues (`BLAST_CalcEffLengths`).
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
