//! What the report looks like.

/// Format of the report (`-outfmt`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// 0: pairwise alignments.
    Pairwise,
    /// 5: XML.
    Xml,
    /// 6: tabular.
    Tabular,
    /// 7: tabular with comment lines.
    TabularComments,
    /// 10: comma-separated values.
    Csv,
    /// 17: SAM.
    Sam,
}

/// What the report looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The format.
    pub format: Format,
    /// Words for columns as typed, blank separated, empty for the default ones, or for what SAM holds; empty for other
    /// formats.
    pub columns: String,
    /// The command line, a blank after each word, which SAM holds.
    pub command: Vec<u8>,
    /// Separator of columns instead of the format's own. May be longer than one character.
    pub delimiter: Option<String>,
    /// `-html`.
    pub html: bool,
    /// `-show_gis`.
    pub show_gis: bool,
    /// Residues in a line of an alignment.
    pub line_length: usize,
    /// Subjects in the table of descriptions.
    pub num_descriptions: usize,
    /// Subjects with alignments.
    pub num_alignments: usize,
    /// `-sorthits`, where the format heeds it.
    pub sort_hits: Option<usize>,
    /// `-sorthsps`, where the format heeds it.
    pub sort_hsps: Option<usize>,
}
