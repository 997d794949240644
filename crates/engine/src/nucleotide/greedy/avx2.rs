//! Rows with AVX2, vectorised by the compiler.
#![allow(unsafe_code)]

use super::linear::Rows;
use super::pairs::OutwardSequences;
use super::rows::Portable;
use super::{BestEnd, Scoring};
use crate::kernel::Avx2;

/// Runs [`Rows::extend`], compiled for AVX2.
pub(super) fn extend<const BACK: bool>(
    _: Avx2,
    rows: &mut Rows,
    sequences: &OutwardSequences<'_, BACK>,
    scoring: &Scoring,
    x_drop: i32,
    keeps: bool,
) -> BestEnd {
    #[target_feature(enable = "avx2")]
    fn inner<const BACK: bool>(
        rows: &mut Rows,
        sequences: &OutwardSequences<'_, BACK>,
        scoring: &Scoring,
        x_drop: i32,
        keeps: bool,
    ) -> BestEnd {
        rows.extend(Portable, sequences, scoring, x_drop, keeps)
    }
    // SAFETY: the proof says that the CPU has the instructions.
    unsafe { inner(rows, sequences, scoring, x_drop, keeps) }
}
