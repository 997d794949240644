//! Errors of words that are not valid identifiers.

use std::path::PathBuf;

use fleetblast_seq::id::IdRefusal;

use super::DbError;

/// A word that cannot be used as an identifier.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentifierError {
    /// A word in the user's list, for a version-5 database.
    #[error("Invalid seq id: {word}")]
    InvalidInUserList {
        /// The word.
        word: String,
        /// Description of the error.
        refusal: IdRefusal,
    },
    /// A word in a list for a version-4 database; BLAST+ ends with an uncaught exception.
    #[error("{refusal}")]
    InvalidInVersion4List {
        /// The word.
        word: String,
        /// The list of an alias, `None` for that of the user.
        list: Option<PathBuf>,
        /// Description of the error.
        refusal: IdRefusal,
    },
    /// An invalid identifier in a list of an alias or of the user, so that BLAST+ cannot compare
    /// the two lists; it ends with an uncaught exception.
    #[error("{refusal}")]
    InvalidInComparedLists {
        /// The list of the alias.
        path: PathBuf,
        /// Description of the error.
        refusal: IdRefusal,
    },
    /// A single word that is looked up in a version-4 database.
    #[error("{}", refusal.text())]
    InvalidEntry {
        /// Description of the error.
        refusal: IdRefusal,
    },
    /// A single GI or trace number of more than 32 bits.
    #[error("ID overflows range of specified type.")]
    NumberTooLarge,
}

impl IdentifierError {
    /// Whether BLAST+ ends with an exception that it does not translate.
    pub(super) fn is_unexpected(&self) -> bool {
        matches!(self, Self::InvalidInVersion4List { .. } | Self::InvalidInComparedLists { .. })
    }

    /// Returns the parts of word, list and error that the message does not contain.
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
