//! The works of the supermaster: queries in, and both ends of the output.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use fleetblast_engine::batches;
use fleetblast_fleet::ids::BlockId;
use fleetblast_fleet::payload::Queries as Weighed;
use fleetblast_fleet::work::{SupermasterOutcome, SupermasterWork};
use fleetblast_report::pieces;
use fleetblast_spool::{Kind, Summary};

use super::OfSupermaster;
use super::counts::Counts;
use super::foretelling::{Foretelling, Read};
use super::register::Register;
use super::shared::lock;
use super::stream::Stream;
use crate::batching::course::Course;
use crate::error::Error;
use crate::plan::Plan;
use crate::queries::{self, Queries};
use crate::ranks::job::Job;
use crate::ranks::output::{SharedOutput, Stretch, Whole};
use crate::ranks::wire::{Bytes, Found, Queries as Parcel, Query, Verdict, pack, unpack};
use crate::reporting::{self, NO_TAXONOMY, misses_taxonomy, warns_at_end};
use crate::threads::pool;

/// Carries out the supermaster's works.
pub struct SupermasterWorks<'a> {
    job: &'a Job<'a>,
    queries: Source<'a>,
    output: Option<Whole>,
    /// The same, for this rank's own writes.
    file: SharedOutput,
    /// Who publishes the output when it is whole.
    publisher: Sender<Whole>,
    /// Where to keep both ends of the report, if it is records.
    register: Option<Arc<Mutex<Register>>>,
    /// Blocks and queries read.
    blocks: u64,
    count: usize,
    /// Why no more of them can be read.
    failure: Option<Error>,
}

/// Where blocks come from.
enum Source<'a> {
    /// Queries whose batches are known.
    Plain(Queries<'a>),
    /// Those whose batches are not; and where their extensions are kept, with a checkpoint.
    Foretold(Box<Foretelling<'a>>, Option<Box<Counts>>),
}

impl<'a> SupermasterWorks<'a> {
    /// For the job's supermaster, which reads `queries` and made the output. The whole output goes to `publisher`.
    ///
    /// # Errors
    /// Threads that cannot be started.
    pub fn new(
        job: &'a Job<'a>,
        queries: Queries<'a>,
        output: Whole,
        publisher: Sender<Whole>,
    ) -> Result<Self, Error> {
        let queries = if job.consults() {
            let course = Course::new(queries.batching());
            let threads = pool(job.plan.threads)?;
            let stream = Stream::new(queries, &job.engine, &*job.audience, threads);
            let foretelling = Foretelling::new(&job.engine, stream, course);
            Source::Foretold(Box::new(foretelling), None)
        } else {
            Source::Plain(queries)
        };
        let (file, output) = (SharedOutput::new(output.path()), Some(output));
        let (count, failure) = (0, None);
        let (register, blocks) = (None, 0);
        Ok(SupermasterWorks {
            job,
            queries,
            output,
            file,
            publisher,
            register,
            blocks,
            count,
            failure,
        })
    }

    /// Keeps both ends of the report there.
    pub fn register(&mut self, register: &Arc<Mutex<Register>>) {
        self.register = Some(Arc::clone(register));
    }

    /// Keeps what is judged, and has what earlier runs kept.
    pub fn keep(&mut self, kept: Counts) {
        if let Source::Foretold(_, counts) = &mut self.queries {
            *counts = Some(Box::new(kept));
        }
    }

    fn open(&mut self) -> Result<SupermasterOutcome<Bytes>, Error> {
        let mut bytes = Vec::new();
        pieces::prologue(&self.job.report, &mut bytes);
        let base = bytes.len() as u64;
        self.write_end(Kind::PROLOGUE, 0, bytes)?;
        Ok(SupermasterOutcome::Opened { base })
    }

    /// Writes what stands before the first block, or after the last one.
    fn write_end(&self, kind: Kind, offset: u64, bytes: Vec<u8>) -> Result<(), Error> {
        match &self.register {
            Some(register) => lock(register).keep_end(kind, &bytes),
            None => self.file.write(&[Stretch { offset, bytes }]),
        }
    }

    fn read(&mut self, block: BlockId, skip: bool) -> Result<Option<Weighed<Bytes>>, Error> {
        let job = self.job;
        let parcel = match &mut self.queries {
            _ if self.failure.is_some() => None,
            Source::Foretold(foretelling, counts) => {
                let known = match counts {
                    Some(counts) if skip => Some(counts.read(block)?),
                    _ => None,
                };
                let read = foretelling.read(block, known).and_then(|read| {
                    read.iter().try_for_each(|read| refuse(job.plan, read))?;
                    Ok(read)
                });
                // What ends the input at its start leaves the report its head. Later on, nobody knows yet which of the queries
                // before it lie in its batch.
                let read = match read {
                    Err(error) if self.count == 0 => {
                        self.failure = Some(error);
                        None
                    }
                    read => read?,
                };
                read.map(|Read { records, findings, together }| (records, findings, Some(together)))
            }
            Source::Plain(queries) => {
                let mut read = queries.next_records(&job.engine, &*job.audience);
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
        let Some((block, findings, together)) = parcel else { return Ok(None) };
        let misses = misses_taxonomy(&job.report, job.target);
        for record in &block.records {
            reporting::warn(&job.report, record, misses, &*job.audience);
        }
        self.blocks += 1;
        self.count += block.records.len();
        let weight = block.weight();
        if skip {
            job.audience.skip(weight.sequences);
            return Ok(Some(Weighed { payload: Vec::new().into(), weight }));
        }
        let parcel = Parcel {
            queries: block.records.into_iter().map(Query::from).collect(),
            findings,
            batches: block.batches.into_iter().map(|count| count as u32).collect(),
            together,
        };
        Ok(Some(Weighed { payload: parcel.pack()?, weight }))
    }

    /// Judges a block by what it found. What is right is durable before anybody hears of it.
    fn judge(&mut self, block: BlockId, found: &Bytes) -> Result<SupermasterOutcome<Bytes>, Error> {
        let Source::Foretold(foretelling, counts) = &mut self.queries else {
            return Err(Error::engine("a block came to be judged whose batches are known"));
        };
        let found: Found = unpack(found)?;
        let verdict = foretelling.judge(block, &found)?;
        let right = matches!(verdict, Verdict::Right);
        if let (true, Some(counts)) = (right, counts) {
            counts.keep(block, &found.extensions)?;
        }
        Ok(SupermasterOutcome::Judged { right, verdict: pack(&verdict)? })
    }

    /// Writes what workers handed over.
    fn write(&self, ends: Vec<(u64, Bytes)>) -> Result<SupermasterOutcome<Bytes>, Error> {
        for (offset, bytes) in ends {
            self.file.write(&[Stretch { offset, bytes: bytes.get().to_vec() }])?;
        }
        Ok(SupermasterOutcome::Wrote)
    }

    fn close(&mut self, offset: u64) -> Result<SupermasterOutcome<Bytes>, Error> {
        let failure = self.failure.take();
        let mut bytes = Vec::new();
        if failure.is_none() {
            let Job { report, target, .. } = self.job;
            if misses_taxonomy(report, target) && warns_at_end(report) {
                self.job.audience.warn_alone(NO_TAXONOMY.as_bytes());
            }
            pieces::epilogue(report, self.count, &mut bytes);
        }
        if let Some(mut output) = self.output.take() {
            let (blocks, queries) = (self.blocks, self.count as u64);
            output.sum_up(Summary { blocks, queries, bytes: offset + bytes.len() as u64 });
            self.write_end(Kind::EPILOGUE, offset, bytes)?;
            output.failure = failure;
            // Who is gone does not publish it.
            let _ = self.publisher.send(output);
        }
        Ok(SupermasterOutcome::Closed)
    }
}

impl OfSupermaster for SupermasterWorks<'_> {
    fn run(&mut self, work: SupermasterWork<Bytes>) -> Result<SupermasterOutcome<Bytes>, Error> {
        match work {
            SupermasterWork::Open => self.open(),
            SupermasterWork::Read { block, skip } => {
                Ok(SupermasterOutcome::Read(self.read(block, skip)?))
            }
            SupermasterWork::Judge { block, found, .. } => self.judge(block, &found),
            SupermasterWork::Write(ends) => self.write(ends),
            SupermasterWork::Close { offset } => self.close(offset),
        }
    }
}

/// What BLAST+ says of the first batch in which there is something to search, if it cannot search with these scores.
fn refuse(plan: &Plan, read: &Read) -> Result<(), Error> {
    let Some(told) = &plan.refusal else { return Ok(()) };
    let mut batches = batches::ranges(&read.records.batches);
    match batches.find(|batch| read.together.searched[batch.start]) {
        Some(batch) => Err(queries::refused(told, &read.records.records[batch])),
        None => Ok(()),
    }
}
