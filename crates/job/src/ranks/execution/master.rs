//! Executes the work of a master: merges preliminary hits, chooses hits for the traceback and the
//! report, and lays out the output of blocks.

use std::collections::HashMap;
use std::mem::take;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fleetblast_fleet::ids::{BlockId, PassId};
use fleetblast_fleet::work::{MasterOutcome, MasterWork};

use super::MasterExecutor;
use super::block_encoder::{BlockEncoder, BlockToEncode};
use super::block_layout::BlockLayout;
use super::hit_stages::{AfterStage, HitStage, PrintedHits, SelectedHits};
use super::master_pieces::MasterPieces;
use super::merging::MergedLists;
use super::questions::{Answers, decode_answers, inconsistent_ranks};
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
    /// Pieces that this master has formatted, of blocks that are laid out. Workers fetch them.
    pieces: MasterPieces,
    /// Where the names of queries are written, if the report consists of records.
    register: Option<Arc<Mutex<ReportRegister>>>,
    /// Encodes blocks as metadata, if the job writes metadata.
    encoder: Option<BlockEncoder<'a>>,
}

/// A block that is being searched or reported.
struct MergingBlock {
    block: PreparedBlock,
    stage: HitStage,
    /// The encoded queries, for another pass if their predicted batches are wrong. `None` if
    /// batches do not depend on hits.
    repeatable: Option<Bytes>,
    /// For each query, whether more of its subjects were aligned than its hit list holds. Empty
    /// until the final hits are selected.
    overflowed: Vec<bool>,
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
        let stage = HitStage::search(job, &prepared);
        let repeatable = job.verifies_blocks().then(|| queries.clone());
        let merging_block = MergingBlock {
            block: prepared,
            stage,
            repeatable,
            overflowed: Vec::new(),
            traceback: Duration::ZERO,
        };
        self.blocks.insert(block, merging_block);
        // A pass with wrong batches leaves no data, so all passes of a block have one number.
        Ok(MasterOutcome::Prepared { queries, pass: PassId(0) })
    }

    fn merging_block(&mut self, block: BlockId) -> Result<&mut MergingBlock, Error> {
        self.blocks.get_mut(&block).ok_or_else(|| inconsistent_ranks(block))
    }

    fn merged_lists(&mut self, block: BlockId) -> Result<&mut MergedLists, Error> {
        self.merging_block(block)?.stage.merged_lists(block)
    }

    /// Sends the statistics of a pass to the supermaster, which verifies the predicted batches.
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
                self.merged_lists(block)?.reported = count as usize;
                return self.next_stage((block, pass), &[]);
            }
            Verification::SearchAgain(batch_grouping) => batch_grouping,
        };
        let job = self.job;
        let merging_block = self.merging_block(block)?;
        let known = merging_block.repeatable.as_ref().ok_or_else(|| inconsistent_ranks(block))?;
        let queries = job.regroup(known, batch_grouping)?;
        merging_block.block = job.decode_block(&queries)?;
        merging_block.stage = HitStage::search(job, &merging_block.block);
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
        // If there is no question, the next stage follows at once.
        loop {
            let place = (block, &merging_block.block);
            let next = match merging_block.stage.advance(job, place, &mut answers)? {
                AfterStage::Stage(stage) => stage,
                AfterStage::Selected(SelectedHits { hits, overflowed, traceback }) => {
                    merging_block.overflowed = overflowed;
                    merging_block.traceback = traceback;
                    HitStage::report(job, hits, job.plan.metadata.is_some())?
                }
                AfterStage::Sent(hits) => {
                    let to_encode = BlockToEncode {
                        id: block,
                        queries: &merging_block.block,
                        hits: &hits,
                        overflowed: &merging_block.overflowed,
                        traceback: merging_block.traceback,
                    };
                    let encoder = self.encoder.as_mut().ok_or_else(|| inconsistent_ranks(block))?;
                    let record = self.pool.install(|| encoder.encode(&to_encode))?;
                    return Ok(self.keep_layout(block, BlockLayout::from_bytes(record)));
                }
                AfterStage::Formatted(printed) => {
                    let queries = &merging_block.block;
                    let layout = self.lay_out((block, pass), queries, printed, answers)?;
                    return Ok(self.keep_layout(block, layout));
                }
            };
            let questions = next.questions(job)?;
            merging_block.stage = next;
            if !questions.is_empty() {
                self.blocks.insert(block, merging_block);
                return Ok(MasterOutcome::Ask(questions));
            }
        }
    }

    /// Lays out the report of a block.
    fn lay_out(
        &self,
        place: (BlockId, PassId),
        queries: &PreparedBlock,
        printed: PrintedHits,
        answers: Answers,
    ) -> Result<BlockLayout, Error> {
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
            MasterWork::MergeHits { block, hits, .. } => {
                let cut = self.merged_lists(block)?.absorb(block, &hits)?;
                Ok(MasterOutcome::Absorbed { cut })
            }
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
