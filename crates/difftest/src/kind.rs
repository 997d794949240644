//! Kinds of metadata that cross to the other site.

/// A kind of metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Subjects of the hits.
    Oids,
    /// Alignments of the hits.
    Hits,
    /// The report.
    Report,
    /// The cheapest kind for each block.
    Auto,
}

impl Kind {
    /// All of them.
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
