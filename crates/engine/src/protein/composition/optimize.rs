//! Finds the joint probabilities that are nearest to given ones and have given marginals and a
//! given relative entropy.
//!
//! Minimises Σ x ln(x/q) over the 20 × 20 joint probabilities x, where q are the joint
//! probabilities of the original matrix. The constraints are 20 column sums, 19 row sums (the last
//! follows), and Σ x ln(x/(r c)) = 0.44. The method is Newton's on the Lagrangian
//! (`Blast_OptimizeTargetFrequencies`, optimize_target_freq.c). D, the second derivative of the
//! Lagrangian, is diagonal, so that a step costs one system of 40 unknowns. Sums run in lanes, and
//! quotients use reciprocals. That changes results by about 1e-15, far too little to show in
//! rounded scores.

use fleetblast_stats::frequencies::{AMINO_ACID_COUNT, JointProbabilities};

use super::Letters;
use super::cholesky::{HALF, Half, System};
use super::logs::ln_of_products;

/// Relative entropy of every adjusted matrix, in nats (composition_adjustment.c).
const RELATIVE_ENTROPY: f64 = 0.44;
/// Norm of the residuals at which the iteration has converged.
const TOLERANCE: f64 = 1.0e-8;
/// Maximum number of Newton steps.
const ITERATIONS: u32 = 2000;
/// Share of the distance to the boundary x = 0 that a step may go.
const STEP: f64 = 0.95;

/// Number of lanes of a long sum.
const LANES: usize = 4;
/// Index of the relative entropy in the second half of the constraints, after the rows from the
/// second on.
const ENTROPY: usize = HALF - 1;

/// The 400 numbers of a matrix in groups of lanes, regardless of rows and columns.
type Lanes<'a> = &'a [[f64; LANES]];

/// The constraints, or numbers that belong to them: columns, then rows from the second on, then the
/// relative entropy.
#[derive(Clone, Copy, Debug)]
struct Constraints {
    columns: Half,
    others: Half,
}

/// The probabilities to start from, with quantities derived from them.
#[derive(Clone, Debug)]
pub(super) struct Start {
    q: JointProbabilities,
    /// 1/q.
    inverse: JointProbabilities,
    /// ln q.
    log: JointProbabilities,
}

impl Start {
    /// Creates a start at `q`, all of whose entries are positive.
    pub(super) fn new(q: JointProbabilities) -> Self {
        Self { inverse: q.map(|row| row.map(f64::recip)), log: q.map(|row| row.map(f64::ln)), q }
    }
}

/// Arrays of the iteration.
#[derive(Clone, Debug)]
pub(super) struct Optimizer {
    /// The iterate.
    pub(super) x: JointProbabilities,
    /// ln(x/q).
    log_ratio: JointProbabilities,
    /// ln(q/(r c)): the scores of the original probabilities in the new composition, at λ = 1.
    scores: JointProbabilities,
    /// ln(x/(r c)): the scores of the iterate, at λ = 1.
    pub(super) new_scores: JointProbabilities,
    /// Residuals of x, and later the Newton step of x.
    step: JointProbabilities,
    /// D⁻¹.
    inverse: JointProbabilities,
    /// Products of D⁻¹ with the gradient of the entropy, and later with the residuals of x.
    product: JointProbabilities,
    /// Lagrange multipliers.
    multipliers: Constraints,
    system: System,
}

#[inline(always)]
fn lanes(cells: &JointProbabilities) -> Lanes<'_> {
    cells.as_flattened().as_chunks().0
}

#[inline(always)]
fn lanes_mut(cells: &mut JointProbabilities) -> &mut [[f64; LANES]] {
    cells.as_flattened_mut().as_chunks_mut().0
}

/// Returns the sum over the lanes.
#[inline(always)]
fn total(sums: [f64; LANES]) -> f64 {
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// Computes Σ a·b.
#[inline(always)]
fn dot(a: &JointProbabilities, b: &JointProbabilities) -> f64 {
    let mut sums = [0.0; LANES];
    for (a, b) in lanes(a).iter().zip(lanes(b)) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    total(sums)
}

/// Returns the column sums, the row sums except the first, and 0.
#[inline(always)]
fn sums(cells: &JointProbabilities) -> Constraints {
    let mut sums = Constraints { columns: [0.0; HALF], others: [0.0; HALF] };
    for (index, row) in cells.iter().enumerate() {
        let mut row_sums = [0.0; LANES];
        for (column, cell) in sums.columns.iter_mut().zip(row) {
            *column += cell;
        }
        for chunk in row.as_chunks::<LANES>().0 {
            for lane in 0..LANES {
                row_sums[lane] += chunk[lane];
            }
        }
        if index > 0 {
            sums.others[index - 1] = total(row_sums);
        }
    }
    sums
}

impl Optimizer {
    /// Creates the arrays.
    pub(super) fn new() -> Self {
        let zero = [[0.0; AMINO_ACID_COUNT]; AMINO_ACID_COUNT];
        Self {
            x: zero,
            log_ratio: zero,
            scores: zero,
            new_scores: zero,
            step: zero,
            inverse: zero,
            product: zero,
            multipliers: Constraints { columns: [0.0; HALF], others: [0.0; HALF] },
            system: System::new(),
        }
    }

    /// Optimises from `start` for given sums of rows and columns (all positive). Returns true if
    /// the optimum is found: then `x` holds it, and `new_scores` its logarithmic ratios. Inlined
    /// with all that it calls, so that it is compiled for the instructions of its caller,
    /// [`super::vectors`].
    #[inline(always)]
    pub(super) fn iterate(&mut self, start: &Start, rows: &Letters, columns: &Letters) -> bool {
        self.begin(start, rows, columns);
        for iteration in 0..=ITERATIONS {
            if iteration > 0 {
                let x = self.x.as_flattened();
                let logs = self.log_ratio.as_flattened_mut();
                ln_of_products(x, start.inverse.as_flattened(), logs);
            }
            let mut residuals = self.residuals(rows, columns);
            let squares = residuals.columns.iter().chain(&residuals.others).map(|r| r * r);
            let norm = (dot(&self.step, &self.step) + squares.sum::<f64>()).sqrt();
            if norm.is_nan() || norm <= TOLERANCE {
                return norm <= TOLERANCE && self.multipliers.others[ENTROPY] < 1.0;
            }
            self.factor();
            self.solve(&mut residuals);
            self.advance(&residuals);
        }
        false
    }

    /// Sets up the first iterate.
    #[inline(always)]
    fn begin(&mut self, start: &Start, rows: &Letters, columns: &Letters) {
        self.x = start.q;
        self.log_ratio = [[0.0; AMINO_ACID_COUNT]; AMINO_ACID_COUNT];
        self.multipliers = Constraints { columns: [0.0; HALF], others: [0.0; HALF] };
        let log_columns = columns.map(f64::ln);
        for ((scores, log), row) in self.scores.iter_mut().zip(&start.log).zip(rows) {
            let log_row = row.ln();
            for ((score, log), log_column) in scores.iter_mut().zip(log).zip(&log_columns) {
                *score = log - log_row - log_column;
            }
        }
    }

    /// Computes the residuals of the constraints. Writes the residuals of x, the gradient of the
    /// Lagrangian, to `step`.
    #[inline(always)]
    fn residuals(&mut self, rows: &Letters, columns: &Letters) -> Constraints {
        let eta = self.multipliers.others[ENTROPY];
        let mut entropies = [0.0; LANES];
        let inputs = lanes(&self.log_ratio).iter().zip(lanes(&self.scores)).zip(lanes(&self.x));
        let outputs = lanes_mut(&mut self.new_scores).iter_mut().zip(lanes_mut(&mut self.step));
        for (((log_ratio, score), x), (new_score, step)) in inputs.zip(outputs) {
            for lane in 0..LANES {
                let log = log_ratio[lane] + score[lane];
                entropies[lane] += x[lane] * log;
                new_score[lane] = log;
                step[lane] = eta * (log + 1.0) - (log_ratio[lane] + 1.0);
            }
        }
        let multipliers = self.multipliers;
        add_multipliers(&mut self.step, &multipliers);
        let mut residuals = sums(&self.x);
        for (residual, wanted) in residuals.columns.iter_mut().zip(columns) {
            *residual = wanted - *residual;
        }
        for (residual, wanted) in residuals.others.iter_mut().zip(&rows[1..]) {
            *residual = wanted - *residual;
        }
        residuals.others[ENTROPY] = RELATIVE_ENTROPY - total(entropies);
        residuals
    }

    /// Builds and factors J D⁻¹ Jᵀ, J being the derivative of the constraints.
    #[inline(always)]
    fn factor(&mut self) {
        let curvature = (1.0 - self.multipliers.others[ENTROPY]).recip();
        let mut square = [0.0; LANES];
        let inputs = lanes(&self.x).iter().zip(lanes(&self.new_scores));
        let outputs = lanes_mut(&mut self.inverse).iter_mut().zip(lanes_mut(&mut self.product));
        for ((x, score), (inverse, product)) in inputs.zip(outputs) {
            for lane in 0..LANES {
                let gradient = score[lane] + 1.0;
                inverse[lane] = x[lane] * curvature;
                product[lane] = inverse[lane] * gradient;
                square[lane] += gradient * product[lane];
            }
        }
        let (linear, mixed) = (sums(&self.inverse), sums(&self.product));
        let system = &mut self.system;
        system.diagonal = linear.columns;
        for (column, across) in system.across.iter_mut().enumerate() {
            for (across, row) in across.iter_mut().zip(&self.inverse[1..]) {
                *across = row[column];
            }
            across[ENTROPY] = mixed.columns[column];
        }
        system.corner = [[0.0; HALF]; HALF];
        for row in 0..ENTROPY {
            system.corner[row][row] = linear.others[row];
        }
        system.corner[ENTROPY] = mixed.others;
        system.corner[ENTROPY][ENTROPY] = total(square);
        system.factor();
    }

    /// Turns the residuals of x (in `step`) and of the constraints into the Newton step of x and
    /// the multipliers.
    #[inline(always)]
    fn solve(&mut self, residuals: &mut Constraints) {
        let mut entropy = [0.0; LANES];
        let inputs =
            lanes(&self.step).iter().zip(lanes(&self.inverse)).zip(lanes(&self.new_scores));
        for (((step, inverse), score), product) in inputs.zip(lanes_mut(&mut self.product)) {
            for lane in 0..LANES {
                product[lane] = step[lane] * inverse[lane];
                entropy[lane] += (score[lane] + 1.0) * product[lane];
            }
        }
        let mut known = sums(&self.product);
        known.others[ENTROPY] = total(entropy);
        for (residual, known) in residuals.columns.iter_mut().zip(known.columns) {
            *residual -= known;
        }
        for (residual, known) in residuals.others.iter_mut().zip(known.others) {
            *residual -= known;
        }
        self.system.solve(&mut residuals.columns, &mut residuals.others);
        let eta = residuals.others[ENTROPY];
        add_multipliers(&mut self.step, residuals);
        let inputs = lanes(&self.inverse).iter().zip(lanes(&self.new_scores));
        for ((inverse, score), step) in inputs.zip(lanes_mut(&mut self.step)) {
            for lane in 0..LANES {
                step[lane] = (step[lane] + (score[lane] + 1.0) * eta) * inverse[lane];
            }
        }
    }

    /// Moves along the step as far as x stays positive.
    #[inline(always)]
    fn advance(&mut self, multipliers: &Constraints) {
        // The boundary is at the largest -step/x.
        let mut fastest = [STEP; LANES];
        for (x, step) in lanes(&self.x).iter().zip(lanes(&self.step)) {
            for lane in 0..LANES {
                let speed = -step[lane] / x[lane];
                fastest[lane] = if speed > fastest[lane] { speed } else { fastest[lane] };
            }
        }
        let fastest = fastest.into_iter().fold(STEP, f64::max);
        let length = if fastest == STEP { 1.0 } else { STEP / fastest };
        for (x, step) in lanes_mut(&mut self.x).iter_mut().zip(lanes(&self.step)) {
            for lane in 0..LANES {
                x[lane] += length * step[lane];
            }
        }
        let ours = self.multipliers.columns.iter_mut().chain(&mut self.multipliers.others);
        for (value, step) in ours.zip(multipliers.columns.iter().chain(&multipliers.others)) {
            *value += length * step;
        }
    }
}

/// Adds to each cell the multipliers of its column and its row.
#[inline(always)]
fn add_multipliers(cells: &mut JointProbabilities, multipliers: &Constraints) {
    for (index, row) in cells.iter_mut().enumerate() {
        let of_row = if index > 0 { multipliers.others[index - 1] } else { 0.0 };
        for (cell, of_column) in row.iter_mut().zip(&multipliers.columns) {
            *cell += of_column + of_row;
        }
    }
}
