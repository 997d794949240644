//! Reads protein queries, masks them and computes their statistics (rules 2).

use std::ops::Range;

use fleetblast_seq::frame::Frame;
use fleetblast_seq::{alphabet, mask, seg};
use fleetblast_stats::karlin::{self, KarlinBlock};
use fleetblast_stats::length::LengthModel;

use crate::params::{CommonParams, ProteinParams};
use crate::query::{QueryInput, QueryRules};

impl QueryRules for ProteinParams {
    fn common(&self) -> &CommonParams {
        &self.common
    }

    fn readings(&self, input: &QueryInput) -> Vec<(Frame, Vec<u8>)> {
        vec![(Frame::Protein, searchable(&input.letters))]
    }

    fn masks(&self, input: &QueryInput, readings: &[(Frame, Vec<u8>)]) -> Vec<Vec<Range<u32>>> {
        let masked = |(_, residues): &(_, Vec<u8>)| masks(residues, &input.lower_case, self);
        readings.iter().map(masked).collect()
    }

    fn masked_letter(&self) -> u8 {
        alphabet::X
    }

    fn ungapped(&self, letters: &[u8]) -> Option<KarlinBlock> {
        karlin::ungapped(letters, &self.scoring.scores)
    }

    fn has_ungapped(&self, letters: &[u8]) -> bool {
        karlin::has_ungapped(letters, &self.scoring.scores)
    }

    fn length_model(&self, karlin: &KarlinBlock) -> LengthModel {
        let (block, row) = if self.common.ungapped {
            (*karlin, &self.scoring.ungapped)
        } else {
            (self.scoring.gapped.block(), &self.scoring.gapped)
        };
        if !self.common.ungapped && self.scoring.has_infinite_gap_costs() {
            // BLAST+ looks for α and β among the other gap costs only (`BLAST_GetAlphaBeta`,
            // blast_stat.c).
            let (k, log_k) = (block.k, block.log_k);
            return LengthModel { k, log_k, alpha_over_lambda: 0.0, beta: 0.0 };
        }
        LengthModel {
            k: block.k,
            log_k: block.log_k,
            alpha_over_lambda: row.alpha / block.lambda,
            beta: row.beta,
        }
    }
}

/// Replaces residues that the matrices do not contain.
fn searchable(residues: &[u8]) -> Vec<u8> {
    residues.iter().map(|&code| if code == alphabet::O { alphabet::X } else { code }).collect()
}

/// The masked ranges of a query: SEG and, on request, lower case.
pub(super) fn masks(
    residues: &[u8],
    lower_case: &[Range<u32>],
    params: &ProteinParams,
) -> Vec<Range<u32>> {
    let mut intervals = params.seg.as_ref().map(|seg| seg::mask(residues, seg)).unwrap_or_default();
    if params.common.lcase_masking {
        intervals.extend_from_slice(lower_case);
    }
    mask::combine(intervals)
}
