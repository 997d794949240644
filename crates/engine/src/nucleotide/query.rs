//! Reads nucleotide queries, masks them and computes their statistics.

use std::ops::Range;

use fleetblast_seq::dust;
use fleetblast_seq::frame::{Frame, Strand};
use fleetblast_seq::mask;
use fleetblast_seq::nucleotide::blastna;
use fleetblast_seq::windowmasker;
use fleetblast_stats::karlin::KarlinParameters;
use fleetblast_stats::length::AlignmentLengthModel;

use crate::lists;
use crate::params::{CommonParams, NucleotideParams, Strands};
use crate::query::{Context, Query, QueryInput, QueryRules};

/// Greatest distance, in letters, of masks that are joined if the query has repeats
/// (`REPEAT_MASK_LINK_VALUE`, repeats_filter.hpp).
const REPEAT_LINK: u32 = 5;

impl QueryRules for NucleotideParams {
    fn common(&self) -> &CommonParams {
        &self.common
    }

    /// Returns both strands with their letters. A strand that is not searched has no letters, but
    /// keeps its number.
    fn context_letters(&self, input: &QueryInput) -> Vec<(Frame, Vec<u8>)> {
        let plus = match self.strands {
            Strands::Minus => Vec::new(),
            Strands::Plus | Strands::Both => input.letters.clone(),
        };
        let minus = match self.strands {
            Strands::Plus => Vec::new(),
            Strands::Minus | Strands::Both => blastna::reverse_complement(&input.letters),
        };
        vec![(Frame::Strand(Strand::Plus), plus), (Frame::Strand(Strand::Minus), minus)]
    }

    fn masks(
        &self,
        input: &QueryInput,
        context_letters: &[(Frame, Vec<u8>)],
    ) -> Vec<Vec<Range<u32>>> {
        let plus = self.masks_of(input);
        let length = input.letters.len() as u32;
        let of = |(frame, letters): &(Frame, Vec<u8>)| match frame.strand() {
            _ if letters.is_empty() => Vec::new(),
            Some(Strand::Minus) => mirrored(&plus, length),
            _ => plus.clone(),
        };
        context_letters.iter().map(of).collect()
    }

    fn masked_letter(&self) -> u8 {
        blastna::N
    }

    fn ungapped(&self, letters: &[u8]) -> Option<KarlinParameters> {
        self.scoring.ungapped_parameters(letters)
    }

    fn has_ungapped(&self, letters: &[u8]) -> bool {
        self.scoring.has_ungapped_parameters()
            && letters.iter().any(|&letter| letter < blastna::BASES)
            || self.scoring.ungapped_parameters(letters).is_some()
    }

    fn length_model(&self, karlin: &KarlinParameters) -> AlignmentLengthModel {
        let (block, alpha, beta) = if !self.scoring.has_statistics {
            // These scores are not in the table of known scores in which BLAST+ looks up α and β
            // (`Blast_GetNuclAlphaBeta`, blast_stat.c).
            (*karlin, 0.0, 0.0)
        } else if self.common.ungapped {
            (*karlin, karlin.lambda / karlin.h, self.scoring.ungapped_beta())
        } else {
            self.scoring.gapped_parameters(karlin)
        };
        AlignmentLengthModel {
            k: block.k,
            log_k: block.log_k,
            alpha_over_lambda: alpha / block.lambda,
            beta,
        }
    }
}

impl NucleotideParams {
    /// Returns the masked ranges of the plus strand. They are those of DUST and, on request, lower
    /// case and repeats; or those of WindowMasker alone.
    fn masks_of(&self, input: &QueryInput) -> Vec<Range<u32>> {
        let QueryInput { letters, lower_case, repeats } = input;
        if let Some(masks) = self.window_masked(letters) {
            return masks;
        }
        let lower_case = if self.common.lcase_masking { &lower_case[..] } else { &[] };
        let combined = self.dusted_with(letters, lower_case.to_vec());
        if repeats.is_empty() {
            return combined;
        }
        mask::combine_nearby_intervals([&combined[..], repeats].concat(), REPEAT_LINK)
    }
}

impl NucleotideParams {
    /// Returns the masked ranges of a chunk of a query, on the plus strand, counted from the start
    /// of the chunk. BLAST+ masks a chunk anew, in addition to the masks of the whole query
    /// (`Blast_FindDustFilterLoc` for the queries of a chunk, dust_filter.cpp).
    pub(crate) fn mask_chunk(&self, query: &Query, chunk: &Range<u32>) -> Vec<Range<u32>> {
        let length = query.length;
        let of = |context: &'_ Context, range: Range<u32>| {
            context.unmasked[range.start as usize..range.end as usize].to_vec()
        };
        let (letters, whole) = match (self.strands, &query.contexts[..]) {
            (Strands::Minus, [_, minus]) => {
                let range = length - chunk.end..length - chunk.start;
                (blastna::reverse_complement(&of(minus, range)), mirrored(&minus.masks, length))
            }
            (_, contexts) => (of(&contexts[0], chunk.clone()), contexts[0].masks.clone()),
        };
        self.window_masked(&letters).unwrap_or_else(|| {
            let masks = lists::masks_of_chunk(&whole, self.common.query_start_in_record, chunk);
            self.dusted_with(&letters, masks)
        })
    }

    /// Returns `masks` together with the DUST masks of these letters. Unless DUST finds nothing,
    /// ranges that overlap or touch are joined (`s_CombineDustMasksWithUserProvidedMasks`,
    /// dust_filter.cpp).
    fn dusted_with(&self, letters: &[u8], masks: Vec<Range<u32>>) -> Vec<Range<u32>> {
        let dusted = self.dust_ranges(letters);
        match dusted.is_empty() {
            true => mask::combine(masks),
            false => mask::merge_touching([masks, dusted].concat()),
        }
    }

    /// Returns the ranges that WindowMasker masks; `None` if it is not used. They replace all other
    /// masks (`Blast_FindWindowMaskerLoc`, winmask_filter.cpp).
    fn window_masked(&self, letters: &[u8]) -> Option<Vec<Range<u32>>> {
        let masker = self.window_masker.as_ref()?;
        Some(match self.strands {
            Strands::Plus | Strands::Both => windowmasker::mask(letters, &masker.counts),
            // If only the minus strand is searched, BLAST+ masks that strand, but uses the
            // positions as positions of the plus strand.
            Strands::Minus => {
                windowmasker::mask(&blastna::reverse_complement(letters), &masker.counts)
            }
        })
    }

    /// Returns the DUST ranges of the plus strand. If only the minus strand is searched, DUST reads
    /// the minus strand, which changes the ends of ranges.
    fn dust_ranges(&self, letters: &[u8]) -> Vec<Range<u32>> {
        let Some(dust) = &self.dust else { return Vec::new() };
        match self.strands {
            Strands::Plus | Strands::Both => dust::mask(letters, dust),
            Strands::Minus => {
                let opposite = dust::mask(&blastna::reverse_complement(letters), dust);
                mirrored(&opposite, letters.len() as u32)
            }
        }
    }
}

/// Converts ranges of a strand of `length` letters to positions on the opposite strand.
pub(super) fn mirrored(intervals: &[Range<u32>], length: u32) -> Vec<Range<u32>> {
    intervals.iter().rev().map(|interval| length - interval.end..length - interval.start).collect()
}
