//! Runs computations with instructions for counting and gathering bits.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::_pext_u64;

use super::numbering::BitGatherer;
use crate::kernel::Kernel;
#[cfg(target_arch = "x86_64")]
use crate::kernel::{Avx2, Avx512};

/// A computation that counts bits and gathers the bits that templates select.
pub(super) trait BitComputation {
    /// Result of the computation.
    type Output;

    /// Runs the computation. `gather` gathers the bits that a template selects; they form the
    /// number of a cell. The function must be inlined, so that it is compiled for the kernel's
    /// instructions.
    fn run(self, gather: impl Fn(&BitGatherer, u64) -> usize + Copy) -> Self::Output;
}

/// Runs a computation with the instructions of a kernel.
pub(super) fn perform<W: BitComputation>(kernel: Kernel, work: W) -> W::Output {
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(proof) => gathering(proof, work),
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(proof) => counting(proof, work),
        _ => work.run(BitGatherer::cell),
    }
}

/// Runs a computation with BMI2, which gathers bits in one instruction.
#[cfg(target_arch = "x86_64")]
fn gathering<W: BitComputation>(_: Avx512, work: W) -> W::Output {
    #[target_feature(enable = "bmi1,bmi2,popcnt,lzcnt")]
    fn inner<W: BitComputation>(work: W) -> W::Output {
        work.run(|gatherer, bases| _pext_u64(bases, gatherer.mask()) as usize)
    }
    // SAFETY: the proof says that the CPU has the instructions.
    unsafe { inner(work) }
}

/// Runs a computation with BMI2, but without its instruction that gathers bits, which takes
/// hundreds of cycles on some CPUs with AVX2.
#[cfg(target_arch = "x86_64")]
fn counting<W: BitComputation>(_: Avx2, work: W) -> W::Output {
    #[target_feature(enable = "bmi1,bmi2,popcnt,lzcnt")]
    fn inner<W: BitComputation>(work: W) -> W::Output {
        work.run(BitGatherer::cell)
    }
    // SAFETY: the proof says that the CPU has the instructions.
    unsafe { inner(work) }
}
