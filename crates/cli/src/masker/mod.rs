//! `segmasker` and `dustmasker`: find low complexity in sequences.
//!
//! Output and exit codes are those of BLAST+ (`segmasker.cpp`, `dust_mask_app.cpp`,
//! `mask_fasta_reader.hpp`).

mod dust;
mod options;
mod output;

use std::io::BufRead;
use std::ops::Range;
use std::path::Path;

use fleetblast_job::error::{Error, exit};
use fleetblast_job::output::{Output, leave_empty};
use fleetblast_job::standard;
use fleetblast_seq::fasta::{
    FastaError, FastaErrorKind, Options as FastaOptions, Reader, Record, Rules,
};
use fleetblast_seq::input;
use fleetblast_seq::seg;

use self::dust::mask_bases;
use self::options::{Algorithm, Options};
use self::output::MaskWriter;
use crate::hint;
use crate::messages::complain;
use crate::options::masker::{IN, OUT};
use crate::options::parse::GivenOptions;
use crate::plan;

/// Runs `segmasker`.
///
/// # Errors
/// A message and BLAST+'s exit code.
pub fn segmasker(given: &GivenOptions) -> Result<(), Error> {
    run(&Options::of_segmasker(given)?)
}

/// Runs `dustmasker`.
///
/// # Errors
/// A message and BLAST+'s exit code.
pub fn dustmasker(given: &GivenOptions) -> Result<(), Error> {
    run(&Options::of_dustmasker(given)?)
}

fn run(options: &Options) -> Result<(), Error> {
    let target = plan::input::destination(OUT.name(), &options.out)?;
    plan::input::source(IN.name(), &options.input)?;
    hint::before_reading(IN.name(), &options.input, "the sequences");
    let mut writer = MaskWriter::new(options, Output::open(&target)?);
    let masked =
        open(Path::new(&options.input)).and_then(|input| mask_all(input, options, &mut writer));
    // BLAST+ completes a file of masks also after an error.
    let ended = writer.end();
    match masked {
        Ok(()) => ended?.commit(),
        Err(error) => {
            drop(ended?);
            leave_empty(&target);
            Err(error)
        }
    }
}

fn open(path: &Path) -> Result<Box<dyn BufRead + Send>, Error> {
    if path == Path::new("-") {
        let opened = standard::input().map(drop);
        opened.map_err(|error| Error::query(format_args!("standard input: {error}")))?;
    }
    let warn = |text: &str| complain(&format!("Warning: {text}"));
    input::open(path, warn).map_err(|error| Error::new(exit::INPUT, error.to_string()))
}

/// Finds the ranges of the letters of a sequence that are masked.
type FindMasks = dyn FnMut(&[u8]) -> Vec<Range<u32>>;

/// Masks all sequences of the input.
fn mask_all(
    input: Box<dyn BufRead + Send>,
    options: &Options,
    writer: &mut MaskWriter,
) -> Result<(), Error> {
    // The masking programs read the letters of sequences as makeblastdb does.
    let rules = Rules::Database(options.algorithm.molecule());
    let reading = FastaOptions { parse_deflines: options.parse_seqids, rules };
    let mut reader = Reader::new(input, &options.input, reading);
    let mut mask: Box<FindMasks> = match options.algorithm {
        Algorithm::Seg(params) => {
            let mut seg = seg::Masker::for_segmasker(&params);
            Box::new(move |residues| seg.segments(residues))
        }
        Algorithm::Dust { window, params } => {
            Box::new(move |bases| mask_bases(bases, window, &params))
        }
    };
    while let Some(record) = next_record(&mut reader, options)? {
        if record.residues.is_empty() {
            return Err(no_residues(options, record.line));
        }
        writer.write(&record, &mask(&record.residues))?;
    }
    Ok(())
}

/// Reads the next record. Unlike for makeblastdb, an input without records is no error.
fn next_record(
    reader: &mut Reader<impl BufRead>,
    options: &Options,
) -> Result<Option<Record>, Error> {
    match reader.next_record() {
        Err(FastaError::Invalid { problem: FastaErrorKind::NoRecord, .. }) => Ok(None),
        next => next.map_err(|error| failure(options, &error)),
    }
}

/// Returns the error for a definition line without a sequence.
fn no_residues(options: &Options, line: u64) -> Error {
    let what = format!("FASTA-Reader: No residues given (m_Pos = {line})");
    options.exception("eNoResidues", 2112, &what)
}

/// Converts an error of the FASTA reader.
fn failure(options: &Options, error: &FastaError) -> Error {
    match (error, error.blast_message()) {
        (FastaError::Invalid { line, problem: FastaErrorKind::NoDefline, .. }, Some(message)) => {
            options.exception("eNoDefline", 355, &format!("{message} (m_Pos = {line})"))
        }
        _ => Error::new(options.failure_code(), format!("Error: {error}")),
    }
}
