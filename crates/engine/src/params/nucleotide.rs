//! Parameters of a search of nucleotides.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use fleetblast_seq::dust::DustParams;
use fleetblast_seq::windowmasker::UnitCounts;
use fleetblast_stats::nucleotide::{NucleotideScoring, NucleotideScoringError};
use fleetblast_stats::release::Release;

use super::{CommonParams, HspFilter, INCLUSION_EVALUE};

/// Strands of a query that are searched (`-strand`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strands {
    /// Both strands.
    Both,
    /// The query as written.
    Plus,
    /// The reverse complement of the query.
    Minus,
}

/// A pattern of positions that must match in a discontiguous word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    /// Kind of the pattern, among those of this length.
    pub kind: TemplateKind,
    /// Number of positions from the first one that must match to the last one: 16, 18 or 21.
    pub length: u32,
}

/// Kind of the patterns of a length (`-template_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TemplateKind {
    /// The pattern for coding sequences.
    Coding,
    /// The pattern that finds most hits.
    Optimal,
    /// Both patterns.
    Both,
}

/// Data of WindowMasker, which masks the parts of queries that are frequent in a genome.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WindowMasker {
    /// Counts of the genome's units (short words).
    pub counts: Arc<UnitCounts>,
    /// Name that reports show.
    pub name: String,
}

/// Parameters of a search of nucleotides with nucleotides.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NucleotideParams {
    /// Parameters that all kinds of search have.
    pub common: CommonParams,
    /// Scores, gap costs and their statistical parameters.
    pub scoring: NucleotideScoring,
    /// Number of bases that must match in a word.
    pub word_size: u32,
    /// Pattern of discontiguous words; `None` for contiguous words.
    pub template: Option<Template>,
    /// Two-hit window in bases, 0 for one-hit mode.
    pub window: i32,
    /// Maximum distance, in diagonals, of two seeds that count as a pair.
    pub off_diagonal_range: i32,
    /// Whether extensions are greedy; otherwise they use dynamic programming.
    pub greedy: bool,
    /// An HSP within another is dropped only if their diagonals differ by less than this.
    pub diagonal_separation: i32,
    /// Least score, which replaces the cut-off that follows from the e-value
    /// (`-min_raw_gapped_score`).
    pub least_score: Option<i32>,
    /// Least percentage of identities (`-perc_identity`), 0 for none.
    pub percent_identity: f64,
    /// Whether HSPs that follow each other are linked, and share an e-value (`-sum_stats`).
    pub sum_stats: bool,
    /// Parameters of DUST, which masks the queries.
    pub dust: Option<DustParams>,
    /// WindowMasker, which replaces all other masks of the queries.
    pub window_masker: Option<WindowMasker>,
    /// Name of the database of repeats (`-filtering_db`). The parts of queries that are similar to
    /// repeats are masked, too. The caller that reads the queries searches this database.
    pub repeat_database: Option<String>,
    /// Strands of the queries that are searched.
    pub strands: Strands,
    /// Number of letters in a chunk of a long batch of queries (rules of blastn, 6.1).
    pub chunk: u32,
}

impl NucleotideParams {
    /// Returns the defaults of a release's `blastn -task megablast` with a scoring system.
    pub fn megablast(release: &'static Release, scoring: NucleotideScoring) -> NucleotideParams {
        let common = CommonParams {
            release,
            // There is no default, as the drop follows from the cut-off
            // (`SetMBInitialWordOptionsDefaults` does not set it).
            xdrop_ungapped_bits: 0.0,
            xdrop_gapped_bits: 25.0,
            xdrop_final_bits: 100.0,
            gap_trigger_bits: 27.0,
            evalue: 10.0,
            ungapped: false,
            hitlist_size: 500,
            keeps_all_preliminary_subjects: false,
            max_hsps: None,
            qcov_hsp_perc: 0.0,
            subject_besthit: false,
            filter: HspFilter::Collect,
            soft_masking: true,
            lcase_masking: false,
            query_start_in_record: 0,
            search_space: None,
            inclusion_evalue: INCLUSION_EVALUE,
        };
        NucleotideParams {
            common,
            scoring,
            word_size: 28,
            template: None,
            window: 0,
            off_diagonal_range: 0,
            greedy: true,
            diagonal_separation: 6,
            least_score: None,
            percent_identity: 0.0,
            sum_stats: false,
            dust: Some(DustParams::default()),
            window_masker: None,
            repeat_database: None,
            strands: Strands::Both,
            chunk: 5_000_000,
        }
    }

    /// Returns the defaults of `blastn -task blastn`.
    pub fn blastn(release: &'static Release, scoring: NucleotideScoring) -> NucleotideParams {
        let mut params = NucleotideParams::megablast(release, scoring);
        params.common.xdrop_ungapped_bits = 20.0;
        params.common.xdrop_gapped_bits = 30.0;
        NucleotideParams {
            word_size: 11,
            greedy: false,
            diagonal_separation: 50,
            chunk: 1_000_000,
            ..params
        }
    }

    /// Returns the parameters for finding repeats in queries (`s_CreateRepeatsSearchOptions`,
    /// repeats_filter_cxx.cpp).
    ///
    /// # Errors
    /// If the statistics of its scores are unknown. They are built in.
    pub fn repeats(release: &'static Release) -> Result<NucleotideParams, NucleotideScoringError> {
        let scoring = NucleotideScoring::new(1, -1, 2, 1)?;
        let mut params = NucleotideParams::blastn(release, scoring);
        params.common.xdrop_ungapped_bits = 40.0;
        params.common.xdrop_final_bits = 90.0;
        Ok(NucleotideParams { least_score: Some(26), dust: None, ..params })
    }

    /// Returns the defaults of `blastn -task dc-megablast`.
    pub fn discontiguous(
        release: &'static Release,
        scoring: NucleotideScoring,
    ) -> NucleotideParams {
        let template = Template { kind: TemplateKind::Coding, length: 18 };
        NucleotideParams {
            template: Some(template),
            window: 40,
            diagonal_separation: 6,
            chunk: 5_000_000,
            ..NucleotideParams::blastn(release, scoring)
        }
    }
}
