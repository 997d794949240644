//! Inclusion or exclusion by a list of taxids.

/// Whether a list of taxids includes or excludes sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaxidSign {
    /// Only sequences of these taxids are searched.
    Positive,
    /// Sequences of these taxids are excluded.
    Negative,
}
