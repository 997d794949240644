//! Executes the work of a master: merges preliminary hits, chooses hits for the traceback and the
//! report, and lays out the output of blocks.

use std::collections::HashMap;
use std::mem::take;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fleetblast_engine::hits::{PrelimHit, SubjectHit};
use fleetblast_fleet::ids::{BlockId, PassId};
use fleetblast_fleet::work::{MasterOutcome, MasterWork};

use super::MasterExecutor;
use super::block_encoder::{BlockEncoder, BlockToEncode};
use super::block_layout::BlockLayout;
use super::formatting::{AfterStage, FormattingStage, PrintedHits};
use super::master_pieces::MasterPieces;
use super::merging::MergedLists;
use super::questions::{
    Answers, HitsByPartition, Questions, decode_answers, encode_alignment_question,
    encode_sending_question, group_by_partition, inconsistent_ranks, select_final_hits,
    take_alignments, take_candidates,
};
use super::report_register::ReportRegister;
use super::shared::lock;
use crate::error::Error;
use crate::metadata::SearchCapacity;
use crate::queries::QueryRecord;
use crate::ranks::job::{PreparedBlock, RankJob};
use crate::ranks::wire::{Bytes, Verification, decode, encode};
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
    stage: MergeStage,
    /// Number of reported queries. These are all queries, unless BLAST+ stops its search before.
    reported: usize,
    /// The encoded queries, if their batches are predicted and so may be wrong.
    repeatable: Option<Bytes>,
}

/// The stage of a block, with the data that its next stage needs.
enum MergeStage {
    /// Tasks are being searched.
    Search(MergedLists),
    /// Workers align the hits that were chosen for the traceback.
    Align { chosen: Vec<Vec<PrelimHit>>, asked_hits: HitsByPartition, since: Instant },
    /// Workers make the parts of the report.
    Report(FormattingStage),
    /// Workers send all alignments of the final hits, because the master writes metadata.
    Send(SentHits),
}

/// Final hits whose alignments go into metadata.
struct SentHits {
    hits: Vec<Vec<SubjectHit>>,
    /// For each query, whether more of its subjects were aligned than its hit list holds.
    overflowed: Vec<bool>,
    asked_hits: HitsByPartition,
    /// Time that the workers took for the alignments.
    traceback: Duration,
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
        let stage = MergeStage::search(job, &prepared);
        let repeatable = job.verifies_blocks().then(|| queries.clone());
        let reported = prepared.prepared.len();
        let merging_block = MergingBlock { block: prepared, stage, reported, repeatable };
        self.blocks.insert(block, merging_block);
        // A pass with wrong batches leaves no data, so all passes of a block have one number.
        Ok(MasterOutcome::Prepared { queries, pass: PassId(0) })
    }

    fn merging_block(&mut self, block: BlockId) -> Result<&mut MergingBlock, Error> {
        self.blocks.get_mut(&block).ok_or_else(|| inconsistent_ranks(block))
    }

    /// Returns the merged lists of a block whose tasks are being searched.
    fn merged_lists(&mut self, block: BlockId) -> Result<&mut MergedLists, Error> {
        match &mut self.merging_block(block)?.stage {
            MergeStage::Search(lists) => Ok(lists),
            _ => Err(inconsistent_ranks(block)),
        }
    }

    fn absorb(&mut self, block: BlockId, hits: &Bytes) -> Result<MasterOutcome<Bytes>, Error> {
        let cut = self.merged_lists(block)?.absorb(block, hits)?;
        Ok(MasterOutcome::Absorbed { cut })
    }

    /// Sends the statistics of a pass to the supermaster, which verifies its batches.
    fn send_statistics(&mut self, block: BlockId) -> Result<MasterOutcome<Bytes>, Error> {
        let found = encode(&self.merged_lists(block)?.statistics())?;
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
        merging_block.stage = MergeStage::search(job, &merging_block.block);
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
                let mut chosen = lists.select_for_traceback();
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
                    MergeStage::Send(SentHits { hits, overflowed, asked_hits, traceback })
                } else {
                    MergeStage::Report(FormattingStage::new(job, hits)?)
                }
            }
            MergeStage::Send(sent) => {
                let searched = (&merging_block.block, merging_block.reported);
                let layout = self.encode(block, searched, sent, &mut answers)?;
                return Ok(self.keep_layout(block, layout));
            }
            MergeStage::Report(stage) => match stage.advance(job, block, &mut answers)? {
                AfterStage::Stage(stage) => MergeStage::Report(stage),
                AfterStage::Formatted(printed) => {
                    let searched = (&merging_block.block, merging_block.reported);
                    let layout = self.lay_out((block, pass), searched, printed, answers)?;
                    return Ok(self.keep_layout(block, layout));
                }
            },
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

    /// Encodes the hits of the first `reported` queries of a block as metadata.
    fn encode(
        &mut self,
        id: BlockId,
        (queries, reported): (&PreparedBlock, usize),
        sent: SentHits,
        answers: &mut Answers,
    ) -> Result<BlockLayout, Error> {
        let hits = take_alignments(id, &sent.asked_hits, &sent.hits, answers)?;
        let (hits, overflowed) = hits
            .get(..reported)
            .zip(sent.overflowed.get(..reported))
            .ok_or_else(|| inconsistent_ranks(id))?;
        let to_encode = BlockToEncode { id, queries, hits, overflowed, traceback: sent.traceback };
        let encoder = self.encoder.as_mut().ok_or_else(|| inconsistent_ranks(id))?;
        Ok(BlockLayout::from_bytes(self.pool.install(|| encoder.encode(&to_encode))?))
    }

    /// Lays out the report of the first `reported` queries of a block.
    fn lay_out(
        &self,
        place: (BlockId, PassId),
        (queries, reported): (&PreparedBlock, usize),
        mut printed: PrintedHits,
        answers: Answers,
    ) -> Result<BlockLayout, Error> {
        // Queries that are not searched must not be reported as queries without hits.
        printed.hits.truncate(reported);
        let mut layout = BlockLayout::new(self.job, place, queries, printed, answers)?;
        if let Some(register) = &self.register {
            let names = queries.records.iter().map(QueryRecord::names);
            lock(register).write_names(place.0, names.zip(take(&mut layout.queries)))?;
        }
        Ok(layout)
    }

    fn keep_layout(&mut self, block: BlockId, layout: BlockLayout) -> MasterOutcome<Bytes> {
        self.pieces.keep(block, layout.pieces);
        MasterOutcome::Layout(layout.extents)
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
    /// Returns the stage of a block whose tasks are being searched.
    fn search(job: &RankJob, block: &PreparedBlock) -> MergeStage {
        MergeStage::Search(MergedLists::new(job.engine.merger(&block.grouping)))
    }

    /// Encodes the questions of this stage.
    fn questions(&self, job: &RankJob) -> Result<Questions, Error> {
        match self {
            MergeStage::Search(_) => Ok(Vec::new()),
            MergeStage::Align { chosen, asked_hits, .. } => {
                encode_alignment_question(asked_hits, chosen)
            }
            MergeStage::Send(sent) => encode_sending_question(&sent.asked_hits, &sent.hits),
            MergeStage::Report(stage) => stage.questions(job),
        }
    }
}
