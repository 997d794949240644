//! The preliminary search of a block of queries.

use std::ops::Range;

use fleetblast_seq::frame::Frame;
use fleetblast_seq::translation::GeneticCode;
use fleetblast_stats::gumbel::GumbelParameters;

use super::block::{SubjectBlock, SubjectFrame};
use super::context::ChunkContext;
use super::cost;
use super::dense::{self, Candidate, FilterScratch};
use super::filtered_diagonal::{FilteredDiagonal, WordHit};
use super::rescoring::Subject;
use super::sparse::{self, ScanScratch};
use super::stage::{GappedScratch, GappedStage};
use super::translated::Translations;
use super::ungapped::{DiagonalRule, UngappedHsp};
use super::words::{self, Alphabet, Limit, WordRule};
use crate::kernel::Kernel;
use crate::lists::{HitLists, Merger};
use crate::params::{DatabaseTotals, ProteinParams, truncate_to_i32};
use crate::query::Query;
use crate::scores::ScoreRows;
use crate::subjects::Subjects;

/// Maximum number of query residues that are scanned together. More do not fit the cache.
const GROUP_RESIDUES: usize = 16_000;
/// Largest difference between the cut-offs of contexts that are filtered together.
const GROUP_CUTOFF_SPREAD: i32 = 3;
/// Number of subject residues that are filtered together, so that they and the profile fit the
/// cache.
const BLOCK_RESIDUES: usize = 64 * 1024;
/// Limit of the number of lanes that are expected to reach the cut-off by chance, for a pair of
/// average sequences. From this limit on, the dense filter is not used. (With AVX2 the filter also
/// stops at slightly lower scores, but only where these are rare.)
const MAX_CHANCE_LANES: f64 = 0.5;
/// Number of residue pairs of two average sequences, for the number of lanes expected by chance.
const AVERAGE_PAIR: f64 = 350.0 * 350.0;

/// Largest window. It is longer than any sequence, so that larger windows have the same effect. It
/// is small enough that its sum with an offset does not overflow.
const MOST_WINDOW: i32 = 1 << 30;

/// A block of queries prepared for the search, shared by all threads.
#[derive(Debug)]
pub struct ProteinSearcher {
    contexts: Vec<ChunkContext>,
    /// Limits of the words of each context.
    words: Vec<Vec<Limit>>,
    dense: Vec<dense::Group>,
    sparse: Vec<sparse::Group>,
    scores: ScoreRows,
    word: WordRule,
    window: i32,
    gapped: GappedStage,
    /// Genetic code that translates the subjects; `None` for proteins.
    code: Option<GeneticCode>,
    merger: Merger,
}

/// Scratch memory of one thread.
#[derive(Debug, Default)]
pub struct ProteinScratch {
    filter: FilterScratch,
    candidates: Vec<Candidate>,
    hits: Vec<WordHit>,
    found: Vec<BlockHsp>,
    /// Ungapped HSPs, each with the number of its context.
    ungapped: Vec<(u32, UngappedHsp)>,
    scan: ScanScratch,
    gapped: GappedScratch,
}

/// An ungapped HSP of a context in a part of a subject of the block.
#[derive(Clone, Copy, Debug)]
struct BlockHsp {
    part: u32,
    context: u32,
    hsp: UngappedHsp,
}

impl ProteinSearcher {
    /// Prepares the chunks `range` of a block of queries. `merger` has all chunks of the block.
    ///
    /// `kernel` selects the instructions of filters and extensions; `None` switches filters and
    /// vectors off.
    pub fn new(
        queries: &[Query],
        (merger, range): (Merger, Range<usize>),
        params: &ProteinParams,
        totals: &DatabaseTotals,
        kernel: Option<Kernel>,
    ) -> ProteinSearcher {
        let gumbel = GumbelParameters::new(&params.scoring);
        let of_chunk = |(number, chunk)| {
            ChunkContext::of_chunk(queries, number, chunk, params, totals, &gumbel)
        };
        let chunks = range.clone().zip(&merger.chunks()[range]);
        let mut contexts: Vec<ChunkContext> = chunks.flat_map(of_chunk).collect();
        let scores = rows(queries, &merger, &mut contexts, params);
        let word =
            WordRule { size: params.word_size, threshold: truncate_to_i32(params.threshold) };
        let gapped = GappedStage::new(params, totals, &scores, kernel);
        let mut searcher = ProteinSearcher {
            merger,
            words: contexts.iter().map(|c| word.limits(c, &scores)).collect(),
            contexts,
            dense: Vec::new(),
            sparse: Vec::new(),
            scores,
            word,
            window: params.window.min(MOST_WINDOW),
            gapped,
            code: params.subject_translation.as_ref().map(|subject| subject.code.clone()),
        };
        searcher.group(params, kernel);
        searcher
    }

    /// Divides the contexts into groups that are scanned together.
    fn group(&mut self, params: &ProteinParams, kernel: Option<Kernel>) {
        let mut order: Vec<usize> = (0..self.contexts.len())
            .filter(|&i| self.contexts[i].len() >= self.word.size)
            .collect();
        order.sort_by_key(|&i| self.contexts[i].cutoff_ungapped);
        let mut rest = Vec::new();
        if let Some(kernel) = kernel
            .filter(|_| self.word.size < params.common.release.compressed_alphabet_min_word_size)
        {
            let (mut filtered, mut other): (Vec<usize>, Vec<usize>) =
                order.iter().partition(|&&i| self.filterable(&self.contexts[i]));
            if !self.dense_is_faster(&filtered, kernel) {
                other.append(&mut filtered);
            }
            rest = other;
            for members in divide_members(&filtered, &self.contexts, GROUP_CUTOFF_SPREAD) {
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
        let ProteinParams { common, scoring, word_size, threshold, .. } = params;
        let Some(alphabet) =
            Alphabet::new(common.release, scoring, &self.scores, *word_size, *threshold)
        else {
            return;
        };
        let (by_score, other): (Vec<usize>, Vec<usize>) =
            rest.iter().partition(|&&i| self.contexts[i].by_score);
        for members in
            [by_score, other].iter().flat_map(|m| divide_members(m, &self.contexts, i32::MAX))
        {
            self.sparse.push(sparse::Group::new(
                &self.contexts,
                &members,
                alphabet.clone(),
                (params.word_size, self.window),
                kernel,
            ));
        }
    }

    /// Returns whether the dense filter is faster than the sparse scan for these contexts.
    fn dense_is_faster(&self, members: &[usize], kernel: Kernel) -> bool {
        let contexts: Vec<&ChunkContext> = members.iter().map(|&i| &self.contexts[i]).collect();
        let groups = divide_members(members, &self.contexts, i32::MAX).len();
        cost::dense_is_faster(&contexts, groups, (&self.word, self.window), &self.scores, kernel)
    }

    /// Returns whether the dense filter loses no HSP of a context and lets few diagonals pass by
    /// chance.
    fn filterable(&self, context: &ChunkContext) -> bool {
        // A word that matches by its score has a pair above 0.
        let has_pairs = context.by_score && self.word.threshold > 0
            || !words::has_scoreless_word(context, self.word.size, &self.scores);
        let sums = self.window > 0 || has_pairs;
        sums && chance_lanes(context) < MAX_CHANCE_LANES
    }

    /// Searches the subjects with these OIDs, which must ascend: a range or a selection.
    pub fn search(
        &self,
        subjects: &dyn Subjects,
        oids: &mut dyn Iterator<Item = u32>,
        scratch: &mut ProteinScratch,
    ) -> HitLists {
        let mut lists = self.merger.empty_lists();
        if let Some(code) = &self.code {
            self.search_translations(subjects, oids, code, scratch, &mut lists);
            return lists;
        }
        let mut block = SubjectBlock::default();
        for oid in oids {
            let (residues, masks) = (subjects.residues(oid), subjects.masks(oid));
            let (frame, subject_len) = (Frame::Protein, residues.len());
            let subject = SubjectFrame { oid, frame, subject_len, residues, masks };
            block.push(subject, self.word.size);
            if block.size >= BLOCK_RESIDUES {
                self.search_block(subjects, &block, scratch, &mut lists);
                block.clear();
            }
        }
        if !block.parts.is_empty() {
            self.search_block(subjects, &block, scratch, &mut lists);
        }
        lists
    }

    /// Searches the translations of nucleotide subjects.
    fn search_translations(
        &self,
        subjects: &dyn Subjects,
        oids: &mut dyn Iterator<Item = u32>,
        code: &GeneticCode,
        scratch: &mut ProteinScratch,
        lists: &mut HitLists,
    ) {
        let mut translations = Translations::default();
        let length = |bases| self.gapped.translated_length(bases);
        let mut search = |translations: &Translations| {
            let block = translations.block(self.word.size, length);
            self.search_block(subjects, &block, scratch, lists);
        };
        for oid in oids {
            let subject = (subjects.bases(oid), subjects.masks(oid));
            translations.push(oid, subject, code, self.word.size);
            if translations.size() >= BLOCK_RESIDUES {
                search(&translations);
                translations.clear();
            }
        }
        if translations.size() > 0 {
            search(&translations);
        }
    }

    /// Searches the subjects of a block.
    fn search_block(
        &self,
        subjects: &dyn Subjects,
        block: &SubjectBlock,
        scratch: &mut ProteinScratch,
        lists: &mut HitLists,
    ) {
        let rule =
            DiagonalRule { scores: &self.scores, word_size: self.word.size, window: self.window };
        let ProteinScratch { filter, candidates, hits, found, scan, .. } = scratch;
        found.clear();
        for group in &self.dense {
            candidates.clear();
            group.filter(&block.residues, filter, candidates);
            let place = |c: &Candidate| (c.subject, c.context, c.diagonal);
            for rises in candidates.chunk_by(|a, b| place(a) == place(b)) {
                let (part, context, diagonal) = place(&rises[0]);
                let index = context as usize;
                let stretch = FilteredDiagonal::new(
                    &self.contexts[index],
                    &self.words[index],
                    &block.parts[part as usize],
                    diagonal,
                    &rule,
                    &self.word,
                );
                let offsets = rises.iter().map(|c| c.rise as usize);
                stretch.scan(offsets, group.cutoff(), hits, |hsp| {
                    found.push(BlockHsp { part, context, hsp });
                });
            }
        }
        for group in &self.sparse {
            for (index, part) in block.parts.iter().enumerate() {
                group.scan(&self.contexts, &rule, part, scan, |context, hsp| {
                    found.push(BlockHsp { part: index as u32, context: context as u32, hsp });
                });
            }
        }
        self.extend_found(subjects, block, scratch, lists);
    }

    /// Runs the gapped stage for all ungapped HSPs of a block.
    fn extend_found(
        &self,
        subjects: &dyn Subjects,
        block: &SubjectBlock,
        scratch: &mut ProteinScratch,
        lists: &mut HitLists,
    ) {
        let mut found = std::mem::take(&mut scratch.found);
        let oid = |found: &BlockHsp| block.parts[found.part as usize].oid;
        let strand = |found: &BlockHsp| {
            let context = &self.contexts[found.context as usize];
            (context.chunk, context.strand)
        };
        found.sort_unstable_by_key(|f| (oid(f), strand(f), f.part, f.hsp.order(f.context)));
        scratch.gapped.loaded.clear();
        let frame = |found: &BlockHsp| block.parts[found.part as usize].frame;
        let chunk = |found: &BlockHsp| self.contexts[found.context as usize].chunk;
        for of_chunk in found.chunk_by(|a, b| (oid(a), chunk(a)) == (oid(b), chunk(b))) {
            for of_strand in of_chunk.chunk_by(|a, b| strand(a) == strand(b)) {
                for of_frame in of_strand.chunk_by(|a, b| frame(a) == frame(b)) {
                    for hits in of_frame.chunk_by(|a, b| a.part == b.part) {
                        let part = &block.parts[hits[0].part as usize];
                        scratch.gapped.loaded.load(hits[0].part, part);
                        scratch.ungapped.clear();
                        scratch.ungapped.extend(hits.iter().map(|f| (f.context, f.hsp)));
                        let ProteinScratch { ungapped, gapped, .. } = scratch;
                        self.gapped.extend(part, &self.contexts, ungapped, &self.scores, gapped);
                    }
                    scratch.gapped.finish_frame();
                }
                let part = &block.parts[of_strand[0].part as usize];
                let subject = Subject {
                    subjects,
                    oid: part.oid,
                    length: part.subject_len,
                    code: self.code.as_ref(),
                };
                let contexts = self.strand_contexts(of_strand[0].context);
                self.gapped.finish_strand(contexts, &subject, &self.scores, &mut scratch.gapped);
            }
            if let Some(hit) = scratch.gapped.hit(oid(&of_chunk[0])) {
                lists.push(chunk(&of_chunk[0]), hit, self.merger.prune_capacity());
            }
        }
        scratch.found = found;
    }

    /// Returns all contexts that have the chunk and the strand of the given context.
    fn strand_contexts(&self, context: u32) -> &[ChunkContext] {
        let own = &self.contexts[context as usize];
        let key = |context: &ChunkContext| (context.chunk, context.strand);
        // The contexts of a chunk are consecutive, and so are those of its strands.
        let start = self.contexts.partition_point(|other| key(other) < key(own));
        let end = self.contexts.partition_point(|other| key(other) <= key(own));
        &self.contexts[start..end]
    }

    /// Returns the merger of the hit lists of several partitions.
    pub fn merger(&self) -> &Merger {
        &self.merger
    }
}

/// Returns the score rows of the contexts: those of the matrix, followed by those of the positions
/// of queries that have a PSSM. Sets the row numbers of the contexts of these queries.
///
/// # Panics
/// If a query with a PSSM is searched in chunks.
fn rows(
    queries: &[Query],
    merger: &Merger,
    contexts: &mut [ChunkContext],
    params: &ProteinParams,
) -> ScoreRows {
    let mut scores = ScoreRows::of_matrix(&params.scoring.scores);
    for context in contexts {
        let chunk = &merger.chunks()[context.chunk];
        let Some(pssm) = &queries[chunk.query].pssm else { continue };
        assert_eq!(pssm.scores.len(), context.len(), "a PSSM is of the whole query");
        context.score_by_position(scores.add_positions(&pssm.scores));
    }
    scores
}

/// Returns the expected number of lanes that reach the cut-off by chance, between average
/// sequences.
fn chance_lanes(context: &ChunkContext) -> f64 {
    let karlin = &context.karlin;
    karlin.k * AVERAGE_PAIR * (-karlin.lambda * f64::from(context.cutoff_ungapped)).exp()
}

/// Divides `members`, given by ascending cut-off, into runs that are scanned together. In a run the
/// cut-offs differ by at most `spread`.
fn divide_members(members: &[usize], contexts: &[ChunkContext], spread: i32) -> Vec<Vec<usize>> {
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
