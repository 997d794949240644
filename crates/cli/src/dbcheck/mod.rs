//! `fleetblast dbcheck`: verifies a database.

use std::time::Instant;

use fleetblast_db::integrity::{self, IntegrityReport};
use fleetblast_db::load::{self, LoadPurpose};
use fleetblast_db::{Database, DbError, SearchPath, SequenceKind, check_mapped_files};
use fleetblast_job::error::{Error, exit};
use fleetblast_job::standard::print;
use fleetblast_job::threads::pool;

use crate::options::dbcheck::DbcheckOptions;
use crate::options::load::loader_request;
use crate::options::parse::GivenOptions;
use crate::threads;

/// Bytes that a thread verifies at a time.
const RANGE_BYTES: u64 = 1 << 20;

/// Runs `fleetblast dbcheck`.
///
/// # Errors
/// The first fault, or an error that kept the database from being read.
pub fn run(given: &GivenOptions) -> Result<(), Error> {
    let options = DbcheckOptions::new(given);
    let db = options.db.to_string_lossy();
    let wish = loader_request(options.loader, options.memory.as_deref())?;
    let threads = threads::for_process(options.num_threads)?.count;
    let start = Instant::now();
    let database = open(&db, options.kind)?;
    let report = check_database(&database, wish, threads)?;
    check_mapped_files()?;
    let seconds = start.elapsed().as_secs_f64();
    print(&describe(&db, &report, seconds))?;
    match report.warnings.first() {
        None => Ok(()),
        Some(first) => Err(Error::new(
            exit::DOUBTFUL,
            format!(
                "Warning: {db}: doubtful: {first}; compare with the source, or make the database again"
            ),
        )),
    }
}

/// Opens a database of this kind. Without a kind, opens the proteins of this name, or else the
/// nucleotides.
pub(crate) fn open(names: &str, kind: Option<SequenceKind>) -> Result<Database, Error> {
    let search = SearchPath::from_environment()?;
    let open = |kind| Database::open(names, kind, &search);
    let opened = match kind {
        Some(kind) => open(kind),
        None => match open(SequenceKind::Protein) {
            Err(DbError::NotFound { .. }) => open(SequenceKind::Nucleotide),
            opened => opened,
        },
    };
    opened.map_err(fault)
}

/// Converts a database error to an error of this program. The exit code is always that of a bad
/// database, whatever BLAST+'s code is.
fn fault(error: DbError) -> Error {
    Error { exit_code: exit::DATABASE, ..Error::from(error) }
}

fn check_database(
    database: &Database,
    wish: load::LoaderRequest,
    threads: usize,
) -> Result<IntegrityReport, Error> {
    let check = || {
        let choice = load::choose_loader(database, LoadPurpose::Check, wish)?;
        let bytes = database.cached_bytes().map_or(0, |(_, all)| all);
        let ranges = usize::try_from(bytes / RANGE_BYTES).unwrap_or(usize::MAX).max(threads);
        let supply = choice.supply(database, ranges)?;
        integrity::check_integrity(database, &supply, |work| {
            rayon::broadcast(|_| work());
        })
    };
    pool(threads)?.install(check).map_err(fault)
}

fn describe(name: &str, report: &IntegrityReport, seconds: f64) -> String {
    let mut text = format!(
        "{name}: {}\n  {} sequences, {} residues, {} definition lines\n",
        if report.warnings.is_empty() { "sound" } else { "doubtful" },
        report.sequence_count,
        report.residue_count,
        report.defline_count
    );
    for doubt in &report.warnings {
        text += &format!("  doubtful: {doubt}\n");
    }
    if !report.compared_files.is_empty() {
        text += &format!("  checked against them: {}\n", report.compared_files.join(", "));
    }
    for what in &report.unchecked_contents {
        text += &format!("  not checked: {what}\n");
    }
    let rate = report.checked_bytes as f64 / seconds / 1e6;
    text + &format!("  {} bytes in {seconds:.2} s ({rate:.0} MB/s)\n", report.checked_bytes)
}
