//! The OIDs that an alias names by bits in a file.

use std::ops::Range;
use std::path::Path;

use super::list;
use crate::{DbError, range};

/// The OIDs of `span` whose bits are set in an OIDLIST file: the last OID, big-endian, and then
/// bits, the highest first. They count from 0 in the volume.
pub(super) fn oid_list(file: &Path, span: &Range<u32>) -> Result<Vec<Range<u32>>, DbError> {
    let contents = list::read(file)?;
    let found = oids_of_bits(&contents).ok_or_else(|| DbError::Truncated {
        path: file.into(),
        what: "the bits of the sequences",
        offset: 0,
        needed: 4,
        length: contents.len() as u64,
    })?;
    let moved = found.into_iter().map(|oids| {
        span.start.saturating_add(oids.start)..span.start.saturating_add(oids.end).min(span.end)
    });
    Ok(range::union(moved.collect()))
}

/// The OIDs whose bits are set in the bytes of an OIDLIST file, `None` if it is too short for its
/// header. Bits that the file has no bytes for are not set.
pub fn oids_of_bits(file: &[u8]) -> Option<Vec<Range<u32>>> {
    let (header, bits) = file.split_first_chunk::<4>()?;
    let count = u32::from_be_bytes(*header).saturating_add(1);
    let held = u32::try_from(bits.len().saturating_mul(8)).unwrap_or(u32::MAX);
    let set = (0..count.min(held)).filter(|&oid| bits[oid as usize / 8] & 0x80 >> (oid % 8) != 0);
    Some(range::of_sorted(set))
}
