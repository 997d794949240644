//! Prepares queries of protein searches: translates nucleotides, masks residues and computes
//! statistics (rules 2).

use std::ops::Range;

use fleetblast_seq::frame::{Frame, Strand};
use fleetblast_seq::nucleotide::blastna;
use fleetblast_seq::translation::{FRAMES, GeneticCode};
use fleetblast_seq::{alphabet, mask, seg};
use fleetblast_stats::karlin::{self, KarlinParameters};
use fleetblast_stats::length::AlignmentLengthModel;

use crate::params::{CommonParams, ProteinParams, QueryTranslation, Strands};
use crate::query::{QueryInput, QueryRules};

impl QueryRules for ProteinParams {
    fn common(&self) -> &CommonParams {
        &self.common
    }

    fn context_letters(&self, input: &QueryInput) -> Vec<(Frame, Vec<u8>)> {
        match &self.query_translation {
            Some(translation) => frames(&input.letters, translation, GeneticCode::translate),
            None => vec![(Frame::Protein, searchable(&input.letters))],
        }
    }

    fn displayed_letters(&self, input: &QueryInput) -> Option<Vec<Vec<u8>>> {
        let translation = self.query_translation.as_ref()?;
        let is_ambiguous = input.letters.iter().any(|&letter| letter >= blastna::BASES);
        let translate = GeneticCode::translate_for_report;
        let frames = is_ambiguous.then(|| frames(&input.letters, translation, translate))?;
        Some(frames.into_iter().map(|(_, residues)| residues).collect())
    }

    fn masks(
        &self,
        input: &QueryInput,
        context_letters: &[(Frame, Vec<u8>)],
    ) -> Vec<Vec<Range<u32>>> {
        let bases = input.letters.len() as u32;
        let masked = |(frame, residues): &(Frame, Vec<u8>)| {
            let count = residues.len() as u32;
            let lower_case = lower_case_in(*frame, &input.lower_case, bases, count);
            masks(residues, &lower_case, self)
        };
        context_letters.iter().map(masked).collect()
    }

    fn masked_letter(&self) -> u8 {
        alphabet::X
    }

    fn ungapped(&self, letters: &[u8]) -> Option<KarlinParameters> {
        let karlin = karlin::ungapped_parameters(letters, &self.scoring.scores)?;
        // BLAST+ uses the smaller λ, which is more careful (`Blast_ScoreBlkKbpUngappedCalc`,
        // blast_stat.c).
        let is_ideal = self.query_translation.is_some()
            && karlin.lambda >= self.scoring.ideal_parameters.lambda;
        Some(if is_ideal { self.scoring.ideal_parameters } else { karlin })
    }

    fn has_ungapped(&self, letters: &[u8]) -> bool {
        karlin::has_ungapped_parameters(letters, &self.scoring.scores)
    }

    fn length_model(&self, karlin: &KarlinParameters) -> AlignmentLengthModel {
        let (block, row) = if self.common.ungapped {
            (*karlin, &self.scoring.ungapped_statistics)
        } else {
            (self.scoring.gapped_statistics.karlin_parameters(), &self.scoring.gapped_statistics)
        };
        if !self.common.ungapped && self.scoring.has_infinite_gap_costs() {
            // BLAST+ looks for α and β among the other gap costs only (`BLAST_GetAlphaBeta`,
            // blast_stat.c).
            let (k, log_k) = (block.k, block.log_k);
            return AlignmentLengthModel { k, log_k, alpha_over_lambda: 0.0, beta: 0.0 };
        }
        AlignmentLengthModel {
            k: block.k,
            log_k: block.log_k,
            alpha_over_lambda: row.alpha / block.lambda,
            beta: row.beta,
        }
    }
}

/// Replaces `O`, which the matrices do not contain, by `X`.
fn searchable(residues: &[u8]) -> Vec<u8> {
    residues.iter().map(|&code| if code == alphabet::O { alphabet::X } else { code }).collect()
}

/// Translates a nucleotide query of blastna codes in six frames. Frames of a strand that is not
/// searched have no residues.
fn frames(
    bases: &[u8],
    translation: &QueryTranslation,
    translate: fn(&GeneticCode, &[u8]) -> Vec<u8>,
) -> Vec<(Frame, Vec<u8>)> {
    let opposite = match translation.strands {
        Strands::Plus => Vec::new(),
        Strands::Minus | Strands::Both => blastna::reverse_complement(bases),
    };
    let bases = if translation.strands == Strands::Minus { &[] } else { bases };
    let read = |frame| {
        let Frame::Codons(strand, offset) = frame else { return (frame, Vec::new()) };
        let bases = if strand == Strand::Plus { bases } else { &opposite };
        let read = bases.get(usize::from(offset)..).unwrap_or_default();
        (frame, translate(&translation.code, read))
    };
    FRAMES.map(read).to_vec()
}

/// Converts lower-case ranges of a query of `length` letters to ranges of a frame of `count`
/// residues. A range contains each residue that has a lower-case letter. At the ends of the frame,
/// the ranges are those of `UseProteinCoords` (blast_setup_cxx.cpp).
pub(super) fn lower_case_in(
    frame: Frame,
    lower_case: &[Range<u32>],
    length: u32,
    count: u32,
) -> Vec<Range<u32>> {
    let Frame::Codons(strand, offset) = frame else { return lower_case.to_vec() };
    let Some(last) = count.checked_sub(1) else { return Vec::new() };
    let (length, offset) = (i64::from(length), i64::from(offset));
    let residue = |base: i64| ((base / 3).max(0) as u32).min(last);
    let range = |bases: &Range<u32>| {
        let (first, end) = (i64::from(bases.start), i64::from(bases.end));
        let (from, to) = match strand {
            Strand::Plus => (first - offset, end - 1 - offset),
            Strand::Minus => (length - offset - end, length - offset - 1 - first),
        };
        residue(from)..residue(to) + 1
    };
    let ranges = lower_case.iter().map(range);
    match strand {
        Strand::Plus => ranges.collect(),
        Strand::Minus => ranges.rev().collect(),
    }
}

/// Returns the masked ranges of a query: SEG and, on request, lower case.
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
