//! `-window_masker_db` and `-window_masker_taxid`: files of word counts.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fleetblast_engine::params::WindowMasker;
use fleetblast_job::error::Error;
use fleetblast_seq::input::read_whole_file;
use fleetblast_seq::windowmasker::UnitCounts;
use fleetblast_stats::release::Release;

use crate::options::search::filtering::NucleotideFilteringOptions;
use crate::options::typed::to_text;

/// Name of the directory with a subdirectory for each taxid: an environment variable, and a key in
/// the section [`SECTION`] of NCBI's configuration.
const DIRECTORIES: &str = "WINDOW_MASKER_PATH";
const SECTION: &str = "WINDOW_MASKER";
/// Name of the file of counts in the directory of a taxid.
const COUNTS: &str = "wmasker.obinary";
/// Places in BLAST+'s source that its message about missing counts names: where the file is opened,
/// and where the counts are created. Later releases name `LATER_PLACES`.
const PLACES: [&str; 2] = [
    "\"c++/include/corelib/ncbidiag.hpp\", line 170",
    "\"c++/include/corelib/ncbidiag.hpp\", line 270",
];
const LATER_PLACES: [&str; 2] = [
    "\"./c++/src/algo/winmask/seq_masker_istat_factory.cpp\", line 171",
    "\"./c++/src/algo/winmask/seq_masker_istat_factory.cpp\", line 358",
];

/// Checks the options that name a file of counts (`CFilteringArgs`, blast_args.cpp).
///
/// # Errors
/// A file that cannot be opened, or has no format that BLAST+ reads; two options for repeats at
/// once.
pub fn check(options: &NucleotideFilteringOptions) -> Result<(), Error> {
    let NucleotideFilteringOptions { filtering_db, window_masker_db, window_masker_taxid, .. } =
        options;
    if let Some(path) = window_masker_db {
        let mut start = Vec::new();
        // The notes at the start of a file have fewer bytes than this.
        let opened = File::open(path).and_then(|file| file.take(1 << 16).read_to_end(&mut start));
        opened.map_err(|error| {
            Error::query_options(format_args!("could not open {} ({error})", to_text(path)))
        })?;
        if !UnitCounts::is_binary(&start) {
            return Err(Error::query_options(
                "Only optimized binary windowmasker stat files are supported",
            ));
        }
    }
    let given = [filtering_db.is_some(), window_masker_db.is_some(), window_masker_taxid.is_some()];
    if given.into_iter().filter(|&given| given).count() > 1 {
        return Err(Error::query_options(
            "Please specify at most one of filtering_db, window_masker_taxid, or window_masker_db.",
        ));
    }
    Ok(())
}

/// Returns BLAST+'s message about each query if there are no counts of a taxid
/// (`Blast_FindWindowMaskerLocTaxId`, winmask_filter.cpp).
fn no_counts_message(release: &Release) -> String {
    let [open, create] = if release.names_throwing_files { LATER_PLACES } else { PLACES };
    format!(
        "Warning: NCBI C++ Exception:\n    \
         T0 {open}: Error: (Exception::open failed) \
         ncbi::CSeqMaskerIstatFactory::DiscoverStatType() - could not open \n    \
         T0 {create}: Error: (Exception::creation failure) \
         ncbi::CSeqMaskerIstatFactory::create() - could not create a unit counts container\n"
    )
}

/// Reads the file of counts, if an option names one. If it cannot be used, returns BLAST+'s message
/// for each query.
pub fn read(
    options: &NucleotideFilteringOptions,
    release: &Release,
) -> Result<Option<WindowMasker>, String> {
    let (path, name) = match (&options.window_masker_db, options.window_masker_taxid) {
        (Some(path), _) => (Some(PathBuf::from(path)), format!("W -d {}", to_text(path))),
        (None, Some(taxid)) if taxid != 0 => (of_taxid(taxid), format!("W -t {taxid}")),
        (None, _) => return Ok(None),
    };
    let path = path.ok_or_else(|| no_counts_message(release))?;
    let unusable = |fault: &dyn std::fmt::Display| {
        format!("Warning: could not use the counts in {}: {fault}", path.display())
    };
    let file = read_whole_file(&path).map_err(|error| unusable(&error))?;
    let counts = UnitCounts::read(&file).map_err(|fault| unusable(&fault))?;
    Ok(Some(WindowMasker { counts: Arc::new(counts), name }))
}

/// Returns the file of counts for a taxid, if there is one.
fn of_taxid(taxid: i32) -> Option<PathBuf> {
    let directory = fleetblast_db::configuration_value_or_variable(SECTION, DIRECTORIES)
        .filter(|value| !value.is_empty())
        .unwrap_or_else(|| OsString::from("."));
    let path = Path::new(OsStr::new(&directory)).join(taxid.to_string()).join(COUNTS);
    path.is_file().then_some(path)
}
