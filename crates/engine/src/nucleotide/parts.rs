//! Divides a subject into parts that are searched one after another (`s_GetNextSubjectChunk`,
//! `blast_engine.c`): the overlapping segments of a long subject, and the ranges between hard
//! masks.

use std::ops::Range;

use crate::subjects::Masks;

/// Number of bases in a segment of a long subject.
const CHUNK: u32 = 5_000_000;
/// Number of bases that two neighbouring segments share.
const OVERLAP: u32 = 100;
/// Number of bases in a byte of a packed subject. A part starts at a whole byte.
const IN_BYTE: u32 = 4;

/// A range of a subject that is searched on its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Range of bases in the subject.
    pub range: Range<u32>,
    /// Unmasked ranges in which words are searched, counted from the start of the part; `None` if
    /// the database has no masks.
    pub regions: Option<Vec<Range<u32>>>,
}

/// Divides a subject of `length` bases into the parts that are searched one after another.
pub(super) fn divide_subject(length: u32, masks: Masks<'_>) -> Vec<Part> {
    let whole = 0..length;
    match masks {
        Masks::None => chunks(whole).map(|(range, _)| Part { range, regions: None }).collect(),
        Masks::Soft(stretches) => soft_masked_parts(&between(stretches, length), whole),
        Masks::Hard(stretches) => {
            let unmasked = between(stretches, length).into_iter();
            // Masks that overlap or touch leave nothing between them.
            let searched = unmasked.filter(|stretch| stretch.start < stretch.end);
            searched.flat_map(chunks).map(|(range, lead)| hard_masked_part(range, lead)).collect()
        }
    }
}

/// Divides a range into segments that start at whole bytes. Yields each segment with the number of
/// its bases (0 to 3) before the range.
fn chunks(stretch: Range<u32>) -> impl Iterator<Item = (Range<u32>, u32)> {
    let mut next = Some(stretch.start);
    std::iter::from_fn(move || {
        let lead = next? % IN_BYTE;
        let start = next? - lead;
        let is_last = u64::from(start) + u64::from(CHUNK) >= stretch.end.into();
        let end = if is_last { stretch.end } else { start + CHUNK };
        next = (!is_last).then(|| end - OVERLAP);
        Some((start..end, lead))
    })
}

/// Returns the ranges between masks, which ascend by their starts. Between two masks that overlap,
/// the returned range ends before its start.
fn between(stretches: &[Range<u32>], length: u32) -> Vec<Range<u32>> {
    let starts = std::iter::once(0).chain(stretches.iter().map(|stretch| stretch.end));
    let ends = stretches.iter().map(|stretch| stretch.start).chain([length]);
    starts.zip(ends).map(|(start, end)| start..end).collect()
}

/// Divides a subject into parts with their unmasked ranges. As in BLAST+, the ranges of a part
/// begin with the last range of the part before. Earlier ranges are left out even if they reach
/// into the overlap.
fn soft_masked_parts(unmasked: &[Range<u32>], whole: Range<u32>) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut from = 0;
    for (range, _) in chunks(whole) {
        let left = &unmasked[from..];
        let first = left.iter().take_while(|stretch| stretch.end < range.start).count();
        let touching = left[first..].iter().take_while(|stretch| stretch.start < range.end).count();
        let within = |place: u32| place.min(range.end).saturating_sub(range.start);
        let clipped = |stretch: &Range<u32>| within(stretch.start)..within(stretch.end);
        let regions: Vec<_> = left[first..first + touching].iter().map(clipped).collect();
        from = (from + first + touching).saturating_sub(1);
        if !regions.is_empty() {
            parts.push(Part { range, regions: Some(regions) });
        }
    }
    parts
}

/// Creates a part between hard masks, whose first `lead` bases are not searched.
fn hard_masked_part(range: Range<u32>, lead: u32) -> Part {
    let meant = lead..range.end - range.start;
    Part { range, regions: Some(std::iter::once(meant).collect()) }
}

#[cfg(test)]
// Lists of ranges with one element are intended.
#[allow(clippy::single_range_in_vec_init)]
mod tests {
    use super::*;

    fn ranges(length: u32, masks: Masks<'_>) -> Vec<Range<u32>> {
        divide_subject(length, masks).into_iter().map(|part| part.range).collect()
    }

    #[test]
    fn long_subjects_are_cut_into_chunks() {
        assert_eq!(ranges(5_000_000, Masks::None).len(), 1);
        let chunks = [0..5_000_000, 4_999_900..9_999_900, 9_999_800..10_000_001];
        assert_eq!(ranges(10_000_001, Masks::None), chunks);
    }

    #[test]
    fn soft_masks_part_regions() {
        // An empty mask also divides the subject.
        let masks = [10..20, 30..30, 4_999_950..5_000_010];
        let parts = divide_subject(5_000_100, Masks::Soft(&masks));
        assert_eq!(parts[0].regions.as_deref(), Some(&[0..10, 20..30, 30..4_999_950][..]));
        assert_eq!(parts[1].range, 4_999_900..5_000_100);
        assert_eq!(parts[1].regions.as_deref(), Some(&[0..50, 110..200][..]));
        let short = [4_999_950..4_999_960, 4_999_970..4_999_980];
        let parts = super::divide_subject(5_000_100, Masks::Soft(&short));
        assert_eq!(
            parts[1].regions.as_deref(),
            Some(&[80..200][..]),
            "BLAST+ goes on from the last"
        );
        let without = super::divide_subject(8, Masks::Soft(&[]));
        assert!(matches!(without[0].regions.as_deref(), Some([all]) if *all == (0..8)));
    }

    #[test]
    fn hard_masks_part_subjects() {
        let found = divide_subject(100, Masks::Hard(&[0..7, 40..43, 42..43, 90..100]));
        let part = |range, meant| Part { range, regions: Some(std::iter::once(meant).collect()) };
        assert_eq!(found, [part(4..40, 3..36), part(40..90, 3..50)]);
    }
}
