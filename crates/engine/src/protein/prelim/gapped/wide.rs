//! Exact extensions that `Extender` cannot do, because their windows or scores are too large: rows
//! of any length, in vectors of 32-bit numbers.

use super::{Direction, ExtensionCosts, Extent};
use crate::kernel::Kernel;
use crate::scores::ScoreRows;
use crate::xdrop::{self, Scheme, Window};

/// Parameters that extensions with the same scores and costs share.
#[derive(Clone, Debug)]
pub(in crate::protein::prelim) struct Wide {
    kernel: Kernel,
    scores: ScoreRows,
    costs: ExtensionCosts,
}

impl Wide {
    /// Prepares extensions.
    pub(in crate::protein::prelim) fn new(
        scores: &ScoreRows,
        costs: ExtensionCosts,
        kernel: Kernel,
    ) -> Wide {
        Wide { kernel, scores: scores.clone(), costs }
    }

    /// Extends over at most `len` residues of the subject. `window` is scratch memory. Returns
    /// `None` if the kernel has no vector instructions.
    pub(in crate::protein::prelim) fn extend(
        &self,
        direction: Direction,
        len: usize,
        window: &mut Window,
    ) -> Option<Extent> {
        let Direction { query, subject, at } = direction;
        if query.is_empty() || len == 0 {
            return Some(Extent::default());
        }
        let ExtensionCosts { open_extend, extend, x_drop } = self.costs;
        let gaps = xdrop::GapCosts { open: open_extend - extend, extend };
        let scheme = Scheme { scores: &self.scores, gaps, x_drop };
        xdrop::extend(self.kernel, query, &subject[at..=at + len], &scheme, window, &mut ())
    }
}
