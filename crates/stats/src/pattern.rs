//! Statistics of alignments that begin at an occurrence of a pattern (`s_PHIScoreBlkFill`,
//! blast_setup.c; blast_hits.c).

use crate::karlin::KarlinParameters;
use crate::scoring::ScoringSystem;
use serde::{Deserialize, Serialize};

const TABLE: &str = include_str!("../data/patterns.tsv");

/// The parameters for bit scores and e-values of alignments through a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PatternStatistics {
    lambda: f64,
    k: f64,
    c: f64,
}

impl PatternStatistics {
    /// Returns the parameters for the matrix and gap costs of a scoring system, if they are known.
    pub fn for_scoring(scoring: &ScoringSystem) -> Option<Self> {
        let costs = (scoring.gap_open, scoring.gap_extend);
        let row = |line| parse(line).expect("the built-in table has six well-formed columns");
        let mut rows = TABLE.lines().skip(1).map(row);
        let (.., statistics) = rows.find(|&(name, of, _)| name == scoring.name && of == costs)?;
        Some(statistics)
    }

    /// Returns the parameters as reports show them, equal with and without gaps.
    pub fn karlin_parameters(&self) -> KarlinParameters {
        KarlinParameters { lambda: self.lambda, k: self.k, log_k: self.k.ln(), h: 1.0 }
    }

    /// Returns a scoring system whose parameters are replaced by those of the pattern search.
    #[must_use]
    pub fn replace_parameters(&self, mut scoring: ScoringSystem) -> ScoringSystem {
        let KarlinParameters { lambda, k, log_k, h } = self.karlin_parameters();
        for row in [&mut scoring.gapped_statistics, &mut scoring.ungapped_statistics] {
            (row.lambda, row.k, row.log_k, row.h) = (lambda, k, log_k, h);
            (row.alpha, row.beta, row.alpha_v, row.sigma) = (0.0, 0.0, 0.0, 0.0);
        }
        scoring
    }

    /// Converts a score to bits.
    pub fn bit_score(&self, score: i32) -> f64 {
        let scaled = f64::from(score) * self.lambda;
        (scaled - self.c.ln() - (1.0 + scaled).ln()) / std::f64::consts::LN_2
    }

    /// Computes the e-value of a score from the numbers of occurrences of the pattern in the query
    /// and in the database.
    pub fn evalue(&self, score: i32, [in_query, in_database]: [f64; 2]) -> f64 {
        let score = f64::from(score);
        self.c * (1.0 + self.lambda * score) * in_query * in_database * (-self.lambda * score).exp()
    }
}

/// Parses a line of the table: a matrix, the costs of opening a gap and of each letter in it, and
/// the statistics.
fn parse(line: &'static str) -> Option<(&'static str, (i32, i32), PatternStatistics)> {
    let mut fields = line.split('\t');
    let name = fields.next()?;
    let costs = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let mut number = || fields.next()?.parse().ok();
    Some((name, costs, PatternStatistics { lambda: number()?, k: number()?, c: number()? }))
}

#[cfg(test)]
mod tests {
    use crate::release::Release;

    use super::*;

    #[test]
    fn some_gap_costs_of_some_matrices_have_statistics() {
        assert!(TABLE.lines().skip(1).all(|line| parse(line).is_some()));
        let of = |name: &str, open, extend| {
            let scoring = ScoringSystem::new(&Release::V2_12_0, name, Some(open), Some(extend));
            PatternStatistics::for_scoring(&scoring.unwrap())
        };
        let usual = PatternStatistics { lambda: 0.270, k: 0.047, c: 0.50 };
        assert_eq!(of("BLOSUM62", 11, 1), Some(usual));
        assert!(of("BLOSUM62", 13, 1).is_none() && of("PAM250", 14, 2).is_none());
    }
}
