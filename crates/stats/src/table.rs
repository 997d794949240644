//! The table of gapped parameters: the gap costs of each matrix, and their statistics.

use crate::karlin::KarlinParameters;
use serde::{Deserialize, Serialize};

/// The gap cost of row 0 of every matrix, which means "no gaps" (`INT2_MAX` in blast_stat.c).
pub(crate) const INFINITE_GAP_COST: i32 = i16::MAX as i32;

const TABLE: &str = include_str!("../data/karlin_altschul.tsv");

/// Statistical parameters of a matrix with given gap costs (`Blast_KarlinBlkGappedLoadFromTables`,
/// blast_stat.c).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatrixStatistics {
    /// Scale λ of the scores, per raw score unit.
    pub lambda: f64,
    /// Parameter K.
    pub k: f64,
    /// Natural logarithm of K.
    pub log_k: f64,
    /// Relative entropy H in nats.
    pub h: f64,
    /// Slope of the mean length of an alignment over its score; also `a` of the finite-size
    /// correction.
    pub alpha: f64,
    /// Intercept of the mean length of an alignment.
    pub beta: f64,
    /// Slope of the variance of the length (`alpha` in the footer of a report).
    pub alpha_v: f64,
    /// Slope of the covariance of the lengths in query and subject.
    pub sigma: f64,
}

impl MatrixStatistics {
    /// Returns the four parameters of an e-value without finite-size correction.
    pub fn karlin_parameters(&self) -> KarlinParameters {
        KarlinParameters { lambda: self.lambda, k: self.k, log_k: self.log_k, h: self.h }
    }
}

/// A line of the table: gap costs of a matrix, and their statistics.
#[derive(Clone, Debug)]
pub(crate) struct TableRow {
    /// Cost of opening a gap.
    pub gap_open: i32,
    /// Cost of each residue of a gap.
    pub gap_extend: i32,
    /// Whether the gap costs are the default ones of the matrix.
    pub is_default: bool,
    /// Statistical parameters of the matrix with these gap costs.
    pub statistics: MatrixStatistics,
}

/// Returns the rows of a matrix (canonical name) in BLAST+'s order; the first is the ungapped one.
pub(crate) fn rows(matrix: &str) -> Vec<TableRow> {
    TABLE
        .lines()
        .skip(1)
        .filter(|line| line.split('\t').next() == Some(matrix))
        .map(|line| parse(line).expect("the built-in table has 13 well-formed columns"))
        .collect()
}

fn parse(line: &str) -> Option<TableRow> {
    let fields: Vec<&str> = line.split('\t').collect();
    let number = |column: usize| fields.get(column)?.trim().parse::<f64>().ok();
    let cost = |column: usize| {
        let cost = number(column)?;
        Some(if cost.is_finite() { cost as i32 } else { INFINITE_GAP_COST })
    };
    let k = number(5)?;
    Some(TableRow {
        gap_open: cost(2)?,
        gap_extend: cost(3)?,
        is_default: fields.get(12)?.trim() == "best",
        statistics: MatrixStatistics {
            lambda: number(4)?,
            k,
            log_k: k.ln(),
            h: number(6)?,
            alpha: number(7)?,
            beta: number(8)?,
            alpha_v: number(10)?,
            sigma: number(11)?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_matrix_has_an_ungapped_row_and_one_preferred_row() {
        for name in crate::matrix::MATRIX_NAMES {
            let rows = rows(name);
            assert_eq!(
                (rows[0].gap_open, rows[0].gap_extend),
                (INFINITE_GAP_COST, INFINITE_GAP_COST),
                "{name}"
            );
            assert_eq!(rows.iter().filter(|row| row.is_default).count(), 1, "{name}");
        }
    }
}
