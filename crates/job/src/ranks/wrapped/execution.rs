//! Executes the work of the roles in a job of another program. Each block is one task, and the
//! program's output for the block is one piece.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;

use fleetblast_fleet::ids::{BlockId, PartitionId, PassId};
use fleetblast_fleet::payload::Queries as Weighed;
use fleetblast_fleet::work::{
    Extent, MasterOutcome, MasterWork, PieceOwner, SupermasterOutcome, SupermasterWork,
    WorkerOutcome, WorkerWork,
};
use fleetblast_spool::{ResultKind, Summary};

use super::blocks::{FastaBlock, FastaBlocks};
use super::join::{OutputParts, OutputPosition, divide_output, joined_part};
use super::process::{RunFailure, RunOutput, run};
use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::halt::Halt;
use crate::plan::WrappedJobPlan;
use crate::ranks::execution::report_register::SharedRegister;
use crate::ranks::execution::shared::{PassKey, WorkerShared, lock, unknown_block};
use crate::ranks::execution::verification_records::VerificationRecords;
use crate::ranks::execution::{MasterExecutor, SupermasterExecutor, WorkerExecutor};
use crate::ranks::output::{JobOutput, OutputSlice, SharedOutput};
use crate::ranks::wire::{Bytes, decode, encode};
use crate::trace::{LoadingCosts, Span};

/// The only partition. Each program run reads the whole database, so all ranks hold this partition.
const ALL: PartitionId = PartitionId(0);

/// Data of a job of another program, equal on all ranks.
pub struct WrappedJob {
    /// The command, its queries and its output.
    pub plan: WrappedJobPlan,
    /// Receives warnings and progress.
    pub audience: Arc<dyn Audience>,
    /// Stops work in progress if the job cannot continue.
    pub halt: Halt,
    /// Number of blocks that failed in this process.
    pub failed_blocks: AtomicU64,
}

/// Executor of the work of the supermaster.
pub struct WrappedSupermaster<'a> {
    job: &'a WrappedJob,
    blocks: FastaBlocks,
    output: Option<JobOutput>,
    file: SharedOutput,
    publisher: Sender<JobOutput>,
    register: Option<SharedRegister>,
    verification_records: Option<VerificationRecords>,
    /// For each block that is verified or was finished by an earlier run, the number of queries or
    /// iterations in its output.
    counted: BTreeMap<BlockId, u64>,
    /// Number of queries before each block that was read, and as the last item, the number before
    /// the next block.
    queries: Vec<u64>,
    last: Option<BlockId>,
    failure: Option<Error>,
}

impl<'a> WrappedSupermaster<'a> {
    /// Creates the executor, which reads `blocks`. The complete output is sent to `publisher`.
    pub fn new(
        job: &'a WrappedJob,
        blocks: FastaBlocks,
        output: JobOutput,
        publisher: Sender<JobOutput>,
    ) -> Self {
        let file = SharedOutput::new(output.path());
        WrappedSupermaster {
            job,
            blocks,
            output: Some(output),
            file,
            publisher,
            register: None,
            verification_records: None,
            counted: BTreeMap::new(),
            queries: vec![0],
            last: None,
            failure: None,
        }
    }

    fn read(&mut self, number: BlockId, skip: bool) -> Result<Option<Weighed<Bytes>>, Error> {
        if self.failure.is_some() {
            return Ok(None);
        }
        let block = match self.blocks.next() {
            Ok(Some(block)) => block,
            Ok(None) => return Ok(None),
            // The error is reported at the end: earlier blocks are still searched and reported.
            Err(error) => {
                self.failure = Some(error);
                return Ok(None);
            }
        };
        let weight = block.weight();
        self.queries.push(block.before + weight.sequences);
        if block.is_last {
            self.last = Some(number);
        }
        if skip {
            if let (true, Some(verification_records)) =
                (self.job.plan.join.depends_on_earlier_counts(), &mut self.verification_records)
            {
                let found: Vec<u64> = verification_records.read(number)?;
                self.counted.insert(number, found.into_iter().sum());
            }
            self.job.audience.skip_queries(weight.sequences);
            return Ok(Some(Weighed { payload: Vec::new().into(), weight }));
        }
        let plain = encode(&block)?;
        let packed = zstd::encode_all(plain.get(), 1).map_err(Error::engine)?;
        Ok(Some(Weighed { payload: packed.into(), weight }))
    }

    /// Records the number of queries or iterations in the output of a block. Returns the sum over
    /// all earlier blocks, which are verified, for the master.
    fn record_count(
        &mut self,
        block: BlockId,
        found: &Bytes,
    ) -> Result<SupermasterOutcome<Bytes>, Error> {
        let count: u64 = decode(found)?;
        let counted: u64 = self.counted.range(..block).map(|(_, count)| count).sum();
        if let Some(verification_records) = &mut self.verification_records {
            verification_records.write(block, &vec![count])?;
        }
        self.counted.insert(block, count);
        Ok(SupermasterOutcome::Verified { is_confirmed: true, verdict: encode(&counted)? })
    }

    fn write_end(&self, kind: ResultKind) -> Result<(), Error> {
        self.register.as_ref().map_or(Ok(()), |register| lock(register).write_end(kind, &[]))
    }

    fn close(&mut self, offset: u64) -> Result<SupermasterOutcome<Bytes>, Error> {
        self.write_end(ResultKind::EPILOGUE)?;
        if let Some(mut output) = self.output.take() {
            let blocks = self.queries.len() as u64 - 1;
            let queries = self.queries.last().copied().unwrap_or(0);
            output.set_summary(Summary { blocks, queries, bytes: offset });
            output.read_error = self.failure.take();
            // If the receiver is gone, nobody publishes the output.
            let _ = self.publisher.send(output);
        }
        Ok(SupermasterOutcome::Closed)
    }
}

impl SupermasterExecutor for WrappedSupermaster<'_> {
    fn set_records(
        &mut self,
        register: Option<SharedRegister>,
        verification_records: Option<VerificationRecords>,
    ) {
        (self.register, self.verification_records) = (register, verification_records);
    }

    fn run(&mut self, work: SupermasterWork<Bytes>) -> Result<SupermasterOutcome<Bytes>, Error> {
        match work {
            SupermasterWork::Open => {
                self.write_end(ResultKind::PROLOGUE)?;
                Ok(SupermasterOutcome::Opened { base: 0 })
            }
            SupermasterWork::Read { block, skip } => {
                Ok(SupermasterOutcome::Read(self.read(block, skip)?))
            }
            SupermasterWork::Verify { block, results, .. } => self.record_count(block, &results),
            SupermasterWork::Write(ends) => {
                for (offset, bytes) in ends {
                    self.file.write(&[OutputSlice { offset, bytes: bytes.get().to_vec() }])?;
                }
                Ok(SupermasterOutcome::Written)
            }
            SupermasterWork::Close { offset } => self.close(offset),
        }
    }
}

/// Executor of the work of a master.
pub struct WrappedMaster<'a> {
    job: &'a WrappedJob,
    register: Option<SharedRegister>,
    /// For each block, the number of queries or iterations in its output, and the names of its
    /// queries.
    blocks: HashMap<BlockId, (u64, Vec<Vec<u8>>)>,
}

impl<'a> WrappedMaster<'a> {
    /// Creates the executor of a master. It writes the names of queries to `register`.
    pub fn new(job: &'a WrappedJob, register: Option<SharedRegister>) -> Self {
        WrappedMaster { job, register, blocks: HashMap::new() }
    }

    fn lay_out(
        &mut self,
        (block, pass): (BlockId, PassId),
        replies: &[Bytes],
    ) -> Result<MasterOutcome<Bytes>, Error> {
        let reply = replies.first().ok_or_else(|| unknown_block(block))?;
        let length: u64 = decode(reply)?;
        let (_, names) = self.blocks.remove(&block).ok_or_else(|| unknown_block(block))?;
        if let Some(register) = &self.register {
            // Only the program knows which bytes belong to each query, so all queries get the whole
            // output.
            let names = names.into_iter().map(|name| (vec![name], 0..length));
            lock(register).write_names(block, names)?;
        }
        Ok(MasterOutcome::Layout(vec![Extent {
            owner: PieceOwner::Partition(pass, ALL),
            piece: 0,
            length,
        }]))
    }
}

impl MasterExecutor for WrappedMaster<'_> {
    fn run(&mut self, work: MasterWork<Bytes>) -> Result<MasterOutcome<Bytes>, Error> {
        match work {
            MasterWork::Prepare { block, queries } => {
                self.blocks.insert(block, (0, decode_block(&queries)?.names));
                Ok(MasterOutcome::Prepared { queries, pass: PassId(0) })
            }
            MasterWork::MergeHits { block, hits, .. } => {
                let known = self.blocks.get_mut(&block).ok_or_else(|| unknown_block(block))?;
                known.0 = decode(&hits)?;
                Ok(MasterOutcome::Absorbed { cut: None })
            }
            MasterWork::DecideNextStep { block, round: 0, .. }
                if self.job.plan.join.depends_on_earlier_counts() =>
            {
                let (count, _) = self.blocks.get(&block).ok_or_else(|| unknown_block(block))?;
                Ok(MasterOutcome::Verify { found: encode(count)? })
            }
            MasterWork::DecideNextStep { round: 0, .. } => {
                Ok(MasterOutcome::Ask(vec![(ALL, encode(&0_u64)?)]))
            }
            MasterWork::DecideNextStep { block, pass, replies, .. } => {
                self.lay_out((block, pass), &replies)
            }
            MasterWork::Verified { verdict, .. } => Ok(MasterOutcome::Ask(vec![(ALL, verdict)])),
            MasterWork::Gather { .. } => Ok(MasterOutcome::Gathered(Vec::new().into())),
        }
    }

    fn forget(&mut self, block: BlockId) {
        self.blocks.remove(&block);
    }
}

/// Executor of the work of a worker.
pub struct WrappedWorker<'a> {
    job: &'a WrappedJob,
    shared: Arc<WorkerShared>,
    /// Outputs of the program, each with its position, until the counts of earlier blocks are
    /// known.
    outputs: HashMap<PassKey, (OutputParts, OutputPosition)>,
}

impl<'a> WrappedWorker<'a> {
    /// Creates the executor of a worker. It stores its pieces in `shared`.
    pub fn new(job: &'a WrappedJob, shared: Arc<WorkerShared>) -> Self {
        WrappedWorker { job, shared, outputs: HashMap::new() }
    }

    fn search(
        &mut self,
        pass: PassKey,
        queries: &Bytes,
        span: &mut Span,
    ) -> Result<WorkerOutcome<Bytes>, Error> {
        let block = decode_block(queries)?;
        span.arg("queries", block.weight().sequences);
        span.arg("residues", block.letters);
        let parts = self.try_block(pass.0, &block)?;
        let position = OutputPosition {
            count_before: 0,
            queries: block.before,
            is_first: pass.0 == BlockId(0),
            is_last: block.is_last,
        };
        let found = encode(&parts.count)?;
        self.outputs.insert(pass, (parts, position));
        Ok(WorkerOutcome::Searched(found))
    }

    /// Runs the program on a block, and again if it fails. If all attempts fail, reports that and
    /// returns an empty output.
    fn try_block(&self, number: BlockId, block: &FastaBlock) -> Result<OutputParts, Error> {
        let WrappedJob { plan, audience, halt, failed_blocks } = self.job;
        let mut why = String::new();
        for attempt in 1..=plan.tries {
            let cut = match run(plan, &block.text, halt) {
                Ok(RunOutput { output, error_output }) => {
                    let error_output = error_output.trim_ascii_end();
                    if !error_output.is_empty() {
                        audience.print_line(error_output);
                    }
                    divide_output(plan.join, output).map_err(|what| format!("wrote {what}"))
                }
                Err(RunFailure::Halted) => return Err(Error::silent(exit::UNKNOWN)),
                Err(RunFailure::CannotStart(error)) => return Err(error),
                Err(RunFailure::Failed(why)) => Err(why),
            };
            match cut {
                Ok(parts) => return Ok(parts),
                Err(what) => why = what,
            }
            if attempt < plan.tries {
                audience.print_message(&format!(
                    "{}: the program {why}; trying again",
                    block_name(number, block)
                ));
            }
        }
        failed_blocks.fetch_add(1, Ordering::Relaxed);
        audience.print_message(&format!(
            "{} failed, tried {} times: the program {why}",
            block_name(number, block),
            plan.tries
        ));
        Ok(OutputParts::default())
    }

    fn answer(
        &mut self,
        pass: PassKey,
        question: &Bytes,
        budget: u64,
    ) -> Result<WorkerOutcome<Bytes>, Error> {
        let (parts, position) = self.outputs.remove(&pass).ok_or_else(|| unknown_block(pass.0))?;
        let position = OutputPosition { count_before: decode(question)?, ..position };
        let piece = joined_part(self.job.plan.join, &parts, position);
        let length = piece.len() as u64;
        let kept = self.shared.store_piece((pass.0, pass.1, ALL, 0), piece, budget)?;
        Ok(WorkerOutcome::Answered { reply: encode(&length)?, kept })
    }
}

impl WorkerExecutor for WrappedWorker<'_> {
    fn run(
        &mut self,
        work: WorkerWork<Bytes>,
        span: &mut Span,
    ) -> Result<WorkerOutcome<Bytes>, Error> {
        match work {
            WorkerWork::Search { block, pass, queries: Some(queries), .. } => {
                self.search((block, pass), &queries, span)
            }
            WorkerWork::Answer { block, pass, parts, budget } => {
                let (_, question) = parts.first().ok_or_else(|| unknown_block(block))?;
                self.answer((block, pass), question, budget)
            }
            _ => Err(Error::engine(
                "the thread of the program received work of the output thread, or without queries",
            )),
        }
    }

    fn forget(&mut self, pass: PassKey) {
        self.outputs.remove(&pass);
    }

    fn loading_costs(&self) -> LoadingCosts {
        LoadingCosts::default()
    }
}

/// Decompresses and decodes a block of queries.
fn decode_block(bytes: &Bytes) -> Result<FastaBlock, Error> {
    let plain = zstd::decode_all(bytes.get()).map_err(Error::engine)?;
    decode(&plain.into())
}

/// Describes a block for messages, with the names of its queries.
fn block_name(number: BlockId, block: &FastaBlock) -> String {
    let name = |name: Option<&Vec<u8>>| {
        String::from_utf8_lossy(name.map_or(b"", |name| name)).into_owned()
    };
    let (first, last) = (name(block.names.first()), name(block.names.last()));
    match block.names.len() {
        1 => format!("query block {number} (query {first})"),
        count => format!("query block {number} ({count} queries from {first} to {last})"),
    }
}
