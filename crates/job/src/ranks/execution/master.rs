//! Executes the work of a master: merges preliminary hits, chooses hits for the traceback and the
//! report, and lays out the output of blocks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fleetblast_engine::hits::{PrelimHit, SubjectHit};
use fleetblast_engine::lists::{HitLists, Merger, WorstKeptHits};
use fleetblast_fleet::ids::{BlockId, PartitionId, PassId};
use fleetblast_fleet::work::{MasterOutcome, MasterWork};
use fleetblast_report::pieces;
use fleetblast_report::table::DescriptionRow;

use super::MasterExecutor;
use super::block_encoder::{BlockEncoder, BlockToEncode};
use super::block_layout::{BlockLayout, PrintedHits};
use super::joined_hits::JoinedHits;
use super::master_pieces::MasterPieces;
use super::questions::{
    HitPosition, HitsByPartition, decode_answers, encode_alignment_question, encode_questions,
    encode_sending_question, group_by_partition, inconsistent_ranks, invert_order, reported_hit,
    select_final_hits, sorts_hits_by_description, take_alignments, take_candidates,
    take_description_rows,
};
use super::report_register::ReportRegister;
use super::shared::lock;
use crate::error::Error;
use crate::metadata::SearchCapacity;
use crate::queries::QueryRecord;
use crate::ranks::job::{PreparedBlock, RankJob};
use crate::ranks::wire::{Bytes, ExtensionStatistics, Question, Verification, decode, encode};
use crate::threads::pool;
use crate::trace::Recorder;

/// Executor of the work of a master.
pub struct SearchMaster<'a> {
    job: &'a RankJob<'a>,
    /// Threads that prepare queries. The worker of the same rank has threads of its own, which may
    /// be searching for long.
    pool: rayon::ThreadPool,
    blocks: HashMap<BlockId, MergingBlock>,
    /// Pieces of the master, for blocks that are laid out. Workers fetch them.
    pieces: MasterPieces,
    /// Where the names of queries are written, if the report consists of records.
    register: Option<Arc<Mutex<ReportRegister>>>,
    /// Encodes blocks as metadata, if the job writes metadata.
    encoder: Option<BlockEncoder<'a>>,
}

/// A block that is being searched or reported.
struct MergingBlock {
    block: PreparedBlock,
    merger: Merger,
    cut: WorstKeptHits,
    stage: MergeStage,
    /// Number of reported queries. These are all queries, unless BLAST+ stops its search before.
    reported: usize,
    /// The encoded queries, if their batches are predicted and so may be wrong.
    repeatable: Option<Bytes>,
}

/// The stage of a block, with the data that its next stage needs.
enum MergeStage {
    /// Tasks are being searched.
    Search(HitLists),
    /// Workers align the hits that were chosen for the traceback.
    Align { chosen: Vec<Vec<PrelimHit>>, asked_hits: HitsByPartition, since: Instant },
    /// Workers send the alignments of hits that are joined to others.
    Join(JoinedHits),
    /// Workers create the rows of the description table.
    Describe { hits: Vec<Vec<SubjectHit>>, asked_hits: HitsByPartition },
    /// Workers format the final hits.
    Format { printed: PrintedHits, asked_hits: HitsByPartition },
    /// Workers send all alignments of the final hits, because the master writes metadata.
    Send {
        hits: Vec<Vec<SubjectHit>>,
        overflowed: Vec<bool>,
        asked_hits: HitsByPartition,
        /// Time that the workers took for the alignments.
        traceback: Duration,
    },
}

impl<'a> SearchMaster<'a> {
    /// Creates the executor of a master. `capacity` describes all workers that search.
    ///
    /// # Errors
    /// Threads cannot be started.
    pub fn new(
        job: &'a RankJob<'a>,
        register: Option<Arc<Mutex<ReportRegister>>>,
        capacity: SearchCapacity,
        recorder: Recorder,
    ) -> Result<Self, Error> {
        let pool = pool(job.plan.threads.count)?;
        let (blocks, pieces) = Default::default();
        let encoder = BlockEncoder::new(job, capacity, recorder);
        Ok(SearchMaster { job, pool, blocks, pieces, register, encoder })
    }

    /// Prepares the queries of a block.
    fn prepare(&mut self, block: BlockId, queries: &Bytes) -> Result<MasterOutcome<Bytes>, Error> {
        let job = self.job;
        let queries = self.pool.install(|| job.prepare(queries))?;
        // The master decodes the same bytes as the workers, so that no rank can have other queries.
        let prepared = job.decode_block(&queries)?;
        let merger = job.engine.merger(&prepared.grouping);
        let stage = MergeStage::Search(merger.empty_lists());
        let repeatable = job.verifies_blocks().then(|| queries.clone());
        let (reported, cut) = (prepared.prepared.len(), WorstKeptHits::default());
        let merging_block =
            MergingBlock { block: prepared, merger, cut, stage, reported, repeatable };
        self.blocks.insert(block, merging_block);
        // A pass with wrong batches leaves no data, so all passes of a block have one number.
        Ok(MasterOutcome::Prepared { queries, pass: PassId(0) })
    }

    fn merging_block(&mut self, block: BlockId) -> Result<&mut MergingBlock, Error> {
        self.blocks.get_mut(&block).ok_or_else(|| inconsistent_ranks(block))
    }

    fn absorb(&mut self, block: BlockId, hits: &Bytes) -> Result<MasterOutcome<Bytes>, Error> {
        let part: HitLists = decode(hits)?;
        let merging_block = self.merging_block(block)?;
        let MergeStage::Search(lists) = &mut merging_block.stage else {
            return Err(inconsistent_ranks(block));
        };
        if !merging_block.merger.has_list_for_each_chunk(&part) {
            return Err(inconsistent_ranks(block));
        }
        merging_block.merger.absorb(lists, part);
        let cut = merging_block.merger.cut(lists);
        if cut == merging_block.cut {
            return Ok(MasterOutcome::Absorbed { cut: None });
        }
        merging_block.cut = cut;
        Ok(MasterOutcome::Absorbed { cut: Some(encode(&merging_block.cut)?) })
    }

    /// Sends the statistics of a pass to the supermaster, which verifies its batches.
    fn send_statistics(&mut self, block: BlockId) -> Result<MasterOutcome<Bytes>, Error> {
        let merging_block = self.merging_block(block)?;
        let MergeStage::Search(lists) = &merging_block.stage else {
            return Err(inconsistent_ranks(block));
        };
        let extensions = merging_block.merger.extensions(lists);
        let found = encode(&ExtensionStatistics {
            extensions,
            reached_unknown_letters: lists.reached_unknown_letters,
        })?;
        Ok(MasterOutcome::Verify { found })
    }

    /// Continues with a block whose predicted batches are correct. Otherwise begins another pass,
    /// with the batches of the `verdict`.
    fn apply_verification(
        &mut self,
        (block, pass): (BlockId, PassId),
        verdict: &Bytes,
    ) -> Result<MasterOutcome<Bytes>, Error> {
        let batch_grouping = match decode(verdict)? {
            Verification::Correct => return self.next_stage((block, pass), &[]),
            Verification::CorrectUntil(count) => {
                self.merging_block(block)?.reported = count as usize;
                return self.next_stage((block, pass), &[]);
            }
            Verification::SearchAgain(batch_grouping) => batch_grouping,
        };
        let job = self.job;
        let merging_block = self.merging_block(block)?;
        let known = merging_block.repeatable.as_ref().ok_or_else(|| inconsistent_ranks(block))?;
        let queries = job.regroup(known, batch_grouping)?;
        merging_block.block = job.decode_block(&queries)?;
        merging_block.merger = job.engine.merger(&merging_block.block.grouping);
        merging_block.cut = WorstKeptHits::default();
        merging_block.stage = MergeStage::Search(merging_block.merger.empty_lists());
        Ok(MasterOutcome::NextPass { queries })
    }

    fn next_stage(
        &mut self,
        (block, pass): (BlockId, PassId),
        replies: &[Bytes],
    ) -> Result<MasterOutcome<Bytes>, Error> {
        let mut answers = decode_answers(replies)?;
        let mut merging_block =
            self.blocks.remove(&block).ok_or_else(|| inconsistent_ranks(block))?;
        let job = self.job;
        let next = match merging_block.stage {
            MergeStage::Search(lists) => {
                let mut chosen = merging_block.merger.select_for_traceback(lists);
                chosen.iter_mut().skip(merging_block.reported).for_each(Vec::clear);
                let asked_hits = group_by_partition(job, &chosen, |hit| hit.oid);
                MergeStage::Align { chosen, asked_hits, since: Instant::now() }
            }
            MergeStage::Align { chosen, asked_hits, since } => {
                let traceback = since.elapsed();
                let candidates = take_candidates(block, &asked_hits, &chosen, &mut answers)?;
                let (hits, overflowed) =
                    select_final_hits(job, &merging_block.block, &chosen, candidates);
                if job.plan.metadata.is_some() {
                    let asked_hits = group_by_partition(job, &hits, |hit| hit.oid);
                    MergeStage::Send { hits, overflowed, asked_hits, traceback }
                } else {
                    MergeStage::Join(JoinedHits::new(job, hits)?)
                }
            }
            MergeStage::Join(joined) => {
                let later =
                    take_alignments(block, &joined.asked_hits, &joined.later, &mut answers)?;
                MergeStage::print(job, joined.with_alignments(later))
            }
            MergeStage::Describe { hits, asked_hits } => {
                let rows = take_description_rows(block, &asked_hits, &hits, &mut answers)?;
                let order =
                    |rows: &Vec<DescriptionRow>| pieces::subject_print_order(&job.report, rows);
                let orders = rows.iter().map(order).collect();
                MergeStage::Format {
                    printed: PrintedHits { hits, orders, rows: Some(rows) },
                    asked_hits,
                }
            }
            MergeStage::Send { hits, mut overflowed, asked_hits, traceback } => {
                let mut hits = take_alignments(block, &asked_hits, &hits, &mut answers)?;
                hits.truncate(merging_block.reported);
                overflowed.truncate(merging_block.reported);
                let (hits, overflowed) = (&hits[..], &overflowed[..]);
                let to_encode = BlockToEncode {
                    id: block,
                    queries: &merging_block.block,
                    hits,
                    overflowed,
                    traceback,
                };
                let encoder = self.encoder.as_mut().ok_or_else(|| inconsistent_ranks(block))?;
                let record = self.pool.install(|| encoder.encode(&to_encode))?;
                let layout = BlockLayout::from_bytes(record);
                self.pieces.keep(block, layout.pieces);
                return Ok(MasterOutcome::Layout(layout.extents));
            }
            MergeStage::Format { printed, asked_hits } => {
                let mut printed = printed;
                // Queries that are not searched must not be reported as queries without hits.
                printed.hits.truncate(merging_block.reported);
                let place = (block, pass);
                let layout = BlockLayout::new(
                    job,
                    place,
                    &merging_block.block,
                    printed,
                    &asked_hits,
                    answers,
                )?;
                if let Some(register) = &self.register {
                    let names = merging_block.block.records.iter().map(QueryRecord::names);
                    lock(register).write_names(block, names.zip(layout.queries))?;
                }
                self.pieces.keep(block, layout.pieces);
                return Ok(MasterOutcome::Layout(layout.extents));
            }
        };
        merging_block.stage = next;
        let questions = merging_block.stage.questions(job)?;
        self.blocks.insert(block, merging_block);
        match questions.is_empty() {
            // If there is no question, the next stage follows at once.
            true => self.next_stage((block, pass), &[]),
            false => Ok(MasterOutcome::Ask(questions)),
        }
    }
}

impl MasterExecutor for SearchMaster<'_> {
    fn run(&mut self, work: MasterWork<Bytes>) -> Result<MasterOutcome<Bytes>, Error> {
        match work {
            MasterWork::Prepare { block, queries } => self.prepare(block, &queries),
            MasterWork::MergeHits { block, hits, .. } => self.absorb(block, &hits),
            MasterWork::DecideNextStep { block, round: 0, .. } if self.job.verifies_blocks() => {
                self.send_statistics(block)
            }
            MasterWork::DecideNextStep { block, pass, replies, .. } => {
                self.next_stage((block, pass), &replies)
            }
            MasterWork::Verified { block, pass, verdict } => {
                self.apply_verification((block, pass), &verdict)
            }
            MasterWork::Gather { runs } => Ok(MasterOutcome::Gathered(self.pieces.gather(&runs)?)),
        }
    }

    fn forget(&mut self, block: BlockId) {
        self.pieces.forget(block);
    }
}

impl MergeStage {
    /// Returns the first stage in which workers make parts of the report from the final hits.
    fn print(job: &RankJob, hits: Vec<Vec<SubjectHit>>) -> MergeStage {
        let asked_hits = group_by_partition(job, &hits, |hit| hit.oid);
        if pieces::has_description_table(&job.report) && sorts_hits_by_description(job) {
            return MergeStage::Describe { hits, asked_hits };
        }
        let orders = hits.iter().map(|hits| (0..hits.len()).collect()).collect();
        MergeStage::Format { printed: PrintedHits { hits, orders, rows: None }, asked_hits }
    }

    /// Encodes the questions of this stage.
    fn questions(&self, job: &RankJob) -> Result<Vec<(PartitionId, Bytes)>, Error> {
        match self {
            MergeStage::Search(_) => Ok(Vec::new()),
            MergeStage::Align { chosen, asked_hits, .. } => {
                encode_alignment_question(asked_hits, chosen)
            }
            MergeStage::Describe { hits, asked_hits } => encode_questions(asked_hits, |places| {
                let wanted =
                    |&(query, at): &HitPosition| reported_hit(&hits[query], query, at, at + 1);
                Question::Describe(places.iter().map(wanted).collect())
            }),
            MergeStage::Join(joined) => encode_sending_question(&joined.asked_hits, &joined.later),
            MergeStage::Send { hits, asked_hits, .. } => encode_sending_question(asked_hits, hits),
            MergeStage::Format { printed: PrintedHits { hits, orders, rows }, asked_hits } => {
                let ranks: Vec<Vec<usize>> =
                    orders.iter().map(|order| invert_order(order)).collect();
                let wants_description_rows =
                    pieces::has_description_table(&job.report) && rows.is_none();
                encode_questions(asked_hits, |places| {
                    let wanted = |&(query, at): &HitPosition| {
                        reported_hit(&hits[query], query, at, ranks[query][at] + 1)
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
