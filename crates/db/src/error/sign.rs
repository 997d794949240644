//! What a list of taxids is for.

/// Whether taxids are asked for or excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaxidSign {
    /// Only these.
    Positive,
    /// All but these.
    Negative,
}
