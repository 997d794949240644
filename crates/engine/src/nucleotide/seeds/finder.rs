//! Finds the ungapped segments of a subject from its seeds.

use super::Segment;
use super::bases::window;
use super::contexts::UngappedLimits;
use super::diagonals::{DiagonalState, Diagonals};
use super::subject_scan::{SeedReceiver, SubjectScan};
use super::table::Table;

/// State of the search of one subject.
pub(super) struct Finder<'a, D> {
    pub scan: SubjectScan<'a>,
    /// Greatest distance of two hits, in bases, limited to distances that the subject can have.
    pub window: i32,
    /// The end of the subject, or of the unmasked range that is searched.
    pub end: u32,
    pub diagonals: &'a mut D,
    pub out: &'a mut Vec<Segment>,
    /// Whether an extension reached the end of the known letters and might have gone on.
    pub reached_unknown_letters: bool,
}

impl<D: Diagonals> SeedReceiver for Finder<'_, D> {
    fn word(&mut self, q: u32, s: u32) {
        let diagonal = s as i32 - q as i32;
        let known = self.diagonals.get(diagonal);
        // The seed does not start later than its word, so it starts in the explored range.
        if s as i32 + self.diagonals.origin() < known.last {
            return;
        }
        let words = &self.scan.seeds.words;
        if let Some(left) =
            words.seed_start(self.scan.contexts, self.scan.subject, self.end, (q, s))
        {
            self.seed((q - left, s - left), diagonal, known);
        }
    }

    #[inline(always)]
    fn whole_seed(&mut self, q: u32, s: u32, is_too_weak: bool) {
        let diagonal = s as i32 - q as i32;
        let at = s as i32 + self.diagonals.origin();
        if at < self.diagonals.get(diagonal).last {
            return;
        }
        let length = self.scan.seeds.words.length;
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
        let range = self.scan.seeds.off_diagonal_range.min(-(length as i32));
        self.diagonals.put(diagonal, known, at, range + 1);
    }
}

impl<D: Diagonals> Finder<'_, D> {
    /// Processes a seed at a query and a subject position: extends the seed, or stores it as a
    /// first hit. `known` is the state of its diagonal.
    fn seed(&mut self, (q, s): (u32, u32), diagonal: i32, known: DiagonalState) {
        let (window, words) = (self.window, &self.scan.seeds.words);
        let length = words.length as i32;
        let at = s as i32 + self.diagonals.origin();
        if at < known.last {
            return;
        }
        let is_far = at + length > known.last + window;
        let is_first = window > 0 && (known.became_segment || is_far);
        self.reached_unknown_letters |= window > 0 && self.follows_unknown((q, s), is_far);
        let checked =
            words.check(self.scan.contexts, self.scan.subject, self.end, (q, s), is_first);
        let Some(checked) = checked else { return };
        let mut last = at + length + checked.extended as i32;
        let mut range = self.scan.seeds.off_diagonal_range.min(window - length);
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

    /// Returns whether unknown letters before the known ones may decide whether a seed is extended.
    /// They may if a series of words, each close enough to the next, leads from them to the seed.
    /// If few letters are known, the seed's word is enough. `is_far` means that no known hit is
    /// close enough.
    fn follows_unknown(&self, (q, s): (u32, u32), is_far: bool) -> bool {
        let (seeds, first) = (self.scan.seeds, self.scan.contexts.own_start(0));
        let near = first..first.saturating_add(seeds.window as u32);
        if !self.scan.contexts.truncated_neighbours().0 || !near.contains(&q) {
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
            let bases = (window(&seeds.words.query, q as usize), self.scan.subject.bytes());
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
        let length = self.scan.seeds.words.length as i32;
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
    /// set, with any score.
    #[inline(always)]
    fn extend(&mut self, (q, s): (u32, u32), match_end: u32, whatever: bool) -> Option<Segment> {
        let bounds = self.scan.contexts.bounds();
        let limits = || self.scan.contexts.limits(self.scan.contexts.context_at(q));
        let x_drop = match bounds.x_drop {
            Some(x_drop) => x_drop,
            None => limits()?.x_drop,
        };
        let is_high = |score: i32| {
            let reaches = |limits: UngappedLimits| score >= limits.reduced_cutoff();
            reaches(bounds.lowest) && limits().is_some_and(reaches)
        };
        let queries = (self.scan.contexts, &self.scan.seeds.words.query[..]);
        let extender = &self.scan.seeds.extender;
        let seed = (q, s);
        let extension =
            extender.extend(queries, self.scan.subject, seed, match_end, x_drop, is_high);
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
