//! Gapped extensions with an X-drop, with rows in vectors. The score-only pass
//! (`Blast_SemiGappedAlign`, `blast_gapalign.c`) and the traceback (`ALIGN_EX`) share this code.
//! The traceback also records how it reached each cell.
//!
//! Rows are residues of the query, columns are residues of the subject, and a window of live
//! columns moves along.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(dead_code))]
pub(crate) mod frames;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
pub(crate) mod traced;
#[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(dead_code))]
mod window;

use crate::kernel::Kernel;
use crate::scores::{RowNumber, ScoreRows};

pub(crate) use self::window::{Chunk, LANES, Window};

/// Score of dropped cells. It is low enough never to win, and high enough that sums do not
/// overflow.
pub(crate) const NEVER: i32 = i32::MIN / 2;

/// Mask of the lower two bits of a traceback step, which say how the cell was reached.
pub(crate) const OP_MASK: u8 = 3;
pub(crate) const SUBSTITUTION: u8 = 0;
pub(crate) const GAP_IN_SUBJECT: u8 = 1;
pub(crate) const GAP_IN_QUERY: u8 = 2;
/// Bit of a traceback step: the gap in the subject that continues below this cell was opened
/// above it.
pub(crate) const EXTENDS_GAP_IN_SUBJECT: u8 = 4;
/// Bit of a step: the gap in the query that continues to the right of this cell was opened to the
/// left of it.
pub(crate) const EXTENDS_GAP_IN_QUERY: u8 = 8;

/// Costs of gaps: a gap of length `l` costs `open + l * extend`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GapCosts {
    pub open: i32,
    pub extend: i32,
}

/// Scores, gap costs and X-drop of one kind of alignment, all in the same units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scheme<'a> {
    pub scores: &'a ScoreRows,
    pub gaps: GapCosts,
    pub x_drop: i32,
}

/// Best score of an extension, and the numbers of query and subject residues that it uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub score: i32,
    pub query: usize,
    pub subject: usize,
}

/// A receiver of the steps by which cells were reached.
pub(crate) trait StepRecorder {
    /// Starts the steps of an extension with the row before the first query residue, in which
    /// `cells` cells are reached by a gap.
    fn start(&mut self, cells: usize);
    /// Starts a row at column `first`.
    fn start_row(&mut self, first: usize);
    /// Appends the steps to the next [`LANES`] columns of the row, which `steps` writes.
    fn append(&mut self, steps: impl FnOnce(&mut [u8; LANES]));
}

/// A receiver for the score-only pass, which records nothing.
impl StepRecorder for () {
    #[inline(always)]
    fn start(&mut self, _: usize) {}

    #[inline(always)]
    fn start_row(&mut self, _: usize) {}

    #[inline(always)]
    fn append(&mut self, _: impl FnOnce(&mut [u8; LANES])) {}
}

/// Finds the best extension over a prefix of `query` and a prefix of `subject`. The last residue of
/// `subject` is read, but not aligned. Neither sequence may be empty. Returns `None` if the kernel
/// has no vector instructions.
pub(crate) fn extend(
    kernel: Kernel,
    query: &[RowNumber],
    subject: &[u8],
    scheme: &Scheme<'_>,
    window: &mut Window,
    recorder: &mut impl StepRecorder,
) -> Option<Extent> {
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(proof) => {
            Some(avx512::extend(proof, query, subject, scheme, window, recorder))
        }
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(proof) => Some(avx2::extend(proof, query, subject, scheme, window, recorder)),
        #[cfg(target_arch = "aarch64")]
        Kernel::Neon(proof) => Some(neon::extend(proof, query, subject, scheme, window, recorder)),
        _ => None,
    }
}
