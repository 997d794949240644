//! `blastdbcheck`: tests databases as BLAST+ does, by default a random sample of their sequences.
//!
//! Output and exit codes are those of BLAST+ (`blastdbcheck.cpp`). Unlike
//! [`dbcheck`](crate::dbcheck) it reads only the tested sequences. It calls every database faulty
//! if the search path has no names of taxa.

mod aliases;
mod log;
mod metadata;
mod options;
mod sequences;
mod targets;
mod volume;
mod volume_checks;

use fleetblast_job::error::{Error, exit};

use self::aliases::check_alias;
use self::log::Log;
use self::options::{Level, Options, Target};
use self::targets::{CheckTarget, Targets};
use self::volume_checks::VolumeChecks;
use crate::options::compat::search_path;
use crate::options::parse::GivenOptions;

/// Runs `blastdbcheck`.
///
/// # Errors
/// A message and BLAST+'s exit code. The message is empty if the output states the faults.
pub fn run(given: &GivenOptions) -> Result<(), Error> {
    let options = Options::new(given)?;
    let mut log = Log::open(&options)?;
    let is_sound = check(&options, &mut log)?;
    log.commit()?;
    if is_sound { Ok(()) } else { Err(Error::silent(exit::INPUT)) }
}

/// Runs the tests that the options request. Returns true if there is a database to test, and no
/// test found a fault.
fn check(options: &Options, log: &mut Log) -> Result<bool, Error> {
    describe_output(options, log)?;
    let Some(target) = &options.target else {
        log.line(Level::Brief, "error: Must specify exactly one of -dir or -db.")?;
        return Ok(false);
    };
    describe_tests(options, log)?;
    let search = search_path(options.release)?;
    let targets = Targets::find(target, options.kind, &search, log)?;
    let mut checks = VolumeChecks::new(options, &search);
    // In the result of a directory BLAST+ writes another word.
    let closing = match target {
        Target::Databases(_) => "volume(s)",
        Target::Directory { .. } => "volumes",
    };
    let words = ("volume(s)", closing);
    let volumes = check_all(&targets.volumes, words, log, |volume, log| checks.check(volume, log))?;
    let words = ("alias(es)", "alias(es)");
    let aliases = check_all(&targets.aliases, words, log, |alias, log| {
        check_alias(&alias.path, &search, log)
    })?;
    let faults = targets.faults + volumes + aliases;
    if faults > 0 {
        log.line(Level::Brief, format!("\nTotal errors: {faults}"))?;
    }
    Ok(faults == 0)
}

fn describe_output(options: &Options, log: &mut Log) -> Result<(), Error> {
    let place = match &options.logfile {
        Some(path) => format!("file  ({})", path.to_string_lossy()),
        None => "<stdout>".to_owned(),
    };
    let level = options.level.name();
    log.line(Level::Summary, format!("Writing messages to {place} at verbosity ({level})"))
}

fn describe_tests(options: &Options, log: &mut Log) -> Result<(), Error> {
    for (what, is_on) in [
        ("ISAM", options.looks_up_ids),
        ("Legacy", options.checks_legacy_files),
        ("TaxID", options.requires_taxids),
    ] {
        let state = if is_on { "EN" } else { "DIS" };
        log.line(Level::Summary, format!("{what} testing is {state}ABLED."))?;
    }
    for test in &options.tests {
        log.line(Level::Summary, test.describe(options.is_default_test))?;
    }
    log.line(Level::Summary, "")
}

/// Tests volumes or aliases, and writes how many have faults. `words` are the names of the items in
/// the lines before and after the tests. Returns the number of faults.
fn check_all(
    items: &[CheckTarget],
    words: (&str, &str),
    log: &mut Log,
    mut check: impl FnMut(&CheckTarget, &mut Log) -> Result<usize, Error>,
) -> Result<usize, Error> {
    let total = items.len();
    log.line(Level::Summary, format!("Testing {total} {}.", words.0))?;
    let (mut faults, mut faulty) = (0, 0);
    for item in items {
        log.line(Level::Details, [b" ", &item.path[..]].concat())?;
        let found = check(item, log)?;
        faults += found;
        faulty += usize::from(found > 0);
        log.flush_if_streamed()?;
    }
    let result = match faulty {
        0 => format!(" Result=SUCCESS. No errors reported for {total} {}.", words.1),
        _ => format!(" Result=FAILURE. {faulty} errors reported in {total} {}.", words.1),
    };
    log.line(Level::Summary, result)?;
    Ok(faults)
}
