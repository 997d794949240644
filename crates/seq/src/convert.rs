//! Parses integers as BLAST+ does, with BLAST+'s error messages (`ncbistr.cpp`).

use std::fmt;

/// The reason why a text is not a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueParseErrorKind {
    /// The text does not start with a value.
    NoValue,
    /// Other text follows the value.
    TrailingText,
    /// The value is too large for 64 bits.
    ExceedsInt64,
    /// The value is too large for 32 bits.
    ExceedsInt32,
}

/// Error for a text that is not a value. `Display` shows the message that BLAST+ prints after
/// `Error: `.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueParseError {
    /// The kind of error.
    fault: ValueParseErrorKind,
    message: String,
    position: usize,
}

impl ValueParseError {
    /// Creates the error for `text` at the byte offset `position`.
    pub fn new(text: &[u8], type_name: &str, fault: ValueParseErrorKind, position: usize) -> Self {
        let overflow = match fault {
            ValueParseErrorKind::NoValue | ValueParseErrorKind::TrailingText => "",
            ValueParseErrorKind::ExceedsInt64 | ValueParseErrorKind::ExceedsInt32 => ", overflow",
        };
        let text = printable(text);
        let message = format!("Cannot convert string '{text}' to {type_name}{overflow}");
        Self { fault, message, position }
    }

    /// Creates the error for a word that is not a boolean.
    pub fn not_boolean() -> Self {
        let message = "String cannot be converted to bool".to_owned();
        Self { fault: ValueParseErrorKind::NoValue, message, position: 0 }
    }

    /// Moves the position of the error over white space, which BLAST+ skips after a number in lists
    /// of taxids. `text` is the text that was parsed.
    #[must_use]
    pub fn after_spaces(mut self, text: &[u8]) -> Self {
        let rest = text.get(self.position..).unwrap_or_default();
        self.position += rest.iter().take_while(|&&byte| is_space(byte)).count();
        self
    }

    /// Returns the message without the position.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the offset of the first invalid byte.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns the line of ncbistr.cpp that throws the exception, for 2.12.0, 2.16.0 and 2.17.0,
    /// and the name of the throwing function.
    pub fn throwing_place(&self) -> ([u32; 3], &'static str) {
        match self.fault {
            ValueParseErrorKind::ExceedsInt32 => ([640; 3], "NStr::StringToInt"),
            ValueParseErrorKind::ExceedsInt64 => ([853, 853, 852], "NStr::StringToInt8"),
            ValueParseErrorKind::NoValue => ([862, 862, 861], "NStr::StringToInt8"),
            ValueParseErrorKind::TrailingText => ([872, 872, 870], "NStr::StringToInt8"),
        }
    }

    /// Returns the exception as 2.12.0 prints it after `Error: ` where the exception is not caught.
    pub fn exception(&self) -> String {
        let ([line, ..], function) = self.throwing_place();
        exception(line, &format!("(CStringException::eConvert) ncbi::{function}() - {self}"))
    }
}

impl fmt::Display for ValueParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (m_Pos = {})", self.message, self.position)
    }
}

/// Formats an uncaught exception as BLAST+ 2.12.0 prints it after `Error: `. That release names a
/// header, but gives the line of the source file that throws the exception.
pub fn exception(line: u32, what: &str) -> String {
    exception_at("c++/include/corelib/ncbidiag.hpp", line, what)
}

/// Formats an uncaught exception, as [`exception`] does, with the source file that throws it. Later
/// releases name this file.
pub fn exception_at(file: &str, line: u32, what: &str) -> String {
    format!("NCBI C++ Exception:\n    T0 \"{file}\", line {line}: Error: {what}\n")
}

/// Escapes all bytes except printable ASCII, as in C strings.
pub fn printable(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'\t' => out.push_str("\\t"),
            0x0b => out.push_str("\\v"),
            0x08 => out.push_str("\\b"),
            b'\r' => out.push_str("\\r"),
            0x0c => out.push_str("\\f"),
            0x07 => out.push_str("\\a"),
            b'\n' => out.push_str("\\n"),
            b'\\' | b'\'' | b'"' => out.extend(['\\', byte.into()]),
            b' '..=b'~' => out.push(byte.into()),
            // Octal escapes have as few digits as possible, unless an octal digit follows.
            _ if matches!(text.get(at + 1), Some(b'0'..=b'7')) => {
                out.push_str(&format!("\\{byte:03o}"));
            }
            _ => out.push_str(&format!("\\{byte:o}")),
        }
    }
    out
}

/// Returns whether a byte is white space in C. Unlike [`u8::is_ascii_whitespace`], this includes
/// the vertical tab.
pub const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Returns the text without white space at its ends (`NStr::TruncateSpaces`).
pub fn trim_spaces(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|&byte| !is_space(byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|&byte| !is_space(byte)).map_or(start, |last| last + 1);
    &text[start..end]
}

/// Parses an integer: an optional sign and one or more digits of `base`, for base 16 also after
/// `0x` (`NStr::StringToInt8`). A NUL after the digits ends the text, as in C strings.
///
/// # Errors
/// [`ValueParseError`] with the offset of the first invalid byte.
pub fn parse_integer(text: &[u8], base: u32) -> Result<i64, ValueParseError> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let prefixed = base == 16 && text.len() >= 2 && text[..2].eq_ignore_ascii_case(b"0x");
    let mut at = if prefixed { 2 } else { start };
    let limit = i128::from(i64::MAX) + i128::from(negative);
    let mut value: i128 = 0;
    while let Some(digit) = text.get(at).and_then(|&byte| char::from(byte).to_digit(base)) {
        value = value * i128::from(base) + i128::from(digit);
        if value > limit {
            return Err(ValueParseError::new(text, "Int8", ValueParseErrorKind::ExceedsInt64, at));
        }
        at += 1;
    }
    if at == start || !matches!(text.get(at), None | Some(0)) {
        let fault = if at == start {
            ValueParseErrorKind::NoValue
        } else {
            ValueParseErrorKind::TrailingText
        };
        return Err(ValueParseError::new(text, "Int8", fault, at));
    }
    let value = if negative { -value } else { value };
    // The limit keeps the value in the range of `i64`.
    Ok(i64::try_from(value).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertical_tabs_are_white_space() {
        assert_eq!(trim_spaces(b"\x0b \t\r\n\x0ca\x0bb\x0b"), b"a\x0bb");
        assert_eq!((trim_spaces(b" \x0b"), trim_spaces(b"\x1fa\0")), (&b""[..], &b"\x1fa\0"[..]));
    }

    #[test]
    fn integers_end_with_a_nul() {
        assert_eq!(parse_integer(b"-12\x00003", 10), Ok(-12));
        let refused = |text: &[u8]| parse_integer(text, 10).map_err(|error| error.fault);
        assert_eq!(refused(b"\x005"), Err(ValueParseErrorKind::NoValue));
        assert_eq!(refused(b"5\x0b\0"), Err(ValueParseErrorKind::TrailingText));
    }

    #[test]
    fn escapes_what_is_not_printable() {
        assert_eq!(printable(b"5\"a\\b'\t\x01\x017\xff"), "5\\\"a\\\\b\\'\\t\\1\\0017\\377");
    }
}
