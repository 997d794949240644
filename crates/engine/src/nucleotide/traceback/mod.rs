//! Computes the final alignments of a query with a subject (`Blast_TracebackFromHSPList`,
//! `blast_traceback.c`).

mod ahead;
mod dynamic;
mod endpoints;
mod reduce;
mod rescore;
mod start;
#[cfg(test)]
mod tests;
mod ungapped;
mod window;

use std::sync::{Arc, OnceLock};

use fleetblast_seq::frame::{Frame, Strand};

use self::ahead::Ahead;
pub(crate) use self::dynamic::ByteTracer;
use self::dynamic::DynamicScratch;
pub(crate) use self::start::{near_hsps, reach};
use self::window::SubjectWindow;
use super::greedy::{self, GreedyScratch, Packing, Scoring};
use crate::containment::ContainmentTree;
use crate::hits::{Adjustment, Alignment, Edit, EditOp, PrelimHsp};
use crate::kernel::Kernel;
use crate::order::{self, Bounds, compare_hsps};
use crate::scores::{RowNumber, ScoreRows, rows_of_letters};

/// The algorithm for alignments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aligner {
    /// By greedy extension; the alignments are scored afterwards.
    Greedy,
    /// By dynamic programming.
    Dynamic,
}

/// Parameters of the traceback, the same for all queries and subjects.
#[derive(Clone, Debug)]
pub(crate) struct Traceback {
    pub aligner: Aligner,
    pub scoring: Scoring,
    /// Scores between the blastna codes.
    pub scores: ScoreRows,
    /// Parameters for dynamic programming in vectors, where bytes suffice.
    pub vectors: ByteTracer,
    /// Final X-drop.
    pub x_drop: i32,
    /// Least percentage of identical columns (`-perc_identity`).
    pub perc_identity: f64,
    /// Number of diagonals from which on an HSP is too far from another to be contained in it; 0
    /// for no such limit.
    pub separation: u32,
}

/// A strand of a query, prepared for the traceback.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    /// Blastna letters for scoring, masked ones as N.
    scored: Arc<[u8]>,
    /// Letters without masks, for counting identities.
    unmasked: Arc<[u8]>,
    /// The scored letters, packed.
    packed: Packing,
    /// Score rows of the scored letters, forwards and backwards. They are made on demand, since
    /// those of a genome are large.
    rows: OnceLock<[Vec<RowNumber>; 2]>,
    /// Least score of an alignment.
    cutoff: i32,
}

impl Context {
    /// Prepares a whole context. `scored` are the letters for scoring, `unmasked` those for
    /// counting identities. `cutoff` is the gapped cut-off.
    pub fn new(scored: Arc<[u8]>, unmasked: Arc<[u8]>, cutoff: i32) -> Context {
        let packed = Packing::whole(&scored);
        Context { scored, unmasked, packed, rows: OnceLock::new(), cutoff }
    }

    /// Returns the score rows of the scored letters, forwards and backwards.
    fn rows(&self) -> [&[RowNumber]; 2] {
        let rows = self.rows.get_or_init(|| {
            let rows = rows_of_letters(&self.scored);
            let back = rows.iter().rev().copied().collect();
            [rows, back]
        });
        rows.each_ref().map(Vec::as_slice)
    }
}

/// Bit score and e-value of a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Evaluation {
    pub evalue: f64,
    pub bit_score: f64,
}

/// Work space of a thread.
#[derive(Debug)]
pub(crate) struct Scratch {
    kernel: Kernel,
    greedy: GreedyScratch,
    /// The subject in the form that the greedy aligner reads.
    packed: Packing,
    dynamic: DynamicScratch,
    /// A containment tree for each context.
    trees: Vec<ContainmentTree>,
    window: SubjectWindow,
}

impl Scratch {
    /// Creates an empty work space for a kernel.
    pub fn new(kernel: Kernel) -> Scratch {
        Scratch {
            kernel,
            greedy: GreedyScratch::default(),
            packed: Packing::default(),
            dynamic: DynamicScratch::new(kernel),
            trees: Vec::new(),
            window: SubjectWindow::default(),
        }
    }

    /// Returns whether a longer subject might have changed a greedy alignment since the last call.
    pub fn take_met_subject_end(&mut self) -> bool {
        std::mem::take(&mut self.greedy.met_subject_end)
    }

    /// Prepares for a subject of `length` letters.
    fn start(&mut self, length: usize) {
        self.window.start(length);
        self.packed.start(length);
    }

    /// Empties the trees of the contexts.
    fn clear_trees(&mut self, contexts: usize) {
        self.trees.iter_mut().for_each(ContainmentTree::clear);
        if self.trees.len() < contexts {
            self.trees.resize_with(contexts, ContainmentTree::new);
        }
    }
}

/// An alignment in progress.
#[derive(Clone, Debug, PartialEq)]
struct Hsp {
    context: u8,
    score: i32,
    bounds: Bounds,
    edits: Vec<Edit>,
}

impl order::Hsp for Hsp {
    fn bounds(&self) -> Bounds {
        self.bounds
    }
    fn score(&self) -> i32 {
        self.score
    }
}

impl Traceback {
    /// Aligns the contexts of a query with a subject, from preliminary HSPs in ORDER-S. Returns the
    /// alignments in ORDER-S.
    ///
    /// The subject is in blastna letters, at least within the [`reach`] of the HSPs. `evaluate`
    /// returns the bit score and e-value of a score in a context.
    pub fn align(
        &self,
        contexts: &[Context],
        subject: &[u8],
        hsps: &[PrelimHsp],
        evaluate: impl Fn(u8, i32) -> Evaluation,
        scratch: &mut Scratch,
    ) -> Vec<Alignment> {
        scratch.start(subject.len());
        let mut made = self.trace(contexts, subject, hsps, scratch);
        let whole = endpoints::purge_keeping_tails(&mut made);
        let first = if self.aligner == Aligner::Greedy { 0 } else { whole };
        let mut rescored = made.split_off(first);
        rescored.retain_mut(|hsp| {
            let Context { scored, unmasked, cutoff, .. } = &contexts[usize::from(hsp.context)];
            rescore::rescore(hsp, scored, subject, &self.scoring, &self.scores, *cutoff)
                && self.is_similar(hsp.bounds, &hsp.edits, unmasked, subject)
        });
        made.append(&mut rescored);
        endpoints::purge(&mut made);
        made.sort_by(compare_hsps);
        scratch.clear_trees(contexts.len());
        made.retain(|hsp| {
            let tree = &mut scratch.trees[usize::from(hsp.context)];
            let keep = !tree.encloses_near(&hsp.bounds, hsp.score, self.separation);
            if keep {
                tree.add(&hsp.bounds, hsp.score);
            }
            keep
        });
        made.into_iter().map(|hsp| finished(hsp, &evaluate)).collect()
    }

    /// Aligns the HSPs that no earlier alignment contains. The threads of the current pool align
    /// many of them ahead of their turn.
    fn trace(
        &self,
        contexts: &[Context],
        subject: &[u8],
        hsps: &[PrelimHsp],
        scratch: &mut Scratch,
    ) -> Vec<Hsp> {
        scratch.clear_trees(contexts.len());
        let ahead = Ahead::new(scratch.kernel);
        let mut made = Vec::new();
        for hsps in hsps.chunks(ahead.hsps_at_once()) {
            let mut early = ahead.align(self, contexts, subject, hsps, scratch);
            for (at, prelim) in hsps.iter().enumerate() {
                let number = usize::from(prelim.context);
                if self.is_enclosed(&scratch.trees[number], prelim) {
                    continue;
                }
                let hsp = match early.get_mut(at).and_then(Option::take) {
                    Some(hsp) => Some(hsp),
                    None => self.alignment(prelim, &contexts[number], subject, scratch),
                };
                if let Some(hsp) = hsp {
                    scratch.trees[number].add(&hsp.bounds, hsp.score);
                    made.push(hsp);
                }
            }
        }
        made
    }

    /// Returns whether an alignment in the tree contains a preliminary HSP.
    fn is_enclosed(&self, tree: &ContainmentTree, prelim: &PrelimHsp) -> bool {
        tree.encloses_near(&order::Hsp::bounds(prelim), prelim.score, self.separation)
    }

    /// Aligns an HSP. Returns `None` if there is nothing to align, or if the alignment has too few
    /// identical columns.
    fn alignment(
        &self,
        prelim: &PrelimHsp,
        context: &Context,
        subject: &[u8],
        scratch: &mut Scratch,
    ) -> Option<Hsp> {
        let (q_start, s_start) = start::revised(&context.scored, subject, prelim, &self.scores)?;
        // If the only pair of true letters is the last one, the start lies after it. Nothing scores
        // more than 0 there.
        let is_beyond =
            q_start as usize >= context.scored.len() || s_start as usize >= subject.len();
        let hsp = match self.aligner {
            Aligner::Greedy => self.greedy(prelim, context, subject, q_start, s_start, scratch),
            Aligner::Dynamic if is_beyond => return None,
            Aligner::Dynamic => self.dynamic(prelim, context, subject, q_start, s_start, scratch),
        };
        // Greedy alignments are checked once their score is known.
        let is_similar = self.aligner == Aligner::Greedy
            || self.is_similar(hsp.bounds, &hsp.edits, &context.unmasked, subject);
        is_similar.then_some(hsp)
    }

    fn greedy(
        &self,
        prelim: &PrelimHsp,
        context: &Context,
        subject: &[u8],
        q_start: u32,
        s_start: u32,
        scratch: &mut Scratch,
    ) -> Hsp {
        let query = &context.scored[..];
        let part = start::near(q_start, query.len() as u32, s_start, subject.len() as u32);
        let range = part.start as usize..part.end as usize;
        scratch.packed.pack(subject, range.clone());
        let extender = greedy::Extender::new(self.scoring, self.x_drop, scratch.kernel);
        let mut traced = extender.align(
            context.packed.all(),
            scratch.packed.part(range),
            q_start,
            s_start - part.start,
            &mut scratch.greedy,
        );
        let bounds = moved(traced.bounds, part.start);
        reduce::reduce_gaps(&mut traced.edits, bounds, query, subject);
        Hsp { context: prelim.context, score: traced.score, bounds, edits: traced.edits }
    }

    fn dynamic(
        &self,
        prelim: &PrelimHsp,
        context: &Context,
        subject: &[u8],
        q_start: u32,
        s_start: u32,
        scratch: &mut Scratch,
    ) -> Hsp {
        let (q_len, s_len) = (context.scored.len() as u32, subject.len() as u32);
        let part = start::near(q_start, q_len, s_start, s_len);
        scratch.window.load(subject, part.clone());
        let rows = context.rows();
        let s_seed = (s_start - part.start) as usize;
        let Scratch { kernel, window, dynamic, .. } = scratch;
        let start = (q_start as usize, s_seed);
        let traced = dynamic::align(self, *kernel, rows, window, start, dynamic);
        let bounds = moved(traced.bounds, part.start);
        Hsp { context: prelim.context, score: traced.score, bounds, edits: traced.edits }
    }

    /// Returns whether enough columns are identical. Letters are compared without masks, ambiguous
    /// or not.
    fn is_similar(&self, bounds: Bounds, edits: &[Edit], query: &[u8], subject: &[u8]) -> bool {
        // Every alignment passes; skip the count.
        if self.perc_identity <= 0.0 {
            return true;
        }
        let (mut q, mut s) = (bounds.q_start as usize, bounds.s_start as usize);
        let (mut identical, mut columns) = (0, 0);
        for edit in edits {
            let len = edit.len as usize;
            columns += len;
            match edit.op {
                EditOp::Substitution => {
                    let pairs = query[q..].iter().zip(&subject[s..]).take(len);
                    identical += pairs.filter(|(a, b)| a == b).count();
                    q += len;
                    s += len;
                }
                EditOp::GapInSubject => q += len,
                EditOp::GapInQuery => s += len,
            }
        }
        identical as f64 * 100.0 >= columns as f64 * self.perc_identity
    }
}

/// Converts a box from positions in a part of the subject to positions in the whole subject. `by`
/// is the start of the part.
fn moved(bounds: Bounds, by: u32) -> Bounds {
    Bounds { s_start: bounds.s_start + by, s_end: bounds.s_end + by, ..bounds }
}

fn finished(hsp: Hsp, evaluate: &impl Fn(u8, i32) -> Evaluation) -> Alignment {
    let Evaluation { evalue, bit_score } = evaluate(hsp.context, hsp.score);
    let Bounds { q_start, q_end, s_start, s_end } = hsp.bounds;
    Alignment {
        score: hsp.score,
        bit_score,
        evalue,
        linked: 1,
        query: q_start..q_end,
        subject: s_start..s_end,
        context: hsp.context,
        frame: Frame::Strand(Strand::Plus),
        edits: hsp.edits,
        computation_index: 0,
        pattern_occurrence: 0,
        adjustment: Adjustment::None,
        positives: None,
        stored: None,
    }
}
