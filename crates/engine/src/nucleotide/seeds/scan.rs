//! Scans positions of a subject for words that occur in the queries.

use super::bases::{Bits, window};
use super::numbering::{BitGatherer, Numbering};
#[cfg(target_arch = "x86_64")]
use super::presence;
use super::table::{Table, WordMatch};
use super::words::Words;
use crate::kernel::Kernel;

/// Positions of a subject: every `stride` bases from `start` on, before `end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScanPositions {
    pub start: u32,
    pub end: u32,
    pub stride: u32,
}

/// Number of positions that are scanned before their words are looked up.
pub(super) const AT_ONCE: usize = 1024;

/// Positions of a part of a subject that passed each step of the scan.
///
/// No step has branches that depend on the bases. A step writes every position, and advances the
/// count only if the position passed. So the CPU reads memory for many positions at the same time.
#[derive(Debug)]
pub(super) struct Candidates {
    places: Box<[u32; AT_ONCE]>,
    hits: Vec<WordMatch>,
}

impl Default for Candidates {
    fn default() -> Self {
        Candidates { places: Box::new([0; AT_ONCE]), hits: Vec::new() }
    }
}

impl Candidates {
    /// Scans the next positions and removes them from `places`. Returns the matches of query words
    /// that may be part of seeds. `cell` gathers the bits that a template selects.
    #[inline(always)]
    pub fn next(
        &mut self,
        kernel: Kernel,
        tables: &[Table],
        words: &Words,
        bytes: &[u8],
        places: &mut ScanPositions,
        cell: impl Fn(&BitGatherer, u64) -> usize + Copy,
    ) -> &[WordMatch] {
        let count = self.present(kernel, tables, bytes, places, cell);
        self.hits.resize(AT_ONCE * tables.len(), WordMatch::default());
        let found = match tables {
            [table] => self.slots_of(table, bytes, count, cell),
            tables => self.slots(tables, bytes, count, cell),
        };
        let mut count = 0;
        for i in 0..found {
            let hit = self.hits[i];
            self.hits[count] = hit;
            let table = &tables[hit.table as usize];
            count += usize::from(table.may_be_in_seed(hit, bytes, words));
        }
        &self.hits[..count]
    }

    /// Stores the slots of the words at the first `count` positions. There is only one table, and
    /// it has all these words. Returns the number of slots.
    #[inline(always)]
    fn slots_of(
        &mut self,
        table: &Table,
        bytes: &[u8],
        count: usize,
        cell: impl Fn(&BitGatherer, u64) -> usize + Copy,
    ) -> usize {
        for (hit, &at) in self.hits.iter_mut().zip(&self.places[..count]) {
            let cell = table.cell(window(bytes, at as usize), cell);
            *hit = WordMatch { at, table: 0, slot: table.slot(cell) };
        }
        count
    }

    /// Stores the slots of the words at the first `count` positions. Each word is in at least one
    /// of the tables. Returns the number of slots.
    #[inline(always)]
    fn slots(
        &mut self,
        tables: &[Table],
        bytes: &[u8],
        count: usize,
        cell: impl Fn(&BitGatherer, u64) -> usize + Copy,
    ) -> usize {
        let mut found = 0;
        for &at in &self.places[..count] {
            let bases = window(bytes, at as usize);
            for (number, table) in (0..).zip(tables) {
                let cell = table.cell(bases, cell);
                if table.has(cell) {
                    self.hits[found] = WordMatch { at, table: number, slot: table.slot(cell) };
                    found += 1;
                }
            }
        }
        found
    }

    /// Finds the next positions whose words are in at least one of the tables. Returns their
    /// number.
    #[inline(always)]
    fn present(
        &mut self,
        kernel: Kernel,
        tables: &[Table],
        bytes: &[u8],
        places: &mut ScanPositions,
        cell: impl Fn(&BitGatherer, u64) -> usize + Copy,
    ) -> usize {
        let [table] = tables else {
            let has = |bases, table: &Table| table.has(table.cell(bases, cell));
            return self
                .gather(bytes, places, |bases| tables.iter().any(|table| has(bases, table)));
        };
        let present = table.present();
        match table.numbering() {
            &Numbering::Contiguous { shift } => {
                let width = (64 - shift) / 2;
                let found = self.side_by_side(kernel, (present, width), bytes, places);
                if let Some(found) = found {
                    return found;
                }
                self.gather(bytes, places, |bases| present.has((bases >> shift) as usize))
            }
            Numbering::Template(gathered) => {
                self.gather(bytes, places, |bases| present.has(cell(gathered, bases)))
            }
        }
    }

    /// Finds, with vectors, the next positions whose words are in the table. Returns their number;
    /// `None` if the positions, the words or the kernel are not suitable for vectors.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
    fn side_by_side(
        &mut self,
        kernel: Kernel,
        words: (&Bits, u32),
        bytes: &[u8],
        places: &mut ScanPositions,
    ) -> Option<usize> {
        #[cfg(target_arch = "x86_64")]
        if let Kernel::Avx512(proof) = kernel
            && places.stride == 1
            && places.start.is_multiple_of(4)
            && words.1 <= presence::WIDEST
        {
            let bytes = bytes.get(places.start as usize / 4..)?;
            let run = (places.start, places.end.saturating_sub(places.start) as usize);
            let (looked_at, found) = presence::find(proof, words, bytes, run, &mut self.places[..]);
            places.start += looked_at as u32;
            return (looked_at > 0).then_some(found);
        }
        None
    }

    #[inline(always)]
    fn gather(
        &mut self,
        bytes: &[u8],
        places: &mut ScanPositions,
        has: impl Fn(u64) -> bool + Copy,
    ) -> usize {
        let start = places.start;
        let count = match (start % 4, places.stride) {
            (0, 1) => self.gather_aligned::<1>(bytes, places, has),
            (0, 2) => self.gather_aligned::<2>(bytes, places, has),
            (0, 4) => self.gather_aligned::<4>(bytes, places, has),
            _ => 0,
        };
        if places.start > start { count } else { self.gather_any(bytes, places, has) }
    }

    /// Scans positions `STRIDE` bases apart, the first one at a whole byte, as long as eight
    /// bytes are left.
    #[inline(always)]
    fn gather_aligned<const STRIDE: usize>(
        &mut self,
        bytes: &[u8],
        places: &mut ScanPositions,
        has: impl Fn(u64) -> bool,
    ) -> usize {
        let quads = (places.end.saturating_sub(places.start) / 4) as usize;
        let most = quads.min(AT_ONCE / (4 / STRIDE));
        let bytes = bytes.get(places.start as usize / 4..).unwrap_or_default();
        let (mut count, mut at) = (0, places.start);
        for eight in bytes.windows(8).take(most) {
            let bases = eight.first_chunk().map_or(0, |eight| u64::from_be_bytes(*eight));
            for i in (0..4).step_by(STRIDE) {
                self.places[count % AT_ONCE] = at + i as u32;
                count += usize::from(has(bases << (2 * i)));
            }
            at += 4;
        }
        places.start = at;
        count
    }

    #[inline(always)]
    fn gather_any(
        &mut self,
        bytes: &[u8],
        places: &mut ScanPositions,
        has: impl Fn(u64) -> bool,
    ) -> usize {
        let left = places.end.saturating_sub(places.start).div_ceil(places.stride) as usize;
        let (mut count, mut at) = (0, places.start);
        for _ in 0..left.min(AT_ONCE) {
            self.places[count % AT_ONCE] = at;
            count += usize::from(has(window(bytes, at as usize)));
            at = at.saturating_add(places.stride);
        }
        places.start = at;
        count
    }
}
