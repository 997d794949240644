//! NEON instructions as safe functions. A function that is one instruction has the name of the
//! instruction.
//!
//! A register has 16 bytes. Loads and stores take whole arrays, so that they cannot read or write
//! beyond them.
#![allow(unsafe_code)]

use std::arch::aarch64 as arch;

pub(crate) use std::arch::aarch64::{
    int8x16_t, int8x16x2_t, int32x4_t, uint8x16_t, uint8x16x2_t, uint16x8_t, uint32x4_t,
};

// All functions below rely on this.
const _: () = assert!(cfg!(target_feature = "neon"), "every target with 64-bit Arm CPUs has NEON");
const _: () = assert!(cfg!(target_endian = "little"), "lanes are in the order of memory");

/// Defines safe functions for instructions.
macro_rules! instructions {
    ($($name:ident($($argument:ident: $from:ty),*) -> $to:ty;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name($($argument: $from),*) -> $to {
            // SAFETY: all CPUs of this target have NEON, as asserted above.
            unsafe { arch::$name($($argument),*) }
        }
    )*};
    ($($name:ident<$constant:ident>($($argument:ident: $from:ty),*) -> $to:ty;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name<const $constant: i32>($($argument: $from),*) -> $to {
            // SAFETY: all CPUs of this target have NEON, as asserted above.
            unsafe { arch::$name::<$constant>($($argument),*) }
        }
    )*};
}

// Signed bytes.
instructions! {
    vdupq_n_s8(byte: i8) -> int8x16_t;
    vqaddq_s8(a: int8x16_t, b: int8x16_t) -> int8x16_t;
    vqsubq_s8(a: int8x16_t, b: int8x16_t) -> int8x16_t;
    vmaxq_s8(a: int8x16_t, b: int8x16_t) -> int8x16_t;
    vmaxvq_s8(a: int8x16_t) -> i8;
    veorq_s8(a: int8x16_t, b: int8x16_t) -> int8x16_t;
    vceqq_s8(a: int8x16_t, b: int8x16_t) -> uint8x16_t;
    vcgtq_s8(a: int8x16_t, b: int8x16_t) -> uint8x16_t;
    vcgeq_s8(a: int8x16_t, b: int8x16_t) -> uint8x16_t;
    vbslq_s8(mask: uint8x16_t, a: int8x16_t, b: int8x16_t) -> int8x16_t;
    vqtbl1q_s8(table: int8x16_t, at: uint8x16_t) -> int8x16_t;
    vqtbl2q_s8(table: int8x16x2_t, at: uint8x16_t) -> int8x16_t;
    vreinterpretq_u8_s8(a: int8x16_t) -> uint8x16_t;
    vreinterpretq_s8_u8(a: uint8x16_t) -> int8x16_t;
}
instructions! {
    vextq_s8<FROM>(a: int8x16_t, b: int8x16_t) -> int8x16_t;
    vdupq_laneq_s8<LANE>(a: int8x16_t) -> int8x16_t;
    vgetq_lane_s8<LANE>(a: int8x16_t) -> i8;
}

// Bytes without sign.
instructions! {
    vandq_u8(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t;
    vtstq_u8(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t;
    vpaddq_u8(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t;
    vqtbl2q_u8(table: uint8x16x2_t, at: uint8x16_t) -> uint8x16_t;
    vrbitq_u8(a: uint8x16_t) -> uint8x16_t;
    vrev32q_u8(a: uint8x16_t) -> uint8x16_t;
    vuzp1q_u8(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t;
    vzip1q_u8(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t;
    vzip2q_u8(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t;
    vuzp1q_u16(a: uint16x8_t, b: uint16x8_t) -> uint16x8_t;
    vreinterpretq_u8_u16(a: uint16x8_t) -> uint8x16_t;
    vreinterpretq_u8_u32(a: uint32x4_t) -> uint8x16_t;
    vreinterpretq_u16_u32(a: uint32x4_t) -> uint16x8_t;
    vreinterpretq_u32_u8(a: uint8x16_t) -> uint32x4_t;
}

// Numbers of 32 bits.
instructions! {
    vdupq_n_s32(number: i32) -> int32x4_t;
    vaddq_s32(a: int32x4_t, b: int32x4_t) -> int32x4_t;
    vsubq_s32(a: int32x4_t, b: int32x4_t) -> int32x4_t;
    vmaxq_s32(a: int32x4_t, b: int32x4_t) -> int32x4_t;
    vminq_s32(a: int32x4_t, b: int32x4_t) -> int32x4_t;
    vmaxvq_s32(a: int32x4_t) -> i32;
    vorrq_s32(a: int32x4_t, b: int32x4_t) -> int32x4_t;
    veorq_s32(a: int32x4_t, b: int32x4_t) -> int32x4_t;
    vceqq_s32(a: int32x4_t, b: int32x4_t) -> uint32x4_t;
    vcgtq_s32(a: int32x4_t, b: int32x4_t) -> uint32x4_t;
    vbslq_s32(mask: uint32x4_t, a: int32x4_t, b: int32x4_t) -> int32x4_t;
    vdupq_n_u32(number: u32) -> uint32x4_t;
    vaddq_u32(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t;
    vmlaq_u32(a: uint32x4_t, b: uint32x4_t, c: uint32x4_t) -> uint32x4_t;
    vandq_u32(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t;
    vorrq_u32(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t;
    vcleq_u32(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t;
    vclzq_u32(a: uint32x4_t) -> uint32x4_t;
    vshlq_u32(a: uint32x4_t, by: int32x4_t) -> uint32x4_t;
    vreinterpretq_u32_s32(a: int32x4_t) -> uint32x4_t;
    vreinterpretq_s32_u32(a: uint32x4_t) -> int32x4_t;
}
instructions! {
    vextq_s32<FROM>(a: int32x4_t, b: int32x4_t) -> int32x4_t;
    vdupq_laneq_s32<LANE>(a: int32x4_t) -> int32x4_t;
    vshlq_n_u32<BY>(a: uint32x4_t) -> uint32x4_t;
    vshrq_n_u32<BY>(a: uint32x4_t) -> uint32x4_t;
}

/// Loads signed bytes.
#[inline(always)]
pub(crate) fn load_s8(bytes: &[i8; 16]) -> int8x16_t {
    // SAFETY: there are 16 bytes, and the load needs no alignment.
    unsafe { arch::vld1q_s8(bytes.as_ptr()) }
}

/// Loads bytes without sign.
#[inline(always)]
pub(crate) fn load_u8(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: there are 16 bytes, and the load needs no alignment.
    unsafe { arch::vld1q_u8(bytes.as_ptr()) }
}

/// Loads signed 32-bit numbers.
#[inline(always)]
pub(crate) fn load_s32(numbers: &[i32; 4]) -> int32x4_t {
    // SAFETY: there are 16 bytes, and the load needs no more alignment than numbers have.
    unsafe { arch::vld1q_s32(numbers.as_ptr()) }
}

/// Stores signed bytes.
#[inline(always)]
pub(crate) fn store_s8(bytes: &mut [i8; 16], lanes: int8x16_t) {
    // SAFETY: there are 16 bytes, and the store needs no alignment.
    unsafe { arch::vst1q_s8(bytes.as_mut_ptr(), lanes) }
}

/// Stores bytes without sign.
#[inline(always)]
pub(crate) fn store_u8(bytes: &mut [u8; 16], lanes: uint8x16_t) {
    // SAFETY: there are 16 bytes, and the store needs no alignment.
    unsafe { arch::vst1q_u8(bytes.as_mut_ptr(), lanes) }
}

/// Stores signed 32-bit numbers.
#[inline(always)]
pub(crate) fn store_s32(numbers: &mut [i32; 4], lanes: int32x4_t) {
    // SAFETY: there are 16 bytes, and the store needs no more alignment than numbers have.
    unsafe { arch::vst1q_s32(numbers.as_mut_ptr(), lanes) }
}

/// Creates an array, for example of registers, by calling a function with each index.
#[inline(always)]
pub(crate) fn each<T, const N: usize>(f: impl Fn(usize) -> T) -> [T; N] {
    std::array::from_fn(f)
}

/// Moves each byte of a register up by `BY` (1, 2, 4 or 8) lanes. The last `BY` bytes of `below`
/// fill the first lanes.
#[inline(always)]
pub(crate) fn moved_up_s8<const BY: usize>(lanes: int8x16_t, below: int8x16_t) -> int8x16_t {
    match BY {
        1 => vextq_s8::<15>(below, lanes),
        2 => vextq_s8::<14>(below, lanes),
        4 => vextq_s8::<12>(below, lanes),
        8 => vextq_s8::<8>(below, lanes),
        _ => unreachable!("moves are powers of two up to 8"),
    }
}

/// Returns bytes with one bit each: bits 0 to 7 in the first eight bytes, and again in the others.
#[inline(always)]
pub(crate) fn bit_of_lane() -> uint8x16_t {
    const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    load_u8(&BITS)
}

/// Returns a bit for each byte of four masks, the first byte in the lowest bit. All bits of a byte
/// of a mask are equal.
#[inline(always)]
pub(crate) fn bits_of_four(masks: [uint8x16_t; 4]) -> u64 {
    let [a, b, c, d] = masks.map(|mask| vandq_u8(mask, bit_of_lane()));
    // Each addition of neighbours halves the number of bytes that a mask takes.
    let (ab, cd) = (vpaddq_u8(a, b), vpaddq_u8(c, d));
    first_eight(vpaddq_u8(vpaddq_u8(ab, cd), vpaddq_u8(ab, cd)))
}

/// Returns a bit for each byte of a mask, the first byte in the lowest bit.
#[inline(always)]
pub(crate) fn bits(mask: uint8x16_t) -> u16 {
    let bits = vandq_u8(mask, bit_of_lane());
    let two = vpaddq_u8(bits, bits);
    let four = vpaddq_u8(two, two);
    first_eight(vpaddq_u8(four, four)) as u16
}

/// Returns the first eight bytes, the first one in the lowest bits.
#[inline(always)]
fn first_eight(bytes: uint8x16_t) -> u64 {
    // SAFETY: all CPUs of this target have NEON, as asserted above.
    unsafe { arch::vgetq_lane_u64::<0>(arch::vreinterpretq_u64_u8(bytes)) }
}

/// Returns the lowest byte of each of 16 numbers, in their order.
#[inline(always)]
pub(crate) fn lowest_bytes([a, b, c, d]: [uint32x4_t; 4]) -> uint8x16_t {
    let [a, b, c, d] = [a, b, c, d].map(vreinterpretq_u16_u32);
    let halves = [vuzp1q_u16(a, b), vuzp1q_u16(c, d)];
    vuzp1q_u8(vreinterpretq_u8_u16(halves[0]), vreinterpretq_u8_u16(halves[1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    #[test]
    fn masks_become_bits() {
        let mut random = Rng::with_seed(5);
        for _ in 0..100 {
            let expected = random.u64(..);
            let bytes: [u8; 64] =
                std::array::from_fn(|at| if expected >> at & 1 != 0 { u8::MAX } else { 0 });
            let masks: [_; 4] = std::array::from_fn(|i| load_u8(&bytes.as_chunks().0[i]));
            assert_eq!(bits_of_four(masks), expected);
            assert_eq!(bits(masks[0]), expected as u16);
        }
    }

    #[test]
    fn numbers_are_cut_to_bytes() {
        let numbers: [i32; 16] = std::array::from_fn(|at| at as i32 * 0x0101_0017 - 3);
        let (quarters, _) = numbers.as_chunks();
        let lanes = std::array::from_fn(|i| vreinterpretq_u32_s32(load_s32(&quarters[i])));
        let mut bytes = [0; 16];
        store_u8(&mut bytes, lowest_bytes(lanes));
        assert_eq!(bytes, numbers.map(|number| number as u8));
    }
}
