//! Queries prepared for a search: masked, with their statistics (rules 2).

use std::ops::Range;
use std::sync::Arc;

use fleetblast_seq::frame::Frame;
use fleetblast_stats::karlin::KarlinParameters;
use fleetblast_stats::length::{self, AlignmentLengthModel};
use serde::{Deserialize, Serialize};

use crate::params::{CommonParams, DatabaseTotals};
use crate::pssm::Pssm;

/// A query as read from the input, before masking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryInput {
    /// Letters, already cut to `-query_loc`: NCBIstdaa codes of a protein, blastna codes of
    /// nucleotides.
    pub letters: Vec<u8>,
    /// Lower-case ranges, relative to `letters`.
    pub lower_case: Vec<Range<u32>>,
    /// Ranges similar to repeats, relative to `letters` (`-filtering_db`); they are masked.
    pub repeats: Vec<Range<u32>>,
}

impl QueryInput {
    fn length(&self) -> u32 {
        self.letters.len() as u32
    }
}

/// A query prepared for the search.
#[derive(Clone, Debug)]
pub struct Query {
    /// Number of letters of the query as read.
    pub length: u32,
    /// Contexts of the query, ordered by number. A protein has one. Never empty.
    pub contexts: Vec<Context>,
    /// PSSM of the query; `None` if a matrix scores its letters.
    pub pssm: Option<Arc<Pssm>>,
}

/// A query as one strand or frame, with its own masks and statistics.
#[derive(Clone, Debug)]
pub struct Context {
    /// Strand or frame.
    pub frame: Frame,
    /// Unmasked letters; empty if the context is not searched. In proteins `X` replaces `O`.
    pub unmasked: Arc<[u8]>,
    /// Letters as reports show them: `unmasked`, except for ambiguous codons.
    pub shown: Arc<[u8]>,
    /// Letters for scoring: `unmasked`, with `X` or `N` for hard-masked letters.
    pub letters: Arc<[u8]>,
    /// Lower-case ranges, relative to the query as it was read.
    pub lower_case: Vec<Range<u32>>,
    /// Masked ranges (low complexity and lower case), combined and ascending, for the look-up table
    /// and for display.
    pub masks: Vec<Range<u32>>,
    /// Ungapped statistics for this context's composition. Without them the context cannot have
    /// hits.
    pub karlin: Option<KarlinParameters>,
    /// Length adjustment, as the footer of a report shows it.
    pub length_adjustment: i32,
    /// Effective search space (or `-searchsp`).
    pub search_space: i64,
}

/// Masks and statistics of a [`Query`], which take time to compute.
/// [`Search::query_from_preparation`](crate::search::Search::query_from_preparation) creates the
/// query from them without computing them again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueryPreparation {
    contexts: Vec<ContextPreparation>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ContextPreparation {
    masks: Vec<Range<u32>>,
    karlin: Option<KarlinParameters>,
    length_adjustment: i32,
    search_space: i64,
}

/// Rules by which one kind of search prepares queries: contexts, masks and statistics.
pub(crate) trait QueryRules {
    /// Returns the parameters that all kinds of search have.
    fn common(&self) -> &CommonParams;

    /// Returns the frame and the letters of each context, in the order of their numbers. A context
    /// that is not searched has no letters. There is at least one context.
    fn context_letters(&self, input: &QueryInput) -> Vec<(Frame, Vec<u8>)>;

    /// Returns the letters of each context as reports show them. `None` if they equal the letters
    /// that [`QueryRules::context_letters`] returns.
    fn displayed_letters(&self, _input: &QueryInput) -> Option<Vec<Vec<u8>>> {
        None
    }

    /// Returns the masked ranges of each context.
    fn masks(
        &self,
        input: &QueryInput,
        context_letters: &[(Frame, Vec<u8>)],
    ) -> Vec<Vec<Range<u32>>>;

    /// Returns the code that replaces hard-masked letters.
    fn masked_letter(&self) -> u8;

    /// Returns the ungapped statistics of a context with these letters, if they exist.
    fn ungapped(&self, letters: &[u8]) -> Option<KarlinParameters>;

    /// Returns whether [`QueryRules::ungapped`] would return statistics. Faster where possible.
    fn has_ungapped(&self, letters: &[u8]) -> bool;

    /// Returns the model of effective lengths for these ungapped statistics.
    fn length_model(&self, karlin: &KarlinParameters) -> AlignmentLengthModel;

    /// Returns the length adjustment of a context of `len` letters with these statistics (rules
    /// 1.5).
    fn length_adjustment(
        &self,
        len: usize,
        karlin: &KarlinParameters,
        totals: &DatabaseTotals,
    ) -> i32 {
        let model = self.length_model(karlin);
        model.length_adjustment(len as i32, totals.space_residues, totals.sequences)
    }

    /// Returns the letters of a context. Masked letters are replaced, unless masks are soft.
    fn hard_masked(&self, letters: &[u8], masks: &[Range<u32>]) -> Vec<u8> {
        let mut masked = letters.to_vec();
        if !self.common().soft_masking {
            for range in masks {
                masked[range.start as usize..range.end as usize].fill(self.masked_letter());
            }
        }
        masked
    }

    /// Returns the letters of a context for scoring. Without hard masks they share the memory of
    /// `unmasked`, so that a genome is in memory only once.
    fn scoring_letters(&self, unmasked: &Arc<[u8]>, masks: &[Range<u32>]) -> Arc<[u8]> {
        match self.common().soft_masking || masks.is_empty() {
            true => Arc::clone(unmasked),
            false => self.hard_masked(unmasked, masks).into(),
        }
    }
}

impl Query {
    /// Masks a query and computes its statistics for a search of a database with the given totals.
    pub(crate) fn new(
        input: &QueryInput,
        rules: &impl QueryRules,
        totals: &DatabaseTotals,
    ) -> Query {
        let context_letters = rules.context_letters(input);
        let masks = rules.masks(input, &context_letters);
        let context = |((frame, unmasked), masks): ((Frame, Vec<u8>), Vec<Range<u32>>)| {
            let unmasked = Arc::from(unmasked);
            let letters = rules.scoring_letters(&unmasked, &masks);
            let karlin = rules.ungapped(&letters);
            let (length_adjustment, search_space) =
                search_space(letters.len(), karlin.as_ref(), rules, totals);
            let preparation = ContextPreparation { masks, karlin, length_adjustment, search_space };
            Context::from_preparation(frame, unmasked, letters, input, preparation)
        };
        let contexts = context_letters.into_iter().zip(masks).map(context).collect();
        let contexts = with_shown(contexts, rules.displayed_letters(input));
        Query { length: input.length(), contexts, pssm: None }
    }

    /// Returns whether the query from [`Query::new`] [can be searched](Query::is_searchable). This
    /// takes a fraction of the time of creating the query.
    pub(crate) fn has_statistics(input: &QueryInput, rules: &impl QueryRules) -> bool {
        let context_letters = rules.context_letters(input);
        if rules.common().soft_masking {
            return context_letters.iter().any(|(_, unmasked)| rules.has_ungapped(unmasked));
        }
        let masks = rules.masks(input, &context_letters);
        context_letters
            .iter()
            .zip(masks)
            .any(|((_, unmasked), masks)| rules.has_ungapped(&rules.hard_masked(unmasked, &masks)))
    }

    /// Creates the query that [`Query::new`] creates with the same parameters. Takes its masks and
    /// statistics from `preparation`.
    pub(crate) fn from_preparation(
        input: &QueryInput,
        rules: &impl QueryRules,
        preparation: QueryPreparation,
    ) -> Query {
        let context = |((frame, unmasked), preparation): ((Frame, Vec<u8>), ContextPreparation)| {
            let unmasked = Arc::from(unmasked);
            let letters = rules.scoring_letters(&unmasked, &preparation.masks);
            Context::from_preparation(frame, unmasked, letters, input, preparation)
        };
        let context_letters = rules.context_letters(input).into_iter();
        let contexts = context_letters.zip(preparation.contexts).map(context).collect();
        let contexts = with_shown(contexts, rules.displayed_letters(input));
        Query { length: input.length(), contexts, pssm: None }
    }

    /// Sets the PSSM of the query, which must have a position for each letter.
    #[must_use]
    pub fn with_pssm(self, pssm: Arc<Pssm>) -> Query {
        Query { pssm: Some(pssm), ..self }
    }

    /// Returns whether any context has statistics. Without statistics a query cannot have hits.
    pub fn is_searchable(&self) -> bool {
        self.contexts.iter().any(|context| context.karlin.is_some())
    }

    /// Returns the masks and statistics, from which the query can be created again.
    pub fn to_preparation(&self) -> QueryPreparation {
        QueryPreparation { contexts: self.contexts.iter().map(Context::to_preparation).collect() }
    }

    /// Returns the first context. Reports show its statistics for the whole query.
    pub fn first(&self) -> &Context {
        &self.contexts[0]
    }
}

impl Context {
    fn from_preparation(
        frame: Frame,
        unmasked: Arc<[u8]>,
        letters: Arc<[u8]>,
        input: &QueryInput,
        preparation: ContextPreparation,
    ) -> Context {
        let ContextPreparation { masks, karlin, length_adjustment, search_space } = preparation;
        let lower_case = input.lower_case.clone();
        Context {
            frame,
            shown: Arc::clone(&unmasked),
            unmasked,
            letters,
            lower_case,
            masks,
            karlin,
            length_adjustment,
            search_space,
        }
    }

    fn to_preparation(&self) -> ContextPreparation {
        let &Context { karlin, length_adjustment, search_space, .. } = self;
        ContextPreparation { masks: self.masks.clone(), karlin, length_adjustment, search_space }
    }
}

/// Replaces the letters that reports show, context by context. `None` changes nothing.
fn with_shown(mut contexts: Vec<Context>, shown: Option<Vec<Vec<u8>>>) -> Vec<Context> {
    for (context, shown) in contexts.iter_mut().zip(shown.unwrap_or_default()) {
        context.shown = shown.into();
    }
    contexts
}

/// Returns the length adjustment and the effective search space of a context (rules 1.5). Both are
/// 0 if the context has no statistics. They are also 0 if the database is empty and no search space
/// is given (`BLAST_CalcEffLengths`, blast_setup.c).
fn search_space(
    len: usize,
    karlin: Option<&KarlinParameters>,
    rules: &impl QueryRules,
    totals: &DatabaseTotals,
) -> (i32, i64) {
    let given = rules.common().search_space;
    let Some(karlin) = karlin else { return (0, 0) };
    if totals.is_empty && given.is_none() {
        return (0, 0);
    }
    let adjustment = rules.length_adjustment(len, karlin, totals);
    let space = given.unwrap_or_else(|| {
        length::effective_search_space(
            len as i32,
            totals.space_residues,
            totals.sequences,
            adjustment,
        )
    });
    (adjustment, space)
}

/// Returns the total length of contexts with the sentinels between them, and the number of
/// contexts. An empty context has no sentinel after it.
pub(crate) fn concatenated_length(lengths: impl Iterator<Item = usize>) -> (usize, usize) {
    let (mut end, mut next, mut count) = (0, 0, 0);
    for length in lengths {
        end = next + length;
        next = if length == 0 { end } else { end + 1 };
        count += 1;
    }
    (end, count)
}
