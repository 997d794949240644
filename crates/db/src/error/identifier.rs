//! Errors of words that are not valid identifiers.

use std::path::PathBuf;

use fleetblast_seq::id::IdException;

use super::DbError;

/// A word that cannot be used as an identifier.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentifierError {
    /// An invalid word in the user's list, for a version-5 database.
    #[error("Invalid seq id: {word}")]
    InvalidInUserList {
        /// The invalid word.
        word: String,
        /// The reason why the word is invalid.
        refusal: IdException,
    },
    /// An invalid word in a list for a version-4 database. BLAST+ ends with an uncaught exception.
    #[error("{refusal}")]
    InvalidInVersion4List {
        /// The invalid word.
        word: String,
        /// Path of the list if an alias names it; `None` for the user's list.
        list: Option<PathBuf>,
        /// The reason why the word is invalid.
        refusal: IdException,
    },
    /// An invalid identifier in a list of an alias or of the user. BLAST+ cannot compare the two
    /// lists and ends with an uncaught exception.
    #[error("{refusal}")]
    InvalidInComparedLists {
        /// Path of the list of the alias.
        path: PathBuf,
        /// The reason why the identifier is invalid.
        refusal: IdException,
    },
    /// An invalid word, not from a list, that is looked up in a version-4 database.
    #[error("{}", refusal.text())]
    InvalidEntry {
        /// The reason why the word is invalid.
        refusal: IdException,
    },
    /// A GI or trace number of more than 32 bits that is looked up and is not from a list.
    #[error("ID overflows range of specified type.")]
    NumberTooLarge,
}

impl IdentifierError {
    /// Returns whether BLAST+ ends with an uncaught exception at this error.
    pub(super) fn is_unexpected(&self) -> bool {
        matches!(self, Self::InvalidInVersion4List { .. } | Self::InvalidInComparedLists { .. })
    }

    /// Returns the word, the list or the reason of the error as text, if the message of BLAST+ does
    /// not contain it.
    pub(super) fn detail(&self) -> Option<String> {
        match self {
            Self::InvalidInUserList { refusal, .. } => Some(refusal.text().to_owned()),
            Self::InvalidInVersion4List { word, list: None, .. } => {
                Some(format!("identifier '{word}' in the list of the options"))
            }
            Self::InvalidInVersion4List { word, list: Some(path), .. } => {
                Some(format!("identifier '{word}' in list ({}) of an alias", path.display()))
            }
            Self::InvalidInComparedLists { path, .. } => Some(format!(
                "list ({}) of an alias, or the list of the options that it was compared with",
                path.display()
            )),
            Self::InvalidEntry { .. } | Self::NumberTooLarge => None,
        }
    }
}

impl From<IdentifierError> for DbError {
    fn from(error: IdentifierError) -> Self {
        Self::InvalidIdentifier(Box::new(error))
    }
}
