//! The preliminary search of a block of nucleotide queries.

use fleetblast_seq::mask;
use fleetblast_seq::nucleotide::Packed;

use super::limits::{ContextLimits, gapped_x_drops};
use super::seeds::{self, Contexts, Limits, SeedRules, Seeds};
use super::stage::{Stage, StageScratch, Strand};
use crate::kernel::Kernel;
use crate::lists::{HitLists, Merger, Piece};
use crate::params::{DatabaseTotals, NucleotideParams, Template, TemplateKind};
use crate::query::{Query, QueryRules};
use crate::subjects::Subjects;

/// A block of queries ready to be searched, shared by all threads.
#[derive(Debug)]
pub(crate) struct Searcher {
    /// What BLAST+ searches together: batches, or chunks of long ones.
    chunks: Vec<Chunk>,
    merger: Merger,
}

/// Pieces of queries that share a table of words.
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

impl Searcher {
    /// Prepares a block of queries, whose pieces `merger` knows.
    pub fn new(
        queries: &[Query],
        merger: Merger,
        params: &NucleotideParams,
        totals: &DatabaseTotals,
        kernel: Kernel,
    ) -> Searcher {
        let numbered: Vec<(usize, &Piece)> = merger.pieces().iter().enumerate().collect();
        let together = numbered.chunk_by(|(_, a), (_, b)| a.search == b.search);
        let chunk =
            |pieces: &[(usize, &Piece)]| Chunk::new(queries, pieces, params, totals, kernel);
        Searcher { chunks: together.map(chunk).collect(), merger }
    }

    /// Searches the subjects with these OIDs.
    pub fn search(
        &self,
        subjects: &impl Subjects,
        oids: impl IntoIterator<Item = u32>,
        scratch: &mut SearchScratch,
    ) -> HitLists {
        let mut lists = self.merger.empty_lists();
        let capacity = self.merger.prune_to();
        for oid in oids {
            let (bases, masks) = (subjects.bases(oid), subjects.masks(oid));
            for chunk in &self.chunks {
                let SearchScratch { seeds, stage } = scratch;
                let find = |part: Packed<'_>, regions: Option<&[_]>, out: &mut Vec<_>| {
                    chunk.seeds.search(&chunk.contexts, part, regions, seeds, out);
                };
                lists.extensions +=
                    chunk.stage.subject(oid, bases, masks, &chunk.contexts, find, stage);
                for (piece, hit) in stage.hits.drain(..) {
                    lists.push(piece, hit, capacity);
                }
            }
        }
        lists
    }

    /// What puts lists of several ranges together.
    pub fn merger(&self) -> &Merger {
        &self.merger
    }
}

/// A strand of a piece, as it is laid beside others.
struct Reading {
    strand: Strand,
    /// Where words may be indexed.
    regions: Vec<std::ops::Range<u32>>,
}

impl Chunk {
    fn new(
        queries: &[Query],
        pieces: &[(usize, &Piece)],
        params: &NucleotideParams,
        totals: &DatabaseTotals,
        kernel: Kernel,
    ) -> Chunk {
        let readings: Vec<Reading> = pieces
            .iter()
            .flat_map(|&(number, piece)| {
                (0..2).map(move |context| {
                    Reading::new(queries, number, piece, context, params, totals)
                })
            })
            .collect();
        let limits = |strand: &Strand| {
            let limits = strand.limits.as_ref()?;
            Some(Limits { x_drop: limits.x_drop, cutoff: limits.cutoff_ungapped })
        };
        let contexts = Contexts::new(
            readings.iter().map(|reading| (&reading.strand.letters[..], limits(&reading.strand))),
        );
        let mut regions = Vec::new();
        for (number, reading) in readings.iter().enumerate() {
            let start = contexts.start(number);
            let moved = |region: &std::ops::Range<u32>| region.start + start..region.end + start;
            regions.extend(reading.regions.iter().map(moved));
        }
        let karlin = pieces.iter().flat_map(|(_, piece)| &queries[piece.query].contexts);
        let karlin = karlin.filter_map(|context| context.karlin.as_ref());
        let (x_drop, _) = gapped_x_drops(karlin, params);
        let strands = readings.into_iter().map(|reading| reading.strand).collect();
        Chunk {
            seeds: Seeds::new(&contexts, &regions, &seed_rules(params), kernel),
            stage: Stage::new(strands, x_drop, params, kernel),
            contexts,
        }
    }
}

impl Reading {
    fn new(
        queries: &[Query],
        number: usize,
        piece: &Piece,
        context: u8,
        params: &NucleotideParams,
        totals: &DatabaseTotals,
    ) -> Reading {
        let query = &queries[piece.query];
        let whole = &query.contexts[usize::from(context)];
        // The minus strand counts from the other end.
        let range = match context {
            0 => piece.range.clone(),
            _ => query.length - piece.range.end..query.length - piece.range.start,
        };
        let nothing = || Reading {
            strand: Strand { piece: number, context, offset: 0, letters: Vec::new(), limits: None },
            regions: Vec::new(),
        };
        if whole.letters.is_empty() {
            return nothing();
        }
        let letters = &whole.letters[range.start as usize..range.end as usize];
        let masks: Vec<_> = whole
            .masks
            .iter()
            .map(|mask| mask.start.max(range.start)..mask.end.min(range.end))
            .filter(|mask| mask.start < mask.end)
            .map(|mask| mask.start - range.start..mask.end - range.start)
            .collect();
        let space = queries[piece.space_of].contexts[usize::from(context)].search_space;
        let karlin = params.ungapped(letters);
        let length = letters.len() as u32;
        let limits =
            karlin.map(|karlin| ContextLimits::new(length, &karlin, space, params, totals));
        let regions = match limits {
            Some(_) => mask::complement(&masks, length),
            None => Vec::new(),
        };
        let strand = Strand {
            piece: number,
            context,
            offset: range.start,
            letters: letters.to_vec(),
            limits,
        };
        Reading { strand, regions }
    }
}

/// How seeds are found.
fn seed_rules(params: &NucleotideParams) -> SeedRules {
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
