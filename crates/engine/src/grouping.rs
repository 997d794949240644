//! Which queries are searched together, and which properties of their batch change the result of a
//! query.
//!
//! BLAST+ searches a batch of queries at once, or a long batch in chunks. A [`Batch`] describes
//! this. A [`Grouping`] has the part of it that a run of queries needs, which may be all of the
//! batch or a few of it: their chunks, and the properties of the others that matter. Two runs of
//! the same queries with equal groupings give the same results, whatever batches they were taken
//! from.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::batches;
use crate::lists::{Piece, split};
use crate::nucleotide::{BatchContext, TracebackContext};
use crate::params::{DatabaseTotals, Params};
use crate::protein;
use crate::query::{Query, concatenated_length};

/// Number of letters of nucleotide queries whose lookup tables are in memory at a time, unless a
/// single search has more: some 30 bytes each.
const MAX_NUCLEOTIDE_LETTERS: u64 = 5 << 20;
/// The same of proteins and of translated queries: some 70 bytes for each residue, and a base has
/// two, one of each strand.
const MAX_PROTEIN_LETTERS: u64 = 1 << 18;
/// Threads with groups of their own have, all together, tables of about this many times as many
/// letters in memory, or twice that.
const MAX_AT_ONCE: u64 = 4;
/// Groups for each thread, about, so that no thread is idle for long at the end.
const SEARCHERS_PER_THREAD: usize = 4;

/// Into how many groups the chunks of a block are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// As few as possible, to be searched one after another.
    Few,
    /// Some for each thread, if that makes enough, and not too much memory is needed for the tables
    /// of all threads; else few.
    ForThreads {
        /// Number of threads.
        threads: usize,
        /// There must be more groups than this.
        more_than: usize,
    },
}

/// How the queries of a block are searched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Grouping {
    /// Number of queries.
    queries: usize,
    /// Their chunks, ordered by search.
    pieces: Vec<Piece>,
    /// Properties of nucleotide batches, by [`Piece::search`].
    batch_contexts: Vec<BatchContext>,
    /// Batch parameters of the nucleotide traceback, by query.
    finals: Vec<TracebackContext>,
    /// Least score of an HSP in the batch, by query, if HSPs of proteins are linked.
    least_cutoffs: Vec<i32>,
}

/// How BLAST+ searches a batch of queries.
#[derive(Clone, Debug)]
pub struct Batch {
    queries: usize,
    pieces: Vec<Piece>,
    /// Properties of each search, with all its chunks and no neighbouring letters.
    batch_contexts: Vec<BatchContext>,
    /// For nucleotides.
    finals: Option<TracebackContext>,
    /// For proteins with linked HSPs.
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
        let mut pieces = split(&lengths, chunk, spaces);
        let mut least_cutoff = None;
        let (batch_contexts, finals) = match params {
            Params::Protein(params) => {
                if params.linked_gaps().is_some() {
                    for together in pieces.chunk_by_mut(|a, b| a.search == b.search) {
                        let lengths =
                            together.iter().flat_map(|piece| piece.frame_lengths(queries));
                        let average = average_length(lengths);
                        together.iter_mut().for_each(|piece| piece.average_length = average);
                    }
                    let contexts = queries.iter().flat_map(|query| &query.contexts);
                    let average = average_length(contexts.map(|context| context.letters.len()));
                    least_cutoff = Some(protein::least_cutoff(queries, average, params, totals));
                }
                // Without gaps a batch is not cut.
                let even_linking = protein::even_linking(queries, params, totals);
                pieces.iter_mut().for_each(|piece| piece.even_linking = even_linking);
                (Vec::new(), None)
            }
            Params::Nucleotide(params) => {
                for piece in pieces.iter_mut().filter(|piece| piece.chunked) {
                    piece.masks = Some(params.masks_of_piece(queries[piece.query], &piece.range));
                }
                let together = pieces.chunk_by(|a, b| a.search == b.search);
                let batch_context =
                    |pieces: &[Piece]| BatchContext::for_batch(queries, pieces, (params, totals));
                (
                    together.map(batch_context).collect(),
                    Some(TracebackContext::new(queries, params)),
                )
            }
        };
        Batch { queries: queries.len(), pieces, batch_contexts, finals, least_cutoff }
    }

    /// The grouping of some queries of the batch. `queries` are all queries of it. At most `reach`
    /// neighbouring letters are included, which matter to extensions that reach them.
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
        for together in self.pieces.chunk_by(|a, b| a.search == b.search) {
            let first = together.partition_point(|piece| piece.query < range.start);
            let end = together.partition_point(|piece| piece.query < range.end);
            if first == end {
                continue;
            }
            let search = grouping.pieces.last().map_or(0, |last| last.search + 1);
            let own =
                |piece: &Piece| Piece { query: piece.query - range.start, search, ..piece.clone() };
            grouping.pieces.extend(together[first..end].iter().map(own));
            if let (Some(batch_context), Params::Nucleotide(params)) =
                (self.batch_contexts.get(together[0].search), params)
            {
                let rules = (params, totals);
                let batch_context =
                    batch_context.for_run(queries, together, first..end, reach, rules);
                grouping.batch_contexts.push(batch_context);
            }
        }
        let of_each = |finals| vec![finals; range.len()];
        grouping.finals = self.finals.map(of_each).unwrap_or_default();
        let of_each = |least| vec![least; range.len()];
        grouping.least_cutoffs = self.least_cutoff.map(of_each).unwrap_or_default();
        grouping
    }

    /// The grouping of the whole batch.
    pub(crate) fn whole(&self, queries: &[&Query], rules: (&Params, &DatabaseTotals)) -> Grouping {
        self.part(queries, 0..self.queries, 0, rules)
    }
}

impl Grouping {
    /// Whether some query is searched in several chunks.
    pub fn has_pieces(&self) -> bool {
        self.pieces().len() > self.queries()
    }

    /// The grouping of queries in batches of these lengths.
    pub(crate) fn of_batches(
        queries: &[Query],
        batches: &[usize],
        rules: (&Params, &DatabaseTotals),
    ) -> Grouping {
        let mut grouping = Grouping::default();
        for range in batches::ranges(batches) {
            let queries: Vec<&Query> = queries[range].iter().collect();
            grouping.append(Batch::new(&queries, rules).whole(&queries, rules));
        }
        grouping
    }

    /// Appends the grouping of the queries after these, which are searched separately.
    pub fn append(&mut self, other: Grouping) {
        let search = self.pieces.last().map_or(0, |last| last.search + 1);
        let first = self.queries;
        let moved = |piece: Piece| Piece {
            query: piece.query + first,
            search: piece.search + search,
            ..piece
        };
        self.queries += other.queries;
        self.pieces.extend(other.pieces.into_iter().map(moved));
        self.batch_contexts.extend(other.batch_contexts);
        self.finals.extend(other.finals);
        self.least_cutoffs.extend(other.least_cutoffs);
    }

    /// Number of queries.
    pub fn queries(&self) -> usize {
        self.queries
    }

    /// The chunks of the queries, in the order of their lists.
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Divides the chunks into groups that are prepared on demand, so that memory does not grow
    /// with the length of queries. A search is never divided. Also returns whether the groups are
    /// for threads.
    pub(crate) fn searcher_ranges(
        &self,
        params: &Params,
        division: Division,
    ) -> (Vec<Range<usize>>, bool) {
        let most = match params {
            Params::Nucleotide(_) => MAX_NUCLEOTIDE_LETTERS,
            // It has no tables, and searches all chunks at once.
            Params::Protein(params) if params.pattern.is_some() => {
                return (self.searcher_ranges_within(u64::MAX), false);
            }
            Params::Protein(_) => MAX_PROTEIN_LETTERS,
        };
        let divided = match division {
            Division::Few => None,
            Division::ForThreads { threads, more_than } => {
                self.ranges_for_threads(most, threads, more_than)
            }
        };
        match divided {
            Some(ranges) => (ranges, true),
            None => (self.searcher_ranges_within(most), false),
        }
    }

    /// See [`Division::ForThreads`]; `most` is the number of letters of a group that is searched
    /// alone.
    fn ranges_for_threads(
        &self,
        most: u64,
        threads: usize,
        more_than: usize,
    ) -> Option<Vec<Range<usize>>> {
        let groups = (SEARCHERS_PER_THREAD * threads) as u64;
        let fair = letters(&self.pieces).div_ceil(groups.max(1));
        let share = MAX_AT_ONCE * most / threads.max(1) as u64;
        let ranges = self.searcher_ranges_within(most.min(fair).min(share));
        // A search may be longer.
        let fits = ranges.iter().all(|range| letters(&self.pieces[range.clone()]) <= 2 * share);
        (fits && ranges.len() > more_than).then_some(ranges)
    }

    /// The same with at most `most` letters in a group.
    fn searcher_ranges_within(&self, most: u64) -> Vec<Range<usize>> {
        let (mut searcher_ranges, mut range, mut sum) = (Vec::new(), 0..0, 0);
        for together in self.pieces.chunk_by(|a, b| a.search == b.search) {
            let more = letters(together);
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

    /// Properties of the batches of nucleotide queries, by [`Piece::search`].
    pub(crate) fn batch_contexts(&self) -> &[BatchContext] {
        &self.batch_contexts
    }

    /// The least score of an HSP in the batch of a query, if HSPs of proteins are linked.
    pub(crate) fn least_cutoff(&self, query: usize) -> Option<i32> {
        self.least_cutoffs.get(query).copied()
    }

    /// Batch parameters of the traceback of a nucleotide query.
    pub(crate) fn finals(&self, query: usize) -> TracebackContext {
        self.finals[query]
    }
}

/// Number of letters of some chunks.
fn letters(pieces: &[Piece]) -> u64 {
    pieces.iter().map(|piece| piece.range.len() as u64).sum()
}

/// Average of the lengths of contexts that are searched together, with the sentinels between them
/// (`BlastHitSavingParametersUpdate`, blast_parameters.c).
fn average_length(lengths: impl Iterator<Item = usize>) -> i32 {
    let (length, count) = concatenated_length(lengths);
    (length / count.max(1)) as i32
}

#[cfg(test)]
mod tests;
