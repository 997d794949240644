//! The scan of a subject with BMI2 instructions.
#![allow(unsafe_code)]

use std::arch::x86_64::_pext_u64;

use super::diagonals::Diagonals;
use super::finder::Finder;
use super::scan::{Candidates, ScanPositions};
use crate::kernel::Avx512;

/// Scans these positions of the subject with BMI2.
pub(super) fn scan<D: Diagonals>(
    _: Avx512,
    finder: &mut Finder<'_, D>,
    places: ScanPositions,
    candidates: &mut Candidates,
) {
    #[target_feature(enable = "bmi2,popcnt,lzcnt")]
    fn inner<D: Diagonals>(
        finder: &mut Finder<'_, D>,
        places: ScanPositions,
        candidates: &mut Candidates,
    ) {
        finder.scan_with(places, candidates, |gathered, bases| {
            _pext_u64(bases, gathered.mask()) as usize
        })
    }
    // SAFETY: the proof says that the CPU has the instructions.
    unsafe { inner(finder, places, candidates) }
}
