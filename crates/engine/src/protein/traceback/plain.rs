//! Traceback without composition adjustment (rules 6.8, `blast_traceback.c`).

use fleetblast_seq::frame::Frame;

use super::dp::{Sequences, align_from};
use super::{Traceback, TracebackQuery, TracebackScratch};
use crate::hits::{Adjustment, Alignment, Candidate, HitKey, PrelimHit, PrelimHsp};
use crate::order::{Bounds, Hsp, common_endpoints, order_s};

/// Length of the window in which the start of an alignment is sought.
const WINDOW: u32 = 11;

/// Subjects of at least this length are aligned only near the seed (`AdjustSubjectRange`,
/// `blast_gapalign.c`).
const LONG_SUBJECT: usize = 90_000;
/// Estimated largest total length of gaps.
const MAX_TOTAL_GAPS: usize = 3000;

impl Traceback {
    pub(super) fn plain(
        &self,
        query: &TracebackQuery,
        subject: &[u8],
        hit: &PrelimHit,
        scratch: &mut TracebackScratch,
    ) -> Candidate {
        scratch.subject.load(subject);
        scratch.tree.clear();
        let mut alignments = Vec::new();
        for hsp in &hit.hsps {
            if scratch.tree.encloses(&hsp.bounds(), hsp.score) {
                continue;
            }
            let Some((q_seed, s_seed)) = self.seed(query, subject, hsp) else { continue };
            let alignment = self.plain_alignment(query, q_seed, s_seed, scratch);
            scratch.tree.add(&alignment.bounds(), alignment.score);
            alignments.push(alignment);
        }
        common_endpoints(&mut alignments);
        alignments.sort_by(order_s);
        scratch.tree.clear();
        alignments.retain(|alignment| {
            let bounds = alignment.bounds();
            let keep = !scratch.tree.encloses(&bounds, alignment.score);
            if keep {
                scratch.tree.add(&bounds, alignment.score);
            }
            keep
        });
        for alignment in &mut alignments {
            alignment.evalue = query.significance.evalue(alignment.score, query, subject.len());
            alignment.bit_score = query.significance.bits(alignment.score);
        }
        alignments.retain(|alignment| alignment.evalue <= self.significance.limit);
        let key = HitKey::of_alignments(hit.oid, &alignments);
        Candidate::new(hit.oid, key, alignments)
    }

    /// The start of the alignment: the seed of the preliminary one, unless that is the very first
    /// pair, which also means "unknown" (`BlastGetOffsetsForGappedAlignment`, `blast_gapalign.c`).
    /// `None` drops the HSP.
    fn seed(
        &self,
        query: &TracebackQuery,
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

    fn plain_alignment(
        &self,
        query: &TracebackQuery,
        q_seed: usize,
        s_seed: usize,
        scratch: &mut TracebackScratch,
    ) -> Alignment {
        let (forwards, backwards) = (scratch.subject.forwards(), scratch.subject.backwards());
        let total = forwards.len() - 1;
        let (shift, end) = near_seed(q_seed, query.residues.len(), s_seed, total);
        let sequences = Sequences {
            query: &query.rows,
            query_back: &query.reversed_rows,
            // One residue more than is aligned on either side, as the alignment requires.
            subject: &forwards[shift..=end],
            subject_back: &backwards[total - end..=total - shift],
        };
        let scheme = self.scheme(self.plain_scores(query));
        let traced = align_from(&sequences, q_seed, s_seed - shift, &scheme, &mut scratch.dp);
        let Bounds { q_start, q_end, s_start, s_end } = traced.bounds;
        let shift = shift as u32;
        Alignment {
            score: traced.score,
            bit_score: f64::NAN,
            evalue: f64::NAN,
            linked: 1,
            query: q_start..q_end,
            subject: s_start + shift..s_end + shift,
            context: query.context,
            frame: Frame::Protein,
            edits: traced.edits,
            number: 0,
            occurrence: 0,
            adjustment: Adjustment::None,
        }
    }
}

/// The part of the subject that may be aligned.
fn near_seed(q_seed: usize, q_len: usize, s_seed: usize, s_len: usize) -> (usize, usize) {
    if s_len < LONG_SUBJECT {
        return (0, s_len);
    }
    let start = s_seed.saturating_sub(q_seed + MAX_TOTAL_GAPS);
    let end = s_len.min(s_seed + q_len - q_seed + MAX_TOTAL_GAPS);
    (start, end)
}
