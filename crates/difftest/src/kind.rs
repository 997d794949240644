//! The kinds of metadata that a search site sends to an I/O site.

/// A kind of metadata, the value of `-metadata`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// OIDs of the hits.
    Oids,
    /// The hits with their alignments.
    Hits,
    /// The report itself.
    Report,
    /// The cheapest kind for each block.
    Auto,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 4] = [Kind::Oids, Kind::Hits, Kind::Report, Kind::Auto];

    /// Returns the value of `-metadata`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Oids => "oids",
            Kind::Hits => "hits",
            Kind::Report => "report",
            Kind::Auto => "auto",
        }
    }
}
