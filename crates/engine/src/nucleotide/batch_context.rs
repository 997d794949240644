//! Properties of a batch on which the result of each of its queries depends.
//!
//! * The lookup table of the words of all queries, and the memory of diagonals: [`Indexing`].
//! * The least lambda, which sets the X-drops of all queries.
//! * The letters next to a query: an ungapped extension by groups of four bases does not stop at
//!   the end of the query.

use std::ops::Range;

use fleetblast_seq::nucleotide::blastna::SENTINEL;
use serde::{Deserialize, Serialize};

use super::limits::{ContextLimits, gapped_x_drops};
use super::prepared_strand::{self, PreparedStrand, seed_rules};
use super::seeds::{Indexing, NeighbourContext, Neighbours, UngappedLimits};
use crate::lists::QueryChunk;
use crate::params::{DatabaseTotals, NucleotideParams};
use crate::query::Query;

/// Number of contexts of a query: one for each strand.
pub(super) const STRANDS: u8 = 2;

/// Properties of the batch to which some chunks of queries belong. These chunks are the whole
/// batch, or consecutive chunks of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BatchContext {
    pub(super) indexing: Indexing,
    /// Preliminary X-drop of gapped extensions.
    pub(super) x_drop: i32,
    /// Parameters of sum statistics; `None` without sum statistics.
    pub(super) linking: Option<BatchLinking>,
    /// The neighbouring letters before the first chunk.
    pub(super) before: Neighbours,
    /// The neighbouring letters after the last chunk.
    pub(super) after: Neighbours,
}

/// Parameters of sum statistics that depend on the whole batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BatchLinking {
    /// Mean length of the contexts of the batch.
    pub mean_length: i32,
    /// Least score of an ungapped HSP that is kept in some context of the batch; 0 without such
    /// contexts.
    pub least_cutoff: i32,
}

impl BatchContext {
    /// Returns whether there are neighbouring letters.
    #[cfg(test)]
    pub fn has_neighbours(&self) -> bool {
        [&self.before, &self.after].iter().any(|side| side.is_truncated || !side.letters.is_empty())
    }

    /// Computes the properties of a complete batch.
    pub fn for_batch(
        queries: &[&Query],
        chunks: &[QueryChunk],
        rules: (&NucleotideParams, &DatabaseTotals),
    ) -> BatchContext {
        let params = rules.0;
        let contexts =
            || chunks.iter().flat_map(|chunk| strands().map(move |context| (chunk, context)));
        let prepared: Vec<PreparedStrand> = contexts()
            .map(|(chunk, context)| {
                PreparedStrand::new(queries[chunk.query], chunk, context, params)
            })
            .collect();
        let spaces = contexts().map(|(chunk, context)| chunk.spaces[usize::from(context)]);
        let contexts = prepared.iter().map(|strand| (&*strand.letters, &strand.regions[..]));
        BatchContext {
            indexing: Indexing::new(contexts, &seed_rules(params)),
            x_drop: gapped_x_drops(
                prepared.iter().filter_map(|strand| strand.karlin.as_ref()),
                params,
            )
            .0,
            linking: params
                .sum_stats
                .then(|| BatchLinking::of_all(prepared.iter().zip(spaces), rules)),
            before: Neighbours::default(),
            after: Neighbours::default(),
        }
    }

    /// Computes the properties for the chunks `range` of the batch, with at most `reach`
    /// neighbouring letters on each side. `chunks` has all chunks of the batch.
    pub fn for_consecutive_chunks(
        &self,
        queries: &[&Query],
        chunks: &[QueryChunk],
        range: Range<usize>,
        reach: usize,
        (params, totals): (&NucleotideParams, &DatabaseTotals),
    ) -> BatchContext {
        let is_paired = params.window > 0;
        if !self.indexing.depends_on_neighbours() && !is_paired {
            return self.clone();
        }
        let letters = |chunk: &QueryChunk, context| {
            prepared_strand::letters(queries[chunk.query], chunk, context, params)
        };
        let (mut before, mut after) = (Neighbours::default(), Neighbours::default());
        let mut others = Vec::new();
        let earlier = chunks[..range.start].iter().rev();
        for (chunk, context) in earlier.flat_map(|p| strands().rev().map(move |c| (p, c))) {
            let letters = letters(chunk, context);
            if before.is_truncated {
                break;
            }
            if !letters.is_empty() {
                before.extend_to(std::iter::once(&SENTINEL), reach);
                let end = before.letters.len();
                before.extend_to(letters.iter().rev(), reach);
                let own = before.letters.len() - end;
                if is_paired && own > 0 {
                    let start = (end + own) as u32;
                    let strand = PreparedStrand::new(queries[chunk.query], chunk, context, params);
                    let space = chunk.spaces[usize::from(context)];
                    others.push(other(&strand, own as u32, start, space, (params, totals)));
                }
            }
        }
        before.letters.reverse();
        let count = before.letters.len() as u32;
        before.contexts_before.extend(others.into_iter().rev().map(|mut other| {
            other.start = count - other.start;
            for region in &mut other.regions {
                *region = region.start + other.start..region.end + other.start;
            }
            other
        }));
        let later = chunks[range.end..].iter();
        for (chunk, context) in later.flat_map(|p| strands().map(move |c| (p, c))) {
            let letters = letters(chunk, context);
            if after.is_truncated {
                break;
            }
            if !letters.is_empty() {
                after.extend_to(letters.iter().chain(std::iter::once(&SENTINEL)), reach);
            }
        }
        BatchContext { before, after, ..self.clone() }
    }
}

impl BatchLinking {
    fn of_all<'a>(
        prepared: impl Iterator<Item = (&'a PreparedStrand<'a>, i64)> + Clone,
        rules: (&NucleotideParams, &DatabaseTotals),
    ) -> BatchLinking {
        let mean_length = mean_length(prepared.clone().map(|(strand, _)| strand.letters.len()));
        let cutoffs = prepared.filter_map(|(strand, space)| {
            let length = strand.letters.len() as u32;
            let limits = ContextLimits::new(length, &strand.karlin?, space, mean_length, rules);
            Some(limits.cutoff_ungapped)
        });
        BatchLinking { mean_length, least_cutoff: cutoffs.min().unwrap_or(0) }
    }
}

/// Computes the mean length of concatenated contexts. The sentinel between two contexts counts.
fn mean_length(lengths: impl Iterator<Item = usize>) -> i32 {
    let lengths: Vec<usize> = lengths.collect();
    let Some((last, others)) = lengths.split_last() else { return 0 };
    let before: usize = others.iter().map(|&length| length + usize::from(length > 0)).sum();
    ((before + last) / lengths.len()) as i32
}

/// Creates the entry for the last `length` letters of a context before the searched chunks. Its
/// start counts from the end of the letters before these chunks, its regions count from the first
/// of the `length` letters.
fn other(
    strand: &PreparedStrand,
    length: u32,
    start: u32,
    space: i64,
    (params, totals): (&NucleotideParams, &DatabaseTotals),
) -> NeighbourContext {
    let whole = strand.letters.len() as u32;
    let limits = strand.karlin.map(|karlin| {
        // Neither limit depends on the lengths of other contexts.
        let limits = ContextLimits::new(whole, &karlin, space, 0, (params, totals));
        UngappedLimits { x_drop: limits.x_drop, cutoff: limits.cutoff_ungapped }
    });
    let first = whole - length;
    let regions = strand.indexed_regions().iter().filter(|region| region.end > first);
    let regions = regions.map(|region| region.start.max(first) - first..region.end - first);
    NeighbourContext { start, length, regions: regions.collect(), limits }
}

fn strands() -> Range<u8> {
    0..STRANDS
}

/// Parameters of the traceback that depend on all queries of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TracebackContext {
    /// Final X-drop of gapped extensions, in raw score units.
    pub x_drop: i32,
    /// Mean length of the contexts, with sum statistics; otherwise 0.
    pub mean_length: i32,
}

impl TracebackContext {
    /// Computes the parameters of a batch.
    pub fn new(queries: &[&Query], params: &NucleotideParams) -> TracebackContext {
        let contexts = || queries.iter().flat_map(|query| &query.contexts);
        let karlin = contexts().filter_map(|context| context.karlin.as_ref());
        let mean_length = match params.sum_stats {
            true => mean_length(contexts().map(|context| context.letters.len())),
            false => 0,
        };
        TracebackContext { x_drop: gapped_x_drops(karlin, params).1, mean_length }
    }
}
