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
pub fn fingerprint_database(target: &SubjectDatabase) -> Result<DatabaseFingerprint, Error> {
    let sums = if target.is_on_disk() {
        fingerprint_files(target)?
    } else {
        target.memory_fingerprint()?
    };
    Ok(with_sums(target, sums))
}

/// Computes the fingerprint of a database. If it is on disk, the ranks have read its files, and
/// `contents` are the fingerprints of these.
///
/// # Errors
/// Sequences that are not in database files, and cannot be read.
pub fn fingerprint_ranks_database(
    target: &SubjectDatabase,
    contents: &VolumeFingerprints,
) -> Result<DatabaseFingerprint, Error> {
    match target.is_on_disk() {
        true => Ok(with_sums(target, SequenceFile::ALL.map(|side| contents.sum(side)))),
        false => fingerprint_database(target),
    }
}

/// Combines the fingerprints of residues and headers with counts and the fingerprint of everything
/// else.
fn with_sums(target: &SubjectDatabase, [residues, headers]: [u128; 2]) -> DatabaseFingerprint {
    DatabaseFingerprint {
        sequences: target.searched.sequence_count(),
        letters: target.searched.residue_count(),
        residues,
        headers,
        rest: target.rest_fingerprint(),
    }
}

fn fingerprint_files(target: &SubjectDatabase) -> Result<[u128; 2], Error> {
    let database = &target.searched;
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
