//! Option values as text.

use std::ffi::OsStr;

/// Converts a value to text, for messages and for parsing; bytes that are not UTF-8 are replaced.
pub fn to_text(text: &OsStr) -> String {
    text.to_string_lossy().into_owned()
}
