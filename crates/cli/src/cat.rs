//! `fleetblast cat`: joins the records of a search with `-output records` to one report.

use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use fleetblast_job::error::Error;
use fleetblast_job::plan::Destination;
use fleetblast_job::records::{self, ReportSelection};

use crate::options::cat::{CatOptions, OUT};
use crate::options::parse::GivenOptions;
use crate::plan::input::destination;
use crate::terminal::{Progress, ProgressMode};

/// Runs `fleetblast cat`.
///
/// # Errors
/// Missing or damaged records; an output that cannot be written.
pub fn run(given: &GivenOptions) -> Result<(), Error> {
    let options = CatOptions::new(given);
    let wanted = match options.query {
        Some(name) => ReportSelection::Query(name.into_vec()),
        None if options.partial => ReportSelection::Partial,
        None => ReportSelection::Whole,
    };
    let out = destination(OUT.name(), &options.out)?;
    let audience = Progress::new("cat", ProgressMode::No, out == Destination::Stdout);
    records::write_report(Path::new(&options.records), &wanted, &out, &audience)
}
