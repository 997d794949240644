//! Reports of searches that were stored as BLAST archives (`blast_formatter`).
//!
//! BLAST+ makes the report of an archive from what the archive stores: the queries and their masks,
//! the alignments with their scores, and the statistics of the first query, which it shows for all
//! queries. The subjects come from the database.

mod alignments;
mod queries;

use fleetblast_report::archive_reader::StoredArchive;

use self::alignments::HitReader;
use self::queries::prepare_queries;
use crate::audience::Audience;
use crate::error::Error;
use crate::output::Output;
use crate::plan::{Format, Plan};
use crate::reports::Reporter;
use crate::subjects::SubjectDatabase;
use crate::trace::Recorder;

/// The report of a file of archives, as far as it is written.
pub struct ArchiveReport {
    output: Output,
    /// Number of queries of the document so far.
    queries: usize,
}

/// A plan of the search that an archive stores, and its opened subjects.
pub struct ArchivedSearch<'a> {
    /// The plan, with the report options of this run.
    pub plan: &'a Plan,
    /// The subjects.
    pub target: &'a SubjectDatabase,
}

impl ArchiveReport {
    /// Opens the report that the plan of the first archive asks for.
    ///
    /// # Errors
    /// An output that cannot be written.
    pub fn open(plan: &Plan) -> Result<ArchiveReport, Error> {
        Ok(ArchiveReport { output: Output::open(&plan.out)?, queries: 0 })
    }

    /// Whether the archives of a file make one document together, as XML and JSON do.
    pub fn is_joined(plan: &Plan) -> bool {
        matches!(plan.report.format, Format::Xml | Format::Output2 { .. })
    }

    /// Writes the reports of archives of one search.
    ///
    /// # Errors
    /// Archives that do not fit the database; an output that cannot be written.
    pub fn write(
        &mut self,
        search: &ArchivedSearch<'_>,
        archives: impl Iterator<Item = Result<StoredArchive, Error>>,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        let ArchivedSearch { plan, target } = *search;
        let mut reporter = Reporter::new(plan, target, Recorder::default());
        reporter.write_prologue(&mut self.output)?;
        // The archives of one search have the same options.
        let engine = plan.engine(target.totals);
        self.queries = 0;
        for archive in archives {
            let archive = archive?;
            let block = prepare_queries(&archive, &engine, self.queries)?;
            let mut hits = HitReader::new(target, &block).read(&archive)?;
            if plan.report.format.is_document() {
                // Other formats do so themselves, or show all (SAM, organism report).
                hits.iter_mut().for_each(|hits| hits.truncate(plan.report.num_alignments));
            }
            self.queries += block.records.len();
            let searched = vec![true; block.records.len()];
            reporter.write_block(&block, &searched, &hits, &mut self.output, audience)?;
        }
        reporter.finish(&mut self.output, audience)
    }

    /// Ends the report.
    ///
    /// # Errors
    /// An output that cannot be written.
    pub fn finish(self) -> Result<(), Error> {
        self.output.commit()
    }
}
