//! Length adjustment and effective search space.

/// Maximal number of evaluations of the expected length.
const ITERATIONS: u32 = 20;

/// Expected length of an alignment in a search space of size S: `alpha_over_lambda`·(`log_k` + ln
/// S) + `beta` residues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlignmentLengthModel {
    /// Parameter K of the Karlin–Altschul statistics.
    pub k: f64,
    /// Natural logarithm of K.
    pub log_k: f64,
    /// α/λ, residues per nat.
    pub alpha_over_lambda: f64,
    /// β, residues.
    pub beta: f64,
}

impl AlignmentLengthModel {
    /// Computes the number of residues to subtract from the query and every subject, for the ends
    /// where no alignment fits (`BLAST_ComputeLengthAdjustment`, blast_setup.c). Returns 0 if the
    /// search space is too small.
    ///
    /// `query_length` and `db_length` are in residues, `db_num` in sequences.
    pub fn length_adjustment(&self, query_length: i32, db_length: i64, db_num: i64) -> i32 {
        let (m, n, count) = (f64::from(query_length), db_length as f64, db_num as f64);
        let expected = |length: f64| {
            let space = (m - length) * (n - count * length);
            self.alpha_over_lambda * (self.log_k + space.ln()) + self.beta
        };
        let Some(limit) = largest_length(m, n, count, self.k) else { return 0 };
        let (mut min, mut max, mut next) = (0.0, limit, 0.0);
        let mut converged = false;
        for iteration in 1..=ITERATIONS {
            let length = next;
            let bar = expected(length);
            if bar >= length {
                min = length;
                converged = bar - min <= 1.0;
                if converged || min == max {
                    break;
                }
            } else {
                max = length;
            }
            next = match iteration {
                _ if min <= bar && bar <= max => bar,
                1 => max,
                _ => (min + max) / 2.0,
            };
        }
        // The fixed point is at `min` or slightly above: its floor can be one more.
        let up = min.ceil();
        if converged && up <= max && expected(up) >= up { up as i32 } else { min as i32 }
    }
}

/// Returns the largest length x with K (m - x)(n - count x) > max(m, n); `None` if there is none.
fn largest_length(m: f64, n: f64, count: f64, k: f64) -> Option<f64> {
    let mb = m * count + n;
    let c = n * m - m.max(n) / k;
    (c >= 0.0).then(|| 2.0 * c / (mb + (mb * mb - 4.0 * count * c).sqrt()))
}

/// Computes the product of the adjusted lengths of query and database, the latter at least 1
/// (`BLAST_CalcEffLengths`, blast_setup.c). If the user gives the length of the database, the
/// product can overflow 64 bits. Then it wraps, as in BLAST+.
pub fn effective_search_space(
    query_length: i32,
    db_length: i64,
    db_num: i64,
    adjustment: i32,
) -> i64 {
    let database = db_length.wrapping_sub(db_num * i64::from(adjustment)).max(1);
    database.wrapping_mul(i64::from(query_length - adjustment))
}

#[cfg(test)]
mod tests {
    use crate::release::Release;

    use super::*;
    use crate::scoring::ScoringSystem;

    fn blosum62(query_length: i32, db_length: i64, db_num: i64) -> (i32, i64) {
        let row = ScoringSystem::new(&Release::V2_12_0, "BLOSUM62", None, None)
            .unwrap()
            .gapped_statistics;
        let model = AlignmentLengthModel {
            k: row.k,
            log_k: row.log_k,
            alpha_over_lambda: row.alpha / row.lambda,
            beta: row.beta,
        };
        let adjustment = model.length_adjustment(query_length, db_length, db_num);
        (adjustment, effective_search_space(query_length, db_length, db_num, adjustment))
    }

    // "Effective search space used" of `blastp -query Q -db D` for a synthetic database of 600
    // sequences.
    #[test]
    fn footer_of_a_600_sequence_database() {
        assert_eq!(blosum62(411, 206_410, 600), (74, 54_597_370));
    }

    // "Effective search space used" of `blastp -query Q -subject S` with Q of 101 residues and S of
    // 101, 49, 55 and 17, and for Q of 20 and of 32 residues against S of 101.
    #[test]
    fn footers_of_small_searches() {
        assert_eq!(blosum62(101, 222, 4), (15, 13_932));
        assert_eq!(blosum62(20, 101, 1).1, 2020);
        assert_eq!(blosum62(32, 101, 1).1, 2842);
    }

    #[test]
    fn an_impossible_adjustment_is_none_and_the_database_stays_positive() {
        assert_eq!(blosum62(3, 3, 1), (0, 9));
        assert_eq!(effective_search_space(100, 50, 5, 20), 80);
    }

    // "Effective search space used" of a query of 30 residues with `-dbsize 600000000000000000`.
    #[test]
    fn too_large_a_product_wraps() {
        let space = effective_search_space(30, 600_000_000_000_000_000, 2, 5);
        assert_eq!(space, -3_446_744_073_709_551_866);
    }
}
