//! X-drop extensions with NEON instructions.

use super::{Cells, Direction, Extent, Frames, LANES, NEVER, Row, Rows, run};
use crate::kernel::Neon;
use crate::neon::{
    bit_of_lane, bits_of_four, each, int8x16_t, int8x16x2_t, load_s8, load_u8, moved_up_s8,
    store_s8, uint8x16_t, vbslq_s8, vcgtq_s8, vdupq_laneq_s8, vdupq_n_s8, vextq_s8, vmaxq_s8,
    vqaddq_s8, vqsubq_s8, vqtbl2q_s8, vtstq_u8,
};

/// Number of sections in a row.
const SECTIONS: usize = 8;

/// Calls [`run`] with NEON.
pub(crate) fn extend<Q: Rows>(
    proof: Neon,
    frames: &Frames,
    directions: [Direction<Q>; 2],
) -> [Option<Extent>; 2] {
    run::<Sections, Q>(proof, frames, directions)
}

/// A row with a register for each section.
#[derive(Clone, Copy)]
struct Sections([int8x16_t; SECTIONS]);

impl Row for Sections {
    type Proof = Neon;

    #[inline(always)]
    fn splat(_: Neon, byte: i8) -> Self {
        Sections([vdupq_n_s8(byte); SECTIONS])
    }

    #[inline(always)]
    fn load(_: Neon, cells: &Cells) -> Self {
        let (sections, _) = cells.as_chunks();
        Sections(each(|i| load_s8(&sections[i])))
    }

    #[inline(always)]
    fn store(self) -> Cells {
        let mut out = [0; LANES];
        let (sections, _) = out.as_chunks_mut();
        for (section, lanes) in sections.iter_mut().zip(self.0) {
            store_s8(section, lanes);
        }
        out
    }

    #[inline(always)]
    fn look_up(_: Neon, table: &[i8; 32], codes: &[u8; LANES]) -> Self {
        let (halves, _) = table.as_chunks();
        let table = int8x16x2_t(load_s8(&halves[0]), load_s8(&halves[1]));
        let (codes, _) = codes.as_chunks();
        Sections(each(|i| vqtbl2q_s8(table, load_u8(&codes[i]))))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Sections(each(|i| vqaddq_s8(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Sections(each(|i| vqsubq_s8(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Sections(each(|i| vmaxq_s8(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn above(self, other: Self) -> u128 {
        bits(each(|i| vcgtq_s8(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn keep(self, floor: Self) -> (Self, u128) {
        let below = each(|i| vcgtq_s8(floor.0[i], self.0[i]));
        let kept = each(|i| vbslq_s8(below[i], vdupq_n_s8(NEVER), self.0[i]));
        (Sections(kept), !bits(below))
    }

    #[inline(always)]
    fn select(self, lanes: u128) -> Self {
        let bytes = lanes.to_le_bytes();
        Sections(each(|i| {
            let own = std::array::from_fn(|lane| bytes[2 * i + lane / 8]);
            let chosen = vtstq_u8(load_u8(&own), bit_of_lane());
            vbslq_s8(chosen, self.0[i], vdupq_n_s8(NEVER))
        }))
    }

    #[inline(always)]
    fn up<const BY: usize>(self) -> Self {
        Sections(each(|i| moved_up_s8::<BY>(self.0[i], vdupq_n_s8(NEVER))))
    }

    #[inline(always)]
    fn down(self) -> Self {
        let above = |i: usize| self.0.get(i + 1).copied().unwrap_or(vdupq_n_s8(NEVER));
        Sections(each(|i| vextq_s8::<1>(self.0[i], above(i))))
    }

    #[inline(always)]
    fn spread_ends(self) -> Self {
        Sections(each(|i| vdupq_laneq_s8::<15>(self.0[i])))
    }

    #[inline(always)]
    fn sections_up<const BY: usize>(self) -> Self {
        Sections(each(|i| if i < BY { vdupq_n_s8(NEVER) } else { self.0[i - BY] }))
    }
}

/// Returns a bit for each byte of the masks.
#[inline(always)]
fn bits([a, b, c, d, e, f, g, h]: [uint8x16_t; SECTIONS]) -> u128 {
    u128::from(bits_of_four([a, b, c, d])) | u128::from(bits_of_four([e, f, g, h])) << 64
}
