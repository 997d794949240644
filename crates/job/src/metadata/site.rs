//! What a site that makes reports has of the search.

use fleetblast_db::SequenceKind;
use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::query::Query;
use fleetblast_engine::search::Search;
use fleetblast_metadata::header::Database;
use fleetblast_metadata::{Found, Header, Kind, hits, subjects};
use fleetblast_report::model::{DatabaseParagraph, DatabaseSummary};
use fleetblast_seq::alphabet;
use rayon::prelude::*;

use super::content;
use super::judge::Judge;
use super::rounds::{self, Wrong};
use crate::audience::Audience;
use crate::error::Error;
use crate::iteration::RoundReports;
use crate::iteration::Rules;
use crate::output::Pages;
use crate::plan::Plan;
use crate::queries::{Block, QueryRecord};
use crate::reports::Reporter;
use crate::search::TwoPhases;
use crate::subjects::Target;
use crate::trace::Recorder;

/// The database that was searched, and what searches and formats here.
pub struct Site<'a> {
    again: TwoPhases<'a>,
    /// Makes the report.
    pub reporter: Reporter<'a>,
    engine: &'a Search,
    /// How queries are searched in rounds, if they are, and how far these are reported.
    rounds: Option<(Rules<'a>, RoundReports)>,
    target: &'a Target,
    /// Codes that letters of queries may be.
    codes: u8,
}

/// Opens the database that was searched for `searched`, if it is the same here, and runs what needs the site.
///
/// # Errors
/// Another database, or one that cannot be read; whatever ends `run`.
pub fn at_site<T>(
    plan: &Plan,
    header: &Header,
    searched: &str,
    audience: &dyn Audience,
    run: impl FnOnce(Site) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut target = Target::open(plan, audience)?;
    check(&header.database, searched, &target)?;
    target.summary = summary(&header.database, plan.subject_kind);
    let engine = plan.engine(target.totals);
    let next = plan.iteration.as_ref().map(|it| it.engine(target.totals, plan.kernel));
    let rounds =
        Rules::of(plan, &engine, next.as_ref()).map(|rules| (rules, RoundReports::default()));
    let recorder = Recorder::default();
    let again = TwoPhases::new(&target, &engine, plan, audience, recorder.clone())?;
    let reporter = Reporter::new(plan, &target, recorder);
    let codes = match plan.query_kind {
        SequenceKind::Protein => alphabet::SIZE as u8,
        _ => BLASTNA_CODES,
    };
    run(Site { again, reporter, engine: &engine, rounds, target: &target, codes })
}

/// Holds that the database here is the one that was searched.
fn check(database: &Database, searched: &str, target: &Target) -> Result<(), Error> {
    let Some(difference) = content::difference(&database.content, &content::of(target)?) else {
        return Ok(());
    };
    Err(Error::database(format_args!(
        "{} is not the database that was searched {searched} ({}): {difference}",
        String::from_utf8_lossy(&target.summary.label),
        String::from_utf8_lossy(&database.label),
    )))
}

/// What reports say of the database that was searched.
fn summary(database: &Database, kind: SequenceKind) -> DatabaseSummary {
    let paragraphs = database.paragraphs.iter().map(|paragraph| DatabaseParagraph {
        title: paragraph.title.clone(),
        date: paragraph.date.clone(),
        masked_using: paragraph.masked_using.clone(),
        sequences: paragraph.sequences,
        residues: paragraph.residues,
    });
    DatabaseSummary {
        kind,
        label: database.label.clone(),
        paragraphs: paragraphs.collect(),
        is_subject: database.is_subject,
    }
}

impl Site<'_> {
    /// Whether the letters of queries are some.
    pub fn has_letters(&self, records: &[QueryRecord]) -> bool {
        let is_letter = |&letter: &u8| letter < self.codes;
        records.iter().all(|record| record.record.residues.iter().all(is_letter))
    }

    /// A query as it is searched.
    pub fn prepare(&self, record: &QueryRecord) -> Query {
        record.prepare(self.engine)
    }

    /// The same of some, on all threads of the current pool.
    pub fn prepare_all(&self, records: &[QueryRecord]) -> Vec<Query> {
        records.par_iter().map(|record| self.prepare(record)).collect()
    }

    /// The hits of a block, which are those that were found.
    ///
    /// # Errors
    /// What cannot be read, or is not found here, by `unlike`.
    pub fn hits(
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

    /// Whether queries are searched in rounds.
    pub fn is_in_rounds(&self) -> bool {
        self.rounds.is_some()
    }

    /// Reports the queries that are wanted of a block that was searched in rounds.
    ///
    /// # Errors
    /// What cannot be read, or was not found so, by `unlike`; a report of another format that would need other searches; one that
    /// cannot be made or written.
    pub fn report_rounds(
        &mut self,
        (records, wanted): (&[QueryRecord], &[bool]),
        found: &Found,
        unlike: &dyn Fn(&'static str) -> Error,
        output: &mut impl Pages,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        let prepared = self.prepare_all(records);
        let Site { rounds, target, reporter, .. } = self;
        let Some((rules, reports)) = rounds else { return Err(unlike(NO_HITS)) };
        audience.open(0, records.len() as u64);
        let queries = records.iter().zip(&prepared).collect();
        let (before, heard) =
            rounds::heard(rules, target, queries, found).map_err(|wrong| match wrong {
                Wrong::Unread => unlike(NO_HITS),
                Wrong::Other => unlike(OTHER_HITS),
                Wrong::OtherFormat => Error::query_options(OTHER_FORMAT),
            })?;
        reports.go_on(before);
        for (((record, query), in_rounds), &wanted) in
            records.iter().zip(&prepared).zip(heard).zip(wanted)
        {
            if !wanted {
                reports.pass_over(in_rounds.searches.len() as u64);
                continue;
            }
            let place = (&mut *reporter, &mut *output);
            reports.query(rules, (record, query), in_rounds, place, audience, |_| Ok(()))?;
        }
        audience.close(0);
        Ok(())
    }

    /// Tells of headers in the database that are odd.
    pub fn tell_of_odd_headers(&self, audience: &dyn Audience) {
        self.target.odd_headers().iter().for_each(|odd| audience.warn(&odd.to_string()));
    }
}

const OTHER_FORMAT: &str = "the search found more subjects than are shown, and XML makes the next matrix of those that are shown, other formats \
    of all: choose XML (-outfmt 5) here if it was chosen for the search, and only then, or another -max_target_seqs there";
/// Codes of blastna.
const BLASTNA_CODES: u8 = 16;
const NO_HITS: &str = "what was found of a block of queries cannot be read";
const OTHER_HITS: &str = "what was found of a block of queries is not found here: another build of FleetBLAST, or other \
    arithmetic";
