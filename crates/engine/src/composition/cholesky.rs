//! The linear system of one Newton step: symmetric, positive definite, half of it diagonal.

/// Half of the number of unknowns.
pub(super) const HALF: usize = 20;

/// Number of unknowns.
pub(super) const SIZE: usize = 2 * HALF;

/// A vector over the unknowns.
pub(super) type Vector = [f64; SIZE];

/// A square block.
type Block = [[f64; HALF]; HALF];

/// The matrix (D Bᵀ; B C) with diagonal D; after [`System::factor`] its Cholesky factor.
///
/// Operations run in the order of a dense Cholesky factorisation row by row, those with the zeros of D left out, so results
/// are the same to the last bit (nlm_linear_algebra.c).
#[derive(Clone, Debug)]
pub(super) struct System {
    /// D; then its square root.
    pub diagonal: [f64; HALF],
    /// Bᵀ: row k holds column k of B. Then the same of the factor.
    pub across: Block,
    /// C, of which entry `[i][j]` with j ≤ i is used.
    pub corner: Block,
    /// Transposed factor of C, entry `[j][i]` with j ≤ i.
    factor: Block,
}

impl System {
    /// A system of zeros.
    pub(super) fn new() -> Self {
        Self {
            diagonal: [0.0; HALF],
            across: [[0.0; HALF]; HALF],
            corner: [[0.0; HALF]; HALF],
            factor: [[0.0; HALF]; HALF],
        }
    }

    /// Replaces the matrix by its Cholesky factor; entries become NaN if it is not positive definite.
    pub(super) fn factor(&mut self) {
        for (diagonal, across) in self.diagonal.iter_mut().zip(&mut self.across) {
            *diagonal = diagonal.sqrt();
            for value in across {
                *value /= *diagonal;
            }
        }
        // Row i of C minus (B D⁻¹ Bᵀ), the transpose of it in `factor`.
        for i in 0..HALF {
            let mut row = self.corner[i];
            for across in &self.across {
                let scale = across[i];
                for (value, other) in row.iter_mut().zip(across) {
                    *value -= scale * other;
                }
            }
            for j in 0..=i {
                self.factor[j][i] = row[j];
            }
        }
        for k in 0..HALF {
            let (done, rest) = self.factor.split_at_mut(k + 1);
            let pivot = &mut done[k];
            let root = pivot[k].sqrt();
            pivot[k] = root;
            for value in &mut pivot[k + 1..] {
                *value /= root;
            }
            for (j, row) in (k + 1..).zip(rest) {
                let scale = pivot[j];
                for (value, other) in row[j..].iter_mut().zip(&pivot[j..]) {
                    *value -= scale * other;
                }
            }
        }
    }

    /// Solves the factored system in place.
    pub(super) fn solve(&self, x: &mut Vector) {
        let (first, second) = x.split_at_mut(HALF);
        for ((value, diagonal), across) in first.iter_mut().zip(&self.diagonal).zip(&self.across) {
            *value /= diagonal;
            for (later, factor) in second.iter_mut().zip(across) {
                *later -= factor * *value;
            }
        }
        for (k, row) in self.factor.iter().enumerate() {
            let value = second[k] / row[k];
            second[k] = value;
            for (later, factor) in second[k + 1..].iter_mut().zip(&row[k + 1..]) {
                *later -= factor * value;
            }
        }
        for k in (0..HALF).rev() {
            let value = second[k] / self.factor[k][k];
            second[k] = value;
            for (earlier, row) in second[..k].iter_mut().zip(&self.factor) {
                *earlier -= row[k] * value;
            }
        }
        for ((value, diagonal), across) in first.iter_mut().zip(&self.diagonal).zip(&self.across) {
            for (later, factor) in second.iter().zip(across).rev() {
                *value -= factor * later;
            }
            *value /= diagonal;
        }
    }
}
