//! The works of the supermaster: queries in, and both ends of the output.

use std::sync::mpsc::Sender;

use fleetblast_fleet::payload::Queries as Weighed;
use fleetblast_fleet::work::{SupermasterOutcome, SupermasterWork};
use fleetblast_report::pieces;

use crate::error::Error;
use crate::queries::Queries;
use crate::ranks::job::Job;
use crate::ranks::output::{SharedOutput, Stretch, Whole};
use crate::ranks::wire::{Bytes, Queries as Parcel, Query};
use crate::reporting::{self, NO_TAXONOMY, misses_taxonomy, warns_at_end};

/// Carries out the supermaster's works.
pub struct SupermasterWorks<'a> {
    job: &'a Job<'a>,
    queries: Queries<'a>,
    output: Option<Whole>,
    /// The same, for this rank's own writes.
    file: SharedOutput,
    /// Who publishes the output when it is whole.
    publisher: Sender<Whole>,
    /// Queries read.
    count: usize,
    /// Why no more of them can be read.
    failure: Option<Error>,
}

impl<'a> SupermasterWorks<'a> {
    /// For the job's supermaster, which reads `queries` and made the output. The whole output goes to `publisher`.
    pub fn new(
        job: &'a Job<'a>,
        queries: Queries<'a>,
        output: Whole,
        publisher: Sender<Whole>,
    ) -> Self {
        let (file, output) = (SharedOutput::new(output.path()), Some(output));
        let (count, failure) = (0, None);
        SupermasterWorks { job, queries, output, file, publisher, count, failure }
    }

    /// Carries out a work.
    ///
    /// # Errors
    /// Output that cannot be written. Queries that cannot be read end the input: those before them are searched and reported,
    /// as BLAST+ does, and who publishes the report hears of it.
    pub fn run(
        &mut self,
        work: SupermasterWork<Bytes>,
    ) -> Result<SupermasterOutcome<Bytes>, Error> {
        match work {
            SupermasterWork::Open => self.open(),
            SupermasterWork::Read { skip, .. } => Ok(SupermasterOutcome::Read(self.read(skip)?)),
            SupermasterWork::Write(ends) => self.write(ends),
            SupermasterWork::Close { offset } => self.close(offset),
        }
    }

    fn open(&mut self) -> Result<SupermasterOutcome<Bytes>, Error> {
        let mut bytes = Vec::new();
        pieces::prologue(&self.job.report, &mut bytes);
        let base = bytes.len() as u64;
        self.file.write(&[Stretch { offset: 0, bytes }])?;
        Ok(SupermasterOutcome::Opened { base })
    }

    fn read(&mut self, skip: bool) -> Result<Option<Weighed<Bytes>>, Error> {
        if self.failure.is_some() {
            return Ok(None);
        }
        let block = self.queries.next_records(&self.job.engine, &*self.job.audience);
        let block = block.unwrap_or_else(|error| {
            self.failure = Some(error);
            None
        });
        let Some(mut block) = block else { return Ok(None) };
        let misses = misses_taxonomy(&self.job.report, self.job.target);
        for record in &block.records {
            reporting::warn(&self.job.report, record, misses, &*self.job.audience);
        }
        self.failure = block.failure.take();
        self.count += block.records.len();
        let weight = block.weight();
        if skip {
            self.job.audience.skip(weight.sequences);
            return Ok(Some(Weighed { payload: Vec::new().into(), weight }));
        }
        let parcel = Parcel {
            queries: block.records.into_iter().map(Query::from).collect(),
            findings: Vec::new(),
            batches: block.batches.into_iter().map(|count| count as u32).collect(),
        };
        Ok(Some(Weighed { payload: parcel.pack()?, weight }))
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
            self.file.write(&[Stretch { offset, bytes }])?;
            output.failure = failure;
            // Who is gone does not publish it.
            let _ = self.publisher.send(output);
        }
        Ok(SupermasterOutcome::Closed)
    }
}
