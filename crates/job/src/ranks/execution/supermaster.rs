//! Executes the work of the supermaster: reads blocks of queries, verifies blocks, and writes the
//! bytes before the first block and after the last one.

use std::collections::BTreeMap;
use std::sync::mpsc::Sender;

use fleetblast_fleet::ids::BlockId;
use fleetblast_fleet::payload::Queries as Weighed;
use fleetblast_fleet::work::{SupermasterOutcome, SupermasterWork};
use fleetblast_metadata::records::RecordKind;
use fleetblast_report::model::Format;
use fleetblast_report::pieces;
use fleetblast_report::sam::SamHeader;
use fleetblast_spool::{ResultKind, Summary};

use super::SupermasterExecutor;
use super::iteration_log::{IterationLog, IterationMessage};
use super::prediction::{BatchPredictor, ReadBlock};
use super::query_stream::QueryStream;
use super::report_register::SharedRegister;
use super::shared::lock;
use super::verification_records::VerificationRecords;
use crate::batching::progress::BatchProgress;
use crate::error::Error;
use crate::metadata::encode_end;
use crate::queries::QueryReader;
use crate::ranks::job::RankJob;
use crate::ranks::metadata_stream::MetadataStream;
use crate::ranks::output::{JobOutput, OutputSlice, SharedOutput};
use crate::ranks::record_chain::first_record;
use crate::ranks::wire::{
    Bytes, ExtensionStatistics, QueryBlock, Verification, WireQuery, decode, encode,
};
use crate::reports::{NO_TAXONOMY, Warning, lacks_taxonomy, warns_at_end};
use crate::threads::pool;

/// Executor of the work of the supermaster.
pub struct SearchSupermaster<'a> {
    job: &'a RankJob<'a>,
    queries: BlockSource<'a>,
    output: Option<JobOutput>,
    /// The file of `output`, to write bytes at offsets.
    file: SharedOutput,
    /// Receives the complete output, to publish it.
    publisher: Sender<JobOutput>,
    /// The first bytes of the metadata, if the job writes metadata instead of a report.
    start: Option<Vec<u8>>,
    /// Stores the bytes before the first block and after the last one, if the report consists of
    /// records.
    register: Option<SharedRegister>,
    /// Number of blocks that were read, and number of queries in them.
    blocks: u64,
    count: usize,
    /// The error that ended reading, if the batches do not depend on hits.
    failure: Option<Error>,
    /// Warnings of BLAST+ about each query of blocks that are not verified.
    warnings: BTreeMap<BlockId, Vec<Warning>>,
}

/// The source of blocks of queries.
enum BlockSource<'a> {
    /// Queries whose batches do not depend on hits.
    Plain(QueryReader<'a>),
    /// Queries whose batches depend on hits. With a checkpoint, records keep the number of
    /// extensions of each query.
    Predicted(Box<BatchPredictor<'a>>, Option<Box<VerificationRecords>>),
    /// Queries of psiblast, and the outcomes of their iterations.
    Iterated(QueryReader<'a>, IterationLog<'a>),
}

impl<'a> BlockSource<'a> {
    /// Returns the reader of the queries.
    fn reader(&self) -> &QueryReader<'a> {
        match self {
            BlockSource::Plain(queries) | BlockSource::Iterated(queries, _) => queries,
            BlockSource::Predicted(predictor, _) => predictor.reader(),
        }
    }
}

impl<'a> SearchSupermaster<'a> {
    /// Creates the executor, which reads `queries` and publishes the output. If the job writes
    /// metadata, these begin with `start`. The complete output is sent to `publisher`.
    ///
    /// # Errors
    /// Threads cannot be started.
    pub fn new(
        job: &'a RankJob<'a>,
        queries: QueryReader<'a>,
        (output, start): (JobOutput, Option<Vec<u8>>),
        publisher: Sender<JobOutput>,
    ) -> Result<Self, Error> {
        let queries = if job.verifies_blocks() {
            let progress = BatchProgress::new(queries.batch_sizer());
            let threads = pool(job.plan.threads.count)?;
            let stream = QueryStream::new(queries, &job.engine, &*job.audience, threads);
            let predictor = BatchPredictor::new(&job.engine, stream, progress);
            BlockSource::Predicted(Box::new(predictor), None)
        } else if let Some(iteration) = &job.plan.iteration {
            BlockSource::Iterated(queries, IterationLog::new(iteration))
        } else {
            BlockSource::Plain(queries)
        };
        let (file, output) = (SharedOutput::new(output.path()), Some(output));
        let (count, failure, warnings) = (0, None, BTreeMap::new());
        let (register, blocks) = (None, 0);
        Ok(SearchSupermaster {
            job,
            queries,
            output,
            file,
            publisher,
            start,
            register,
            blocks,
            count,
            failure,
            warnings,
        })
    }

    fn open(&mut self) -> Result<SupermasterOutcome<Bytes>, Error> {
        let bytes = self.start.take().unwrap_or_else(|| {
            let mut bytes = Vec::new();
            pieces::prologue(&self.job.report, &mut bytes);
            bytes
        });
        let base = bytes.len() as u64;
        self.write_end(ResultKind::PROLOGUE, 0, bytes)?;
        Ok(SupermasterOutcome::Opened { base })
    }

    /// Writes the bytes before the first block, or after the last one.
    fn write_end(&self, kind: ResultKind, offset: u64, bytes: Vec<u8>) -> Result<(), Error> {
        match &self.register {
            Some(register) => lock(register).write_end(kind, &bytes),
            None => self.file.write(&[OutputSlice { offset, bytes }]),
        }
    }

    fn read_block(&mut self, id: BlockId, skip: bool) -> Result<Option<Weighed<Bytes>>, Error> {
        let job = self.job;
        // If the metadata stream has failed, the search of further blocks is useless.
        let stream = self.output.as_ref().and_then(|output| output.stream.as_ref());
        let link = stream.map_or(Ok(None), MetadataStream::check)?;
        let query_block = match &mut self.queries {
            _ if self.failure.is_some() => None,
            BlockSource::Iterated(_, iterations) if iterations.failure().is_some() => None,
            BlockSource::Predicted(predictor, verification_records) => {
                let known = match verification_records {
                    Some(verification_records) if skip => Some(verification_records.read(id)?),
                    _ => None,
                };
                let read = predictor.read_block(id, known)?;
                read.map(|ReadBlock { records, preparations, batch_grouping }| {
                    (records, preparations, Some(batch_grouping))
                })
            }
            BlockSource::Plain(queries) | BlockSource::Iterated(queries, _) => {
                let mut read = queries.next_records(&job.engine, &*job.audience);
                // The batches do not depend on hits here, so the number does not matter.
                queries.record_extensions(0);
                if let Ok(Some(records)) = &mut read {
                    self.failure = records.failure.take();
                }
                let read = read.unwrap_or_else(|error| {
                    self.failure = Some(error);
                    None
                });
                read.map(|records| (records, Vec::new(), None))
            }
        };
        let Some((block, preparations, batch_grouping)) = query_block else { return Ok(None) };
        let warnings: Vec<Warning> = block.records.iter().map(Warning::from_record).collect();
        match &mut self.queries {
            // BLAST+'s warnings about an iteration are known after its search. They follow the
            // messages before it.
            BlockSource::Iterated(_, iterations) => iterations.add_messages(id, &block.records),
            // The number of reported queries is known only after the verification.
            BlockSource::Predicted(..) if !skip => _ = self.warnings.insert(id, warnings),
            _ => self.print_warnings(&warnings),
        }
        self.blocks += 1;
        self.count += block.records.len();
        let weight = block.weight();
        if skip {
            if let BlockSource::Iterated(_, iterations) = &mut self.queries {
                let notices = iterations.add_finished(id)?;
                self.print_notices(notices);
            }
            job.audience.skip_queries(weight.sequences);
            return Ok(Some(Weighed { payload: Vec::new().into(), weight }));
        }
        let query_block = QueryBlock {
            pssm_queries: Vec::new(),
            queries: block.records.into_iter().map(WireQuery::from).collect(),
            preparations,
            batches: block.batches.into_iter().map(|count| count as u32).collect(),
            batch_grouping,
            link,
        };
        Ok(Some(Weighed { payload: query_block.encode()?, weight }))
    }

    /// Verifies the predicted batches of a block, or adds the outcome of its iterations. Verified
    /// statistics are on disk before the master receives the answer.
    fn verify_block(
        &mut self,
        block: BlockId,
        found: &Bytes,
    ) -> Result<SupermasterOutcome<Bytes>, Error> {
        let (predictor, verification_records) = match &mut self.queries {
            BlockSource::Plain(_) => {
                return Err(Error::engine("a block with known batches was sent for verification"));
            }
            BlockSource::Iterated(_, iterations) => {
                let (verdict, notices) = iterations.add_outcome(block, found)?;
                self.print_notices(notices);
                return Ok(SupermasterOutcome::Verified {
                    is_confirmed: true,
                    verdict: encode(&verdict)?,
                });
            }
            BlockSource::Predicted(predictor, verification_records) => {
                (predictor, verification_records)
            }
        };
        let found: ExtensionStatistics = decode(found)?;
        let verdict = predictor.verify_prediction(block, &found)?;
        let is_confirmed = !matches!(verdict, Verification::SearchAgain(_));
        let mut warnings = if is_confirmed { self.warnings.remove(&block) } else { None };
        if let (Some(warnings), Verification::CorrectUntil(count)) = (&mut warnings, &verdict) {
            warnings.truncate(*count as usize);
        }
        if let (true, Some(verification_records)) = (is_confirmed, verification_records) {
            verification_records.write(block, &found.extensions)?;
        }
        self.print_warnings(&warnings.unwrap_or_default());
        Ok(SupermasterOutcome::Verified { is_confirmed, verdict: encode(&verdict)? })
    }

    /// Prints warnings of BLAST+ about queries, unless the I/O site prints them.
    fn print_warnings(&self, warnings: &[Warning]) {
        if !self.job.formats_report() {
            // The I/O site makes the report, and prints the warnings.
            return;
        }
        let RankJob { report, subjects, audience, .. } = self.job;
        let misses = lacks_taxonomy(report, subjects);
        warnings.iter().for_each(|warning| warning.print(report, misses, &**audience));
    }

    /// Prints messages and warnings about queries of psiblast.
    fn print_notices(&self, notices: Vec<IterationMessage>) {
        for notice in notices {
            match notice {
                IterationMessage::Query(text) => self.job.audience.print_message(&text),
                IterationMessage::Search(warning) => self.print_warnings(&[warning]),
            }
        }
    }

    /// Writes bytes that workers sent to the supermaster, at these offsets of the output.
    fn write(&self, ends: Vec<(u64, Bytes)>) -> Result<SupermasterOutcome<Bytes>, Error> {
        for (offset, bytes) in ends {
            self.file.write(&[OutputSlice { offset, bytes: bytes.get().to_vec() }])?;
        }
        Ok(SupermasterOutcome::Written)
    }

    fn close(&mut self, offset: u64) -> Result<SupermasterOutcome<Bytes>, Error> {
        let failure = match &self.queries {
            BlockSource::Plain(_) => self.failure.take(),
            BlockSource::Predicted(predictor, _) => predictor.failure().cloned(),
            BlockSource::Iterated(_, it) => it.failure().cloned().or_else(|| self.failure.take()),
        };
        let mut bytes = Vec::new();
        if failure.is_none() {
            let RankJob { report, subjects, audience, .. } = self.job;
            if self.job.formats_report() && lacks_taxonomy(report, subjects) && warns_at_end(report)
            {
                audience.warn_from_rank(NO_TAXONOMY.as_bytes());
            }
            self.queries.reader().warn_of_few_queries(&**audience);
            let count = match &self.queries {
                BlockSource::Iterated(_, iterations) => iterations.searches() as usize,
                _ => self.count,
            };
            pieces::epilogue(report, count, &mut bytes);
            if let Some(metadata) = &self.job.plan.metadata {
                let counts = [self.count as u64, self.blocks, count as u64];
                let end = encode_end(metadata.encodings, counts, Some(bytes))?;
                bytes = first_record(RecordKind::End, &end)?;
            }
        }
        if let Some(mut output) = self.output.take() {
            let (blocks, queries) = (self.blocks, self.count as u64);
            output.set_summary(Summary { blocks, queries, bytes: offset + bytes.len() as u64 });
            self.write_end(ResultKind::EPILOGUE, offset, bytes)?;
            output.read_error = failure;
            output.is_metadata = self.job.plan.metadata.is_some();
            if let (Format::Sam(options), false) =
                (&self.job.report.output.format, output.is_metadata)
            {
                output.header = Some(SamHeader::new(&self.job.report, options));
            }
            // If the receiver is gone, nobody publishes the output.
            let _ = self.publisher.send(output);
        }
        Ok(SupermasterOutcome::Closed)
    }
}

impl SupermasterExecutor for SearchSupermaster<'_> {
    fn set_records(
        &mut self,
        register: Option<SharedRegister>,
        verification_records: Option<VerificationRecords>,
    ) {
        self.register = register;
        let Some(records) = verification_records else { return };
        match &mut self.queries {
            BlockSource::Plain(_) => {}
            BlockSource::Predicted(_, kept) => *kept = Some(Box::new(records)),
            BlockSource::Iterated(_, iterations) => iterations.set_records(records),
        }
    }

    fn run(&mut self, work: SupermasterWork<Bytes>) -> Result<SupermasterOutcome<Bytes>, Error> {
        match work {
            SupermasterWork::Open => self.open(),
            SupermasterWork::Read { block, skip } => {
                Ok(SupermasterOutcome::Read(self.read_block(block, skip)?))
            }
            SupermasterWork::Verify { block, results, .. } => self.verify_block(block, &results),
            SupermasterWork::Write(ends) => self.write(ends),
            SupermasterWork::Close { offset } => self.close(offset),
        }
    }
}
