//! The gapped stage computes the preliminary hits of a subject from its ungapped segments. It
//! extends the segments with gaps, removes HSPs with common ends, and joins the HSPs of the
//! segments of a long subject.

mod extending;

use std::borrow::Cow;
use std::ops::Range;

use fleetblast_seq::{mask, nucleotide::Packed};

use super::batch_context::BatchContext;
use super::gapped::{DistantSegments, Extender, GappedScratch, QueryLetters};
use super::greedy::{self, GreedyScratch, Packing, Scoring};
use super::limits::{self, ContextLimits};
use super::parts::{Part, divide_subject};
use super::seeds::{Contexts, Segment};
use super::ungapped::{self, Reevaluation};
use crate::containment::ContainmentTree;
use crate::filters::{self, QueryContexts, WrittenQuery};
use crate::hits::{PrelimHit, PrelimHsp};
use crate::kernel::Kernel;
use crate::lists::join_subject_chunks;
use crate::lists::linking;
use crate::order;
use crate::params::NucleotideParams;
use crate::scores::ScoreRows;
use crate::subjects::Masks;
use crate::xdrop::GapCosts;

/// A strand of a chunk of a query, as the gapped stage needs it.
#[derive(Clone, Debug)]
pub(super) struct ChunkStrand {
    /// Number of the chunk in the block.
    pub chunk: usize,
    /// Number of the strand's context in the query.
    pub context: u8,
    /// Start of the chunk in the context of the whole query.
    pub offset: u32,
    /// Blastna letters for scoring; empty if the strand is not searched.
    pub letters: Vec<u8>,
    /// Letters without masks, for counting identities.
    pub unmasked: Vec<u8>,
    /// Score limits and statistics; `None` if the strand cannot have hits.
    pub limits: Option<ContextLimits>,
}

/// Letters of a strand in the form that the method of extension reads.
#[derive(Debug)]
enum ExtensionQuery {
    Greedy(Packing),
    Dynamic(QueryLetters),
}

/// A method of extending ungapped segments.
#[derive(Debug)]
enum Method {
    /// No extension: the ungapped segments are the HSPs.
    Ungapped(Reevaluation),
    Greedy(greedy::Extender),
    Dynamic(Extender),
}

/// The gapped stage for chunks of queries that BLAST+ searches together.
#[derive(Debug)]
pub(super) struct Stage {
    strands: Vec<ChunkStrand>,
    queries: Vec<ExtensionQuery>,
    method: Method,
    separation: u32,
    subject_besthit: bool,
    evalue: f64,
    /// Cut-off of linked sets with small gaps. The outer `None` stands for a search without sum
    /// statistics, the inner one for a search without sets with small gaps.
    linking: Option<Option<i32>>,
}

/// Work space of a thread in the gapped stage.
#[derive(Debug, Default)]
pub(super) struct StageScratch {
    segments: Vec<Segment>,
    /// A containment tree for each strand. Only the trees in `touched` have members.
    trees: Vec<ContainmentTree>,
    touched: Vec<u32>,
    /// HSPs, each with the index of its strand.
    found: Vec<(u32, PrelimHsp)>,
    apart: DistantSegments,
    extension: ExtensionScratch,
    /// For each extended segment, the index of its chunk. BLAST+ derives the size of its next batch
    /// from the number of extended segments.
    pub extended: Vec<usize>,
    /// Hits in the subject, each with the index of its chunk.
    pub hits: Vec<(usize, PrelimHit)>,
}

/// Work space of extensions.
#[derive(Debug, Default)]
struct ExtensionScratch {
    gapped: GappedScratch,
    greedy: GreedyScratch,
}

impl ExtensionQuery {
    /// Returns the letters for dynamic programming.
    ///
    /// # Panics
    /// If the method of extension is another one.
    fn as_dynamic(&self) -> &QueryLetters {
        match self {
            ExtensionQuery::Dynamic(letters) => letters,
            ExtensionQuery::Greedy(_) => panic!("all strands have the letters of one method"),
        }
    }
}

impl Stage {
    /// Creates the stage for strands in the order of the contexts.
    pub fn new(
        strands: Vec<ChunkStrand>,
        batch_context: &BatchContext,
        params: &NucleotideParams,
        kernel: Kernel,
    ) -> Stage {
        let (scoring, x_drop) = (&params.scoring, batch_context.x_drop);
        let gaps = GapCosts { open: scoring.gap_open, extend: scoring.gap_extend };
        let method = if params.common.ungapped {
            Method::Ungapped(Reevaluation::new(params))
        } else if params.greedy {
            let (reward, penalty) = (scoring.reward, scoring.penalty);
            let scoring = Scoring { reward, penalty, gaps };
            Method::Greedy(greedy::Extender::new(scoring, x_drop, kernel))
        } else {
            Method::Dynamic(Extender::new(
                &ScoreRows::of_blastna(&scoring.scores),
                gaps,
                x_drop,
                kernel,
            ))
        };
        let query = |strand: &ChunkStrand| match method {
            Method::Dynamic(_) => ExtensionQuery::Dynamic(QueryLetters::new(&strand.letters)),
            _ => ExtensionQuery::Greedy(Packing::whole(&strand.letters)),
        };
        Stage {
            queries: strands.iter().map(query).collect(),
            strands,
            method,
            separation: params.diagonal_separation.max(0) as u32,
            subject_besthit: params.common.subject_besthit,
            evalue: params.common.evalue,
            linking: batch_context
                .linking
                .map(|linking| Some(linking.least_cutoff).filter(|&cutoff| cutoff != 0)),
        }
    }

    /// Searches a subject. Leaves its hits, and the chunks of its extended segments, in the
    /// scratch.
    ///
    /// `find` finds the ungapped segments in a part of the subject. `letters` returns the true
    /// letters of the subject in some ranges; with `None` the hits of the subject are dropped.
    pub fn subject<'s>(
        &self,
        subject: Subject<'_>,
        contexts: &Contexts,
        mut find: impl FnMut(Packed<'_>, Option<&[Range<u32>]>, &mut Vec<Segment>),
        letters: impl FnOnce(&[Range<u32>]) -> Option<Cow<'s, [u8]>>,
        scratch: &mut StageScratch,
    ) {
        let Subject { oid, bases, masks } = subject;
        let mut lists: Vec<(u32, Vec<PrelimHsp>)> = Vec::new();
        for Part { range, regions } in divide_subject(bases.length(), masks) {
            let part = bases.part(range.start, range.end - range.start);
            let mut segments = std::mem::take(&mut scratch.segments);
            find(part, regions.as_deref(), &mut segments);
            self.extend(part, contexts, &segments, scratch);
            scratch.segments = segments;
            self.collect(range.start, scratch, &mut lists);
        }
        if let Method::Ungapped(rules) = &self.method {
            self.reevaluate(rules, &mut lists, bases.length(), letters);
        }
        self.finish((oid, bases.length()), lists, scratch);
    }

    /// Scores ungapped HSPs again on the true letters of their subject. A search without gaps does
    /// not cut queries into chunks.
    fn reevaluate<'s>(
        &self,
        rules: &Reevaluation,
        lists: &mut [(u32, Vec<PrelimHsp>)],
        s_len: u32,
        letters: impl FnOnce(&[Range<u32>]) -> Option<Cow<'s, [u8]>>,
    ) {
        for (chunk, hsps) in lists.iter_mut() {
            self.evaluate(*chunk, hsps, s_len);
        }
        let all = lists.iter().flat_map(|(_, hsps)| hsps);
        let reached: Vec<_> = all.map(|hsp| hsp.s_start..hsp.s_end).collect();
        if reached.is_empty() {
            return;
        }
        let Some(subject) = letters(&mask::combine(reached)) else {
            // The subject is excluded: `BLAST_SEQSRC_EXCLUDED` in
            // `Blast_HSPListReevaluateUngapped`, blast_hits.c.
            lists.iter_mut().for_each(|(_, hsps)| hsps.clear());
            return;
        };
        for (chunk, hsps) in lists {
            let true_hsp = |hsp: &PrelimHsp| {
                let ChunkStrand { letters, unmasked, limits, .. } =
                    self.strand(*chunk, hsp.context);
                let cutoff = limits.as_ref()?.cutoff_ungapped;
                let query = ungapped::Letters { scored: letters, unmasked, cutoff };
                rules.apply(hsp, query, &subject)
            };
            *hsps = hsps.iter().filter_map(true_hsp).collect();
            hsps.sort_by(order::compare_hsps);
        }
    }

    /// Moves the HSPs of a part of the subject that starts at `start` to the lists of their chunks.
    fn collect(
        &self,
        start: u32,
        scratch: &mut StageScratch,
        lists: &mut Vec<(u32, Vec<PrelimHsp>)>,
    ) {
        // The strands of a chunk are consecutive.
        let chunk = |number: u32| self.strands[number as usize].chunk;
        scratch.found.sort_by_key(|&(number, _)| chunk(number));
        for found in scratch.found.chunk_by(|a, b| chunk(a.0) == chunk(b.0)) {
            let mut hsps: Vec<PrelimHsp> = found.iter().map(|(_, hsp)| *hsp).collect();
            if !matches!(self.method, Method::Ungapped(_)) {
                order::remove_common_endpoints(&mut hsps, |_, _| true);
            }
            hsps.sort_by(order::compare_hsps);
            for hsp in &mut hsps {
                hsp.s_start += start;
                hsp.s_end += start;
                hsp.s_seed += start;
            }
            let number = chunk(found[0].0) as u32;
            let at = match lists.binary_search_by_key(&number, |(chunk, _)| *chunk) {
                Ok(at) => {
                    let old = std::mem::take(&mut lists[at].1);
                    let gapped = !matches!(self.method, Method::Ungapped(_));
                    lists[at].1 = join_subject_chunks(old, hsps, start, gapped);
                    at
                }
                // The chunk has no HSPs yet. The lists stay sorted by chunk.
                Err(at) => {
                    lists.insert(at, (number, hsps));
                    at
                }
            };
            if self.subject_besthit {
                let length = self.strands[found[0].0 as usize].letters.len() as u32;
                filters::subject_best_hit(
                    &mut lists[at].1,
                    WrittenQuery { length, contexts: QueryContexts::Strands },
                );
            }
        }
    }

    fn strand(&self, chunk: u32, context: u8) -> &ChunkStrand {
        // Strands are in the order of their chunks, two for each.
        let first = self.strands.first().map_or(0, |strand| strand.chunk);
        &self.strands[2 * (chunk as usize - first) + usize::from(context)]
    }

    /// Computes the e-values of the HSPs of a chunk, singly or in linked sets. Drops HSPs above the
    /// e-value limit.
    fn evaluate(&self, chunk: u32, hsps: &mut Vec<PrelimHsp>, s_len: u32) {
        for hsp in hsps.iter_mut() {
            if let Some(limits) = &self.strand(chunk, hsp.context).limits {
                hsp.evalue = limits.statistics.evalue(hsp.score);
            }
        }
        if let Some(small_cutoff) = self.linking {
            linking::link(hsps, limits::even_gaps(small_cutoff), |context| {
                let linking = self.strand(chunk, context).limits.as_ref()?.linking?;
                Some(linking.pair_statistics(s_len))
            });
        }
        hsps.retain(|hsp| hsp.evalue <= self.evalue);
    }

    /// Drops HSPs above the e-value limit and makes hits of the others, with positions in whole
    /// queries.
    fn finish(
        &self,
        (oid, s_len): (u32, u32),
        lists: Vec<(u32, Vec<PrelimHsp>)>,
        scratch: &mut StageScratch,
    ) {
        for (chunk, mut hsps) in lists {
            self.evaluate(chunk, &mut hsps, s_len);
            if let Method::Ungapped(rules) = &self.method {
                let length = |hsp: &PrelimHsp| self.strand(chunk, hsp.context).letters.len();
                hsps.retain(|hsp| rules.is_wide(hsp, length(hsp)));
            }
            for hsp in &mut hsps {
                let offset = self.strand(chunk, hsp.context).offset;
                hsp.q_start += offset;
                hsp.q_end += offset;
                hsp.q_seed += offset;
            }
            if !hsps.is_empty() {
                let evalue = order::best_evalue(hsps.iter().map(|hsp| hsp.evalue));
                scratch.hits.push((chunk as usize, PrelimHit { oid, evalue, hsps }));
            }
        }
    }
}

/// A subject to be searched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject<'a> {
    pub oid: u32,
    pub bases: Packed<'a>,
    pub masks: Masks<'a>,
}
