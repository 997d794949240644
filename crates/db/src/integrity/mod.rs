//! Checks every record of every volume of a database, and all its other files.
//!
//! All threads check sequences and headers while the next ones are read. Meanwhile each thread
//! computes sums over all identifiers, taxids and GIs of the headers. The sums over the other files
//! must be equal. This checks every entry of these files with little memory. The check reports the
//! first fault: in the indexes, then in OID order in sequences and headers, then in the other
//! files, then in the counts of aliases.
//!
//! The check requires every file that makeblastdb would have written for these headers and indexes.
//! Long runs of zeros in sequences only cause a warning.
//!
//! # Undetected changes
//! Some changes produce another valid database. The changed item can be a residue, a base, a run of
//! ambiguous bases, a letter of a title, a locus name, or the database of an accession. Without
//! files of identifiers and taxids, the check does not detect a changed accession or taxid either.
//! The report lists hashes of sequences and masks as unchecked. The check does not compare bytes
//! without meaning: those in free pages of LMDB files, and those between nodes.

mod auxiliary_files;
mod file;
mod isam;
mod records;
mod sum;
mod volume_indexes;
mod zeros;

use std::sync::Mutex;

use self::records::RecordChecker;
pub use self::records::RecordTotals;
use crate::load::PartitionSupply;
use crate::partition::{VolumeFile, VolumePart};
use crate::{Database, DbError, SequenceKind};

/// Counts, file names and warnings of a successful integrity check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntegrityReport {
    /// Number of sequences.
    pub sequence_count: u64,
    /// Number of residues or bases.
    pub residue_count: u64,
    /// Number of definition lines.
    pub defline_count: u64,
    /// Size in bytes of the checked files.
    pub checked_bytes: u64,
    /// Names of the files that were compared with the volumes, such as indexes of identifiers.
    pub compared_files: Vec<String>,
    /// Files and stated numbers that the check could not verify, each with the reason.
    pub unchecked_contents: Vec<String>,
    /// Warnings about suspect contents that are no faults, such as long runs of zeros.
    pub warnings: Vec<String>,
}

/// Checks all records and files of `database`. `supply` must load it with [all
/// contents](crate::PartitionContents::All). `spread` must run its argument on all threads that
/// take part.
///
/// # Errors
/// The first fault, in the order that the [module](self) documentation gives.
pub fn check_integrity(
    database: &Database,
    supply: &PartitionSupply,
    spread: impl FnOnce(&(dyn Fn() + Sync)),
) -> Result<IntegrityReport, DbError> {
    for (volume, oids) in database.volumes() {
        volume.check_index(oids.start)?;
    }
    let totals = Mutex::new(RecordTotals::default());
    supply.run_pass(|queue| {
        spread(&|| {
            let mut checker = RecordChecker::default();
            while let Some(work) = queue.next() {
                if let Err((oid, error)) = checker.check(&work) {
                    queue.fail(oid, error);
                }
            }
            // A poisoned lock means that another thread panicked, and this panic ends the check
            // anyway.
            totals.lock().expect("no thread panicked").add(&checker.totals);
        });
    })?;
    let totals = totals.into_inner().expect("no thread panicked");
    let mut report = IntegrityReport {
        sequence_count: totals.sequence_count,
        residue_count: totals.residue_count,
        defline_count: totals.defline_count,
        checked_bytes: database.volumes().map(|(volume, _)| volume.total_bytes()).sum(),
        ..IntegrityReport::default()
    };
    check_kinds(database, &totals)?;
    check_stated(database, &totals)?;
    auxiliary_files::check_auxiliary_files(database, &totals, &mut report)?;
    report.warnings = zero_run_warnings(database, &totals);
    Ok(report)
}

/// Warns about sequences with long runs of zeros.
fn zero_run_warnings(database: &Database, totals: &RecordTotals) -> Vec<String> {
    let letter = match database.kind() {
        SequenceKind::Protein => '-',
        SequenceKind::Nucleotide => 'A',
    };
    let doubt = |(&oid, zeros): (&u32, &zeros::ZeroRun)| {
        let path = database.file_of(oid, VolumeFile::Sequences).unwrap_or_default();
        format!(
            "file ({}) has {} '{letter}' in a row from position {} of sequence {oid} on, as a page of zeros does",
            path.display(),
            zeros.length,
            zeros.start + 1,
        )
    };
    let mut doubts: Vec<_> = totals.zero_runs.iter().map(doubt).collect();
    let more = totals.zero_run_count.saturating_sub(doubts.len() as u64);
    if more > 0 {
        doubts.push(format!("{more} more sequences have such zeros"));
    }
    doubts
}

/// Checks that in each volume either all sequences have identifiers of their own, or none has.
fn check_kinds(database: &Database, totals: &RecordTotals) -> Result<(), DbError> {
    for (volume, oids) in database.volumes() {
        if let Some([Some(without), Some(with)]) =
            totals.first_without_and_with_ids.get(&oids.start)
        {
            let oid = *without.max(with);
            let offset = volume.header(oid - oids.start).map_or(0, |(offset, _)| offset);
            let problem = "an identifier of another sort than those before it";
            return Err(volume.header_error(offset, oid, problem));
        }
    }
    Ok(())
}

/// Compares the numbers that the indexes state with the counted ones.
fn check_stated(database: &Database, totals: &RecordTotals) -> Result<(), DbError> {
    let stated: u64 = database.volumes().map(|(volume, _)| volume.index().residue_count).sum();
    if stated != totals.residue_count {
        // For proteins, opening each volume has already checked the number.
        return Err(fault_in_index(database, "residues", stated, totals.residue_count));
    }
    let longest = u64::from(database.max_sequence_length());
    if longest != totals.max_length {
        return Err(fault_in_index(
            database,
            "residues in the longest sequence",
            longest,
            totals.max_length,
        ));
    }
    Ok(())
}

fn fault_in_index(database: &Database, what: &str, stated: u64, found: u64) -> DbError {
    let path =
        database.volume_file(0, VolumePart::SequenceOffsets.volume_file()).unwrap_or_default();
    DbError::Inconsistent {
        path,
        place: String::new(),
        problem: format!("the indexes of all volumes state {stated} {what}, there are {found}"),
    }
}
