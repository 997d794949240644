//! A strand of a chunk of a query, prepared for the search.

use std::borrow::Cow;
use std::ops::Range;

use fleetblast_seq::mask;
use fleetblast_stats::karlin::KarlinParameters;

use super::query::mirrored;
use super::seeds::{self, SeedRules};
use crate::lists::QueryChunk;
use crate::params::{NucleotideParams, Template, TemplateKind};
use crate::query::{Query, QueryRules as _};

/// A strand of a chunk of a query, with its letters, statistics and unmasked ranges.
#[derive(Debug)]
pub(super) struct PreparedStrand<'a> {
    /// Start of the chunk in the strand of the whole query.
    pub offset: u32,
    /// Blastna letters for scoring; empty if the strand is not searched.
    pub letters: Cow<'a, [u8]>,
    /// Letters of the strand without masks.
    pub unmasked: &'a [u8],
    /// Ungapped statistics of the strand; `None` if it cannot have hits.
    pub karlin: Option<KarlinParameters>,
    /// Unmasked ranges, counted from the start of the chunk. BLAST+ chooses the lookup table by
    /// them before it knows the statistics (`BLAST_MainSetUp`, blast_setup.c).
    pub regions: Vec<Range<u32>>,
}

impl PreparedStrand<'_> {
    /// Returns the ranges where words are indexed; none if the strand has no statistics.
    pub fn indexed_regions(&self) -> &[Range<u32>] {
        if self.karlin.is_some() { &self.regions } else { &[] }
    }

    /// Prepares strand number `context` of a chunk.
    pub fn new<'a>(
        query: &'a Query,
        chunk: &QueryChunk,
        context: u8,
        params: &NucleotideParams,
    ) -> PreparedStrand<'a> {
        let whole = &query.contexts[usize::from(context)];
        if whole.letters.is_empty() {
            let (letters, unmasked) = (Cow::default(), &[][..]);
            return PreparedStrand {
                offset: 0,
                letters,
                unmasked,
                karlin: None,
                regions: Vec::new(),
            };
        }
        let range = chunk.range_in_strand(query.length, context);
        let unmasked = &whole.unmasked[range.start as usize..range.end as usize];
        let letters = letters(query, chunk, context, params);
        let length = letters.len() as u32;
        let (karlin, regions) = match masks(chunk, context) {
            Some(masks) => (params.ungapped(&letters), mask::unmasked_ranges(&masks, length)),
            None => (whole.karlin, mask::unmasked_ranges(&whole.masks, length)),
        };
        PreparedStrand { offset: range.start, letters, unmasked, karlin, regions }
    }
}

/// Returns the letters for scoring of strand number `context` of a chunk; empty if the strand is
/// not searched.
pub(super) fn letters<'a>(
    query: &'a Query,
    chunk: &QueryChunk,
    context: u8,
    params: &NucleotideParams,
) -> Cow<'a, [u8]> {
    let whole = &query.contexts[usize::from(context)];
    if whole.letters.is_empty() {
        return Cow::default();
    }
    let range = chunk.range_in_strand(query.length, context);
    let range = range.start as usize..range.end as usize;
    match masks(chunk, context) {
        Some(masks) if !params.common.soft_masking => {
            Cow::Owned(params.hard_masked(&whole.unmasked[range], &masks))
        }
        _ => Cow::Borrowed(&whole.letters[range]),
    }
}

/// Returns the masks of strand number `context` of a chunk; `None` if the chunk has no masks of its
/// own.
fn masks(chunk: &QueryChunk, context: u8) -> Option<Cow<'_, [Range<u32>]>> {
    let plus = chunk.masks.as_deref()?;
    let length = chunk.range.end - chunk.range.start;
    Some(if context == 0 { Cow::Borrowed(plus) } else { Cow::Owned(mirrored(plus, length)) })
}

/// Converts the parameters of a search to its rules for finding seeds.
pub(super) fn seed_rules(params: &NucleotideParams) -> SeedRules {
    let template = params.template.map(|Template { kind, length }| seeds::Template {
        weight: params.word_size,
        length,
        kind: match kind {
            TemplateKind::Coding => seeds::TemplateKind::Coding,
            TemplateKind::Optimal => seeds::TemplateKind::Optimal,
            TemplateKind::Both => seeds::TemplateKind::CodingAndOptimal,
        },
    });
    SeedRules {
        word_size: params.word_size,
        template,
        window: params.window,
        off_diagonal_range: params.off_diagonal_range,
        checks_masks: params.common.soft_masking,
        reward: params.scoring.reward,
        penalty: params.scoring.penalty,
        matrix: params.scoring.scores,
    }
}
