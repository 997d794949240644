//! Parameters of a search of nucleotides.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use fleetblast_seq::dust::DustParams;
use fleetblast_seq::windowmasker::Counts;
use fleetblast_stats::nucleotide::{NucleotideScoring, NucleotideScoringError};
use fleetblast_stats::release::Release;

use super::{CommonParams, HspFilter, INCLUSION_EVALUE};

/// Which strands of a query are searched (`-strand`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strands {
    /// Both.
    Both,
    /// As written.
    Plus,
    /// Its reverse complement.
    Minus,
}

/// A pattern of positions that must match in a discontiguous word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    /// Which pattern of this length.
    pub kind: TemplateKind,
    /// Positions from the first that must match to the last: 16, 18 or 21.
    pub length: u32,
}

/// Which patterns of a length are used (`-template_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TemplateKind {
    /// The one for coding sequences.
    Coding,
    /// The one that finds most.
    Optimal,
    /// Both.
    Both,
}

/// Masks queries by the frequency of their parts in a genome.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WindowMasker {
    /// Counts of the units.
    pub counts: Arc<Counts>,
    /// Its name in reports.
    pub name: String,
}

/// Parameters of a search of nucleotides with nucleotides.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NucleotideParams {
    /// Parameters of any kind of search.
    pub common: CommonParams,
    /// Scores, gap costs and their statistical parameters.
    pub scoring: NucleotideScoring,
    /// Number of bases that must match in a word.
    pub word_size: u32,
    /// Discontiguous words.
    pub template: Option<Template>,
    /// Two-hit window in bases, 0 for one-hit mode.
    pub window: i32,
    /// The other hit of two may be this many diagonals away.
    pub off_diagonal_range: i32,
    /// Whether extensions are greedy; otherwise they use dynamic programming.
    pub greedy: bool,
    /// An HSP within another is dropped only if their diagonals differ by less than this.
    pub diagonal_separation: i32,
    /// `-min_raw_gapped_score`: replaces the cut-off that follows from the e-value.
    pub least_score: Option<i32>,
    /// `-perc_identity`, 0 for none.
    pub percent_identity: f64,
    /// Whether HSPs that follow each other share an e-value (`-sum_stats`).
    pub sum_stats: bool,
    /// DUST of the queries.
    pub dust: Option<DustParams>,
    /// WindowMasker instead of all other masks of the queries.
    pub window_masker: Option<WindowMasker>,
    /// Name of the database of repeats whose matches are masked as well (`-filtering_db`). The
    /// caller that reads the queries searches them.
    pub repeats: Option<String>,
    /// Which strands are searched.
    pub strands: Strands,
    /// Number of letters in a chunk of a long batch of queries (rules of blastn, 6.1).
    pub chunk: u32,
}

impl NucleotideParams {
    /// The defaults of a release's `blastn -task megablast` with a scoring system.
    pub fn megablast(release: &'static Release, scoring: NucleotideScoring) -> NucleotideParams {
        let common = CommonParams {
            release,
            // No default; the drop follows from the cut-off (`SetMBInitialWordOptionsDefaults` does
            // not set it).
            xdrop_ungapped_bits: 0.0,
            xdrop_gapped_bits: 25.0,
            xdrop_final_bits: 100.0,
            gap_trigger_bits: 27.0,
            evalue: 10.0,
            ungapped: false,
            hitlist_size: 500,
            keeps_preliminary: false,
            max_hsps: None,
            qcov_hsp_perc: 0.0,
            subject_besthit: false,
            filter: HspFilter::Collect,
            soft_masking: true,
            lcase_masking: false,
            query_from: 0,
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
            repeats: None,
            strands: Strands::Both,
            chunk: 5_000_000,
        }
    }

    /// The defaults of `blastn -task blastn`.
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

    /// Parameters for finding repeats in queries (`s_CreateRepeatsSearchOptions`,
    /// repeats_filter_cxx.cpp).
    ///
    /// # Errors
    /// None, as long as the statistics of its scores are known.
    pub fn repeats(release: &'static Release) -> Result<NucleotideParams, NucleotideScoringError> {
        let scoring = NucleotideScoring::new(1, -1, 2, 1)?;
        let mut params = NucleotideParams::blastn(release, scoring);
        params.common.xdrop_ungapped_bits = 40.0;
        params.common.xdrop_final_bits = 90.0;
        Ok(NucleotideParams { least_score: Some(26), dust: None, ..params })
    }

    /// The defaults of `blastn -task dc-megablast`.
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
