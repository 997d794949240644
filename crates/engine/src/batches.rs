//! Batches: runs of the queries of a block that BLAST+ would read and search together.

use std::ops::Range;

/// The numbers of the queries of each batch; `batches` are their lengths, in queries.
pub fn ranges(batches: &[usize]) -> impl Iterator<Item = Range<usize>> + Clone + '_ {
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
        assert_eq!(super::ranges(&[2, 1, 3]).collect::<Vec<_>>(), [0..2, 2..3, 3..6]);
    }
}
