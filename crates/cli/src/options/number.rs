//! Numbers and Booleans, parsed like in BLAST+, with its error messages (`ncbistr.cpp`).

use fleetblast_seq::convert::parse_integer;
pub use fleetblast_seq::convert::{ValueParseError, ValueParseErrorKind, printable};

/// Parses a 64-bit integer: decimal, or hexadecimal after `0x`.
///
/// # Errors
/// [`ValueParseError`] with the offset of the first bad byte.
pub fn parse_int8(text: &[u8]) -> Result<i64, ValueParseError> {
    match parse_integer(text, 10) {
        Err(_) if text.len() >= 2 && text[..2].eq_ignore_ascii_case(b"0x") => {
            parse_integer(text, 16)
        }
        result => result,
    }
}

/// Parses a 32-bit integer that BLAST+ parses only after it has read all options
/// (`NStr::StringToInt`): decimal only.
///
/// # Errors
/// [`ValueParseError`]; a number beyond 32 bits counts as overflow at offset 0.
pub fn parse_int4(text: &[u8]) -> Result<i32, ValueParseError> {
    let value = parse_integer(text, 10)?;
    i32::try_from(value)
        .map_err(|_| ValueParseError::new(text, "int", ValueParseErrorKind::ExceedsInt32, 0))
}

/// Parses a floating-point number in C syntax. An exponent may also end after its letter (`1e`).
///
/// # Errors
/// [`ValueParseError`] with the offset of the first bad byte.
pub fn parse_double(text: &[u8]) -> Result<f64, ValueParseError> {
    let (value, mut end) = parse_real(text)?;
    if end + 1 == text.len() && matches!(text[end], b'e' | b'E') && !is_special(text) {
        end += 1;
    }
    require_end(value, end, text)
}

/// Parses a floating-point number like BLAST+ when it checks a constraint: C syntax only.
///
/// # Errors
/// [`ValueParseError`] with the offset of the first bad byte.
pub fn parse_double_strict(text: &[u8]) -> Result<f64, ValueParseError> {
    let (value, end) = parse_real(text)?;
    require_end(value, end, text)
}

fn require_end(value: f64, end: usize, text: &[u8]) -> Result<f64, ValueParseError> {
    if end == text.len() {
        Ok(value)
    } else {
        Err(ValueParseError::new(text, "double", ValueParseErrorKind::TrailingText, end))
    }
}

/// Returns whether a number is hexadecimal, infinite or NaN. An exponent letter after such a number
/// has no meaning.
fn is_special(text: &[u8]) -> bool {
    let sign = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let rest = &text[sign..];
    !matches!(rest.first(), Some(b'0'..=b'9' | b'.')) || hex_prefix(rest)
}

fn hex_prefix(text: &[u8]) -> bool {
    text.len() > 2
        && text[..2].eq_ignore_ascii_case(b"0x")
        && text[2..].iter().find(|&&byte| byte != b'.').is_some_and(u8::is_ascii_hexdigit)
}

/// Parses the longest number at the start of a text; returns its value and its end.
fn parse_real(text: &[u8]) -> Result<(f64, usize), ValueParseError> {
    let bad = || ValueParseError::new(text, "double", ValueParseErrorKind::NoValue, 0);
    if !matches!(text.first(), Some(b'0'..=b'9' | b'.' | b'-' | b'+')) {
        return Err(bad());
    }
    let start = usize::from(matches!(text[0], b'-' | b'+'));
    let sign = if text[0] == b'-' { -1.0 } else { 1.0 };
    let rest = &text[start..];
    for (word, value) in [("infinity", f64::INFINITY), ("inf", f64::INFINITY), ("nan", f64::NAN)] {
        if rest.len() >= word.len() && rest[..word.len()].eq_ignore_ascii_case(word.as_bytes()) {
            return Ok((sign * value, start + word.len()));
        }
    }
    if hex_prefix(rest) {
        let (value, length) = hexadecimal(&rest[2..]);
        return Ok((sign * value, start + 2 + length));
    }
    let length = decimal_length(rest).ok_or_else(bad)?;
    // These bytes are ASCII digits, points, signs and an exponent letter. Rust parses this form
    // too.
    let value = std::str::from_utf8(&rest[..length]).ok().and_then(|digits| digits.parse().ok());
    let value: f64 = value.ok_or_else(bad)?;
    Ok((sign * value, start + length))
}

fn count_digits(text: &[u8], from: usize) -> usize {
    text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Returns the length of the unsigned decimal number at the start of a text; `None` without a
/// digit.
fn decimal_length(text: &[u8]) -> Option<usize> {
    let whole = count_digits(text, 0);
    let mut end = whole;
    let mut any = whole > 0;
    if text.get(end) == Some(&b'.') {
        let fraction = count_digits(text, end + 1);
        any |= fraction > 0;
        end += 1 + fraction;
    }
    if !any {
        return None;
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'-' | b'+')));
        let from = (end + 1 + sign).min(text.len());
        let exponent = count_digits(text, from);
        if exponent > 0 {
            end = from + exponent;
        }
    }
    Some(end)
}

/// Parses hexadecimal digits after `0x`, with an optional point and binary exponent. Returns the
/// value and its length in bytes.
fn hexadecimal(text: &[u8]) -> (f64, usize) {
    let (mut value, mut scale, mut end, mut point) = (0.0_f64, 1.0_f64, 0, false);
    while let Some(&byte) = text.get(end) {
        match char::from(byte).to_digit(16) {
            Some(digit) => {
                value = value * 16.0 + f64::from(digit);
                if point {
                    scale /= 16.0;
                }
            }
            None if byte == b'.' && !point => point = true,
            None => break,
        }
        end += 1;
    }
    value *= scale;
    if matches!(text.get(end), Some(b'p' | b'P')) {
        let negative = text.get(end + 1) == Some(&b'-');
        let sign = usize::from(matches!(text.get(end + 1), Some(b'-' | b'+')));
        let from = (end + 1 + sign).min(text.len());
        let length = count_digits(text, from);
        if length > 0 {
            let power = text[from..from + length].iter().fold(0, |n: i32, digit| {
                n.saturating_mul(10).saturating_add(i32::from(digit - b'0'))
            });
            value *= 2.0_f64.powi(if negative { -power } else { power });
            end = from + length;
        }
    }
    (value, end)
}

/// Parses true or false in BLAST+'s spellings, in any case.
///
/// # Errors
/// [`ValueParseError`] for any other word.
pub fn parse_bool(text: &[u8]) -> Result<bool, ValueParseError> {
    let is = |words: [&str; 5]| words.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()));
    if is(["1", "true", "t", "yes", "y"]) {
        Ok(true)
    } else if is(["0", "false", "f", "no", "n"]) {
        Ok(false)
    } else {
        Err(ValueParseError::not_boolean())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expected offsets are from `blastp -evalue TEXT` and `blastp -word_size TEXT`.
    #[test]
    fn doubles_end_where_blast_says() {
        for (text, position) in [
            ("", 0),
            ("abc", 0),
            ("nan", 0),
            (" 5", 0),
            ("-", 0),
            (".", 0),
            ("5 ", 1),
            ("0x", 1),
            ("1e+", 1),
            ("1e-x", 1),
            ("1.2.3", 3),
            ("5e5e5", 3),
        ] {
            let error = parse_double(text.as_bytes()).unwrap_err();
            assert_eq!(error.position(), position, "{text}");
        }
        for (text, value) in [
            ("1e", 1.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("+5", 5.0),
            ("-1E-3", -0.001),
            ("1e400", f64::INFINITY),
            ("1e-500", 0.0),
            ("-inf", f64::NEG_INFINITY),
            ("0x10", 16.0),
            ("0x1p3", 8.0),
            ("0x.8", 0.5),
        ] {
            assert_eq!(parse_double(text.as_bytes()), Ok(value), "{text}");
        }
        assert!(parse_double_strict(b"1e").is_err());
    }

    #[test]
    fn integers_end_where_blast_says() {
        for (text, position) in [
            ("", 0),
            ("abc", 0),
            ("3.5", 1),
            ("+", 1),
            ("--", 1),
            ("0xzz", 2),
            ("-0x5", 2),
            ("99999999999999999999", 18),
            ("0x123456789abcdef01", 18),
            ("-9223372036854775809", 19),
        ] {
            let error = parse_int8(text.as_bytes()).unwrap_err();
            assert_eq!(error.position(), position, "{text}");
        }
        for (text, value) in
            [("05", 5), ("+3", 3), ("0x", 0), ("0X1f", 31), ("-9223372036854775808", i64::MIN)]
        {
            assert_eq!(parse_int8(text.as_bytes()), Ok(value), "{text}");
        }
    }
}
