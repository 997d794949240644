//! Counts the sequences and residues of a restricted database as BLAST+ does
//! (`CSeqDBImpl::x_ScanTotals`, seqdbimpl.cpp).
//!
//! BLAST+ counts if the user gives a list, or if an alias has a list without stating its totals. It
//! adds up the lengths of the included sequences from the index alone. Lengths of proteins are
//! exact. For nucleotides the index has the number of bytes, but not the number of bases in the
//! last byte. BLAST+ uses the last two bits of the sequence's number in its volume instead. So
//! reports, e-values and `blastdbcmd -info` use an estimate, which can be wrong by three bases for
//! each sequence. Only [`Database::exact_residue_count`] is exact.

use std::ops::Range;

use crate::Database;
use crate::cursor::OidLimits;

/// Totals of the included sequences of a restricted database, counted as BLAST+ does.
#[derive(Debug)]
pub(crate) struct CountedTotals {
    /// Number of included sequences.
    pub(crate) sequence_count: u64,
    /// Number of residues; for nucleotides, an estimated number of bases.
    pub(crate) residue_count: u64,
    /// Lengths of the shortest and of the longest included sequence; 2^31 - 1 and 0 if there is
    /// none.
    pub(crate) length_bounds: (u32, u32),
}

impl CountedTotals {
    /// Counts the sequences of `listed` that BLAST+ finds within `limits`.
    pub(crate) fn new(whole: &Database, listed: &[Range<u32>], mut limits: OidLimits) -> Self {
        let mut counted =
            Self { sequence_count: 0, residue_count: 0, length_bounds: (i32::MAX as u32, 0) };
        for oid in limits.walk_included(Some(listed)) {
            let length = whole.estimated_length_of(oid);
            let (shortest, longest) = counted.length_bounds;
            counted.length_bounds = (shortest.min(length), longest.max(length));
            counted.sequence_count += 1;
            counted.residue_count += u64::from(length);
        }
        counted
    }
}

impl Database {
    /// Returns the number of residues of the included sequences. Adds up their lengths if
    /// [`Database::combined_info`] may have an estimate.
    pub fn exact_residue_count(&self) -> u64 {
        match self.counted_length_bounds() {
            None => self.combined_info().residue_count,
            Some(_) => {
                let oids = self.included_oids().iter().cloned().flatten();
                oids.map(|oid| u64::from(self.length_of(oid))).sum()
            }
        }
    }

    /// Returns the length of the longest sequence as BLAST+ states it: of the included sequences if
    /// BLAST+ counts them, else the number that the volumes state. The length of an included
    /// sequence is an estimate unless `exact` is set.
    pub fn reported_max_length(&self, exact: bool) -> u32 {
        match self.counted_length_bounds() {
            None => self.max_sequence_length(),
            Some((_, longest)) if !exact => longest,
            Some(_) => {
                let oids = self.included_oids().iter().cloned().flatten();
                oids.map(|oid| self.length_of(oid)).max().unwrap_or(0)
            }
        }
    }

    /// Returns the length of a sequence as BLAST+ counts it in a restricted database. For
    /// nucleotides it is an estimate.
    pub(crate) fn estimated_length_of(&self, oid: u32) -> u32 {
        self.volume_of(oid).map_or(0, |(volume, first)| volume.estimated_length(oid - first))
    }
}
