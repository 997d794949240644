//! Writes metadata instead of a report.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::search::Search;
use fleetblast_metadata::header::{Content, Database, End, Header, Paragraph};
use fleetblast_metadata::records::RecordKind;
use fleetblast_metadata::{Course, Found, Kind, Kinds};

use super::carrier::{ANOTHER_RECEIVER, Carrier, Resumed};
use super::chooser::{Chooser, Seekers};
use super::content;
use super::passing::Passing;
use super::rounds::found as found_in_rounds;
use super::teller::{Searched, Teller, body, body_in_rounds, no_room};
use crate::audience::{Audience, Nobody};
use crate::cost::Account;
use crate::crossing::Crossing;
use crate::digest::Digest;
use crate::error::{Error, exit};
use crate::halt::Halt;
use crate::inputs;
use crate::iteration::InRounds;
use crate::iteration::Rules;
use crate::output::Pages;
use crate::plan::{Format, Metadata, Plan};
use crate::queries::{Block, QueryRecord};
use crate::reports::Reporter;
use crate::search::{Repeats, TwoPhases};
use crate::subjects::Target;

/// Writes the metadata of a search.
pub struct Writer<'a> {
    teller: Teller<'a>,
    chooser: Chooser<'a>,
    carrier: Carrier,
    /// What the other site holds since an earlier run.
    resumed: Option<Resumed>,
    /// The same where it is made again, as long as that is not passed.
    passing: Option<Passing>,
    blocks: u64,
    queries: u64,
    /// What the report counts that the other site makes: queries, or their searches in rounds.
    counted: u64,
    /// What is told of the report before the next block.
    pages: Parts,
}

/// A piece of a report by its parts.
#[derive(Default)]
pub(super) struct Parts {
    /// What is not of a query.
    rest: Vec<u8>,
    queries: Vec<Vec<u8>>,
}

impl Parts {
    /// What is not of a query, and what is reported of each.
    pub fn take(&mut self) -> Vec<Vec<u8>> {
        let Parts { rest, queries } = std::mem::take(self);
        [vec![rest], queries].concat()
    }
}

impl Pages for Parts {
    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.rest.extend_from_slice(bytes);
        Ok(())
    }

    fn query(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.queries.push(bytes.to_vec());
        Ok(())
    }
}

impl<'a> Writer<'a> {
    /// Begins the metadata that a plan asks for, of a search that is to halt when nobody wants them any more.
    ///
    /// # Errors
    /// A database that cannot be read, an output that cannot be written.
    pub fn new(
        plan: &'a Plan,
        metadata: &Metadata,
        engine: &'a Search,
        target: &'a Target,
        outside: (Option<&Crossing>, &Arc<dyn Audience>, &Halt),
    ) -> Result<Self, Error> {
        let header = header(plan, metadata, target, content::of(target)?)?;
        let (carrier, resumed) = Carrier::begin(metadata, &header, outside)?;
        let is_sam = plan.report.format == Format::Sam;
        if resumed.is_some() && is_sam && metadata.kinds == Kinds::Only(Kind::Report) {
            return Err(no_sam());
        }
        let (mut resumed, mut passing) = (resumed, None);
        if plan.iteration.is_some()
            && let Some(Resumed(there)) = resumed.take()
        {
            // How searches and matrices are numbered depends on all before.
            let mut again = Passing::new(there, metadata.kinds)?;
            match again.is_last(RecordKind::Header, &header)? {
                true => carrier.verify(),
                false => passing = Some(again),
            }
        }
        let (teller, pages) = (Teller::new(plan, engine, target), Parts::default());
        let chooser =
            Chooser::new(metadata, Seekers { threads: plan.threads.count, groups: 1 }, target);
        let blocks = resumed.as_ref().map_or(0, |Resumed(reached)| reached.blocks);
        let queries = resumed.as_ref().map_or(0, |Resumed(reached)| reached.queries);
        let counted = queries;
        Ok(Writer { teller, chooser, carrier, resumed, passing, blocks, queries, counted, pages })
    }

    /// What the other site holds since an earlier run, and is not made again.
    pub fn resumed(&self) -> Option<&Resumed> {
        self.resumed.as_ref()
    }

    /// Notes that the other site holds metadata of the queries of this search.
    pub fn verify(&self) {
        self.carrier.verify();
    }

    /// Begins a report that is told as it is, or goes on with it.
    pub fn start(&mut self, reporter: &mut Reporter) -> Result<(), Error> {
        match self.chooser.kinds {
            Kinds::Only(Kind::Report) if self.blocks == 0 => reporter.start(&mut self.pages),
            // What comes before the queries is written at the other site.
            _ => {
                reporter.pass_over(self.queries as usize);
                Ok(())
            }
        }
    }

    /// Tells of a block, which `search` has just searched, and how BLAST+ goes on after it.
    pub fn block(
        &mut self,
        block: &Block,
        hits: &[Vec<SubjectHit>],
        (search, course): (&TwoPhases, Course),
        reporter: &mut Reporter,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        let searched = Searched {
            records: &block.records,
            prepared: &block.prepared,
            batches: &block.batches,
            reach_out: Vec::new(),
            hits,
            overflowed: &search.overflowed,
            has_pieces: search.has_pieces,
            course: Some(course),
        };
        let Writer { teller, chooser, carrier, pages, .. } = self;
        chooser.account.link = carrier.seen();
        let mut make = |kind| {
            let (begun, mut format) = (Instant::now(), Duration::ZERO);
            let report = || {
                // It may be that it only is looked at.
                reporter.block(block, &block.searched(), hits, pages, &Nobody)?;
                format = begun.elapsed();
                Ok(pages.take())
            };
            let found = teller.found(kind, &searched, report)?;
            Ok((found, [begun.elapsed(), format]))
        };
        let possible = |kind| teller.possible(kind, &searched) == kind;
        let found = match chooser.kinds {
            Kinds::Only(kind) => chooser.made(teller.possible(kind, &searched), hits, &mut make)?,
            Kinds::Cheapest => {
                chooser.cheapest((self.blocks, hits), search.phases, &possible, &mut make)?
            }
        };
        let kind = found.kind;
        if chooser.kinds == Kinds::Only(Kind::Report) {
            reporter.warn(&block.records, audience);
        }
        let told = body(searched, found)?;
        chooser.account.crossed(kind, told.len());
        self.blocks += 1;
        self.queries += block.records.len() as u64;
        self.counted = self.queries;
        self.record(RecordKind::Block, &told)
    }

    /// Whether the report is told as it is.
    pub fn tells_report(&self) -> bool {
        self.chooser.kinds == Kinds::Only(Kind::Report)
    }

    /// Takes the report of a block that is searched in rounds, piece by piece.
    pub fn pages(&mut self) -> &mut impl Pages {
        &mut self.pages
    }

    /// Tells of such a block, whose [pages](Self::pages) are written.
    ///
    /// # Errors
    /// No memory, an output that cannot be written, a link that failed.
    pub fn rounds_reported(&mut self, block: &Block) -> Result<(), Error> {
        let begun = Instant::now();
        let parts = self.pages.take();
        let reported = parts.len() - 1;
        if reported == 0 {
            // The search ended before any was.
            return Ok(());
        }
        let found = Found::report(&parts).map_err(no_room)?;
        self.in_rounds(&block.records[..reported], found, begun)
    }

    /// Tells of such a block what was found of its queries, up to one that ends the report.
    ///
    /// # Errors
    /// No memory, an output that cannot be written, a link that failed.
    pub fn rounds(
        &mut self,
        block: &Block,
        rules: &Rules,
        queries: Vec<InRounds>,
    ) -> Result<(), Error> {
        let begun = Instant::now();
        let reported = queries.len();
        let searches: usize = queries.iter().map(|query| query.searches.len()).sum();
        let found = found_in_rounds(rules, self.teller.target(), self.counted, queries)?;
        self.counted += searches as u64;
        self.in_rounds(&block.records[..reported], found, begun)
    }

    fn in_rounds(
        &mut self,
        records: &[QueryRecord],
        found: Found,
        begun: Instant,
    ) -> Result<(), Error> {
        let (account, kind) = (&mut self.chooser.account, found.kind);
        let times = [begun.elapsed(), Duration::ZERO];
        account.made(kind, records.len() as f64, found.bytes.len(), times);
        let told = body_in_rounds(records.iter(), found)?;
        account.crossed(kind, told.len());
        self.blocks += 1;
        self.queries += records.len() as u64;
        self.record(RecordKind::Block, &told)
    }

    /// Brings a record on its way, unless the other site has it.
    fn record(&mut self, kind: RecordKind, body: &[u8]) -> Result<(), Error> {
        let Some(passing) = &mut self.passing else { return self.carrier.record(kind, body) };
        if passing.is_last(kind, body)? {
            self.carrier.verify();
            self.passing = None;
        }
        Ok(())
    }

    /// Hears of what ended the other site.
    ///
    /// # Errors
    /// That.
    pub fn check(&mut self) -> Result<(), Error> {
        self.carrier.check()
    }

    /// How it went.
    pub fn account(&self) -> Account {
        Account { link: self.carrier.seen(), ..self.chooser.account.clone() }
    }

    /// Ends the metadata; without a reporter, those of an input that BLAST+ calls empty.
    pub fn finish(
        mut self,
        reporter: Option<&Reporter>,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        if self.resumed.as_ref().is_some_and(|Resumed(reached)| reached.ended) {
            return self.carrier.commit();
        }
        if let (Some(reporter), Kinds::Only(Kind::Report)) = (reporter, self.chooser.kinds) {
            reporter.finish(&mut self.pages, audience)?;
        }
        let counted = match reporter.filter(|_| self.tells_report()) {
            Some(reporter) => reporter.reported() as u64,
            None => self.counted,
        };
        let end = End {
            queries: self.queries,
            blocks: self.blocks,
            counted,
            has_report: reporter.is_some(),
            closing: std::mem::take(&mut self.pages.rest),
        };
        self.record(RecordKind::End, &end.encode().map_err(no_room)?)?;
        self.carrier.commit()
    }
}

/// SAM begins with the references of all lines, which are told in the end.
fn no_sam() -> Error {
    let what = format!(
        "the other site holds a part of this search since an earlier run, but a report in SAM \
         cannot be gone on with: {ANOTHER_RECEIVER}, or use -metadata hits"
    );
    Error::new(exit::INPUT, what)
}

/// Digests of what the search and its report depend on besides queries and database. Whoever goes
/// on with the search must have the same.
fn inputs(plan: &Plan, target: &Target) -> Result<BTreeMap<String, String>, Error> {
    let mut inputs = inputs::loaded(plan);
    inputs.extend(inputs::taxonomy(target)?);
    if let Some(repeats) = Repeats::open(plan)? {
        let mut database = Digest::default();
        database.add(&content::of(repeats.target())?);
        let told = format!("a database with the checksum {:032x}", database.finish());
        inputs.insert("contents of -filtering_db".to_owned(), told);
    }
    Ok(inputs)
}

/// The body of the header; the database holds that.
///
/// # Errors
/// No memory; other files of the search that cannot be read.
pub fn header(
    plan: &Plan,
    metadata: &Metadata,
    target: &Target,
    content: Content,
) -> Result<Vec<u8>, Error> {
    let summary = &target.summary;
    let paragraphs = summary.paragraphs.iter().map(|paragraph| Paragraph {
        title: paragraph.title.clone(),
        date: paragraph.date.clone(),
        masked_using: paragraph.masked_using.clone(),
        sequences: paragraph.sequences,
        residues: paragraph.residues,
    });
    let header = Header {
        program: plan.program.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        options: metadata.options.clone(),
        environment: metadata.environment.clone(),
        command: plan.report.command.clone(),
        inputs: inputs(plan, target)?.into_iter().collect(),
        restriction: plan.restriction.clone(),
        kinds: metadata.kinds,
        hitlist_size: plan.params.common().hitlist_size as u64,
        database: Database {
            label: summary.label.clone(),
            paragraphs: paragraphs.collect(),
            is_subject: summary.is_subject,
            content,
        },
    };
    header.encode().map_err(no_room)
}
