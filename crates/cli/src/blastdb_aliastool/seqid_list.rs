//! Binary lists of identifiers: conversion from text, and their description.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use fleetblast_db::restrict::list::SeqIdListInfo;
use fleetblast_db::{Database, DbError, SearchPath, SequenceKind, version_5_list_key};
use fleetblast_job::error::{Error, exit};
use fleetblast_job::output::leave_empty;
use fleetblast_job::plan::Destination;
use fleetblast_makedb::{SeqIdListFile, SourceDatabase};
use fleetblast_stats::release::Release;

use super::options::SeqIdConversion;
use super::{destination, with_extension, write_file};
use crate::dates;
use crate::messages::say;
use crate::options::blastdb_aliastool::SEQID_FILE_IN;
use crate::options::compat;
use crate::plan::restrict::read_list;
use crate::text_file::read_text_file;

/// Converts the list of `-seqid_file_in`.
pub(super) fn convert_file(options: &SeqIdConversion) -> Result<(), Error> {
    let text = read_text_file(SEQID_FILE_IN.name(), &options.input)?;
    let target = match &options.output {
        Some(path) => destination(path),
        None => destination(&with_extension(&options.input, ".bsl")),
    };
    // BLAST+ has opened the file before it reads the database.
    let list = convert(&text, options).inspect_err(|_| leave_empty(&target))?;
    write_file(&target, &list)
}

/// Converts a list, with one identifier on each line, to the contents of a binary list.
fn convert(text: &[u8], options: &SeqIdConversion) -> Result<Vec<u8>, Error> {
    let database = options.db.as_deref().map(|db| {
        open(db, options.kind).map_err(|error| compat::database_error(options.release, error))
    });
    let database = database.transpose()?;
    if database.as_ref().is_some_and(|database| database.version() != 5) {
        return Err(Error::database("Seqidlist requires v5 database "));
    }
    let mut ids = keys(text)?;
    if ids.is_empty() {
        say(b"Error: Empty seqid list");
        return Err(Error::silent(exit::UNKNOWN));
    }
    ids.sort_unstable();
    ids.dedup();
    if let Some(database) = &database {
        ids = known_ids(ids, database)?;
    }
    let volumes = database.as_ref().map(volume_names).unwrap_or_default();
    let title = match &options.title {
        Some(title) => title.as_bytes(),
        None => options.input.as_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default(),
    };
    let list = SeqIdListFile {
        title,
        date: &dates::now().list,
        database: database.as_ref().map(|database| SourceDatabase {
            residue_count: database.volume_residue_count(),
            date: database.date(),
            volumes: &volumes,
        }),
        ids: &ids,
    };
    Ok(list.encode())
}

/// Opens the database of `-seqid_db`. Without a type, BLAST+ tries nucleotides after any expected
/// error with proteins.
fn open(db: &OsStr, kind: Option<SequenceKind>) -> Result<Database, DbError> {
    let search = SearchPath::from_environment()?;
    let names = db.to_string_lossy();
    let open = |kind| Database::open_to_retrieve(&names, kind, &search, None);
    match kind {
        Some(kind) => open(kind),
        None => match open(SequenceKind::Protein) {
            Err(error) if error.exit_code() != exit::UNKNOWN => open(SequenceKind::Nucleotide),
            opened => opened,
        },
    }
}

/// Converts the lines of a list to keys. Omits empty lines, lines that start with `#`, and GIs.
fn keys(text: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
    let lines = text.split(|&byte| byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    let key = |line: &[u8]| {
        version_5_list_key(line).map(|found| found.key).map_err(|refusal| {
            say(format!("Error: {}", refusal.text()).as_bytes());
            Error::database(format_args!("Invalid seq id: {}", String::from_utf8_lossy(line)))
        })
    };
    lines.filter_map(|line| key(line).transpose()).collect()
}

/// Returns those of `ids` whose sequences the database includes.
fn known_ids(ids: Vec<Vec<u8>>, database: &Database) -> Result<Vec<Vec<u8>>, Error> {
    let (lookup, mut cursor) = (database.lookup()?, database.oid_cursor());
    let mut known = Vec::with_capacity(ids.len());
    for id in ids {
        if lookup.oid_of_batch_key(&id, &mut cursor)?.is_some() {
            known.push(id);
        }
    }
    Ok(known)
}

/// Returns the names of the volumes in OID order, separated by blanks.
fn volume_names(database: &Database) -> Vec<u8> {
    let names = database.volume_paths().map(|path| path.file_name().unwrap_or_default().as_bytes());
    names.collect::<Vec<_>>().join(&b' ')
}

/// Prints the description of a list (`CBlastSeqidlistFile::PrintSeqidlistInfo`).
pub(super) fn print_info(path: &OsStr, release: &Release) -> Result<(), Error> {
    let search = SearchPath::from_environment()?;
    let (_, contents) = read_list(&path.to_string_lossy(), &search, release)?;
    let info = SeqIdListInfo::parse(&contents).map_err(Error::database)?;
    let text = match info.filter(|info| info.id_count > 0) {
        Some(info) => describe(&info),
        None => b"Seqidlist file is not in blast db version 5 format\n".to_vec(),
    };
    write_file(&Destination::Stdout, &text)
}

fn describe(info: &SeqIdListInfo) -> Vec<u8> {
    let mut text = format!("Num of Ids: {}\n", info.id_count).into_bytes();
    for (name, value) in [("Title", &info.title), ("Create Date", &info.date)] {
        text.extend([name.as_bytes(), b": ", value, b"\n"].concat());
    }
    if let Some(database) = &info.database {
        let residues = database.residue_count;
        text.extend(format!("DB Info: \n\tTotal Vol Length: {residues}\n").into_bytes());
        text.extend([b"\tDB Create Date: ", &database.date[..], b"\n\tDB Vols: "].concat());
        for volume in database.volumes.split(|&byte| byte == b' ') {
            text.extend([b"\n\t\t", volume].concat());
        }
    }
    text.push(b'\n');
    text
}
