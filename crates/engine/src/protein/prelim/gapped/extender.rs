//! Exact extensions in vectors of 8-bit or 16-bit numbers, with the available instructions.

use super::rows::{LastRow, Rows};
use super::{Direction, ExtensionCosts, Extent};
use crate::kernel::Kernel;
#[cfg(target_arch = "aarch64")]
use crate::kernel::Neon;
#[cfg(target_arch = "x86_64")]
use crate::kernel::{Avx2, Avx512};
use crate::scores::ScoreRows;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::xdrop::frames::Frames;
#[cfg(target_arch = "aarch64")]
use crate::xdrop::frames::neon;
#[cfg(target_arch = "x86_64")]
use crate::xdrop::frames::{avx2, avx512};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use fleetblast_seq::alphabet::SENTINEL;

/// Parameters that extensions with the same scores and costs share.
#[derive(Clone, Debug)]
pub(in crate::protein::prelim) enum Extender {
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512, Box<Frames>),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2, Box<Frames>),
    #[cfg(target_arch = "aarch64")]
    Neon(Neon, Box<Frames>),
    Rows(Rows),
}

impl Extender {
    /// Prepares extensions. Returns `None` if the scores or costs are too large for 8-bit or 16-bit
    /// numbers.
    pub fn new(scores: &ScoreRows, costs: ExtensionCosts, kernel: Kernel) -> Option<Extender> {
        match kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(proof) => {
                Some(Extender::Avx512(proof, Box::new(Frames::new(scores, costs, SENTINEL)?)))
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(proof) => {
                Some(Extender::Avx2(proof, Box::new(Frames::new(scores, costs, SENTINEL)?)))
            }
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon(proof) => {
                Some(Extender::Neon(proof, Box::new(Frames::new(scores, costs, SENTINEL)?)))
            }
            _ => Rows::new(scores, costs).map(Extender::Rows),
        }
    }

    /// Extends in two directions, to the end of the subject, which has sentinels around it. Returns
    /// `None` for a direction whose window or score gets too large. `row` is scratch memory.
    pub fn extend(&self, directions: [Direction; 2], row: &mut LastRow) -> [Option<Extent>; 2] {
        match self {
            #[cfg(target_arch = "x86_64")]
            Extender::Avx512(proof, frames) => avx512::extend(*proof, frames, directions),
            #[cfg(target_arch = "x86_64")]
            Extender::Avx2(proof, frames) => avx2::extend(*proof, frames, directions),
            #[cfg(target_arch = "aarch64")]
            Extender::Neon(proof, frames) => neon::extend(*proof, frames, directions),
            Extender::Rows(rows) => directions.map(|direction| rows.extend(direction, row)),
        }
    }
}
