//! The results of a search: a report, the metadata from which another site makes it, or values.

use std::sync::Arc;

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::search::Search;
use fleetblast_metadata::BatchState;

use super::iterated::Rounds;
use crate::audience::Audience;
use crate::cost::Account;
use crate::crossing::IoChannel;
use crate::error::Error;
use crate::halt::Halt;
use crate::hits::Visitor;
use crate::iteration::Rules;
use crate::metadata::{MetadataWriter, Resumed, other_queries};
use crate::output::Output;
use crate::plan::Plan;
use crate::queries::Block;
use crate::reports::Reporter;
use crate::search::TwoPhases;
use crate::subjects::Target;
use crate::trace::Recorder;

/// Who gets the results of a search.
pub enum Receiver<'a> {
    /// The files of the plan. Metadata for I/O ranks of the same job take this way.
    Files(Option<&'a IoChannel>),
    /// A program, query by query.
    Visitor(Box<Visitor<'a>>),
}

/// Where what is found goes.
pub struct Outlet<'a> {
    reporter: Reporter<'a>,
    way: Way<'a>,
}

enum Way<'a> {
    Report(Output),
    Metadata(Box<MetadataWriter<'a>>),
    Visitor(Box<Visitor<'a>>),
}

impl<'a> Outlet<'a> {
    /// Begins what a plan asks for, of a search that is to halt when nobody wants it any more.
    ///
    /// # Errors
    /// Outputs that cannot be written; for metadata, a database that cannot be read.
    pub fn open(
        plan: &'a Plan,
        engine: &'a Search,
        target: &'a Target,
        recorder: Recorder,
        (receiver, audience, halt): (Receiver<'a>, &Arc<dyn Audience>, &Halt),
    ) -> Result<Self, Error> {
        let mut reporter = Reporter::new(plan, target, recorder);
        let way = match (receiver, &plan.metadata) {
            (Receiver::Visitor(visitor), _) => Way::Visitor(visitor),
            (Receiver::Files(_), None) => {
                let mut output = Output::open(&plan.out)?;
                reporter.start(&mut output)?;
                Way::Report(output)
            }
            (Receiver::Files(crossing), Some(metadata)) => {
                let mut writer = MetadataWriter::new(
                    plan,
                    metadata,
                    engine,
                    target,
                    (crossing, audience, halt),
                )?;
                writer.start(&mut reporter)?;
                Way::Metadata(Box::new(writer))
            }
        };
        Ok(Outlet { reporter, way })
    }

    /// All there is of an input without queries.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub fn empty(
        plan: &'a Plan,
        engine: &'a Search,
        target: &'a Target,
        (crossing, audience): (Option<&IoChannel>, &Arc<dyn Audience>),
    ) -> Result<(), Error> {
        let Some(metadata) = &plan.metadata else { return Output::open(&plan.out)?.commit() };
        let halt = Halt::default();
        let writer =
            MetadataWriter::new(plan, metadata, engine, target, (crossing, audience, &halt))?;
        if let Some(Resumed(reached)) = writer.resumed()
            && reached.queries > 0
        {
            return Err(other_queries());
        }
        writer.finish(None, &**audience)
    }

    /// What of the search another site holds since an earlier run.
    pub fn resumed(&self) -> Option<&Resumed> {
        match &self.way {
            Way::Report(_) | Way::Visitor(_) => None,
            Way::Metadata(writer) => writer.resumed(),
        }
    }

    /// Notes that the other site holds metadata of the queries of this search.
    pub fn verify(&self) {
        match &self.way {
            Way::Report(_) | Way::Visitor(_) => {}
            Way::Metadata(writer) => writer.verify(),
        }
    }

    /// Hears of what ended the other site.
    ///
    /// # Errors
    /// That.
    pub fn check(&mut self) -> Result<(), Error> {
        match &mut self.way {
            Way::Report(_) | Way::Visitor(_) => Ok(()),
            Way::Metadata(writer) => writer.check(),
        }
    }

    /// Tells of a block, which `search` has just searched, and how BLAST+ goes on after it.
    pub fn block(
        &mut self,
        block: &Block,
        hits: &[Vec<SubjectHit>],
        (search, course): (&TwoPhases, BatchState),
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        match &mut self.way {
            Way::Report(output) => {
                self.reporter.block(block, &block.searched(), hits, output, audience)?;
                output.pass_on()
            }
            Way::Metadata(writer) => {
                writer.block(block, hits, (search, course), &mut self.reporter, audience)
            }
            Way::Visitor(visitor) => self.reporter.visit(block, hits, &mut **visitor),
        }
    }

    /// Has a block of queries searched in rounds, which report piece by piece, and tells of it.
    ///
    /// # Errors
    /// See [`Rounds::block`]; what ended the other site.
    pub fn rounds(
        &mut self,
        block: &Block,
        rounds: &mut Rounds<'a>,
        search: &mut TwoPhases<'a>,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        let reporter = &mut self.reporter;
        let writer = match &mut self.way {
            Way::Report(output) => {
                rounds.block(block, search, (reporter, output), audience)?;
                return output.pass_on();
            }
            Way::Metadata(writer) => writer,
            // A fault of the program: such plans were refused.
            Way::Visitor(_) => return Err(Error::engine("iterated searches have no visitor")),
        };
        let searched = match writer.sends_report() {
            true => {
                let searched = rounds.block(block, search, (reporter, writer.pages()), audience);
                writer.iterated_report(block).and(searched)
            }
            false => {
                let tell = |rules: &Rules, found| writer.iterations(block, rules, found);
                rounds.block_told(block, search, tell, audience)
            }
        };
        // If that halted it, this is why.
        writer.check().and(searched)
    }

    /// Writes what is left of a report whose next query cannot be read.
    ///
    /// # Errors
    /// Output that cannot be written.
    pub fn end_early(&mut self) -> Result<(), Error> {
        match &mut self.way {
            Way::Report(output) => self.reporter.end_early(output),
            Way::Metadata(_) | Way::Visitor(_) => Ok(()),
        }
    }

    /// Ends it; tells how metadata went.
    pub fn finish(self, audience: &dyn Audience) -> Result<Option<Account>, Error> {
        match self.way {
            Way::Report(mut output) => {
                self.reporter.finish(&mut output, audience)?;
                output.commit()?;
                Ok(None)
            }
            Way::Metadata(writer) => {
                let account = writer.account();
                writer.finish(Some(&self.reporter), audience)?;
                Ok(Some(account))
            }
            Way::Visitor(_) => Ok(None),
        }
    }
}
