//! Errors that occur while a report is formatted.

use fleetblast_engine::hits::Alignment;

/// The cause of a failure to read a subject or its taxon.
pub type SubjectReadError = Box<dyn std::error::Error + Send + Sync>;

/// The reason why a piece of a report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The definition lines of a subject could not be read.
    #[error("cannot read the definition lines of database sequence {oid}: {cause}")]
    Deflines {
        /// OID of the subject.
        oid: u32,
        /// The database's error.
        cause: SubjectReadError,
    },
    /// A subject has no definition line.
    #[error(
        "database sequence {oid} has no definition line; the database is damaged: make it again"
    )]
    NoDefline {
        /// OID of the subject.
        oid: u32,
    },
    /// The names of a taxon could not be read.
    #[error("cannot read the names of taxon {taxid}: {cause}")]
    Taxonomy {
        /// The taxid.
        taxid: i64,
        /// The taxonomy database's error.
        cause: SubjectReadError,
    },
    /// An alignment reaches beyond its sequences or contradicts its own ranges.
    #[error(
        "the alignment at query {query} and subject {subject} of database sequence {oid} does not fit its sequences"
    )]
    Alignment {
        /// OID of the subject.
        oid: u32,
        /// First query position, 0-based.
        query: u32,
        /// First subject position, 0-based.
        subject: u32,
    },
    /// The user did not spell the name of the matrix in capitals. BLAST+ refuses that in XML only.
    #[error("unsupported score matrix")]
    MatrixName,
    /// BLAST+ cannot name searches with a pattern in descriptions of alignments.
    #[error("Program type 'phiblastp' not supported")]
    PatternSearch,
    /// A text has characters that the XML report cannot hold.
    #[error(
        "the title {text:?} cannot be written to XML, which holds {characters} only; change the title or the format"
    )]
    XmlText {
        /// The text, with replacement characters where it is not UTF-8.
        text: String,
        /// The characters that it may have.
        characters: &'static str,
    },
}

impl ReportError {
    /// Creates the error for an alignment that does not fit its sequences.
    pub(crate) fn misfit(oid: u32, alignment: &Alignment) -> Self {
        let Alignment { query, subject, .. } = alignment;
        Self::Alignment { oid, query: query.start, subject: subject.start }
    }
}
