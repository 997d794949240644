//! Records: what is stored of one result, and where.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::key::{Key, Kind, Share};
use crate::layout::FileId;

/// Bytes in front of the body of a record.
pub const HEADER_BYTES: usize = 100;
/// The first bytes of a record. The first of them occurs in no UTF-8 text.
pub(crate) const MAGIC: [u8; 8] = *b"\xf5FBspl1\n";

/// A record and where it is. Small, to be sent to whoever places the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// Where in the file its header begins.
    pub offset: u64,
    /// Whose result it is.
    pub key: Key,
    /// Which bytes of it.
    pub share: Share,
    /// Bytes of the body as stored.
    pub stored: u64,
    /// Bytes of the contents.
    pub length: u64,
    /// XXH3 (64 bits) of the contents.
    pub content: u64,
}

impl Place {
    /// Where in the result its share ends.
    pub fn end(&self) -> u64 {
        self.share.start.saturating_add(self.length)
    }
}

/// The header of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) place: Place,
    /// XXH3 of the body as stored.
    pub(crate) body: u64,
}

impl Header {
    pub(crate) fn encode(&self, job: u64) -> [u8; HEADER_BYTES] {
        let Place { file, offset, key, share, stored, length, content } = self.place;
        let mut bytes = [0; HEADER_BYTES];
        let mut used = 0;
        let mut put = |field: &[u8]| {
            bytes[used..used + field.len()].copy_from_slice(field);
            used += field.len();
        };
        put(&MAGIC);
        put(&job.to_le_bytes());
        put(&file.writer.to_le_bytes());
        put(&file.run.to_le_bytes());
        put(&offset.to_le_bytes());
        put(&key.block.to_le_bytes());
        put(&key.kind.0.to_le_bytes());
        for number in [share.start, share.total, stored, length, content, self.body] {
            put(&number.to_le_bytes());
        }
        let sum = xxh3_64(&bytes[..HEADER_BYTES - 8]);
        bytes[HEADER_BYTES - 8..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// The header that stands at `offset` of `file`; `None` if that is no header, or one of another job or place.
    pub(crate) fn decode(
        bytes: &[u8; HEADER_BYTES],
        job: u64,
        file: FileId,
        offset: u64,
    ) -> Option<Self> {
        if !bytes.starts_with(&MAGIC) {
            return None;
        }
        let header = Self {
            place: Place {
                file: FileId { writer: word(bytes, 16), run: word(bytes, 20) },
                offset: long(bytes, 24),
                key: Key { block: long(bytes, 32), kind: Kind(word(bytes, 40)) },
                share: Share { start: long(bytes, 44), total: long(bytes, 52) },
                stored: long(bytes, 60),
                length: long(bytes, 68),
                content: long(bytes, 76),
            },
            body: long(bytes, 84),
        };
        let sound = xxh3_64(&bytes[..HEADER_BYTES - 8]) == long(bytes, HEADER_BYTES - 8);
        let own =
            long(bytes, 8) == job && header.place.file == file && header.place.offset == offset;
        (sound && own && header.place.share.has_room(header.place.length)).then_some(header)
    }
}

fn word(bytes: &[u8; HEADER_BYTES], at: usize) -> u32 {
    let mut field = [0; 4];
    field.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(field)
}

fn long(bytes: &[u8; HEADER_BYTES], at: usize) -> u64 {
    let mut field = [0; 8];
    field.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(field)
}
