//! Sinks of the results of a search: a report, metadata for another site, or a visitor.

use std::sync::Arc;

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::search::Search;
use fleetblast_metadata::BatchState;

use super::iterated::IteratedSearch;
use super::strategy::{ReportWithStrategies, StrategyWriter};
use crate::audience::Audience;
use crate::cost::EncodingCosts;
use crate::error::Error;
use crate::halt::Halt;
use crate::hits::Visitor;
use crate::io_channel::IoChannel;
use crate::iteration::IterationRules;
use crate::metadata::{HeldMetadata, MetadataWriter, other_queries};
use crate::output::Output;
use crate::plan::Plan;
use crate::queries::PreparedBlock;
use crate::reports::Reporter;
use crate::search::TwoPhaseSearch;
use crate::subjects::SubjectDatabase;
use crate::trace::Recorder;

/// Receiver of the results of a search.
pub enum ResultReceiver<'a> {
    /// The output files of the plan. With a channel, metadata go through the channel to the I/O
    /// ranks of the same job.
    Files(Option<&'a IoChannel>),
    /// A function of the program that uses this library. It receives one query after the other.
    Visitor(Box<Visitor<'a>>),
}

/// Sink of the results of a search, open for writing.
pub struct ResultSink<'a> {
    reporter: Reporter<'a>,
    kind: SinkKind<'a>,
    /// Writer of the search strategies; `None` if the plan asks for none.
    strategies: Option<StrategyWriter<'a>>,
}

enum SinkKind<'a> {
    Report(Output),
    Metadata(Box<MetadataWriter<'a>>),
    Visitor(Box<Visitor<'a>>),
}

impl<'a> ResultSink<'a> {
    /// Opens the sink that the plan asks for. The sink sets `halt` when the other site no longer
    /// needs the search.
    ///
    /// # Errors
    /// Outputs that cannot be written; for metadata, a database that cannot be read.
    pub fn open(
        plan: &'a Plan,
        engine: &'a Search,
        subjects: &'a SubjectDatabase,
        recorder: Recorder,
        (receiver, audience, halt): (ResultReceiver<'a>, &Arc<dyn Audience>, &Halt),
    ) -> Result<Self, Error> {
        let mut reporter = Reporter::new(plan, subjects, recorder);
        let kind = match (receiver, &plan.metadata) {
            (ResultReceiver::Visitor(visitor), _) => SinkKind::Visitor(visitor),
            (ResultReceiver::Files(_), None) => {
                let mut output = Output::open(&plan.out)?;
                reporter.write_prologue(&mut output)?;
                SinkKind::Report(output)
            }
            (ResultReceiver::Files(io_channel), Some(metadata)) => {
                let mut writer = MetadataWriter::new(
                    plan,
                    metadata,
                    engine,
                    subjects,
                    (io_channel, audience, halt),
                )?;
                writer.start(&mut reporter)?;
                SinkKind::Metadata(Box::new(writer))
            }
        };
        let strategies = StrategyWriter::open(plan, subjects)?;
        Ok(ResultSink { reporter, kind, strategies })
    }

    /// Writes the complete output of a job whose input has no queries.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn write_empty(
        plan: &'a Plan,
        engine: &'a Search,
        subjects: &'a SubjectDatabase,
        (io_channel, audience): (Option<&IoChannel>, &Arc<dyn Audience>),
    ) -> Result<(), Error> {
        let Some(metadata) = &plan.metadata else {
            if let Some(strategies) = StrategyWriter::open(plan, subjects)? {
                strategies.finish()?;
            }
            return Output::open(&plan.out)?.commit();
        };
        let halt = Halt::default();
        let writer =
            MetadataWriter::new(plan, metadata, engine, subjects, (io_channel, audience, &halt))?;
        if let Some(HeldMetadata(resume_point)) = writer.held_metadata()
            && resume_point.queries > 0
        {
            return Err(other_queries());
        }
        writer.finish(None, &**audience)
    }

    /// Returns the state of the records that the other site holds from an earlier run; `None` if it
    /// holds none.
    pub fn held_metadata(&self) -> Option<&HeldMetadata> {
        match &self.kind {
            SinkKind::Report(_) | SinkKind::Visitor(_) => None,
            SinkKind::Metadata(writer) => writer.held_metadata(),
        }
    }

    /// Records that the metadata at the other site belong to the queries of this search.
    pub fn verify(&self) {
        match &self.kind {
            SinkKind::Report(_) | SinkKind::Visitor(_) => {}
            SinkKind::Metadata(writer) => writer.confirm_same_search(),
        }
    }

    /// Checks that the other site still works. Succeeds if there is no other site.
    ///
    /// # Errors
    /// The error that ended the other site.
    pub fn check(&mut self) -> Result<(), Error> {
        match &mut self.kind {
            SinkKind::Report(_) | SinkKind::Visitor(_) => Ok(()),
            SinkKind::Metadata(writer) => writer.check(),
        }
    }

    /// Writes the results of a block that `search` has just searched. `batch_state` is the state
    /// from which the batches after the block are formed.
    pub fn write_block(
        &mut self,
        block: &PreparedBlock,
        hits: &[Vec<SubjectHit>],
        (search, batch_state): (&TwoPhaseSearch, BatchState),
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        let strategies = self.write_strategies(block)?;
        match &mut self.kind {
            SinkKind::Report(output) => {
                let mut report = ReportWithStrategies::new(output, strategies);
                let searched = block.searched();
                self.reporter.write_block(block, &searched, hits, &mut report, audience)?;
                report.finish()?;
                output.flush_if_streamed()
            }
            SinkKind::Metadata(writer) => {
                writer.write_block(block, hits, (search, batch_state), &mut self.reporter, audience)
            }
            SinkKind::Visitor(visitor) => self.reporter.visit(block, hits, &mut **visitor),
        }
    }

    /// Writes the strategies of the batches of a block. Returns those that the report must contain,
    /// each with the number of the first query of its batch.
    fn write_strategies(&mut self, block: &PreparedBlock) -> Result<Vec<(usize, Vec<u8>)>, Error> {
        match &mut self.strategies {
            Some(strategies) => strategies.write_block(block),
            None => Ok(Vec::new()),
        }
    }

    /// Searches a block of queries iteratively and writes its results.
    ///
    /// # Errors
    /// As [`IteratedSearch::report_block`]; the error that ended the other site.
    pub fn write_iterated_block(
        &mut self,
        block: &PreparedBlock,
        iterated: &mut IteratedSearch<'a>,
        search: &mut TwoPhaseSearch<'a>,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        let strategies = self.write_strategies(block)?;
        let reporter = &mut self.reporter;
        let writer = match &mut self.kind {
            SinkKind::Report(output) => {
                ReportWithStrategies::new(output, strategies).finish()?;
                iterated.report_block(block, search, (reporter, output), audience)?;
                return output.flush_if_streamed();
            }
            SinkKind::Metadata(writer) => writer,
            // A fault of the program: `visit_hits` refuses plans with iterations.
            SinkKind::Visitor(_) => {
                return Err(Error::engine("iterated searches have no visitor"));
            }
        };
        let searched = match writer.sends_report() {
            true => {
                let searched =
                    iterated.report_block(block, search, (reporter, writer.pages()), audience);
                writer.write_iterated_report(block).and(searched)
            }
            false => {
                let send =
                    |rules: &IterationRules, found| writer.write_iterations(block, rules, found);
                iterated.send_block(block, search, send, audience)
            }
        };
        // An error of the other site explains why the search was halted.
        writer.check().and(searched)
    }

    /// Writes the remaining text of an incomplete report, when the next query cannot be read.
    ///
    /// # Errors
    /// Output that cannot be written.
    pub fn finish_early(&mut self) -> Result<(), Error> {
        match &mut self.kind {
            SinkKind::Report(output) => self.reporter.finish_early(output),
            SinkKind::Metadata(_) | SinkKind::Visitor(_) => Ok(()),
        }
    }

    /// Completes the output and closes the sink. Returns the costs of metadata; `None` for a report
    /// or a visitor.
    pub fn finish(self, audience: &dyn Audience) -> Result<Option<EncodingCosts>, Error> {
        match self.kind {
            SinkKind::Report(mut output) => {
                self.reporter.finish(&mut output, audience)?;
                output.commit()?;
                self.strategies.map_or(Ok(()), StrategyWriter::finish)?;
                Ok(None)
            }
            SinkKind::Metadata(writer) => {
                let costs = writer.costs();
                writer.finish(Some(&self.reporter), audience)?;
                Ok(Some(costs))
            }
            SinkKind::Visitor(_) => Ok(None),
        }
    }
}
