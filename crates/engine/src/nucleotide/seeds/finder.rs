//! Finds the ungapped segments of a subject from the positions whose words occur in the queries.

use fleetblast_seq::nucleotide::Packed;

use super::bases::window;
use super::contexts::{Contexts, UngappedLimits};
use super::diagonals::{DiagonalState, Diagonals};
use super::scan::{Candidates, ScanPositions};
use super::screen_goal::{SIDE_BY_SIDE, ScreenGoal};
use super::table::{BitGatherer, Table};
use super::{Seeds, Segment};

/// Number of words whose query positions are looked up together.
const WORDS_AT_ONCE: usize = 32;

/// State of the search of one subject.
pub(super) struct Finder<'a, D> {
    pub seeds: &'a Seeds,
    pub contexts: &'a Contexts,
    pub subject: Packed<'a>,
    /// Greatest distance of two hits, in bases, limited to distances that the subject can have.
    pub window: i32,
    /// The end of the subject, or of the unmasked range that is searched.
    pub end: u32,
    pub diagonals: &'a mut D,
    pub out: &'a mut Vec<Segment>,
    /// Whether an extension reached the end of the known letters and might have gone on.
    pub reached_unknown_letters: bool,
}

/// Seeds that wait to be screened together: query and subject positions.
struct WaitingSeeds {
    seeds: [[u32; 2]; SIDE_BY_SIDE],
    count: usize,
}

impl<D: Diagonals> Finder<'_, D> {
    /// Scans these positions of the subject. `cell` gathers the bits that a template selects.
    #[inline(always)]
    pub(super) fn scan_with(
        &mut self,
        mut places: ScanPositions,
        candidates: &mut Candidates,
        cell: impl Fn(&BitGatherer, u64) -> usize + Copy,
    ) {
        let seeds = self.seeds;
        // Plain: an indexed word is a whole seed, and one hit is enough.
        let is_plain = seeds.words.extra == 0 && seeds.window == 0;
        let mut waiting = WaitingSeeds { seeds: [[0; 2]; SIDE_BY_SIDE], count: 0 };
        while places.start < places.end {
            let bytes = self.subject.bytes();
            let hits = candidates.next(
                seeds.kernel,
                &seeds.tables,
                &seeds.words,
                bytes,
                &mut places,
                cell,
            );
            for hits in hits.chunks(WORDS_AT_ONCE) {
                // The query positions of different words lie far apart in memory. So the positions
                // of many words are located before the first is processed.
                let mut places: [&[u32]; WORDS_AT_ONCE] = [&[]; WORDS_AT_ONCE];
                for (places, hit) in places.iter_mut().zip(hits) {
                    *places = seeds.tables[hit.table as usize].places(hit);
                }
                for (places, hit) in places.iter().zip(hits) {
                    if is_plain {
                        self.plain_pairs(places, hit.at, &mut waiting);
                    } else {
                        self.pairs(&seeds.tables[hit.table as usize], hit.at, places);
                    }
                }
            }
        }
        self.process_waiting(&mut waiting);
    }

    /// Processes the matches of a subject word at query positions.
    #[inline(always)]
    fn pairs(&mut self, table: &Table, at: u32, places: &[u32]) {
        for &place in places {
            if table.may_match(place, self.subject.bytes(), at, &self.seeds.words) {
                self.pair(place, at);
            }
        }
    }

    /// Processes the matches of a subject word if an indexed word is a whole seed and one hit is
    /// enough. Some matches may stay in `waiting`.
    #[inline(always)]
    fn plain_pairs(&mut self, places: &[u32], at: u32, waiting: &mut WaitingSeeds) {
        let (seeds, bounds) = (self.seeds, self.contexts.bounds());
        if seeds.extender.quads().is_some() {
            for &place in places {
                waiting.seeds[waiting.count % SIDE_BY_SIDE] = [place, at];
                waiting.count += 1;
                if waiting.count == SIDE_BY_SIDE {
                    self.process_waiting(waiting);
                }
            }
            return;
        }
        let limits = (bounds.x_drop, bounds.lowest.cutoff);
        let around = seeds.extender.prepare_screen(&seeds.words.query, self.subject, at, limits);
        for &place in places {
            if around.is_none_or(|around| !around.is_too_weak(place)) {
                self.plain_pair(place, at, false);
            }
        }
    }

    /// Screens and processes the waiting seeds, in their order.
    fn process_waiting(&mut self, waiting: &mut WaitingSeeds) {
        let count = std::mem::take(&mut waiting.count);
        let (seeds, lowest) = (self.seeds, self.contexts.bounds().lowest);
        let goal = self
            .contexts
            .bounds()
            .x_drop
            .map(|x_drop| ScreenGoal { x_drop, least: lowest.reduced_cutoff().min(lowest.cutoff) });
        let pairs = &waiting.seeds[..count];
        let too_weak = match seeds.extender.quads().zip(goal) {
            Some((quads, goal)) => quads.screen(seeds.kernel, pairs, self.subject, goal),
            None => 0,
        };
        for (number, &[q, s]) in pairs.iter().enumerate() {
            self.plain_pair(q, s, too_weak >> number & 1 != 0);
        }
    }

    /// Processes the match of an indexed word at a query and a subject position.
    fn pair(&mut self, q: u32, s: u32) {
        let diagonal = s as i32 - q as i32;
        let known = self.diagonals.get(diagonal);
        // The seed does not start later than its word, so it starts in the explored range.
        if s as i32 + self.diagonals.origin() < known.last {
            return;
        }
        let words = &self.seeds.words;
        if let Some(left) = words.seed_start(self.contexts, self.subject, self.end, (q, s)) {
            self.seed((q - left, s - left), diagonal, known);
        }
    }

    /// Does what [`Finder::pair`] does, if an indexed word is a whole seed and one hit is enough.
    /// `is_too_weak` means that the extension cannot reach the least useful score.
    #[inline(always)]
    fn plain_pair(&mut self, q: u32, s: u32, is_too_weak: bool) {
        let diagonal = s as i32 - q as i32;
        let at = s as i32 + self.diagonals.origin();
        if at < self.diagonals.get(diagonal).last {
            return;
        }
        let length = self.seeds.words.length;
        let mut known = DiagonalState {
            last: at + length as i32,
            became_segment: false,
            length: length as i32,
        };
        if !is_too_weak && let Some(segment) = self.extend((q, s), s + length, false) {
            let last = (segment.s_start + segment.length) as i32 + self.diagonals.origin();
            known = DiagonalState { last, became_segment: true, length: 0 };
            self.out.push(segment);
        }
        let range = self.seeds.off_diagonal_range.min(-(length as i32));
        self.diagonals.put(diagonal, known, at, range + 1);
    }

    /// Processes a seed at a query and a subject position. Extends it, or stores it as a first hit.
    /// `known` is the state of its diagonal.
    fn seed(&mut self, (q, s): (u32, u32), diagonal: i32, known: DiagonalState) {
        let (window, words) = (self.window, &self.seeds.words);
        let length = words.length as i32;
        let at = s as i32 + self.diagonals.origin();
        if at < known.last {
            return;
        }
        let is_far = at + length > known.last + window;
        let is_first = window > 0 && (known.became_segment || is_far);
        self.reached_unknown_letters |= window > 0 && self.follows_unknown((q, s), is_far);
        let checked = words.check(self.contexts, self.subject, self.end, (q, s), is_first);
        let Some(checked) = checked else { return };
        let mut last = at + length + checked.extended as i32;
        let mut range = self.seeds.off_diagonal_range.min(window - length);
        let (mut is_ready, mut has_neighbours) = (true, false);
        if is_first && !checked.double {
            range = range.max(0);
            has_neighbours = self.has_hit_nearby(diagonal, at, last, range);
            is_ready = has_neighbours;
        }
        if is_ready {
            let seed = (q + checked.shift, s + checked.shift);
            let match_end = s + words.length + checked.extended;
            let segment = self.extend(seed, match_end, has_neighbours);
            is_ready = segment.is_some();
            if let Some(segment) = segment {
                last = (segment.s_start + segment.length) as i32 + self.diagonals.origin();
                self.out.push(segment);
            }
        }
        let length = if is_ready { 0 } else { last - at };
        let known = DiagonalState { last, became_segment: is_ready, length };
        self.diagonals.put(diagonal, known, at, window + range + 1);
    }

    /// Returns whether unknown letters before a seed may decide whether it is extended. They may if
    /// a row of words, each close enough to the next, leads back to them. If few letters are known,
    /// a single word is enough. `is_far` means that no known hit is close enough.
    fn follows_unknown(&self, (q, s): (u32, u32), is_far: bool) -> bool {
        let (seeds, first) = (self.seeds, self.contexts.own_start(0));
        let near = first..first.saturating_add(seeds.window as u32);
        if !self.contexts.truncated_neighbours().0 || !near.contains(&q) {
            return false;
        }
        let most = 2 * i64::from(seeds.window) + i64::from(seeds.words.length);
        if i64::from(first) <= most {
            return true;
        }
        if is_far {
            return false;
        }
        let mut apart = 0;
        for back in 1..=q.min(s) {
            let (q, s) = (q - back, s - back);
            let bases = (window(&seeds.words.query, q as usize), self.subject.bytes());
            let is_word = |table: &Table| table.same(bases.0, window(bases.1, s as usize));
            let is_hit = seeds.words.starts_at(q) && seeds.tables.iter().any(is_word);
            apart = if is_hit { 0 } else { apart + 1 };
            if apart > most {
                return false;
            }
        }
        q < s
    }

    /// Returns whether a diagonal at most `range` away has a hit that makes a seed together with
    /// the hit from `at` to `end`.
    fn has_hit_nearby(&self, diagonal: i32, at: i32, end: i32, range: i32) -> bool {
        let length = self.seeds.words.length as i32;
        let (from, until) = (at + length - self.window, end - 2 * length);
        (1..=range).any(|distance| {
            let after = self.diagonals.get(diagonal + distance);
            let before = self.diagonals.get(diagonal - distance);
            (after.length != 0
                && after.last - distance >= from
                && after.last - after.length <= until)
                || (before.length != 0
                    && before.last >= from
                    && before.last - before.length + distance <= until)
        })
    }

    /// Extends a seed. Returns its segment if the score reaches the cut-off, or if `whatever` is
    /// set.
    #[inline(always)]
    fn extend(&mut self, (q, s): (u32, u32), match_end: u32, whatever: bool) -> Option<Segment> {
        let bounds = self.contexts.bounds();
        let limits = || self.contexts.limits(self.contexts.context_at(q));
        let x_drop = match bounds.x_drop {
            Some(x_drop) => x_drop,
            None => limits()?.x_drop,
        };
        let is_high = |score: i32| {
            let reaches = |limits: UngappedLimits| score >= limits.reduced_cutoff();
            reaches(bounds.lowest) && limits().is_some_and(reaches)
        };
        let queries = (self.contexts, &self.seeds.words.query[..]);
        let extender = &self.seeds.extender;
        let seed = (q, s);
        let extension = extender.extend(queries, self.subject, seed, match_end, x_drop, is_high);
        self.reached_unknown_letters |= extension.reached_unknown_letters;
        let reaches = |limits: UngappedLimits| extension.score >= limits.cutoff;
        let is_good = reaches(bounds.lowest) && limits().is_some_and(reaches);
        (whatever || is_good).then_some(Segment {
            q_start: extension.q_start,
            s_start: extension.s_start,
            length: extension.length,
            score: extension.score,
            q_seed: q,
            s_seed: s,
        })
    }
}
