//! The works of the supermaster: queries in, and both ends of the output.

use std::sync::mpsc::Sender;

use fleetblast_fleet::payload::Queries as Weighed;
use fleetblast_fleet::work::{SupermasterOutcome, SupermasterWork};
use fleetblast_report::model::Format;
use fleetblast_report::report;

use super::job::Job;
use super::output::{Shared, Stretch, Whole};
use super::wire::{Bytes, Queries as Parcel, Query};
use crate::error::CliError;
use crate::messages::warning;
use crate::run::queries::{Queries, Records};
use crate::run::report::taxonomy_warning;
use crate::terminal::Progress;

/// Carries out the supermaster's works.
pub struct SupermasterWorks<'a> {
    job: &'a Job<'a>,
    queries: Queries<'a>,
    output: Option<Whole>,
    /// Who publishes the output when it is whole.
    publisher: Sender<Whole>,
    progress: Progress,
    /// Queries read.
    count: usize,
}

impl<'a> SupermasterWorks<'a> {
    /// For the job's supermaster, which reads `queries` and made the output. The whole output goes to `publisher`.
    pub fn new(
        job: &'a Job<'a>,
        queries: Queries<'a>,
        output: Whole,
        publisher: Sender<Whole>,
        progress: Progress,
    ) -> Self {
        SupermasterWorks { job, queries, output: Some(output), publisher, progress, count: 0 }
    }

    /// Where it says how far the job is.
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// Carries out a work.
    ///
    /// # Errors
    /// Queries that cannot be read, output that cannot be written.
    pub fn run(&mut self, work: SupermasterWork) -> Result<SupermasterOutcome<Bytes>, CliError> {
        match work {
            SupermasterWork::Open => self.open(),
            SupermasterWork::Read { skip, .. } => Ok(SupermasterOutcome::Read(self.read(skip)?)),
            SupermasterWork::Close { offset } => self.close(offset),
        }
    }

    fn open(&mut self) -> Result<SupermasterOutcome<Bytes>, CliError> {
        let mut bytes = Vec::new();
        report::prologue(&self.job.report, &mut bytes);
        let base = bytes.len() as u64;
        if let Some(output) = &self.output {
            Shared::new(output.path()).write(&[Stretch { offset: 0, bytes }])?;
        }
        Ok(SupermasterOutcome::Opened { base })
    }

    fn read(&mut self, skip: bool) -> Result<Option<Weighed<Bytes>>, CliError> {
        let block = self.queries.next_records(&self.job.plan.params, &self.progress)?;
        let Some(block) = block else { return Ok(None) };
        self.warn(&block);
        if let Some(error) = block.failure {
            return Err(error);
        }
        self.count += block.records.len();
        let weight = block.weight();
        if skip {
            self.progress.advance(weight.sequences);
            return Ok(Some(Weighed { payload: Vec::new().into(), weight }));
        }
        let parcel = Parcel {
            queries: block.records.into_iter().map(Query::from).collect(),
            findings: Vec::new(),
            batches: block.batches.into_iter().map(|count| count as u32).collect(),
        };
        Ok(Some(Weighed { payload: parcel.pack()?, weight }))
    }

    /// What BLAST+ warns of with each query's report; in XML the report holds that itself.
    fn warn(&self, block: &Records) {
        if self.job.report.output.format == Format::Xml {
            return;
        }
        let of_taxonomy = taxonomy_warning(&self.job.report);
        for record in &block.records {
            if let Some(text) = record.warning() {
                self.progress.say(&[b"Warning: [blastp] ", &text[..]].concat());
            }
            if let Some(text) = of_taxonomy {
                self.progress.say(&warning(text));
            }
        }
    }

    fn close(&mut self, offset: u64) -> Result<SupermasterOutcome<Bytes>, CliError> {
        let mut bytes = Vec::new();
        report::epilogue(&self.job.report, self.count, &mut bytes);
        if let Some(output) = self.output.take() {
            Shared::new(output.path()).write(&[Stretch { offset, bytes }])?;
            // Who is gone does not publish it.
            let _ = self.publisher.send(output);
        }
        Ok(SupermasterOutcome::Closed)
    }
}
