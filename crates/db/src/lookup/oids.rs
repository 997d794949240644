//! Files of version 5 that map OIDs to identifiers (`.?os`) and taxids (`.?ot`), and taxids to OIDs
//! (`.?to`). All numbers are little-endian.
//!
//! `.?os` and `.?ot` begin with the number of sequences N (64 bits). N numbers (64 bits) follow:
//! the end of the items of each sequence. Ends count from the first item, in bytes (`.?os`) or in
//! 32-bit items (`.?ot`). At each offset that `.?tf` gives, `.?to` has a count and then the OIDs,
//! 32 bits each.

use super::FileDamage;

/// Returns the number of sequences of a `.?os` or `.?ot` file, and the byte offset of its first
/// identifier or taxid.
fn items_at(file: &[u8]) -> Result<(u64, usize), FileDamage> {
    let damage = || FileDamage { offset: 0, problem: "the table of ends is cut short" };
    let count = long(file, 0).ok_or_else(damage)?;
    let bytes = count.checked_add(1).and_then(|words| words.checked_mul(8));
    let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok()).ok_or_else(damage)?;
    if bytes > file.len() { Err(damage()) } else { Ok((count, bytes)) }
}

fn long(file: &[u8], at: usize) -> Option<u64> {
    let bytes = file.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(std::array::from_fn(|i| bytes[i])))
}

fn word(file: &[u8], at: usize) -> Option<u32> {
    let bytes = file.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(std::array::from_fn(|i| bytes[i])))
}

/// Returns the stored identifiers (`.?os`) or taxids (`.?ot`) of a sequence, and their byte offset
/// in the file; `None` if the sequence does not exist. `size` is the number of bytes in which the
/// file counts ends: 1 in a `.?os` file, 4 in a `.?ot` file.
fn items(file: &[u8], oid: u32, size: usize) -> Result<Option<(&[u8], usize)>, FileDamage> {
    let (count, start) = items_at(file)?;
    if u64::from(oid) >= count {
        return Ok(None);
    }
    let end_at = 8 + 8 * oid as usize;
    let damage = FileDamage { offset: end_at, problem: "an end out of order or beyond the file" };
    let position = |at| {
        let end = usize::try_from(long(file, at)?).ok()?;
        start.checked_add(end.checked_mul(size)?)
    };
    let from = if oid == 0 { Some(start) } else { position(end_at - 8) };
    let to = position(end_at);
    let (Some(from), Some(to)) = (from, to) else { return Err(damage) };
    match file.get(from..to) {
        Some(items) => Ok(Some((items, from))),
        None => Err(damage),
    }
}

/// Returns the number of sequences of a `.?os` or `.?ot` file.
///
/// # Errors
/// [`FileDamage`] if the file is too short for its table.
pub fn sequence_count(file: &[u8]) -> Result<u64, FileDamage> {
    items_at(file).map(|(count, _)| count)
}

/// Returns the identifiers of a sequence from the bytes of a `.?os` file; `None` if the sequence
/// does not exist.
///
/// # Errors
/// [`FileDamage`] of the file.
pub fn ids_of_sequence(file: &[u8], oid: u32) -> Result<Option<Vec<Vec<u8>>>, FileDamage> {
    let Some((bytes, start)) = items(file, oid, 1)? else { return Ok(None) };
    let mut ids = Vec::new();
    let mut at = 0;
    while let Some(&length) = bytes.get(at) {
        let damage =
            FileDamage { offset: start + at, problem: "an identifier longer than its place" };
        let (header, length) = match length {
            0xff => (5, word(bytes, at + 1).ok_or(damage)? as usize),
            length => (1, usize::from(length)),
        };
        let end = (at + header).checked_add(length).ok_or(damage)?;
        ids.push(bytes.get(at + header..end).ok_or(damage)?.to_vec());
        at = end;
    }
    Ok(Some(ids))
}

/// Returns the taxids of a sequence from the bytes of a `.?ot` file; `None` if the sequence does
/// not exist.
///
/// # Errors
/// [`FileDamage`] of the file.
pub fn taxids_of_sequence(file: &[u8], oid: u32) -> Result<Option<Vec<i32>>, FileDamage> {
    let Some((bytes, _)) = items(file, oid, 4)? else { return Ok(None) };
    let items = bytes.chunks_exact(4);
    let taxids = items.map(|item| i32::from_le_bytes(std::array::from_fn(|i| item[i])));
    Ok(Some(taxids.collect()))
}

/// Returns the OIDs of the list that begins at byte `at` of a `.?to` file.
///
/// # Errors
/// [`FileDamage`] if the list extends beyond the end of the file.
pub fn oid_list_at(file: &[u8], at: u64) -> Result<impl Iterator<Item = u32>, FileDamage> {
    let damage =
        |at: usize| FileDamage { offset: at, problem: "a list of OIDs beyond the end of the file" };
    let start = usize::try_from(at).map_err(|_| damage(file.len()))?;
    let count = word(file, start).ok_or_else(|| damage(start))? as usize;
    let first = start + 4;
    let end = count.checked_mul(4).and_then(|bytes| first.checked_add(bytes));
    let list = end.and_then(|end| file.get(first..end)).ok_or_else(|| damage(start))?;
    Ok(list.chunks_exact(4).map(|item| u32::from_le_bytes(std::array::from_fn(|i| item[i]))))
}
