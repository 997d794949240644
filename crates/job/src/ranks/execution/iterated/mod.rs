//! Executes the work of a master for psiblast, whose queries are searched in iterations. The master
//! merges the hits of an iteration, and computes the PSSM of the next iteration once. It sends the
//! PSSM to the workers with the next pass of the block.
//!
//! The queries of a block are searched together in each pass, as long as they need further
//! iterations. Blocks do not wait for each other. When all iterations of a block have ended, the
//! master sends their outcome to the supermaster. The supermaster handles the outcomes in the order
//! of the blocks, for two reasons. Iterations are numbered over all blocks, and a query that fails
//! ends the report.

mod block;
mod pass;
mod report;

use std::collections::HashMap;
use std::time::Instant;

use fleetblast_fleet::ids::{BlockId, PassId};
use fleetblast_fleet::work::{MasterOutcome, MasterWork};
use fleetblast_metadata::BlockResults;
use fleetblast_metadata::records::RecordKind;
use fleetblast_report::pieces;

use self::block::IteratedBlock;
use self::pass::IterationPass;
use super::MasterExecutor;
use super::block_layout::BlockLayout;
use super::master_pieces::MasterPieces;
use super::questions::{decode_answers, inconsistent_ranks};
use super::report_register::SharedRegister;
use super::shared::lock;
use crate::cost::EncodingCosts;
use crate::error::Error;
use crate::iteration::IterationRules;
use crate::metadata::{encode_iterated_block, encode_iterations, memory_error};
use crate::ranks::job::RankJob;
use crate::ranks::record_chain::first_record;
use crate::ranks::wire::{Bytes, PrecedingSearches, decode, encode};
use crate::threads::pool;
use crate::trace::Recorder;

/// Executor of the work of a master for psiblast.
pub struct IteratedMaster<'a> {
    job: &'a RankJob<'a>,
    rules: IterationRules<'a>,
    /// Threads that prepare queries and compute PSSMs. The worker of the same rank has its own
    /// threads, which may be searching for long.
    pool: rayon::ThreadPool,
    blocks: HashMap<BlockId, (IteratedBlock, Option<IterationPass>)>,
    /// Pieces that this master has formatted, of blocks that are laid out. Workers fetch them.
    pieces: MasterPieces,
    /// Where the names of queries are written, if the report consists of records.
    register: Option<SharedRegister>,
    /// Costs of the encodings, and the recorder of these costs.
    account: EncodingCosts,
    recorder: Recorder,
}

impl<'a> IteratedMaster<'a> {
    /// Creates the executor of a master. Its queries have iterations by these rules.
    ///
    /// # Errors
    /// Threads cannot be started.
    pub fn new(
        job: &'a RankJob<'a>,
        rules: IterationRules<'a>,
        register: Option<SharedRegister>,
        recorder: Recorder,
    ) -> Result<Self, Error> {
        let pool = pool(job.plan.threads.count)?;
        let (blocks, pieces) = (HashMap::new(), MasterPieces::default());
        let account = EncodingCosts::new();
        Ok(IteratedMaster { job, rules, pool, blocks, pieces, register, account, recorder })
    }

    /// Prepares the queries of a block for their first iteration.
    fn prepare(&mut self, block: BlockId, queries: &Bytes) -> Result<MasterOutcome<Bytes>, Error> {
        let (job, rules) = (self.job, &self.rules);
        let prepare = || IteratedBlock::new(job, rules, queries);
        let iterated = self.pool.install(prepare)?;
        let (pass, queries) = IterationPass::new(job, rules, &iterated)?;
        self.blocks.insert(block, (iterated, Some(pass)));
        Ok(MasterOutcome::Prepared { queries, pass: PassId(0) })
    }

    fn pass_mut(&mut self, block: BlockId) -> Result<&mut IterationPass, Error> {
        let known = self.blocks.get_mut(&block);
        known.and_then(|(_, pass)| pass.as_mut()).ok_or_else(|| inconsistent_ranks(block))
    }

    fn next_stage(
        &mut self,
        (block, number): (BlockId, PassId),
        replies: &[Bytes],
    ) -> Result<MasterOutcome<Bytes>, Error> {
        let (job, rules) = (self.job, &self.rules);
        let (iterated, known) =
            self.blocks.get_mut(&block).ok_or_else(|| inconsistent_ranks(block))?;
        let mut pass = known.take().ok_or_else(|| inconsistent_ranks(block))?;
        let mut replies = decode_answers(replies)?;
        loop {
            let next = || pass.advance(job, rules, (block, number), iterated, &mut replies);
            let Some((next, questions)) = self.pool.install(next)? else { break };
            if !questions.is_empty() {
                *known = Some(next);
                return Ok(MasterOutcome::Ask(questions));
            }
            // If there is no question, the next stage follows at once.
            pass = next;
        }
        if iterated.has_ended() {
            return Ok(MasterOutcome::Verify { found: encode(&iterated.take_outcome(rules))? });
        }
        let (pass, queries) = IterationPass::new(job, rules, iterated)?;
        *known = Some(pass);
        Ok(MasterOutcome::NextPass { queries })
    }

    /// Lays out a verified block. `verdict` encodes the number of iterations in earlier blocks, or
    /// `None` if the report ended in one of them.
    fn lay_out_verified(
        &mut self,
        block: BlockId,
        verdict: &Bytes,
    ) -> Result<MasterOutcome<Bytes>, Error> {
        let (mut iterated, _) =
            self.blocks.remove(&block).ok_or_else(|| inconsistent_ranks(block))?;
        let before: PrecedingSearches = decode(verdict)?;
        let mut layout = match before {
            Some(before) if self.job.formats_report() => {
                iterated.lay_out(self.job, &self.rules, before)?
            }
            _ => BlockLayout::default(),
        };
        if let (true, Some(before)) = (self.job.plan.metadata.is_some(), before) {
            layout = self.take_alignments((block, before), &mut iterated, &layout)?;
            self.recorder.set_metadata_costs(&self.account);
        }
        if let Some(register) = &self.register {
            lock(register).write_names(block, iterated.query_names().zip(layout.queries))?;
        }
        self.pieces.keep(block, layout.pieces);
        Ok(MasterOutcome::Layout(layout.extents))
    }

    /// Encodes a block as a metadata record that begins a chain of checksums. `before` is the
    /// number of iterations in earlier blocks.
    fn take_alignments(
        &mut self,
        (block, before): (BlockId, u64),
        iterated: &mut IteratedBlock,
        layout: &BlockLayout,
    ) -> Result<BlockLayout, Error> {
        let begun = Instant::now();
        let found = match self.job.formats_report() {
            true => {
                let mut parts = layout.query_parts();
                if block == BlockId(0) {
                    let mut start = Vec::new();
                    pieces::prologue(&self.job.report, &mut start);
                    parts[0].splice(..0, start);
                }
                BlockResults::report(&parts).map_err(memory_error)?
            }
            false => {
                encode_iterations(&self.rules, self.job.subjects, before, iterated.take_results())?
            }
        };
        let records = iterated.reported_queries().iter().map(|query| &query.record);
        let encoded = encode_iterated_block(records, found, (&mut self.account, begun))?;
        Ok(BlockLayout::from_bytes(first_record(RecordKind::Block, &encoded)?))
    }
}

impl MasterExecutor for IteratedMaster<'_> {
    fn run(&mut self, work: MasterWork<Bytes>) -> Result<MasterOutcome<Bytes>, Error> {
        match work {
            MasterWork::Prepare { block, queries } => self.prepare(block, &queries),
            MasterWork::MergeHits { block, hits, .. } => {
                let cut = self.pass_mut(block)?.absorb(block, &hits)?;
                Ok(MasterOutcome::Absorbed { cut })
            }
            MasterWork::DecideNextStep { block, pass, replies, .. } => {
                self.next_stage((block, pass), &replies)
            }
            MasterWork::Verified { block, verdict, .. } => self.lay_out_verified(block, &verdict),
            MasterWork::Gather { runs } => Ok(MasterOutcome::Gathered(self.pieces.gather(&runs)?)),
        }
    }

    fn forget(&mut self, block: BlockId) {
        self.pieces.forget(block);
    }
}
