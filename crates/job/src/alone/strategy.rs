//! Writes search strategies (`SaveSearchStrategy`, blast_app_util.cpp): one for each batch of
//! queries, before BLAST+ searches it.

use fleetblast_engine::batches::batch_ranges;
use fleetblast_report::archive_options::ArchiveRequest;
use fleetblast_report::model::{QueryResult, ReportSetup};
use fleetblast_report::write_strategy;

use crate::error::Error;
use crate::output::{Output, ReportSink};
use crate::plan::{Destination, Plan, StrategyPlan};
use crate::queries::PreparedBlock;
use crate::reports::{self, report_failure};
use crate::subjects::SubjectDatabase;

/// Writer of the strategies of a job.
pub struct StrategyWriter<'a> {
    plan: &'a Plan,
    subjects: &'a SubjectDatabase,
    setup: ReportSetup<'a>,
    request: ArchiveRequest,
    /// The file of strategies; `None` if they go to standard output together with the report.
    output: Option<Output>,
    search_space: SearchSpace,
}

/// A report with the strategy of each batch before the report of the batch.
pub struct ReportWithStrategies<'o> {
    report: &'o mut Output,
    /// The strategies of the current block that are not written yet, each with the number of the
    /// first query of its batch.
    strategies: Vec<(usize, Vec<u8>)>,
    /// Number of queries of the current block whose report is written.
    queries: usize,
}

impl<'o> ReportWithStrategies<'o> {
    pub fn new(report: &'o mut Output, strategies: Vec<(usize, Vec<u8>)>) -> Self {
        Self { report, strategies, queries: 0 }
    }

    /// Writes the remaining strategies of the batches that start with this query or earlier.
    fn write_strategies(&mut self, query: usize) -> Result<(), Error> {
        let count = self.strategies.partition_point(|&(first, _)| first <= query);
        self.strategies.drain(..count).try_for_each(|(_, text)| self.report.write(&text))
    }

    /// Writes the strategies of the block that are not written yet.
    ///
    /// # Errors
    /// A report that cannot be written.
    pub fn finish(mut self) -> Result<(), Error> {
        self.write_strategies(usize::MAX)
    }
}

impl ReportSink for ReportWithStrategies<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.report.write(bytes)
    }

    fn begin_batch(&mut self, first_query: usize) -> Result<(), Error> {
        self.write_strategies(first_query)
    }

    fn write_query(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.write_strategies(self.queries)?;
        self.queries += 1;
        self.report.write_query(bytes)
    }
}

/// The effective search space that the next strategy states. It is that of the previous search,
/// which BLAST+ has left among the options.
enum SearchSpace {
    /// Search space of the batch searched last; `None` before the first search.
    OfBatch(Option<i64>),
    /// Search space of an iteration with a PSSM, which is unknown.
    OfPssm,
}

impl<'a> StrategyWriter<'a> {
    /// Opens the file of strategies; `None` if the plan has none.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn open(plan: &'a Plan, subjects: &'a SubjectDatabase) -> Result<Option<Self>, Error> {
        let Some(StrategyPlan { out, request }) = &plan.strategy else { return Ok(None) };
        let shares_stream = [out, &plan.out].iter().all(|it| matches!(it, Destination::Stdout));
        let mut request = request.clone();
        reports::complete_request(&mut request, plan, subjects);
        Ok(Some(StrategyWriter {
            plan,
            subjects,
            setup: reports::setup(plan, subjects),
            request,
            output: (!shares_stream).then(|| Output::open(out)).transpose()?,
            search_space: SearchSpace::OfBatch(None),
        }))
    }

    /// Writes the strategies of the batches of a block. Returns those that the report must contain,
    /// each with the number of the first query of its batch.
    ///
    /// # Errors
    /// Subjects that cannot be read; a file that cannot be written.
    pub fn write_block(&mut self, block: &PreparedBlock) -> Result<Vec<(usize, Vec<u8>)>, Error> {
        let searched = block.searched();
        let result = |((record, query), &batch_searched)| QueryResult {
            batch_searched,
            ..reports::empty_result(record, query)
        };
        let all = block.records.iter().zip(&block.prepared).zip(&searched);
        let results: Vec<QueryResult> = all.map(result).collect();
        let mut for_report = Vec::new();
        for range in batch_ranges(&block.batches) {
            let first = range.start;
            if let Some(batch) = results.get(range).filter(|batch| !batch.is_empty()) {
                let strategy = self.format_batch(batch)?;
                match &mut self.output {
                    Some(output) => output.write(&strategy)?,
                    None => for_report.push((first, strategy)),
                }
            }
        }
        Ok(for_report)
    }

    fn format_batch(&mut self, batch: &[QueryResult]) -> Result<Vec<u8>, Error> {
        let SearchSpace::OfBatch(space) = self.search_space else {
            let what = "-export_search_strategy with several queries and iterations";
            return Err(Error::unsupported(&self.plan.program, what));
        };
        let most = self.plan.iteration.as_ref().map(|it| it.max_iterations.unwrap_or(0));
        let iterations = most.filter(|&most| most > 0).map(|most| most as i64);
        let written =
            write_strategy(&self.setup, &self.request, self.subjects, batch, (space, iterations));
        let written = written.map_err(|error| report_failure(&error))?;
        if most.is_some_and(|most| most != 1) {
            self.search_space = SearchSpace::OfPssm;
        } else if batch[0].batch_searched {
            let is_empty = self.request.searches_nothing;
            let space = if is_empty { 0 } else { batch[0].query.first().search_space };
            self.search_space = SearchSpace::OfBatch(Some(space));
        }
        Ok(written)
    }

    /// Completes the file of strategies, and gives it its final name.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn finish(self) -> Result<(), Error> {
        self.output.map_or(Ok(()), Output::commit)
    }
}
