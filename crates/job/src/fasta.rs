//! Opens and reads FASTA, and converts its errors to those of BLAST+.

use std::io::{BufRead, Cursor};
use std::path::Path;

use fleetblast_db::SequenceKind;
use fleetblast_seq::fasta::{self, FastaError, Record, Rules};
use fleetblast_seq::id::{Molecule, SeqId};
use fleetblast_seq::input::FileVersion;
use fleetblast_seq::{id, input};

use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::plan::{Plan, Source};
use crate::standard;

/// Length in bytes above which the name of a sequence is cut to [`CUT_NAME_LENGTH`] bytes in
/// messages (`blast_setup_cxx.cpp`).
const MAX_NAME_LENGTH: usize = 35;
/// Number of bytes to which names longer than [`MAX_NAME_LENGTH`] are cut.
const CUT_NAME_LENGTH: usize = 25;

/// Opens a file, a text or standard input. Also returns the version of a file; `None` for other
/// inputs. Only the first rank prints warnings about the input.
pub fn open_input<'a>(
    source: &Source,
    audience: &'a dyn Audience,
) -> Result<(Box<dyn BufRead + Send + 'a>, Option<FileVersion>), Error> {
    if *source == Source::Stdin {
        standard::input().map_err(|error| Error::query(format_args!("standard input: {error}")))?;
    }
    if let Source::Text(text) = source {
        return Ok((Box::new(Cursor::new(text.clone())), None));
    }
    let warn = |text: &str| audience.warn(text);
    input::open_input_with_version(path(source), warn)
        .map_err(|error| Error::new(exit::INPUT, error.to_string()))
}

/// Creates a FASTA reader for queries or `-subject` sequences of this kind. `source` is the name of
/// the input in messages.
pub fn reader<R: BufRead>(
    input: R,
    source: &Source,
    kind: SequenceKind,
    plan: &Plan,
) -> fasta::Reader<R> {
    let molecule = match kind {
        SequenceKind::Nucleotide => Molecule::Nucleotide,
        _ => Molecule::Protein,
    };
    let options = fasta::Options {
        parse_deflines: plan.parse_deflines,
        rules: Rules::Query(molecule),
        id_end: plan.params.common().release.id_end,
        ..fasta::Options::default()
    };
    fasta::Reader::new(input, path(source), options)
}

/// Returns the path of a source for messages; `-` for standard input.
pub fn path(source: &Source) -> &Path {
    match source {
        Source::Stdin => Path::new("-"),
        Source::File(path) => path,
        Source::Text(_) => Path::new("search strategy"),
    }
}

/// Converts an error of the FASTA reader. The message has BLAST+'s words, if BLAST+ reports the
/// error, then file and line. The audience receives the warnings that precede the error.
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

/// Returns the name and the title by which BLAST+ calls a query in messages. Without identifiers
/// the name is `Query_` and `number`.
pub fn query_message_name(query: &Record, number: usize) -> Vec<u8> {
    append_title(sequence_name(&query.ids, "Query", number), &query.title)
}

/// Returns BLAST+'s message about a subject of this name without letters. BLAST+ does not cut the
/// title, and writes the blank before it even without one.
pub fn empty_subject_message(name: &[u8], title: &[u8]) -> Vec<u8> {
    [name, b" ", title, b": Subject sequence contains no data"].concat()
}

/// Returns the name by which BLAST+ calls a sequence in messages: the preferred identifier, first
/// of all a gi. Without identifiers the name is `role`, an underscore and `number`.
pub fn sequence_name(ids: &[SeqId], role: &str, number: usize) -> Vec<u8> {
    match id::choose_best_id(ids) {
        Some(id) => id.accession(),
        None => format!("{role}_{number}").into_bytes(),
    }
}

/// Appends the title to a name, and cuts the result to the length that BLAST+ allows in messages.
pub fn append_title(mut name: Vec<u8>, title: &[u8]) -> Vec<u8> {
    if !title.is_empty() {
        name.push(b' ');
        name.extend_from_slice(title);
    }
    if name.len() > MAX_NAME_LENGTH {
        name.truncate(CUT_NAME_LENGTH);
        name.extend_from_slice(b".. ");
    }
    name
}
