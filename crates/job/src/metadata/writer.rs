//! Writes metadata instead of a report.

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::params::HspFilter;
use fleetblast_engine::search::Search;
use fleetblast_metadata::header::{Database, End, Header, Paragraph};
use fleetblast_metadata::records::{Chain, RecordKind};
use fleetblast_metadata::subjects::{self, Shown};
use fleetblast_metadata::{Found, Kind, NoRoom, hits};

use super::content;
use super::judge::Judge;
use super::queries::told;
use crate::alone::{Reporter, TwoPhases};
use crate::audience::Audience;
use crate::error::Error;
use crate::output::{Output, Pages};
use crate::plan::{Metadata, Plan};
use crate::queries::Block;
use crate::subjects::Target;

/// Writes the metadata of a search.
pub struct Writer<'a> {
    plan: &'a Plan,
    kind: Kind,
    engine: &'a Search,
    target: &'a Target,
    output: Output,
    chain: Chain,
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
    ) -> Result<Self, Error> {
        let mut output = Output::open(&metadata.out)?;
        output.write(&Chain::start())?;
        let (kind, pages) = (metadata.kind, Parts::default());
        let chain = Chain::default();
        let mut writer =
            Writer { plan, kind, engine, target, output, chain, blocks: 0, queries: 0, pages };
        let header = header(plan, metadata, target)?;
        writer.record(RecordKind::Header, header.encode())?;
        Ok(writer)
    }

    /// Begins a report that is told as it is.
    pub fn start(&mut self, reporter: &Reporter) -> Result<(), Error> {
        match self.kind {
            Kind::Report => reporter.start(&mut self.pages),
            Kind::Oids | Kind::Hits => Ok(()),
        }
    }

    /// Tells of a block, which `search` has just searched.
    pub fn block(
        &mut self,
        block: &Block,
        hits: &[Vec<SubjectHit>],
        search: &TwoPhases,
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
        let told = fleetblast_metadata::Block { queries, batches, found };
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
        self.output.commit()
    }

    fn record(&mut self, kind: RecordKind, body: Result<Vec<u8>, NoRoom>) -> Result<(), Error> {
        let body = body.map_err(no_room)?;
        self.output.write(&self.chain.record(kind, &body))
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
