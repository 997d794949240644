//! Makes a report of metadata, block by block.

use fleetblast_db::check_mapped_files;
use fleetblast_metadata::header::End;
use fleetblast_metadata::{Block as Told, Found, Kind, Kinds};

use super::queries::heard;
use super::site::Site;
use super::wanted::Wanted;
use crate::audience::Audience;
use crate::error::Error;
use crate::output::Pages;
use crate::queries::{Block, QueryRecord};

/// Makes a report.
pub struct Maker<'a, P> {
    /// Nothing for a report that is told as it is.
    pub site: Option<Site<'a>>,
    /// As what is told what was found.
    pub kinds: Kinds,
    /// Where it goes.
    pub output: P,
    /// The queries that are wanted.
    pub wanted: Wanted,
    /// The report has begun, here or elsewhere.
    pub begun: bool,
}

impl<P: Pages> Maker<'_, P> {
    /// Makes what is reported of a block.
    ///
    /// # Errors
    /// A block that cannot be read or is not found here, by `unlike`; a report that cannot be made or written.
    pub fn block(
        &mut self,
        told: Told,
        unlike: &dyn Fn(&'static str) -> Error,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        let Told { queries, batches, searched, found, course: _ } = told;
        let records: Vec<QueryRecord> = queries.into_iter().map(heard).collect();
        let wanted: Vec<bool> = records.iter().map(|record| self.wanted.has(record)).collect();
        if !self.kinds.allow(found.kind) {
            return Err(unlike(OTHER_KIND));
        }
        if found.kind == Kind::Report {
            if self.kinds == Kinds::Cheapest {
                self.pass_over(&records, &wanted, audience)?;
            }
            return self.parts(&found, &wanted).ok_or(unlike(NO_REPORT))?;
        }
        let Some(site) = &mut self.site else { return Err(unlike(NO_REPORT)) };
        // Searches in rounds are numbered over all queries.
        if !wanted.contains(&true) && !site.is_in_rounds() {
            return Ok(());
        }
        if !site.has_letters(&records) {
            return Err(unlike(NO_LETTERS));
        }
        if !self.begun {
            self.begun = true;
            site.reporter.start(&mut self.output)?;
        }
        if site.is_in_rounds() {
            let queries = (&records[..], &wanted[..]);
            return site.report_rounds(queries, &found, unlike, &mut self.output, audience);
        }
        let prepared = site.prepare_all(&records);
        let batches = batches.iter().map(|&count| count as usize).collect();
        let mut block = Block { records, prepared, batches, failure: None };
        audience.open(0, block.prepared.len() as u64);
        let mut hits = site.hits(&block, &found, unlike)?;
        let mut searched = if searched.is_empty() { block.searched() } else { searched };
        if wanted.contains(&false) {
            keep(&mut block.records, &wanted);
            keep(&mut block.prepared, &wanted);
            keep(&mut hits, &wanted);
            keep(&mut searched, &wanted);
        }
        site.reporter.block(&block, &searched, &hits, &mut self.output, audience)?;
        audience.close(0);
        Ok(())
    }

    /// Reports a block whose report is told as it is, but not what begins it.
    fn pass_over(
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
        site.reporter.warn(wanted.iter().copied(), audience);
        site.reporter.pass_over(wanted.len());
        Ok(())
    }

    /// Writes parts of a report that are told as they are; `None` if they are not those of so many queries.
    fn parts(&mut self, found: &Found, wanted: &[bool]) -> Option<Result<(), Error>> {
        // The begin of the report, and a part for each query.
        let parts = found.parts(1 + wanted.len())?;
        let (rest, queries) = parts.split_first()?;
        // What begins the report is made here where blocks are of any kind.
        if self.kinds == Kinds::Cheapest && !rest.is_empty() {
            return None;
        }
        // Some reports have nothing of single queries, but only an end.
        if queries.len() != wanted.len() && (!queries.is_empty() || wanted.contains(&false)) {
            return None;
        }
        let wanted = queries.iter().zip(wanted).filter(|&(_, &wanted)| wanted);
        let mut pieces = std::iter::once(rest).chain(wanted.map(|(query, _)| query));
        Some(pieces.try_for_each(|piece| self.output.write(piece)))
    }

    /// Goes on behind what others have reported.
    pub fn go_on(&mut self) {
        self.begun = true;
        if let Some(site) = &mut self.site {
            site.reporter.pass_over(0);
        }
    }

    /// Counts what others have reported, of so many in all.
    pub fn catch_up(&mut self, counted: u64) {
        if let Some(site) = &mut self.site {
            let missing = (counted as usize).saturating_sub(site.reporter.reported());
            site.reporter.pass_over(missing);
        }
    }

    /// Whether the end counts other queries, or `iterations`, than were reported here. Iterations
    /// are not counted where only some queries are wanted, or where the report crosses whole.
    pub fn counts_otherwise(&self, end: &End, iterations: bool) -> bool {
        if self.kinds == Kinds::Only(Kind::Report) {
            return !iterations && end.counted != end.queries;
        }
        let site = self.site.as_ref().filter(|_| self.wanted.are_all());
        site.is_some_and(|site| site.reporter.reported() as u64 != end.counted)
    }

    /// Makes what ends the report; of metadata that are cut off there is no `end`.
    ///
    /// # Errors
    /// A database that has changed meanwhile; a report that cannot be written.
    pub fn end(&mut self, end: Option<&End>, audience: &dyn Audience) -> Result<(), Error> {
        check_mapped_files()?;
        let as_it_is = self.kinds == Kinds::Only(Kind::Report);
        match (&self.site, end) {
            (_, Some(end)) if !end.has_report => Ok(()),
            (_, Some(end)) if as_it_is => self.output.write(&end.closing),
            (Some(site), _) if !as_it_is => {
                if !self.begun {
                    site.reporter.start(&mut self.output)?;
                }
                site.reporter.finish(&mut self.output, audience)
            }
            _ => Ok(()),
        }
    }
}

const NO_LETTERS: &str = "the queries of a block have letters that are none";
const OTHER_KIND: &str = "a block of queries is of another kind than the header names";
const NO_REPORT: &str = "the report of a block of queries cannot be read";

/// Keeps what is wanted.
fn keep<T>(all: &mut Vec<T>, wanted: &[bool]) {
    let mut wanted = wanted.iter();
    all.retain(|_| wanted.next().is_some_and(|&wanted| wanted));
}
