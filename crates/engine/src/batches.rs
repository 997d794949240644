//! Batches: consecutive queries of a block that BLAST+ concatenates and searches together.

use std::ops::Range;

/// Returns the range of query numbers of each batch. `batches` holds the number of queries of each
/// batch.
pub fn batch_ranges(batches: &[usize]) -> impl Iterator<Item = Range<usize>> + Clone + '_ {
    batches.iter().scan(0, |start, &length| {
        let first = *start;
        *start += length;
        Some(first..*start)
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn batches_follow_each_other() {
        assert_eq!(super::batch_ranges(&[2, 1, 3]).collect::<Vec<_>>(), [0..2, 2..3, 3..6]);
    }
}
