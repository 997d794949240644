//! `fleetblast receive`: makes the report of a search that runs at another site.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fleetblast_job::audience::Audience;
use fleetblast_job::error::{Error, exit};
use fleetblast_job::metadata::{ReceiveRequest, receive};
use fleetblast_job::plan::Destination;

use crate::expand;
use crate::messages::complain;
use crate::options::parse::GivenOptions;
use crate::options::receive::{self as options, METADATA, ReceiveOptions};
use crate::plan::{input, link};
use crate::terminal::{Progress, ProgressMode};
use crate::threads;

/// Suffix of the file for received metadata, after the name of the report.
const SUFFIX: &str = ".fbm";

/// Warns if there is a file under the report's name, but no kept metadata. An earlier run may have
/// completed it, and this one would silently wait for another search.
fn note_earlier_report(report: &Path, spool: &Path) {
    let size = |path| fs::metadata(path).map_or(0, |it| if it.is_file() { it.len() } else { 0 });
    if size(report) > 0 && size(spool) == 0 {
        complain(&format!(
            "Warning: [receive] {} exists already, and nothing of another search is kept in \
             {}. This waits for another search, whose report takes its place; if that is the \
             report wanted, end this (Ctrl-C)",
            report.display(),
            spool.display()
        ));
    }
}

/// Runs `fleetblast receive`.
///
/// # Errors
/// See [`fleetblast_job::metadata::receive()`]; options that do not agree with those of the search.
pub fn run(given: &GivenOptions) -> Result<(), Error> {
    if fleetblast_mpi::launched().is_some_and(|launch| launch.ranks > 1) {
        return Err(Error::new(
            exit::INPUT,
            "fleetblast receive is one process: start it without mpirun",
        ));
    }
    let typed = ReceiveOptions::new(given);
    let out = input::destination(options::OUT.name(), &typed.expand.out)?;
    let spool = match (&typed.metadata, &out) {
        (Some(file), _) => file.clone(),
        // A device or a pipe has no directory for such a file.
        (None, Destination::File(report))
            if fs::metadata(report).map_or(true, |it| it.is_file()) =>
        {
            let mut name = OsString::from(report);
            name.push(SUFFIX);
            name
        }
        (None, _) => {
            return Err(Error::query_options(format_args!(
                "a report that is not written to a file needs -{}: a file for the received metadata",
                METADATA.name()
            )));
        }
    };
    let spool = PathBuf::from(spool);
    let kept = Destination::File(spool.clone());
    input::refuse_same_file((options::OUT.name(), &out), (METADATA.name(), &kept))?;
    let keep = typed.metadata.is_some();
    let threads = threads::for_process(typed.expand.num_threads)?.count;
    let memory = expand::record_memory(&typed.expand)?;
    if let Destination::File(report) = &out {
        note_earlier_report(report, &spool);
    }
    let request = ReceiveRequest { link: link(&typed.link)?, spool, keep, threads, memory };
    let progress = Progress::new("receive", ProgressMode::Auto, out == Destination::Stdout);
    let audience: Arc<dyn Audience> = Arc::new(progress);
    let made = receive(&request, &audience, |opened| {
        expand::write_report(opened, out, (&typed.expand, given), &*audience)
    });
    made.inspect_err(|_| audience.abort())
}
