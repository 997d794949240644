//! Variants of the filter: the instructions that run the steps of a piece.

#[cfg(target_arch = "x86_64")]
use super::avx2;
#[cfg(target_arch = "x86_64")]
use super::avx512::{self, ThresholdTest};
#[cfg(target_arch = "aarch64")]
use super::neon;
use super::{Advance, Steps, UNROLLED, locate, portable};
use crate::kernel::Kernel;
#[cfg(target_arch = "aarch64")]
use crate::kernel::Neon;
#[cfg(target_arch = "x86_64")]
use crate::kernel::{Avx2, Avx512};

/// A variant of the filter. All variants give the same results.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stepper {
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512, ThresholdTest),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
    Portable,
}

impl Stepper {
    /// Chooses the best variant that a kernel's instructions allow.
    pub fn for_kernel(kernel: Kernel) -> Stepper {
        match kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(proof) => Stepper::Avx512(proof, ThresholdTest::detect()),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(proof) => Stepper::Avx2(proof),
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon(proof) => Stepper::Neon(proof),
            _ => Stepper::Portable,
        }
    }

    /// Returns the number of lanes of a vector.
    pub fn lanes(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Stepper::Avx512(..) => avx512::LANES,
            #[cfg(target_arch = "x86_64")]
            Stepper::Avx2(_) => avx2::LANES,
            #[cfg(target_arch = "aarch64")]
            Stepper::Neon(_) => neon::LANES,
            Stepper::Portable => portable::LANES,
        }
    }

    /// Returns the maximum number of vectors whose scores stay in registers, or at least in the
    /// nearest cache.
    pub fn most_elements(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Stepper::Avx512(..) => avx512::MAX_ELEMENTS,
            #[cfg(target_arch = "x86_64")]
            Stepper::Avx2(_) => avx2::MAX_ELEMENTS,
            #[cfg(target_arch = "aarch64")]
            Stepper::Neon(_) => neon::MAX_ELEMENTS,
            Stepper::Portable => portable::MAX_ELEMENTS,
        }
    }

    /// Returns whether it saves time to test only the second of two steps. It does where additions
    /// and maxima take the same ports, as on Intel's processors with AVX2. (On AMD's, where it
    /// changes little, and with NEON it was not measured.)
    pub fn gains_by_pairs(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Stepper::Avx2(_) => true,
            #[cfg(target_arch = "aarch64")]
            Stepper::Neon(_) => true,
            _ => false,
        }
    }

    /// Runs steps until a diagonal was at the watched score, which is tested every
    /// [`Steps::test_every`] steps. Writes the scores that leave the piece before each step to
    /// `leaving`.
    ///
    /// `before` holds the scores before the steps. On return it holds the scores before the last
    /// `test_every` steps that were run, and `after` the scores after them.
    pub fn advance(
        self,
        steps: &Steps,
        before: &mut [i8],
        after: &mut [i8],
        leaving: &mut [i8],
    ) -> Advance {
        let elements = before.len() / self.lanes();
        match self {
            #[cfg(target_arch = "x86_64")]
            Stepper::Avx512(proof, watch) => {
                avx512::advance(proof, watch, elements, steps, before, after, leaving)
            }
            #[cfg(target_arch = "x86_64")]
            Stepper::Avx2(proof) => avx2::advance(proof, elements, steps, before, after, leaving),
            #[cfg(target_arch = "aarch64")]
            Stepper::Neon(proof) => neon::advance(proof, elements, steps, before, after, leaving),
            Stepper::Portable => portable::advance(elements, steps, before, after, leaving),
        }
    }

    /// Repeats some steps of [`Stepper::advance`] to find where lanes rise to the threshold. Calls
    /// `found` with the position of each rise in the piece, and the number of its step.
    ///
    /// The first of the two states holds the scores before the steps. Both states are overwritten.
    /// `leaving` keeps its contents from [`Stepper::advance`].
    pub fn locate(
        self,
        steps: &Steps,
        [mut before, mut after]: [&mut [i8]; 2],
        leaving: &mut [i8],
        mut found: impl FnMut(usize, usize),
    ) {
        // Examining every score takes several times as long as a step, so the range is first
        // narrowed down.
        let mut at = 0;
        while at < steps.count {
            let rest = Steps { test_every: UNROLLED, ..steps.range(at..steps.count) };
            let taken = self.advance(&rest, before, after, &mut leaving[at..]);
            at += taken.steps;
            if taken.reached {
                let start = at - UNROLLED;
                self.examine(&steps.range(start..at), before, |position, t| {
                    found(position, start + t)
                });
            }
            std::mem::swap(&mut before, &mut after);
        }
    }

    fn examine(self, steps: &Steps, before: &mut [i8], found: impl FnMut(usize, usize)) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Stepper::Avx512(proof, _) => locate::avx512(proof, steps, before, found),
            #[cfg(target_arch = "x86_64")]
            Stepper::Avx2(proof) => locate::avx2(proof, steps, before, found),
            #[cfg(target_arch = "aarch64")]
            Stepper::Neon(proof) => locate::neon(proof, steps, before, found),
            Stepper::Portable => locate::portable::<{ portable::LANES }>(steps, before, found),
        }
    }
}
