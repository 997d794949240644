//! The column of masks of a volume: an index, and the data in both byte orders.

use crate::error::MakedbError;
use crate::masks::MaskAlgorithm;
use crate::options::DatabaseOptions;
use crate::sink::{OutputFile, StagedFiles};

/// Title of a column of masks.
const TITLE: &[u8] = b"BlastDb/MaskData";
/// First words of the index: version, type (blobs) and size of an offset.
const FORMAT: [u32; 3] = [1, 1, 4];
/// Number of bytes that BLAST+ reserves for one more offset.
const ENTRY: u64 = 4;

/// A column of masks that is being written. No file remains if no sequence has masks.
#[derive(Debug)]
pub(crate) struct MaskColumnWriter {
    volume: u32,
    limit: u64,
    /// The encoded title, date and algorithms.
    texts: Vec<u8>,
    /// Offset in `texts` of the encoded algorithms.
    metadata: usize,
    offsets: OutputFile,
    big_endian: OutputFile,
    little_endian: OutputFile,
}

impl MaskColumnWriter {
    pub(crate) fn create(
        sink: &StagedFiles,
        options: &DatabaseOptions,
        algorithms: &[MaskAlgorithm],
        volume: u32,
    ) -> Result<Self, MakedbError> {
        let spool = || {
            Ok::<_, MakedbError>(OutputFile::new(
                sink.temporary_file()?,
                sink.directory().to_path_buf(),
            ))
        };
        let mut offsets = spool()?;
        offsets.write_bytes(&0u32.to_be_bytes())?;
        let mut texts = Vec::new();
        string(&mut texts, TITLE);
        string(&mut texts, options.dates.mask_date.as_bytes());
        let metadata = texts.len();
        let mut pairs: Vec<(String, &[u8])> =
            algorithms.iter().map(|a| (a.id().to_string(), a.description())).collect();
        pairs.sort();
        append_number(&mut texts, pairs.len());
        for (id, description) in pairs {
            string(&mut texts, id.as_bytes());
            string(&mut texts, description);
        }
        let (big_endian, little_endian) = (spool()?, spool()?);
        let limit = options.max_file_size;
        Ok(Self { volume, limit, texts, metadata, offsets, big_endian, little_endian })
    }

    /// Returns whether a blob of this size fits into the column.
    pub(crate) fn fits(&self, size: u64) -> bool {
        let index = 32 + self.texts.len() as u64 + 4;
        index.next_multiple_of(8) + ENTRY < self.limit
            && self.big_endian.length() + size < self.limit
    }

    /// Adds the masks of a sequence, encoded in big-endian and in little-endian byte order. Both
    /// slices are empty if there are no masks.
    pub(crate) fn add(&mut self, [big, little]: [&[u8]; 2]) -> Result<(), MakedbError> {
        self.big_endian.write_bytes(big)?;
        self.little_endian.write_bytes(little)?;
        self.offsets.write_bytes(&(self.big_endian.length() as u32).to_be_bytes())
    }

    /// Writes the files of the column for a volume with `count` sequences. Writes none if no
    /// sequence has masks.
    pub(crate) fn close(self, sink: &mut StagedFiles, count: u32) -> Result<(), MakedbError> {
        let size = self.big_endian.length();
        if size == 0 {
            return Ok(());
        }
        let volume = Some(self.volume);
        let mut header = Vec::new();
        for word in FORMAT {
            header.extend(word.to_be_bytes());
        }
        header.extend(count.to_be_bytes());
        header.extend(size.to_be_bytes());
        let start = header.len() + 8;
        header.extend(((start + self.metadata) as u32).to_be_bytes());
        let end = (start + self.texts.len() + 1).next_multiple_of(8);
        header.extend((end as u32).to_be_bytes());
        header.extend(&self.texts);
        header.resize(end - 1, b'#');
        header.push(0);
        let mut index = sink.create_file(volume, "aa")?;
        index.write_bytes(&header)?;
        index.append(self.offsets)?;
        index.close()?;
        for (letters, data) in [("ab", self.big_endian), ("ac", self.little_endian)] {
            let mut file = sink.create_file(volume, letters)?;
            file.append(data)?;
            file.close()?;
        }
        Ok(())
    }
}

/// Appends a text, preceded by its length.
fn string(bytes: &mut Vec<u8>, text: &[u8]) {
    append_number(bytes, text.len());
    bytes.extend(text);
}

/// Appends a number in groups of bits, the highest first (`CBlastDbBlob::WriteVarInt`). The last
/// byte has 6 bits of the number. All bytes before it have 7 bits, and the high bit is set.
fn append_number(bytes: &mut Vec<u8>, number: usize) {
    // The last byte of a number has 6 bits, and its next bit is the sign.
    let mut groups = vec![(number & 0x3f) as u8];
    let mut rest = number >> 6;
    while rest > 0 {
        groups.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    bytes.extend(groups.iter().rev());
}
