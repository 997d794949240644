//! Checks the files of a database besides its volumes, and the numbers that aliases state.

use std::path::{Path, PathBuf};

use super::IntegrityReport;
use super::file::AuxiliaryFile;
use super::records::{IdentifierKinds, RecordTotals};
use super::sum::EntrySum;
use super::volume_indexes::{GiSum, check_gi_index, check_gi_list, check_string_index};
use crate::lookup::lmdb::LmdbFile;
use crate::lookup::oids;
use crate::partition::VolumeFile;
use crate::volume::Volume;
use crate::{Database, DbError};

/// Checks all files besides the volumes.
pub(super) fn check_auxiliary_files(
    database: &Database,
    totals: &RecordTotals,
    report: &mut IntegrityReport,
) -> Result<(), DbError> {
    if database.volume_file(0, VolumeFile::Index).is_none() {
        report.unchecked_contents.push("files beside: the database was never files".to_owned());
        return Ok(());
    }
    // This checks that LMDB files and volumes belong together, and their sizes.
    database.lookup()?;
    let mut lmdb: Vec<PathBuf> = database.volumes().filter_map(|(v, _)| v.lmdb_path()).collect();
    lmdb.dedup();
    match &lmdb[..] {
        [] => {}
        [path] => version_5(database, path, totals, report)?,
        several => report.unchecked_contents.extend(several.iter().map(|path| {
            format!("{}: of several databases at once; check each by itself", path.display())
        })),
    }
    let (mut names, mut named_in) = (EntrySum::default(), None);
    let (mut gis, mut listed_gis) = (GiSum::default(), GiSum::default());
    for (volume, oids) in database.volumes() {
        check_required_files(
            volume,
            totals.id_kinds.get(&oids.start).copied().unwrap_or_default(),
        )?;
        check_gi_index(&volume.auxiliary_path("n"), &oids, &mut gis, report)?;
        check_gi_list(volume.auxiliary_path("og"), &oids, &mut listed_gis, report)?;
        let named = check_string_index(&volume.auxiliary_path("s"), &oids, &mut names, report)?;
        named_in = named_in.or(named);
        if let Some(file) = check_string_index(
            &volume.auxiliary_path("h"),
            &oids,
            &mut EntrySum::default(),
            report,
        )? {
            report
                .unchecked_contents
                .push(format!("whether hashes are those of the sequences: {}", file.name()));
        }
    }
    if let Some(file) = named_in {
        file.verify_sum("keys of identifiers", &names, &totals.version_4_keys)?;
    }
    for (volume, _) in database.volumes() {
        for set in SETS {
            let files: Vec<_> = set.iter().map(|name| volume.auxiliary_path(name)).collect();
            if files.iter().any(|file| file.exists()) {
                require(&files)?;
            }
        }
        let masks = volume.auxiliary_path("aa");
        if masks.exists() {
            report.unchecked_contents.push(format!("masks: {}", masks.display()));
        }
    }
    gis.verify_sum(&totals.gis)?;
    listed_gis.verify_sum(&totals.first_gis)?;
    alias_counts(database, totals, report)
}

/// Extensions of files that exist together or not at all, without `p` or `n`: traces, PIGs, columns
/// of masks. Other functions check the other files that exist in pairs.
const SETS: [&[&str]; 3] = [&["ti", "td"], &["pi", "pd"], &["aa", "ab", "ac"]];

/// Checks that the files exist that makeblastdb writes for the identifiers in a volume's headers.
fn check_required_files(volume: &Volume, own: IdentifierKinds) -> Result<(), DbError> {
    let mut names = Vec::new();
    if own.has_ids {
        names.push("og");
        if volume.lmdb_path().is_none() {
            names.extend(["si", "sd"]);
        }
    }
    if own.has_gis {
        names.extend(["ni", "nd"]);
    }
    require(&names.iter().map(|name| volume.auxiliary_path(name)).collect::<Vec<_>>())
}

/// Returns an error for the first of these files that is missing.
fn require(files: &[PathBuf]) -> Result<(), DbError> {
    match files.iter().find(|file| !file.exists()) {
        Some(file) => Err(DbError::MissingFile { path: file.clone() }),
        None => Ok(()),
    }
}

/// Checks the LMDB file of a version-5 database and the lookup files with its name.
fn version_5(
    database: &Database,
    path: &Path,
    totals: &RecordTotals,
    report: &mut IntegrityReport,
) -> Result<(), DbError> {
    let Some(lmdb) = AuxiliaryFile::open(path.to_path_buf())? else {
        return Err(DbError::MissingLmdb { path: path.into() });
    };
    let letter = database.kind().extension_letter();
    let beside = |rest: &str| path.with_extension(format!("{letter}{rest}"));
    check_lmdb_pages(&lmdb)?;
    if whole(&lmdb)? != u64::from(database.oid_count()) {
        let reason = "it belongs to more volumes than these; check the whole database";
        report.unchecked_contents.push(format!("{}: {reason}", lmdb.name()));
        return Ok(());
    }
    accessions(&lmdb, database.oid_count(), totals)?;
    report.compared_files.push(lmdb.name());
    if totals.listed_ids.entry_count() > 0 || beside("os").exists() {
        let file = AuxiliaryFile::open_required(beside("os"))?;
        check_id_lists(&file, database.oid_count(), totals)?;
        report.compared_files.push(file.name());
    }
    let file = AuxiliaryFile::open_required(beside("ot"))?;
    taxids(&file, database.oid_count(), totals)?;
    report.compared_files.push(file.name());
    let (offsets, lists) =
        (AuxiliaryFile::open_required(beside("tf"))?, AuxiliaryFile::open_required(beside("to"))?);
    check_lmdb_pages(&offsets)?;
    taxid_lists(&offsets, &lists, database.oid_count(), totals)?;
    report.compared_files.extend([offsets.name(), lists.name()]);
    Ok(())
}

/// Checks all pages of an LMDB file.
fn check_lmdb_pages(file: &AuxiliaryFile) -> Result<(), DbError> {
    let damaged = |damage| file.damage_error(damage);
    LmdbFile::open(&file.bytes).and_then(|env| env.check_pages()).map_err(damaged)
}

/// Adds up the numbers of sequences that an LMDB file states for its volumes.
fn whole(lmdb: &AuxiliaryFile) -> Result<u64, DbError> {
    let damaged = |damage| lmdb.damage_error(damage);
    let env = LmdbFile::open(&lmdb.bytes).map_err(damaged)?;
    let Some(sizes) = env.table("volinfo").map_err(damaged)? else { return Ok(0) };
    let mut sum = 0;
    for entry in env.entries(&sizes).map_err(damaged)? {
        let (_, size) = entry.map_err(damaged)?;
        sum += u64::from(word(size).unwrap_or(0));
    }
    Ok(sum)
}

/// Checks that every key of the table of accessions belongs to an identifier in a header, and that
/// every identifier has its keys.
fn accessions(lmdb: &AuxiliaryFile, count: u32, totals: &RecordTotals) -> Result<(), DbError> {
    let damaged = |damage| lmdb.damage_error(damage);
    let env = LmdbFile::open(&lmdb.bytes).map_err(damaged)?;
    let mut found = EntrySum::default();
    if let Some(table) = env.table("acc2oid").map_err(damaged)? {
        let mut last: Option<&[u8]> = None;
        for entry in env.entries(&table).map_err(damaged)? {
            let (key, value) = entry.map_err(damaged)?;
            let shown = || String::from_utf8_lossy(key).into_owned();
            if last.is_some_and(|last| last > key) {
                return Err(lmdb.inconsistency_error(format!("key '{}' is out of order", shown())));
            }
            last = Some(key);
            match word(value).filter(|&oid| oid < count) {
                Some(oid) => found.add((key, oid)),
                None => {
                    return Err(
                        lmdb.inconsistency_error(format!("key '{}' leads to no sequence", shown()))
                    );
                }
            }
        }
        if found.entry_count() != table.stated_entries() {
            let stated = table.stated_entries();
            let problem = format!("states {stated} keys, has {}", found.entry_count());
            return Err(lmdb.inconsistency_error(problem));
        }
    }
    lmdb.verify_sum("keys of identifiers", &found, &totals.version_5_keys)
}

/// Checks the list of identifiers of each sequence (`.?os`).
fn check_id_lists(file: &AuxiliaryFile, count: u32, totals: &RecordTotals) -> Result<(), DbError> {
    let mut found = EntrySum::default();
    check_count(file, count)?;
    for oid in 0..count {
        let ids =
            oids::ids_of_sequence(&file.bytes, oid).map_err(|damage| file.damage_error(damage))?;
        ids.unwrap_or_default().iter().for_each(|id| found.add((&id[..], oid)));
    }
    check_end(file, count, 1)?;
    file.verify_sum("identifiers", &found, &totals.listed_ids)
}

/// Checks the list of taxids of each sequence (`.?ot`).
fn taxids(file: &AuxiliaryFile, count: u32, totals: &RecordTotals) -> Result<(), DbError> {
    let mut found = EntrySum::default();
    check_count(file, count)?;
    for oid in 0..count {
        let taxids = oids::taxids_of_sequence(&file.bytes, oid)
            .map_err(|damage| file.damage_error(damage))?;
        for taxid in taxids.unwrap_or_default() {
            found.add((i64::from(taxid), oid));
        }
    }
    check_end(file, count, 4)?;
    file.verify_sum("taxids", &found, &totals.taxids)
}

/// Checks that a file states the right number of sequences.
fn check_count(file: &AuxiliaryFile, count: u32) -> Result<(), DbError> {
    match oids::sequence_count(&file.bytes).map_err(|damage| file.damage_error(damage))? {
        found if found == u64::from(count) => Ok(()),
        found => {
            Err(file
                .inconsistency_error(format!("for {found} sequences, the volumes have {count}")))
        }
    }
}

/// Checks that the file ends with the items of the last sequence, which have `size` bytes each.
fn check_end(file: &AuxiliaryFile, count: u32, size: u64) -> Result<(), DbError> {
    let items = 8 + 8 * count as usize;
    let last = if count == 0 { None } else { file.bytes.file_range(items - 8..items) };
    let last = last.map_or(0, |b| u64::from_le_bytes(std::array::from_fn(|i| b[i])));
    if last.saturating_mul(size).saturating_add(items as u64) != file.bytes.end_position() as u64 {
        return Err(file.inconsistency_error("bytes after the items of the last sequence"));
    }
    Ok(())
}

/// Checks the list of sequences of each taxid (`.?tf`, `.?to`).
fn taxid_lists(
    offsets: &AuxiliaryFile,
    lists: &AuxiliaryFile,
    count: u32,
    totals: &RecordTotals,
) -> Result<(), DbError> {
    let damaged = |damage| offsets.damage_error(damage);
    let env = LmdbFile::open(&offsets.bytes).map_err(damaged)?;
    let Some(table) = env.table("taxid2offset").map_err(damaged)? else {
        return Err(offsets.inconsistency_error("the table of taxids is missing"));
    };
    let (mut found, mut bytes) = (EntrySum::default(), 0u64);
    for entry in env.entries(&table).map_err(damaged)? {
        let (key, value) = entry.map_err(damaged)?;
        let offset = <[u8; 8]>::try_from(value).ok().map(u64::from_le_bytes);
        let (Some(taxid), Some(offset)) = (word(key), offset) else {
            return Err(offsets.inconsistency_error("an entry of other than 4 and 8 bytes"));
        };
        let list =
            oids::oid_list_at(&lists.bytes, offset).map_err(|damage| lists.damage_error(damage))?;
        let mut last = None;
        bytes += 4;
        for oid in list {
            if oid >= count || last.is_some_and(|last| last >= oid) {
                return Err(
                    lists.inconsistency_error(format!("taxid {taxid}: OIDs out of order or range"))
                );
            }
            last = Some(oid);
            bytes += 4;
            found.add((i64::from(taxid.cast_signed()), oid));
        }
    }
    if bytes != lists.bytes.end_position() as u64 {
        return Err(lists.inconsistency_error("bytes that belong to no taxid"));
    }
    lists.verify_sum("taxids", &found, &totals.taxids)
}

/// Compares the numbers that aliases state with the counted ones. The aliases of a restricted
/// database may state any numbers, so they are not compared.
fn alias_counts(
    database: &Database,
    totals: &RecordTotals,
    report: &mut IntegrityReport,
) -> Result<(), DbError> {
    let restricted = database
        .included_oids()
        .iter()
        .map(|range| u64::from(range.end - range.start))
        .sum::<u64>();
    if restricted != totals.sequence_count || database.database_infos().len() != 1 {
        report
            .unchecked_contents
            .push("NSEQ and LENGTH of aliases that restrict or join databases".into());
        return Ok(());
    }
    for (what, stated, found) in [
        ("sequences", database.sequence_count(), totals.sequence_count),
        ("residues", database.residue_count(), totals.residue_count),
    ] {
        if stated != found {
            let name = String::from_utf8_lossy(&database.database_infos()[0].name).into_owned();
            return Err(DbError::Inconsistent {
                path: name.into(),
                place: String::new(),
                problem: format!("the alias states {stated} {what}, its volumes have {found}"),
            });
        }
    }
    Ok(())
}

fn word(bytes: &[u8]) -> Option<u32> {
    <[u8; 4]>::try_from(bytes).ok().map(u32::from_le_bytes)
}
