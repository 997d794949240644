//! A strand of a piece of a query, as it is searched.

use std::borrow::Cow;
use std::ops::Range;

use fleetblast_seq::mask;
use fleetblast_stats::karlin::KarlinBlock;

use super::seeds::{self, SeedRules};
use crate::lists::Piece;
use crate::params::{NucleotideParams, Template, TemplateKind};
use crate::query::{Query, QueryRules};

/// A strand of a piece of a query.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    /// Where the piece starts in the strand.
    pub offset: u32,
    /// Blastna letters for scoring; none if the strand is not searched.
    pub letters: &'a [u8],
    /// Its letters as they were.
    pub unmasked: &'a [u8],
    /// Its ungapped statistics; `None` if it finds nothing.
    pub karlin: Option<KarlinBlock>,
    /// Where words may be indexed.
    pub regions: Vec<Range<u32>>,
}

impl Reading<'_> {
    /// A strand, by number, of a piece.
    pub fn new<'a>(
        query: &'a Query,
        piece: &Piece,
        context: u8,
        params: &NucleotideParams,
    ) -> Reading<'a> {
        let whole = &query.contexts[usize::from(context)];
        if whole.letters.is_empty() {
            let (letters, unmasked) = (&[], &[]);
            return Reading { offset: 0, letters, unmasked, karlin: None, regions: Vec::new() };
        }
        let range = piece.part_of(query.length, context);
        let of = |letters: &'a [u8]| &letters[range.start as usize..range.end as usize];
        let (letters, unmasked) = (of(&whole.letters), of(&whole.unmasked));
        let is_whole = letters.len() == whole.letters.len();
        let karlin = if is_whole { whole.karlin } else { params.ungapped(letters) };
        let masks = match is_whole {
            true => Cow::Borrowed(&whole.masks),
            false => Cow::Owned(within(&whole.masks, &range)),
        };
        let regions = match karlin {
            Some(_) => mask::complement(&masks, letters.len() as u32),
            None => Vec::new(),
        };
        Reading { offset: range.start, letters, unmasked, karlin, regions }
    }
}

/// Masks within a range, counted from its start.
fn within(masks: &[Range<u32>], range: &Range<u32>) -> Vec<Range<u32>> {
    masks
        .iter()
        .map(|mask| mask.start.max(range.start)..mask.end.min(range.end))
        .filter(|mask| mask.start < mask.end)
        .map(|mask| mask.start - range.start..mask.end - range.start)
        .collect()
}

/// How seeds are found.
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
