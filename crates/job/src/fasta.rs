//! FASTA input: opened, read, and what is wrong with it in BLAST+'s words.

use std::io::BufRead;
use std::path::Path;

use fleetblast_db::SequenceKind;
use fleetblast_seq::fasta::{self, FastaError, Record, Rules};
use fleetblast_seq::id::Molecule;
use fleetblast_seq::input::FileVersion;
use fleetblast_seq::{id, input};

use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::plan::Source;
use crate::standard;

/// A sequence's name in messages is cut to [`CUT_NAME`] bytes if it is longer than this
/// (`blast_setup_cxx.cpp`).
const LONG_NAME: usize = 35;
/// See [`LONG_NAME`].
const CUT_NAME: usize = 25;

/// Opens a file or standard input; returns the version of a file, too. Warnings go to the audience,
/// of several ranks that read it from the first.
pub fn open_input<'a>(
    source: &Source,
    audience: &'a dyn Audience,
) -> Result<(Box<dyn BufRead + Send + 'a>, Option<FileVersion>), Error> {
    if *source == Source::Stdin {
        standard::input().map_err(|error| Error::query(format_args!("standard input: {error}")))?;
    }
    let warn = |text: &str| audience.warn(text);
    input::open_version(path(source), warn)
        .map_err(|error| Error::new(exit::INPUT, error.to_string()))
}

/// A reader of FASTA of that kind from `input`, which came from `source`.
pub fn reader<R: BufRead>(
    input: R,
    source: &Source,
    kind: SequenceKind,
    parse_deflines: bool,
) -> fasta::Reader<R> {
    let molecule = match kind {
        SequenceKind::Nucleotide => Molecule::Nucleotide,
        _ => Molecule::Protein,
    };
    let options = fasta::Options { parse_deflines, rules: Rules::Query(molecule) };
    fasta::Reader::new(input, path(source), options)
}

/// Where it is; `-` is standard input.
pub fn path(source: &Source) -> &Path {
    match source {
        Source::Stdin => Path::new("-"),
        Source::File(path) => path,
    }
}

/// Input that is not usable FASTA, in BLAST+'s words where it has some, with file and line. The
/// audience hears of what was odd before.
pub fn fasta_failure(error: &FastaError, audience: &dyn Audience) -> Error {
    if let FastaError::Invalid { warnings, .. } = error {
        for warning in warnings {
            audience.print_message(&warning.message_for(audience.program()));
        }
    }
    match error.blast_message() {
        Some(message) => Error::query(format_args!("{message}\n({error})")),
        None => Error::query(error),
    }
}

/// What BLAST+ calls a sequence in messages: the identifier that it prefers, a gi if there is one,
/// or `role` and `number`, and its title.
pub fn message_name(record: &Record, role: &str, number: usize) -> Vec<u8> {
    let name = match id::best_choice(&record.ids) {
        Some(id) => id.accession(),
        None => format!("{role}_{number}").into_bytes(),
    };
    titled(name, &record.title)
}

/// A name in messages, with its title.
pub fn titled(mut name: Vec<u8>, title: &[u8]) -> Vec<u8> {
    if !title.is_empty() {
        name.push(b' ');
        name.extend_from_slice(title);
    }
    if name.len() > LONG_NAME {
        name.truncate(CUT_NAME);
        name.extend_from_slice(b".. ");
    }
    name
}
