//! Traceback without composition adjustment (rules 6.8, `blast_traceback.c`).

use fleetblast_seq::frame::{Frame, Strand};

use super::dp::{Sequences, Traced, align_from, align_within};
use super::source::{SubjectResidues, TranslatedParts};
use super::{Traceback, TracebackContext, TracebackQuery, TracebackScratch};
use crate::containment::ContainmentTree;
use crate::hits::{Adjustment, Alignment, CandidateHit, HitKey, PrelimHit, PrelimHsp};
use crate::lists::linking::uneven;
use crate::order::{Bounds, ContextHsp, Hsp, compare_hsps, remove_common_endpoints};

/// Length of the window in which the start of an alignment is sought.
const WINDOW: u32 = 11;

/// Least length of a subject that is aligned only near the seed (`AdjustSubjectRange`,
/// `blast_gapalign.c`).
const LONG_SUBJECT: usize = 90_000;
/// Estimated largest total length of the gaps of an alignment, in residues.
const MAX_TOTAL_GAPS: usize = 3000;

impl Traceback {
    pub(super) fn plain(
        &self,
        query: &TracebackQuery,
        subject: &SubjectResidues<'_>,
        hit: &PrelimHit,
        scratch: &mut TracebackScratch,
    ) -> CandidateHit {
        let aligned = self.plain_alignments(query, subject, false, hit, scratch);
        let aligned = aligned.or_else(|| self.plain_alignments(query, subject, true, hit, scratch));
        let (mut alignments, length) = aligned.unwrap_or_default();
        remove_common_endpoints(&mut alignments, |later, kept| {
            !self.common_ends_have_frames || later.frame == kept.frame
        });
        alignments.sort_by(compare_hsps);
        scratch.trees.iter_mut().for_each(ContainmentTree::clear);
        alignments.retain(|alignment| {
            let tree = &mut scratch.trees[strand_of(alignment, alignment.frame)];
            let bounds = alignment.bounds();
            let keep = !tree.encloses(&bounds, alignment.score);
            if keep {
                tree.add(&bounds, alignment.score);
            }
            keep
        });
        let length = match self.linked_gaps {
            Some(_) if subject.is_translated() => length / 3,
            _ => length,
        };
        self.evaluate_plain(query, length, &mut alignments);
        alignments.retain(|alignment| alignment.evalue <= self.significance.limit);
        let key = HitKey::of_alignments(hit.oid, &alignments);
        CandidateHit::new(hit.oid, key, alignments)
    }

    /// Aligns the HSPs of a hit. Returns the alignments, and BLAST+'s length of the subject for
    /// their e-values. With `whole` it reads whole frames of a translated subject, otherwise parts
    /// of frames. Returns `None` if an alignment reaches the end of such a part.
    fn plain_alignments(
        &self,
        query: &TracebackQuery,
        subject: &SubjectResidues<'_>,
        whole: bool,
        hit: &PrelimHit,
        scratch: &mut TracebackScratch,
    ) -> Option<(Vec<Alignment>, usize)> {
        scratch.trees.iter_mut().for_each(ContainmentTree::clear);
        let mut parts = TranslatedParts::new(subject.stored_length() as u32, whole);
        let mut loaded = None;
        let (mut alignments, mut counted) = (Vec::new(), subject.stored_length());
        for hsp in &hit.hsps {
            let strand = strand_of(hsp, hsp.frame);
            if scratch.trees[strand].encloses(&hsp.bounds(), hsp.score) {
                continue;
            }
            let frame_length = subject.length(hsp.frame) as u32;
            let part = match subject.is_translated() {
                true => parts.part(hsp.frame, frame_length, hsp.s_start..hsp.s_end),
                false => 0..frame_length,
            };
            counted = part.end as usize;
            if loaded.as_ref() != Some(&(hsp.frame, part.clone())) {
                let range = part.start as usize..part.end as usize;
                scratch.subject.load(&subject.part(hsp.frame, range));
                loaded = Some((hsp.frame, part.clone()));
            }
            let context = &query.contexts[usize::from(hsp.context)];
            let hsp = hsp.relative_to(part.start);
            let Some(seed) = self.seed(context, scratch.subject.residues(), &hsp) else { continue };
            let length = scratch.subject.residues().len();
            let (near, is_fenced) = match subject.is_translated() {
                true => ((0, length), !whole),
                false => (near_seed(seed.0, context.residues.len(), seed.1, length), false),
            };
            let traced = self.plain_alignment(context, seed, near, is_fenced, scratch)?;
            let shift = part.start + near.0 as u32;
            let alignment = to_alignment((context.number, hsp.frame), traced, shift);
            scratch.trees[strand].add(&alignment.bounds(), alignment.score);
            alignments.push(alignment);
        }
        Some((alignments, counted))
    }

    /// Computes e-values and bit scores.
    fn evaluate_plain(
        &self,
        query: &TracebackQuery,
        subject_len: usize,
        alignments: &mut [Alignment],
    ) {
        let context_of = |number: u8| &query.contexts[usize::from(number)];
        for alignment in alignments.iter_mut() {
            let context = context_of(alignment.context);
            let evalue = context.significance.evalue(alignment.score, context, subject_len);
            alignment.evalue = match self.linked_gaps {
                Some(gaps) => evalue / gaps.single_divisor(),
                None => evalue,
            };
            alignment.bit_score = context.significance.bits(alignment.score);
        }
        if let Some(gaps) = self.linked_gaps {
            uneven::link(alignments, gaps, |number| {
                let context = context_of(number);
                context.significance.linked_statistics(context, subject_len)
            });
        }
    }

    /// Returns the start of the alignment: the seed of the preliminary HSP, unless that is the very
    /// first pair, which also means "unknown" (`BlastGetOffsetsForGappedAlignment`,
    /// `blast_gapalign.c`). Returns `None` if the HSP is dropped.
    fn seed(
        &self,
        query: &TracebackContext,
        subject: &[u8],
        hsp: &PrelimHsp,
    ) -> Option<(usize, usize)> {
        if (hsp.q_seed, hsp.s_seed) != (0, 0) {
            return Some((hsp.q_seed as usize, hsp.s_seed as usize));
        }
        let (q, s) = (hsp.q_start as usize, hsp.s_start as usize);
        let (q_span, s_span) = (hsp.q_end - hsp.q_start, hsp.s_end - hsp.s_start);
        if q_span <= WINDOW {
            let half = q_span as usize / 2;
            return Some((q + half, s + half));
        }
        let plain = self.plain_scores(query);
        let pairs = |q: usize, s: usize, len: usize| {
            let (q, s) = (&query.rows[q..], &subject[s..]);
            q.iter()
                .zip(s)
                .take(len)
                .map(|(&row, &letter)| plain.score(row, letter))
                .collect::<Vec<i32>>()
        };
        let scores = pairs(q, s, q_span.min(s_span).max(WINDOW) as usize);
        let window = WINDOW as usize;
        let mut best = (0, 0);
        for (i, part) in scores.windows(window).enumerate() {
            let score = part.iter().sum::<i32>();
            if score > best.0 {
                best = (score, i + window - 1);
            }
        }
        if best.0 > 0 {
            return Some((q + best.1, s + best.1));
        }
        let (q_end, s_end) = (hsp.q_end as usize, hsp.s_end as usize);
        let last = pairs(q_end - window, s_end.checked_sub(window)?, window);
        (last.iter().sum::<i32>() > 0).then_some((q_end - window / 2, s_end - window / 2))
    }

    /// Aligns from a pair of residues within a range of the loaded subject. Subject positions of
    /// the result are relative to the start of this range. Returns `None` if `is_fenced` and the
    /// alignment reaches an end of the range.
    fn plain_alignment(
        &self,
        query: &TracebackContext,
        (q_seed, s_seed): (usize, usize),
        (start, end): (usize, usize),
        is_fenced: bool,
        scratch: &mut TracebackScratch,
    ) -> Option<Traced> {
        let (forwards, backwards) = (scratch.subject.forwards(), scratch.subject.backwards());
        let total = forwards.len() - 1;
        let sequences = Sequences {
            query: &query.rows,
            query_back: &query.reversed_rows,
            // One residue more than is aligned on either side, as the alignment requires.
            subject: &forwards[start..=end],
            subject_back: &backwards[total - end..=total - start],
        };
        let scheme = self.scheme(self.plain_scores(query));
        let (s_seed, dp) = (s_seed - start, &mut scratch.dp);
        match is_fenced {
            true => align_within(&sequences, q_seed, s_seed, &scheme, dp),
            false => Some(align_from(&sequences, q_seed, s_seed, &scheme, dp)),
        }
    }
}

/// Creates the alignment of a context and a frame, without statistics. Subject positions of
/// `traced` are relative to `shift`.
fn to_alignment((context, frame): (u8, Frame), traced: Traced, shift: u32) -> Alignment {
    let Bounds { q_start, q_end, s_start, s_end } = traced.bounds;
    Alignment {
        score: traced.score,
        bit_score: f64::NAN,
        evalue: f64::NAN,
        linked: 1,
        query: q_start..q_end,
        subject: s_start + shift..s_end + shift,
        context,
        frame,
        edits: traced.edits,
        computation_index: 0,
        pattern_occurrence: 0,
        adjustment: Adjustment::None,
        positives: None,
        stored: None,
    }
}

/// Returns the number of the strand of an HSP in a translated sequence. Frames of a strand are
/// compared as if they began at the same base (`s_GetQueryStrandOffset` and `s_HSPIsContained`,
/// blast_itree.c). A protein has the first strand only.
fn strand_of(hsp: &impl ContextHsp, frame: Frame) -> usize {
    match frame.strand() {
        Some(strand) => usize::from(strand == Strand::Minus),
        None => usize::from(hsp.context() / 3),
    }
}

/// Returns the start and the end of the range of the subject that may be aligned.
fn near_seed(q_seed: usize, q_len: usize, s_seed: usize, s_len: usize) -> (usize, usize) {
    if s_len < LONG_SUBJECT {
        return (0, s_len);
    }
    let start = s_seed.saturating_sub(q_seed + MAX_TOTAL_GAPS);
    let end = s_len.min(s_seed + q_len - q_seed + MAX_TOTAL_GAPS);
    (start, end)
}
