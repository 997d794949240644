//! Words of a subject with instructions for bits.
#![allow(unsafe_code)]

use std::arch::x86_64::_pext_u64;

use super::scan::{Candidates, Places};
use super::table::Table;
use super::words::Words;
use crate::kernel::Avx512;

/// [`Candidates::look`] with BMI2.
pub(super) fn look(
    _: Avx512,
    candidates: &mut Candidates,
    tables: &[Table],
    words: &Words,
    bytes: &[u8],
    places: &mut Places,
) -> usize {
    #[target_feature(enable = "bmi2,popcnt,lzcnt")]
    fn inner(
        candidates: &mut Candidates,
        tables: &[Table],
        words: &Words,
        bytes: &[u8],
        places: &mut Places,
    ) -> usize {
        candidates.look(tables, words, bytes, places, |gathered, bases| {
            _pext_u64(bases, gathered.mask()) as usize
        })
    }
    // SAFETY: the proof says that the CPU has the instructions.
    unsafe { inner(candidates, tables, words, bytes, places) }
}
