//! Parameters of a search of proteins.

use fleetblast_seq::seg::SegParams;
use fleetblast_seq::translation::GeneticCode;
use fleetblast_stats::release::Release;
use fleetblast_stats::scoring::{self, ScoringSystem};
use serde::{Deserialize, Serialize};

use super::{CommonParams, HspFilter, INCLUSION_EVALUE, Method, Strands};
use crate::pattern::PatternSearch;

/// Composition-based statistics (`-comp_based_stats`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CompositionMode {
    /// 0: plain matrix, plain traceback.
    Off = 0,
    /// 1: scale the matrix by the ratio of Karlin–Altschul lambdas.
    Scale = 1,
    /// 2: adjust the matrix, or scale it, by a test of lengths and compositions.
    Conditional = 2,
    /// 3: always adjust the matrix.
    Always = 3,
}

impl CompositionMode {
    /// Returns the number of the mode (`-comp_based_stats`).
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Finds the mode with this number.
    pub fn from_number(number: i64) -> Option<Self> {
        let all = [Self::Off, Self::Scale, Self::Conditional, Self::Always];
        all.into_iter().find(|mode| i64::from(mode.number()) == number)
    }
}

/// Translation of nucleotide queries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueryTranslation {
    /// The genetic code (`-query_gencode`).
    pub code: GeneticCode,
    /// The strands whose three frames are searched (`-strand`).
    pub strands: Strands,
}

/// Translation of nucleotide subjects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubjectTranslation {
    /// The genetic code that the search uses.
    pub code: GeneticCode,
    /// The genetic code that reports use (`-db_gencode`).
    pub report_code: GeneticCode,
}

/// Linking of HSPs of a subject that follow each other. Linked HSPs share an e-value
/// (`-sum_stats`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HspLinking {
    /// Longest intron between two HSPs in nucleotides (`-max_intron_length`), 0 for BLAST+'s
    /// default.
    pub max_intron_length: i32,
}

/// Parameters of a protein search, built from the options of the command line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProteinParams {
    /// Parameters that all kinds of search have.
    pub common: CommonParams,
    /// Matrix, gap costs and their statistical parameters.
    pub scoring: ScoringSystem,
    /// Gapped λ of the PSSM with which the search starts; `None` without a PSSM.
    pub initial_pssm_lambda: Option<f64>,
    /// Letters per word; long words are of a compressed alphabet
    /// ([`Release::compressed_alphabet_min_word_size`]).
    pub word_size: usize,
    /// Least score of a neighbouring word, T (not truncated).
    pub threshold: f64,
    /// Two-hit window A in residues, 0 for one-hit mode.
    pub window: i32,
    /// Whether extensions first try gaps at few positions only, where that may suffice
    /// (`restricted_align`, blast_parameters.c).
    pub tries_restricted_gaps: bool,
    /// Whether an ungapped HSP is dropped if no chain of HSPs that begins with it can reach the
    /// cut-off of gapped alignments.
    pub filters_chains: bool,
    /// Composition-based statistics.
    pub composition: CompositionMode,
    /// Whether e-values are combined with p-values of the compositions (`-comp_based_stats 2u`).
    pub unified_p: bool,
    /// Whether the Smith–Waterman algorithm computes alignments (`-use_sw_tback`).
    pub smith_waterman: bool,
    /// Parameters of SEG, which masks the queries; `None` without SEG.
    pub seg: Option<SegParams>,
    /// Whether finite-size statistics (Spouge) apply. `-searchsp` disables them; then plain
    /// Karlin–Altschul e-values apply.
    pub finite_size: bool,
    /// Translation of the queries; `None` if they are proteins.
    pub query_translation: Option<QueryTranslation>,
    /// Translation of the subjects; `None` if they are proteins.
    pub subject_translation: Option<SubjectTranslation>,
    /// Linking of HSPs; `None` if each HSP has an e-value of its own.
    pub linking: Option<HspLinking>,
    /// The pattern that seeds alignments, if there is one. Then statistics must be set accordingly,
    /// and matrices must not be adjusted.
    pub pattern: Option<PatternSearch>,
}

impl ProteinParams {
    /// Returns the defaults of a release's `blastp` with a scoring system.
    pub fn blastp(release: &'static Release, scoring: ScoringSystem) -> ProteinParams {
        let common = CommonParams {
            release,
            xdrop_ungapped_bits: 7.0,
            xdrop_gapped_bits: 15.0,
            xdrop_final_bits: 25.0,
            gap_trigger_bits: 22.0,
            evalue: 10.0,
            ungapped: false,
            hitlist_size: 500,
            keeps_all_preliminary_subjects: false,
            max_hsps: None,
            qcov_hsp_perc: 0.0,
            subject_besthit: false,
            filter: HspFilter::Collect,
            soft_masking: false,
            lcase_masking: false,
            query_start_in_record: 0,
            search_space: None,
            inclusion_evalue: INCLUSION_EVALUE,
        };
        ProteinParams {
            common,
            initial_pssm_lambda: None,
            word_size: 3,
            threshold: scoring::suggested_word_threshold(scoring.name),
            window: 40,
            tries_restricted_gaps: true,
            filters_chains: false,
            composition: CompositionMode::Conditional,
            unified_p: false,
            smith_waterman: false,
            seg: None,
            finite_size: true,
            query_translation: None,
            subject_translation: None,
            linking: None,
            pattern: None,
            scoring,
        }
    }

    /// Returns the defaults of a release's `psiblast`.
    pub fn psiblast(release: &'static Release, scoring: ScoringSystem) -> ProteinParams {
        ProteinParams { tries_restricted_gaps: false, ..ProteinParams::blastp(release, scoring) }
    }

    /// Returns the defaults of a release's `blastx`, which translates queries by a genetic code.
    pub fn blastx(
        release: &'static Release,
        scoring: ScoringSystem,
        code: GeneticCode,
    ) -> ProteinParams {
        ProteinParams {
            threshold: scoring::suggested_word_threshold(scoring.name) + 1.0,
            tries_restricted_gaps: false,
            query_translation: Some(QueryTranslation { code, strands: Strands::Both }),
            linking: Some(HspLinking { max_intron_length: 0 }),
            ..ProteinParams::blastp(release, scoring)
        }
    }

    /// Returns the defaults of a release's `tblastn`, which translates subjects.
    pub fn tblastn(
        release: &'static Release,
        scoring: ScoringSystem,
        translation: SubjectTranslation,
    ) -> ProteinParams {
        ProteinParams {
            threshold: scoring::suggested_word_threshold(scoring.name) + 2.0,
            tries_restricted_gaps: false,
            subject_translation: Some(translation),
            linking: Some(HspLinking { max_intron_length: 0 }),
            ..ProteinParams::blastp(release, scoring)
        }
    }

    /// Returns the defaults of a release's `tblastx`, which translates queries and subjects, and is
    /// ungapped.
    pub fn tblastx(
        release: &'static Release,
        scoring: ScoringSystem,
        query: QueryTranslation,
        subject: SubjectTranslation,
    ) -> ProteinParams {
        let params = ProteinParams::tblastn(release, scoring, subject);
        let common = CommonParams {
            ungapped: true,
            xdrop_gapped_bits: 0.0,
            xdrop_final_bits: 0.0,
            ..params.common
        };
        ProteinParams {
            common,
            composition: CompositionMode::Off,
            query_translation: Some(query),
            ..params
        }
    }

    /// Returns the λ that converts gapped X-drops from bits to scores.
    pub(crate) fn gapped_lambda(&self) -> f64 {
        self.initial_pssm_lambda.unwrap_or(self.scoring.gapped_statistics.lambda)
    }

    /// Returns the method that computes alignments from preliminary hits.
    pub(crate) fn method(&self) -> Method {
        if self.common.ungapped {
            Method::Ungapped
        } else if self.smith_waterman {
            Method::SmithWaterman
        } else if self.composition == CompositionMode::Off {
            Method::Plain
        } else {
            Method::Redo
        }
    }
}
