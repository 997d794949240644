//! Writes search strategies (`SaveSearchStrategy`, blast_app_util.cpp): one for each batch of
//! queries, before BLAST+ searches it.

use fleetblast_engine::batches::batch_ranges;
use fleetblast_report::archive_options::ArchiveRequest;
use fleetblast_report::model::{QueryResult, ReportSetup};
use fleetblast_report::write_strategy;

use crate::error::Error;
use crate::output::Output;
use crate::plan::{Plan, StrategyPlan};
use crate::queries::PreparedBlock;
use crate::reports::{self, report_failure};
use crate::subjects::SubjectDatabase;

/// Writer of the strategies of a job.
pub struct StrategyWriter<'a> {
    plan: &'a Plan,
    target: &'a SubjectDatabase,
    setup: ReportSetup<'a>,
    request: ArchiveRequest,
    output: Output,
    search_space: SearchSpace,
}

/// The effective search space that BLAST+ has left among the options.
enum SearchSpace {
    /// That of the batch searched last; `None` before the first search.
    OfBatch(Option<i64>),
    /// That of an iteration with a matrix, which is not known.
    OfMatrix,
}

impl<'a> StrategyWriter<'a> {
    /// Opens the file of strategies; `None` if the plan has none.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn open(plan: &'a Plan, target: &'a SubjectDatabase) -> Result<Option<Self>, Error> {
        let Some(StrategyPlan { out, request }) = &plan.strategy else { return Ok(None) };
        let mut request = request.clone();
        reports::complete_request(&mut request, plan, target);
        Ok(Some(StrategyWriter {
            plan,
            target,
            setup: reports::setup(plan, target),
            request,
            output: Output::open(out)?,
            search_space: SearchSpace::OfBatch(None),
        }))
    }

    /// Writes the strategies of the batches of a block.
    ///
    /// # Errors
    /// Subjects that cannot be read; a file that cannot be written.
    pub fn write_block(&mut self, block: &PreparedBlock) -> Result<(), Error> {
        let searched = block.searched();
        let result = |((record, query), &batch_searched)| QueryResult {
            batch_searched,
            ..reports::empty_result(record, query)
        };
        let all = block.records.iter().zip(&block.prepared).zip(&searched);
        let results: Vec<QueryResult> = all.map(result).collect();
        for range in batch_ranges(&block.batches) {
            if let Some(batch) = results.get(range).filter(|batch| !batch.is_empty()) {
                self.write_batch(batch)?;
            }
        }
        Ok(())
    }

    fn write_batch(&mut self, batch: &[QueryResult]) -> Result<(), Error> {
        let SearchSpace::OfBatch(space) = self.search_space else {
            let what = "-export_search_strategy with several queries and iterations";
            return Err(Error::unsupported(&self.plan.program, what));
        };
        let most = self.plan.iteration.as_ref().map(|it| it.max_iterations.unwrap_or(0));
        let iterations = most.filter(|&most| most > 0).map(|most| most as i64);
        let written =
            write_strategy(&self.setup, &self.request, self.target, batch, (space, iterations));
        self.output.write(&written.map_err(|error| report_failure(&error))?)?;
        if most.is_some_and(|most| most != 1) {
            self.search_space = SearchSpace::OfMatrix;
        } else if batch[0].batch_searched {
            let is_empty = self.request.searches_nothing;
            let space = if is_empty { 0 } else { batch[0].query.first().search_space };
            self.search_space = SearchSpace::OfBatch(Some(space));
        }
        Ok(())
    }

    /// Gives the complete file its name.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn finish(self) -> Result<(), Error> {
        self.output.commit()
    }
}
