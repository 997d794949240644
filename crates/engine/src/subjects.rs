//! Where the engine finds the residues of a subject.

use std::ops::Range;

/// A set of subjects, addressed by OID, held in memory by someone else.
pub trait Subjects: Sync {
    /// The residues (NCBIstdaa codes) of subject `oid`.
    ///
    /// # Panics
    /// May panic if `oid` is not held here; the caller asks only for subjects of its partition.
    fn residues(&self, oid: u32) -> &[u8];

    /// Where in subject `oid` no words are looked for, ascending; alignments may enter these stretches.
    fn masks(&self, oid: u32) -> &[Range<u32>] {
        let _ = oid;
        &[]
    }
}
