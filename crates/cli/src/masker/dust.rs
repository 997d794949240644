//! DUST of a whole sequence, without its `N`s (`GetDustMasks_SkipNs`, dust_mask_app.cpp).

use std::ops::Range;

use fleetblast_seq::dust::{DustParams, PartMasker};
use fleetblast_seq::nucleotide::{N, blastna};

/// Finds the low-complexity ranges of bases in ncbi4na. `N`s at both ends and runs of more than
/// `window` of them are masked, and divide the sequence.
pub(super) fn mask_bases(bases: &[u8], window: u32, params: &DustParams) -> Vec<Range<u32>> {
    let letters: Vec<u8> = bases.iter().map(|&code| blastna::from_ncbi4na(code)).collect();
    let mut masker = PartMasker::new(params);
    let mut masks = Vec::new();
    let mut start = 0;
    for run in runs_of_n(bases, window) {
        let part = start..run.start;
        start = run.end;
        // BLAST+ joins a run only with a mask of the part before it.
        match mask_part(&letters, part, &mut masker, params.linker, &mut masks) {
            true => join(&mut masks, run, params.linker),
            false => masks.push(run),
        }
    }
    if start < letters.len() as u32 {
        mask_part(&letters, start..letters.len() as u32, &mut masker, params.linker, &mut masks);
    }
    masks
}

/// Masks a part, and joins its first mask with the mask before. Returns whether the part has masks.
fn mask_part(
    letters: &[u8],
    part: Range<u32>,
    masker: &mut PartMasker,
    linker: u32,
    masks: &mut Vec<Range<u32>>,
) -> bool {
    let found = masker.mask(&letters[part.start as usize..part.end as usize]);
    let has_masks = !found.is_empty();
    let found = found.into_iter().map(|mask| mask.start + part.start..mask.end + part.start);
    for (number, mask) in found.enumerate() {
        match number {
            0 => join(masks, mask, linker),
            _ => masks.push(mask),
        }
    }
    has_masks
}

/// Adds a mask, or extends the last one if it ends exactly `linker` bases before.
fn join(masks: &mut Vec<Range<u32>>, mask: Range<u32>, linker: u32) {
    match masks.last_mut() {
        Some(last) if (last.end - 1).wrapping_add(linker) == mask.start => last.end = mask.end,
        _ => masks.push(mask),
    }
}

/// Returns the runs of `N` at both ends, and those of more than `most`.
fn runs_of_n(bases: &[u8], most: u32) -> Vec<Range<u32>> {
    let mut runs = Vec::new();
    let mut at = 0;
    for run in bases.chunk_by(|a, b| (*a == N) == (*b == N)) {
        let (start, end) = (at, at + run.len() as u32);
        at = end;
        let counts = start == 0 || end as usize == bases.len() || end - start > most;
        if run[0] == N && counts {
            runs.push(start..end);
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_and_ends_count() {
        let bases = [15, 15, 1, 2, 15, 15, 15, 4, 15, 8, 15];
        assert_eq!(runs_of_n(&bases, 2), [0..2, 4..7, 10..11]);
        assert_eq!(runs_of_n(&bases, 3), [0..2, 10..11]);
        assert_eq!(runs_of_n(&[], 3), []);
    }
}
