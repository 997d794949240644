//! The filter with AVX-512BW: 64 lanes per register.
//!
//! A step is one addition for each element (a register of scores) and one instruction that records
//! whether a lane was at the threshold. The best instruction depends on the ports of the processor
//! ([`ThresholdTest`]).
//!
//! This is assembly, because intrinsics have two drawbacks. The compiler moves masks through
//! general registers in each step. And it does not compute a row's address early enough: a row
//! whose address comes straight from a load costs two cycles of ten on Zen 5. The assembly loads
//! the codes of eight residues eight steps early.
#![allow(unsafe_code)]

use std::arch::asm;
use std::arch::x86_64::{__cpuid, _mm512_set1_epi8};

use super::{Advance, CODES, Steps};
use crate::kernel::Avx512;

/// Maximum number of registers for scores.
pub(super) const MAX_ELEMENTS: usize = 16;
/// Number of lanes per register.
pub(super) const LANES: usize = 64;

/// Method that detects lanes at the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThresholdTest {
    /// Comparisons into mask registers. Intel's processors do saturating additions and maxima of
    /// 512 bits on one port only, comparisons on the other. So an addition and a comparison
    /// together take one cycle.
    Comparison,
    /// Maxima. AMD's processors from Zen 4 on do saturating additions and comparisons on the same
    /// two pipes, maxima on all four. So an addition and a maximum together take as long as an
    /// addition.
    Maximum,
}

impl ThresholdTest {
    /// Chooses the method that suits the processor.
    pub fn detect() -> ThresholdTest {
        // The first leaf holds the vendor's name.
        let leaf = __cpuid(0);
        let name = [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes);
        if name.as_flattened() == b"AuthenticAMD" {
            ThresholdTest::Maximum
        } else {
            ThresholdTest::Comparison
        }
    }
}

/// Implements [`super::Stepper::advance`] with AVX-512BW.
pub(super) fn advance(
    _: Avx512,
    watch: ThresholdTest,
    elements: usize,
    steps: &Steps,
    before: &mut [i8],
    after: &mut [i8],
    leaving: &mut [i8],
) -> Advance {
    assert!((1..=MAX_ELEMENTS).contains(&elements));
    steps.assert_room(elements * LANES, [before, after], leaving);
    // SAFETY: the proof says that the CPU has the instructions; the assembly reads and writes only
    // within the slices, which are as long as asserted.
    let (left, below) = unsafe {
        match watch {
            ThresholdTest::Comparison => compare(elements, steps, before, after, leaving),
            ThresholdTest::Maximum => maximize(elements, steps, before, after, leaving),
        }
    };
    Advance { steps: steps.count - left, reached: below != u64::MAX }
}

/// Instructions that run before, in and after the steps: one line for each element, from the last
/// element to the first. The element determines the registers and offsets of its line. Six
/// registers of masks or maxima are used in rotation, so that no instruction waits for the previous
/// one.
macro_rules! lines {
    (load $place:literal $($element:literal $below:literal $turn:literal,)*) => {
        concat!($("vmovdqu64 zmm", $element, ", [{", $place, "} + 64 * ", $element, "]\n",)*
            "vmovdqu64 zmm0, [{", $place, "}]")
    };
    (store $place:literal $($element:literal $below:literal $turn:literal,)*) => {
        concat!($("vmovdqu64 [{", $place, "} + 64 * ", $element, "], zmm", $element, "\n",)*
            "vmovdqu64 [{", $place, "}], zmm0")
    };
    (compare begin) => {
        "kxnorq k1, k1, k1\nkmovq k2, k1\nkmovq k3, k1\nkmovq k4, k1\nkmovq k5, k1\nkmovq k6, k1"
    };
    // The score comes from the element below.
    (compare $($element:literal $below:literal $turn:literal,)*) => {
        concat!($(
            "vpaddsb zmm", $element, ", zmm", $below, ", [{row} + 64 * ", $element, "]\n",
            "vpcmpgtb k", $turn, "{{k", $turn, "}}, zmm31, zmm", $element, "\n",
        )*
            "vpaddsb zmm0, zmm30, [{row}]\n",
            "vpcmpgtb k1{{k1}}, zmm31, zmm0")
    };
    (compare end) => {
        "kandq k1, k1, k2\nkandq k3, k3, k4\nkandq k5, k5, k6\nkandq k1, k1, k3\nkandq k1, k1, k5"
    };
    (maximize begin) => {
        concat!("mov {row:e}, 0x80\nvpbroadcastb zmm21, {row:e}\nvmovdqa64 zmm22, zmm21\nvmovdqa64 zmm23, zmm21\n",
            "vmovdqa64 zmm24, zmm21\nvmovdqa64 zmm25, zmm21\nvmovdqa64 zmm26, zmm21")
    };
    (maximize $($element:literal $below:literal $turn:literal,)*) => {
        concat!($(
            "vpaddsb zmm", $element, ", zmm", $below, ", [{row} + 64 * ", $element, "]\n",
            "vpmaxsb zmm2", $turn, ", zmm2", $turn, ", zmm", $element, "\n",
        )*
            "vpaddsb zmm0, zmm30, [{row}]\n",
            "vpmaxsb zmm21, zmm21, zmm0")
    };
    (maximize end) => {
        concat!("vpmaxsb zmm21, zmm21, zmm22\nvpmaxsb zmm23, zmm23, zmm24\nvpmaxsb zmm25, zmm25, zmm26\n",
            "vpmaxsb zmm21, zmm21, zmm23\nvpmaxsb zmm21, zmm21, zmm25\nvpcmpgtb k1, zmm31, zmm21")
    };
}

/// Runs the steps with `$count` elements. `$last` is the number of the last element. The lines of
/// all elements except the first follow.
macro_rules! assembly {
    (
        $watch:ident $count:literal $last:literal ($($element:tt)*)
        $steps:ident $before:ident $after:ident $leaving:ident
    ) => {{
        let (left, below): (isize, u64);
        let end = $steps.count;
        asm!(
            lines!(load "before" $($element)*),
            "mov {next}, [{codes} + {t}]",
            // The lanes are examined between two rounds of this loop.
            "2:",
            lines!(store "before" $($element)*),
            lines!($watch begin),
            "mov {rounds}, {test_every}",
            "3:",
            "mov {now}, {next}",
            "mov {next}, [{codes} + {t} + 8]",
            ".rept 8",
            "mov {row:e}, {now:e}",
            "shr {now}, 8",
            "and {row:e}, {code_bits}",
            "imul {row}, {row}, {stride}",
            "add {row}, {profile}",
            // The leaving score is in the first lane. Each other lane's byte moves to the lane
            // before it, and the entering byte goes to the last lane. First quarters of 16 bytes
            // move by one, then bytes.
            "vpbroadcastq zmm29, [{entering} + {t}]",
            concat!("vmovd dword ptr [{leaving} + {t}], xmm", $last),
            concat!("valignq zmm30, zmm29, zmm", $last, ", 2"),
            concat!("vpalignr zmm30, zmm30, zmm", $last, ", 1"),
            lines!($watch $($element)*),
            "inc {t}",
            ".endr",
            "sub {rounds}, 8",
            "jnz 3b",
            lines!($watch end),
            "kortestq k1, k1",
            "jnc 4f",
            "test {t}, {t}",
            "jnz 2b",
            "4:",
            lines!(store "after" $($element)*),
            "kmovq {row}, k1",
            row = out(reg) below,
            now = out(reg) _,
            rounds = out(reg) _,
            test_every = in(reg) $steps.test_every,
            next = out(reg) _,
            codes = in(reg) $steps.codes.as_ptr().add(end),
            entering = in(reg) $steps.entering.as_ptr().add(end),
            leaving = in(reg) $leaving.as_mut_ptr().add(end),
            profile = in(reg) $steps.profile.as_ptr(),
            before = in(reg) $before.as_mut_ptr(),
            after = in(reg) $after.as_mut_ptr(),
            // Counts from minus the number of steps up to zero.
            t = inout(reg) (end as isize).wrapping_neg() => left,
            code_bits = const CODES - 1,
            stride = const $count * LANES,
            in("zmm31") _mm512_set1_epi8($steps.watched),
            out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _,
            out("zmm4") _, out("zmm5") _, out("zmm6") _, out("zmm7") _,
            out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _,
            out("zmm12") _, out("zmm13") _, out("zmm14") _, out("zmm15") _,
            out("zmm21") _, out("zmm22") _, out("zmm23") _, out("zmm24") _,
            out("zmm25") _, out("zmm26") _, out("zmm29") _, out("zmm30") _,
            out("k1") _, out("k2") _, out("k3") _, out("k4") _, out("k5") _, out("k6") _,
            options(nostack),
        );
        (left.unsigned_abs(), below)
    }};
}

/// Selects the assembly for a number of elements. Each entry has the number, the last element, and
/// that element's line.
macro_rules! pick {
    ($watch:ident $elements:ident $arguments:tt ($($lines:tt)*)) => {
        unreachable!("a piece has at most {MAX_ELEMENTS} elements, not {}", $elements)
    };
    (
        $watch:ident $elements:ident ($($argument:ident)*) ($($lines:tt)*)
        $count:literal $last:literal [$($line:tt)*] $($rest:tt)*
    ) => {
        if $elements == $count {
            assembly!($watch $count $last ($($line)* $($lines)*) $($argument)*)
        } else {
            pick!($watch $elements ($($argument)*) ($($line)* $($lines)*) $($rest)*)
        }
    };
}

/// Defines a function that runs the steps. The function returns the number of steps left, and the
/// lanes that stayed below the watched score in all elements between the last two tests.
macro_rules! function {
    ($watch:ident) => {
        /// # Safety
        /// The CPU must have AVX-512BW. What [`Steps::assert_room`] asserts must be true.
        #[target_feature(enable = "avx512bw")]
        unsafe fn $watch(
            elements: usize,
            steps: &Steps,
            before: &mut [i8],
            after: &mut [i8],
            leaving: &mut [i8],
        ) -> (usize, u64) {
            // SAFETY: codes are cut to CODES, so every access is one of those that the caller makes
            // room for; the loop ends after the last step.
            unsafe {
                pick!($watch elements (steps before after leaving) ()
                    1 0 []
                    2 1 [1 0 2,]
                    3 2 [2 1 3,]
                    4 3 [3 2 4,]
                    5 4 [4 3 5,]
                    6 5 [5 4 6,]
                    7 6 [6 5 1,]
                    8 7 [7 6 2,]
                    9 8 [8 7 3,]
                    10 9 [9 8 4,]
                    11 10 [10 9 5,]
                    12 11 [11 10 6,]
                    13 12 [12 11 1,]
                    14 13 [13 12 2,]
                    15 14 [14 13 3,]
                    16 15 [15 14 4,]
                )
            }
        }
    };
}

function!(compare);
function!(maximize);
