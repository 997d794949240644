//! Sizes with units, as in `-max_file_sz` (`NStr::StringToUInt8_DataSize`), and sizes of LMDB maps.

use std::ffi::OsStr;
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt;

use fleetblast_job::error::{Error, exit};
use fleetblast_makedb as makedb;
use fleetblast_stats::release::Release;

use super::options_error;
use crate::exceptions::conversion_exception;
use crate::options::number::printable;

/// The least size that BLAST+ refuses as too large.
const TOO_LARGE: u64 = 1 << 32;
/// Letters of the units. Each unit is 1000 (or 1024) times the previous unit.
const UNITS: &[u8] = b"KMGTPE";

/// A fault in the text of a size: the offset, and the line of BLAST+'s source that its message
/// names, in 2.12.0, 2.16.0 and 2.17.0.
struct Fault {
    lines: [u32; 3],
    at: usize,
}

/// Parses `-max_file_sz`, the largest size of a file in bytes.
pub(super) fn limit(text: &OsStr, release: &Release) -> Result<u64, Error> {
    let bytes = text.as_bytes();
    let size = parse(bytes).map_err(|Fault { lines, at }| {
        let text = text.to_string_lossy();
        let exception = conversion_exception(lines, "NStr::StringToUInt8_DataSize");
        let what = format!("Cannot convert string '{text}' to Uint8 (m_Pos = {at})");
        Error::new(exit::UNKNOWN, format!("Error: {}", exception.format(release, &what)))
    })?;
    if size >= TOO_LARGE {
        return Err(options_error("max_file_sz must be < 4 GiB"));
    }
    Ok(size)
}

/// Returns the file size in bytes at which a new file is started. A limit of 0 means slightly less
/// than the default limit (`CWriteDB_File`, writedb_files.cpp).
pub(super) fn volume_size_limit(limit: u64) -> u64 {
    if limit == 0 { 999_999_999 } else { limit }
}

/// Formats a size for the log; BLAST+ divides small sizes down to 0.
pub(super) fn format_for_log(size: u64) -> String {
    if size < 10 * 1024 { "0B".to_owned() } else { format!("{size}B") }
}

/// Parses a number, perhaps with a fraction, and a unit: `1GB`, `1.5 KiB`, `100`.
fn parse(text: &[u8]) -> Result<u64, Fault> {
    let start = usize::from(text.first() == Some(&b'+'));
    let digits = |from: usize| text[from..].iter().take_while(|c| c.is_ascii_digit()).count();
    let whole = digits(start);
    let mut end = start + whole;
    if whole == 0 {
        let is_negative = text.first() == Some(&b'-');
        let lines = if is_negative { [1587, 1587, 1578] } else { [1631, 1631, 1622] };
        return Err(Fault { lines, at: start });
    }
    let mut fraction = 0;
    if text.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        end += if fraction > 0 { 1 + fraction } else { 0 };
    }
    let number: Vec<u8> =
        text[start..end].iter().filter(|c| c.is_ascii_digit()).map(|c| c - b'0').collect();
    let (power, base, end) = unit(text, end);
    if end != text.len() {
        return Err(Fault { lines: [1683, 1683, 1674], at: end });
    }
    const TOO_MANY_DIGITS: [u32; 3] = [1759, 1759, 1750];
    // The digits are a whole number of 10^-fraction; fractions of a byte are dropped.
    let mut size: u128 = 0;
    for (i, &digit) in number.iter().enumerate() {
        size = size * 10 + u128::from(digit);
        if size >> 100 != 0 {
            return Err(Fault { lines: TOO_MANY_DIGITS, at: start + i });
        }
    }
    let size = size * u128::from(base).pow(power) / 10u128.saturating_pow(fraction as u32);
    let last = start + number.len() - 1;
    u64::try_from(size).map_err(|_| Fault { lines: TOO_MANY_DIGITS, at: last })
}

/// Parses a unit. Returns the exponent and the base of its factor, and the offset after the unit.
fn unit(text: &[u8], start: usize) -> (u32, u64, usize) {
    let upper = |at: usize| text.get(at).map(u8::to_ascii_uppercase);
    let at = start + usize::from(text.get(start) == Some(&b' '));
    let letter = upper(at);
    if letter == Some(b'B') {
        return (0, 1000, at + 1);
    }
    let Some(power) = UNITS.iter().position(|&unit| letter == Some(unit)) else {
        return (0, 1000, start);
    };
    let power = power as u32 + 1;
    match (upper(at + 1), upper(at + 2)) {
        (Some(b'I'), Some(b'B')) => (power, 1024, at + 3),
        (Some(b'B'), _) => (power, 1000, at + 2),
        _ => (power, 1000, at + 1),
    }
}

/// Environment variable for the size of LMDB maps, for file systems and machines with little room.
pub(super) const MAP_SIZE: &str = "BLASTDB_LMDB_MAP_SIZE";

/// Parses the size of LMDB maps: bytes in decimal digits. Without the variable, or with 0, the
/// program chooses the size.
pub(super) fn parse_map_size(
    text: Option<&OsStr>,
) -> Result<Option<NonZero<u64>>, makedb::MakedbError> {
    let Some(text) = text.map(OsStr::as_bytes) else { return Ok(None) };
    let digits = text.strip_prefix(b"+").unwrap_or(text);
    let is_number = digits.iter().all(u8::is_ascii_digit);
    let size = std::str::from_utf8(digits).ok().filter(|_| is_number);
    match size.and_then(|digits| digits.parse().ok()) {
        Some(size) => Ok(NonZero::new(size)),
        None => Err(makedb::MakedbError::InvalidMapSize(printable(text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_maps_are_digits() {
        let size =
            |text: &str| parse_map_size(Some(OsStr::new(text))).map_err(|error| error.to_string());
        assert_eq!(parse_map_size(None).unwrap(), None);
        assert_eq!((size("0"), size("+50000")), (Ok(None), Ok(NonZero::new(50_000))));
        assert_eq!(
            (size("007"), size("18446744073709551615")),
            (Ok(NonZero::new(7)), Ok(NonZero::new(u64::MAX)))
        );
        for text in
            ["", "abc", "-1", " 5", "5 ", "1e6", "0x10", "1GB", "++1", "18446744073709551616"]
        {
            let said = format!("Cannot convert string '{text}' to Uint8");
            assert_eq!(size(text), Err(said), "{text}");
        }
        assert!(size("5\n").unwrap_err().contains("'5\\n'"));
    }

    #[test]
    fn sizes_have_decimal_and_binary_units() {
        let size = |text: &str| parse(text.as_bytes()).ok();
        assert_eq!(size("1GB"), Some(1_000_000_000));
        assert_eq!(size("4GiB"), Some(1 << 32));
        assert_eq!(size("1.5MB"), Some(1_500_000));
        assert_eq!(size("5 KB"), Some(5000));
        assert_eq!(size("12345K"), Some(12_345_000));
        assert_eq!(size("+7b"), Some(7));
        assert_eq!(
            (size("1e6"), size("abc"), size(""), size("1K "), size("-1")),
            Default::default()
        );
        assert_eq!(size("99999999999999999999"), None);
        assert_eq!(size(&"9".repeat(500)), None);
        assert_eq!(size(&format!("1.{}", "0".repeat(20))), Some(1));
    }

    /// The expected files and lines are those in the messages of the three releases.
    #[test]
    fn messages_name_the_places_of_the_release() {
        let place = |text: &str, release| {
            let message = limit(OsStr::new(text), release).expect_err("no size").message;
            message.split('"').nth(1).expect("a file").to_owned()
                + message.split('"').nth(2).expect("a line").split(':').next().expect("a line")
        };
        for (text, line) in [("-5", 1587), ("x", 1631), ("1XB", 1683), (&"9".repeat(20), 1759)] {
            let header = format!("c++/include/corelib/ncbidiag.hpp, line {line}");
            assert_eq!(place(text, &Release::V2_12_0), header);
            let file = "./c++/src/corelib/ncbistr.cpp, line";
            assert_eq!(place(text, &Release::V2_16_0), format!("{file} {line}"));
            assert_eq!(place(text, &Release::V2_17_0), format!("{file} {}", line - 9));
        }
    }
}
