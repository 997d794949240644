//! Computes the preliminary hit of a query in a subject from its ungapped HSPs (rules 5.3–5.7;
//! facts from `BLAST_GetGappedScore` in `blast_gapalign.c`).

use std::mem;

use super::block::Part;
use super::chains;
use super::context::{self, ChunkContext};
use super::gapped::{self, Cell, Direction, Extender, ExtensionCosts, LastRow, MARGIN, Wide};
use super::loaded::{LONG_SUBJECT, LoadedSubject, LoadedSubjects};
use super::rescoring::Subject;
use super::ungapped::UngappedHsp;
use crate::containment::ContainmentTree;
use crate::filters::{self, QueryContexts, WrittenQuery};
use crate::hits::{PrelimHit, PrelimHsp};
use crate::kernel::Kernel;
use crate::lists;
use crate::lists::linking::{self as even, uneven};
use crate::order::{self, Bounds};
use crate::params::{DatabaseTotals, ProteinParams, truncate_to_i32};
use crate::protein::linking::{self, LinkingRule};
use crate::scores::ScoreRows;
use crate::xdrop::Window;
use fleetblast_seq::frame::Frame;
use fleetblast_stats::karlin::KarlinParameters;

/// Number of residues scored to find the start of a gapped extension.
const START_WINDOW: usize = 11;
/// Share of the cut-off of gapped HSPs. Approximate extensions are tried if all ungapped scores are
/// below it, and suffice if no approximate score is between it and the cut-off.
const RESTRICTED_SHARE: f64 = 0.68;
/// Largest e-value limit (`-evalue`) with which approximate extensions are tried.
const RESTRICTED_MAX_EVALUE: f64 = 10.0;
/// Number of residues by which an extension in a long subject may exceed the rest of the query.
const LONG_SUBJECT_GAPS: usize = 3_000;

/// Scratch memory of the gapped stage, one per thread.
#[derive(Debug, Default)]
pub(super) struct GappedScratch {
    pub loaded: LoadedSubjects,
    cells: Vec<Cell>,
    row: LastRow,
    window: Window,
    tree: ContainmentTree,
    /// HSPs in the current part of the subject.
    hsps: Vec<PrelimHsp>,
    /// HSPs of a strand in earlier parts of the current frame of the subject.
    gathered: Vec<PrelimHsp>,
    /// HSPs of a strand in earlier frames of the subject.
    of_frames: Vec<PrelimHsp>,
    /// HSPs of earlier strands of a chunk.
    finished: Vec<PrelimHsp>,
}

impl GappedScratch {
    /// Ends a frame of the subject: adds its HSPs of a strand to those of earlier frames.
    pub fn finish_frame(&mut self) {
        self.of_frames.append(&mut self.gathered);
    }

    /// Creates the preliminary hit of a chunk in a subject, from the HSPs of all its contexts.
    /// Returns `None` if no HSP is left.
    pub fn hit(&mut self, oid: u32) -> Option<PrelimHit> {
        if self.finished.is_empty() {
            return None;
        }
        self.finished.sort_by(order::compare_hsps);
        let evalue = order::best_evalue(self.finished.iter().map(|hsp| hsp.evalue));
        let hit = PrelimHit { oid, evalue, hsps: self.finished.clone() };
        self.finished.clear();
        Some(hit)
    }
}

/// Parameters of the gapped stage.
#[derive(Debug)]
pub(super) struct GappedStage {
    /// Extensions in vectors of 8-bit or 16-bit numbers; `None` if vectors are off, or if scores or
    /// costs are too large for these numbers.
    extender: Option<Extender>,
    /// Extensions in vectors of 32-bit numbers, for those that `extender` cannot do; `None` if
    /// vectors are off.
    wide: Option<Wide>,
    costs: ExtensionCosts,
    restricted: bool,
    /// Whether an ungapped HSP is dropped if no chain of HSPs that begins with it can reach the
    /// cut-off.
    filters_chains: bool,
    ungapped: bool,
    subject_besthit: bool,
    karlin_evalues: bool,
    linking: Option<LinkingRule>,
    translates: Translates,
    evalue_limit: f64,
    /// Least coverage of the query (`-qcov_hsp_perc`). It counts here for ungapped searches only,
    /// which have no later stage.
    qcov_hsp_perc: f64,
    db_residues: i64,
    stored_residues: i64,
}

/// Flags: whether queries are translated, and whether subjects are.
#[derive(Clone, Copy, Debug)]
struct Translates {
    query: bool,
    subject: bool,
}

impl GappedStage {
    /// Creates the stage. `kernel` selects the instructions of extensions; `None` switches vectors
    /// off.
    pub fn new(
        params: &ProteinParams,
        totals: &DatabaseTotals,
        scores: &ScoreRows,
        kernel: Option<Kernel>,
    ) -> GappedStage {
        let scoring = &params.scoring;
        // An ungapped search does not use gap costs, which may be any numbers.
        let (gap_open, extend) = match params.common.ungapped {
            true => (0, 1),
            false => (scoring.gap_open, scoring.gap_extend),
        };
        let open_extend = gap_open + extend;
        let x_drop = truncate_to_i32(
            params.common.xdrop_gapped_bits * std::f64::consts::LN_2 / params.gapped_lambda(),
        );
        let costs = ExtensionCosts { open_extend, extend, x_drop: x_drop.max(open_extend) };
        GappedStage {
            extender: kernel.and_then(|kernel| Extender::new(scores, costs, kernel)),
            wide: kernel.map(|kernel| Wide::new(scores, costs, kernel)),
            costs,
            restricted: params.tries_restricted_gaps
                && params.common.evalue <= RESTRICTED_MAX_EVALUE,
            filters_chains: params.filters_chains,
            ungapped: params.common.ungapped,
            subject_besthit: params.common.subject_besthit,
            karlin_evalues: params.common.ungapped || !params.finite_size,
            linking: params.linking_rule(),
            translates: Translates {
                query: params.query_translation.is_some(),
                subject: params.subject_translation.is_some(),
            },
            evalue_limit: context::evalue_limit(params),
            qcov_hsp_perc: params.common.qcov_hsp_perc,
            db_residues: totals.residues,
            stored_residues: totals.stored_residues,
        }
    }

    /// Returns the length of a translated subject of this many bases for statistics, in residues.
    /// It is the length of the last frame or, where HSPs are linked, a third of the bases.
    pub fn translated_length(&self, bases: u32) -> usize {
        let first = if self.linking.is_some() { 0 } else { 2 };
        bases.saturating_sub(first) as usize / 3
    }

    /// Finds the HSPs of a strand in the loaded part of a subject. Adds them to the HSPs of earlier
    /// parts (rules 5.3–5.7; `Blast_HSPListsMerge` in `blast_hits.c`, which joins nothing if parts
    /// do not overlap). `ungapped` holds the ungapped HSPs, each with the index of its context in
    /// `contexts`. It is in the order of [`UngappedHsp::order`], and not empty.
    pub fn extend(
        &self,
        part: &Part,
        contexts: &[ChunkContext],
        ungapped: &[(u32, UngappedHsp)],
        scores: &ScoreRows,
        scratch: &mut GappedScratch,
    ) {
        scratch.hsps.clear();
        if self.ungapped {
            // An HSP with a length below 0 is dropped; one without any pair is kept (rules 4.4).
            let shown = ungapped.iter().filter(|(_, hsp)| hsp.len >= 0);
            let hit = |(context, hsp): &(u32, UngappedHsp)| {
                ungapped_hit(hsp, contexts[*context as usize].number)
            };
            scratch.hsps.extend(shown.map(hit));
        } else {
            let promising;
            let ungapped = match self.filters_chains {
                true => {
                    promising = chains::promising(contexts, ungapped, &self.costs);
                    &promising[..]
                }
                false => ungapped,
            };
            if ungapped.is_empty() {
                return;
            }
            self.extend_all(part, contexts, ungapped, scores, scratch);
            order::remove_common_endpoints(&mut scratch.hsps, |_, _| true);
        }
        if scratch.hsps.is_empty() {
            return;
        }
        for hsp in &mut scratch.hsps {
            hsp.s_start += part.start;
            hsp.s_end += part.start;
            hsp.s_seed += part.start;
            hsp.frame = part.frame;
        }
        if part.overlaps {
            let (old, new) = (mem::take(&mut scratch.gathered), mem::take(&mut scratch.hsps));
            scratch.gathered = lists::join_subject_chunks(old, new, part.start, !self.ungapped);
        } else {
            scratch.gathered.append(&mut scratch.hsps);
            scratch.gathered.sort_by(order::compare_hsps);
        }
        if self.subject_besthit {
            // Only HSPs of one context are compared, so that no length matters.
            let written = WrittenQuery { length: 0, contexts: QueryContexts::Protein };
            filters::subject_best_hit(&mut scratch.gathered, written);
        }
    }

    /// Completes the HSPs of a strand in all parts of a subject: links them and drops insignificant
    /// ones. An ungapped search also scores the rest on the true letters of the subject. `contexts`
    /// are the contexts of the strand.
    pub fn finish_strand(
        &self,
        contexts: &[ChunkContext],
        subject: &Subject<'_>,
        scores: &ScoreRows,
        scratch: &mut GappedScratch,
    ) {
        let context_of = |number: u8| {
            let own = contexts.iter().find(|context| context.number == number);
            own.expect("HSPs are of these contexts")
        };
        let hsps = &mut scratch.of_frames;
        // The HSPs of each frame are in this order already.
        hsps.sort_by(order::compare_hsps);
        self.evaluate(hsps, subject.length, context_of);
        if self.ungapped {
            subject.rescore(hsps, scores, context_of);
            hsps.sort_by(order::compare_hsps);
            self.evaluate(hsps, subject.length, context_of);
            hsps.retain(|hsp| {
                let len = context_of(hsp.context).len() as u32;
                filters::query_coverage(hsp.q_start, hsp.q_end, len) >= self.qcov_hsp_perc
            });
        }
        for hsp in hsps.iter_mut() {
            let &ChunkContext { whole, offset, .. } = context_of(hsp.context);
            hsp.context = whole;
            hsp.q_start += offset;
            hsp.q_end += offset;
            hsp.q_seed += offset;
        }
        scratch.finished.append(hsps);
    }

    /// Computes e-values of the HSPs of a strand, singly or in linked sets, and drops those above
    /// the limit.
    fn evaluate<'c>(
        &self,
        hsps: &mut Vec<PrelimHsp>,
        subject_len: usize,
        context_of: impl Fn(u8) -> &'c ChunkContext,
    ) {
        for hsp in hsps.iter_mut() {
            let context = context_of(hsp.context);
            (hsp.evalue, hsp.linked) = (self.evalue(context, hsp.score, subject_len), 1);
        }
        let pair_statistics = |context: &ChunkContext, of_subject| {
            let lengths = [context.len(), subject_len];
            let adjustments = [context.length_adjustment, of_subject];
            let karlin = self.karlin(context);
            linking::pair_statistics(&karlin, lengths, adjustments, context.search_space)
        };
        match self.linking {
            None => {}
            Some(LinkingRule::Uneven(gaps)) => uneven::link(hsps, gaps, |number| {
                let context = context_of(number);
                pair_statistics(context, context.length_adjustment)
            }),
            Some(LinkingRule::Even) => {
                let first = hsps.first().map(|hsp| context_of(hsp.context));
                let Some(batch) = first.and_then(|context| context.even_linking) else { return };
                let gaps = batch.gaps(subject_len, self.stored_residues, self.translates.query);
                even::link(hsps, gaps, |number| {
                    let context = context_of(number);
                    // BLAST+ divides the adjustment by three, although it is in residues.
                    let scale = if self.translates.subject { 3 } else { 1 };
                    Some(pair_statistics(context, context.length_adjustment / scale))
                });
            }
        }
        hsps.retain(|hsp| hsp.evalue <= self.evalue_limit);
    }

    /// Returns the statistics of a context: ungapped ones in an ungapped search, otherwise gapped
    /// ones.
    fn karlin(&self, context: &ChunkContext) -> KarlinParameters {
        if self.ungapped { context.karlin } else { context.gapped }
    }

    /// Returns the e-value of a single HSP.
    fn evalue(&self, context: &ChunkContext, score: i32, subject_len: usize) -> f64 {
        let evalue = if self.karlin_evalues {
            self.karlin(context).evalue(score, context.search_space as f64)
        } else {
            context.gumbel.evalue(
                score,
                1.0,
                context.len() as i32,
                subject_len as i32,
                self.db_residues,
            )
        };
        match self.linking {
            Some(LinkingRule::Uneven(gaps)) => evalue / gaps.single_divisor(),
            // With even gaps each HSP gets the e-value of its linked set.
            Some(LinkingRule::Even) | None => evalue,
        }
    }

    /// Extends with gaps all ungapped HSPs that no earlier extension contains.
    fn extend_all(
        &self,
        part: &Part,
        contexts: &[ChunkContext],
        ungapped: &[(u32, UngappedHsp)],
        scores: &ScoreRows,
        scratch: &mut GappedScratch,
    ) {
        let (context, first) = &ungapped[0];
        let cutoff = contexts[*context as usize].cutoff_gapped;
        let too_low = (RESTRICTED_SHARE * f64::from(cutoff)) as i32;
        let restricted = self.restricted && first.score < too_low;
        let inputs = (contexts, ungapped, scores);
        if restricted && self.pass(part, inputs, scratch, Some(too_low)) {
            return;
        }
        self.pass(part, inputs, scratch, None);
    }

    /// Extends the ungapped HSPs in one pass, approximately if `too_low` is given. Returns false if
    /// an approximate score was inconclusive. Then the pass must be repeated exactly.
    fn pass(
        &self,
        part: &Part,
        (contexts, ungapped, scores): (&[ChunkContext], &[(u32, UngappedHsp)], &ScoreRows),
        scratch: &mut GappedScratch,
        too_low: Option<i32>,
    ) -> bool {
        scratch.tree.clear();
        scratch.hsps.clear();
        for (context, hsp) in ungapped {
            let context = &contexts[*context as usize];
            let (q_end, s_end) = hsp.ends();
            let bounds = Bounds { q_start: hsp.q_start, q_end, s_start: hsp.s_start, s_end };
            if scratch.tree.encloses(&bounds, hsp.score) {
                continue;
            }
            let start = start_point(hsp, context, part.residues, scores);
            let new = self.extend_both(part, context, start, scores, scratch, too_low.is_some());
            if new.score >= context.cutoff_gapped {
                scratch.hsps.push(new);
                scratch.tree.add(&order::Hsp::bounds(&new), new.score);
            } else if too_low.is_some_and(|too_low| new.score >= too_low) {
                return false;
            }
        }
        true
    }

    /// Extends from the pair (`q`, `s`) to both sides.
    fn extend_both(
        &self,
        part: &Part,
        context: &ChunkContext,
        (q, s): (usize, usize),
        scores: &ScoreRows,
        scratch: &mut GappedScratch,
        restricted: bool,
    ) -> PrelimHsp {
        let (m, reach) = (context.len(), part.reach);
        let (mut left_len, mut right_len) = (s + 1, reach.saturating_sub(s + 1));
        if reach >= LONG_SUBJECT {
            left_len = left_len.min(q + 1 + LONG_SUBJECT_GAPS);
            right_len = right_len.min(m - q - 1 + LONG_SUBJECT_GAPS);
        }
        let at_end = q + 1 >= m || right_len == 0;
        let GappedScratch { loaded, cells, row, window, .. } = scratch;
        let (loaded, from) = loaded.around(part, s + 1 - left_len..s + 1 + right_len);
        let directions = directions(context, loaded, q, s - from);
        // Extensions in vectors end only at the sentinels around the loaded range.
        let whole = left_len == s + 1 - from && from + loaded.len() == s + 1 + right_len;
        let extents = match &self.extender {
            Some(extender) if whole && !restricted => extender.extend(directions, row),
            _ => [None; 2],
        };
        let mut extend = |direction: Direction, len| {
            let wide = self.wide.as_ref().filter(|_| !restricted);
            wide.and_then(|wide| wide.extend(direction, len, window)).unwrap_or_else(|| {
                let extend = if restricted { gapped::extend_restricted } else { gapped::extend };
                let Direction { query, subject, at } = direction;
                extend(query, &subject[at..=at + len], scores, self.costs, cells)
            })
        };
        let left = extents[0].unwrap_or_else(|| extend(directions[0], left_len));
        let right = extents[1].unwrap_or_else(|| extend(directions[1], right_len));
        // If there is nothing to extend to, BLAST+ records the start point itself as the end.
        let step = usize::from(!at_end);
        PrelimHsp {
            score: left.score + right.score,
            q_start: (q + 1 - left.query) as u32,
            q_end: (q + step + right.query) as u32,
            s_start: (s + 1 - left.subject) as u32,
            s_end: (s + step + right.subject) as u32,
            q_seed: q as u32,
            s_seed: s as u32,
            evalue: 0.0,
            linked: 1,
            context: context.number,
            frame: Frame::Protein,
        }
    }
}

/// Converts an ungapped HSP to a preliminary one.
fn ungapped_hit(hsp: &UngappedHsp, context: u8) -> PrelimHsp {
    let (q_end, s_end) = hsp.ends();
    PrelimHsp {
        score: hsp.score,
        q_start: hsp.q_start,
        q_end,
        s_start: hsp.s_start,
        s_end,
        q_seed: hsp.q_start,
        s_seed: hsp.s_start,
        evalue: 0.0,
        linked: 1,
        context,
        frame: Frame::Protein,
    }
}

/// Returns the two directions from the pair (`q`, `s`). The pair belongs to the first direction.
fn directions<'a>(
    context: &'a ChunkContext,
    subject: LoadedSubject<'a>,
    q: usize,
    s: usize,
) -> [Direction<'a>; 2] {
    let (m, n) = (context.len(), subject.len());
    let left = Direction {
        query: &context.reversed_rows[m - 1 - q..],
        subject: subject.backward,
        at: MARGIN + n - 1 - s,
    };
    let right =
        Direction { query: &context.rows()[q + 1..], subject: subject.forward, at: MARGIN + s + 1 };
    [left, right]
}

/// Returns the start of the gapped extension of an ungapped HSP: the middle of its best window
/// (rules 5.4).
fn start_point(
    hsp: &UngappedHsp,
    context: &ChunkContext,
    subject: &[u8],
    scores: &ScoreRows,
) -> (usize, usize) {
    let (q, s) = (hsp.q_start as usize, hsp.s_start as usize);
    // BLAST+ takes a length below 0 for a large number: it adds up the first window and finds no
    // other window.
    let len = usize::try_from(hsp.len).unwrap_or(START_WINDOW + 1);
    if len <= START_WINDOW {
        return (q + len / 2, s + len / 2);
    }
    let len = if hsp.len < 0 { START_WINDOW } else { len };
    let (query, subject) = (&context.rows()[q..], &subject[s..]);
    if query.len().min(subject.len()) < len {
        return (q, s);
    }
    let score = |i: usize| scores.score(query[i], subject[i]);
    let (mut sum, mut best, mut best_end) = (0, i32::MIN, 0);
    for i in 0..len {
        sum += score(i);
        if i >= START_WINDOW {
            sum -= score(i - START_WINDOW);
        }
        if i + 1 >= START_WINDOW && sum > best {
            best = sum;
            best_end = i;
        }
    }
    let shift = if best > 0 { best_end - START_WINDOW / 2 } else { 0 };
    (q + shift, s + shift)
}
