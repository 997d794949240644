//! The scan of a subject with BMI2 instructions.
#![allow(unsafe_code)]

use std::arch::x86_64::_pext_u64;

use super::scan::{Candidates, ScanPositions};
use super::subject_scan::{SeedReceiver, SubjectScan};
use crate::kernel::Avx512;

/// Does the work of [`SubjectScan::scan`] with BMI2.
pub(super) fn scan<R: SeedReceiver>(
    _: Avx512,
    scan: SubjectScan<'_>,
    places: ScanPositions,
    candidates: &mut Candidates,
    receiver: &mut R,
) -> ScanPositions {
    #[target_feature(enable = "bmi2,popcnt,lzcnt")]
    fn inner<R: SeedReceiver>(
        scan: SubjectScan<'_>,
        places: ScanPositions,
        candidates: &mut Candidates,
        receiver: &mut R,
    ) -> ScanPositions {
        scan.scan_with(places, candidates, receiver, |gathered, bases| {
            _pext_u64(bases, gathered.mask()) as usize
        })
    }
    // SAFETY: the proof says that the CPU has the instructions.
    unsafe { inner(scan, places, candidates, receiver) }
}
