//! The sequences to mask, from FASTA (`mask_fasta_reader.hpp`) or a database
//! (`mask_bdb_reader.hpp`).

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::io::BufRead;
use std::iter;
use std::path::Path;

use fleetblast_db::defline::joined_title;
use fleetblast_db::{Database, DbError, SearchPath, SequenceKind, TaxonNames, TaxonomyNames};
use fleetblast_job::error::{Error, exit};
use fleetblast_job::standard;
use fleetblast_seq::fasta::{
    FastaError, FastaErrorKind, Options as FastaOptions, Reader, Record, Rules,
};
use fleetblast_seq::id::{Molecule, SeqId};
use fleetblast_seq::input;

use super::options::{InputFormat, Options, dust_failure, execution_failure};
use crate::exceptions::{Exception, Place};
use crate::hint;
use crate::messages::complain;
use crate::options::compat::{in_words_of, search_path};
use crate::options::masker::IN;
use crate::plan;

/// The source file of the exceptions about FASTA.
const READER: &str = "objtools/readers/fasta.cpp";

/// A sequence to mask.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    /// The identifiers; empty if BLAST+ numbers the sequence.
    pub(super) ids: Vec<SeqId>,
    pub(super) title: Vec<u8>,
    /// Residues in NCBIstdaa, or bases in ncbi4na.
    pub(super) residues: Vec<u8>,
    /// Scientific name of the taxon: `None` without a taxid, empty for a taxon without a name.
    pub(super) organism: Option<Vec<u8>>,
}

/// The sequences of the input.
pub(super) type Sequences<'a> = Box<dyn Iterator<Item = Result<Sequence, Error>> + 'a>;

/// Opens the input.
pub(super) fn open(options: &Options) -> Result<Sequences<'_>, Error> {
    match options.input_format {
        InputFormat::Fasta => open_fasta(options),
        InputFormat::Database => open_database(options),
    }
}

/// Checks that a FASTA file can be read, and opens it.
pub(super) fn open_file(path: &OsStr) -> Result<Box<dyn BufRead + Send>, Error> {
    plan::input::source(IN.name(), path)?;
    hint::before_reading(IN.name(), path, "the sequences");
    if path == "-" {
        let opened = standard::input().map(drop);
        opened.map_err(|error| Error::query(format_args!("standard input: {error}")))?;
    }
    let warn = |text: &str| complain(&format!("Warning: {text}"));
    let opened = input::open(Path::new(path), warn);
    opened.map_err(|error| Error::new(exit::INPUT, error.to_string()))
}

/// Reads the next record. Unlike for makeblastdb, an input without records is no error.
fn next_record(reader: &mut Reader<impl BufRead>) -> Result<Option<Record>, FastaError> {
    match reader.next_record() {
        Err(FastaError::Invalid { problem: FastaErrorKind::NoRecord, .. }) => Ok(None),
        next => next,
    }
}

fn open_fasta(options: &Options) -> Result<Sequences<'_>, Error> {
    // The masking programs read the letters of sequences as makeblastdb does.
    let rules = Rules::Database(options.algorithm.molecule());
    let reading = FastaOptions {
        parse_deflines: options.parse_seqids,
        rules,
        id_end: options.release.id_end,
        checks_whole_ids: true,
    };
    let mut reader = Reader::new(open_file(&options.input)?, &options.input, reading);
    let mut next = move || {
        let record = next_record(&mut reader).map_err(|error| failure(options, &error))?;
        let Some(Record { ids, title, residues, line, .. }) = record else { return Ok(None) };
        match residues.is_empty() {
            true => Err(no_residues(options, line)),
            false => Ok(Some(Sequence { ids, title, residues, organism: None })),
        }
    };
    Ok(Box::new(iter::from_fn(move || next().transpose())))
}

/// The exception for a file that does not start with a definition line.
const NO_DEFLINE: Exception =
    reader_exception([355, 393, 393], "eNoDefline", "objects::CFastaReader::ReadOneSeq");

/// The exception for a local identifier with a character that is not allowed.
const INVALID_ID: Exception = Exception {
    place: Place { file: "objtools/readers/fasta_reader_utils.cpp", lines: [77; 3] },
    class: "CObjReaderParseException",
    code: "eInvalidID",
    function: "objects::s_PostError",
};

/// Returns the exception of this kind about a line of FASTA.
pub(super) const fn line_exception(code: &'static str) -> Exception {
    reader_exception([2112, 2217, 2217], code, "")
}

/// Returns the exception of this kind of the FASTA reader, thrown at these lines.
pub(super) const fn reader_exception(
    lines: [u32; 3],
    code: &'static str,
    function: &'static str,
) -> Exception {
    let place = Place { file: READER, lines };
    Exception { place, class: "CObjReaderParseException", code, function }
}

/// Returns the error for a definition line without a sequence.
fn no_residues(options: &Options, line: u64) -> Error {
    let what = format!("FASTA-Reader: No residues given (m_Pos = {line})");
    options.exception(&line_exception("eNoResidues"), &what)
}

/// Converts an error of the FASTA reader.
fn failure(options: &Options, error: &FastaError) -> Error {
    if let FastaError::Invalid { line, problem, .. } = error
        && let (Some(exception), Some(message)) =
            (defline_exception(problem), error.blast_message())
    {
        return options.exception(&exception, &format!("{message} (m_Pos = {line})"));
    }
    Error::new(options.failure_code(), format!("Error: {error}"))
}

/// Returns the exception for what is wrong with a definition line.
pub(super) fn defline_exception(problem: &FastaErrorKind) -> Option<Exception> {
    match problem {
        FastaErrorKind::NoDefline => Some(NO_DEFLINE),
        FastaErrorKind::InvalidLocal(_) => Some(INVALID_ID),
        _ => None,
    }
}

fn open_database(options: &Options) -> Result<Sequences<'_>, Error> {
    let search = search_path(options.release)?;
    let kind = match options.algorithm.molecule() {
        Molecule::Protein => SequenceKind::Protein,
        Molecule::Nucleotide => SequenceKind::Nucleotide,
    };
    let failed = |error: DbError| database_failure(options, error);
    let names = options.input.to_string_lossy();
    let database = Database::open_to_retrieve(&names, kind, &search, None).map_err(failed)?;
    let oid_count = database.oid_count();
    let names = OnceCell::new();
    let taxon = move |taxid| names.get_or_init(|| open_taxonomy(&search)).names_of_taxid(taxid);
    // BLAST+ reads all OIDs here, also those outside FIRST_OID and LAST_OID.
    let next = move |oid| match read(&database, oid, &taxon).map_err(failed) {
        Ok(None) if options.is_dust() => {
            Err(dust_failure("CUnassignedMember::eGet", "Seq_entry.set"))
        }
        read => read,
    };
    Ok(Box::new((0..oid_count).filter_map(move |oid| next(oid).transpose())))
}

/// Opens the taxonomy database. As in BLAST+, one that cannot be used only causes messages.
fn open_taxonomy(search: &SearchPath) -> TaxonomyNames {
    let names = TaxonomyNames::find_on_search_path(search);
    if let Some(fault) = names.fault() {
        fault.blast_message.iter().for_each(|said| complain(&format!("Error: {said}")));
        complain(&format!("Warning: there are no names of taxa: {}", fault.reason));
    }
    names
}

/// Reads a sequence of a database. `taxon` looks up the names of a taxon. Returns `None` if a list
/// of an alias excludes the sequence; dustmasker then fails, as in BLAST+.
fn read(
    database: &Database,
    oid: u32,
    taxon: &impl Fn(i64) -> Result<Option<TaxonNames>, DbError>,
) -> Result<Option<Sequence>, DbError> {
    let lines = database.deflines(oid)?;
    if lines.is_empty() {
        return Ok(None);
    }
    database.validate(oid..oid + 1)?;
    let mut residues = Vec::new();
    if database.kind() == SequenceKind::Nucleotide {
        let bases = database.bases_of(oid)?;
        bases.decode(0..bases.length(), &mut residues);
    } else {
        residues.extend_from_slice(database.residues_of(oid));
    }
    let taxid = lines.iter().map(|line| line.taxid).find(|&taxid| taxid > 0);
    let names = taxid.map(taxon).transpose()?;
    let organism = names.map(|names| names.map(|names| names.scientific_name).unwrap_or_default());
    let title = joined_title(&lines);
    let ids = lines.into_iter().next().map(|line| line.ids).unwrap_or_default();
    Ok(Some(Sequence { ids, title, residues, organism }))
}

/// Converts an error of the database.
fn database_failure(options: &Options, error: DbError) -> Error {
    let error = in_words_of(options.release, error);
    match (Exception::for_database_error(options.release, &error), &error) {
        (Some((exception, what)), _) => options.exception(&exception, &what),
        (None, DbError::MissingLmdb { .. }) => execution_failure(&error.to_string()),
        _ => Error::new(options.failure_code(), format!("Error: {error}")),
    }
}
