//! `fleetblast report`: makes a page from the `-trace` of a search on many ranks that shows where
//! the time went.

mod charts;
mod figures;
mod page;
mod svg;
pub(crate) mod text;
mod verdict;

use std::fs;
use std::path::PathBuf;

use fleetblast_job::error::Error;
use fleetblast_job::standard::print;
use fleetblast_job::trace::Timeline;

use self::figures::Figures;
use crate::options::parse::GivenOptions;
use crate::options::report::ReportOptions;

/// Runs `fleetblast report`.
///
/// # Errors
/// A trace that cannot be read, a page that cannot be written.
pub fn run(given: &GivenOptions) -> Result<(), Error> {
    let options = ReportOptions::new(given);
    let trace = PathBuf::from(options.trace);
    let out = match options.out {
        Some(out) => PathBuf::from(out),
        None => trace.with_extension("html"),
    };
    let timeline = Timeline::read(&trace)?;
    let page = page::page(&Figures::new(&timeline));
    if out.as_os_str() == "-" {
        return print(&page);
    }
    fs::write(&out, page)
        .map_err(|error| Error::output(format_args!("{}: {error}", out.display())))?;
    print(&format!("{}: open it in a browser\n", out.display()))
}
