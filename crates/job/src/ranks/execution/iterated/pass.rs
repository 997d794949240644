//! A pass of a block of psiblast: one iteration of each query that has a further one.

use std::mem::take;

use fleetblast_engine::hits::{PrelimHit, SubjectHit};
use fleetblast_engine::lists::{HitLists, Merger, WorstKeptHits};
use fleetblast_engine::query::Query;
use fleetblast_fleet::ids::{BlockId, PartitionId, PassId};
use fleetblast_report::pieces;
use fleetblast_report::table::DescriptionRow;
use rayon::prelude::*;

use super::super::joined_hits::JoinedHits;
use super::super::questions::{
    Answers, HitPosition, HitsByPartition, encode_alignment_question, encode_questions,
    encode_sending_question, group_by_partition, inconsistent_ranks, invert_order, reported_hit,
    select_final_hits, sorts_hits_by_description, take_aligned_letters, take_alignments,
    take_candidates, take_description_rows,
};
use super::block::{IteratedBlock, TrackedQuery};
use super::report::{PrintedSubjects, report};
use crate::error::Error;
use crate::iteration::{IterationRules, ReportedIteration};
use crate::queries::QueryRecord;
use crate::ranks::execution::questions;
use crate::ranks::job::{PreparedBlock, RankJob};
use crate::ranks::wire::{AlignedLetters, Bytes, Question, decode, encode};

/// A pass of a block of psiblast.
pub struct IterationPass {
    /// Numbers of the queries that are searched in this pass.
    active: Vec<usize>,
    block: PreparedBlock,
    merger: Merger,
    cut: WorstKeptHits,
    stage: PassStage,
}

/// The stage of a pass, with the data that its next stage needs.
enum PassStage {
    /// Tasks are being searched.
    Search(HitLists),
    /// Workers align the hits that were chosen for the traceback.
    Align { chosen: Vec<Vec<PrelimHit>>, asked_hits: HitsByPartition },
    /// Workers send the aligned letters of subjects, from which the master makes PSSMs.
    AlignedLetters { found: PassHits, included: MatrixHits, asked_hits: HitsByPartition },
    /// Workers send the alignments of hits that are joined to others.
    Join { searched: Vec<ReportedIteration>, joined: JoinedHits },
    /// Workers create the rows of the description table.
    Describe { found: PassHits, asked_hits: HitsByPartition },
    /// Workers format the hits.
    Format { found: PassHits, order: PrintOrder, asked_hits: HitsByPartition },
    /// Workers send all alignments: the master formats searches with a pattern, or the I/O site
    /// makes the report.
    Send { found: PassHits, asked_hits: HitsByPartition },
}

/// The results of a pass, by query.
struct PassHits {
    /// The iteration of each query. Its parts do not have their subjects yet.
    searched: Vec<ReportedIteration>,
    /// The reported subjects of each query: those of the first part, then those of the later parts.
    shown: Vec<Vec<SubjectHit>>,
}

/// The hits that go into PSSMs, by query.
struct MatrixHits {
    /// For each query, whether a PSSM is made.
    makes: Vec<bool>,
    /// For each query, the subjects with the alignments that go into its PSSM.
    hits: Vec<Vec<SubjectHit>>,
}

/// The order in which the subjects of each query are printed.
struct PrintOrder {
    /// For each query, indexes into its list of hits, in the order of printing.
    orders: Vec<Vec<usize>>,
    /// For each query, the rows of the description table, one for each hit. `None` if they are not
    /// known yet.
    rows: Option<Vec<Vec<DescriptionRow>>>,
}

/// An encoded question to each partition.
pub type Questions = Vec<(PartitionId, Bytes)>;

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
        let merger = job.engine_for(&block).merger(&block.grouping);
        let stage = PassStage::Search(merger.empty_lists());
        IterationPass { active, block, merger, cut: WorstKeptHits::default(), stage }
    }

    /// Merges the hits of a partition. Returns the new cut, below which hits cannot be chosen, if
    /// it rose.
    ///
    /// # Errors
    /// The lists belong to other queries.
    pub fn absorb(&mut self, id: BlockId, hits: &Bytes) -> Result<Option<Bytes>, Error> {
        let part: HitLists = decode(hits)?;
        let PassStage::Search(lists) = &mut self.stage else { return Err(inconsistent_ranks(id)) };
        if !self.merger.has_list_for_each_chunk(&part) {
            return Err(inconsistent_ranks(id));
        }
        self.merger.absorb(lists, part);
        let cut = self.merger.cut(lists);
        if cut == self.cut {
            return Ok(None);
        }
        self.cut = cut;
        encode(&self.cut).map(Some)
    }

    /// Goes to the next stage, when all is searched or all answers have arrived. Returns the pass
    /// with the questions to workers, or `None` if it has ended. Uses all threads of the current
    /// pool.
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
            PassStage::Search(lists) => {
                let chosen = self.merger.select_for_traceback(lists);
                let asked_hits = group_by_partition(job, &chosen, |hit| hit.oid);
                PassStage::Align { chosen, asked_hits }
            }
            PassStage::Align { chosen, asked_hits } => {
                let candidates = take_candidates(id, &asked_hits, &chosen, answers)?;
                let (hits, _) = select_final_hits(job, &self.block, &chosen, candidates);
                let (found, included) =
                    divide_hits(rules, iterated.queries_mut(&self.active), hits);
                let asked_hits = group_by_partition(job, &included.hits, |hit| hit.oid);
                PassStage::AlignedLetters { found, included, asked_hits }
            }
            PassStage::AlignedLetters { found, included, asked_hits } => {
                let rows = take_aligned_letters(id, &asked_hits, &included.hits, answers)?;
                make_matrices(rules, iterated.queries_mut(&self.active), included.makes, rows);
                if job.plan.metadata.is_some() || found.has_pattern() {
                    let asked_hits = group_by_partition(job, &found.shown, |hit| hit.oid);
                    PassStage::Send { found, asked_hits }
                } else {
                    let PassHits { searched, shown } = found;
                    PassStage::Join { searched, joined: JoinedHits::new(job, shown)? }
                }
            }
            PassStage::Join { mut searched, joined } => {
                let later = take_alignments(id, &joined.asked_hits, &joined.later, answers)?;
                let shown = joined.with_alignments(later);
                for (search, shown) in searched.iter_mut().zip(&shown) {
                    // Without a pattern there is one part.
                    search.parts.iter_mut().for_each(|part| part.count = shown.len());
                }
                PassStage::print(job, PassHits { searched, shown })
            }
            PassStage::Describe { found, asked_hits } => {
                let rows = take_description_rows(id, &asked_hits, &found.shown, answers)?;
                let order =
                    |rows: &Vec<DescriptionRow>| pieces::subject_print_order(&job.report, rows);
                let orders = rows.iter().map(order).collect();
                PassStage::Format {
                    found,
                    order: PrintOrder { orders, rows: Some(rows) },
                    asked_hits,
                }
            }
            PassStage::Format { found, order, asked_hits } => {
                let pieces = questions::take_pieces(id, &asked_hits, &found.shown, answers)?;
                let rows = match order.rows {
                    Some(rows) => rows,
                    None if pieces::has_description_table(&job.report) => {
                        take_description_rows(id, &asked_hits, &found.shown, answers)?
                    }
                    None => vec![Vec::new(); found.shown.len()],
                };
                let arranged = order.orders.into_iter().zip(rows).zip(pieces);
                let printed = arranged.map(|((order, rows), pieces)| {
                    let subjects = order.iter().map(|&place| pieces[place]).collect();
                    Some(PrintedSubjects { order, rows, subjects })
                });
                let printed = printed.collect();
                let searched = found.into_searches();
                report(
                    (job, rules, number),
                    iterated.queries_mut(&self.active),
                    searched,
                    printed,
                )?;
                return Ok(None);
            }
            PassStage::Send { mut found, asked_hits } => {
                found.shown = take_alignments(id, &asked_hits, &found.shown, answers)?;
                let printed = found.shown.iter().map(|_| None).collect();
                let searched = found.into_searches();
                report(
                    (job, rules, number),
                    iterated.queries_mut(&self.active),
                    searched,
                    printed,
                )?;
                return Ok(None);
            }
        };
        self.stage = stage;
        let questions = self.stage.questions(job)?;
        Ok(Some((self, questions)))
    }
}

impl PassStage {
    /// Returns the first stage in which workers make parts of the report.
    fn print(job: &RankJob, found: PassHits) -> PassStage {
        let asked_hits = group_by_partition(job, &found.shown, |hit| hit.oid);
        if pieces::has_description_table(&job.report) && sorts_hits_by_description(job) {
            return PassStage::Describe { found, asked_hits };
        }
        let orders = found.shown.iter().map(|hits| (0..hits.len()).collect()).collect();
        PassStage::Format { found, order: PrintOrder { orders, rows: None }, asked_hits }
    }

    /// Encodes the questions of this stage.
    fn questions(&self, job: &RankJob) -> Result<Questions, Error> {
        match self {
            PassStage::Search(_) => Ok(Vec::new()),
            PassStage::Align { chosen, asked_hits } => {
                encode_alignment_question(asked_hits, chosen)
            }
            PassStage::AlignedLetters { included, asked_hits, .. } => {
                encode_questions(asked_hits, |places| {
                    let hits = &included.hits;
                    let wanted =
                        |&(query, at): &HitPosition| reported_hit(&hits[query], query, at, at + 1);
                    Question::SendAlignedLetters(places.iter().map(wanted).collect())
                })
            }
            PassStage::Join { joined, .. } => {
                encode_sending_question(&joined.asked_hits, &joined.later)
            }
            PassStage::Send { found: PassHits { shown, .. }, asked_hits } => {
                encode_sending_question(asked_hits, shown)
            }
            PassStage::Describe { found: PassHits { shown, .. }, asked_hits } => {
                encode_questions(asked_hits, |places| {
                    let wanted =
                        |&(query, at): &HitPosition| reported_hit(&shown[query], query, at, at + 1);
                    Question::Describe(places.iter().map(wanted).collect())
                })
            }
            PassStage::Format { found: PassHits { shown, .. }, order, asked_hits } => {
                let ranks: Vec<_> = order.orders.iter().map(|order| invert_order(order)).collect();
                let wants_description_rows =
                    pieces::has_description_table(&job.report) && order.rows.is_none();
                encode_questions(asked_hits, |places| {
                    let wanted = |&(query, at): &HitPosition| {
                        reported_hit(&shown[query], query, at, ranks[query][at] + 1)
                    };
                    Question::Format {
                        chosen: places.iter().map(wanted).collect(),
                        wants_description_rows,
                    }
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

    /// Moves the subjects into the parts of their iterations.
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

/// Divides the hits of each query: those that are reported, and those that go into its PSSM.
fn divide_hits(
    rules: &IterationRules,
    queries: Vec<&mut TrackedQuery>,
    hits: Vec<Vec<SubjectHit>>,
) -> (PassHits, MatrixHits) {
    let mut found = PassHits { searched: Vec::new(), shown: Vec::new() };
    let mut included = MatrixHits { makes: Vec::new(), hits: Vec::new() };
    for (TrackedQuery { record, progress, .. }, hits) in queries.into_iter().zip(hits) {
        let mut begun = rules.begin(progress, record);
        let parts = rules.split_parts(&mut begun, hits);
        let hits = &parts[0];
        let makes = rules.record_hits(progress, hits);
        let subject = |hit: &SubjectHit| {
            let alignments: Vec<_> = rules.alignments_for_pssm(hit).cloned().collect();
            (!alignments.is_empty()).then_some(SubjectHit::new(hit.oid, alignments))
        };
        included.makes.push(makes);
        let subjects = hits.iter().filter(|_| makes).filter_map(subject);
        included.hits.push(subjects.collect());
        let mut searched = ReportedIteration::new(rules, record, begun, parts);
        let shown = searched.parts.iter_mut().flat_map(|part| take(&mut part.shown));
        found.shown.push(shown.collect());
        found.searched.push(searched);
    }
    (found, included)
}

/// Computes the next PSSM of each query for which `makes` is true.
fn make_matrices(
    rules: &IterationRules,
    queries: Vec<&mut TrackedQuery>,
    makes: Vec<bool>,
    rows: Vec<Vec<AlignedLetters>>,
) {
    let queries = queries.into_par_iter().zip(makes).zip(rows);
    queries.filter(|((_, makes), _)| *makes).for_each(|((query, _), subjects)| {
        let mut alignment = IterationRules::alignment(&query.record);
        for rows in subjects {
            alignment.add(rows.iter().map(|(alignment, letters)| (alignment, &letters[..])));
        }
        rules.advance(&mut query.progress, alignment);
    });
}
