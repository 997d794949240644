//! Scans a subject for words of the queries, and passes the seeds to a receiver.

use fleetblast_seq::nucleotide::Packed;

use super::Seeds;
use super::bit_instructions::{self, BitComputation};
use super::contexts::Contexts;
use super::numbering::BitGatherer;
use super::scan::{Candidates, ScanPositions};
use super::screen_goal::{SIDE_BY_SIDE, ScreenGoal};
use super::table::Table;

/// Number of words whose query positions are looked up together.
const WORDS_AT_ONCE: usize = 32;

/// Receives the matches that a scan finds, in the order of subject positions.
pub(super) trait SeedReceiver {
    /// Receives the match of an indexed word, at a query and a subject position.
    fn word(&mut self, q: u32, s: u32);

    /// Receives the match of an indexed word that is a whole seed, if one hit is enough.
    /// `is_too_weak` means that the seed's extension cannot reach the least score that is kept.
    fn whole_seed(&mut self, q: u32, s: u32, is_too_weak: bool);

    /// Returns whether the scan should end early, before the next subject position.
    #[inline(always)]
    fn is_full(&self) -> bool {
        false
    }
}

/// The scan of a part of a subject. It has no state that depends on earlier positions.
#[derive(Clone, Copy)]
pub(super) struct SubjectScan<'a> {
    pub seeds: &'a Seeds,
    pub contexts: &'a Contexts,
    pub subject: Packed<'a>,
}

/// Seeds that wait to be screened together: query and subject positions.
struct WaitingSeeds {
    seeds: [[u32; 2]; SIDE_BY_SIDE],
    count: usize,
}

impl SubjectScan<'_> {
    /// Returns whether the receiver gets whole seeds instead of words: an indexed word is a whole
    /// seed, and one hit is enough.
    pub fn finds_whole_seeds(&self) -> bool {
        self.seeds.words.extra == 0 && self.seeds.window == 0
    }

    /// Scans these positions of the subject. Returns the positions that are left because the
    /// receiver is full.
    pub fn scan(
        self,
        places: ScanPositions,
        candidates: &mut Candidates,
        receiver: &mut impl SeedReceiver,
    ) -> ScanPositions {
        bit_instructions::perform(
            self.seeds.kernel,
            RangeScan { scan: self, places, candidates, receiver },
        )
    }
}

/// The scan of a range of positions.
struct RangeScan<'a, R> {
    scan: SubjectScan<'a>,
    places: ScanPositions,
    candidates: &'a mut Candidates,
    receiver: &'a mut R,
}

impl<R: SeedReceiver> BitComputation for RangeScan<'_, R> {
    type Output = ScanPositions;

    #[inline(always)]
    fn run(self, gather: impl Fn(&BitGatherer, u64) -> usize + Copy) -> ScanPositions {
        self.scan.scan_with(self.places, self.candidates, self.receiver, gather)
    }
}

impl SubjectScan<'_> {
    /// Does the work of [`SubjectScan::scan`]. `cell` gathers the bits that a template selects.
    #[inline(always)]
    fn scan_with(
        self,
        mut places: ScanPositions,
        candidates: &mut Candidates,
        receiver: &mut impl SeedReceiver,
        cell: impl Fn(&BitGatherer, u64) -> usize + Copy,
    ) -> ScanPositions {
        let (seeds, bytes) = (self.seeds, self.subject.bytes());
        let is_plain = self.finds_whole_seeds();
        let mut waiting = WaitingSeeds { seeds: [[0; 2]; SIDE_BY_SIDE], count: 0 };
        let mut last = None;
        'positions: while places.start < places.end {
            let (tables, words) = (&seeds.tables, &seeds.words);
            let hits = candidates.next(seeds.kernel, tables, words, bytes, &mut places, cell);
            for hits in hits.chunks(WORDS_AT_ONCE) {
                // The query positions of different words lie far apart in memory. So the positions
                // of many words are located before the first is processed.
                let mut located: [&[u32]; WORDS_AT_ONCE] = [&[]; WORDS_AT_ONCE];
                for (located, hit) in located.iter_mut().zip(hits) {
                    *located = tables[hit.table as usize].places(hit);
                }
                for (located, hit) in located.iter().zip(hits) {
                    // Several tables may have the words of one position.
                    if receiver.is_full() && last != Some(hit.at) {
                        places.start = hit.at;
                        break 'positions;
                    }
                    last = Some(hit.at);
                    if is_plain {
                        self.whole_seeds(located, hit.at, &mut waiting, receiver);
                    } else {
                        self.words(&tables[hit.table as usize], hit.at, located, receiver);
                    }
                }
            }
        }
        self.process_waiting(&mut waiting, receiver);
        places
    }

    /// Passes the matches of a subject word at these query positions to the receiver.
    #[inline(always)]
    fn words(&self, table: &Table, at: u32, places: &[u32], receiver: &mut impl SeedReceiver) {
        for &place in places {
            if table.may_match(place, self.subject.bytes(), at, &self.seeds.words) {
                receiver.word(place, at);
            }
        }
    }

    /// Screens the matches of a subject word that are whole seeds, and passes them to the receiver.
    /// Some of them may stay in `waiting`.
    #[inline(always)]
    fn whole_seeds(
        &self,
        places: &[u32],
        at: u32,
        waiting: &mut WaitingSeeds,
        receiver: &mut impl SeedReceiver,
    ) {
        let (seeds, bounds) = (self.seeds, self.contexts.bounds());
        if seeds.extender.quads().is_some() {
            for &place in places {
                waiting.seeds[waiting.count % SIDE_BY_SIDE] = [place, at];
                waiting.count += 1;
                if waiting.count == SIDE_BY_SIDE {
                    self.process_waiting(waiting, receiver);
                }
            }
            return;
        }
        let limits = (bounds.x_drop, bounds.lowest.cutoff);
        let around = seeds.extender.prepare_screen(&seeds.words.query, self.subject, at, limits);
        for &place in places {
            if around.is_none_or(|around| !around.is_too_weak(place)) {
                receiver.whole_seed(place, at, false);
            }
        }
    }

    /// Screens the waiting seeds, and passes them to the receiver in their order.
    fn process_waiting(&self, waiting: &mut WaitingSeeds, receiver: &mut impl SeedReceiver) {
        let count = std::mem::take(&mut waiting.count);
        let (seeds, bounds) = (self.seeds, self.contexts.bounds());
        let least = bounds.lowest.reduced_cutoff().min(bounds.lowest.cutoff);
        let goal = bounds.x_drop.map(|x_drop| ScreenGoal { x_drop, least });
        let pairs = &waiting.seeds[..count];
        let too_weak = match seeds.extender.quads().zip(goal) {
            Some((quads, goal)) => quads.screen(seeds.kernel, pairs, self.subject, goal),
            None => 0,
        };
        for (number, &[q, s]) in pairs.iter().enumerate() {
            receiver.whole_seed(q, s, too_weak >> number & 1 != 0);
        }
    }
}
