//! The optimisation with AVX2: sums have four lanes, a register of it.
#![allow(unsafe_code)]

use super::Letters;
use super::optimize::{Optimizer, Start};

/// [`Optimizer::iterate`] with AVX2. Without fused operations, which would round otherwise.
pub(super) fn run(
    optimizer: &mut Optimizer,
    start: &Start,
    rows: &Letters,
    columns: &Letters,
) -> bool {
    #[target_feature(enable = "avx2")]
    fn inner(optimizer: &mut Optimizer, start: &Start, rows: &Letters, columns: &Letters) -> bool {
        optimizer.iterate(start, rows, columns)
    }
    // SAFETY: this kernel is chosen only after the CPU feature was detected.
    unsafe { inner(optimizer, start, rows, columns) }
}
