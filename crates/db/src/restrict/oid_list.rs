//! Reads the OIDs that an alias includes by an OIDLIST file.

use std::ops::Range;
use std::path::Path;

use super::list;
use crate::{DbError, range};

/// Returns the OIDs of `span` whose bits are set in an OIDLIST file. The file has the last OID,
/// big-endian, and then the bits, highest first. Bits count from 0 in the volume, whose OIDs are
/// `span`.
pub(super) fn read_oid_list(file: &Path, span: &Range<u32>) -> Result<Vec<Range<u32>>, DbError> {
    let contents = list::read_list_file(file).map_err(|error| match error {
        DbError::MissingList { path, .. } => DbError::MissingOidList { path },
        error => error,
    })?;
    let found = parse_oid_bits(&contents).ok_or_else(|| DbError::FileTruncated {
        path: file.into(),
        what: "the bits of the sequences",
        offset: 0,
        needed: 4,
        length: contents.len() as u64,
    })?;
    let moved = found.into_iter().map(|oids| {
        span.start.saturating_add(oids.start)..span.start.saturating_add(oids.end).min(span.end)
    });
    Ok(range::sorted_union(moved.collect()))
}

/// Returns the OIDs whose bits are set in the bytes of an OIDLIST file; `None` if the file has no
/// bits. BLAST+ reads as many 32-bit words as the last OID needs, and uses all of their bits.
pub fn parse_oid_bits(file: &[u8]) -> Option<Vec<Range<u32>>> {
    let (last, bits) = file.split_first_chunk::<4>().filter(|(_, bits)| !bits.is_empty())?;
    let read = (u32::from_be_bytes(*last) / 32).saturating_add(1).saturating_mul(32);
    let held = u32::try_from(bits.len().saturating_mul(8)).unwrap_or(u32::MAX);
    let set = (0..read.min(held)).filter(|&oid| bits[oid as usize / 8] & 0x80 >> (oid % 8) != 0);
    Some(range::ranges_of_sorted_oids(set))
}

#[cfg(test)]
mod tests {
    use super::parse_oid_bits;

    /// The expected OIDs are those that `blastdbcmd` 2.12.0 lists for an alias with such a file.
    #[test]
    fn whole_words_of_bits_count() {
        let file = |last: u8, bytes: usize| [&[0, 0, 0, last][..], &vec![0xff; bytes]].concat();
        for (last, bytes, count) in
            [(0, 1, 8), (0, 5, 32), (20, 3, 24), (31, 8, 32), (32, 5, 40), (63, 12, 64)]
        {
            let oids = parse_oid_bits(&file(last, bytes)).expect("bits");
            assert_eq!(oids, std::slice::from_ref(&(0..count)), "{last} {bytes}");
        }
        assert_eq!(parse_oid_bits(&file(0, 0)), None);
    }
}
