//! The preliminary search of a block of queries.

use std::ops::Range;

use fleetblast_stats::gumbel::Gumbel;

use super::context::Context;
use super::dense::{self, Candidate, FilterScratch};
use super::hitlist::{self, HitLists};
use super::kernel::Kernel;
use super::pieces;
use super::profile::{self, PaddedScores};
use super::sparse::{self, Diagonals};
use super::stretch::{Block, Stretch, StretchScratch};
use super::subject::{GappedScratch, GappedStage};
use super::ungapped::{DiagonalRule, UngappedHsp};
use super::words::{Alphabet, Limit, MAX_STANDARD_WORD, WordRule};
use crate::filters;
use crate::hits::PrelimHit;
use crate::params::{CompositionMode, DatabaseTotals, HspFilter, Params};
use crate::query::Query;
use crate::subjects::Subjects;
use crate::traceback::preliminary_capacity;

/// Query residues that are scanned together; more do not stay in the cache.
const GROUP_RESIDUES: usize = 16_000;
/// Contexts whose cut-offs differ by more are filtered apart.
const GROUP_CUTOFF_SPREAD: i32 = 3;
/// Subject residues that are filtered together, so that they and the profile stay in the cache.
const BLOCK_RESIDUES: usize = 64 * 1024;
/// The filter pays off while chance brings fewer lanes than this over the cut-off, for each pair of average sequences.
const MAX_CHANCE_LANES: f64 = 0.5;
/// Residues of a pair of average sequences, for that estimate.
const AVERAGE_PAIR: f64 = 350.0 * 350.0;

/// A block of queries ready to be searched, shared by all threads.
#[derive(Debug)]
pub struct Searcher {
    contexts: Vec<Context>,
    /// The words of each context.
    words: Vec<Vec<Limit>>,
    dense: Vec<dense::Group>,
    sparse: Vec<sparse::Group>,
    scores: Box<PaddedScores>,
    word: WordRule,
    window: i32,
    gapped: GappedStage,
    filter: HspFilter,
    /// Hits kept for each context, P.
    capacity: usize,
    /// Matches go into the traceback by OID.
    by_oid: bool,
    /// Number of queries in the block.
    queries: usize,
}

/// Scratch memory of one thread.
#[derive(Debug, Default)]
pub struct Scratch {
    filter: FilterScratch,
    candidates: Vec<Candidate>,
    stretch: StretchScratch,
    found: Vec<Found>,
    ungapped: Vec<UngappedHsp>,
    diagonals: Diagonals,
    gapped: GappedScratch,
}

/// An ungapped HSP of a context in a subject of the block.
#[derive(Clone, Copy, Debug)]
struct Found {
    subject: u32,
    context: u32,
    hsp: UngappedHsp,
}

impl Searcher {
    /// Prepares a block of queries. `batches` are the lengths, in queries, of the batches that BLAST+ would read; long
    /// batches are searched in pieces as BLAST+ does (spec 2.3).
    ///
    /// `kernel` chooses the instructions of the filters; `None` switches them off.
    pub fn new(
        queries: &[Query],
        batches: &[usize],
        params: &Params,
        totals: &DatabaseTotals,
        kernel: Option<Kernel>,
    ) -> Searcher {
        let gumbel = Gumbel::new(&params.scoring);
        let mut contexts = Vec::new();
        let mut first = 0;
        for &len in batches {
            let lengths: Vec<u32> =
                queries[first..first + len].iter().map(|q| q.residues.len() as u32).collect();
            for piece in pieces::split(&lengths, first, !params.ungapped) {
                contexts.extend(Context::new(queries, &piece, params, totals, &gumbel));
            }
            first += len;
        }
        let scores = profile::pad(&params.scoring.scores);
        let word = WordRule { size: params.word_size, threshold: params.threshold as i32 };
        let gapped = GappedStage::new(params, totals, &gumbel, &scores, kernel);
        let mut searcher = Searcher {
            words: contexts.iter().map(|c| word.limits(c, &scores)).collect(),
            contexts,
            dense: Vec::new(),
            sparse: Vec::new(),
            scores,
            word,
            window: params.window,
            gapped,
            filter: params.filter,
            capacity: preliminary_capacity(params),
            by_oid: params.composition == CompositionMode::Off,
            queries: queries.len(),
        };
        searcher.group(params, kernel);
        searcher
    }

    /// Distributes the contexts over groups that are scanned together.
    fn group(&mut self, params: &Params, kernel: Option<Kernel>) {
        let mut order: Vec<usize> = (0..self.contexts.len())
            .filter(|&i| self.contexts[i].len() >= self.word.size)
            .collect();
        order.sort_by_key(|&i| self.contexts[i].cutoff_ungapped);
        let mut rest = Vec::new();
        if let Some(kernel) = kernel.filter(|_| self.word.size <= MAX_STANDARD_WORD) {
            let (filtered, other): (Vec<usize>, Vec<usize>) =
                order.iter().partition(|&&i| chance_lanes(&self.contexts[i]) < MAX_CHANCE_LANES);
            rest = other;
            for members in chunks(&filtered, &self.contexts, GROUP_CUTOFF_SPREAD) {
                match dense::Group::new(&self.contexts, &members, &self.scores, kernel) {
                    Some(group) => self.dense.push(group),
                    None => rest.extend(members),
                }
            }
        } else {
            rest.append(&mut order);
        }
        if rest.is_empty() {
            return;
        }
        let Some(alphabet) = Alphabet::new(&params.scoring, params.word_size, params.threshold)
        else {
            return;
        };
        for members in chunks(&rest, &self.contexts, i32::MAX) {
            self.sparse.push(sparse::Group::new(
                &self.contexts,
                &members,
                alphabet.clone(),
                params.word_size,
            ));
        }
    }

    /// Searches the subjects of a range of OIDs.
    pub fn search(
        &self,
        subjects: &impl Subjects,
        oids: Range<u32>,
        scratch: &mut Scratch,
    ) -> HitLists {
        let mut lists = HitLists::new(self.contexts.len());
        let mut block = Block::default();
        let mut first = oids.start;
        let mut residues = 0;
        for oid in oids.clone() {
            let subject = subjects.residues(oid);
            residues += subject.len();
            block.residues.push(subject);
            block.masks.push(subjects.masks(oid));
            if residues >= BLOCK_RESIDUES || oid + 1 == oids.end {
                self.search_block(first, &block, scratch, &mut lists);
                block.residues.clear();
                block.masks.clear();
                first = oid + 1;
                residues = 0;
            }
        }
        lists
    }

    /// Searches a few subjects, the first of which is `first`.
    fn search_block(&self, first: u32, block: &Block, scratch: &mut Scratch, lists: &mut HitLists) {
        let rule =
            DiagonalRule { scores: &self.scores, word_size: self.word.size, window: self.window };
        let Scratch { filter, candidates, stretch, found, diagonals, .. } = scratch;
        found.clear();
        for group in &self.dense {
            candidates.clear();
            group.filter(&block.residues, filter, candidates);
            for candidate in candidates.iter() {
                let subject = block.subject(candidate.subject as usize);
                let index = candidate.context as usize;
                let diagonal = Stretch::whole(&self.contexts[index], candidate.diagonal, &subject);
                let words = &self.words[index][diagonal.q..];
                diagonal.scan(&rule, &self.word, words, &subject, stretch, |hsp| {
                    let (subject, context) = (candidate.subject, candidate.context);
                    found.push(Found { subject, context, hsp });
                });
            }
        }
        for group in &self.sparse {
            for index in 0..block.residues.len() {
                let subject = block.subject(index);
                group.scan(&self.contexts, &rule, &subject, diagonals, |context, hsp| {
                    let context = context as u32;
                    found.push(Found { subject: index as u32, context, hsp });
                });
            }
        }
        self.extend_found(first, block, scratch, lists);
    }

    /// The gapped stage for all that was found in a block.
    fn extend_found(&self, first: u32, block: &Block, scratch: &mut Scratch, lists: &mut HitLists) {
        let mut found = std::mem::take(&mut scratch.found);
        found.sort_unstable_by_key(|f| (f.subject, f.context, f.hsp.order()));
        let mut loaded = None;
        for hits in found.chunk_by(|a, b| (a.subject, a.context) == (b.subject, b.context)) {
            let (subject, context) = (hits[0].subject, hits[0].context as usize);
            if loaded != Some(subject) {
                scratch.gapped.subject.load(block.residues[subject as usize]);
                loaded = Some(subject);
            }
            scratch.ungapped.clear();
            scratch.ungapped.extend(hits.iter().map(|f| f.hsp));
            let hit = self.gapped.run(
                first + subject,
                &self.contexts[context],
                &scratch.ungapped,
                &self.scores,
                &mut scratch.gapped,
            );
            if let Some(hit) = hit {
                lists.push(context, hit, self.prune_to());
            }
        }
        scratch.found = found;
    }

    /// Adds the hits of another range of OIDs to `lists`.
    pub fn absorb(&self, lists: &mut HitLists, part: HitLists) {
        lists.absorb(part, self.prune_to());
    }

    /// Lists without hits, to [absorb](Self::absorb) ranges into.
    pub fn empty_lists(&self) -> HitLists {
        HitLists::new(self.contexts.len())
    }

    /// Lists may be cut to this length at any time; `None` where the choice needs all hits.
    fn prune_to(&self) -> Option<usize> {
        (self.filter == HspFilter::Collect).then_some(self.capacity)
    }

    /// Each query's preliminary hits in the order of the traceback, from the lists of ranges that make up the whole database:
    /// the best first (ORDER-H), or by OID without composition adjustment (`BlastHSPStreamNew`, blast_hspstream.c).
    pub fn choose(&self, lists: HitLists) -> Vec<Vec<PrelimHit>> {
        let mut queries: Vec<Vec<PrelimHit>> = vec![Vec::new(); self.queries];
        for (context, hits) in self.contexts.iter().zip(lists.lists) {
            let hits = self.select(context, hits);
            let query = &mut queries[context.query];
            let split_at = if context.continues { context.offset } else { 0 };
            // A merged list is cut, whichever filter made its parts (`Blast_HitListMerge`, blast_hits.c).
            let both = !query.is_empty() && !hits.is_empty();
            *query = pieces::merge(std::mem::take(query), hits, split_at);
            if both {
                hitlist::keep_best(query, self.capacity);
            }
        }
        for hits in &mut queries {
            if self.by_oid {
                hits.sort_unstable_by_key(|hit| hit.oid);
            } else {
                hits.sort_unstable_by(hitlist::by_rank);
            }
        }
        queries
    }

    /// What is kept of a context's hits in the whole database, in ascending OID order.
    fn select(&self, context: &Context, mut hits: Vec<PrelimHit>) -> Vec<PrelimHit> {
        let searched = context.offset..context.offset + context.len() as u32;
        hits.sort_unstable_by_key(|hit| hit.oid);
        let mut kept = match self.filter {
            HspFilter::Collect => hits,
            HspFilter::Culling(limit) => filters::preliminary_culling(&hits, searched, limit),
            HspFilter::BestHit { edge, .. } => {
                filters::preliminary_best_hit(&hits, edge, self.capacity)
            }
        };
        let capacity = self.prune_to().unwrap_or(kept.len());
        hitlist::keep_best(&mut kept, capacity);
        kept
    }
}

/// Expected number of lanes that chance brings over the cut-off between average sequences.
fn chance_lanes(context: &Context) -> f64 {
    let karlin = &context.karlin;
    karlin.k * AVERAGE_PAIR * (-karlin.lambda * f64::from(context.cutoff_ungapped)).exp()
}

/// Runs of `members`, given by ascending cut-off, that are scanned together.
fn chunks(members: &[usize], contexts: &[Context], spread: i32) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut residues = 0;
    let mut lowest = 0;
    for &i in members {
        let context = &contexts[i];
        let apart = context.cutoff_ungapped.saturating_sub(lowest) > spread;
        if groups.is_empty() || apart || residues + context.len() > GROUP_RESIDUES {
            groups.push(Vec::new());
            residues = 0;
            lowest = context.cutoff_ungapped;
        }
        groups.last_mut().expect("pushed above").push(i);
        residues += context.len();
    }
    groups
}
