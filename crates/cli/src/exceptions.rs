//! The exceptions that BLAST+ prints for errors of databases and files.

use fleetblast_db::DbError;
use fleetblast_job::error::Error;
use fleetblast_seq::convert::exception;

use crate::logfile;

/// Converts the error that ends `segmasker` or `convert2blastmask` to the exception that BLAST+
/// prints on standard error, whatever the file of `-logfile`.
pub(crate) fn convert_last_error(error: Error) -> Error {
    logfile::restore();
    match error.message.strip_prefix("Command line argument error: ") {
        Some(what) => {
            let message = exception(609, &format!("(CArgException::eNoFile) {what}"));
            Error { message, ..error }
        }
        None => error,
    }
}

/// An exception of NCBI's toolkit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exception {
    /// Line of the toolkit's source.
    pub(crate) line: u32,
    /// Class with the kind of error.
    pub(crate) class: &'static str,
    /// Function that throws it.
    pub(crate) function: &'static str,
}

impl Exception {
    /// Returns the exception with the text of this error, if BLAST+ throws one.
    pub(crate) fn for_database_error(error: &DbError) -> Option<Self> {
        let (file, argument) = ("CSeqDBException::eFileErr", "CSeqDBException::eArgErr");
        let (line, class, function) = match error {
            DbError::NotFound { .. } => (317, file, "CSeqDBAliasNode::x_ResolveNames"),
            DbError::MissingFile { .. } => (128, file, "CSeqDBExtFile::CSeqDBExtFile"),
            DbError::NameRequired => (162, argument, "CSeqDB::CSeqDB"),
            _ => return None,
        };
        Some(Self { line, class, function })
    }

    /// Formats the exception with a description of the error.
    pub(crate) fn format(self, what: &str) -> String {
        let Self { line, class, function } = self;
        exception(line, &format!("({class}) ncbi::{function}() - {what}"))
    }
}
