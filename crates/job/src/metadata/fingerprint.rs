//! Fingerprints of databases, which do not depend on the names and volumes of the databases.

use fleetblast_metadata::header::DatabaseFingerprint;

use crate::error::Error;
use crate::fingerprint::{SequenceFile, VolumeFingerprints, fingerprint_sequences};
use crate::subjects::SubjectDatabase;

/// Computes the fingerprint of a database. Reads the whole database, on the threads of the current
/// pool.
///
/// # Errors
/// Files that cannot be read.
pub fn fingerprint_database(subjects: &SubjectDatabase) -> Result<DatabaseFingerprint, Error> {
    let sums = if subjects.is_on_disk() {
        fingerprint_files(subjects)?
    } else {
        subjects.memory_fingerprint()?
    };
    Ok(with_sums(subjects, sums))
}

/// Computes the fingerprint of a database. If the database is on disk, `contents` are the
/// fingerprints of its files, which the ranks have read.
///
/// # Errors
/// Sequences that are not in database files, and cannot be read.
pub fn fingerprint_ranks_database(
    subjects: &SubjectDatabase,
    contents: &VolumeFingerprints,
) -> Result<DatabaseFingerprint, Error> {
    match subjects.is_on_disk() {
        true => Ok(with_sums(subjects, SequenceFile::ALL.map(|side| contents.sum(side)))),
        false => fingerprint_database(subjects),
    }
}

/// Creates the fingerprint of a database from the fingerprints of its residues and headers, its
/// numbers of sequences and letters, and the fingerprint of all its other contents.
fn with_sums(subjects: &SubjectDatabase, [residues, headers]: [u128; 2]) -> DatabaseFingerprint {
    DatabaseFingerprint {
        sequences: subjects.searched.sequence_count(),
        letters: subjects.searched.residue_count(),
        residues,
        headers,
        rest: subjects.rest_fingerprint(),
    }
}

fn fingerprint_files(subjects: &SubjectDatabase) -> Result<[u128; 2], Error> {
    let database = &subjects.searched;
    let items = SequenceFile::ALL.map(|side| (side, side, 0..database.oid_count()));
    let read = fingerprint_sequences(database, &items)?;
    Ok(SequenceFile::ALL.map(|wanted| {
        let own = read.iter().filter(|(side, ..)| *side == wanted);
        own.fold(0, |sum: u128, (.., more)| sum.wrapping_add(*more))
    }))
}

/// Describes the difference between the database that was searched and the database of this site;
/// `None` if they are equal.
pub fn difference(searched: &DatabaseFingerprint, own: &DatabaseFingerprint) -> Option<String> {
    let count = |database: &DatabaseFingerprint| {
        format!("{} sequences of {} letters", database.sequences, database.letters)
    };
    if (searched.sequences, searched.letters) != (own.sequences, own.letters) {
        return Some(format!("it holds {} instead of {}", count(own), count(searched)));
    }
    if searched.residues != own.residues {
        return Some("its sequences are others, or in another order".to_owned());
    }
    if searched.headers != own.headers {
        return Some("its headers differ".to_owned());
    }
    let what = "its masks, or what its aliases and lists show, differ";
    (searched.rest != own.rest).then(|| what.to_owned())
}
