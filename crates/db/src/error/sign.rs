//! Whether a list of taxids includes or excludes.

/// The sense of a list of taxids: to include or to exclude.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaxidSign {
    /// Only sequences of these taxids are searched.
    Positive,
    /// Sequences of these taxids are excluded.
    Negative,
}
