//! Rows with NEON.

use super::{Cells, Computation, LANES, NEVER, Row, Table};
use crate::kernel::Neon;
use crate::neon::{
    bits_of_four, each, int8x16_t, load_s8, load_u8, moved_up_s8, store_s8, vbslq_s8, vceqq_s8,
    vcgtq_s8, vdupq_laneq_s8, vdupq_n_s8, veorq_s8, vextq_s8, vmaxq_s8, vqaddq_s8, vqsubq_s8,
    vqtbl1q_s8, vreinterpretq_s8_u8, vreinterpretq_u8_s8,
};

/// Runs a computation with NEON.
pub(super) fn perform<W: Computation>(proof: Neon, work: W) -> W::Output {
    work.run::<Sections>(proof)
}

/// A row with a register for each section.
#[derive(Clone, Copy)]
struct Sections([int8x16_t; 4]);

impl Row for Sections {
    type Proof = Neon;

    #[inline(always)]
    fn splat(_: Neon, byte: i8) -> Self {
        Sections([vdupq_n_s8(byte); 4])
    }

    #[inline(always)]
    fn load(_: Neon, cells: &Cells) -> Self {
        let (sections, _) = cells.as_chunks();
        Sections(each(|i| load_s8(&sections[i])))
    }

    #[inline(always)]
    fn load_letters(_: Neon, letters: &[u8; LANES]) -> Self {
        let (sections, _) = letters.as_chunks();
        Sections(each(|i| vreinterpretq_s8_u8(load_u8(&sections[i]))))
    }

    #[inline(always)]
    fn store_to(self, cells: &mut Cells) {
        let (sections, _) = cells.as_chunks_mut();
        for (section, lanes) in sections.iter_mut().zip(self.0) {
            store_s8(section, lanes);
        }
    }

    #[inline(always)]
    fn look_up(_: Neon, table: &Table, letters: &[u8; LANES]) -> Self {
        let table = load_s8(table);
        let (sections, _) = letters.as_chunks();
        Sections(each(|i| vqtbl1q_s8(table, load_u8(&sections[i]))))
    }

    #[inline(always)]
    fn differing(self, other: Self, table: &Table) -> Self {
        let table = load_s8(table);
        Sections(each(|i| vqtbl1q_s8(table, vreinterpretq_u8_s8(veorq_s8(self.0[i], other.0[i])))))
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
    fn above(self, other: Self) -> u64 {
        bits_of_four(each(|i| vcgtq_s8(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn equal(self, other: Self) -> u64 {
        bits_of_four(each(|i| vceqq_s8(self.0[i], other.0[i])))
    }

    #[inline(always)]
    fn where_above(self, high: Self, low: Self, other: Self) -> Self {
        Sections(each(|i| vbslq_s8(vcgtq_s8(high.0[i], low.0[i]), other.0[i], self.0[i])))
    }

    #[inline(always)]
    fn keep(self, floor: Self) -> (Self, u64) {
        let below = each(|i| vcgtq_s8(floor.0[i], self.0[i]));
        let kept = each(|i| vbslq_s8(below[i], vdupq_n_s8(NEVER), self.0[i]));
        (Sections(kept), !bits_of_four(below))
    }

    #[inline(always)]
    fn up<const BY: usize>(self) -> Self {
        Sections(each(|i| moved_up_s8::<BY>(self.0[i], vdupq_n_s8(NEVER))))
    }

    #[inline(always)]
    fn down_from(self, above: Self) -> Self {
        let [_, b, c, d] = self.0;
        let next = [b, c, d, above.0[0]];
        Sections(each(|i| vextq_s8::<1>(self.0[i], next[i])))
    }

    #[inline(always)]
    fn spread_ends(self) -> Self {
        Sections(each(|i| vdupq_laneq_s8::<15>(self.0[i])))
    }

    #[inline(always)]
    fn sections_up_from<const BY: usize>(self, below: Self) -> Self {
        let [a, b, c, _] = self.0;
        Sections(match BY {
            1 => [below.0[3], a, b, c],
            2 => [below.0[2], below.0[3], a, b],
            _ => unreachable!("one section or two"),
        })
    }

    #[inline(always)]
    fn spread_last(self) -> Self {
        Sections([self.0[3]; 4])
    }

    #[inline(always)]
    fn never(self) -> Self {
        Sections([vdupq_n_s8(NEVER); 4])
    }
}
