//! The report of a search, made of its metadata.

use fleetblast_db::SequenceKind;
use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::query::Query;
use fleetblast_engine::search::Search;
use fleetblast_metadata::header::{Database, End};
use fleetblast_metadata::records::RecordKind;
use fleetblast_metadata::{Block as Told, Found, Kind, Kinds, MetadataError, hits, subjects};
use fleetblast_report::model::{DatabaseParagraph, DatabaseSummary};
use fleetblast_seq::alphabet;
use rayon::prelude::*;

use super::content;
use super::judge::Judge;
use super::queries::heard;
use super::source::{Opened, fault};
use crate::alone::{Reporter, TwoPhases};
use crate::audience::Audience;
use crate::error::Error;
use crate::output::Output;
use crate::plan::{Destination, Plan};
use crate::queries::{Block, QueryRecord};
use crate::subjects::Target;
use crate::threads::pool;
use crate::trace::Recorder;

/// What to expand.
pub struct Expansion {
    /// The metadata.
    pub opened: Opened,
    /// How the report is made: of the plan of the search, with what the report is to look like here. `None` for a report that is told
    /// as it is, of whose database nothing is known here.
    pub plan: Option<Plan>,
    /// Where the report goes.
    pub out: Destination,
    /// Threads to use.
    pub threads: usize,
    /// The queries that are wanted, by what the report calls them; none for all.
    pub wanted: Vec<Vec<u8>>,
}

/// Makes the report.
///
/// # Errors
/// Another database than the one that was searched, damaged metadata, or a report that cannot be made: then nothing is written under
/// its name. Metadata that are cut off end with an error, too, after the report as far as they are whole.
pub fn expand(expansion: Expansion, audience: &dyn Audience) -> Result<(), Error> {
    let made = pool(expansion.threads)?.install(|| make(expansion, audience));
    made.inspect_err(|_| audience.leave())
}

fn make(expansion: Expansion, audience: &dyn Audience) -> Result<(), Error> {
    let Expansion { mut opened, plan, out, wanted, .. } = expansion;
    let wanted = Wanted::new(wanted);
    let Some(plan) = plan else {
        let kinds = opened.header.kinds;
        return Maker { site: None, kinds, output: Output::open(&out)?, wanted, begun: false }
            .all(&mut opened, audience);
    };
    let mut target = Target::open(&plan, audience)?;
    check(&opened, &target)?;
    target.summary = summary(&opened.header.database);
    audience.begin();
    if audience.is_watching() {
        audience.expect(None);
    }
    let engine = plan.engine(target.totals);
    let recorder = Recorder::default();
    let again = TwoPhases::new(&target, &engine, &plan, audience, recorder.clone())?;
    let reporter = Reporter::new(&plan, &target, recorder);
    let codes = match plan.query_kind {
        SequenceKind::Protein => alphabet::SIZE as u8,
        _ => BLASTNA_CODES,
    };
    let site = Some(Site { again, reporter, engine: &engine, target: &target, codes });
    let kinds = opened.header.kinds;
    let output = Output::open(&out)?;
    Maker { site, kinds, output, wanted, begun: false }.all(&mut opened, audience)
}

/// Holds that the database here is the one that was searched.
fn check(opened: &Opened, target: &Target) -> Result<(), Error> {
    let searched = &opened.header.database;
    let Some(difference) = content::difference(&searched.content, &content::of(target)?) else {
        return Ok(());
    };
    Err(Error::database(format_args!(
        "{} is not the database that was searched for {} ({}): {difference}",
        String::from_utf8_lossy(&target.summary.label),
        opened.path.display(),
        String::from_utf8_lossy(&searched.label),
    )))
}

/// What reports say of the database that was searched.
fn summary(database: &Database) -> DatabaseSummary {
    let paragraphs = database.paragraphs.iter().map(|paragraph| DatabaseParagraph {
        title: paragraph.title.clone(),
        date: paragraph.date.clone(),
        masked_using: paragraph.masked_using.clone(),
        sequences: paragraph.sequences,
        residues: paragraph.residues,
    });
    DatabaseSummary {
        label: database.label.clone(),
        paragraphs: paragraphs.collect(),
        is_subject: database.is_subject,
    }
}

/// What is here of the search.
struct Site<'a> {
    again: TwoPhases<'a>,
    reporter: Reporter<'a>,
    engine: &'a Search,
    target: &'a Target,
    /// Codes that letters of queries may be.
    codes: u8,
}

/// Makes a report block by block.
struct Maker<'a> {
    site: Option<Site<'a>>,
    /// As what is told what was found.
    kinds: Kinds,
    output: Output,
    /// The queries that are wanted; none for all.
    wanted: Wanted,
    /// The report has begun.
    begun: bool,
}

/// Names of queries, and whether there was one called so.
struct Wanted(Vec<(Vec<u8>, bool)>);

impl Wanted {
    fn new(names: Vec<Vec<u8>>) -> Self {
        Wanted(names.into_iter().map(|name| (name, false)).collect())
    }

    /// Whether a query is wanted.
    fn has(&mut self, record: &QueryRecord) -> bool {
        let mut wanted = self.0.is_empty();
        let names = if wanted { Vec::new() } else { record.names() };
        for (_, met) in self.0.iter_mut().filter(|(name, _)| names.contains(name)) {
            (*met, wanted) = (true, true);
        }
        wanted
    }

    /// A name that no query had.
    fn missing(&self) -> Option<&[u8]> {
        self.0.iter().find(|(_, met)| !met).map(|(name, _)| name.as_slice())
    }
}

impl Maker<'_> {
    /// Makes the whole report, or as much of it as the metadata are whole.
    fn all(mut self, opened: &mut Opened, audience: &dyn Audience) -> Result<(), Error> {
        let broken = |error: &MetadataError| fault(&opened.path, error);
        let end = loop {
            let record = match opened.records.next_record() {
                Ok(Some(record)) => record,
                Ok(None) => return Err(broken(&MetadataError::CutOff { offset: 0 })),
                Err(error @ MetadataError::CutOff { .. }) => break Err(error),
                Err(error) => return Err(broken(&error)),
            };
            if record.kind == RecordKind::End {
                let end = End::decode(&record).map_err(|error| broken(&error))?;
                // What comes after it is no part of this.
                opened.records.next_record().map_err(|error| broken(&error))?;
                break Ok(end);
            }
            let told = Told::decode(&record).map_err(|error| broken(&error))?;
            let unlike = |what| broken(&MetadataError::Damaged { offset: record.offset, what });
            self.block(told, &unlike, audience)?;
        };
        if let (Ok(_), Some(name)) = (&end, self.wanted.missing()) {
            let (path, name) = (opened.path.display(), String::from_utf8_lossy(name));
            return Err(Error::query_options(format_args!("there is no query {name} in {path}")));
        }
        self.finish(end.as_ref().ok(), audience)?;
        let Err(error) = end else { return Ok(()) };
        let error = broken(&error);
        let message =
            format!("{}; the report ends with the last whole block of queries", error.message);
        Err(Error { message, ..error })
    }

    fn block(
        &mut self,
        told: Told,
        unlike: &dyn Fn(&'static str) -> Error,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        let Told { queries, batches, searched, found, course: _ } = told;
        let records: Vec<QueryRecord> = queries.into_iter().map(heard).collect();
        let wanted: Vec<bool> = records.iter().map(|record| self.wanted.has(record)).collect();
        if found.kind == Kind::Report {
            if self.kinds == Kinds::Cheapest {
                self.pass_over(&records, &wanted)?;
            }
            return self.parts(&found, &wanted).ok_or(unlike(NO_REPORT))?;
        }
        if !wanted.contains(&true) {
            return Ok(());
        }
        let Some(site) = &mut self.site else { return Err(unlike(NO_REPORT)) };
        let is_letter = |&letter: &u8| letter < site.codes;
        if !records.iter().all(|record| record.record.residues.iter().all(is_letter)) {
            return Err(unlike(NO_LETTERS));
        }
        if !self.begun {
            self.begun = true;
            site.reporter.start(&mut self.output)?;
        }
        let prepare = |record: &QueryRecord| record.prepare(site.engine);
        let prepared: Vec<Query> = records.par_iter().map(prepare).collect();
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
    fn pass_over(&mut self, records: &[QueryRecord], wanted: &[bool]) -> Result<(), Error> {
        let Some(site) = &mut self.site else { return Ok(()) };
        let mut wanted = records.iter().zip(wanted).filter(|&(_, &wanted)| wanted);
        let Some((first, _)) = wanted.next() else { return Ok(()) };
        if !self.begun {
            self.begun = true;
            site.reporter.begin((first, &first.prepare(site.engine)), &mut self.output)?;
        }
        site.reporter.pass_over(1 + wanted.count());
        Ok(())
    }

    /// Writes parts of a report that are told as they are; `None` if they are not those of so many queries.
    fn parts(&mut self, found: &Found, wanted: &[bool]) -> Option<Result<(), Error>> {
        let parts = found.parts()?;
        let (rest, queries) = parts.split_first()?;
        // Some reports have nothing of single queries, but only an end.
        if queries.len() != wanted.len() && (!queries.is_empty() || wanted.contains(&false)) {
            return None;
        }
        let wanted = queries.iter().zip(wanted).filter(|&(_, &wanted)| wanted);
        let mut pieces = std::iter::once(rest).chain(wanted.map(|(query, _)| query));
        Some(pieces.try_for_each(|piece| self.output.write(piece)))
    }

    /// Ends the report.
    fn finish(mut self, end: Option<&End>, audience: &dyn Audience) -> Result<(), Error> {
        if let Some(Site { target, .. }) = &self.site {
            target.searched.check_unchanged(&(0..target.searched.oid_count()))?;
        }
        match (&self.site, end) {
            (_, Some(end)) if !end.has_report => {}
            (_, Some(end)) if self.kinds == Kinds::Only(Kind::Report) => {
                self.output.write(&end.closing)?
            }
            (Some(site), _) if self.kinds != Kinds::Only(Kind::Report) => {
                if !self.begun {
                    site.reporter.start(&mut self.output)?;
                }
                site.reporter.finish(&mut self.output, audience)?;
            }
            _ => {}
        }
        self.output.commit()?;
        if let Some(site) = &self.site {
            site.target.odd_headers().iter().for_each(|odd| audience.warn(&odd.to_string()));
        }
        audience.finish();
        Ok(())
    }
}

impl Site<'_> {
    /// The hits of a block, which are those that were found.
    fn hits(
        &mut self,
        block: &Block,
        found: &Found,
        unlike: &dyn Fn(&'static str) -> Error,
    ) -> Result<Vec<Vec<SubjectHit>>, Error> {
        let queries = block.prepared.len();
        let hits = if found.kind == Kind::Hits {
            let judge = Judge::new(self.engine, &block.prepared, self.target);
            hits::decode(&found.bytes, queries, &judge).ok_or_else(|| unlike(NO_HITS))?
        } else {
            let count = self.target.searched.oid_count();
            let shown = subjects::decode(&found.bytes, queries, count);
            let shown = shown.ok_or_else(|| unlike(NO_HITS))?;
            self.again.run_again(&block.prepared, &block.batches, &shown)?
        };
        match hits::digest(&hits) == found.digest {
            true => Ok(hits),
            false => Err(unlike(OTHER_HITS)),
        }
    }
}

/// Codes of blastna.
const BLASTNA_CODES: u8 = 16;
const NO_LETTERS: &str = "the queries of a block have letters that are none";
const NO_REPORT: &str = "the report of a block of queries cannot be read";
const NO_HITS: &str = "what was found of a block of queries cannot be read";
const OTHER_HITS: &str = "what was found of a block of queries is not found here: another build of FleetBLAST, or other \
    arithmetic";

/// Keeps what is wanted.
fn keep<T>(all: &mut Vec<T>, wanted: &[bool]) {
    let mut wanted = wanted.iter();
    all.retain(|_| wanted.next().is_some_and(|&wanted| wanted));
}
