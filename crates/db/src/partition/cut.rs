//! Cuts OIDs into consecutive ranges with nearly equal numbers of residues.

use std::ops::Range;

/// A source for the number of residues before each sequence.
pub(crate) trait ResidueCounts {
    /// Returns the number of residues of all sequences below `oid`. It never decreases with `oid`
    /// unless the database is damaged.
    fn residues_before(&self, oid: u32) -> u64;
}

/// Cuts the ranges `included` (sorted, not overlapping) into at most `n` ranges with nearly equal
/// numbers of residues.
///
/// If the offsets of a damaged database are out of order, the result still covers every included
/// OID exactly once.
pub(crate) fn cut_into_ranges(
    sizes: &impl ResidueCounts,
    included: &[Range<u32>],
    n: usize,
) -> Vec<Range<u32>> {
    let (Some(first), Some(last)) = (included.first(), included.last()) else {
        return Vec::new();
    };
    let total: u64 = included.iter().map(|range| size(sizes, range)).sum();
    let mut cuts = vec![first.start];
    let mut walker = included.iter().scan(0u64, |before, range| {
        let start = *before;
        *before = start.saturating_add(size(sizes, range));
        Some((start, *before, range))
    });
    let mut current = walker.next();
    for k in 1..n as u128 {
        let target = u64::try_from(u128::from(total) * k / n as u128).unwrap_or(u64::MAX);
        while let Some((_, end, _)) = current
            && end < target
        {
            current = walker.next();
        }
        let Some((start, _, range)) = current else { break };
        let oid = nearest(sizes, range, target.saturating_sub(start));
        let least = cuts[cuts.len() - 1];
        // A cut beyond the last sequence, or more cuts than sequences, would make empty ranges.
        if oid > least && oid < last.end {
            cuts.push(oid);
        }
    }
    cuts.push(last.end);
    cuts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

fn size(sizes: &impl ResidueCounts, range: &Range<u32>) -> u64 {
    sizes.residues_before(range.end).saturating_sub(sizes.residues_before(range.start))
}

/// Finds the OID, from the start of `range` to its end, before which the number of residues in the
/// range is nearest to `target`.
fn nearest(sizes: &impl ResidueCounts, range: &Range<u32>, target: u64) -> u32 {
    let base = sizes.residues_before(range.start);
    let before = |oid| sizes.residues_before(oid).saturating_sub(base);
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) < target {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    // `low` is the first OID that reaches the target; the previous one may be nearer.
    let over = before(low).saturating_sub(target);
    if low > range.start && target.saturating_sub(before(low - 1)) < over { low - 1 } else { low }
}

#[cfg(test)]
// The tests mean lists of one range, not lists of numbers.
#[allow(clippy::single_range_in_vec_init)]
mod tests {
    use super::*;

    struct Lengths(Vec<u64>);

    impl ResidueCounts for Lengths {
        fn residues_before(&self, oid: u32) -> u64 {
            self.0[..oid as usize].iter().sum()
        }
    }

    fn generate_lengths(count: usize) -> Lengths {
        let mut random = fastrand::Rng::with_seed(12345);
        Lengths((0..count).map(|_| random.u64(1..=900)).collect())
    }

    #[test]
    fn partitions_cover_everything_once_and_are_balanced() {
        let sizes = generate_lengths(1000);
        let longest = *sizes.0.iter().max().unwrap();
        for included in [vec![0..1000], vec![3..40, 41..42, 500..999]] {
            let total: u64 = included.iter().map(|range| size(&sizes, range)).sum();
            for n in [1, 2, 3, 7, 64] {
                let parts = cut_into_ranges(&sizes, &included, n);
                assert_eq!(parts.len(), n);
                assert_eq!(
                    (parts[0].start, parts[n - 1].end),
                    (included[0].start, included[included.len() - 1].end)
                );
                assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
                for part in &parts {
                    let clipped = crate::range::clip(&included, part);
                    let held: u64 = clipped.iter().map(|range| size(&sizes, range)).sum();
                    assert!(held.abs_diff(total / n as u64) <= longest, "{n}: {part:?} {held}");
                }
            }
        }
    }

    #[test]
    fn there_are_never_more_partitions_than_sequences() {
        let sizes = generate_lengths(3);
        assert_eq!(cut_into_ranges(&sizes, &[0..3], 50), [0..1, 1..2, 2..3]);
        assert!(cut_into_ranges(&sizes, &[], 5).is_empty());
        assert_eq!(cut_into_ranges(&sizes, &[0..3], 0), [0..3]);
        assert_eq!(cut_into_ranges(&Lengths(vec![0; 4]), &[0..4], 3), [0..4]);
    }

    /// Residue counts out of order, as from the offsets of a damaged index.
    struct Disorder;

    impl ResidueCounts for Disorder {
        fn residues_before(&self, oid: u32) -> u64 {
            u64::from(oid.wrapping_mul(2_654_435_761) % 1000)
        }
    }

    #[test]
    fn disorder_still_gives_a_cover() {
        let parts = cut_into_ranges(&Disorder, &[0..100, 200..300], 9);
        assert_eq!((parts[0].start, parts[parts.len() - 1].end), (0, 300));
        assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert!(parts.iter().all(|part| part.start < part.end));
    }
}
