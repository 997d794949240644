//! Sorts words by runs of consecutive cells, so that the writes to one run stay in cache.

use std::ops::Range;

/// Binary logarithm of the greatest number of runs. The part of the table that one run writes fits
/// the nearest caches.
const RUNS_BITS: u32 = 10;
/// Binary logarithm of the least number of cells in a run: one machine word of presence bits.
const LEAST_BITS: u32 = 6;
/// A word of the queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// Number of the word's cell in the lookup table.
    pub cell: u32,
    /// Position of the word in the queries.
    pub place: u32,
}

/// Calls `take` for each run, in ascending order, with the cells of the run and with its words in
/// the order of `words`. Cell numbers have `bits` bits. At most `most` words are sorted together,
/// unless one run has more. The iterator of words must yield the same words each time.
pub(super) fn of_words<Words: Iterator<Item = Word>>(
    bits: u32,
    most: usize,
    words: impl Fn() -> Words,
    mut take: impl FnMut(Range<usize>, &mut [Word]),
) {
    let shift = bits.saturating_sub(RUNS_BITS).max(LEAST_BITS);
    let mut counts = vec![0; 1 << bits.saturating_sub(shift)];
    words().for_each(|word| counts[(word.cell >> shift) as usize] += 1);
    let mut sorted = Vec::new();
    let mut first = 0;
    while first < counts.len() {
        let together = together(&counts[first..], most);
        let counts = &counts[first..first + together];
        sort(&mut sorted, words(), counts, |cell| {
            // For runs before the first one the difference wraps to a number beyond all runs.
            ((cell >> shift) as usize).wrapping_sub(first)
        });
        let mut rest = &mut sorted[..];
        for (run, &count) in (first..).zip(counts) {
            let words = rest.split_off_mut(..count).unwrap_or_default();
            take(run << shift..(run + 1) << shift, words);
        }
        first += together;
    }
}

/// Returns the number of next runs, at least one, that are sorted together.
fn together(counts: &[usize], most: usize) -> usize {
    let mut words = 0;
    let fits = |count: &&usize| {
        words += **count;
        words <= most
    };
    counts.iter().take_while(fits).count().max(1)
}

/// Sorts words by run into `sorted`; the words of a run stay in order. `counts` has the number of
/// words of each run. Words of other runs are skipped.
fn sort(
    sorted: &mut Vec<Word>,
    words: impl Iterator<Item = Word>,
    counts: &[usize],
    run: impl Fn(u32) -> usize,
) {
    let mut end = 0;
    let start = |count: &usize| {
        end += count;
        end - count
    };
    let mut next: Vec<usize> = counts.iter().map(start).collect();
    sorted.resize(end, Word::default());
    words.for_each(|word| {
        if let Some(next) = next.get_mut(run(word.cell)) {
            sorted[*next] = word;
            *next += 1;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    #[test]
    fn words_come_by_cell_ranges_in_their_order() {
        let mut random = Rng::with_seed(5);
        for bits in [8, 14, 16, 24] {
            // With 16 bits, every other run is empty.
            let mask = if bits == 16 { !0x40 } else { !0 };
            let cell = |_| random.usize(..1 << bits) as u32 & mask;
            let cells: Vec<u32> = (0..5000).map(cell).collect();
            let words = || cells.iter().zip(0..).map(|(&cell, place)| Word { cell, place });
            for most in [1, 100, 1 << 20] {
                let (mut found, mut next) = (Vec::new(), 0);
                of_words(bits, most, words, |run, words| {
                    assert_eq!(run.start, next);
                    assert!(words.iter().all(|word| run.contains(&(word.cell as usize))));
                    assert!(words.is_sorted_by_key(|word| word.place));
                    next = run.end;
                    found.extend_from_slice(words);
                });
                assert_eq!(next, 1 << bits);
                found.sort_by_key(|word| word.place);
                assert!(words().eq(found), "{bits} bits, {most} together");
            }
        }
    }
}
