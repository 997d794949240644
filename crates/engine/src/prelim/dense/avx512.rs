//! The filter with AVX-512BW: 64 lanes per register.
//!
//! Intel's processors do saturating additions of 512 bits on one port only, and comparisons into a mask register on the other,
//! so that both together take one cycle. From intrinsics the compiler moves the masks through general registers in each step,
//! which costs a fifth of the speed; hence the assembly.
#![allow(unsafe_code)]

use std::arch::asm;
use std::arch::x86_64::_mm512_set1_epi8;

use super::{CODES, SLACK, Steps};

/// Registers of scores.
pub(super) const MAX_ELEMENTS: usize = 16;
/// Lanes per register.
const LANES: usize = 64;

/// See [`super::Group::advance`].
pub(super) fn advance(
    elements: usize,
    steps: &Steps,
    before: &[i8],
    after: &mut [i8],
    leaving: &mut [i8],
) -> bool {
    let count = steps.codes.len();
    assert!((1..=MAX_ELEMENTS).contains(&elements) && count > 0);
    assert!(steps.profile.len() >= CODES * elements * LANES);
    assert!(before.len() == elements * LANES && after.len() == elements * LANES);
    assert!(steps.entering.len() == count && leaving.len() >= count + SLACK);
    // SAFETY: the caller chose this kernel after detecting the CPU feature ([`crate::prelim::Kernel::detect`]); what the
    // assembly reads and writes lies in the slices, which are as long as asserted.
    let below = unsafe { run(elements, steps, before, after, leaving) };
    below != u64::MAX
}

/// A line for each element, the last one first, before the given rest; registers and offsets count the elements.
macro_rules! per_element {
    (load $($element:literal $below:literal $mask:literal,)*) => {
        concat!($("vmovdqu64 zmm", $element, ", [{before} + 64 * ", $element, "]\n",)*
            "vmovdqu64 zmm0, [{before}]")
    };
    (store $($element:literal $below:literal $mask:literal,)*) => {
        concat!($("vmovdqu64 [{after} + 64 * ", $element, "], zmm", $element, "\n",)*
            "vmovdqu64 [{after}], zmm0")
    };
    // The score comes from the element below; six masks of lanes that stay below the threshold take turns, so that no
    // comparison waits for the one before.
    (step $($element:literal $below:literal $mask:literal,)*) => {
        concat!($(
            "vpaddsb zmm", $element, ", zmm", $below, ", [{row} + 64 * ", $element, "]\n",
            "vpcmpgtb k", $mask, "{{k", $mask, "}}, zmm31, zmm", $element, "\n",
        )*)
    };
}

/// All steps with `$count` elements, of which `$last` is the last; the other elements but the first follow.
macro_rules! assembly {
    ($count:literal $last:literal ($($element:tt)*) $steps:ident $before:ident $after:ident $leaving:ident) => {{
        let below: u64;
        let end = $steps.codes.len();
        asm!(
            // Masks of all lanes in k1 to k6, of the first lane in k7.
            "kxnorq k1, k1, k1",
            "kmovq k2, k1",
            "kmovq k3, k1",
            "kmovq k4, k1",
            "kmovq k5, k1",
            "kmovq k6, k1",
            "mov {row:e}, 1",
            "kmovq k7, {row}",
            per_element!(load $($element)*),
            "2:",
            "movzx {row:e}, byte ptr [{codes} + {t}]",
            "and {row:e}, {code_bits}",
            "imul {row}, {row}, {stride}",
            "add {row}, {profile}",
            // Each lane's byte moves to the next lane, the last to the first: quarters of 16 bytes move by one, then bytes.
            concat!("vshufi64x2 zmm30, zmm", $last, ", zmm", $last, ", 0x93"),
            concat!("vpalignr zmm30, zmm", $last, ", zmm30, 15"),
            per_element!(step $($element)*),
            "vmovdqu32 [{leaving} + {t}], xmm30",
            "vmovdqu8 zmm30{{k7}}, [{entering} + {t}]",
            "vpaddsb zmm0, zmm30, [{row}]",
            "vpcmpgtb k1{{k1}}, zmm31, zmm0",
            "inc {t}",
            "jnz 2b",
            per_element!(store $($element)*),
            "kandq k1, k1, k2",
            "kandq k3, k3, k4",
            "kandq k5, k5, k6",
            "kandq k1, k1, k3",
            "kandq k1, k1, k5",
            "kmovq {row}, k1",
            row = out(reg) below,
            codes = in(reg) $steps.codes.as_ptr().add(end),
            entering = in(reg) $steps.entering.as_ptr().add(end),
            leaving = in(reg) $leaving.as_mut_ptr().add(end),
            profile = in(reg) $steps.profile.as_ptr(),
            before = in(reg) $before.as_ptr(),
            after = in(reg) $after.as_mut_ptr(),
            // From minus the number of steps up to zero.
            t = inout(reg) (end as isize).wrapping_neg() => _,
            code_bits = const CODES - 1,
            stride = const $count * LANES,
            in("zmm31") _mm512_set1_epi8($steps.threshold),
            out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _,
            out("zmm4") _, out("zmm5") _, out("zmm6") _, out("zmm7") _,
            out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _,
            out("zmm12") _, out("zmm13") _, out("zmm14") _, out("zmm15") _, out("zmm30") _,
            out("k1") _, out("k2") _, out("k3") _, out("k4") _, out("k5") _, out("k6") _, out("k7") _,
            options(nostack),
        );
        below
    }};
}

/// Picks the assembly for a number of elements; each entry names the number, the last element, and that element's line.
macro_rules! pick {
    ($elements:ident $arguments:tt ($($lines:tt)*)) => {
        unreachable!("a piece has at most {MAX_ELEMENTS} elements, not {}", $elements)
    };
    (
        $elements:ident ($($argument:ident)*) ($($lines:tt)*)
        $count:literal $last:literal [$($line:tt)*] $($rest:tt)*
    ) => {
        if $elements == $count {
            assembly!($count $last ($($line)* $($lines)*) $($argument)*)
        } else {
            pick!($elements ($($argument)*) ($($line)* $($lines)*) $($rest)*)
        }
    };
}

/// The lanes that stayed below the threshold in all elements.
///
/// # Safety
/// The CPU must have AVX-512BW. There must be at least one step and as many entering scores, room for [`SLACK`] more leaving
/// ones, and [`LANES`] scores for each element in `before` and `after` and, for each of [`CODES`] codes, in the profile.
#[target_feature(enable = "avx512bw")]
unsafe fn run(
    elements: usize,
    steps: &Steps,
    before: &[i8],
    after: &mut [i8],
    leaving: &mut [i8],
) -> u64 {
    // SAFETY: codes are cut to CODES, so every access is one of those that the caller makes room for; the loops end
    // at the end of the codes.
    unsafe {
        pick!(elements (steps before after leaving) ()
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
