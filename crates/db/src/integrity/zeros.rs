//! Finds long runs of zeros in sequences. A page that was never written to disk reads as zeros.
//!
//! Zero is a residue (`-`) and four bases (`AAAA`), so zeros are valid. But protein databases have
//! none, and a genome has few runs of thousands of A.

use crate::Bases;

/// Minimal length in residues of a long run of `-`.
const RESIDUES: usize = 16;
/// Minimal length in bytes of a long run of A: the smallest write of a disk.
const BYTES: usize = 512;
/// Number of bases in a byte.
const PER_BYTE: usize = 4;

/// A run of zeros in a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ZeroRun {
    /// Position of the first zero in the sequence, from 0.
    pub(super) start: usize,
    /// Number of residues or bases.
    pub(super) length: usize,
}

/// Finds the first long run of residues `-`.
pub(super) fn find_in_residues(residues: &[u8]) -> Option<ZeroRun> {
    long_run(residues, RESIDUES)
}

/// Finds the first long run of A. Skips runs with ambiguous bases, since any base can be stored for
/// them.
pub(super) fn find_in_bases(bases: &Bases<'_>) -> Option<ZeroRun> {
    let packed = bases.packed();
    let whole = packed.len().saturating_sub(1);
    let mut start = 0;
    while let Some(run) = long_run(&packed[start..whole], BYTES) {
        let (first, length) = ((start + run.start) * PER_BYTE, run.length * PER_BYTE);
        let is_ambiguous = |run: crate::Ambiguity| {
            (run.start as usize) < first + length && (run.start + run.length) as usize > first
        };
        if !bases.ambiguities().any(is_ambiguous) {
            return Some(ZeroRun { start: first, length });
        }
        start += run.start + run.length;
    }
    None
}

fn long_run(bytes: &[u8], least: usize) -> Option<ZeroRun> {
    let mut start = 0;
    while start + least <= bytes.len() {
        // A run that starts at or before the last nonzero byte of this window would contain it.
        match bytes[start..start + least].iter().rposition(|&byte| byte != 0) {
            Some(last) => start += last + 1,
            None => {
                let length = bytes[start..].iter().take_while(|&&byte| byte == 0).count();
                return Some(ZeroRun { start, length });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_runs_are_none() {
        let mut residues = vec![1; 100];
        residues[3..18].fill(0);
        assert_eq!(find_in_residues(&residues), None);
        residues[40..57].fill(0);
        assert_eq!(find_in_residues(&residues), Some(ZeroRun { start: 40, length: 17 }));
        residues[57..].fill(0);
        assert_eq!(find_in_residues(&residues), Some(ZeroRun { start: 40, length: 60 }));
        assert_eq!(find_in_residues(&[0; 15]), None);
    }

    #[test]
    fn bases_that_are_ambiguous_may_stand_as_a() {
        let mut packed = vec![0x1b; 2000];
        packed[1000..1600].fill(0);
        packed[1999] = 0;
        let bases = Bases::new(&packed, &[]);
        assert_eq!(find_in_bases(&bases), Some(ZeroRun { start: 4000, length: 2400 }));
        // N in base 4100.
        let bases = Bases::new(&packed, &[0, 0, 0, 1, 0xf0, 0, 0x10, 0x04]);
        assert_eq!(find_in_bases(&bases), None);
    }
}
