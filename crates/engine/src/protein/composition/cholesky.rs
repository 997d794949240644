//! The linear system of one Newton step: symmetric, positive definite, half of it diagonal.

/// Half of the number of unknowns.
pub(super) const HALF: usize = 20;

/// A vector over half of the unknowns.
pub(super) type Half = [f64; HALF];

/// The matrix (D Bᵀ; B C) with diagonal D; after [`System::factor`] its Cholesky factor.
///
/// Loops run over whole rows, including the zeros of a triangle, because that fits vector
/// registers.
#[derive(Clone, Debug)]
pub(super) struct System {
    /// D. After factoring, the reciprocal of its square root.
    pub diagonal: Half,
    /// Bᵀ: row k holds column k of B. After factoring, it holds the same block of the factor.
    pub across: [Half; HALF],
    /// C, lower triangle; the upper one is zero. After factoring, the transpose of its factor, an
    /// upper triangle.
    pub corner: [Half; HALF],
    /// Reciprocals of the diagonal of the factor of C.
    pivots: Half,
}

/// Subtracts scale·b from a.
#[inline(always)]
fn subtract(a: &mut Half, scale: f64, b: &Half) {
    for (a, b) in a.iter_mut().zip(b) {
        *a -= scale * b;
    }
}

/// Computes Σ a·b in four lanes.
#[inline(always)]
fn dot(a: &Half, b: &Half) -> f64 {
    let mut sums = [0.0; 4];
    for (a, b) in a.as_chunks::<4>().0.iter().zip(b.as_chunks::<4>().0) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

impl System {
    /// Creates a system of zeros.
    pub(super) fn new() -> Self {
        Self {
            diagonal: [0.0; HALF],
            across: [[0.0; HALF]; HALF],
            corner: [[0.0; HALF]; HALF],
            pivots: [0.0; HALF],
        }
    }

    /// Replaces the matrix by its Cholesky factor; entries become NaN if it is not positive
    /// definite.
    #[inline(always)]
    pub(super) fn factor(&mut self) {
        for (diagonal, across) in self.diagonal.iter_mut().zip(&mut self.across) {
            *diagonal = 1.0 / diagonal.sqrt();
            for value in across {
                *value *= *diagonal;
            }
        }
        // C - B D⁻¹ Bᵀ is symmetric: its rows are the columns of its lower triangle.
        for row in 1..HALF {
            for column in 0..row {
                self.corner[column][row] = self.corner[row][column];
            }
        }
        for (index, row) in self.corner.iter_mut().enumerate() {
            let mut sum = *row;
            for across in &self.across {
                subtract(&mut sum, across[index], across);
            }
            *row = sum;
        }
        for index in 0..HALF {
            let (done, rest) = self.corner.split_at_mut(index + 1);
            let pivot = &mut done[index];
            pivot[..index].fill(0.0);
            let reciprocal = 1.0 / pivot[index].sqrt();
            self.pivots[index] = reciprocal;
            for value in pivot.iter_mut() {
                *value *= reciprocal;
            }
            for (offset, row) in rest.iter_mut().enumerate() {
                subtract(row, pivot[index + 1 + offset], pivot);
            }
        }
    }

    /// Solves the factored system for two halves of a right-hand side, in place.
    #[inline(always)]
    pub(super) fn solve(&self, first: &mut Half, second: &mut Half) {
        for ((value, reciprocal), across) in first.iter_mut().zip(&self.diagonal).zip(&self.across)
        {
            *value *= reciprocal;
            subtract(second, *value, across);
        }
        for (index, row) in self.corner.iter().enumerate() {
            let value = second[index] * self.pivots[index];
            subtract(second, value, row);
            second[index] = value;
        }
        // Entries not yet solved must not count in the sums below.
        let right = std::mem::replace(second, [0.0; HALF]);
        for (index, row) in self.corner.iter().enumerate().rev() {
            second[index] = (right[index] - dot(row, second)) * self.pivots[index];
        }
        for ((value, reciprocal), across) in first.iter_mut().zip(&self.diagonal).zip(&self.across)
        {
            *value = (*value - dot(across, second)) * reciprocal;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 2 * HALF;

    /// Creates a well-conditioned system, and its dense matrix.
    fn example() -> (System, [[f64; SIZE]; SIZE]) {
        let mut system = System::new();
        let mut random = fastrand::Rng::with_seed(1);
        let mut dense = [[0.0; SIZE]; SIZE];
        for i in 0..HALF {
            system.diagonal[i] = 30.0 + random.f64();
            dense[i][i] = system.diagonal[i];
            for j in 0..HALF {
                let value = random.f64() - 0.5;
                system.across[i][j] = value;
                dense[i][HALF + j] = value;
                dense[HALF + j][i] = value;
            }
            for j in 0..=i {
                let value = if i == j { 40.0 } else { random.f64() };
                system.corner[i][j] = value;
                dense[HALF + i][HALF + j] = value;
                dense[HALF + j][HALF + i] = value;
            }
        }
        (system, dense)
    }

    #[test]
    fn the_solution_satisfies_the_system() {
        let (mut system, dense) = example();
        let right: [f64; SIZE] = std::array::from_fn(|i| 1.0 + i as f64);
        let mut first: Half = std::array::from_fn(|i| right[i]);
        let mut second: Half = std::array::from_fn(|i| right[HALF + i]);
        system.factor();
        system.solve(&mut first, &mut second);
        for (row, right) in dense.iter().zip(right) {
            let (left, rest) = row.split_at(HALF);
            let sum: f64 = left.iter().zip(first).map(|(a, x)| a * x).sum::<f64>()
                + rest.iter().zip(second).map(|(a, x)| a * x).sum::<f64>();
            assert!((sum - right).abs() < 1e-11, "{sum} {right}");
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_gives_nan() {
        let (mut system, _) = example();
        system.corner[7][7] = -50.0;
        let (mut first, mut second) = ([1.0; HALF], [1.0; HALF]);
        system.factor();
        system.solve(&mut first, &mut second);
        assert!(first.iter().chain(&second).any(|value| value.is_nan()));
    }
}
