//! Searches without gaps. The engine scores HSPs again on the true letters of their subject before
//! it selects hits (`Blast_HSPListReevaluateUngapped`, `blast_hits.c`). The HSPs themselves are the
//! final alignments.

use crate::filters;
use crate::hits::PrelimHsp;
use crate::order::{Bounds, Hsp};
use crate::params::NucleotideParams;
use crate::rescoring;
use crate::scores::ScoreRows;

/// Scores, and the limits that an ungapped HSP must reach on the true letters of its subject.
#[derive(Debug)]
pub(super) struct Reevaluation {
    scores: ScoreRows,
    /// Least percentage of identical columns (`-perc_identity`).
    perc_identity: f64,
    /// Least percentage of the query that an HSP covers (`-qcov_hsp_perc`).
    coverage: f64,
}

/// Letters and cut-off of a query's context. The query is not cut into chunks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Letters<'a> {
    /// Blastna letters for scoring, masked ones as N.
    pub scored: &'a [u8],
    /// Letters without masks, for counting identities.
    pub unmasked: &'a [u8],
    /// Least score of an HSP that is kept.
    pub cutoff: i32,
}

impl Reevaluation {
    pub fn new(params: &NucleotideParams) -> Reevaluation {
        Reevaluation {
            scores: ScoreRows::of_blastna(&params.scoring.scores),
            perc_identity: params.percent_identity,
            coverage: params.common.qcov_hsp_perc,
        }
    }

    /// Scores the HSP on the true letters of its subject and trims it to its best range. Returns
    /// `None` if it falls below a limit.
    pub fn apply(&self, hsp: &PrelimHsp, query: Letters<'_>, subject: &[u8]) -> Option<PrelimHsp> {
        let Bounds { q_start, q_end, s_start, s_end } = hsp.bounds();
        let pairs = query.scored.get(q_start as usize..q_end as usize)?;
        let pairs = pairs.iter().zip(subject.get(s_start as usize..s_end as usize)?);
        let scores = pairs.map(|(&a, &b)| self.scores.score((a & 15).into(), b));
        let (score, bounds) = rescoring::best_range(hsp.bounds(), scores, query.cutoff)?;
        let Bounds { q_start, q_end, s_start, s_end } = bounds;
        let columns = q_end - q_start;
        let paired = query.unmasked[q_start as usize..q_end as usize]
            .iter()
            .zip(&subject[s_start as usize..s_end as usize]);
        let identical = paired.filter(|(a, b)| a == b).count();
        (identical as f64 * 100.0 >= f64::from(columns) * self.perc_identity).then_some(PrelimHsp {
            score,
            q_start,
            q_end,
            s_start,
            s_end,
            ..*hsp
        })
    }

    /// Returns whether an HSP covers enough of a query of `length` letters.
    pub fn is_wide(&self, hsp: &PrelimHsp, length: usize) -> bool {
        filters::query_coverage(hsp.q_start, hsp.q_end, length as u32) >= self.coverage
    }
}

#[cfg(test)]
mod tests {
    use fleetblast_seq::frame::{Frame, Strand};
    use fleetblast_seq::nucleotide::blastna;

    use super::*;
    use crate::nucleotide::testing;

    #[test]
    fn hsps_are_cut_to_their_best_stretch() {
        let rules = |perc_identity| Reevaluation {
            scores: testing::scores(2, -3),
            perc_identity,
            coverage: 0.0,
        };
        let query: Vec<u8> = [0, 1, 2, 3].repeat(5);
        let letters = Letters { scored: &query, unmasked: &query, cutoff: 20 };
        let hsp = PrelimHsp {
            score: 40,
            q_start: 0,
            q_end: 20,
            s_start: 0,
            s_end: 20,
            q_seed: 10,
            s_seed: 10,
            evalue: 0.0,
            linked: 1,
            context: 0,
            frame: Frame::Strand(Strand::Plus),
        };
        let mut subject = query.clone();
        subject[15..17].fill(blastna::N);
        // 15 pairs score 30, two Ns lose 4, three pairs gain 6.
        let whole = rules(90.0).apply(&hsp, letters, &subject).expect("enough");
        assert_eq!((whole.score, whole.q_end), (32, 20));
        assert_eq!(rules(90.1).apply(&hsp, letters, &subject), None);
        subject[18..20].fill(blastna::N);
        let cut = rules(100.0).apply(&hsp, letters, &subject).expect("enough");
        assert_eq!((cut.score, cut.q_end), (30, 15));
        assert_eq!(rules(0.0).apply(&hsp, Letters { cutoff: 31, ..letters }, &subject), None);
    }
}
