//! Describes which queries are searched together, and which properties of their batch change their
//! results.
//!
//! BLAST+ searches a batch of queries at once, or a long batch in chunks. A [`Batch`] describes
//! this. A [`Grouping`] describes consecutive queries, which may be a whole batch or a few queries
//! of one. It contains their chunks, and the properties of the rest of the batch that change their
//! results. The same queries with equal groupings give the same results, whatever their batches.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::batches;
use crate::lists::{QueryChunk, split};
use crate::nucleotide::{BatchContext, TracebackContext};
use crate::params::{DatabaseTotals, Params};
use crate::protein;
use crate::query::{Query, concatenated_length};

/// Maximum number of letters of nucleotide queries in a group, unless BLAST+ searches more letters
/// together. Their lookup tables need some 30 bytes per letter.
const MAX_NUCLEOTIDE_LETTERS: u64 = 5 << 20;
/// Maximum number of letters of proteins or translated queries in a group. Their lookup tables need
/// some 70 bytes per residue. A base counts as two residues, one on each strand.
const MAX_PROTEIN_LETTERS: u64 = 1 << 18;
/// If each thread searches a group of its own, the groups in memory have about this many times the
/// maximum number of letters of a group, at most twice as many.
const MAX_AT_ONCE: u64 = 4;
/// Approximate number of groups for each thread. With several groups, few threads are idle while
/// the last groups are searched.
const SEARCHERS_PER_THREAD: usize = 4;

/// Rule that decides into how many groups the chunks of a block are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupDivision {
    /// As few groups as the maximum number of letters in a group allows, searched one after
    /// another.
    Few,
    /// Several groups for each thread. The rule [`GroupDivision::Few`] applies instead if there are
    /// too few groups, or if the tables of all threads need too much memory.
    ForThreads {
        /// Number of threads.
        threads: usize,
        /// Number of groups that the division must exceed; otherwise [`GroupDivision::Few`]
        /// applies.
        groups_to_exceed: usize,
    },
}

/// Description of how the queries of a block are searched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Grouping {
    /// Number of queries.
    queries: usize,
    /// Chunks of the queries, ordered by [`QueryChunk::batch_or_chunk`].
    chunks: Vec<QueryChunk>,
    /// Properties of the batches of nucleotide queries, indexed by [`QueryChunk::batch_or_chunk`].
    batch_contexts: Vec<BatchContext>,
    /// Parameters of the nucleotide traceback that depend on the batch, by query.
    traceback_params: Vec<TracebackContext>,
    /// Lowest cut-off score of HSPs in the batch of each query. Empty unless HSPs of proteins are
    /// linked.
    least_cutoffs: Vec<i32>,
}

/// Description of how BLAST+ searches a batch of queries.
#[derive(Clone, Debug)]
pub struct Batch {
    queries: usize,
    chunks: Vec<QueryChunk>,
    /// Properties of each set of nucleotide queries that is searched together, without neighbouring
    /// letters, indexed by [`QueryChunk::batch_or_chunk`].
    batch_contexts: Vec<BatchContext>,
    /// Parameters of the traceback; `None` for proteins.
    traceback_params: Option<TracebackContext>,
    /// Lowest cut-off score of HSPs in the batch; `None` unless HSPs of proteins are linked.
    least_cutoff: Option<i32>,
}

impl Batch {
    /// Describes a batch of these queries.
    pub(crate) fn new(queries: &[&Query], (params, totals): (&Params, &DatabaseTotals)) -> Batch {
        let chunk = params.chunk().filter(|_| !params.common().ungapped);
        let lengths: Vec<u32> = queries.iter().map(|query| query.length).collect();
        let spaces = |query: usize| {
            queries[query].contexts.iter().map(|context| context.search_space).collect()
        };
        let mut chunks = split(&lengths, chunk, spaces);
        let mut least_cutoff = None;
        let (batch_contexts, traceback_params) = match params {
            Params::Protein(params) => {
                if params.linked_gaps().is_some() {
                    for together in chunks.chunk_by_mut(|a, b| a.batch_or_chunk == b.batch_or_chunk)
                    {
                        let lengths =
                            together.iter().flat_map(|chunk| chunk.frame_lengths(queries));
                        let average = average_length(lengths);
                        together.iter_mut().for_each(|chunk| chunk.average_length = average);
                    }
                    let contexts = queries.iter().flat_map(|query| &query.contexts);
                    let average = average_length(contexts.map(|context| context.letters.len()));
                    least_cutoff = Some(protein::least_cutoff(queries, average, params, totals));
                }
                // An ungapped search does not cut the batch, so all its queries share this value.
                let even_linking = protein::even_linking(queries, params, totals);
                chunks.iter_mut().for_each(|chunk| chunk.even_linking = even_linking);
                (Vec::new(), None)
            }
            Params::Nucleotide(params) => {
                for chunk in chunks.iter_mut().filter(|chunk| chunk.chunked) {
                    chunk.masks = Some(params.mask_chunk(queries[chunk.query], &chunk.range));
                }
                let together = chunks.chunk_by(|a, b| a.batch_or_chunk == b.batch_or_chunk);
                let batch_context = |chunks: &[QueryChunk]| {
                    BatchContext::for_batch(queries, chunks, (params, totals))
                };
                (
                    together.map(batch_context).collect(),
                    Some(TracebackContext::new(queries, params)),
                )
            }
        };
        Batch { queries: queries.len(), chunks, batch_contexts, traceback_params, least_cutoff }
    }

    /// Returns the grouping of the queries `range` of the batch. `queries` holds all queries of the
    /// batch. The grouping includes at most `reach` neighbouring letters on each side, for
    /// extensions that reach them.
    ///
    /// # Panics
    /// If there are fewer queries than in the batch.
    pub(crate) fn part(
        &self,
        queries: &[&Query],
        range: Range<usize>,
        reach: usize,
        (params, totals): (&Params, &DatabaseTotals),
    ) -> Grouping {
        let mut grouping = Grouping { queries: range.len(), ..Grouping::default() };
        for together in self.chunks.chunk_by(|a, b| a.batch_or_chunk == b.batch_or_chunk) {
            let first = together.partition_point(|chunk| chunk.query < range.start);
            let end = together.partition_point(|chunk| chunk.query < range.end);
            if first == end {
                continue;
            }
            let batch_or_chunk = grouping.chunks.last().map_or(0, |last| last.batch_or_chunk + 1);
            let own = |chunk: &QueryChunk| QueryChunk {
                query: chunk.query - range.start,
                batch_or_chunk,
                ..chunk.clone()
            };
            grouping.chunks.extend(together[first..end].iter().map(own));
            if let (Some(batch_context), Params::Nucleotide(params)) =
                (self.batch_contexts.get(together[0].batch_or_chunk), params)
            {
                let rules = (params, totals);
                let batch_context = batch_context.for_consecutive_chunks(
                    queries,
                    together,
                    first..end,
                    reach,
                    rules,
                );
                grouping.batch_contexts.push(batch_context);
            }
        }
        let of_each = |params| vec![params; range.len()];
        grouping.traceback_params = self.traceback_params.map(of_each).unwrap_or_default();
        let of_each = |least| vec![least; range.len()];
        grouping.least_cutoffs = self.least_cutoff.map(of_each).unwrap_or_default();
        grouping
    }

    /// Returns the grouping of the whole batch.
    pub(crate) fn whole(&self, queries: &[&Query], rules: (&Params, &DatabaseTotals)) -> Grouping {
        self.part(queries, 0..self.queries, 0, rules)
    }
}

impl Grouping {
    /// Returns whether some query is searched in several chunks.
    pub fn has_chunked_queries(&self) -> bool {
        self.chunks().len() > self.queries()
    }

    /// Creates the grouping of queries. `batches` holds the number of queries of each batch.
    pub(crate) fn of_batches(
        queries: &[Query],
        batches: &[usize],
        rules: (&Params, &DatabaseTotals),
    ) -> Grouping {
        let mut grouping = Grouping::default();
        for range in batches::batch_ranges(batches) {
            let queries: Vec<&Query> = queries[range].iter().collect();
            grouping.append_grouping(Batch::new(&queries, rules).whole(&queries, rules));
        }
        grouping
    }

    /// Appends the grouping of the following queries, which are searched separately.
    pub fn append_grouping(&mut self, other: Grouping) {
        let search = self.chunks.last().map_or(0, |last| last.batch_or_chunk + 1);
        let first = self.queries;
        let moved = |chunk: QueryChunk| QueryChunk {
            query: chunk.query + first,
            batch_or_chunk: chunk.batch_or_chunk + search,
            ..chunk
        };
        self.queries += other.queries;
        self.chunks.extend(other.chunks.into_iter().map(moved));
        self.batch_contexts.extend(other.batch_contexts);
        self.traceback_params.extend(other.traceback_params);
        self.least_cutoffs.extend(other.least_cutoffs);
    }

    /// Returns the number of queries.
    pub fn queries(&self) -> usize {
        self.queries
    }

    /// Returns the chunks of the queries, in the order of their hit lists.
    pub(crate) fn chunks(&self) -> &[QueryChunk] {
        &self.chunks
    }

    /// Divides the chunks into groups that are prepared on demand, so that memory does not grow
    /// with the length of queries. Chunks that BLAST+ searches together stay together. Returns the
    /// ranges of chunks of the groups, and whether one thread should search each group.
    pub(crate) fn searcher_ranges(
        &self,
        params: &Params,
        division: GroupDivision,
    ) -> (Vec<Range<usize>>, bool) {
        let most = match params {
            Params::Nucleotide(_) => MAX_NUCLEOTIDE_LETTERS,
            // A pattern search has no lookup tables, and searches all chunks at once.
            Params::Protein(params) if params.pattern.is_some() => {
                return (self.searcher_ranges_within(u64::MAX), false);
            }
            Params::Protein(_) => MAX_PROTEIN_LETTERS,
        };
        let divided = match division {
            GroupDivision::Few => None,
            GroupDivision::ForThreads { threads, groups_to_exceed } => {
                self.ranges_for_threads(most, threads, groups_to_exceed)
            }
        };
        match divided {
            Some(ranges) => (ranges, true),
            None => (self.searcher_ranges_within(most), false),
        }
    }

    /// Divides the chunks as [`GroupDivision::ForThreads`] describes. `most` is the maximum number
    /// of letters in a group that is searched alone. Returns `None` if the rule does not apply.
    fn ranges_for_threads(
        &self,
        most: u64,
        threads: usize,
        more_than: usize,
    ) -> Option<Vec<Range<usize>>> {
        let groups = (SEARCHERS_PER_THREAD * threads) as u64;
        let fair = count_letters(&self.chunks).div_ceil(groups.max(1));
        let share = MAX_AT_ONCE * most / threads.max(1) as u64;
        let ranges = self.searcher_ranges_within(most.min(fair).min(share));
        // Chunks that are searched together may have more letters.
        let fits =
            ranges.iter().all(|range| count_letters(&self.chunks[range.clone()]) <= 2 * share);
        (fits && ranges.len() > more_than).then_some(ranges)
    }

    /// Divides the chunks into groups of at most `most` letters, unless BLAST+ searches more
    /// letters together.
    fn searcher_ranges_within(&self, most: u64) -> Vec<Range<usize>> {
        let (mut searcher_ranges, mut range, mut sum) = (Vec::new(), 0..0, 0);
        for together in self.chunks.chunk_by(|a, b| a.batch_or_chunk == b.batch_or_chunk) {
            let more = count_letters(together);
            if sum > 0 && sum + more > most {
                let next = range.end..range.end;
                searcher_ranges.push(std::mem::replace(&mut range, next));
                sum = 0;
            }
            sum += more;
            range.end += together.len();
        }
        searcher_ranges.push(range);
        searcher_ranges
    }

    /// Returns the properties of the batches of nucleotide queries, indexed by
    /// [`QueryChunk::batch_or_chunk`].
    pub(crate) fn batch_contexts(&self) -> &[BatchContext] {
        &self.batch_contexts
    }

    /// Returns the lowest cut-off score of HSPs in the batch of a query; `None` unless HSPs of
    /// proteins are linked.
    pub(crate) fn least_cutoff(&self, query: usize) -> Option<i32> {
        self.least_cutoffs.get(query).copied()
    }

    /// Returns the traceback parameters of a nucleotide query that depend on its batch.
    pub(crate) fn traceback_params(&self, query: usize) -> TracebackContext {
        self.traceback_params[query]
    }
}

/// Returns the number of letters of these chunks.
fn count_letters(chunks: &[QueryChunk]) -> u64 {
    chunks.iter().map(|chunk| chunk.range.len() as u64).sum()
}

/// Returns the average length of contexts that are searched together, including the sentinels
/// between them (`BlastHitSavingParametersUpdate`, blast_parameters.c).
fn average_length(lengths: impl Iterator<Item = usize>) -> i32 {
    let (length, count) = concatenated_length(lengths);
    (length / count.max(1)) as i32
}

#[cfg(test)]
mod tests;
