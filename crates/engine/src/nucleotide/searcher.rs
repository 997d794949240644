//! The preliminary search of a block of nucleotide queries.

use std::ops::Range;

use fleetblast_seq::nucleotide::Packed;

use super::batch_context::{BatchContext, STRANDS};
use super::limits::ContextLimits;
use super::prepared_strand::{PreparedStrand, seed_rules};
use super::seeds::{self, Contexts, Seeds, UngappedLimits};
use super::stage::{ChunkStrand, Stage, StageScratch, Subject};
use crate::kernel::Kernel;
use crate::lists::{HitLists, Merger, QueryChunk};
use crate::params::{DatabaseTotals, NucleotideParams};
use crate::query::Query;
use crate::subjects::Subjects;

/// Some consecutive chunks of a block of queries, prepared for the search. All threads share them.
#[derive(Debug)]
pub(crate) struct NucleotideSearcher {
    /// Sets of chunks that BLAST+ searches together: a batch, or one chunk of a long batch.
    chunks: Vec<Chunk>,
    merger: Merger,
}

/// Chunks of queries that are searched with one lookup table.
#[derive(Debug)]
struct Chunk {
    contexts: Contexts,
    seeds: Seeds,
    stage: Stage,
}

/// Scratch memory of one thread.
#[derive(Debug, Default)]
pub(crate) struct SearchScratch {
    seeds: seeds::Scratch,
    stage: StageScratch,
}

impl NucleotideSearcher {
    /// Prepares the chunks with the indexes `range` in a block of queries. `batch_contexts` has the
    /// properties of each batch, indexed by [`QueryChunk::batch_or_chunk`].
    pub fn new(
        queries: &[Query],
        (chunks, range): (&[QueryChunk], Range<usize>),
        batch_contexts: &[BatchContext],
        merger: Merger,
        params: &NucleotideParams,
        totals: &DatabaseTotals,
        kernel: Kernel,
    ) -> NucleotideSearcher {
        let numbered: Vec<(usize, &QueryChunk)> = chunks.iter().enumerate().collect();
        let numbered = &numbered[range];
        let together = numbered.chunk_by(|(_, a), (_, b)| a.batch_or_chunk == b.batch_or_chunk);
        let prepare = |chunks: &[(usize, &QueryChunk)]| {
            let batch_context = &batch_contexts[chunks[0].1.batch_or_chunk];
            Chunk::new(queries, chunks, batch_context, params, totals, kernel)
        };
        NucleotideSearcher { chunks: together.map(prepare).collect(), merger }
    }

    /// Searches the subjects with these OIDs.
    pub fn search(
        &self,
        subjects: &dyn Subjects,
        oids: &mut dyn Iterator<Item = u32>,
        scratch: &mut SearchScratch,
    ) -> HitLists {
        let mut lists = self.merger.empty_lists();
        let capacity = self.merger.prune_capacity();
        let mut reached_unknown_letters = false;
        for oid in oids {
            let (bases, masks) = (subjects.bases(oid), subjects.masks(oid));
            let subject = Subject { oid, bases, masks };
            let letters = |parts: &[_]| {
                (!subjects.drops_ungapped_hsps(oid)).then(|| subjects.true_letters(oid, parts))
            };
            for chunk in &self.chunks {
                let SearchScratch { seeds, stage } = scratch;
                let find = |part: Packed<'_>, regions: Option<&[_]>, out: &mut Vec<_>| {
                    reached_unknown_letters |=
                        chunk.seeds.search(&chunk.contexts, part, regions, seeds, out);
                };
                chunk.stage.subject(subject, &chunk.contexts, find, letters, stage);
                for number in stage.extended.drain(..) {
                    lists.add_extensions(number, 1);
                }
                for (number, hit) in stage.hits.drain(..) {
                    lists.push(number, hit, capacity);
                }
            }
        }
        lists.reached_unknown_letters = reached_unknown_letters;
        lists
    }

    /// Returns the merger for hit lists of several partitions.
    pub fn merger(&self) -> &Merger {
        &self.merger
    }
}

impl Chunk {
    fn new(
        queries: &[Query],
        chunks: &[(usize, &QueryChunk)],
        batch_context: &BatchContext,
        params: &NucleotideParams,
        totals: &DatabaseTotals,
        kernel: Kernel,
    ) -> Chunk {
        let (mut strands, mut prepared) = (Vec::new(), Vec::new());
        for &(number, chunk) in chunks {
            for context in 0..STRANDS {
                let strand = PreparedStrand::new(&queries[chunk.query], chunk, context, params);
                let space = chunk.spaces[usize::from(context)];
                let length = strand.letters.len() as u32;
                let mean_length = batch_context.linking.map_or(0, |linking| linking.mean_length);
                let limits = |karlin| {
                    let rules = (params, totals);
                    ContextLimits::new(length, &karlin, space, mean_length, rules)
                };
                strands.push(ChunkStrand {
                    chunk: number,
                    context,
                    offset: strand.offset,
                    letters: strand.letters.to_vec(),
                    unmasked: strand.unmasked.to_vec(),
                    limits: strand.karlin.map(limits),
                });
                prepared.push(strand);
            }
        }
        let limits = |strand: &ChunkStrand| {
            let limits = strand.limits.as_ref()?;
            Some(UngappedLimits { x_drop: limits.x_drop, cutoff: limits.cutoff_ungapped })
        };
        let contexts = Contexts::with_neighbours(
            &batch_context.before,
            strands.iter().map(|strand| (&strand.letters[..], limits(strand))),
            &batch_context.after,
        );
        let others = batch_context.before.contexts_before.iter();
        let mut regions: Vec<_> = others.flat_map(|other| other.regions.clone()).collect();
        for (number, strand) in prepared.iter().enumerate() {
            let start = contexts.own_start(number);
            let moved = |region: &Range<u32>| region.start + start..region.end + start;
            regions.extend(strand.indexed_regions().iter().map(moved));
        }
        let (rules, indexing) = (seed_rules(params), batch_context.indexing);
        let (seeds, stage) = rayon::join(
            || Seeds::new(&contexts, &regions, &rules, indexing, kernel),
            || Stage::new(strands, batch_context, params, kernel),
        );
        Chunk { seeds, stage, contexts }
    }
}
