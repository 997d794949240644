//! Draws random stored masks of the subjects.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use crate::fasta::Record;
use crate::rng::Draw;
use fastrand::Rng;

/// Lengths of masks in letters, from one to most of a sequence.
const LENGTHS: [usize; 9] = [1, 2, 3, 5, 8, 12, 20, 40, 150];

/// Returns the text of the masks of `subjects` in makeblastdb's format; `None` if there are none.
/// `masker` is the name of their algorithm.
pub fn file(subjects: &[Record], masker: &str) -> Option<String> {
    let intervals: Vec<String> = subjects.iter().flat_map(intervals).collect();
    (!intervals.is_empty()).then(|| {
        format!(
            "Blast-db-mask-info ::= {{\n  algo-id 1,\n  algo-program {masker},\n  algo-options \"random\",\n  \
             masks {{\n    masks {{\n{}\n    }},\n    more FALSE\n  }}\n}}\n",
            intervals.join(",\n")
        )
    })
}

fn intervals(record: &Record) -> Vec<String> {
    let id = record.header.split(' ').next().unwrap_or_default();
    let interval = |mask: Range<usize>| {
        format!("int {{ from {}, to {}, id local str \"{id}\" }}", mask.start, mask.end - 1)
    };
    ranges(record).into_iter().map(interval).collect()
}

/// Draws some separate ranges of a record, ascending. The same record always has the same ranges.
///
/// A single mask that reaches the sequence's end is dropped. BLAST+ looks for words in it, loses
/// hits in the next sequence, and often uses up the memory.
fn ranges(record: &Record) -> Vec<Range<usize>> {
    let mut rng = Rng::with_seed(xxh3_64(&[record.header.as_bytes(), &record.seq].concat()));
    let len = record.seq.len();
    let count = [0, 1, 1, 2, 3, 5][rng.usize(..6)];
    let mut drawn: Vec<Range<usize>> = (0..count)
        .map(|_| {
            let start = rng.usize(..len.max(1));
            start..len.min(start + rng.pick(&LENGTHS))
        })
        .collect();
    drawn.sort_by_key(|range| range.start);
    let mut apart: Vec<Range<usize>> = Vec::new();
    for range in drawn {
        match apart.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    if apart.first().is_some_and(|first| first.end == len) {
        apart.clear();
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::{self, PROTEIN};

    #[test]
    fn masks_are_in_order_and_end_within_but_not_alone_at_the_end() {
        let mut rng = Rng::with_seed(3);
        let mut ends = 0;
        for i in 0..2_000 {
            let len = rng.usize(1..=60);
            let record =
                Record::new(format!("s{i} title"), synth::random(&mut rng, PROTEIN.usual, len));
            let ranges = ranges(&record);
            assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start), "{ranges:?}");
            assert!(ranges.iter().all(|range| !range.is_empty() && range.end <= len), "{ranges:?}");
            assert!(ranges.first().is_none_or(|first| first.end < len), "{ranges:?}");
            ends += usize::from(ranges.last().is_some_and(|last| last.end == len));
        }
        assert!(ends > 100, "{ends}");
    }
}
