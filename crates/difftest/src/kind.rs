//! Kinds of metadata.

/// What crosses to the other site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Subjects.
    Oids,
    /// Alignments.
    Hits,
    /// The report.
    Report,
    /// What is cheapest of each block.
    Auto,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 4] = [Kind::Oids, Kind::Hits, Kind::Report, Kind::Auto];

    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Oids => "oids",
            Kind::Hits => "hits",
            Kind::Report => "report",
            Kind::Auto => "auto",
        }
    }
}
