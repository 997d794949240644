//! Warnings about the list of identifiers of the user.

use thiserror::Error;

/// BLAST+'s warning about the list of identifiers by which the user restricts a search.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ListWarning {
    /// A text list for a version-5 database.
    #[error(
        "To obtain better run time performance, please run blastdb_aliastool -seqid_file_in \
         <INPUT_FILE_NAME> -seqid_file_out <OUT_FILE_NAME> and use <OUT_FILE_NAME> as the argument \
         to -seqidlist"
    )]
    TextList,
    /// A list whose words are GIs only.
    #[error("Empty seqid list")]
    NoIdentifiers,
    /// A binary list that was made for another database.
    #[error("Seqidlist file db info does not match input db")]
    OtherDatabase,
    /// A part after the identifier of a word, such as the accession in `gi|1|gb|AAB00001.1|`
    /// (`CSeq_id::Set`, Seq_id.cpp). BLAST+ warns once for each such part.
    #[error("Ignoring extra parts (synonyms?) in FASTA-style ID {word}")]
    SurplusPart {
        /// The word.
        word: String,
    },
}

impl ListWarning {
    /// Returns the code that BLAST+ prints before the warning; `None` if it prints no code.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::SurplusPart { .. } => Some("1306.10"),
            Self::TextList | Self::NoIdentifiers | Self::OtherDatabase => None,
        }
    }
}
