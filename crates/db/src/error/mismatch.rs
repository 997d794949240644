//! How an LMDB file and the volumes of a database differ.

/// A difference between an LMDB file and the volumes of a database. `Display` writes the message of
/// BLAST+, if BLAST+ detects the difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LmdbMismatch {
    /// The LMDB file has fewer volumes than the database.
    #[error("Input db vol size does not match lmdb vol size")]
    FewerVolumes,
    /// The LMDB file has none of the volumes, or none with sequences.
    #[error("Input db vol does not match lmdb vol")]
    OtherVolumes,
    /// The volumes of the LMDB file have more sequences than OIDs can number.
    #[error("the volumes have too many sequences")]
    TooManySequences,
    /// A volume has another number of sequences than the LMDB file states.
    #[error("the numbers of sequences of the volumes differ")]
    SequenceCounts,
}
