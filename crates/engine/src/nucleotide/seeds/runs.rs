//! Makes the cells of a lookup table.
//!
//! Words are first sorted by runs of consecutive cells, so that the writes to one run stay in
//! cache. The threads of the current pool share the queries for the sorting, and then the runs.

use std::ops::Range;

use rayon::prelude::*;

use super::bases::{Bits, window};
use super::bit_instructions::{BitComputation, perform};
use super::cells::{Cells, CellsPart, Word};
use super::numbering::{BitGatherer, Numbering};
use crate::kernel::Kernel;

/// Binary logarithm of the greatest number of runs. The part of the table that one run writes fits
/// the nearest caches.
const RUNS_BITS: u32 = 10;
/// Binary logarithm of the least number of cells in a run: one machine word of presence bits.
const LEAST_BITS: u32 = 6;
/// Least number of query positions for each thread.
const LEAST_SHARE: usize = 1 << 18;
/// Number of positions in a word of bits.
const IN_WORD: usize = 64;

/// The words of the queries that are put into a table.
#[derive(Clone, Copy)]
pub(super) struct QueryWords<'a> {
    /// The queries at two bits a letter.
    pub query: &'a [u8],
    /// Start positions of the words.
    pub places: &'a Bits,
    pub numbering: &'a Numbering,
}

/// How the words of a table are sorted and stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunOrder {
    /// Number of bits of a cell's number.
    pub bits: u32,
    /// Greatest number of words that are sorted together, unless one run has more.
    pub most: usize,
    /// Whether the positions of a word are stored in descending order.
    pub descending: bool,
}

impl RunOrder {
    /// Returns the binary logarithm of the number of cells in a run.
    fn shift(self) -> u32 {
        self.bits.saturating_sub(RUNS_BITS).max(LEAST_BITS)
    }

    /// Returns the number of runs.
    fn runs(self) -> usize {
        1 << self.bits.saturating_sub(self.shift())
    }
}

impl QueryWords<'_> {
    /// Calls `visit` with each query word whose position belongs to the share `share`: a range of
    /// 64-bit words of `places`.
    #[inline(always)]
    fn visit(
        self,
        share: Range<usize>,
        gather: impl Fn(&BitGatherer, u64) -> usize + Copy,
        mut visit: impl FnMut(Word),
    ) {
        for (number, &bits) in share.clone().zip(&self.places.words()[share]) {
            let (first, mut left) = (number * IN_WORD, bits);
            while left != 0 {
                let place = first + left.trailing_zeros() as usize;
                left &= left - 1;
                let bases = window(self.query, place);
                let cell = self.numbering.cell_with(bases, gather) as u32;
                visit(Word { cell, place: place as u32 });
            }
        }
    }
}

/// Counts the words of each run in a share of the queries.
struct Count<'a> {
    words: QueryWords<'a>,
    share: Range<usize>,
    order: RunOrder,
}

impl BitComputation for Count<'_> {
    type Output = Vec<usize>;

    #[inline(always)]
    fn run(self, gather: impl Fn(&BitGatherer, u64) -> usize + Copy) -> Vec<usize> {
        let (mut counts, shift) = (vec![0; self.order.runs()], self.order.shift());
        self.words.visit(self.share, gather, |word| counts[(word.cell >> shift) as usize] += 1);
        counts
    }
}

/// Sorts the words of a share of the queries by run, for some runs. Words of the same run stay in
/// order.
struct Sort<'a> {
    words: QueryWords<'a>,
    share: Range<usize>,
    order: RunOrder,
    /// Number of the first run whose words are sorted.
    first: usize,
    /// Number of words of the share in each run whose words are sorted.
    counts: &'a [usize],
}

/// Words of a share of the queries, sorted by run.
struct SortedWords {
    words: Vec<Word>,
    /// For each run, the end of its words in `words`.
    ends: Vec<usize>,
}

impl SortedWords {
    /// Returns the words of a run. The first run that was sorted has number 0.
    fn of_run(&self, run: usize) -> &[Word] {
        let start = run.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start..self.ends[run]]
    }
}

impl BitComputation for Sort<'_> {
    type Output = SortedWords;

    #[inline(always)]
    fn run(self, gather: impl Fn(&BitGatherer, u64) -> usize + Copy) -> SortedWords {
        let Sort { words, share, order, first, counts } = self;
        let mut end = 0;
        let start = |count: &usize| {
            end += count;
            end - count
        };
        let mut next: Vec<usize> = counts.iter().map(start).collect();
        let (mut sorted, shift) = (vec![Word::default(); end], order.shift());
        words.visit(share, gather, |word| {
            // For runs before the first one the difference wraps to a number beyond all runs.
            let run = ((word.cell >> shift) as usize).wrapping_sub(first);
            if let Some(next) = next.get_mut(run) {
                sorted[*next] = word;
                *next += 1;
            }
        });
        SortedWords { words: sorted, ends: next }
    }
}

/// Makes the cells of the runs `runs`.
struct Fill<'a> {
    /// The words of each share of the queries.
    sorted: &'a [SortedWords],
    /// Number of the first run that was sorted.
    first: usize,
    runs: Range<usize>,
    order: RunOrder,
}

impl BitComputation for Fill<'_> {
    type Output = CellsPart;

    #[inline(always)]
    fn run(self, _: impl Fn(&BitGatherer, u64) -> usize + Copy) -> CellsPart {
        let Fill { sorted, first, runs, order } = self;
        let cells = |runs: Range<usize>| runs.start << order.shift()..runs.end << order.shift();
        let mut part = CellsPart::new(cells(runs.clone()));
        for run in runs {
            let words = sorted.iter().map(|share| share.of_run(run - first));
            let cells = cells(run..run + 1);
            match order.descending {
                true => part.add(cells, words.rev().flat_map(|words| words.iter().rev())),
                false => part.add(cells, words.flatten()),
            }
        }
        part
    }
}

/// Makes the cells of a table of these words.
pub(super) fn cells(words: QueryWords<'_>, order: RunOrder, kernel: Kernel) -> Cells {
    let length = words.places.words().len();
    let threads = rayon::current_num_threads().min(length * IN_WORD / LEAST_SHARE).max(1);
    let shares: Vec<_> = equal_parts(length, threads).collect();
    let count =
        |share: &Range<usize>| perform(kernel, Count { words, share: share.clone(), order });
    let counts: Vec<Vec<usize>> = shares.par_iter().map(count).collect();
    let run_counts = (0..order.runs()).map(|run| counts.iter().map(|of| of[run]).sum());
    let run_counts: Vec<usize> = run_counts.collect();
    let (mut all, mut first) = (CellsPart::default(), 0);
    let total = run_counts.iter().sum();
    if total > order.most {
        all.reserve(1 << order.bits, total);
    }
    while first < run_counts.len() {
        let end = first + together(&run_counts[first..], order.most);
        let sort = |(share, counts): (&Range<usize>, &Vec<usize>)| {
            let (share, counts) = (share.clone(), &counts[first..end]);
            perform(kernel, Sort { words, share, order, first, counts })
        };
        let sorted: Vec<SortedWords> = shares.par_iter().zip(&counts).map(sort).collect();
        let fill = |runs: Range<usize>| {
            let runs = first + runs.start..first + runs.end;
            perform(kernel, Fill { sorted: &sorted, first, runs, order })
        };
        let runs: Vec<_> = equal_parts(end - first, threads).collect();
        let parts: Vec<CellsPart> = runs.into_par_iter().map(fill).collect();
        drop(sorted);
        parts.into_iter().for_each(|part| all.append(part));
        first = end;
    }
    Cells::from_whole(all)
}

/// Divides the numbers from 0 to `count` - 1 into at most `parts` ranges of about equal length.
fn equal_parts(count: usize, parts: usize) -> impl Iterator<Item = Range<usize>> {
    let length = count.div_ceil(parts).max(1);
    (0..count).step_by(length).map(move |start| start..(start + length).min(count))
}

/// Returns how many of the next runs are sorted together: at least one, and as many as have at most
/// `most` words.
fn together(counts: &[usize], most: usize) -> usize {
    let mut words = 0;
    let fits = |count: &&usize| {
        words += **count;
        words <= most
    };
    counts.iter().take_while(fits).count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use fastrand::Rng;

    /// Returns the positions of each cell by the literal rule.
    fn positions(words: QueryWords<'_>, cells: usize, descending: bool) -> Vec<Vec<u32>> {
        let mut positions = vec![Vec::new(); cells];
        for place in (0..4 * words.query.len()).filter(|&place| words.places.has(place)) {
            let bases = window(words.query, place);
            positions[words.numbering.cell_with(bases, BitGatherer::cell)].push(place as u32);
        }
        if descending {
            positions.iter_mut().for_each(|places| places.reverse());
        }
        positions
    }

    #[test]
    fn cells_have_the_positions_of_their_words() {
        let mut random = Rng::with_seed(5);
        let pool = testing::pool(3);
        for round in 0..24 {
            let span = [4, 6, 8, 11][round % 4];
            // The longest queries are shared by threads.
            let length = [300, 5000, 4 * LEAST_SHARE][round % 3];
            let look = [u8::MAX, 0b1100_0011][round % 2];
            let query: Vec<u8> = (0..length / 4 + 8).map(|_| random.u8(..) & look).collect();
            let mut places = Bits::new(length);
            (0..length).filter(|_| random.u8(..3) != 0).for_each(|place| places.set(place));
            let numbering = Numbering::Contiguous { shift: 64 - 2 * span };
            let words = QueryWords { query: &query, places: &places, numbering: &numbering };
            let descending = round % 5 < 2;
            let expected = positions(words, 1 << (2 * span), descending);
            for kernel in Kernel::available() {
                let most = [1, 100, 1 << 20][random.usize(..3)];
                let order = RunOrder { bits: 2 * span, most, descending };
                let cells = pool.install(|| cells(words, order, kernel));
                for (cell, expected) in expected.iter().enumerate() {
                    let is_used = cells.present().has(cell);
                    assert_eq!(is_used, !expected.is_empty(), "{order:?}, cell {cell}");
                    if is_used {
                        let slot = cells.slot(cell);
                        assert_eq!(cells.places(&slot), expected, "{order:?}, cell {cell}");
                    }
                }
            }
        }
    }
}
