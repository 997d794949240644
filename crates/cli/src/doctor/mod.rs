//! `fleetblast doctor`: for users whose searches are slow. Measures how fast a database comes into
//! memory, and says in plain words what limits a search of it.

mod advice;
mod load;
mod measure;
mod text;

use std::fs;
use std::time::Duration;

use fleetblast_db::check_mapped_files;
use fleetblast_job::error::{Error, exit};
use fleetblast_job::standard::print;

use self::measure::Findings;
use crate::dbcheck;
use crate::options::doctor::DoctorOptions;
use crate::options::load as amounts;
use crate::options::parse::GivenOptions;

/// Runs `fleetblast doctor`.
///
/// # Errors
/// A database that cannot be opened or read; a report that cannot be written.
pub fn run(given: &GivenOptions) -> Result<(), Error> {
    let options = DoctorOptions::new(given);
    let (db, sample) = (options.db.to_string_lossy(), options.sample.to_string_lossy());
    let sample = amounts::size(&sample).ok_or_else(|| {
        let message = format!("Error: -sample needs a size such as 256M, not '{sample}'");
        Error::new(exit::INPUT, message)
    })?;
    let limit = Duration::from_secs(options.seconds);
    let database = dbcheck::open(&db, options.kind)?;
    if let Some(method) = options.loader {
        let wish = amounts::loader_request(method, None)?;
        let text = load::load_database(&database, wish)?;
        check_mapped_files()?;
        return print(&text);
    }
    let findings = Findings::measure(&db, &database, sample, limit)?;
    let report = text::describe(&findings) + &advice::advise(&findings);
    check_mapped_files()?;
    print(&report)?;
    if let Some(path) = options.json {
        let failed = |error: &dyn std::fmt::Display| {
            Error::output(format_args!("{error} (-json {})", path.to_string_lossy()))
        };
        let json = serde_json::to_string_pretty(&findings).map_err(|error| failed(&error))? + "\n";
        fs::write(&path, json).map_err(|error| failed(&error))?;
    }
    Ok(())
}
