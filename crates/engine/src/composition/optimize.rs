//! The joint probabilities nearest to given ones that have given marginals and a given relative entropy.
//!
//! Minimises Σ x ln(x/q) over the 20 × 20 joint probabilities x, with q those of the original matrix, subject to 20 column
//! sums, 19 row sums (the last follows), and Σ x ln(x/(r c)) = 0.44, by Newton's method on the Lagrangian
//! (`Blast_OptimizeTargetFrequencies`, optimize_target_freq.c). D, the second derivative of the Lagrangian, is diagonal, so a step
//! costs one system of 40 unknowns. Long sums run in several lanes; what that changes is far below the tolerance.

use fleetblast_stats::frequencies::{Joint, TRUE_RESIDUES};

use super::Letters;
use super::cholesky::{HALF, SIZE, System, Vector};

/// Relative entropy of every adjusted matrix, in nats (composition_adjustment.c).
const RELATIVE_ENTROPY: f64 = 0.44;
/// Norm of the residuals at which the iteration has converged.
const TOLERANCE: f64 = 1.0e-8;
/// Most Newton steps.
const ITERATIONS: u32 = 2000;
/// Share of the way to the boundary x = 0 that a step may go.
const STEP: f64 = 0.95;

/// Number of joint probabilities.
const CELLS: usize = TRUE_RESIDUES * TRUE_RESIDUES;
/// Index of the constraint on the relative entropy, after 20 columns and 19 rows.
const ENTROPY: usize = SIZE - 1;
/// Lanes of a long sum.
const LANES: usize = 8;

/// Arrays of the iteration.
#[derive(Clone, Debug)]
pub(super) struct Optimizer {
    /// The iterate.
    x: Joint,
    /// ln(x/q).
    log_ratio: Joint,
    /// ln(q/(r c)): the scores of the original probabilities in the new composition, at λ = 1.
    scores: Joint,
    /// Gradient of the relative entropy: ln(x/(r c)) + 1.
    gradient: Joint,
    /// Residual of x; then its step.
    step: Joint,
    /// D⁻¹.
    inverse: Joint,
    /// Products with D⁻¹.
    product: Joint,
    /// Lagrange multipliers.
    multipliers: Vector,
    system: System,
}

/// Σ a·b.
fn dot(a: &Joint, b: &Joint) -> f64 {
    let (a, a_rest) = a.as_flattened().as_chunks::<LANES>();
    let (b, b_rest) = b.as_flattened().as_chunks::<LANES>();
    debug_assert!(a_rest.is_empty() && b_rest.is_empty(), "400 cells are whole lanes");
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum()
}

/// Takes the column sums and the row sums (but the first) of `cells` off `out`.
fn subtract_sums(out: &mut Vector, cells: &Joint) {
    let (columns, rows) = out.split_at_mut(HALF);
    for row in cells {
        for (column, cell) in columns.iter_mut().zip(row) {
            *column -= cell;
        }
    }
    for (value, row) in rows.iter_mut().zip(&cells[1..]) {
        for cell in row {
            *value -= cell;
        }
    }
}

/// Adds to each cell the multipliers of its column and its row.
fn add_multipliers(cells: &mut Joint, multipliers: &Vector) {
    let (columns, rows) = multipliers.split_at(HALF);
    for (index, row) in cells.iter_mut().enumerate() {
        for (cell, column) in row.iter_mut().zip(columns) {
            *cell += column;
        }
        if index > 0 {
            for cell in row {
                *cell += rows[index - 1];
            }
        }
    }
}

impl Optimizer {
    /// Fresh arrays.
    pub(super) fn new() -> Self {
        let zero = [[0.0; TRUE_RESIDUES]; TRUE_RESIDUES];
        Self {
            x: zero,
            log_ratio: zero,
            scores: zero,
            gradient: zero,
            step: zero,
            inverse: zero,
            product: zero,
            multipliers: [0.0; SIZE],
            system: System::new(),
        }
    }

    /// The optimal joint probabilities for original ones `q` and sums of `rows` and `columns` (all positive);
    /// `None` if the iteration does not converge to a minimum.
    pub(super) fn run(&mut self, q: &Joint, rows: &Letters, columns: &Letters) -> Option<&Joint> {
        self.x = *q;
        self.log_ratio = [[0.0; TRUE_RESIDUES]; TRUE_RESIDUES];
        self.multipliers = [0.0; SIZE];
        for (row, (scores, q)) in rows.iter().zip(self.scores.iter_mut().zip(q)) {
            for (column, (score, q)) in columns.iter().zip(scores.iter_mut().zip(q)) {
                *score = (q / (row * column)).ln();
            }
        }
        for iteration in 0..=ITERATIONS {
            if iteration > 0 {
                self.evaluate_logs(q);
            }
            let mut residuals = self.residuals(rows, columns);
            let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
            let norm = (dot(&self.step, &self.step) + squares).sqrt();
            if norm.is_nan() {
                return None;
            }
            if norm <= TOLERANCE {
                return (self.multipliers[ENTROPY] < 1.0).then_some(&self.x);
            }
            self.factor();
            self.solve(&mut residuals);
            self.advance(&residuals);
        }
        None
    }

    /// ln(x/q) at the iterate.
    fn evaluate_logs(&mut self, q: &Joint) {
        let cells = self.x.as_flattened().iter().zip(q.as_flattened());
        for (log, (x, q)) in self.log_ratio.as_flattened_mut().iter_mut().zip(cells) {
            *log = (x / q).ln();
        }
    }

    /// Residuals of the constraints; those of x, the gradient of the Lagrangian, go to `step`.
    fn residuals(&mut self, rows: &Letters, columns: &Letters) -> Vector {
        let eta = self.multipliers[ENTROPY];
        let mut entropies = [0.0; LANES];
        let step = self.step.as_flattened_mut();
        let gradient = self.gradient.as_flattened_mut();
        let (log_ratio, scores) = (self.log_ratio.as_flattened(), self.scores.as_flattened());
        let x = self.x.as_flattened();
        for start in (0..CELLS).step_by(LANES) {
            for lane in 0..LANES {
                let cell = start + lane;
                let log = log_ratio[cell] + scores[cell];
                entropies[lane] += x[cell] * log;
                gradient[cell] = log + 1.0;
                step[cell] = -(log_ratio[cell] + 1.0) + eta * gradient[cell];
            }
        }
        add_multipliers(&mut self.step, &self.multipliers);
        let mut residuals = [0.0; SIZE];
        residuals[..HALF].copy_from_slice(columns);
        residuals[HALF..ENTROPY].copy_from_slice(&rows[1..]);
        subtract_sums(&mut residuals, &self.x);
        residuals[ENTROPY] = RELATIVE_ENTROPY - entropies.iter().sum::<f64>();
        residuals
    }

    /// Builds and factors J D⁻¹ Jᵀ, J being the derivative of the constraints.
    fn factor(&mut self) {
        let curvature = 1.0 - self.multipliers[ENTROPY];
        let system = &mut self.system;
        system.diagonal = [0.0; HALF];
        system.corner = [[0.0; HALF]; HALF];
        for (row, (inverse, x)) in self.inverse.iter_mut().zip(&self.x).enumerate() {
            for (column, (inverse, x)) in inverse.iter_mut().zip(x).enumerate() {
                *inverse = x / curvature;
                system.diagonal[column] += *inverse;
                if row > 0 {
                    system.across[column][row - 1] = *inverse;
                }
            }
            if row > 0 {
                system.corner[row - 1][row - 1] = inverse.iter().sum();
            }
        }
        multiply(&mut self.product, &self.inverse, &self.gradient);
        let mut last = [0.0; SIZE];
        subtract_sums(&mut last, &self.product);
        for (across, value) in system.across.iter_mut().zip(&last) {
            across[HALF - 1] = -value;
        }
        for (corner, value) in system.corner[HALF - 1].iter_mut().zip(&last[HALF..]) {
            *corner = -value;
        }
        system.corner[HALF - 1][HALF - 1] = dot(&self.gradient, &self.product);
        system.factor();
    }

    /// Turns the residuals of x (in `step`) and of the constraints into the Newton step of x and the multipliers.
    fn solve(&mut self, residuals: &mut Vector) {
        multiply(&mut self.product, &self.step, &self.inverse);
        let entropy = residuals[ENTROPY] - dot(&self.gradient, &self.product);
        subtract_sums(residuals, &self.product);
        residuals[ENTROPY] = entropy;
        self.system.solve(residuals);
        let eta = residuals[ENTROPY];
        let gradient = self.gradient.as_flattened();
        for (step, gradient) in self.step.as_flattened_mut().iter_mut().zip(gradient) {
            *step += gradient * eta;
        }
        add_multipliers(&mut self.step, residuals);
        let inverse = self.inverse.as_flattened();
        for (step, inverse) in self.step.as_flattened_mut().iter_mut().zip(inverse) {
            *step *= inverse;
        }
    }

    /// Goes along the step as far as x stays positive.
    fn advance(&mut self, multipliers: &Vector) {
        let mut longest = 1.0 / STEP;
        for (x, step) in self.x.as_flattened().iter().zip(self.step.as_flattened()) {
            let bound = -x / step;
            if bound >= 0.0 && bound < longest {
                longest = bound;
            }
        }
        let length = longest * STEP;
        let steps = self.step.as_flattened();
        for (x, step) in self.x.as_flattened_mut().iter_mut().zip(steps) {
            *x += length * step;
        }
        for (value, step) in self.multipliers.iter_mut().zip(multipliers) {
            *value += length * step;
        }
    }
}

/// out = a·b, cell by cell.
fn multiply(out: &mut Joint, a: &Joint, b: &Joint) {
    let cells = a.as_flattened().iter().zip(b.as_flattened());
    for (out, (a, b)) in out.as_flattened_mut().iter_mut().zip(cells) {
        *out = a * b;
    }
}
