//! What to search for: every choice of the command line that changes the result, resolved to its meaning.

use fleetblast_release::Release;
use fleetblast_seq::seg::SegParams;
use fleetblast_stats::scoring::{self, ScoringSystem};

/// Composition-based statistics (`-comp_based_stats`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompositionMode {
    /// 0: plain matrix, plain traceback.
    Off,
    /// 1: scale the matrix by the ratio of Karlin–Altschul lambdas.
    Scale,
    /// 2: adjust the matrix, or scale it, by a test of lengths and compositions.
    Conditional,
    /// 3: always adjust the matrix.
    Always,
}

/// How preliminary hits become alignments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// As they are: ungapped search.
    Ungapped,
    /// Gapped alignment from the same seeds with the same matrix.
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

/// Everything that steers a blastp search. Built by the command line layer from the options.
#[derive(Clone, Debug)]
pub struct Params {
    /// The release of BLAST+ whose rules hold.
    pub release: &'static Release,
    /// Matrix, gap costs and their statistical parameters.
    pub scoring: ScoringSystem,
    /// Letters per word; long words are of a compressed alphabet ([`Release::compressed_from`]).
    pub word_size: usize,
    /// Least score of a neighbouring word, T (not truncated).
    pub threshold: f64,
    /// Two-hit window A in residues, 0 for one-hit mode.
    pub window: i32,
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
    /// Composition-based statistics.
    pub composition: CompositionMode,
    /// Unified p-values (`-comp_based_stats 2u`).
    pub unified_p: bool,
    /// `-ungapped`.
    pub ungapped: bool,
    /// `-use_sw_tback`.
    pub smith_waterman: bool,
    /// Number of subjects kept for each query, H.
    pub hitlist_size: usize,
    /// `-max_hsps`.
    pub max_hsps: Option<usize>,
    /// `-qcov_hsp_perc`, 0 for none.
    pub qcov_hsp_perc: f64,
    /// `-subject_besthit`.
    pub subject_besthit: bool,
    /// Which HSPs are kept.
    pub filter: HspFilter,
    /// SEG of the queries.
    pub seg: Option<SegParams>,
    /// Masks keep residues out of the look-up table only.
    pub soft_masking: bool,
    /// Lower-case query letters are masked.
    pub lcase_masking: bool,
    /// `-searchsp`, when given and not 0: replaces the search space.
    pub search_space: Option<i64>,
    /// Finite-size statistics (Spouge). Without them, which `-searchsp` brings about, plain Karlin–Altschul e-values hold.
    pub finite_size: bool,
}

impl Params {
    /// The defaults of a release's `blastp` with a scoring system.
    pub fn blastp(release: &'static Release, scoring: ScoringSystem) -> Params {
        Params {
            release,
            word_size: 3,
            threshold: scoring::suggested_threshold(scoring.name),
            window: 40,
            xdrop_ungapped_bits: 7.0,
            xdrop_gapped_bits: 15.0,
            xdrop_final_bits: 25.0,
            gap_trigger_bits: 22.0,
            evalue: 10.0,
            composition: CompositionMode::Conditional,
            unified_p: false,
            ungapped: false,
            smith_waterman: false,
            hitlist_size: 500,
            max_hsps: None,
            qcov_hsp_perc: 0.0,
            subject_besthit: false,
            filter: HspFilter::Collect,
            seg: None,
            soft_masking: false,
            lcase_masking: false,
            search_space: None,
            finite_size: true,
            scoring,
        }
    }
}

impl Params {
    /// How preliminary hits become alignments.
    pub(crate) fn method(&self) -> Method {
        if self.ungapped {
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

/// A number as BLAST+ stores it in 32 bits: without its fraction, and what does not fit becomes the least number of all, as
/// by the conversion of x86 processors.
pub(crate) fn whole(value: f64) -> i32 {
    let fits = value > f64::from(i32::MIN) - 1.0 && value < f64::from(i32::MAX) + 1.0;
    if fits { value as i32 } else { i32::MIN }
}

/// Totals of the whole (filtered) database, whatever part of it is searched here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabaseTotals {
    /// Residues, or `-dbsize`.
    pub residues: i64,
    /// The same for effective search spaces, for which a negative `-dbsize` does not count (`BLAST_CalcEffLengths`,
    /// blast_setup.c).
    pub space_residues: i64,
    /// Number of sequences.
    pub sequences: i64,
    /// Shortest subject as BLAST+ believes it: 10 for an unfiltered database (rules 5.1).
    pub min_length: i32,
}

#[cfg(test)]
mod tests {
    use super::whole;

    #[test]
    fn what_does_not_fit_is_the_least_number() {
        assert_eq!(
            [2.9, -2.9, 2_147_483_647.9, -2_147_483_648.9].map(whole),
            [2, -2, i32::MAX, i32::MIN]
        );
        for value in [2_147_483_648.0, 1e300, -1e300, f64::INFINITY, f64::NAN] {
            assert_eq!(whole(value), i32::MIN, "{value}");
        }
    }
}
