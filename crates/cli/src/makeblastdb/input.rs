//! The input files of `-in`.

use std::ffi::OsStr;
use std::fs;
use std::io::BufRead;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use fleetblast_db::SequenceKind;
use fleetblast_job::error::Error;
use fleetblast_job::standard;
use fleetblast_makedb::{self as makedb, DatabaseKind};
use fleetblast_seq::input::{self, OpenError};
use fleetblast_stats::release::Release;

use super::guess::is_fasta;
use super::log::warn;
use super::names::split_names;
use super::options_error;
use crate::hint;
use crate::options::makeblastdb::IN;

/// BLAST+'s advice after it has read a file that does not look like FASTA.
const VALIDATION_ADVICE: &str =
    "Advise validating database with 'blastdbcheck -dbtype [prot|nucl] -db ${DBNAME}'";

/// One open input file.
pub(super) struct Input {
    pub(super) name: PathBuf,
    pub(super) reader: Box<dyn BufRead + Send>,
}

/// The inputs in order; each is opened when it is needed.
pub(super) struct Inputs {
    names: std::vec::IntoIter<PathBuf>,
}

impl Inputs {
    /// Writes a hint if the first input seems to have the other type of sequence than the database.
    pub(super) fn hint_at_kind(&self, wanted: DatabaseKind) {
        let Some(first) = self.names.as_slice().first() else { return };
        let (kind, done) = match wanted {
            DatabaseKind::Protein => {
                (SequenceKind::Protein, "-dbtype prot stores its letters as amino acids")
            }
            DatabaseKind::Nucleotide => {
                (SequenceKind::Nucleotide, "-dbtype nucl stores its letters as nucleotides")
            }
        };
        hint::wrong_kind(first, "the first sequence", kind, done);
    }

    /// Splits `-in` into names, and checks each file.
    ///
    /// A file that does not look like FASTA is an error, or a warning if the release reads it.
    pub(super) fn open(text: &OsStr, release: &Release) -> Result<Self, Error> {
        let names = split_names(text.as_bytes());
        let stdin = Path::new("-");
        match names.first() {
            None => return Err(options_error("File  does not exist")),
            Some(first) if first == stdin => {}
            Some(_) => names.iter().try_for_each(|name| check(name, release))?,
        }
        // After standard input BLAST+ reads nothing else.
        let count = if names[0] == stdin { 1 } else { names.len() };
        let names: Vec<PathBuf> = names.into_iter().take(count).collect();
        Ok(Self { names: names.into_iter() })
    }
}

impl Iterator for Inputs {
    type Item = Result<Input, makedb::MakedbError>;

    fn next(&mut self) -> Option<Self::Item> {
        let name = self.names.next()?;
        hint::before_reading(IN.name(), name.as_os_str(), "the sequences");
        let there = if name == Path::new("-") { standard::input().map(drop) } else { Ok(()) };
        let there = there.map_err(|source| OpenError { path: "standard input".into(), source });
        let print_warning = |text: &str| warn(format_args!("Warning: {text}"));
        let open = there
            .and_then(|()| input::open(&name, print_warning))
            .map_err(makedb::MakedbError::from);
        Some(open.map(|reader| Input { name, reader }))
    }
}

/// Refuses a file that does not exist or is empty. A file that does not look like FASTA is refused,
/// too, unless the release reads it.
fn check(name: &Path, release: &Release) -> Result<(), Error> {
    let shown = name.display();
    let length = match fs::metadata(name) {
        Ok(found) if !found.is_dir() => found.len(),
        _ => return Err(options_error(format_args!("File {shown} does not exist"))),
    };
    if length == 0 {
        return Err(options_error(format_args!("File {shown} is empty")));
    }
    // Warnings are printed later, when the whole file is read.
    let opened = input::open(name, |_| {}).map_err(|error| options_error(&error))?;
    if !is_fasta(opened).map_err(|error| options_error(&error))? {
        if !release.reads_doubtful_input {
            let what = "does not match input format type, default input type is FASTA";
            return Err(options_error(format_args!("{shown} {what}")));
        }
        warn(format_args!(
            "Warning: [makeblastdb] \nInput file {shown} does NOT appear to be FASTA (processing anyway).\n{VALIDATION_ADVICE}\n"
        ));
    }
    Ok(())
}
