//! Ranges of files that a partition needs of a volume, and volumes that are partly in memory.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::{Headers, Volume};
use crate::DbError;
use crate::bytes::FileBytes;
use crate::index::OffsetTable;
use crate::parts::{VolumeFile, VolumePart};

impl Volume {
    /// Returns the path of a file; `None` for a volume in memory.
    pub(crate) fn path_of(&self, file: VolumeFile) -> Option<PathBuf> {
        self.on_disk.then(|| self.file(extension(file)))
    }

    /// Returns the range of bytes that the part `part` of the sequences `range` occupies in its
    /// file. `first` is the OID of the volume's first sequence.
    ///
    /// # Errors
    /// [`DbError::InvalidOffset`] if the offsets at the ends of the range are out of order or
    /// outside the file.
    pub(crate) fn byte_range(
        &self,
        part: VolumePart,
        range: &Range<u32>,
        first: u32,
    ) -> Result<Range<usize>, DbError> {
        let (table, sentinel) = match part {
            VolumePart::SequenceOffsets => return Ok(self.entries(OffsetTable::Sequences, range)),
            VolumePart::AmbiguityOffsets => {
                return Ok(self.entries(OffsetTable::Ambiguities, range));
            }
            VolumePart::HeaderOffsets => return Ok(self.entries(OffsetTable::Headers, range)),
            // The sentinel before the first sequence belongs to the range.
            VolumePart::Sequences => (OffsetTable::Sequences, 1),
            VolumePart::Headers => (OffsetTable::Headers, 0),
        };
        let [start, end] = [range.start, range.end].map(|i| self.offset(table, i) as usize);
        let outside = end > self.bytes(part).map_or(0, FileBytes::end_position);
        match start.checked_sub(sentinel) {
            Some(from) if start <= end && !outside => Ok(from..end),
            Some(_) => Err(self.offset_error(table, range.end, first)),
            None => Err(self.offset_error(table, range.start, first)),
        }
    }

    /// Returns the range of bytes in the index file with the table entries of the sequences `range`
    /// and the next entry.
    fn entries(&self, table: OffsetTable, range: &Range<u32>) -> Range<usize> {
        self.index().entry_position(table, range.start)
            ..self.index().entry_position(table, range.end) + 4
    }

    /// Copies the volume without the bytes of its files.
    pub(crate) fn without_bytes(&self) -> Self {
        let none = || FileBytes::from_vec(Vec::new());
        Self {
            tables: std::array::from_fn(|_| none()),
            residues: none(),
            headers: match &self.headers {
                Headers::File(_) => Headers::File(none()),
                Headers::Parsed(lines) => Headers::Parsed(Arc::clone(lines)),
            },
            ..self.clone()
        }
    }

    /// Sets the bytes of a part of the files.
    pub(crate) fn set_bytes(&mut self, part: VolumePart, bytes: FileBytes) {
        match part {
            VolumePart::SequenceOffsets => self.tables[OffsetTable::Sequences as usize] = bytes,
            VolumePart::AmbiguityOffsets => self.tables[OffsetTable::Ambiguities as usize] = bytes,
            VolumePart::HeaderOffsets => self.tables[OffsetTable::Headers as usize] = bytes,
            VolumePart::Sequences => self.residues = bytes,
            VolumePart::Headers => self.headers = Headers::File(bytes),
        }
    }

    /// Shares the bytes `range` of a part with the volume `whole`, without copying.
    pub(crate) fn share_bytes(
        &mut self,
        whole: &Self,
        part: VolumePart,
        range: &Range<u64>,
    ) -> Result<(), DbError> {
        // Definition lines that were never encoded need no bytes.
        let Some(bytes) = whole.bytes(part) else { return Ok(()) };
        let window = bytes.restrict_to(range.start as usize..range.end as usize);
        if window.len() as u64 != range.end - range.start {
            return Err(whole.truncation_error(part, range, window.end_position() as u64));
        }
        self.set_bytes(part, window);
        Ok(())
    }

    /// Returns the bytes of a part; `None` for definition lines that were never encoded.
    fn bytes(&self, part: VolumePart) -> Option<&FileBytes> {
        Some(match part {
            VolumePart::SequenceOffsets => &self.tables[OffsetTable::Sequences as usize],
            VolumePart::AmbiguityOffsets => &self.tables[OffsetTable::Ambiguities as usize],
            VolumePart::HeaderOffsets => &self.tables[OffsetTable::Headers as usize],
            VolumePart::Sequences => &self.residues,
            VolumePart::Headers => match &self.headers {
                Headers::File(bytes) => bytes,
                Headers::Parsed(_) => return None,
            },
        })
    }

    /// Returns those bytes of a part that are in memory.
    pub(crate) fn loaded_bytes(&self, part: VolumePart) -> &[u8] {
        self.bytes(part).map_or(&[], |bytes| bytes)
    }

    /// Returns the bytes `range` of the file of a part; `None` unless all of them are in memory.
    pub(crate) fn loaded_range(&self, part: VolumePart, range: Range<u64>) -> Option<&[u8]> {
        self.bytes(part)?.file_range(range.start as usize..range.end as usize)
    }

    /// Creates the error for a range whose bytes end too early, at offset `end`.
    pub(crate) fn truncation_error(
        &self,
        part: VolumePart,
        range: &Range<u64>,
        end: u64,
    ) -> DbError {
        DbError::FileTruncated {
            path: self.file(extension(part.volume_file())),
            what: match part {
                VolumePart::SequenceOffsets => "the table of sequence offsets",
                VolumePart::AmbiguityOffsets => "the table of ambiguity offsets",
                VolumePart::Sequences => "the sequences",
                VolumePart::HeaderOffsets => "the table of header offsets",
                VolumePart::Headers => "the headers",
            },
            offset: range.start,
            needed: range.end,
            length: end,
        }
    }
}

/// Returns the extension of a file after the letter of the sequence type.
pub(super) fn extension(file: VolumeFile) -> &'static str {
    match file {
        VolumeFile::Index => "in",
        VolumeFile::Sequences => "sq",
        VolumeFile::Headers => "hr",
    }
}
