//! Scores ungapped HSPs of translated subjects again on the true letters
//! (`Blast_HSPListReevaluateUngapped`, blast_hits.c).

use fleetblast_seq::mask;
use fleetblast_seq::translation::GeneticCode;

use super::context::ChunkContext;
use crate::hits::PrelimHsp;
use crate::order::{Bounds, Hsp};
use crate::rescoring::best_range;
use crate::scores::ScoreRows;
use crate::subjects::Subjects;

/// A subject whose HSPs are scored again.
pub(super) struct Subject<'a> {
    pub subjects: &'a dyn Subjects,
    pub oid: u32,
    /// Length for statistics, in residues.
    pub length: usize,
    /// Genetic code that translates the subject; `None` for a protein.
    pub code: Option<&'a GeneticCode>,
}

impl Subject<'_> {
    /// Scores HSPs again on the true letters, and drops those that fall below their cut-off. HSPs
    /// of protein subjects do not change. `context_of` returns the context with the given number.
    pub fn rescore<'c>(
        &self,
        hsps: &mut Vec<PrelimHsp>,
        scores: &ScoreRows,
        context_of: impl Fn(u8) -> &'c ChunkContext,
    ) {
        let Some(code) = self.code.filter(|_| !hsps.is_empty()) else { return };
        if self.subjects.drops_ungapped_hsps(self.oid) {
            // BLAST+ returns `BLAST_SEQSRC_EXCLUDED` for this subject.
            hsps.clear();
            return;
        }
        let bases = self.subjects.bases(self.oid).length();
        let place = |hsp: &PrelimHsp| hsp.frame.to_sequence_range(hsp.s_start..hsp.s_end, bases);
        let letters =
            &self.subjects.true_letters(self.oid, &mask::combine(hsps.iter().map(place).collect()));
        let rescored = |hsp: &PrelimHsp| {
            let context = context_of(hsp.context);
            let place = place(hsp);
            let letters = &letters[place.start as usize..place.end as usize];
            let residues = code.translate_strand(letters, hsp.frame);
            let rows = &context.rows()[hsp.q_start as usize..hsp.q_end as usize];
            let pairs = rows.iter().zip(residues).map(|(&row, letter)| scores.score(row, letter));
            let (score, bounds) = best_range(hsp.bounds(), pairs, context.cutoff_ungapped)?;
            let Bounds { q_start, q_end, s_start, s_end } = bounds;
            Some(PrelimHsp { score, q_start, q_end, s_start, s_end, ..*hsp })
        };
        *hsps = hsps.iter().filter_map(rescored).collect();
    }
}
