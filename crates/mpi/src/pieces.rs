//! Splits long transfers into pieces, because MPI counts elements in a C `int`.

use std::ops::Range;

/// Most bytes in one call of MPI. It is well below 2 GiB, since libraries have failed from 1 GiB
/// on.
pub(crate) const PIECE_BYTES: usize = 512 << 20;

/// Splits `length` bytes into ranges of at most `limit` bytes; a length of 0 gives one empty range.
pub(crate) fn pieces(length: usize, limit: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    let limit = limit.max(1);
    let count = length.div_ceil(limit).max(1);
    (0..count).map(move |n| n * limit..length.min((n + 1) * limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_everything_once() {
        let cut = |length, limit| pieces(length, limit).collect::<Vec<_>>();
        assert_eq!(cut(0, 4), vec![0..0]);
        assert_eq!(cut(4, 4), vec![0..4]);
        assert_eq!(cut(9, 4), vec![0..4, 4..8, 8..9]);
        assert_eq!(cut(2, 0), vec![0..1, 1..2]);
    }
}
