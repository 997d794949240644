//! Checks of a volume by `dbcheck`, and the check of an index without sequences, which is made each
//! time that a volume is opened.

use std::ops::Range;

use super::{Headers, Volume};
use crate::bytes::FileBytes;
use crate::index::OffsetTable;
use crate::parts::VolumeFile;
use crate::{DbError, SequenceKind};

impl Volume {
    /// Checks the header of the index. Also checks that the first and the last entry of each offset
    /// table are the start and the end of the file they point into.
    pub(crate) fn check_index(&self, first: u32) -> Result<(), DbError> {
        let bytes = &self.tables[OffsetTable::Headers as usize];
        self.check_texts(bytes)?;
        let count = self.index.sequence_count;
        let end = self.tables_end();
        if bytes.end_position() != end {
            return Err(self.damage_error(VolumeFile::Index, end, "bytes after the last offset"));
        }
        if count == 0 {
            return Ok(());
        }
        let header_end = match &self.headers {
            Headers::File(bytes) => bytes.end_position(),
            Headers::Parsed(_) => 0,
        };
        let sequences = (VolumeFile::Sequences, self.residues.end_position());
        let mut expected = vec![
            (OffsetTable::Headers, 0, VolumeFile::Headers, header_end),
            (OffsetTable::Sequences, 1, sequences.0, sequences.1),
        ];
        if self.index.kind == SequenceKind::Nucleotide {
            // The check of the first sequence covers the start of its ambiguities.
            let start = self.offset(OffsetTable::Ambiguities, 0) as usize;
            expected.push((OffsetTable::Ambiguities, start, sequences.0, sequences.1));
        }
        for (table, start, file, length) in expected {
            if self.offset(table, 0) as usize != start {
                return Err(self.offset_error(table, 0, first));
            }
            let end = self.offset(table, count) as usize;
            if end < length {
                return Err(self.damage_error(file, end, "bytes after the last sequence"));
            }
            if end > length {
                return Err(self.offset_error(table, count, first));
            }
        }
        Ok(())
    }

    /// Returns the offset in the index file at which the offset tables end.
    fn tables_end(&self) -> usize {
        let last = match self.index.kind {
            SequenceKind::Protein => OffsetTable::Sequences,
            SequenceKind::Nucleotide => OffsetTable::Ambiguities,
        };
        self.index.entry_position(last, self.index.sequence_count) + 4
    }

    /// Checks that an index without sequences has no residues and no bytes after its tables. Thus
    /// the check detects an index whose number of sequences was overwritten by zeros.
    pub(super) fn check_empty(&self) -> Result<(), DbError> {
        let end = self.tables_end();
        if self.index.residue_count == 0
            && self.tables[OffsetTable::Headers as usize].end_position() == end
        {
            return Ok(());
        }
        let problem = "an index that states no sequences, but residues or bytes after its offsets";
        Err(self.damage_error(VolumeFile::Index, end, problem))
    }

    /// Checks that title, name of the LMDB file and date are text. NUL bytes may follow the date.
    fn check_texts(&self, bytes: &FileBytes) -> Result<(), DbError> {
        let mut at = if self.index.version == 5 { 12 } else { 8 };
        let texts = if self.index.version == 5 { 3 } else { 2 };
        for number in 1..=texts {
            let Some(length) = bytes.file_range(at..at + 4) else { break };
            let length = length.iter().fold(0usize, |value, &byte| value << 8 | usize::from(byte));
            at += 4;
            let Some(text) = bytes.file_range(at..at.saturating_add(length)) else { break };
            let end = text.iter().position(|&byte| byte == 0).unwrap_or(length);
            if let Some(bad) = text[..end].iter().position(|&byte| byte < b' ' || byte == 0x7f) {
                let problem = "a control character in title, file name or date";
                return Err(self.damage_error(VolumeFile::Index, at + bad, problem));
            }
            // makeblastdb pads only the date.
            let padding = if number == texts { &text[end..] } else { &[] };
            if (number < texts && end < length) || padding.iter().any(|&byte| byte != 0) {
                let problem = "bytes after the end of title, file name or date";
                return Err(self.damage_error(VolumeFile::Index, at + end, problem));
            }
            at += length;
        }
        Ok(())
    }

    /// Returns the header of sequence `i` and its offset in the file.
    #[inline]
    pub(crate) fn header(&self, i: u32) -> Option<(usize, &[u8])> {
        let Headers::File(file) = &self.headers else { return None };
        let span = self.span(OffsetTable::Headers, i)?;
        Some((span.start, file.file_range(span)?))
    }

    /// Returns the total size of the three files in bytes.
    pub(crate) fn total_bytes(&self) -> u64 {
        let headers = match &self.headers {
            Headers::File(bytes) => bytes.end_position(),
            Headers::Parsed(_) => 0,
        };
        (self.tables[0].end_position() + self.residues.end_position() + headers) as u64
    }

    /// Creates the error for an invalid header.
    pub(crate) fn header_error(&self, offset: usize, oid: u32, problem: &'static str) -> DbError {
        DbError::InvalidHeader { path: self.file("hr"), offset: offset as u64, oid, problem }
    }

    /// Creates the error for an invalid nucleotide sequence `i`.
    pub(crate) fn sequence_error(&self, i: u32, first: u32, problem: &str) -> DbError {
        let Range { start, .. } = self.span(OffsetTable::Sequences, i).unwrap_or(0..0);
        let path = self.file("sq");
        let place = format!(" byte {start} (sequence {})", first + i);
        DbError::Inconsistent { path, place, problem: problem.to_owned() }
    }

    fn damage_error(&self, file: VolumeFile, at: usize, problem: &str) -> DbError {
        let path = self.file(super::piece::extension(file));
        DbError::Inconsistent { path, place: format!(" byte {at}"), problem: problem.to_owned() }
    }
}
