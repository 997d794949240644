//! What is counted of a database of which a part is searched (`CSeqDBImpl::x_ScanTotals`, seqdbimpl.cpp).
//!
//! Where the user gives a list, or an alias has one and does not state what it amounts to, BLAST+ goes through the included sequences and sums
//! up their lengths, from the index alone. Of a protein it tells the exact length. Of nucleotides it tells how many bytes the bases take,
//! but not how many bases the last byte holds: for that it takes the last two bits of the sequence's number in its volume. So reports, e-values
//! and `blastdbcmd -info` are about an estimate, which is off by at most three bases for each sequence; only
//! [`Database::exact_residues`] is not.

use std::ops::Range;

use crate::Database;
use crate::cursor::OidLimits;

/// Counts of the included sequences.
#[derive(Debug)]
pub(crate) struct Counted {
    /// How many there are.
    pub(crate) sequences: u64,
    /// Residues, or estimated bases.
    pub(crate) residues: u64,
    /// The same of the shortest and of the longest one; 2^31 - 1 and 0 if there is none.
    pub(crate) lengths: (u32, u32),
}

impl Counted {
    /// Counts the sequences in these ranges, to which BLAST+ gets with these limits.
    pub(crate) fn new(whole: &Database, listed: &[Range<u32>], mut limits: OidLimits) -> Self {
        let mut counted = Self { sequences: 0, residues: 0, lengths: (i32::MAX as u32, 0) };
        for oid in limits.walk(Some(listed)) {
            let length = whole.estimated_length_of(oid);
            let (shortest, longest) = counted.lengths;
            counted.lengths = (shortest.min(length), longest.max(length));
            counted.sequences += 1;
            counted.residues += u64::from(length);
        }
        counted
    }
}

impl Database {
    /// Number of residues of the included sequences, counted one by one where what [`Database::whole`] states of
    /// nucleotides is an estimate.
    pub fn exact_residues(&self) -> u64 {
        match self.counted_lengths() {
            None => self.whole().residues,
            Some(_) => {
                let oids = self.oids().iter().cloned().flatten();
                oids.map(|oid| u64::from(self.length_of(oid))).sum()
            }
        }
    }

    /// Length of the longest sequence as BLAST+ states it: of the included ones where it counts these, estimated unless it is to be `exact`.
    pub fn stated_longest(&self, exact: bool) -> u32 {
        match self.counted_lengths() {
            None => self.longest(),
            Some((_, longest)) if !exact => longest,
            Some(_) => {
                let oids = self.oids().iter().cloned().flatten();
                oids.map(|oid| self.length_of(oid)).max().unwrap_or(0)
            }
        }
    }

    /// The length of a sequence as BLAST+ counts it where a part of a database is searched: that of nucleotides is an estimate.
    pub(crate) fn estimated_length_of(&self, oid: u32) -> u32 {
        self.locate(oid).map_or(0, |(volume, first)| volume.estimated_length(oid - first))
    }
}
