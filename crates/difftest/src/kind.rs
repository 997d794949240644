//! The kinds of metadata that a search site sends to an I/O site.

/// A kind of metadata, the value of `-metadata`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataKind {
    /// OIDs of the hits.
    Oids,
    /// The hits with their alignments.
    Hits,
    /// The report itself.
    Report,
    /// The cheapest kind for each block.
    Auto,
}

impl MetadataKind {
    /// All kinds.
    pub const ALL: [MetadataKind; 4] =
        [MetadataKind::Oids, MetadataKind::Hits, MetadataKind::Report, MetadataKind::Auto];

    /// Returns the value of `-metadata`.
    pub fn name(self) -> &'static str {
        match self {
            MetadataKind::Oids => "oids",
            MetadataKind::Hits => "hits",
            MetadataKind::Report => "report",
            MetadataKind::Auto => "auto",
        }
    }
}
