//! What alignments through occurrences of a pattern are worth (`s_PHIScoreBlkFill`, blast_setup.c; blast_hits.c).

use std::ops::Range;

use fleetblast_stats::karlin::KarlinBlock;
use fleetblast_stats::scoring::ScoringSystem;

use super::PatternSearch;
use crate::params::DatabaseTotals;
use crate::query::Query;

/// Costs of a gap, as its start and by its letters, and λ and K with them.
type Row = (i32, i32, f64, f64);

/// Of each matrix C, and by gap costs λ and K.
const TABLE: &[(&str, f64, &[Row])] = &[
    (
        "BLOSUM62",
        0.50,
        &[
            (11, 1, 0.270, 0.047),
            (9, 2, 0.285, 0.075),
            (8, 2, 0.265, 0.046),
            (7, 2, 0.243, 0.032),
            (12, 1, 0.281, 0.057),
            (10, 1, 0.250, 0.033),
        ],
    ),
    (
        "PAM30",
        0.30,
        &[
            (9, 1, 0.295, 0.13),
            (7, 2, 0.306, 0.15),
            (6, 2, 0.292, 0.13),
            (5, 2, 0.263, 0.077),
            (10, 1, 0.309, 0.15),
            (8, 1, 0.270, 0.070),
        ],
    ),
    (
        "PAM70",
        0.35,
        &[
            (10, 1, 0.291, 0.089),
            (8, 2, 0.303, 0.13),
            (7, 2, 0.287, 0.095),
            (6, 2, 0.269, 0.079),
            (11, 1, 0.307, 0.13),
            (9, 1, 0.269, 0.058),
        ],
    ),
    (
        "BLOSUM80",
        0.40,
        &[
            (10, 1, 0.300, 0.072),
            (8, 2, 0.308, 0.089),
            (7, 2, 0.295, 0.077),
            (6, 2, 0.271, 0.051),
            (11, 1, 0.314, 0.096),
            (9, 1, 0.277, 0.046),
        ],
    ),
    (
        "BLOSUM45",
        0.60,
        &[
            (14, 2, 0.199, 0.040),
            (13, 3, 0.209, 0.057),
            (12, 3, 0.203, 0.049),
            (11, 3, 0.193, 0.037),
            (10, 3, 0.182, 0.029),
            (15, 2, 0.206, 0.049),
            (13, 2, 0.190, 0.032),
            (12, 2, 0.177, 0.023),
            (19, 1, 0.209, 0.049),
            (18, 1, 0.202, 0.041),
            (17, 1, 0.195, 0.034),
            (16, 1, 0.183, 0.024),
        ],
    ),
];

/// How scores of alignments through a pattern are judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatternStatistics {
    lambda: f64,
    k: f64,
    c: f64,
}

impl PatternStatistics {
    /// Those of a matrix with its gap costs, if there are any.
    pub fn of(scoring: &ScoringSystem) -> Option<Self> {
        let &(_, c, costs) = TABLE.iter().find(|(matrix, ..)| *matrix == scoring.name)?;
        let of =
            |&&(open, extend, ..): &&Row| (open, extend) == (scoring.gap_open, scoring.gap_extend);
        costs.iter().find(of).map(|&(_, _, lambda, k)| PatternStatistics { lambda, k, c })
    }

    /// The parameters that reports show, with gaps as without.
    fn block(&self) -> KarlinBlock {
        KarlinBlock { lambda: self.lambda, k: self.k, log_k: self.k.ln(), h: 1.0 }
    }

    /// A scoring system with these in place of its own.
    #[must_use]
    pub fn replaced(&self, mut scoring: ScoringSystem) -> ScoringSystem {
        let KarlinBlock { lambda, k, log_k, h } = self.block();
        for row in [&mut scoring.gapped, &mut scoring.ungapped] {
            (row.lambda, row.k, row.log_k, row.h) = (lambda, k, log_k, h);
            (row.alpha, row.beta, row.alpha_v, row.sigma) = (0.0, 0.0, 0.0, 0.0);
        }
        scoring
    }

    /// Bit score.
    pub(super) fn bits(&self, score: i32) -> f64 {
        let scaled = f64::from(score) * self.lambda;
        (scaled - self.c.ln() - (1.0 + scaled).ln()) / std::f64::consts::LN_2
    }

    /// E-value with so many occurrences in the query and in the database.
    pub(super) fn evalue(&self, score: i32, [in_query, in_database]: [f64; 2]) -> f64 {
        let score = f64::from(score);
        self.c * (1.0 + self.lambda * score) * in_query * in_database * (-self.lambda * score).exp()
    }
}

impl PatternSearch {
    /// Gives a query the statistics of the search.
    pub(crate) fn judge(&self, mut query: Query, totals: &DatabaseTotals) -> Query {
        let least = self.pattern.least_length();
        for context in &mut query.contexts {
            context.karlin = Some(self.statistics.block());
            context.length_adjustment = least as i32;
            context.search_space = totals.space_residues - totals.sequences * least as i64;
        }
        query
    }

    /// Least score, of the letters beside the pattern, with which an alignment is kept (`s_PhiBlastCutoffScore`, blast_parameters.c).
    pub(super) fn cutoff(&self, evalue: f64, query: &Query, occurrences: &[Range<u32>]) -> i32 {
        let space = query.first().search_space as f64;
        let count = self.effective(occurrences);
        let PatternStatistics { lambda, c, .. } = self.statistics;
        let expected = |score: i32| {
            let score = f64::from(score);
            space
                * c
                * (1.0 + lambda * score)
                * count
                * self.pattern.probability()
                * (-lambda * score).exp()
        };
        let (mut low, mut high) = (1, 100);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if expected(middle) > 5.0 * evalue {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Occurrences in the query, of which those count as one that begin near each other
    /// (`PhiBlastGetEffectiveNumberOfPatterns`, blast_hits.c).
    pub(super) fn effective(&self, occurrences: &[Range<u32>]) -> f64 {
        let (mut count, mut last) = (0, None);
        for place in occurrences {
            let start = i64::from(place.start);
            let is_near = |last: i64| (start - last) * 2 <= self.pattern.least_length() as i64;
            if !last.is_some_and(is_near) {
                last = Some(start);
                count += 1;
            }
        }
        f64::from(count)
    }
}
