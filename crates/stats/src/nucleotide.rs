//! Match and mismatch scores with gap costs, and their statistics (blast_stat.c).

use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

use fleetblast_seq::alphabet;
use fleetblast_seq::nucleotide::blastna;
use thiserror::Error;

use crate::karlin::KarlinParameters;
use crate::lattice;

const TABLE: &str = include_str!("../data/karlin_altschul_na.tsv");

/// The score of pairs with a sentinel or a gap, which stops an extension (`INT4_MIN / 2`).
pub const SENTINEL_SCORE: i32 = i32::MIN / 2;

/// Scores that have probabilities: BLAST+ excludes the smallest and the largest of 16 bits
/// (`BlastScoreBlkMaxMin`). A match of 32767 makes it write beyond its array and crash.
const COUNTED: std::ops::Range<i32> = i16::MIN as i32 + 1..i16::MAX as i32;

/// Scores of every pair of blastna codes.
pub type BaseScores = [[i32; blastna::SIZE]; blastna::SIZE];

/// Statistical parameters of alignments with gaps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum GappedStatistics {
    /// Statistical parameters from the table (blast_stat.c) for the gap costs.
    Tabulated {
        /// λ, K, ln K and H.
        karlin: KarlinParameters,
        /// Slope of the mean length of an alignment over its score.
        alpha: f64,
        /// Intercept of the mean length of an alignment.
        beta: f64,
    },
    /// Each context uses its ungapped parameters: the gap costs are very high, or have no
    /// parameters.
    AsUngapped,
}

/// Match and mismatch scores, gap costs, and their statistics. A gap of length L costs `gap_open +
/// L * gap_extend`. If both are 0, each gapped base costs half a match and a mismatch
/// ([`is_linear`](Self::is_linear)).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NucleotideScoring {
    /// Score of a match, of 16 bits as in BLAST+.
    pub reward: i32,
    /// Score of a mismatch, below 0, of 16 bits.
    pub penalty: i32,
    /// Cost of opening a gap.
    pub gap_open: i32,
    /// Cost of each base of a gap.
    pub gap_extend: i32,
    /// Scores of bases and of ambiguous codes.
    pub scores: BaseScores,
    /// Statistical parameters for the gap costs `gap_open` and `gap_extend`.
    pub gapped_statistics: GappedStatistics,
    /// Whether e-values are computed from the next lower even score (`round_down`).
    pub rounds_scores_down: bool,
    /// Whether the table has statistics for `reward` and `penalty`, with any gap costs.
    pub has_statistics: bool,
}

/// A scoring system that is not supported. `Display` writes the part of BLAST+'s message after
/// `BLAST engine error: Error: `.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NucleotideScoringError {
    /// No statistics are known for this pair of match and mismatch scores.
    #[error("Substitution scores {reward} and {penalty} are not supported")]
    UnknownScores {
        /// Score of a match.
        reward: i32,
        /// Score of a mismatch.
        penalty: i32,
    },
    /// Statistics are known for the pair of scores, but not with these gap costs.
    #[error(
        "Gap existence and extension values {gap_open} and {gap_extend} are not supported for substitution scores \
         {reward} and {penalty}\n{}",
        format_supported_costs(*reward, *penalty)
    )]
    UnknownGapCosts {
        /// Score of a match.
        reward: i32,
        /// Score of a mismatch.
        penalty: i32,
        /// Cost of opening a gap.
        gap_open: i32,
        /// Cost of each base of a gap.
        gap_extend: i32,
    },
}

/// The gap costs that a line of the table applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Linear gap costs, which are 0.
    Linear,
    /// Exactly the gap costs of the line.
    Affine,
    /// The gap costs of the line, and all higher gap costs.
    Infinite,
}

/// A line of the table. Its gap costs are multiplied by the common divisor of the search's scores;
/// λ and α are divided by it.
#[derive(Clone, Copy, Debug)]
struct Row {
    kind: Kind,
    gap_open: i32,
    gap_extend: i32,
    /// λ, K, H, α, β; `None` for infinite gap costs.
    values: Option<[f64; 5]>,
    even_scores: bool,
}

/// Returns the lines of the table for a pair of scores, which may be a multiple of the pair in the
/// table.
fn rows(reward: i32, penalty: i32) -> Vec<Row> {
    let divisor = gcd(reward, penalty).max(1);
    let lines = TABLE.lines().filter(|line| !line.starts_with('#')).skip(1);
    let parsed = lines.map(|line| parse(line, divisor).expect("a built-in table of 12 columns"));
    let scores = (reward / divisor, penalty / divisor);
    parsed.filter(|(pair, _)| *pair == scores).map(|(_, row)| row).collect()
}

fn parse(line: &str, times: i32) -> Option<((i32, i32), Row)> {
    let fields: Vec<&str> = line.split('\t').collect();
    let whole = |column: usize| fields.get(column)?.parse::<i32>().ok();
    let kind = match *fields.get(2)? {
        "linear" => Kind::Linear,
        "affine" => Kind::Affine,
        _ => Kind::Infinite,
    };
    let value = |column: usize| fields.get(column)?.parse::<f64>().ok();
    let values = match kind {
        Kind::Infinite => None,
        _ => {
            let [lambda, alpha] = [value(5)?, value(8)?].map(|value| value / f64::from(times));
            Some([lambda, value(6)?, value(7)?, alpha, value(9)?])
        }
    };
    let row = Row {
        kind,
        gap_open: whole(3)? * times,
        gap_extend: whole(4)? * times,
        values,
        even_scores: whole(11)? == 1,
    };
    Some(((whole(0)?, whole(1)?), row))
}

fn gcd(a: i32, b: i32) -> i32 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Formats BLAST+'s list of the supported gap costs, one pair a line.
fn format_supported_costs(reward: i32, penalty: i32) -> String {
    let mut list = String::new();
    for Row { kind, gap_open, gap_extend, .. } in rows(reward, penalty) {
        // Writing to a String cannot fail.
        let _ = match kind {
            Kind::Linear => Ok(()),
            Kind::Affine => writeln!(
                list,
                "{gap_open} and {gap_extend} are supported existence and extension values"
            ),
            Kind::Infinite => writeln!(
                list,
                "{gap_open} and {gap_extend} are supported existence and extension values\n\
                 Any values more stringent than {gap_open} and {gap_extend} are supported"
            ),
        };
    }
    list
}

impl NucleotideScoring {
    /// Creates a scoring system.
    ///
    /// # Errors
    /// [`NucleotideScoringError`] if the scores or the gap costs are not among those with
    /// known statistics.
    ///
    /// ```
    /// use fleetblast_stats::nucleotide::NucleotideScoring;
    /// let megablast = NucleotideScoring::new(1, -2, 0, 0)?;
    /// assert!(megablast.is_linear() && !megablast.rounds_scores_down);
    /// assert!(NucleotideScoring::new(2, -3, 1, 1).is_err());
    /// # Ok::<(), fleetblast_stats::nucleotide::NucleotideScoringError>(())
    /// ```
    pub fn new(
        reward: i32,
        penalty: i32,
        gap_open: i32,
        gap_extend: i32,
    ) -> Result<Self, NucleotideScoringError> {
        let rows = rows(reward, penalty);
        let Some(first) = rows.first() else {
            // The message shows the scores of the table, without their common divisor.
            let divisor = gcd(reward, penalty).max(1);
            let (reward, penalty) = (reward / divisor, penalty / divisor);
            return Err(NucleotideScoringError::UnknownScores { reward, penalty });
        };
        let same = |row: &&Row| row.gap_open == gap_open && row.gap_extend == gap_extend;
        let of = |kind| rows.iter().filter(move |row: &&Row| row.kind == kind);
        let linear = of(Kind::Linear).find(|_| (gap_open, gap_extend) == (0, 0));
        let gapped = match linear.or_else(|| of(Kind::Affine).find(same)) {
            Some(row) => row.values.map(gapped),
            None => of(Kind::Infinite)
                .find(|row| gap_open >= row.gap_open && gap_extend >= row.gap_extend)
                .map(|_| GappedStatistics::AsUngapped),
        };
        let unknown =
            NucleotideScoringError::UnknownGapCosts { reward, penalty, gap_open, gap_extend };
        Ok(Self {
            reward,
            penalty,
            gap_open,
            gap_extend,
            scores: scores(reward, penalty),
            gapped_statistics: gapped.ok_or(unknown)?,
            rounds_scores_down: first.even_scores,
            has_statistics: true,
        })
    }

    /// Creates a scoring system of any scores and gap costs. Alignments with gaps get the ungapped
    /// parameters.
    pub fn with_ungapped_statistics(
        reward: i32,
        penalty: i32,
        gap_open: i32,
        gap_extend: i32,
    ) -> Self {
        Self {
            reward,
            penalty,
            gap_open,
            gap_extend,
            scores: scores(reward, penalty),
            gapped_statistics: GappedStatistics::AsUngapped,
            rounds_scores_down: false,
            has_statistics: !rows(reward, penalty).is_empty(),
        }
    }

    /// Returns whether every context with a base has ungapped parameters. The mean score of a
    /// random pair of bases must be below 0, and a match must score above 0. Both scores must have
    /// a probability.
    pub fn has_ungapped_parameters(&self) -> bool {
        let counts = |score| COUNTED.contains(&score);
        i64::from(self.reward) + 3 * i64::from(self.penalty) < 0
            && self.reward > 0
            && counts(self.reward)
            && counts(self.penalty)
    }

    /// Returns the lowest and the highest score that have a probability; `None` if no score has
    /// one.
    fn range(&self) -> Option<(i32, i32)> {
        let counted =
            || self.scores.iter().flatten().copied().filter(|score| COUNTED.contains(score));
        counted().min().zip(counted().max())
    }

    /// Returns whether gap costs are linear: each gapped base costs half a match and a mismatch.
    pub fn is_linear(&self) -> bool {
        self.gap_open == 0 && self.gap_extend == 0
    }

    /// Computes the ungapped parameters of a context; `None` if there are none, as for a context of
    /// `N` only.
    pub fn ungapped_parameters(&self, letters: &[u8]) -> Option<KarlinParameters> {
        // All ambiguous codes count, except for `N`.
        let mut counts = [0_u64; blastna::N as usize];
        for &letter in letters {
            if let Some(count) = counts.get_mut(usize::from(letter)) {
                *count += 1;
            }
        }
        let total = counts.iter().sum::<u64>() as f64;
        // A matrix of the shape of proteins, with the codes of nucleotides in its first rows and
        // the four bases in its first columns.
        let bases = usize::from(blastna::BASES);
        let mut query = [0.0; alphabet::SIZE];
        let mut subject = [0.0; alphabet::SIZE];
        subject[..bases].fill(0.25);
        let mut pairs = [[0; alphabet::SIZE]; alphabet::SIZE];
        for (code, &count) in counts.iter().enumerate().filter(|_| total > 0.0) {
            query[code] = count as f64 / total;
            pairs[code][..bases].copy_from_slice(&self.scores[code][..bases]);
        }
        lattice::with_score_distribution(&query, &subject, &pairs, self.range()?, |distribution| {
            let lambda = distribution.lambda(0.5)?;
            let h = distribution.entropy(lambda)?;
            let k = distribution.k(lambda, h)?;
            Some(KarlinParameters { lambda, k, log_k: k.ln(), h })
        })
    }

    /// Returns the parameters of e-values and bit scores of alignments with gaps, α and β, for a
    /// context with the given ungapped parameters.
    pub fn gapped_parameters(&self, ungapped: &KarlinParameters) -> (KarlinParameters, f64, f64) {
        match self.gapped_statistics {
            GappedStatistics::Tabulated { karlin, alpha, beta } => (karlin, alpha, beta),
            GappedStatistics::AsUngapped => {
                (*ungapped, ungapped.lambda / ungapped.h, self.ungapped_beta())
            }
        }
    }

    /// Returns β of alignments without gaps (`Blast_GetNuclAlphaBeta`).
    pub fn ungapped_beta(&self) -> f64 {
        if matches!((self.reward, self.penalty), (1, -1) | (2, -3)) { -2.0 } else { 0.0 }
    }
}

fn gapped([lambda, k, h, alpha, beta]: [f64; 5]) -> GappedStatistics {
    GappedStatistics::Tabulated {
        karlin: KarlinParameters { lambda, k, log_k: k.ln(), h },
        alpha,
        beta,
    }
}

/// Computes the scores of all pairs of codes (`BlastScoreBlkNuclMatrixCreate`). A base against an
/// ambiguous code scores the mean of its scores against each base of the code. Two ambiguous codes
/// score as the one with more bases against a single base. Codes without a common base score as a
/// mismatch.
fn scores(reward: i32, penalty: i32) -> BaseScores {
    let mut scores = [[SENTINEL_SCORE; blastna::SIZE]; blastna::SIZE];
    for a in 0..blastna::SENTINEL {
        for b in a..blastna::SENTINEL {
            let bases = blastna::to_ncbi4na(b).count_ones() as i32;
            let common = blastna::to_ncbi4na(a) & blastna::to_ncbi4na(b) != 0;
            let sum = f64::from((bases - 1) * penalty + reward);
            let score = if common { (sum / f64::from(bases)).round() as i32 } else { penalty };
            scores[usize::from(a)][usize::from(b)] = score;
            scores[usize::from(b)][usize::from(a)] = score;
        }
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(scoring: &NucleotideScoring, a: u8, b: u8) -> i32 {
        let code = |letter| blastna::LETTERS.iter().position(|&l| l == letter).unwrap();
        scoring.scores[code(a)][code(b)]
    }

    #[test]
    fn ambiguous_codes_score_the_mean() {
        let blastn = NucleotideScoring::new(2, -3, 5, 2).unwrap();
        let pairs = [(b'A', b'A', 2), (b'A', b'N', -2), (b'A', b'R', -1), (b'R', b'R', -1)];
        for (a, b, want) in pairs.into_iter().chain([(b'N', b'N', -2), (b'A', b'Y', -3)]) {
            assert_eq!(score(&blastn, a, b), want, "{} {}", a as char, b as char);
            assert_eq!(score(&blastn, b, a), want);
        }
        let megablast = NucleotideScoring::new(1, -2, 0, 0).unwrap();
        assert_eq!((score(&megablast, b'A', b'N'), score(&megablast, b'A', b'R')), (-1, -1));
    }

    // "Lambda K H" of `blastn -task T` of a query of random bases, twice: ungapped and gapped.
    #[test]
    fn footers_of_the_tasks() {
        let query: Vec<u8> = (0..1000_u32).map(|i| (i * i / 7 % 4) as u8).collect();
        let close = |got: [f64; 3], want: [f64; 3]| {
            got.iter().zip(want).for_each(|(g, w)| assert!((g - w).abs() < 0.006 * w, "{got:?}"));
        };
        let of = |block: KarlinParameters| [block.lambda, block.k, block.h];
        for (reward, penalty, open, extend, ungapped, gapped) in [
            (1, -2, 0, 0, [1.33, 0.621, 1.12], [1.28, 0.460, 0.850]),
            (2, -3, 5, 2, [0.634, 0.408, 0.912], [0.625, 0.410, 0.780]),
            (1, -3, 5, 2, [1.37, 0.711, 1.31], [1.37, 0.711, 1.31]),
        ] {
            let scoring = NucleotideScoring::new(reward, penalty, open, extend).unwrap();
            let found = scoring.ungapped_parameters(&query).unwrap();
            close(of(found), ungapped);
            close(of(scoring.gapped_parameters(&found).0), gapped);
        }
        assert!(
            NucleotideScoring::new(2, -3, 5, 2).unwrap().ungapped_parameters(&[14, 14]).is_none()
        );
    }

    // `blastn -ungapped -outfmt 5 -dust no`: `Statistics_lambda`, `_kappa`, `_entropy`.
    #[test]
    fn ambiguous_codes_count_but_for_n() {
        let codes = |letters: &str| -> Vec<u8> {
            let code = |letter| blastna::LETTERS.iter().position(|&l| l == letter).unwrap() as u8;
            letters.bytes().map(code).collect()
        };
        let mixed = codes("ACGTTGCATGGGATCRYKMACCATTNNNBDHVSWRRRR");
        let two = codes(&["R".repeat(20), "Y".repeat(20)].concat());
        for (reward, penalty, letters, want) in [
            (1, -2, &mixed, [1.84403198221902, 0.741682508692058, 1.62467464826988]),
            (2, -3, &mixed, [0.872660444966404, 0.458611463166752, 1.29748570491825]),
            (5, -4, &mixed, [0.248700036208531, 0.191360275758262, 0.447147649497507]),
            (5, -4, &two, [0.656255979236976, 0.39406519341085, 0.537411262453364]),
        ] {
            let scoring = NucleotideScoring::new(reward, penalty, 25, 10).unwrap();
            let found = scoring.ungapped_parameters(letters).unwrap();
            for (found, want) in [found.lambda, found.k, found.h].into_iter().zip(want) {
                assert!((found - want).abs() < 1e-14 * want.max(1.0), "{found} {want}");
            }
        }
        assert!(NucleotideScoring::new(1, -2, 0, 0).unwrap().ungapped_parameters(&two).is_none());
    }

    #[test]
    fn multiples_of_scores_have_multiples_of_gap_costs() {
        let scoring = NucleotideScoring::new(4, -6, 10, 4).unwrap();
        let GappedStatistics::Tabulated { karlin, .. } = scoring.gapped_statistics else {
            panic!("{:?}", scoring.gapped_statistics)
        };
        assert_eq!(karlin.lambda, 0.625 / 2.0);
        assert!(scoring.rounds_scores_down);
    }

    // `blastn -reward 4 -penalty -6 -gapopen 1 -gapextend 1`, `-reward 1 -penalty -6`
    #[test]
    fn unsupported_scores_and_costs_are_named() {
        let error = NucleotideScoring::new(4, -6, 1, 1).unwrap_err().to_string();
        let lines: Vec<&str> = error.lines().collect();
        assert_eq!(
            lines[0],
            "Gap existence and extension values 1 and 1 are not supported for substitution scores 4 and -6"
        );
        assert_eq!(lines[1], "8 and 8 are supported existence and extension values");
        assert_eq!(lines[10], "Any values more stringent than 12 and 8 are supported");
        assert_eq!(lines.len(), 11);
        let error = NucleotideScoring::new(1, -6, 5, 2).unwrap_err().to_string();
        assert_eq!(error, "Substitution scores 1 and -6 are not supported");
        let error = NucleotideScoring::new(2, -20, 5, 2).unwrap_err().to_string();
        assert_eq!(error, "Substitution scores 1 and -10 are not supported");
    }
}
