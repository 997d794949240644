//! Loads a whole database without searching it.

use std::time::Instant;

use fleetblast_db::load::{self, LoadPurpose, LoaderRequest, PageKind};
use fleetblast_db::{Database, DbError};

use super::text::rate;

/// Number of partitions: the most that a search of a large database has.
const RANGES: usize = 4096;

/// Loads the files of `database` that a search needs, and returns a line with the rate.
///
/// # Errors
/// Files that cannot be read.
pub fn load_database(database: &Database, wish: LoaderRequest) -> Result<String, DbError> {
    let start = Instant::now();
    let choice = load::choose_loader(database, LoadPurpose::Search, wish)?;
    let supply = choice.supply(database, RANGES)?;
    supply.run_pass(|queue| while queue.next().is_some() {})?;
    let seconds = start.elapsed().as_secs_f64();
    let loaded: u64 = supply.units().iter().map(|unit| unit.partition.byte_count()).sum();
    let read = supply.loader().statistics();
    let pages = supply.loader().page_kind().map_or("the page cache", PageKind::name);
    Ok(format!(
        "{}: {loaded} bytes in {seconds:.3} s ({}); {} bytes read; on {pages}\n",
        choice.method.name(),
        rate(Some(loaded as f64 / seconds)),
        read.read_bytes,
    ))
}
