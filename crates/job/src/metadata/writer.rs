//! Writes metadata instead of a report.

use std::sync::Arc;

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::params::HspFilter;
use fleetblast_engine::search::Search;
use fleetblast_metadata::header::{Database, End, Header, Paragraph};
use fleetblast_metadata::records::RecordKind;
use fleetblast_metadata::subjects::{self, Shown};
use fleetblast_metadata::{Course, Found, Kind, NoRoom, hits};

use super::carrier::{Carrier, Resumed};
use super::content;
use super::judge::Judge;
use super::queries::told;
use crate::alone::{Reporter, TwoPhases};
use crate::audience::Audience;
use crate::error::Error;
use crate::output::Pages;
use crate::plan::{Metadata, Plan};
use crate::queries::Block;
use crate::subjects::Target;

/// Writes the metadata of a search.
pub struct Writer<'a> {
    plan: &'a Plan,
    kind: Kind,
    engine: &'a Search,
    target: &'a Target,
    carrier: Carrier,
    /// What the other site holds since an earlier run.
    resumed: Option<Resumed>,
    blocks: u64,
    queries: u64,
    /// What is told of the report before the next block.
    pages: Parts,
}

/// A piece of a report by its parts.
#[derive(Default)]
struct Parts {
    /// What is not of a query.
    rest: Vec<u8>,
    queries: Vec<Vec<u8>>,
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
    /// Begins the metadata that a plan asks for.
    ///
    /// # Errors
    /// A database that cannot be read, an output that cannot be written.
    pub fn new(
        plan: &'a Plan,
        metadata: &Metadata,
        engine: &'a Search,
        target: &'a Target,
        audience: &Arc<dyn Audience>,
    ) -> Result<Self, Error> {
        let header = header(plan, metadata, target)?.encode().map_err(no_room)?;
        let (carrier, resumed) = Carrier::begin(&metadata.out, &header, audience)?;
        let (kind, pages) = (metadata.kind, Parts::default());
        let blocks = resumed.as_ref().map_or(0, |Resumed(reached)| reached.blocks);
        let queries = resumed.as_ref().map_or(0, |Resumed(reached)| reached.queries);
        Ok(Writer { plan, kind, engine, target, carrier, resumed, blocks, queries, pages })
    }

    /// What the other site holds since an earlier run.
    pub fn resumed(&self) -> Option<&Resumed> {
        self.resumed.as_ref()
    }

    /// Begins a report that is told as it is.
    pub fn start(&mut self, reporter: &Reporter) -> Result<(), Error> {
        match self.kind {
            Kind::Report if self.blocks == 0 => reporter.start(&mut self.pages),
            _ => Ok(()),
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
        let found = match self.kind {
            Kind::Report => {
                reporter.block(block, &block.searched(), hits, &mut self.pages, audience)?;
                let Parts { rest, queries } = std::mem::take(&mut self.pages);
                Found::report(&[vec![rest], queries].concat()).map_err(no_room)?
            }
            Kind::Oids if self.can_be_found_again(search) => {
                let shown: Vec<Shown> = hits.iter().zip(&search.overflowed).map(shown).collect();
                let bytes = subjects::encode(&shown).map_err(no_room)?;
                Found { kind: Kind::Oids, bytes, digest: hits::digest(hits) }
            }
            Kind::Oids | Kind::Hits => {
                let judge = Judge::new(self.engine, &block.prepared, self.target);
                let bytes = hits::encode(hits, &judge).map_err(no_room)?;
                Found { kind: Kind::Hits, bytes, digest: hits::digest(hits) }
            }
        };
        let queries = block.records.iter().map(told).collect();
        let batches = block.batches.iter().map(|&count| count as u32).collect();
        let told = fleetblast_metadata::Block { queries, batches, course, found };
        self.blocks += 1;
        self.queries += block.records.len() as u64;
        self.record(RecordKind::Block, told.encode())
    }

    /// Whether a search of just what the report shows finds the same of it. Where a filter looks at all subjects of a query
    /// together, or its pieces have lists of their own, what is not shown may have its part in what is.
    fn can_be_found_again(&self, search: &TwoPhases) -> bool {
        self.plan.params.common().filter == HspFilter::Collect && !search.has_pieces
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
        if let (Some(reporter), Kind::Report) = (reporter, self.kind) {
            reporter.finish(&mut self.pages, audience)?;
        }
        let end = End {
            queries: self.queries,
            blocks: self.blocks,
            has_report: reporter.is_some(),
            closing: std::mem::take(&mut self.pages.rest),
        };
        self.record(RecordKind::End, end.encode())?;
        self.carrier.commit()
    }

    fn record(&mut self, kind: RecordKind, body: Result<Vec<u8>, NoRoom>) -> Result<(), Error> {
        self.carrier.record(kind, &body.map_err(no_room)?)
    }
}

fn no_room(error: NoRoom) -> Error {
    Error::starved(error)
}

/// What is shown of a query.
fn shown((hits, &overflowed): (&Vec<SubjectHit>, &bool)) -> Shown {
    let mut oids: Vec<u32> = hits.iter().map(|hit| hit.oid).collect();
    oids.sort_unstable();
    Shown { oids, overflowed }
}

fn header(plan: &Plan, metadata: &Metadata, target: &Target) -> Result<Header, Error> {
    let summary = &target.summary;
    let paragraphs = summary.paragraphs.iter().map(|paragraph| Paragraph {
        title: paragraph.title.clone(),
        date: paragraph.date.clone(),
        masked_using: paragraph.masked_using.clone(),
        sequences: paragraph.sequences,
        residues: paragraph.residues,
    });
    Ok(Header {
        program: plan.program.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        options: metadata.options.clone(),
        environment: metadata.environment.clone(),
        command: plan.report.command.clone(),
        restriction: plan.restriction.clone(),
        kind: metadata.kind,
        hitlist_size: plan.params.common().hitlist_size as u64,
        database: Database {
            label: summary.label.clone(),
            paragraphs: paragraphs.collect(),
            is_subject: summary.is_subject,
            content: content::of(target)?,
        },
    })
}
