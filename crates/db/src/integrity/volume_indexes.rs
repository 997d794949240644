//! Checks the index files of one volume: those of GIs and, in version 4, those of identifiers or
//! hashes.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::file::AuxiliaryFile;
use super::sum::EntrySum;
use super::{IntegrityReport, isam};
use crate::DbError;
use crate::lookup::isam::{NumericIndex, StringIndex};
use crate::lookup::stored_keys::own_ordinal_key;

/// Sum over the GIs of all volumes, and the first file with GIs.
#[derive(Default)]
pub(super) struct GiSum {
    sum: EntrySum,
    file: Option<AuxiliaryFile>,
}

impl GiSum {
    /// Checks that the files with GIs have the GIs of the headers, if there are such files.
    pub(super) fn verify_sum(&self, wanted: &EntrySum) -> Result<(), DbError> {
        self.file.as_ref().map_or(Ok(()), |file| file.verify_sum("GIs", &self.sum, wanted))
    }
}

/// Opens the two files of an ISAM index; `None` if neither exists. `stem` is their path without its
/// last letter.
fn isam_files(stem: &Path) -> Result<Option<(AuxiliaryFile, AuxiliaryFile)>, DbError> {
    let beside = |letter: &str| {
        let mut path = stem.to_path_buf().into_os_string();
        path.push(letter);
        AuxiliaryFile::open(path.into())
    };
    match (beside("i")?, beside("d")?) {
        (None, None) => Ok(None),
        (Some(index), Some(data)) => Ok(Some((index, data))),
        (Some(lonely), None) | (None, Some(lonely)) => {
            Err(lonely.inconsistency_error("the other file of the pair is missing"))
        }
    }
}

/// Checks the index from GIs to sequences of one volume.
pub(super) fn check_gi_index(
    stem: &Path,
    oids: &Range<u32>,
    gis: &mut GiSum,
    report: &mut IntegrityReport,
) -> Result<(), DbError> {
    let Some((index, data)) = isam_files(stem)? else { return Ok(()) };
    let keys = NumericIndex::open(&index.bytes, &data.bytes).map_err(|d| index.damage_error(d))?;
    let mut last = i64::MIN;
    for i in 0..keys.len() {
        let (key, oid) = keys.get(i);
        if key < last {
            return Err(data.inconsistency_error(format!("key {key} is out of order")));
        }
        if oid >= oids.end - oids.start {
            return Err(data.inconsistency_error(format!("key {key} leads to no sequence")));
        }
        gis.sum.add((key, oids.start + oid));
        last = key;
    }
    // makeblastdb writes no keys of eight bytes, so there is no index to compare with.
    if keys.key_size() == 4 {
        index.verify_contents(&isam::numeric_index(&data.bytes, 8))?;
    }
    report.compared_files.extend([index.name(), data.name()]);
    gis.file.get_or_insert(data);
    Ok(())
}

/// Checks the file with the first GI of each sequence (`.?og`): eight words, then one word for each
/// sequence, all big-endian.
pub(super) fn check_gi_list(
    path: PathBuf,
    oids: &Range<u32>,
    gis: &mut GiSum,
    report: &mut IntegrityReport,
) -> Result<(), DbError> {
    const NONE: u32 = u32::MAX;
    let Some(file) = AuxiliaryFile::open(path)? else { return Ok(()) };
    let count = oids.end - oids.start;
    let words: Vec<u32> = file
        .bytes
        .chunks_exact(4)
        .map(|word| u32::from_be_bytes(std::array::from_fn(|i| word[i])))
        .collect();
    let header = words.get(..8).unwrap_or_default();
    if header != [1, 0, 4, count, 0, 0, 0, 0]
        || file.bytes.end_position() as u64 != 4 * (8 + u64::from(count))
    {
        return Err(file.inconsistency_error(format!("not a list of the GIs of {count} sequences")));
    }
    for (oid, &gi) in oids.clone().zip(&words[8..]) {
        if gi != NONE {
            gis.sum.add((i64::from(gi), oid));
        }
    }
    report.compared_files.push(file.name());
    gis.file.get_or_insert(file);
    Ok(())
}

/// Checks a version-4 index of texts (identifiers or hashes): sorted keys, each with its sequence.
/// Adds its entries to `sum`. Returns the data file if it exists.
pub(super) fn check_string_index(
    stem: &Path,
    oids: &Range<u32>,
    sum: &mut EntrySum,
    report: &mut IntegrityReport,
) -> Result<Option<AuxiliaryFile>, DbError> {
    let Some((index, data)) = isam_files(stem)? else { return Ok(None) };
    let keys = StringIndex::open(&index.bytes, &data.bytes).map_err(|d| index.damage_error(d))?;
    let mut last: &[u8] = &[];
    for entry in keys.entries() {
        let (key, oid) = entry.map_err(|damage| data.damage_error(damage))?;
        let shown = || String::from_utf8_lossy(key).into_owned();
        if last > key {
            return Err(data.inconsistency_error(format!("key '{}' is out of order", shown())));
        }
        if oid >= oids.end - oids.start {
            return Err(data.inconsistency_error(format!("key '{}' leads to no sequence", shown())));
        }
        sum.add((&own_ordinal_key(key, oid)[..], oids.start + oid));
        last = key;
    }
    index.verify_contents(&isam::string_index(&data.bytes))?;
    report.compared_files.extend([index.name(), data.name()]);
    Ok(Some(data))
}
