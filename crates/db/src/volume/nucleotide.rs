//! Volumes of nucleotides, with packed bases at two bits each and runs of ambiguous bases.
//!
//! In the sequence file, the packed bases of sequence i extend from its sequence offset to its
//! ambiguity offset. Its ambiguities extend from there to the sequence offset of sequence i + 1.

use std::ops::Range;

use super::Volume;
use crate::index::OffsetTable;
use crate::{Bases, DbError, SequenceKind};

/// Number of bases in a byte of the sequence file.
pub(super) const BASES_IN_BYTE: u64 = 4;

impl Volume {
    /// Returns the bases of sequence `i`.
    pub(crate) fn bases(&self, i: u32, first: u32) -> Result<Bases<'_>, DbError> {
        let offset = |table, i: u32| {
            let entry = self.index.offset(&self.tables[table as usize], table, i);
            entry.map(|offset| offset as usize).ok_or_else(|| self.offset_error(table, i, first))
        };
        let start = offset(OffsetTable::Sequences, i)?;
        let middle = offset(OffsetTable::Ambiguities, i)?;
        let end = offset(OffsetTable::Sequences, i.saturating_add(1))?;
        let packed = self.residues.file_range(start..middle).filter(|packed| !packed.is_empty());
        let ambiguities = self.residues.file_range(middle..end);
        match (packed, ambiguities) {
            (None, _) => Err(self.offset_error(OffsetTable::Ambiguities, i, first)),
            (_, None) => Err(self.offset_error(OffsetTable::Sequences, i + 1, first)),
            (Some(packed), Some(ambiguities)) => Ok(Bases::new(packed, ambiguities)),
        }
    }

    /// Estimates the length of sequence `i` from the index alone. The index does not contain the
    /// number of bases in the last byte.
    pub(crate) fn estimated_length(&self, i: u32) -> u32 {
        match self.index.kind {
            SequenceKind::Protein => self.length(i),
            SequenceKind::Nucleotide => self.estimated_bases(i),
        }
    }

    /// Estimates the number of bases of sequence `i`. The last two bits of `i` replace the unknown
    /// number of bases in the last byte.
    fn estimated_bases(&self, i: u32) -> u32 {
        let bytes = u64::from(self.packed_byte_count(i));
        let bases = BASES_IN_BYTE * bytes.saturating_sub(1) + u64::from(i) % BASES_IN_BYTE;
        u32::try_from(bases).unwrap_or(u32::MAX)
    }

    /// Returns the number of bytes of the packed bases of sequence `i`, before its ambiguities. It
    /// is 0 for a protein and for wrong offsets.
    pub(crate) fn packed_byte_count(&self, i: u32) -> u32 {
        match self.index.kind {
            SequenceKind::Protein => 0,
            SequenceKind::Nucleotide => {
                let end = self.offset(OffsetTable::Ambiguities, i);
                end.saturating_sub(self.offset(OffsetTable::Sequences, i))
            }
        }
    }

    /// Checks that the sequence file has enough bytes for the number of bases that the index
    /// states. To check the exact number would require reading the whole file.
    pub(super) fn check_nucleotide_end(&self) -> Result<(), DbError> {
        let (stated, found) =
            (self.index.residue_count, self.residues_before(self.index.sequence_count));
        if stated > found {
            return Err(DbError::ResidueCountMismatch { path: self.file("in"), stated, found });
        }
        Ok(())
    }

    /// Checks the offsets and the ambiguities of the sequences in `range`.
    pub(super) fn validate_bases(&self, range: Range<u32>, first: u32) -> Result<(), DbError> {
        for i in range {
            if let Some(at) = self.bases(i, first)?.first_invalid_byte() {
                let start = self.offset(OffsetTable::Ambiguities, i) as usize + at;
                return Err(self.bad_byte(start, first + i, "a run of ambiguous bases"));
            }
        }
        Ok(())
    }
}
