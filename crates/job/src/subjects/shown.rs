//! The sequences that reports show for hits, if several databases have the same identifiers.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use fleetblast_db::{Database, DbError, Defline, Lookup};
use fleetblast_report::alignment_id;
use fleetblast_seq::frame::{Frame, Strand};
use fleetblast_seq::id::SeqId;
use fleetblast_seq::nucleotide::blastna;

use super::letters::StoredSequence;

/// NCBIstdaa code of a gap.
const RESIDUE_GAP: u8 = 0;
/// blastna code of a gap.
const BASE_GAP: u8 = 15;

/// Finds the sequences that reports show for hits. BLAST+ looks for the identifier of a hit, and
/// takes the first sequence that has this identifier, even if the hit is in another sequence that
/// has it.
#[derive(Debug)]
pub struct SharedIdentifiers {
    lookup: Lookup,
    /// The OID of the sequence that reports show for each subject that was looked up, by OID.
    known: Mutex<HashMap<u32, u32>>,
}

impl SharedIdentifiers {
    /// Prepares the search for identifiers. `None` if no two sequences can have the same
    /// identifier.
    ///
    /// # Errors
    /// See [`Database::lookup`].
    pub fn open(database: &Database) -> Result<Option<SharedIdentifiers>, DbError> {
        if !database.can_share_identifiers() {
            return Ok(None);
        }
        Ok(Some(SharedIdentifiers { lookup: database.lookup()?, known: Mutex::default() }))
    }

    /// Returns the OID of the sequence that reports show for subject `oid`.
    ///
    /// # Errors
    /// A damaged database.
    pub fn shown_oid(&self, database: &Database, oid: u32) -> Result<u32, DbError> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&shown) = known().get(&oid) {
            return Ok(shown);
        }
        let lines = database.deflines(oid)?;
        let oids = match alignment_id(&lines).map(|id| self.lookup.oids_of_stored_id(id)) {
            // One of the databases has no identifiers.
            None | Some(Err(DbError::MissingAccessionTable)) => Vec::new(),
            Some(oids) => oids?,
        };
        let mut cursor = database.oid_cursor();
        cursor.apply_alias_limits();
        let shown = oids.into_iter().find(|&oid| cursor.includes_oid(oid)).unwrap_or(oid);
        known().insert(oid, shown);
        Ok(shown)
    }

    /// Returns the definition lines that reports show for subject `oid`: those of the shown
    /// sequence, in their order.
    ///
    /// # Errors
    /// A damaged database.
    pub fn deflines(&self, database: &Database, oid: u32) -> Result<Vec<Defline>, DbError> {
        database.deflines(self.shown_oid(database, oid)?)
    }

    /// Returns the identifier by which alignments name subject `oid`, if reports show another
    /// sequence for it.
    ///
    /// # Errors
    /// A damaged database.
    pub fn own_id(&self, database: &Database, oid: u32) -> Result<Option<SeqId>, DbError> {
        if self.shown_oid(database, oid)? == oid {
            return Ok(None);
        }
        Ok(alignment_id(&database.deflines(oid)?).cloned())
    }
}

/// Returns the letters of the shown sequence at the positions that the range `read` of a frame has
/// in the sequence of an alignment, which has `length` letters. Beyond the end of the shown
/// sequence there are gaps; on the minus strand there are only gaps if it ends within the range
/// (`CAlnVec::GetSeqString`, alnvec.hpp). `translate` translates codons. `None` if the range
/// exceeds the frame.
pub fn letters_at_same_positions<'a>(
    shown: StoredSequence<'a>,
    (frame, read, length): (Frame, Range<u32>, u32),
    translate: Option<impl Fn(&[u8]) -> Vec<u8>>,
) -> Option<Cow<'a, [u8]>> {
    let (end, count) = (frame.required_length(read.end)?, read.len());
    let part = (end <= length).then(|| frame.to_sequence_range(read, length))?;
    let mut letters = match frame.strand() {
        Some(Strand::Minus) if part.end > shown.length() => Vec::new(),
        Some(Strand::Minus) => blastna::reverse_complement(&shown.part(part)?),
        Some(Strand::Plus) | None => {
            let present = part.start.min(shown.length())..part.end.min(shown.length());
            shown.part(present)?.into_owned()
        }
    };
    let gap = match frame {
        Frame::Strand(_) => BASE_GAP,
        Frame::Protein | Frame::Codons(..) => RESIDUE_GAP,
    };
    if let Frame::Codons(..) = frame {
        // BLAST+ ends with an exception where the sequence ends within a codon.
        letters = letters.len().is_multiple_of(3).then(|| translate.map(|it| it(&letters)))??;
    }
    letters.resize(count, gap);
    Some(Cow::Owned(letters))
}
