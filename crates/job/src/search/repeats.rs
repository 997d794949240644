//! Masks the parts of queries that match a database of repeats (`-filtering_db`,
//! `Blast_FindRepeatFilterLoc`, repeats_filter_cxx.cpp).

use fleetblast_engine::hits::{Alignment, SubjectHit};
use fleetblast_engine::query::{Query, QueryInput};
use fleetblast_engine::search::Search;
use rayon::prelude::*;

use super::TwoPhaseSearch;
use crate::audience::SilentAudience;
use crate::error::Error;
use crate::plan::{Plan, Report, Subjects};
use crate::queries::{QueryRecord, RawBlock};
use crate::subjects::SubjectDatabase;
use crate::trace::Recorder;

/// An opened database of repeats, and the search in it.
pub struct Repeats {
    plan: Plan,
    subjects: SubjectDatabase,
    engine: Search,
}

impl Repeats {
    /// Opens the database of repeats, if the plan names one.
    ///
    /// # Errors
    /// A database that cannot be opened.
    pub fn open(plan: &Plan) -> Result<Option<Self>, Error> {
        let search = plan.params.repeat_search().map_err(Error::engine)?;
        let Some((name, params)) = search else { return Ok(None) };
        if plan.delayed_option_error.is_some() {
            // A plan that BLAST+ refuses searches nothing.
            return Ok(None);
        }
        let plan = Plan {
            params,
            subjects: Subjects::Database(name.to_owned()),
            restriction: None,
            database_mask: None,
            dbsize: None,
            partitions: None,
            // The search for repeats needs no names of taxa.
            report: Report { columns: String::new(), ..plan.report.clone() },
            ..plan.clone()
        };
        let subjects = SubjectDatabase::open(&plan, &SilentAudience)?;
        let engine = plan.engine(subjects.totals);
        Ok(Some(Self { plan, subjects, engine }))
    }

    /// Returns the database of repeats.
    pub fn subjects(&self) -> &SubjectDatabase {
        &self.subjects
    }

    /// Prepares the search for repeats.
    ///
    /// # Errors
    /// A database that cannot be loaded.
    pub fn finder(&self) -> Result<RepeatFinder<'_>, Error> {
        let Self { plan, subjects, engine } = self;
        let search =
            TwoPhaseSearch::new(subjects, engine, plan, &SilentAudience, Recorder::default())?;
        Ok(RepeatFinder { engine, search })
    }
}

/// Searches the database of repeats for matches of queries.
pub struct RepeatFinder<'a> {
    engine: &'a Search,
    search: TwoPhaseSearch<'a>,
}

impl RepeatFinder<'_> {
    /// Stores with each query the ranges of the query that match repeats.
    ///
    /// # Errors
    /// A damaged database.
    pub fn mask_repeats(&mut self, queries: &mut RawBlock) -> Result<(), Error> {
        // This search does not mask lower case.
        let bare = |record: &QueryRecord| QueryInput { lower_case: Vec::new(), ..record.input() };
        let records = queries.records.par_iter();
        let prepared: Vec<Query> = records.map(|r| self.engine.query(&bare(r))).collect();
        let hits = self.search.search_block(&prepared, &queries.batches)?;
        for ((record, query), hits) in queries.records.iter_mut().zip(&prepared).zip(&hits) {
            let alignments = hits.iter().flat_map(|hit: &SubjectHit| &hit.alignments);
            record.repeats = alignments.map(|found| on_plus_strand(found, query.length)).collect();
        }
        Ok(())
    }
}

/// Returns the query range of an alignment, in coordinates of the plus strand.
fn on_plus_strand(found: &Alignment, length: u32) -> std::ops::Range<u32> {
    match found.context {
        0 => found.query.clone(),
        _ => length - found.query.end..length - found.query.start,
    }
}
