//! Inclusion or exclusion by a list of taxids.

/// Whether a list of taxids includes or excludes sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaxidSign {
    /// Only sequences of the listed taxids are searched.
    Positive,
    /// Sequences of the listed taxids are excluded.
    Negative,
}
