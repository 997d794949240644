//! Vector rows with NEON.

use super::window::{self, Chunk, LANES, Lanes, Window};
use super::{Extent, Scheme, StepRecorder};
use crate::kernel::Neon;
use crate::neon::{
    bits, each, int32x4_t, load_s32, lowest_bytes, store_s32, store_u8, uint32x4_t, vaddq_s32,
    vbslq_s32, vcgtq_s32, vdupq_laneq_s32, vdupq_n_s32, vextq_s32, vmaxq_s32,
    vreinterpretq_u32_s32, vsubq_s32,
};
use crate::scores::RowNumber;

/// Runs [`window::extend`] with NEON.
pub(super) fn extend<R: StepRecorder>(
    proof: Neon,
    query: &[RowNumber],
    subject: &[u8],
    scheme: &Scheme<'_>,
    window: &mut Window,
    recorder: &mut R,
) -> Extent {
    window::extend::<Quarters, R>(proof, query, subject, scheme, window, recorder)
}

/// Runs [`window::moved_up`] with NEON.
#[inline(always)]
pub(crate) fn moved_up<const BY: usize>(proof: Neon, chunk: &Chunk, below: &Chunk) -> Chunk {
    window::moved_up::<Quarters, BY>(proof, chunk, below)
}

/// A chunk in four registers.
#[derive(Clone, Copy)]
struct Quarters([int32x4_t; 4]);

impl Lanes for Quarters {
    type Proof = Neon;
    /// Registers in which all bits of each selected lane are set.
    type Mask = [uint32x4_t; 4];

    #[inline(always)]
    fn splat(_: Neon, score: i32) -> Self {
        Quarters([vdupq_n_s32(score); 4])
    }

    #[inline(always)]
    fn load(_: Neon, chunk: &Chunk) -> Self {
        let (quarters, _) = chunk.as_chunks();
        Quarters(each(|i| load_s32(&quarters[i])))
    }

    #[inline(always)]
    fn store_to(self, chunk: &mut Chunk) {
        let (quarters, _) = chunk.as_chunks_mut();
        for (quarter, lanes) in quarters.iter_mut().zip(self.0) {
            store_s32(quarter, lanes);
        }
    }

    /// Looks up each lane singly: NEON has no instruction that loads from several addresses.
    #[inline(always)]
    fn look_up(proof: Neon, table: &[i32; 32], codes: &[u8; LANES]) -> Self {
        Self::load(proof, &codes.map(|code| table[usize::from(code & 31)]))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Quarters(each(|i| vaddq_s32(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Quarters(each(|i| vsubq_s32(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Quarters(each(|i| vmaxq_s32(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn above(self, other: Self) -> Self::Mask {
        each(|i| vcgtq_s32(self.0[i], other.0[i]))
    }

    #[inline(always)]
    fn replace(self, chosen: Self::Mask, other: Self) -> Self {
        Quarters(each(|i| vbslq_s32(chosen[i], other.0[i], self.0[i])))
    }

    #[inline(always)]
    fn bits(mask: Self::Mask) -> u16 {
        bits(lowest_bytes(mask))
    }

    #[inline(always)]
    fn up<const BY: usize>(self, below: Self) -> Self {
        let [a, b, c, _] = self.0;
        let before = [below.0[3], a, b, c];
        Quarters(match BY {
            1 => each(|i| vextq_s32::<3>(before[i], self.0[i])),
            2 => each(|i| vextq_s32::<2>(before[i], self.0[i])),
            4 => before,
            8 => [below.0[2], below.0[3], a, b],
            _ => unreachable!("moves are powers of two up to 8"),
        })
    }

    #[inline(always)]
    fn spread_last(self) -> Self {
        Quarters([vdupq_laneq_s32::<3>(self.0[3]); 4])
    }

    #[inline(always)]
    fn narrow_to(self, bytes: &mut [u8; LANES]) {
        store_u8(bytes, lowest_bytes(self.0.map(vreinterpretq_u32_s32)));
    }
}
