//! Whether a list of taxids includes or excludes.

/// Whether taxids are asked for or excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaxidSign {
    /// Only these.
    Positive,
    /// All but these.
    Negative,
}
