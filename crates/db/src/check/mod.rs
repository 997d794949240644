//! Whether a database is sound: every record of every volume, and every file beside the volumes.
//!
//! Sequences and headers are checked on all threads while the next are read; sums over all
//! identifiers, taxids and GIs of the headers are taken on the way, and compared with the same sums
//! over the files beside, so that these are checked entry by entry with little memory. The check
//! reports the first fault: in the indexes, then in OID order in sequences and headers, then in the
//! files beside, then in the counts of aliases.
//!
//! Every file that makeblastdb would have made for what the headers and indexes hold is required.
//! Long runs of zeros in sequences are no fault, but a doubt.
//!
//! # What cannot be found
//! A change that makes another sound database: of a residue, base or run of
//! ambiguous bases to another one, a letter of a title, a locus name, the database that an
//! accession is of; without files beside, of an accession or a taxid. Hashes of sequences and masks
//! are named as not checked. Bytes without meaning: in pages that LMDB holds free, and between the
//! nodes of others.

mod file;
mod isam;
mod of_volume;
mod records;
mod side;
mod sum;
mod zeros;

use std::sync::Mutex;

use self::records::Checker;
pub use self::records::Totals;
use crate::load::Supply;
use crate::partition::{Part, VolumeFile};
use crate::{Database, DbError, SequenceKind};

/// The extent of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Sequences.
    pub sequences: u64,
    /// Residues or bases.
    pub residues: u64,
    /// Definition lines.
    pub deflines: u64,
    /// Bytes of the files that were checked.
    pub bytes: u64,
    /// Files beside the volumes that were compared with the volumes.
    pub beside: Vec<String>,
    /// Files beside the volumes, and stated numbers, that were not checked, and why.
    pub unchecked: Vec<String>,
    /// Oddities that are no faults.
    pub doubts: Vec<String>,
}

/// Checks everything in `database`, which is loaded by `supply`, with [all
/// contents](crate::Contents::All). `spread` runs its argument on all threads that take part.
///
/// # Errors
/// The first fault.
pub fn check(
    database: &Database,
    supply: &Supply,
    spread: impl FnOnce(&(dyn Fn() + Sync)),
) -> Result<Report, DbError> {
    for (volume, oids) in database.volumes() {
        volume.check_index(oids.start)?;
    }
    let totals = Mutex::new(Totals::default());
    supply.pass(|queue| {
        spread(&|| {
            let mut checker = Checker::default();
            while let Some(work) = queue.next() {
                if let Err((oid, error)) = checker.check(&work) {
                    queue.fail(oid, error);
                }
            }
            // A poisoned lock means that another thread panicked, which ends the check anyway.
            totals.lock().expect("no thread panicked").add(&checker.totals);
        });
    })?;
    let totals = totals.into_inner().expect("no thread panicked");
    let mut report = Report {
        sequences: totals.sequences,
        residues: totals.residues,
        deflines: totals.deflines,
        bytes: database.volumes().map(|(volume, _)| volume.bytes_in_all()).sum(),
        ..Report::default()
    };
    check_kinds(database, &totals)?;
    check_stated(database, &totals)?;
    side::check(database, &totals, &mut report)?;
    report.doubts = doubts(database, &totals);
    Ok(report)
}

/// Sequences with long runs of zeros.
fn doubts(database: &Database, totals: &Totals) -> Vec<String> {
    let letter = match database.kind() {
        SequenceKind::Protein => '-',
        SequenceKind::Nucleotide => 'A',
    };
    let doubt = |(&oid, zeros): (&u32, &zeros::Zeros)| {
        let path = database.file_of(oid, VolumeFile::Sequences).unwrap_or_default();
        format!(
            "file ({}) has {} '{letter}' in a row from position {} of sequence {oid} on, as a page of zeros does",
            path.display(),
            zeros.length,
            zeros.start + 1,
        )
    };
    let mut doubts: Vec<_> = totals.zeros.iter().map(doubt).collect();
    let more = totals.with_zeros.saturating_sub(doubts.len() as u64);
    if more > 0 {
        doubts.push(format!("{more} more sequences have such zeros"));
    }
    doubts
}

/// Checks that in a volume either all sequences have identifiers of their own, or none has.
fn check_kinds(database: &Database, totals: &Totals) -> Result<(), DbError> {
    for (volume, oids) in database.volumes() {
        if let Some([Some(without), Some(with)]) = totals.first_of_kind.get(&oids.start) {
            let oid = *without.max(with);
            let offset = volume.header(oid - oids.start).map_or(0, |(offset, _)| offset);
            let problem = "an identifier of another sort than those before it";
            return Err(volume.bad_header(offset, oid, problem));
        }
    }
    Ok(())
}

/// Compares the numbers stated in the indexes with the counted ones.
fn check_stated(database: &Database, totals: &Totals) -> Result<(), DbError> {
    let stated: u64 = database.volumes().map(|(volume, _)| volume.index().residues).sum();
    if stated != totals.residues {
        // Of proteins this was checked when each volume was opened.
        return Err(fault_in_index(database, "residues", stated, totals.residues));
    }
    let longest = u64::from(database.longest());
    if longest != totals.longest {
        return Err(fault_in_index(
            database,
            "residues in the longest sequence",
            longest,
            totals.longest,
        ));
    }
    Ok(())
}

fn fault_in_index(database: &Database, what: &str, stated: u64, found: u64) -> DbError {
    let path = database.volume_file(0, Part::SequenceOffsets.file()).unwrap_or_default();
    DbError::Unsound {
        path,
        place: String::new(),
        problem: format!("the indexes of all volumes state {stated} {what}, there are {found}"),
    }
}
