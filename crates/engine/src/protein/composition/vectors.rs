//! The optimisation, compiled for each instruction set.

use super::Letters;
use super::optimize::{Optimizer, Start};
use crate::kernel::Kernel;

/// Runs [`Optimizer::iterate`] with the instructions of a kernel. All kernels give the same numbers
/// to the last bit.
pub(super) fn optimize(
    kernel: Kernel,
    optimizer: &mut Optimizer,
    start: &Start,
    rows: &Letters,
    columns: &Letters,
) -> bool {
    match kernel.avx2() {
        #[cfg(target_arch = "x86_64")]
        Some(proof) => x86::avx2(proof, optimizer, start, rows, columns),
        _ => optimizer.iterate(start, rows, columns),
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! Instructions that not every CPU has.
    #![allow(unsafe_code)]

    use super::{Letters, Optimizer, Start};
    use crate::kernel::Avx2;

    /// Runs [`Optimizer::iterate`] with AVX2, where the four lanes of a sum are one register. Fused
    /// operations are off, as they round differently.
    pub(super) fn avx2(
        _: Avx2,
        optimizer: &mut Optimizer,
        start: &Start,
        rows: &Letters,
        columns: &Letters,
    ) -> bool {
        #[target_feature(enable = "avx2")]
        fn inner(
            optimizer: &mut Optimizer,
            start: &Start,
            rows: &Letters,
            columns: &Letters,
        ) -> bool {
            optimizer.iterate(start, rows, columns)
        }
        // SAFETY: the proof says that the CPU has the instructions.
        unsafe { inner(optimizer, start, rows, columns) }
    }
}
