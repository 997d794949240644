//! Aligns many HSPs of a subject ahead of their turn, on all threads of the current pool.
//!
//! An HSP is not aligned if an earlier alignment contains it. That is known only when its turn
//! comes. An HSP that lies in an earlier preliminary HSP is likely to be contained, so it waits for
//! its turn. The other HSPs are aligned ahead, a few of them in vain.

use rayon::prelude::*;

use super::{Context, Hsp, Scratch, Traceback};
use crate::containment::ContainmentTree;
use crate::hits::PrelimHsp;
use crate::kernel::Kernel;
use crate::order;
use crate::scratch_pool::ScratchPool;

/// Least number of HSPs that threads share.
const MIN_HSPS: usize = 64;
/// Number of HSPs for each thread that are aligned before their turns come.
const HSPS_PER_THREAD: usize = 64;

/// The threads that align ahead, with their work spaces.
pub(super) struct Ahead {
    threads: usize,
    kernel: Kernel,
    scratches: ScratchPool<Scratch>,
}

impl Ahead {
    /// Prepares for a subject.
    pub fn new(kernel: Kernel) -> Ahead {
        let scratches = ScratchPool::default();
        Ahead { threads: rayon::current_num_threads(), kernel, scratches }
    }

    /// Returns the number of HSPs to pass to [`Ahead::align`] at once.
    pub fn hsps_at_once(&self) -> usize {
        HSPS_PER_THREAD * self.threads
    }

    /// Aligns HSPs ahead of their turn. The trees of `scratch` have the alignments of earlier HSPs.
    /// The result has the alignment of each HSP, or `None` if it must be aligned in its turn; it is
    /// empty if no HSP is aligned ahead.
    pub fn align(
        &self,
        traceback: &Traceback,
        contexts: &[Context],
        subject: &[u8],
        hsps: &[PrelimHsp],
        scratch: &mut Scratch,
    ) -> Vec<Option<Hsp>> {
        if self.threads == 1 || hsps.len() < MIN_HSPS {
            return Vec::new();
        }
        let mut earlier: Vec<ContainmentTree> = Vec::new();
        earlier.resize_with(contexts.len(), ContainmentTree::new);
        let mut is_distinct = |prelim: &PrelimHsp| {
            let number = usize::from(prelim.context);
            let is_enclosed = traceback.is_enclosed(&scratch.trees[number], prelim)
                || traceback.is_enclosed(&earlier[number], prelim);
            earlier[number].add(&order::Hsp::bounds(prelim), prelim.score);
            !is_enclosed
        };
        let chosen: Vec<bool> = hsps.iter().map(&mut is_distinct).collect();
        let align = |(prelim, is_chosen): (&PrelimHsp, &bool)| {
            is_chosen.then(|| self.alignment(traceback, contexts, subject, prelim)).flatten()
        };
        // One at a time: the best come first and take longest.
        let early = hsps.par_iter().zip(&chosen).with_max_len(1).map(align).collect();
        scratch.greedy.met_subject_end |= self.scratches.any(|used| used.greedy.met_subject_end);
        early
    }

    fn alignment(
        &self,
        traceback: &Traceback,
        contexts: &[Context],
        subject: &[u8],
        prelim: &PrelimHsp,
    ) -> Option<Hsp> {
        let mut pooled = self.scratches.acquire();
        let scratch = pooled.scratch.get_or_insert_with(|| {
            let mut scratch = Scratch::new(self.kernel);
            scratch.start(subject.len());
            scratch
        });
        traceback.alignment(prelim, &contexts[usize::from(prelim.context)], subject, scratch)
    }
}
