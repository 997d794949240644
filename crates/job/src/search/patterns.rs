//! Counts the occurrences of a PHI-BLAST pattern in the database. All e-values depend on their
//! number.

use std::ops::Range;

use rayon::prelude::*;

use super::RANGES_PER_THREAD;
use crate::error::Error;
use crate::plan::Plan;
use crate::subjects::SubjectDatabase;

/// Counts the occurrences of the plan's pattern in the subjects `oids`; 0 without a pattern. Uses
/// all threads of the current pool.
///
/// # Errors
/// A damaged database.
pub fn count_occurrences(
    plan: &Plan,
    subjects: &SubjectDatabase,
    oids: Range<u32>,
) -> Result<u64, Error> {
    let Some(pattern) = plan.params.pattern() else { return Ok(0) };
    let database = &subjects.searched;
    let ranges = RANGES_PER_THREAD * rayon::current_num_threads();
    let ranges = database.partitions_within(oids, ranges);
    let count = |range: Range<u32>| {
        database.validate(range.clone())?;
        let of = |oid| pattern.occurrences(database.residues_of(oid)).len() as u64;
        Ok(database.included_oids_in(range).into_iter().flatten().map(of).sum::<u64>())
    };
    let counts = ranges.into_par_iter().map(count).collect::<Result<Vec<u64>, Error>>()?;
    Ok(counts.into_iter().sum())
}
