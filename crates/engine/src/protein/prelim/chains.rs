//! Drops ungapped HSPs whose chains score too little for a gapped alignment
//! (`s_ChainingAlignment`, blast_gapalign.c of BLAST+ 2.17.0).

use super::context::ChunkContext;
use super::gapped::ExtensionCosts;
use super::ungapped::UngappedHsp;

/// Score that BLAST+ assumes for each column between two HSPs of a chain.
const COLUMN_SCORE: i32 = 3;

/// Returns the HSPs that begin a chain that may reach the cut-off of gapped alignments, in the
/// order of `ungapped`. `ungapped` has the HSPs of a subject in the order of
/// [`UngappedHsp::order`], each with the index of its context in `contexts`.
pub(super) fn promising(
    contexts: &[ChunkContext],
    ungapped: &[(u32, UngappedHsp)],
    costs: &ExtensionCosts,
) -> Vec<(u32, UngappedHsp)> {
    let mut order: Vec<usize> = (0..ungapped.len()).collect();
    // Stable: of HSPs with one start, the one of the highest score stays first.
    order.sort_by_key(|&at| (ungapped[at].0, ungapped[at].1.q_start));
    let mut is_kept = vec![false; ungapped.len()];
    for run in order.chunk_by(|&a, &b| ungapped[a].0 == ungapped[b].0) {
        let context = &contexts[ungapped[run[0]].0 as usize];
        let hsps: Vec<&UngappedHsp> = run.iter().map(|&at| &ungapped[at].1).collect();
        let scores = chain_scores(&hsps, context.cutoff_ungapped, costs);
        for (&at, score) in run.iter().zip(scores) {
            // There is at least one gap. What gapped extension adds scores less than another
            // ungapped HSP.
            let reached = score - costs.open_extend + context.cutoff_ungapped - 1;
            is_kept[at] = reached >= context.cutoff_gapped;
        }
    }
    let kept = ungapped.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept);
    kept.map(|(hsp, _)| *hsp).collect()
}

/// Returns for each HSP of a context the score of the best chain that begins with it. `hsps` are in
/// the order of their starts in the query.
fn chain_scores(hsps: &[&UngappedHsp], cutoff_ungapped: i32, costs: &ExtensionCosts) -> Vec<i32> {
    let gap_open = costs.open_extend - costs.extend;
    let mut best: Vec<i32> = hsps.iter().map(|hsp| hsp.score).collect();
    for first in (0..hsps.len()).rev() {
        let hsp = hsps[first];
        for second in first + 1..hsps.len() {
            // BLAST+ adds the length, where the gap between both would subtract it.
            let distance = |from: u32, to: u32| to as i32 - from as i32 + hsp.len;
            let of_query = distance(hsp.q_start, hsps[second].q_start);
            let of_subject = distance(hsp.s_start, hsps[second].s_start);
            if of_subject < 0 {
                continue;
            }
            let between = (COLUMN_SCORE * of_query.min(of_subject)).min(cutoff_ungapped);
            let gap = (of_query - of_subject).abs().max(1) + gap_open;
            best[first] = best[first].max(hsp.score + best[second] + between - gap);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hsp(q_start: u32, s_start: u32, len: i32, score: i32) -> UngappedHsp {
        UngappedHsp { q_start, s_start, len, score }
    }

    #[test]
    fn a_chain_adds_scores_and_columns_and_pays_for_a_gap() {
        let costs = ExtensionCosts { open_extend: 12, extend: 1, x_drop: 0 };
        let (a, b) = (hsp(0, 0, 10, 40), hsp(20, 25, 10, 30));
        // Distances 30 and 35: 3 * 30 is above the cut-off of 41; the gap costs 5 + 11.
        assert_eq!(chain_scores(&[&a, &b], 41, &costs), [40 + 30 + 41 - 16, 30]);
    }

    #[test]
    fn hsps_before_each_other_in_the_subject_make_no_chain() {
        let costs = ExtensionCosts { open_extend: 12, extend: 1, x_drop: 0 };
        let (a, b) = (hsp(0, 100, 10, 40), hsp(20, 25, 10, 30));
        assert_eq!(chain_scores(&[&a, &b], 41, &costs), [40, 30]);
    }
}
