//! A matrix with gap costs and the statistics that belong to them.

use crate::release::Release;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

use thiserror::Error;

use crate::karlin::{self, KarlinParameters};
use crate::matrix::{self, MatrixName, ScoreMatrix};
use crate::table::{self, INFINITE_GAP_COST, MatrixStatistics, TableRow};

/// A substitution matrix, gap costs, and their statistics. A gap of length L costs `gap_open + L *
/// gap_extend`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ScoringSystem {
    /// Canonical name of the matrix, e.g. `BLOSUM62`. (Reports print the name as the user spelled
    /// it.)
    #[serde(with = "matrix::by_name")]
    pub name: MatrixName,
    /// The matrix.
    pub scores: ScoreMatrix,
    /// Smallest score of the matrix.
    pub lowest_score: i32,
    /// Largest score of the matrix.
    pub highest_score: i32,
    /// Cost of opening a gap.
    pub gap_open: i32,
    /// Cost of each residue of a gap.
    pub gap_extend: i32,
    /// Statistical parameters for the gap costs `gap_open` and `gap_extend`.
    pub gapped_statistics: MatrixStatistics,
    /// Statistical parameters of alignments without gaps (row 0 of the table).
    pub ungapped_statistics: MatrixStatistics,
    /// Ungapped parameters of two sequences of background composition.
    pub ideal_parameters: KarlinParameters,
}

/// A scoring system that is not supported. `Display` writes the part of BLAST+'s message after
/// `BLAST query/options error: `, with the line end after its last line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScoringError {
    /// There is no built-in matrix of this name.
    #[error("{matrix} is not a supported matrix, supported matrices are:\n{}", lines(listed))]
    UnknownMatrix {
        /// The name of the matrix as given.
        matrix: String,
        /// The matrices that the message lists.
        listed: &'static [&'static str],
    },
    /// No statistics are known for this matrix with these gap costs.
    #[error(
        "Gap existence and extension values of {gap_open} and {gap_extend} not supported for {matrix}\n\
         supported values are:\n{}",
        gap_list(matrix)
    )]
    UnknownGapCosts {
        /// The name of the matrix as given.
        matrix: String,
        /// Cost of opening a gap.
        gap_open: i32,
        /// Cost of each residue of a gap.
        gap_extend: i32,
    },
}

/// Formats names as lines `NAME `, trailing blank included (`BLAST_PrintMatrixMessage`,
/// blast_stat.c).
fn lines(names: &[&str]) -> String {
    names.iter().fold(String::new(), |list, name| list + name + " \n")
}

/// Formats the gap costs of a matrix as lines `open, extend` (`BLAST_PrintAllowedValues`,
/// blast_stat.c).
fn gap_list(matrix: &str) -> String {
    let mut list = String::new();
    for row in matrix::canonical_name(matrix).map(table::rows).unwrap_or_default() {
        // Writing to a String cannot fail.
        let _ = writeln!(list, "{}, {}", row.gap_open, row.gap_extend);
    }
    list
}

impl ScoringSystem {
    /// Creates the scoring system of a matrix (name in any case). Gap costs that are not given are
    /// the release's defaults for the matrix.
    ///
    /// # Errors
    /// [`ScoringError`] if the matrix or the pair of gap costs is not among those with
    /// known statistics.
    ///
    /// ```
    /// use fleetblast_stats::release::Release;
    /// use fleetblast_stats::scoring::ScoringSystem;
    /// let scoring = ScoringSystem::new(&Release::V2_12_0, "BLOSUM62", None, None)?;
    /// assert_eq!((scoring.gap_open, scoring.gap_extend), (11, 1));
    /// assert_eq!(scoring.gapped_statistics.lambda, 0.267);
    /// # Ok::<(), fleetblast_stats::scoring::ScoringError>(())
    /// ```
    pub fn new(
        release: &Release,
        matrix: &str,
        gap_open: Option<i32>,
        gap_extend: Option<i32>,
    ) -> Result<Self, ScoringError> {
        let unknown = || ScoringError::UnknownMatrix {
            matrix: matrix.to_owned(),
            listed: &matrix::MATRIX_NAMES,
        };
        let name = matrix::canonical_name(matrix).ok_or_else(unknown)?;
        let scores = matrix::matrix_scores(name).ok_or_else(unknown)?;
        let rows = table::rows(name);
        let marked = rows.iter().find(|row| row.is_default).ok_or_else(unknown)?;
        let preferred = match name {
            "PAM250" => release.pam250_gap_costs,
            _ => (marked.gap_open, marked.gap_extend),
        };
        let gap_open = gap_open.unwrap_or(preferred.0);
        let gap_extend = gap_extend.unwrap_or(preferred.1);
        let same = |row: &&TableRow| row.gap_open == gap_open && row.gap_extend == gap_extend;
        let Some(row) = rows.iter().find(same) else {
            let matrix = matrix.to_owned();
            return Err(ScoringError::UnknownGapCosts { matrix, gap_open, gap_extend });
        };
        let (low, high) = matrix::score_range(&scores);
        let ideal = karlin::ideal_parameters(&scores).ok_or_else(unknown)?;
        Ok(Self {
            name,
            scores,
            lowest_score: low,
            highest_score: high,
            gap_open,
            gap_extend,
            gapped_statistics: row.statistics,
            ungapped_statistics: rows[0].statistics,
            ideal_parameters: ideal,
        })
    }
}

impl ScoringSystem {
    /// Returns whether the gap costs are those of row 0 of the table, which is for alignments
    /// without gaps.
    pub fn has_infinite_gap_costs(&self) -> bool {
        (self.gap_open, self.gap_extend) == (INFINITE_GAP_COST, INFINITE_GAP_COST)
    }

    /// Creates the scoring system of a search that derives matrices of its own. IDENTITY is
    /// refused, since it has no target frequencies.
    ///
    /// # Errors
    /// [`ScoringError`] for IDENTITY, and otherwise as [`ScoringSystem::new`].
    pub fn with_target_frequencies(
        release: &Release,
        matrix: &str,
        gap_open: Option<i32>,
        gap_extend: Option<i32>,
    ) -> Result<Self, ScoringError> {
        let listed = &matrix::MATRICES_WITH_FREQUENCIES;
        match matrix::canonical_name(matrix) {
            Some(name) if listed.contains(&name) => {
                Self::new(release, matrix, gap_open, gap_extend)
            }
            _ => Err(ScoringError::UnknownMatrix { matrix: matrix.to_owned(), listed }),
        }
    }
}

/// Returns the threshold of neighbouring words suggested for a matrix
/// (`BLAST_GetSuggestedThreshold`, blast_options.c, for blastp).
pub fn suggested_word_threshold(matrix: &str) -> f64 {
    match matrix::canonical_name(matrix) {
        Some("BLOSUM45" | "PAM70") => 14.0,
        Some("BLOSUM80") => 12.0,
        Some("PAM30") => 16.0,
        Some("IDENTITY") => 27.0,
        _ => 11.0,
    }
}

/// Returns the two-hit window suggested for a matrix, in residues (`BLAST_GetSuggestedWindowSize`,
/// blast_options.c).
pub fn suggested_two_hit_window(matrix: &str) -> i32 {
    match matrix::canonical_name(matrix) {
        Some("BLOSUM45") => 60,
        Some("BLOSUM80") => 25,
        Some("PAM30") => 15,
        Some("PAM70") => 20,
        _ => 40,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats λ, K, H, α, variance and covariance as footers print them: three significant digits.
    fn footer(row: &MatrixStatistics) -> String {
        let print = |value: f64| {
            let digits = 2 - (value.log10().floor() as i32).max(-3);
            format!("{value:.*}", digits.max(0) as usize)
        };
        let values = [row.lambda, row.k, row.h, row.alpha, row.alpha_v, row.sigma];
        values.map(print).join(" ")
    }

    // "Gapped Lambda K H a alpha sigma" and "Gap Penalties" of `blastp -query Q -subject S -matrix
    // M -comp_based_stats 0`.
    #[test]
    fn preferred_rows_are_those_of_the_footers() {
        let golden = [
            ("BLOSUM45", 14, 2, "0.195 0.0320 0.100 1.90 60.7 61.1"),
            ("BLOSUM50", 13, 2, "0.193 0.0350 0.120 1.60 42.1 42.5"),
            ("BLOSUM62", 11, 1, "0.267 0.0410 0.140 1.90 42.6 43.6"),
            ("BLOSUM80", 10, 1, "0.299 0.0710 0.270 1.10 13.8 14.5"),
            ("BLOSUM90", 10, 1, "0.290 0.0750 0.280 1.04 11.5 12.3"),
            ("PAM30", 9, 1, "0.294 0.110 0.610 0.480 2.46 3.19"),
            ("PAM70", 10, 1, "0.291 0.0910 0.410 0.710 6.00 6.72"),
            ("PAM250", 14, 2, "0.182 0.0240 0.0730 2.50 96.3 96.8"),
            ("IDENTITY", 15, 2, "0.283 0.255 1.49 0.190 0.246 0.227"),
        ];
        for (matrix, open, extend, want) in golden {
            let scoring = ScoringSystem::new(&Release::V2_12_0, matrix, None, None).unwrap();
            assert_eq!((scoring.gap_open, scoring.gap_extend), (open, extend), "{matrix}");
            // IDENTITY's λ is 0.2835, which C prints as 0.283 (the `f64` is slightly less).
            assert_eq!(footer(&scoring.gapped_statistics), want, "{matrix}");
        }
    }

    #[test]
    fn pam250_has_the_gap_costs_of_the_release() {
        let other = Release { pam250_gap_costs: (15, 2), ..Release::V2_12_0 };
        let costs = |open, extend| {
            let scoring = ScoringSystem::new(&other, "pam250", open, extend).unwrap();
            (scoring.gap_open, scoring.gap_extend)
        };
        assert_eq!((costs(None, None), costs(Some(14), None)), ((15, 2), (14, 2)));
    }

    // `blastp -matrix foo`, from after "BLAST query/options error: " up to "\nPlease refer to the
    // BLAST+ user manual."
    #[test]
    fn an_unknown_matrix_lists_the_known_ones() {
        let error = ScoringSystem::new(&Release::V2_12_0, "foo", Some(1), Some(1)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "foo is not a supported matrix, supported matrices are:\nBLOSUM80 \nBLOSUM62 \nBLOSUM50 \nBLOSUM45 \n\
             PAM250 \nBLOSUM90 \nPAM30 \nPAM70 \nIDENTITY \n"
        );
    }

    // `blastp -gapopen 3 -gapextend 3`; `blastp -matrix blosum45 -gapopen 3`.
    #[test]
    fn unknown_gap_costs_list_the_known_ones() {
        let error =
            ScoringSystem::new(&Release::V2_12_0, "BLOSUM62", Some(3), Some(3)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "Gap existence and extension values of 3 and 3 not supported for BLOSUM62\nsupported values are:\n\
             32767, 32767\n11, 2\n10, 2\n9, 2\n8, 2\n7, 2\n6, 2\n13, 1\n12, 1\n11, 1\n10, 1\n9, 1\n"
        );
        let error = ScoringSystem::new(&Release::V2_12_0, "blosum45", Some(3), None).unwrap_err();
        assert!(error.to_string().starts_with(
            "Gap existence and extension values of 3 and 2 not supported for blosum45\n"
        ));
    }

    // `blastp -gapopen 32767 -gapextend 32767` is accepted and prints the ungapped row.
    #[test]
    fn the_ungapped_row_can_be_asked_for() {
        let scoring =
            ScoringSystem::new(&Release::V2_12_0, "blosum62", Some(32767), Some(32767)).unwrap();
        assert_eq!(scoring.gapped_statistics, scoring.ungapped_statistics);
        assert_eq!(scoring.name, "BLOSUM62");
    }

    // "Neighboring words threshold" and "Window for multiple hits" of `blastp -matrix M`.
    #[test]
    fn suggestions_by_matrix() {
        let got = matrix::MATRIX_NAMES
            .map(|name| (suggested_word_threshold(name), suggested_two_hit_window(name)));
        let want = [
            (12.0, 25),
            (11.0, 40),
            (11.0, 40),
            (14.0, 60),
            (11.0, 40),
            (11.0, 40),
            (16.0, 15),
            (14.0, 20),
            (27.0, 40),
        ];
        assert_eq!(got, want);
    }
}
