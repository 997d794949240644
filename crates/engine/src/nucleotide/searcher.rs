//! The preliminary search of a block of nucleotide queries.

use std::ops::Range;

use fleetblast_seq::nucleotide::Packed;

use super::batch_context::{BatchContext, STRANDS};
use super::limits::ContextLimits;
use super::reading::{Reading, seed_rules};
use super::seeds::{self, Contexts, Limits, Seeds};
use super::stage::{Stage, StageScratch, Strand, Subject};
use crate::kernel::Kernel;
use crate::lists::{HitLists, Merger, Piece};
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

/// Chunks of queries that share a lookup table.
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
    /// Prepares the chunks with the numbers `range` of a block of queries. `batch_contexts` has the
    /// properties of each batch, indexed by [`Piece::search`].
    pub fn new(
        queries: &[Query],
        (pieces, range): (&[Piece], Range<usize>),
        batch_contexts: &[BatchContext],
        merger: Merger,
        params: &NucleotideParams,
        totals: &DatabaseTotals,
        kernel: Kernel,
    ) -> NucleotideSearcher {
        let numbered: Vec<(usize, &Piece)> = pieces.iter().enumerate().collect();
        let numbered = &numbered[range];
        let together = numbered.chunk_by(|(_, a), (_, b)| a.search == b.search);
        let chunk = |pieces: &[(usize, &Piece)]| {
            let batch_context = &batch_contexts[pieces[0].1.search];
            Chunk::new(queries, pieces, batch_context, params, totals, kernel)
        };
        NucleotideSearcher { chunks: together.map(chunk).collect(), merger }
    }

    /// Searches the subjects with these OIDs.
    pub fn search(
        &self,
        subjects: &dyn Subjects,
        oids: &mut dyn Iterator<Item = u32>,
        scratch: &mut SearchScratch,
    ) -> HitLists {
        let mut lists = self.merger.empty_lists();
        let capacity = self.merger.prune_to();
        let mut strayed = false;
        for oid in oids {
            let (bases, masks) = (subjects.bases(oid), subjects.masks(oid));
            let subject = Subject { oid, bases, masks };
            let letters = |parts: &[_]| {
                (!subjects.drops_ungapped_hsps(oid)).then(|| subjects.true_letters(oid, parts))
            };
            for chunk in &self.chunks {
                let SearchScratch { seeds, stage } = scratch;
                let find = |part: Packed<'_>, regions: Option<&[_]>, out: &mut Vec<_>| {
                    strayed |= chunk.seeds.search(&chunk.contexts, part, regions, seeds, out);
                };
                chunk.stage.subject(subject, &chunk.contexts, find, letters, stage);
                for piece in stage.extended.drain(..) {
                    lists.count(piece, 1);
                }
                for (piece, hit) in stage.hits.drain(..) {
                    lists.push(piece, hit, capacity);
                }
            }
        }
        lists.strayed = strayed;
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
        pieces: &[(usize, &Piece)],
        batch_context: &BatchContext,
        params: &NucleotideParams,
        totals: &DatabaseTotals,
        kernel: Kernel,
    ) -> Chunk {
        let (mut strands, mut readings) = (Vec::new(), Vec::new());
        for &(number, piece) in pieces {
            for context in 0..STRANDS {
                let reading = Reading::new(&queries[piece.query], piece, context, params);
                let space = piece.spaces[usize::from(context)];
                let length = reading.letters.len() as u32;
                let mean_length = batch_context.linking.map_or(0, |linking| linking.mean_length);
                let limits = |karlin| {
                    let rules = (params, totals);
                    ContextLimits::new(length, &karlin, space, mean_length, rules)
                };
                strands.push(Strand {
                    piece: number,
                    context,
                    offset: reading.offset,
                    letters: reading.letters.to_vec(),
                    unmasked: reading.unmasked.to_vec(),
                    limits: reading.karlin.map(limits),
                });
                readings.push(reading);
            }
        }
        let limits = |strand: &Strand| {
            let limits = strand.limits.as_ref()?;
            Some(Limits { x_drop: limits.x_drop, cutoff: limits.cutoff_ungapped })
        };
        let contexts = Contexts::with_neighbours(
            &batch_context.before,
            strands.iter().map(|strand| (&strand.letters[..], limits(strand))),
            &batch_context.after,
        );
        let others = batch_context.before.others.iter();
        let mut regions: Vec<_> = others.flat_map(|other| other.regions.clone()).collect();
        for (number, reading) in readings.iter().enumerate() {
            let start = contexts.own_start(number);
            let moved = |region: &Range<u32>| region.start + start..region.end + start;
            regions.extend(reading.indexed_regions().iter().map(moved));
        }
        Chunk {
            seeds: Seeds::new(
                &contexts,
                &regions,
                &seed_rules(params),
                batch_context.indexing,
                kernel,
            ),
            stage: Stage::new(strands, batch_context, params, kernel),
            contexts,
        }
    }
}
