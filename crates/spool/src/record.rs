//! The format of records, and the places of shares in them.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::codec::{Codec, ENVELOPE_BYTES, MOST_EXTRA};
use crate::key::{ResultKey, ResultKind, ShareRange};
use crate::layout::FileId;

/// Number of bytes of a record before its table.
pub const HEADER_BYTES: usize = ENVELOPE_BYTES + 80;
/// Number of bytes in the table for each share.
pub const ENTRY_BYTES: usize = 44;
/// Maximal number of shares of a record.
pub(crate) const MOST_SHARES: usize = 1024;
/// Maximal number of bytes of results that are compressed together. It limits the memory of
/// readers.
pub(crate) const MOST_CONTENTS: usize = 1 << 20;
/// Maximal number of bytes of a stored body: contents that cannot be compressed, and the overhead
/// of compression.
const MOST_STORED: u64 = 2 * MOST_CONTENTS as u64;
/// The first bytes of a header after its envelope. The first of them occurs in no UTF-8 text.
pub(crate) const MAGIC: [u8; 8] = *b"\xf5FBrec2\n";
/// Offset of the checksum in a header.
const SUM: usize = HEADER_BYTES - 8;

const _: () = assert!(HEADER_BYTES - ENVELOPE_BYTES + MOST_SHARES * ENTRY_BYTES <= MOST_EXTRA);

/// A share of a result, and its place in a file. It is small enough to be sent to the rank that
/// places the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StoredShare {
    /// The file that contains the share.
    pub file: FileId,
    /// Offset in the file of the record that contains the share.
    pub offset: u64,
    /// Offset of the share in the contents of the record.
    pub contents_offset: u64,
    /// The result that the share belongs to.
    pub key: ResultKey,
    /// The position of the share in the result.
    pub share: ShareRange,
    /// Length of the share in bytes.
    pub length: u64,
    /// XXH3 (64 bits) of the share.
    pub content: u64,
}

impl StoredShare {
    /// Returns the offset in the result of the end of the share.
    pub fn end(&self) -> u64 {
        self.share.start.saturating_add(self.length)
    }
}

/// The header of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) file: FileId,
    pub(crate) offset: u64,
    pub(crate) codec: Codec,
    /// Number of shares in the table.
    pub(crate) shares: usize,
    /// Number of bytes of the body as stored.
    pub(crate) stored: u64,
    /// Number of bytes of the contents.
    pub(crate) length: u64,
    /// XXH3 of the table.
    pub(crate) table: u64,
    /// XXH3 of the body as stored.
    pub(crate) body: u64,
}

impl Header {
    pub(crate) fn encode(&self, job: u64) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let mut used = 0;
        let mut put = |field: &[u8]| {
            bytes[used..used + field.len()].copy_from_slice(field);
            used += field.len();
        };
        put(&self.codec.envelope(HEADER_BYTES - ENVELOPE_BYTES + self.table_bytes()));
        put(&MAGIC);
        put(&job.to_le_bytes());
        put(&self.file.writer.to_le_bytes());
        put(&self.file.run.to_le_bytes());
        put(&self.offset.to_le_bytes());
        put(&self.codec.number().to_le_bytes());
        put(&(self.shares as u32).to_le_bytes());
        for number in [self.stored, self.length, self.table, self.body] {
            put(&number.to_le_bytes());
        }
        let sum = xxh3_64(&bytes[..SUM]);
        bytes[SUM..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Decodes the header at `offset` of `file`. Returns `None` if the bytes are no header, or if
    /// it belongs to another job, file or offset. Also returns `None` if the record is larger than
    /// a writer makes records.
    pub(crate) fn decode(
        bytes: &[u8; HEADER_BYTES],
        job: u64,
        file: FileId,
        offset: u64,
    ) -> Option<Self> {
        if bytes[ENVELOPE_BYTES..ENVELOPE_BYTES + 8] != MAGIC {
            return None;
        }
        let header = Self {
            file: FileId { writer: word(bytes, 32), run: word(bytes, 36) },
            offset: long(bytes, 40),
            codec: Codec::from_number(word(bytes, 48))?,
            shares: word(bytes, 52) as usize,
            stored: long(bytes, 56),
            length: long(bytes, 64),
            table: long(bytes, 72),
            body: long(bytes, 80),
        };
        let sound = xxh3_64(&bytes[..SUM]) == long(bytes, SUM);
        let own = long(bytes, 24) == job && header.file == file && header.offset == offset;
        let fits = header.length <= MOST_CONTENTS as u64 && header.stored <= MOST_STORED;
        let has_shares = (1..=MOST_SHARES).contains(&header.shares);
        (sound && own && fits && has_shares).then_some(header)
    }

    pub(crate) fn table_bytes(&self) -> usize {
        self.shares * ENTRY_BYTES
    }

    /// Decodes the shares in a table; `None` if its checksum or form is wrong.
    pub(crate) fn places(&self, table: &[u8]) -> Option<Vec<StoredShare>> {
        if xxh3_64(table) != self.table {
            return None;
        }
        let mut contents_offset = 0_u64;
        let mut places = Vec::with_capacity(self.shares);
        for entry in table.as_chunks::<ENTRY_BYTES>().0 {
            let place = StoredShare {
                file: self.file,
                offset: self.offset,
                contents_offset,
                key: ResultKey { block: long(entry, 0), kind: ResultKind(word(entry, 8)) },
                share: ShareRange { start: long(entry, 12), total: long(entry, 20) },
                length: long(entry, 28),
                content: long(entry, 36),
            };
            contents_offset = contents_offset.checked_add(place.length)?;
            if !place.share.has_room(place.length) {
                return None;
            }
            places.push(place);
        }
        (contents_offset == self.length).then_some(places)
    }
}

/// Encodes the table of a record with these shares.
pub(crate) fn table(places: &[StoredShare]) -> Vec<u8> {
    let mut table = Vec::with_capacity(places.len() * ENTRY_BYTES);
    for StoredShare { key, share, length, content, .. } in places {
        table.extend(key.block.to_le_bytes());
        table.extend(key.kind.0.to_le_bytes());
        for number in [share.start, share.total, *length, *content] {
            table.extend(number.to_le_bytes());
        }
    }
    table
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let mut field = [0; 4];
    field.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(field)
}

fn long(bytes: &[u8], at: usize) -> u64 {
    let mut field = [0; 8];
    field.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_larger_than_any_that_is_written_are_none() {
        let file = FileId { writer: 1, run: 2 };
        let header = |length, stored| Header {
            file,
            offset: 7,
            codec: Codec::Zstd,
            shares: 1,
            stored,
            length,
            table: 3,
            body: 4,
        };
        let most = (MOST_CONTENTS as u64, MOST_STORED);
        let known = |(length, stored)| {
            let header = header(length, stored);
            Header::decode(&header.encode(9), 9, file, 7) == Some(header)
        };
        assert!(known(most) && known((0, 20)));
        for other in [(most.0 + 1, 20), (1 << 40, 20), (20, most.1 + 1), (20, u64::MAX)] {
            assert!(!known(other), "{other:?}");
        }
    }
}
