//! SEG: masks stretches of low complexity in proteins.

/// Parameters of SEG.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SegParams {
    /// Window length in residues.
    pub window: usize,
    /// Entropy (bits) at or below which a segment starts.
    pub locut: f64,
    /// Entropy (bits) up to which a segment is extended.
    pub hicut: f64,
}
