//! The filter with AVX2: 32 lanes per register.
//!
//! A step is one addition and one maximum for each element (a register of scores). On Intel's
//! processors both run on the same two ports: 12 elements take 12 cycles. So only the second of two
//! steps has maxima of all elements, where that suffices ([`Steps::tests_pairs`]): 9.25 cycles.
//! AMD's from Zen 2 on do additions on two pipes and maxima on four, and load two registers a
//! cycle: 12 elements take 7 cycles.
//!
//! This is assembly, because compilers shuffle registers or spill some of them in this loop: all
//! sixteen are in use. It also loads the codes of eight residues eight steps early, so that no row
//! waits for its address.
#![allow(unsafe_code)]

use std::arch::asm;
use std::arch::x86_64::_mm256_set1_epi8;

use super::{Advance, CODES, Steps};
use crate::kernel::Avx2;

/// Maximum number of registers for scores. The other four of the sixteen hold maxima, the scores
/// that move to the first element, and the threshold.
pub(super) const MAX_ELEMENTS: usize = 12;
/// Number of lanes per register.
pub(super) const LANES: usize = 32;

/// Implements [`super::Stepper::advance`] with AVX2.
pub(super) fn advance(
    _: Avx2,
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
        match steps.tests_pairs() {
            true => test_pairs(elements, steps, before, after, leaving),
            false => test_all(elements, steps, before, after, leaving),
        }
    };
    Advance { steps: steps.count - left, reached: below != u32::MAX }
}

/// Instructions that run before, in and after the steps: one line for each element, from the last
/// element to the first. The element determines the registers and offsets of its line. Two
/// registers of maxima are used in turn.
macro_rules! lines {
    (load $place:literal $($element:literal $below:literal $turn:literal,)*) => {
        concat!($("vmovdqu ymm", $element, ", [{", $place, "} + 32 * ", $element, "]\n",)*
            "vmovdqu ymm0, [{", $place, "}]")
    };
    (store $place:literal $($element:literal $below:literal $turn:literal,)*) => {
        concat!($("vmovdqu [{", $place, "} + 32 * ", $element, "], ymm", $element, "\n",)*
            "vmovdqu [{", $place, "}], ymm0")
    };
    // The score comes from the element below. The last element is tested in each step: its scores
    // leave the piece.
    (step) => { "vpaddsb ymm0, ymm14, [{row}]\nvpmaxsb ymm12, ymm12, ymm0" };
    (
        step $last:literal $below_last:literal $turn_of_last:literal,
        $($element:literal $below:literal $turn:literal,)*
    ) => {
        concat!(
            "vpaddsb ymm", $last, ", ymm", $below_last, ", [{row} + 32 * ", $last, "]\n",
            "vpmaxsb ymm1", $turn_of_last, ", ymm1", $turn_of_last, ", ymm", $last, "\n",
        $(
            "vpaddsb ymm", $element, ", ymm", $below, ", [{row} + 32 * ", $element, "]\n",
            ".if (\\step & {pair}) == {pair}\n",
            "vpmaxsb ymm1", $turn, ", ymm1", $turn, ", ymm", $element, "\n",
            ".endif\n",
        )*
            "vpaddsb ymm0, ymm14, [{row}]\n",
            ".if (\\step & {pair}) == {pair}\n",
            "vpmaxsb ymm12, ymm12, ymm0\n",
            ".endif")
    };
}

/// Runs the steps with `$count` elements. `$last` is the number of the last element. The lines of
/// all elements except the first follow. `$pair` is 1 to test only the second of two steps, or 0.
macro_rules! assembly {
    (
        $pair:literal $count:literal $last:literal ($($element:tt)*)
        $steps:ident $before:ident $after:ident $leaving:ident
    ) => {{
        let (left, below): (isize, u64);
        let end = $steps.count;
        // Loads have room beside additions and maxima, multiplications do not.
        let rows: [*const i8; CODES] =
            std::array::from_fn(|code| $steps.profile[code * $count * LANES..].as_ptr());
        asm!(
            // A single element needs no difference.
            "# tests of pairs: {pair}",
            lines!(load "before" $($element)*),
            "mov {next}, [{codes} + {t}]",
            // The lanes are examined between two rounds of this loop.
            "2:",
            lines!(store "before" $($element)*),
            // The lowest score, in all lanes.
            "vpcmpeqb ymm12, ymm12, ymm12",
            "vpsllw ymm12, ymm12, 15",
            "vpacksswb ymm12, ymm12, ymm12",
            "vmovdqa ymm13, ymm12",
            "mov {rounds:e}, {test_every:e}",
            "3:",
            "mov {now}, {next}",
            "mov {next}, [{codes} + {t} + 8]",
            ".irp step, 0, 1, 2, 3, 4, 5, 6, 7",
            "mov {row:e}, {now:e}",
            "shr {now}, 8",
            "and {row:e}, {code_bits}",
            "mov {row}, [{rows} + 8 * {row}]",
            // The leaving score is in the first lane. Each other lane's byte moves to the lane
            // before it, and the entering byte goes to the last lane. First halves of 16 bytes
            // move, then bytes.
            "vpbroadcastb ymm14, byte ptr [{entering} + {t} + \\step]",
            concat!("vmovd dword ptr [{leaving} + {t} + \\step], xmm", $last),
            concat!("vperm2i128 ymm14, ymm", $last, ", ymm14, 0x21"),
            concat!("vpalignr ymm14, ymm14, ymm", $last, ", 1"),
            lines!(step $($element)*),
            ".endr",
            "add {t}, 8",
            "sub {rounds:e}, 8",
            "jnz 3b",
            "vpmaxsb ymm12, ymm12, ymm13",
            "vpcmpgtb ymm12, ymm15, ymm12",
            "vpmovmskb {row:e}, ymm12",
            "cmp {row:e}, -1",
            "jne 4f",
            "test {t}, {t}",
            "jnz 2b",
            "4:",
            lines!(store "after" $($element)*),
            row = out(reg) below,
            now = out(reg) _,
            rounds = out(reg) _,
            test_every = in(reg) $steps.test_every,
            next = out(reg) _,
            codes = in(reg) $steps.codes.as_ptr().add(end),
            entering = in(reg) $steps.entering.as_ptr().add(end),
            leaving = in(reg) $leaving.as_mut_ptr().add(end),
            rows = in(reg) rows.as_ptr(),
            before = in(reg) $before.as_mut_ptr(),
            after = in(reg) $after.as_mut_ptr(),
            // Counts from minus the number of steps up to zero.
            t = inout(reg) (end as isize).wrapping_neg() => left,
            code_bits = const CODES - 1,
            pair = const $pair,
            in("ymm15") _mm256_set1_epi8($steps.watched),
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
            out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
            out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
            out("ymm12") _, out("ymm13") _, out("ymm14") _,
            options(nostack),
        );
        (left.unsigned_abs(), below as u32)
    }};
}

/// Selects the assembly for a number of elements. Each entry has the number, the last element, and
/// that element's line.
macro_rules! pick {
    ($pair:literal $elements:ident $arguments:tt ($($lines:tt)*)) => {
        unreachable!("a piece has at most {MAX_ELEMENTS} elements, not {}", $elements)
    };
    (
        $pair:literal $elements:ident ($($argument:ident)*) ($($lines:tt)*)
        $count:literal $last:literal [$($line:tt)*] $($rest:tt)*
    ) => {
        if $elements == $count {
            assembly!($pair $count $last ($($line)* $($lines)*) $($argument)*)
        } else {
            pick!($pair $elements ($($argument)*) ($($line)* $($lines)*) $($rest)*)
        }
    };
}

/// Defines a function that runs the steps. The function returns the number of steps left, and the
/// lanes that stayed below the watched score in all elements between the last two tests.
macro_rules! function {
    ($name:ident $pair:literal) => {
        /// # Safety
        /// The CPU must have AVX2. What [`Steps::assert_room`] asserts must be true.
        #[target_feature(enable = "avx2")]
        unsafe fn $name(
            elements: usize,
            steps: &Steps,
            before: &mut [i8],
            after: &mut [i8],
            leaving: &mut [i8],
        ) -> (usize, u32) {
            // SAFETY: codes are cut to CODES, so every access is one of those that the caller makes
            // room for; the loop ends after the last step.
            unsafe {
                pick!($pair elements (steps before after leaving) ()
                    1 0 []
                    2 1 [1 0 3,]
                    3 2 [2 1 2,]
                    4 3 [3 2 3,]
                    5 4 [4 3 2,]
                    6 5 [5 4 3,]
                    7 6 [6 5 2,]
                    8 7 [7 6 3,]
                    9 8 [8 7 2,]
                    10 9 [9 8 3,]
                    11 10 [10 9 2,]
                    12 11 [11 10 3,]
                )
            }
        }
    };
}

function!(test_all 0);
function!(test_pairs 1);
