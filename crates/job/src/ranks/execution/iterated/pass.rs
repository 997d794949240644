//! A pass of a block of psiblast: one iteration of each query whose iterations have not ended.

use std::mem::take;

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::query::Query;
use fleetblast_fleet::ids::{BlockId, PassId};
use rayon::prelude::*;

use super::super::hit_stages::{AfterStage, HitStage, PrintedHits};
use super::super::questions::{
    Answers, HitPosition, HitsByPartition, Questions, encode_questions, group_by_partition,
    inconsistent_ranks, reported_hit, take_aligned_letters,
};
use super::block::{IteratedBlock, TrackedQuery};
use super::report::{PrintedSubjects, report};
use crate::error::Error;
use crate::iteration::{IterationRules, ReportedIteration};
use crate::queries::QueryRecord;
use crate::ranks::job::{PreparedBlock, RankJob};
use crate::ranks::wire::{AlignedLetters, Bytes, Question};

/// A pass of a block of psiblast.
pub struct IterationPass {
    /// Numbers of the queries that are searched in this pass.
    active: Vec<usize>,
    block: PreparedBlock,
    stage: PassStage,
}

/// The stage of a pass, with the data that its next stage needs.
enum PassStage {
    /// A stage that all programs have. `searched` has the iteration of each query, without
    /// subjects. It is empty until the final hits are selected.
    Hits { stage: HitStage, searched: Vec<ReportedIteration> },
    /// Workers send the aligned letters of subjects, from which the master makes PSSMs.
    AlignedLetters { found: PassHits, included: PssmHits, asked_hits: HitsByPartition },
}

/// The results of a pass, by query.
struct PassHits {
    /// The iteration of each query. Its parts do not have their subjects yet.
    searched: Vec<ReportedIteration>,
    /// The reported subjects of each query, in the order of the parts of its iteration.
    shown: Vec<Vec<SubjectHit>>,
}

/// The hits that go into PSSMs, by query.
struct PssmHits {
    /// For each query, whether a PSSM is made.
    makes: Vec<bool>,
    /// For each query, the subjects with the alignments that go into its PSSM.
    hits: Vec<Vec<SubjectHit>>,
}

impl IterationPass {
    /// Creates the next pass, with all queries that have a further iteration. Also returns the
    /// queries, encoded for the workers.
    ///
    /// # Errors
    /// The pass cannot be encoded.
    pub fn new(
        job: &RankJob,
        rules: &IterationRules,
        iterated: &IteratedBlock,
    ) -> Result<(Self, Bytes), Error> {
        let active = iterated.queries_to_search();
        let query = |&number: &usize| {
            let TrackedQuery { record, progress, .. } = iterated.query(number);
            (record, &progress.query)
        };
        let queries: Vec<(&QueryRecord, &Query)> = active.iter().map(query).collect();
        let bytes = job.encode_pass(rules, &queries)?;
        // The master decodes the same bytes as the workers.
        Ok((IterationPass::from_block(job, job.decode_block(&bytes)?, active), bytes))
    }

    fn from_block(job: &RankJob, block: PreparedBlock, active: Vec<usize>) -> Self {
        let stage = PassStage::Hits { stage: HitStage::search(job, &block), searched: Vec::new() };
        IterationPass { active, block, stage }
    }

    /// Merges the hits of a partition. Returns the encoded cut if the merge raised it, otherwise
    /// `None`.
    ///
    /// # Errors
    /// The lists belong to other queries.
    pub fn absorb(&mut self, id: BlockId, hits: &Bytes) -> Result<Option<Bytes>, Error> {
        match &mut self.stage {
            PassStage::Hits { stage, .. } => stage.merged_lists(id)?.absorb(id, hits),
            PassStage::AlignedLetters { .. } => Err(inconsistent_ranks(id)),
        }
    }

    /// Goes to the next stage, when all tasks are searched or all answers have arrived. Returns the
    /// pass with its next questions to workers, or `None` if the pass has ended. Uses all threads
    /// of the current pool.
    ///
    /// # Errors
    /// The answers do not match the questions, or a report cannot be made.
    pub fn advance(
        mut self,
        job: &RankJob,
        rules: &IterationRules,
        (id, number): (BlockId, PassId),
        iterated: &mut IteratedBlock,
        answers: &mut Answers,
    ) -> Result<Option<(Self, Questions)>, Error> {
        let stage = match self.stage {
            PassStage::Hits { stage, searched } => {
                let queries = iterated.queries_mut(&self.active);
                match stage.advance(job, (id, &self.block), answers)? {
                    AfterStage::Stage(stage) => PassStage::Hits { stage, searched },
                    AfterStage::Selected(selected) => {
                        let (found, included) = divide_hits(rules, queries, selected.hits);
                        let asked_hits = group_by_partition(job, &included.hits, |hit| hit.oid);
                        PassStage::AlignedLetters { found, included, asked_hits }
                    }
                    // The master formats searches with a pattern, or the I/O site makes the
                    // report.
                    AfterStage::Sent(shown) => {
                        let printed = shown.iter().map(|_| None).collect();
                        let searched = PassHits { searched, shown }.into_searches();
                        report((job, rules, number), queries, searched, printed)?;
                        return Ok(None);
                    }
                    AfterStage::Formatted(printed) => {
                        let (found, printed) = take_printed(job, id, searched, printed, answers)?;
                        report((job, rules, number), queries, found.into_searches(), printed)?;
                        return Ok(None);
                    }
                }
            }
            PassStage::AlignedLetters { found, included, asked_hits } => {
                let rows = take_aligned_letters(id, &asked_hits, &included.hits, answers)?;
                make_pssms(rules, iterated.queries_mut(&self.active), included.makes, rows);
                let sends_alignments = job.plan.metadata.is_some() || found.has_pattern();
                let PassHits { searched, shown } = found;
                PassStage::Hits { stage: HitStage::report(job, shown, sends_alignments)?, searched }
            }
        };
        self.stage = stage;
        let questions = self.stage.questions(job)?;
        Ok(Some((self, questions)))
    }
}

impl PassStage {
    /// Encodes the questions of this stage.
    fn questions(&self, job: &RankJob) -> Result<Questions, Error> {
        match self {
            PassStage::Hits { stage, .. } => stage.questions(job),
            PassStage::AlignedLetters { included, asked_hits, .. } => {
                encode_questions(asked_hits, |places| {
                    let hits = &included.hits;
                    let wanted =
                        |&(query, at): &HitPosition| reported_hit(&hits[query], query, at, at + 1);
                    Question::SendAlignedLetters(places.iter().map(wanted).collect())
                })
            }
        }
    }
}

impl PassHits {
    /// Returns whether the pass searched for a pattern.
    fn has_pattern(&self) -> bool {
        self.searched.iter().any(ReportedIteration::has_pattern)
    }

    /// Returns the iterations, with the reported subjects in their parts.
    fn into_searches(self) -> Vec<ReportedIteration> {
        let mut searched = self.searched;
        for (search, shown) in searched.iter_mut().zip(self.shown) {
            let mut left = shown.into_iter();
            for part in &mut search.parts {
                part.shown = left.by_ref().take(part.count).collect();
            }
        }
        searched
    }
}

/// Takes the formatted hits of each query of a search without a pattern.
fn take_printed(
    job: &RankJob,
    id: BlockId,
    mut searched: Vec<ReportedIteration>,
    mut printed: PrintedHits,
    answers: &mut Answers,
) -> Result<(PassHits, Vec<Option<PrintedSubjects>>), Error> {
    let pieces = printed.take_pieces(id, answers)?;
    let rows = printed.take_rows(job, id, answers)?;
    let PrintedHits { hits: shown, orders, .. } = printed;
    for (search, shown) in searched.iter_mut().zip(&shown) {
        // Without a pattern there is one part.
        search.parts.iter_mut().for_each(|part| part.count = shown.len());
    }
    let arranged = orders.into_iter().zip(rows).zip(pieces);
    let printed = arranged.map(|((order, rows), pieces)| {
        let subjects = order.iter().map(|&place| pieces[place]).collect();
        Some(PrintedSubjects { order, rows, subjects })
    });
    Ok((PassHits { searched, shown }, printed.collect()))
}

/// Selects from the hits of each query those that are reported, and those that go into its PSSM.
fn divide_hits(
    rules: &IterationRules,
    queries: Vec<&mut TrackedQuery>,
    hits: Vec<Vec<SubjectHit>>,
) -> (PassHits, PssmHits) {
    let mut found = PassHits { searched: Vec::new(), shown: Vec::new() };
    let mut included = PssmHits { makes: Vec::new(), hits: Vec::new() };
    for (TrackedQuery { record, progress, .. }, hits) in queries.into_iter().zip(hits) {
        let subject = |hit: &SubjectHit| {
            let alignments: Vec<_> = rules.alignments_for_pssm(hit).cloned().collect();
            (!alignments.is_empty()).then_some(SubjectHit::new(hit.oid, alignments))
        };
        let subjects = |_: &mut _, hits: &[SubjectHit]| hits.iter().filter_map(subject).collect();
        let (mut searched, subjects) = rules.record_iteration(progress, record, hits, subjects);
        included.makes.push(subjects.is_some());
        included.hits.push(subjects.unwrap_or_default());
        let shown = searched.parts.iter_mut().flat_map(|part| take(&mut part.shown));
        found.shown.push(shown.collect());
        found.searched.push(searched);
    }
    (found, included)
}

/// Computes the next PSSM of each query for which `makes` is true.
fn make_pssms(
    rules: &IterationRules,
    queries: Vec<&mut TrackedQuery>,
    makes: Vec<bool>,
    rows: Vec<Vec<AlignedLetters>>,
) {
    let queries = queries.into_par_iter().zip(makes).zip(rows);
    queries.filter(|((_, makes), _)| *makes).for_each(|((query, _), subjects)| {
        let TrackedQuery { record, progress, .. } = query;
        rules.make_pssm(progress, record, subjects.into_iter().map(Ok));
    });
}
