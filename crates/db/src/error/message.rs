//! Exit codes and messages of errors.

use std::path::Path;

use super::DbError;

impl DbError {
    /// Creates the error for a required file that the operating system could not open.
    pub(crate) fn open_error(path: &Path, source: std::io::Error) -> Self {
        match source.kind() {
            std::io::ErrorKind::NotFound => Self::MissingFile { path: path.into() },
            _ => Self::Io { path: path.into(), source },
        }
    }

    /// Returns the path of the file that changed while it was read, if this caused the error.
    pub fn changed_file(&self) -> Option<&Path> {
        match self {
            Self::FileChanged { path, .. }
            | Self::FileReplaced { path }
            | Self::FileReplacedWhileOpened { path }
            | Self::FileUnreadable { path, .. } => Some(path),
            _ => None,
        }
    }

    /// Converts an error to the one with the message of later releases of BLAST+. In these
    /// releases, errors about unknown taxids name the databases, errors about empty keys name no
    /// file, and exceptions name another line of BLAST+'s source. A missing LMDB file or list of an
    /// alias no longer ends a program with an exception.
    #[must_use]
    pub fn in_later_words(self) -> Self {
        match self {
            Self::NoSuchTaxids { databases, .. } => Self::NoSuchTaxidsInDatabases { databases },
            Self::MissingList { path, .. } => Self::MissingList { path, later_words: true },
            Self::MissingLmdb { path } | Self::MissingTaxidLmdb { path } => {
                Self::MissingLmdbWithAdvice { path }
            }
            Self::MissingOidList { path } | Self::MissingVolumeList { path } => {
                Self::UnmappedList { path }
            }
            Self::EmptyKey { path } => Self::EmptyKey { path: path.with_extension("") },
            error => error,
        }
    }

    /// Returns whether BLAST+ reports the error as one of a file (`CSeqDBException::eFileErr`): a
    /// file or a list that it does not find, or whose contents it refuses.
    pub fn is_file_error(&self) -> bool {
        match self {
            Self::NotFound { .. }
            | Self::MissingMember { .. }
            | Self::AliasCycle { .. }
            | Self::MultipleAliasLists { .. }
            | Self::ConflictingMemberBits
            | Self::MissingFile { .. }
            | Self::MissingLmdbWithAdvice { .. }
            | Self::UnmappedList { .. }
            | Self::UnsupportedVersion { .. }
            | Self::WrongSequenceKind { .. } => true,
            Self::InvalidList { problem, .. } => problem.is_file_error(),
            _ => false,
        }
    }

    /// Returns the exit status: 255 if BLAST+ ends with an exception that it does not catch, 4 if
    /// memory ran out, else 2.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::MissingLmdb { .. }
            | Self::MissingList { .. }
            | Self::MissingOidList { .. }
            | Self::InvalidAliasNumber { .. } => 255,
            Self::InvalidIdentifier(error) if error.is_unexpected() => 255,
            Self::OutOfMemory { .. } => 4,
            Self::Io { source, .. } if source.kind() == std::io::ErrorKind::OutOfMemory => 4,
            _ => 2,
        }
    }

    /// Returns file, position and advice, if the message of BLAST+ lacks them.
    pub fn missing_detail(&self) -> Option<String> {
        const AGAIN: &str = "copy or make the database again";
        match self {
            Self::UnsupportedVersion { path, found } => {
                let path = path.display();
                Some(format!("index file ({path}) byte 0: {found} is no version; {AGAIN}"))
            }
            Self::WrongSequenceKind { path, wanted: None } => Some(format!(
                "index file ({}) byte 4: neither proteins nor nucleotides; {AGAIN}",
                path.display()
            )),
            Self::WrongSequenceKind { path, wanted: Some(kind) } => Some(format!(
                "index file ({}) byte 4: the sequences are not {}s; use a database made with \
                 -dbtype {}",
                path.display(),
                kind.name(),
                kind.dbtype()
            )),
            Self::MissingLmdb { path } | Self::MissingTaxidLmdb { path } => {
                Some(format!("file ({}) is missing; {AGAIN}", path.display()))
            }
            Self::LmdbVolumeMismatch { path, .. } => {
                Some(format!("file ({}) belongs to other volumes; {AGAIN}", path.display()))
            }
            Self::MissingList { path, .. } | Self::MissingOidList { path } => {
                Some(format!("list ({}) does not exist; check the name", path.display()))
            }
            Self::InvalidIdentifier(error) => error.detail(),
            Self::InvalidList { path, .. } => Some(format!("list ({})", path.display())),
            Self::MultipleAliasLists { path, line, .. } => {
                Some(format!("alias file ({}) line {line}; name one list", path.display()))
            }
            Self::AliasCycle { path } => Some(format!(
                "alias file ({}) is reached from itself; correct its DBLIST",
                path.display()
            )),
            _ => None,
        }
    }

    /// Returns the line for standard error, without the line feed.
    pub fn stderr_line(&self) -> String {
        match self.exit_code() {
            255 => format!("Error: {self}"),
            _ => format!("BLAST Database error: {self}"),
        }
    }
}
