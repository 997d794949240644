//! The messages of `blastdbcmd`.

use crate::messages::complain;

/// Formats a message of the retrieval like BLAST+.
pub(super) fn format_message(message: &str) -> String {
    format!("Error: [blastdbcmd] {message}")
}

/// Writes an error that does not end the program.
pub(super) fn error(message: &str) {
    complain(&format_message(message));
}

/// Writes a warning.
pub(super) fn warn(message: &str) {
    complain(&format!("Warning: [blastdbcmd] {message}"));
}
