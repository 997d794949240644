//! What of queries is like the sequences of a database of repeats, and is masked in them (`-filtering_db`,
//! `Blast_FindRepeatFilterLoc`, repeats_filter_cxx.cpp).

use fleetblast_engine::hits::{Alignment, SubjectHit};
use fleetblast_engine::query::{Query, QueryInput};
use fleetblast_engine::search::Search;
use rayon::prelude::*;

use super::TwoPhases;
use crate::audience::Nobody;
use crate::error::Error;
use crate::plan::{Plan, Report, Subjects};
use crate::queries::{QueryRecord, Records};
use crate::subjects::Target;
use crate::trace::Recorder;

/// A database of repeats.
pub struct Repeats {
    plan: Plan,
    target: Target,
    engine: Search,
}

impl Repeats {
    /// Opens the database, if queries are to be masked by one.
    ///
    /// # Errors
    /// A database that cannot be opened.
    pub fn open(plan: &Plan) -> Result<Option<Self>, Error> {
        let search = plan.params.repeat_search().map_err(Error::engine)?;
        let Some((name, params)) = search else { return Ok(None) };
        if plan.refusal.is_some() {
            // Nothing is searched then.
            return Ok(None);
        }
        let plan = Plan {
            params,
            subjects: Subjects::Database(name.to_owned()),
            restriction: None,
            database_mask: None,
            dbsize: None,
            partitions: None,
            // No names of taxa are asked for.
            report: Report { columns: String::new(), ..plan.report.clone() },
            ..plan.clone()
        };
        let target = Target::open(&plan, &Nobody)?;
        let engine = plan.engine(target.totals);
        Ok(Some(Self { plan, target, engine }))
    }

    /// The database.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Prepares to look for them.
    ///
    /// # Errors
    /// A database that cannot be loaded.
    pub fn finder(&self) -> Result<RepeatFinder<'_>, Error> {
        let Self { plan, target, engine } = self;
        let search = TwoPhases::new(target, engine, plan, &Nobody, Recorder::default())?;
        Ok(RepeatFinder { engine, search })
    }
}

/// Looks for repeats in queries.
pub struct RepeatFinder<'a> {
    engine: &'a Search,
    search: TwoPhases<'a>,
}

impl RepeatFinder<'_> {
    /// Notes in each query what of it is like a repeat.
    ///
    /// # Errors
    /// A damaged database.
    pub fn mark(&mut self, queries: &mut Records) -> Result<(), Error> {
        // Lower case is no mask here.
        let bare = |record: &QueryRecord| QueryInput { lower_case: Vec::new(), ..record.input() };
        let records = queries.records.par_iter();
        let prepared: Vec<Query> = records.map(|r| self.engine.query(&bare(r))).collect();
        let hits = self.search.run(&prepared, &queries.batches)?;
        for ((record, query), hits) in queries.records.iter_mut().zip(&prepared).zip(&hits) {
            let alignments = hits.iter().flat_map(|hit: &SubjectHit| &hit.alignments);
            record.repeats = alignments.map(|found| on_plus_strand(found, query.length)).collect();
        }
        Ok(())
    }
}

/// What an alignment covers of a query, as the plus strand counts.
fn on_plus_strand(found: &Alignment, length: u32) -> std::ops::Range<u32> {
    match found.context {
        0 => found.query.clone(),
        _ => length - found.query.end..length - found.query.start,
    }
}
