//! `makeblastdb`: makes databases from FASTA files or from other databases.
//!
//! Messages, exit codes and the log are those of BLAST+ (`makeblastdb.cpp`, `build_db.cpp`), with
//! three differences. An existing database stays until the new one is complete. Inputs may be
//! compressed. If identifiers are parsed, the log names a sequence only once it is certain that its
//! identifier is unique.

mod database;
mod guess;
mod input;
mod log;
mod masks;
mod metadata;
mod names;
mod options;
mod size;

use std::env;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Instant;

use fleetblast_job::error::{Error, exit};
use fleetblast_job::interrupt::SignalWatch;
use fleetblast_makedb::masks::SequenceMasks;
use fleetblast_makedb::{
    self as makedb, DatabaseBuilder, FormatVersion, InputEvent, RecordProblem, StagedFiles,
    TaxidSource, UnmatchedInputs, add_fasta,
};

use self::database::InputDatabase;
use self::input::{Input, Inputs};
use self::log::{Log, warn};
use self::options::Options;
use crate::dates::now;
use crate::options::makeblastdb::{MAKEBLASTDB, TAXID_MAP};
use crate::options::parse::GivenOptions;
use crate::stream_number::stream_number;

/// Makes a database.
///
/// # Errors
/// The message and the exit code of BLAST+, if it has one for the case.
pub fn run(given: &GivenOptions) -> Result<(), Error> {
    let options = Options::new(given)?;
    let mut log = Log::open(options.logfile.as_deref())?;
    let watch = SignalWatch::start()?;
    let made = |directory| *watch.lock_unfinished() = Some(directory);
    let sink = StagedFiles::create(Path::new(&options.out), options.kind, made)
        .map_err(|e| makedb_error(&e))?;
    let now = now();
    log.start(&options, &sink, &now.log);
    let limit = size::limit(&options.max_file_size, options.release)?;
    log.say(&format!("Maximum file size: {}", size::format_for_log(limit)));
    let taxids = match (options.taxid, &options.taxid_map) {
        (Some(0) | None, None) => TaxidSource::Unknown,
        (Some(taxid), _) => TaxidSource::SameForAll(taxid),
        (None, Some(path)) => read_taxid_map(path)?,
    };
    let mut masks = SequenceMasks::default();
    let opened = masks::read(&options, &mut masks, &mut log);
    let opened = opened.and_then(|()| Source::open(&options, &mut masks, &mut log));
    let unmatched = UnmatchedInputs {
        no_mask_matched: !masks.is_empty(),
        no_taxid_matched: matches!(taxids, TaxidSource::ByIdentifier(_)),
    };
    let source = opened.map_err(|error| with_unmatched(error, unmatched))?;
    let map_size = size::parse_map_size(env::var_os(size::MAP_SIZE).as_deref());
    let settings = fleetblast_makedb::DatabaseOptions {
        kind: options.kind,
        version: options.version,
        title: options.title.as_encoded_bytes().to_vec(),
        parse_ids: options.parse_ids,
        keeps_reader_ids: options.release.keeps_reader_ids,
        id_end: options.release.id_end,
        hash_index: options.hash_index,
        max_file_size: size::volume_size_limit(limit),
        taxids,
        masks,
        dates: now.files,
        lmdb_map_size: *map_size.as_ref().unwrap_or(&None),
    };
    let base = sink.base_path().to_owned();
    let mut builder = DatabaseBuilder::new(settings, sink).map_err(|error| makedb_error(&error))?;
    log.hold(options.parse_ids);
    let result = source.add_to(&mut builder, &options, &mut log);
    let result = result.map_err(|error| with_unmatched(error, builder.unmatched_inputs()))?;
    let result = result.and_then(|()| builder.check_duplicates());
    let (stored, unmatched) = (builder.stored_count(), builder.unmatched_inputs());
    // BLAST+ checks the size when it makes the LMDB tables, which version 4 does not have.
    let sized = match options.version {
        FormatVersion::Version4 => Ok(()),
        FormatVersion::Version5 => map_size.map(|_| ()),
    };
    let finished = match result.and(sized) {
        Ok(()) => builder.finish(|| watch.lock_unfinished()),
        Err(error) => Err(error),
    };
    let has_volumes = !matches!(
        finished,
        Err(makedb::MakedbError::MapTable { .. } | makedb::MakedbError::InvalidMapSize(_))
    );
    match &finished {
        Err(makedb::MakedbError::DuplicateIdentifier { number, .. }) => log.release(number + 1),
        _ => log.release(u64::MAX),
    }
    if !(options.reads_databases && is_before_end(&finished, stored)) {
        log.end(stored > 0 && has_volumes);
    }
    finished.map_err(|error| with_unmatched(makedb_error(&error), unmatched))?;
    *watch.lock_unfinished() = None;
    if options.release.has_database_metadata && stored > 0 {
        metadata::write(&base, &options)?;
    }
    unmatched_texts(unmatched).for_each(warn);
    log.close()
}

/// Reads the file of `-taxid_map`.
fn read_taxid_map(path: &OsStr) -> Result<TaxidSource, Error> {
    TaxidSource::read_map(Path::new(path)).map_err(|error| match error {
        makedb::MakedbError::ReadFile { source, .. } if source.kind() == ErrorKind::NotFound => {
            Error::inaccessible(TAXID_MAP.name(), &path.to_string_lossy())
        }
        error => makedb_error(&error),
    })
}

/// Returns whether BLAST+ finds the error before it has added all sequences of a database. Its log
/// then has no last lines.
fn is_before_end<T>(finished: &Result<T, makedb::MakedbError>, stored: u64) -> bool {
    match finished {
        Ok(_) => false,
        Err(makedb::MakedbError::DuplicateIdentifier { number, .. }) => number + 1 < stored,
        Err(_) => stored > 1,
    }
}

/// The input of a database.
enum Source {
    Fasta(Inputs),
    Databases(InputDatabase),
}

impl Source {
    /// Opens the input. Adds the masking algorithms of databases to `masks`.
    fn open(options: &Options, masks: &mut SequenceMasks, log: &mut Log) -> Result<Self, Error> {
        if options.reads_databases {
            return InputDatabase::open(options, masks, log).map(Self::Databases);
        }
        let inputs = Inputs::open(&options.input, options.release)?;
        inputs.hint_at_kind(options.kind);
        Ok(Self::Fasta(inputs))
    }

    /// Adds all sequences to the new database. The outer error is about reading an input database,
    /// the inner error is about the new database or a FASTA input.
    fn add_to(
        self,
        builder: &mut DatabaseBuilder,
        options: &Options,
        log: &mut Log,
    ) -> Result<Result<(), makedb::MakedbError>, Error> {
        match self {
            Self::Fasta(inputs) => Ok(add(builder, inputs, options, log)),
            Self::Databases(database) => database.add_to(builder, log),
        }
    }
}

/// Adds the sequences of all FASTA inputs.
fn add(
    builder: &mut DatabaseBuilder,
    inputs: Inputs,
    options: &Options,
    log: &mut Log,
) -> Result<(), makedb::MakedbError> {
    for input in inputs {
        let Input { name, reader } = input?;
        let start = Instant::now();
        let before = builder.sequence_count();
        add_fasta(builder, reader, &name, options.threads, |event| match event {
            InputEvent::Warning(warning) => warn(warning.message_for(MAKEBLASTDB.name)),
            InputEvent::BadCharacter(bad) => warn(bad),
            InputEvent::EmptyRecord { id, after } => {
                let id = String::from_utf8_lossy(id);
                let text = format!("Ignoring sequence '{id}' as it has no sequence data");
                log.write_after(after, &text);
            }
            InputEvent::LargeGi { gi, after } => {
                let most = u32::MAX;
                let text = format!("Ignoring gi '{gi}' as it has value larger then {most}");
                log.write_after(after, &text);
            }
        })?;
        let added = builder.sequence_count() - before;
        if added == 0 {
            return Err(makedb::MakedbError::NoSequences);
        }
        let seconds = stream_number(start.elapsed().as_secs_f64());
        log.write_after(
            builder.sequence_count(),
            &format!("Adding sequences from FASTA; added {added} sequences in {seconds} seconds."),
        );
    }
    Ok(())
}

/// Returns BLAST+'s last messages, about masks and taxids that match no sequence.
fn unmatched_texts(unmatched: UnmatchedInputs) -> impl Iterator<Item = &'static str> {
    let masks = "Error: [makeblastdb] No sequences matched any of the masks provided.\n\
                 Please ensure that the -parse_seqids option is used in the\n\
                 filtering program as well as makeblastdb.";
    let taxids = "Error: [makeblastdb] No sequences matched any of the taxids provided.";
    let texts = [(unmatched.no_mask_matched, masks), (unmatched.no_taxid_matched, taxids)];
    texts.into_iter().filter_map(|(unmatched, text)| unmatched.then_some(text))
}

/// Appends the messages about masks and taxids that match no sequence to an error.
fn with_unmatched(mut error: Error, unmatched: UnmatchedInputs) -> Error {
    for text in unmatched_texts(unmatched) {
        error.message.push('\n');
        error.message.push_str(text);
    }
    error
}

/// Returns the message and the exit code for a database that cannot be made.
fn makedb_error(error: &makedb::MakedbError) -> Error {
    let creation = |text: &str| {
        let message = format!("BLAST Database creation error: {text}");
        Error::new(exit::INPUT, message)
    };
    match error {
        makedb::MakedbError::Fasta(fasta) => match fasta.blast_message() {
            Some(text) => creation(text.strip_prefix("CFastaReader: ").unwrap_or(&text)),
            None => creation(&fasta.to_string()),
        },
        makedb::MakedbError::InvalidRecord {
            problem: RecordProblem::InvalidIdentifier(refusal),
            ..
        } => Error::new(exit::UNKNOWN, format!("Error: {refusal}")),
        makedb::MakedbError::InvalidRecord {
            problem: problem @ RecordProblem::SingleGap(_),
            ..
        } => creation(&problem.to_string()),
        _ if error.is_out_of_memory() => Error::starved(error),
        makedb::MakedbError::Write { .. } | makedb::MakedbError::WriteTable { .. } => {
            Error::output(error)
        }
        _ => creation(&error.to_string()),
    }
}

/// Returns the error for invalid options.
fn options_error(what: impl std::fmt::Display) -> Error {
    Error::new(exit::INPUT, format!("BLAST options error: {what}"))
}
