//! Makes a report from metadata, block by block.

use fleetblast_db::check_mapped_files;
use fleetblast_metadata::header::End;
use fleetblast_metadata::{self as metadata, BlockResults, Encoding, EncodingChoice};

use super::queries::decode_query;
use super::site::IoSite;
use super::wanted::WantedQueries;
use crate::audience::Audience;
use crate::error::Error;
use crate::output::ReportSink;
use crate::queries::{PreparedBlock, QueryRecord};

/// Makes a report from blocks of metadata.
pub struct ReportMaker<'a, P> {
    /// The database and the search; `None` if the metadata contain the report itself.
    pub site: Option<IoSite<'a>>,
    /// The encoding that the header names.
    pub encodings: EncodingChoice,
    /// Destination of the report.
    pub output: P,
    /// The queries to report.
    pub wanted: WantedQueries,
    /// Whether the start of the report was written, by this maker or by another one.
    pub begun: bool,
}

impl<P: ReportSink> ReportMaker<'_, P> {
    /// Writes the report of a block.
    ///
    /// # Errors
    /// A block that cannot be decoded, or whose hits differ at this site, converted by `to_error`;
    /// a report that cannot be made or written.
    pub fn report_block(
        &mut self,
        block: metadata::Block,
        to_error: &dyn Fn(&'static str) -> Error,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        let metadata::Block { queries, batches, searched, results, batch_state: _ } = block;
        let records: Vec<QueryRecord> = queries.into_iter().map(decode_query).collect();
        let wanted: Vec<bool> = records.iter().map(|record| self.wanted.has(record)).collect();
        if !self.encodings.allows(results.encoding) {
            return Err(to_error(OTHER_ENCODING));
        }
        if results.encoding == Encoding::Report {
            if self.encodings == EncodingChoice::Cheapest {
                self.count_sent_block(&records, &wanted, audience)?;
            }
            return self.write_parts(&results, &wanted).ok_or(to_error(NO_REPORT))?;
        }
        let Some(site) = &mut self.site else { return Err(to_error(NO_REPORT)) };
        // Iterations are numbered over all queries, so all blocks must be decoded.
        if !wanted.contains(&true) && !site.is_iterated() {
            return Ok(());
        }
        if !site.has_valid_letters(&records) {
            return Err(to_error(NO_LETTERS));
        }
        if !self.begun {
            self.begun = true;
            site.reporter.write_prologue(&mut self.output)?;
        }
        if site.is_iterated() {
            let queries = (&records[..], &wanted[..]);
            return site.report_iterations(queries, &results, to_error, &mut self.output, audience);
        }
        let prepared = site.prepare_all(&records);
        let batches = batches.iter().map(|&count| count as usize).collect();
        let mut block = PreparedBlock { records, prepared, batches, failure: None };
        audience.open_block(0, block.prepared.len() as u64);
        let mut hits = site.reproduce_hits(&block, &results, to_error)?;
        let mut searched = if searched.is_empty() { block.searched() } else { searched };
        if wanted.contains(&false) {
            keep(&mut block.records, &wanted);
            keep(&mut block.prepared, &wanted);
            keep(&mut hits, &wanted);
            keep(&mut searched, &wanted);
        }
        site.reporter.write_block(&block, &searched, &hits, &mut self.output, audience)?;
        audience.close_block(0);
        Ok(())
    }

    /// Prints the warnings of the wanted queries of a block that contains its report, and counts
    /// these queries as reported. Writes the start of the report if it is not written yet.
    fn count_sent_block(
        &mut self,
        records: &[QueryRecord],
        wanted: &[bool],
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        let Some(site) = &mut self.site else { return Ok(()) };
        let wanted = records.iter().zip(wanted).filter(|&(_, &wanted)| wanted);
        let wanted: Vec<&QueryRecord> = wanted.map(|(record, _)| record).collect();
        let Some(first) = wanted.first() else { return Ok(()) };
        if !self.begun {
            self.begun = true;
            let prepared = site.prepare(first);
            site.reporter.begin((first, &prepared), &mut self.output)?;
        }
        site.reporter.print_warnings(wanted.iter().copied(), audience);
        site.reporter.add_reported_queries(wanted.len());
        Ok(())
    }

    /// Writes the start of a block's report, and the parts that belong to the wanted queries.
    /// Returns `None` if the parts cannot be decoded or do not match the queries.
    fn write_parts(
        &mut self,
        results: &BlockResults,
        wanted: &[bool],
    ) -> Option<Result<(), Error>> {
        // The first part is the start of the report, and each other part belongs to a query.
        let parts = results.parts(1 + wanted.len())?;
        let (rest, queries) = parts.split_first()?;
        // With mixed encodings, the I/O site makes the start of the report.
        if self.encodings == EncodingChoice::Cheapest && !rest.is_empty() {
            return None;
        }
        // Some reports have no parts of queries, but only an end.
        if queries.len() != wanted.len() && (!queries.is_empty() || wanted.contains(&false)) {
            return None;
        }
        let wanted = queries.iter().zip(wanted).filter(|&(_, &wanted)| wanted);
        let mut parts = std::iter::once(rest).chain(wanted.map(|(query, _)| query));
        Some(parts.try_for_each(|part| self.output.write(part)))
    }

    /// Records that other makers have written the start of the report.
    pub fn continue_report(&mut self) {
        self.begun = true;
        if let Some(site) = &mut self.site {
            site.reporter.add_reported_queries(0);
        }
    }

    /// Counts queries that other makers reported, so that `counted` queries are reported in all.
    pub fn count_others(&mut self, counted: u64) {
        if let Some(site) = &mut self.site {
            let missing = (counted as usize).saturating_sub(site.reporter.reported_count());
            site.reporter.add_reported_queries(missing);
        }
    }

    /// Returns whether the end record states another number of reports than were made. `iterations`
    /// states whether iterations are counted instead of queries. Nothing is compared if only some
    /// queries are wanted. If the metadata contain the report itself, the end record is compared
    /// with its own number of queries, unless iterations are counted.
    pub fn count_differs(&self, end: &End, iterations: bool) -> bool {
        if self.encodings.sends_report() {
            return !iterations && end.reported_count != end.queries;
        }
        let site = self.site.as_ref().filter(|_| self.wanted.are_all());
        site.is_some_and(|site| site.reporter.reported_count() as u64 != end.reported_count)
    }

    /// Writes the end of the report; truncated metadata have no `end`.
    ///
    /// # Errors
    /// A database that has changed since it was opened; a report that cannot be written.
    pub fn finish(&mut self, end: Option<&End>, audience: &dyn Audience) -> Result<(), Error> {
        check_mapped_files()?;
        let is_text = self.encodings.sends_report();
        match (&self.site, end) {
            (_, Some(end)) if !end.has_report => Ok(()),
            (_, Some(end)) if is_text => self.output.write(&end.report_end),
            (Some(site), _) if !is_text => {
                if !self.begun {
                    site.reporter.write_prologue(&mut self.output)?;
                }
                site.reporter.finish(&mut self.output, audience)
            }
            _ => Ok(()),
        }
    }
}

const NO_LETTERS: &str = "the queries of a block have invalid letters";
const OTHER_ENCODING: &str = "a block of queries has another encoding than the header names";
const NO_REPORT: &str = "the report of a block of queries cannot be read";

/// Removes the items that are not wanted. `wanted` has a flag for each item.
fn keep<T>(all: &mut Vec<T>, wanted: &[bool]) {
    let mut wanted = wanted.iter();
    all.retain(|_| wanted.next().is_some_and(|&wanted| wanted));
}
