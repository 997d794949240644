//! How often a pattern occurs in what is searched, on which all e-values depend: known before the search.

use fleetblast_engine::search::Search;
use rayon::prelude::*;

use crate::error::Error;
use crate::plan::Plan;
use crate::scan::RANGES_PER_THREAD;
use crate::subjects::Target;

/// The search of the plan; if it is one for a pattern, one that knows how often that occurs.
///
/// # Errors
/// A damaged database.
pub fn counted(plan: &Plan, target: &Target) -> Result<Search, Error> {
    let engine = plan.engine(target.totals);
    let Some(pattern) = plan.params.pattern() else { return Ok(engine) };
    let database = &target.searched;
    let ranges = database.partitions(RANGES_PER_THREAD * rayon::current_num_threads());
    let count = |range: std::ops::Range<u32>| {
        database.validate(range.clone())?;
        let of = |oid| pattern.occurrences(database.residues_of(oid)).len() as u64;
        Ok(database.oids_in(range).into_iter().flatten().map(of).sum::<u64>())
    };
    let counts = ranges.into_par_iter().map(count).collect::<Result<Vec<u64>, Error>>()?;
    Ok(engine.with_occurrences(counts.into_iter().sum()))
}
