//! Formats numbers as reports print them: by C's `%e` and `%g`, and by rules built on these.
//!
//! Rust rounds digits correctly, as glibc does. Only the form of the exponent differs.

use crate::extended;

/// Formats as C's `%.{decimals}e`: the exponent has a sign and at least two digits.
pub fn exponential(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$e}");
    match text.split_once('e') {
        Some((digits, exponent)) => with_exponent(digits, exponent.parse().unwrap_or(0)),
        None => text,
    }
}

/// Formats as C's `%.{digits}g`. With `keep_zeros` it formats as `%#.{digits}g`, which keeps
/// trailing zeros and the decimal point.
pub fn general(value: f64, digits: usize, keep_zeros: bool) -> String {
    let decimals = digits.max(1) - 1;
    let text = format!("{value:.decimals$e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent > decimals as i32 {
        let mantissa = if keep_zeros { mantissa } else { without_zeros(mantissa) };
        return with_exponent(mantissa, exponent);
    }
    let decimals = (decimals as i32 - exponent) as usize;
    let fixed = format!("{value:.decimals$}");
    match (keep_zeros, decimals) {
        (true, 0) => fixed + ".",
        (true, _) => fixed,
        (false, _) => without_zeros(&fixed).to_string(),
    }
}

/// Number of digits that NCBI's writers of XML and ASN.1 print.
const PRECISION: usize = 15;

/// Formats a double as NCBI's XML writer does: as `%.15g`, with the digits of [`fifteen_digits`]
/// (`NStr::DoubleToStringPosix`, ncbistr.cpp).
pub fn posix(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_string() } else { value.to_string() };
    }
    let (digits, exponent) = fifteen_digits(value.abs());
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", place_point(&digits, exponent, PRECISION as i32))
}

/// Returns the first fifteen digits of a positive number, without zeros at their end, and the
/// decimal exponent of the first digit. They are not always those of the nearest number of fifteen
/// digits (`NStr::DoubleToString_Ecvt`, ncbistr.cpp).
///
/// [`extended::decimal_digits`] returns seventeen digits, computed with less than full precision.
/// They are rounded to fifteen. A 4 in the sixteenth place rounds up if six or more nines end in
/// the fourteenth place. A 5 rounds down if seven or more zeros precede it.
pub fn fifteen_digits(value: f64) -> (String, i32) {
    let (mut digits, mut exponent) = extended::decimal_digits(value);
    correct_after_run(&mut digits, PRECISION);
    let up = digits[PRECISION] >= b'5';
    digits.truncate(PRECISION);
    if up && carry(&mut digits) {
        exponent += 1;
    }
    while digits.len() > 1 && digits.last() == Some(&b'0') {
        digits.pop();
    }
    (digits.iter().map(|&digit| char::from(digit)).collect(), exponent)
}

/// Corrects `digits[place]` before rounding if a long run of nines or zeros precedes it. It turns a
/// 4 into a 5 or a 5 into a 4.
fn correct_after_run(digits: &mut [u8], place: usize) {
    let run = |from: usize, of: u8| {
        let length = digits[1..from].iter().rev().take_while(|&&d| d == of).count();
        // A run that reaches back to the first digit does not count.
        if length + 1 >= from { 0 } else { length }
    };
    match digits[place] {
        b'4' if run(place - 1, b'9') + 2 > place / 2 => digits[place] = b'5',
        b'5' if run(place, b'0') + 1 > place / 2 => digits[place] = b'4',
        _ => {}
    }
}

/// Adds one unit in the last place. Returns true if the sum needs one more digit; then `digits`
/// holds `1000...`, one digit short.
fn carry(digits: &mut [u8]) -> bool {
    for digit in digits.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return false;
        }
        *digit = b'0';
    }
    digits[0] = b'1';
    true
}

fn place_point(digits: &str, exponent: i32, precision: i32) -> String {
    if exponent < -4 || exponent >= precision {
        let (first, rest) = digits.split_at(1);
        let mantissa = if rest.is_empty() { first.to_string() } else { format!("{first}.{rest}") };
        return with_exponent(&mantissa, exponent);
    }
    if exponent < 0 {
        return format!("0.{}{digits}", "0".repeat((-exponent - 1) as usize));
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        format!("{digits}{}", "0".repeat(whole - digits.len()))
    } else {
        format!("{}.{}", &digits[..whole], &digits[whole..])
    }
}

fn with_exponent(mantissa: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

fn without_zeros(number: &str) -> &str {
    if !number.contains('.') {
        return number;
    }
    number.trim_end_matches('0').trim_end_matches('.')
}

/// E-values below this are 0 in every format (`SMALLEST_EVALUE`, blast_seqalign.cpp).
const SMALLEST_EVALUE: f64 = 1.0e-180;

/// Returns an e-value as reports use it: 0 if it is below 1e-180.
pub fn stored_evalue(value: f64) -> f64 {
    if value < SMALLEST_EVALUE { 0.0 } else { value }
}

/// Formats an e-value for the pairwise report and the description table (`GetScoreString`,
/// align_format_util.cpp).
pub fn evalue(value: f64) -> String {
    if value < SMALLEST_EVALUE {
        "0.0".to_string()
    } else if value < 0.0009 {
        exponential(value, 0)
    } else if value < 0.1 {
        format!("{value:.3}")
    } else if value < 1.0 {
        format!("{value:.2}")
    } else if value < 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:2.0}")
    }
}

/// Formats an e-value for the tabular formats, which print two decimals if it has an exponent
/// (`SetScores`, tabular.cpp).
pub fn tabular_evalue(value: f64) -> String {
    if (SMALLEST_EVALUE..0.0009).contains(&value) { exponential(value, 2) } else { evalue(value) }
}

/// Formats a bit score, padded to four columns (`GetScoreString`, align_format_util.cpp).
pub fn bits(value: f64) -> String {
    large_bits(value).unwrap_or_else(|| format!("{value:4.1}"))
}

/// Formats the sum of a subject's bit scores, without padding.
pub fn total_bits(value: f64) -> String {
    large_bits(value).unwrap_or_else(|| format!("{value:.1}"))
}

fn large_bits(value: f64) -> Option<String> {
    if value > 99_999.0 {
        Some(exponential(value, 3))
    } else if value > 99.9 {
        Some(format!("{:3}", value as i64))
    } else {
        None
    }
}

/// Appends a whole number.
pub fn append_decimal(mut value: u32, out: &mut Vec<u8>) {
    let start = out.len();
    loop {
        out.push(b'0' + (value % 10) as u8);
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out[start..].reverse();
}

/// Formats a count with commas between groups of three digits: `17,613`.
pub fn with_commas(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut text = if value < 0 { "-".to_string() } else { String::new() };
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns `part / whole` in per cent, rounded to a whole number. It is 100 only if both numbers
/// are equal (`GetPercentMatch`).
pub fn percent(part: usize, whole: usize) -> u32 {
    if part == whole {
        return 100;
    }
    ((0.5 + 100.0 * part as f64 / whole as f64) as u32).min(99)
}

/// Returns the coverage in per cent as a whole number. BLAST+ rounds values below 99 to the nearest
/// one and others down (tabular.cpp, blastfmtutil.cpp).
pub fn coverage(covered: usize, whole: usize) -> u32 {
    let share = 100.0 * covered as f64 / whole as f64;
    if share < 99.0 { (share + 0.5) as u32 } else { share as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: `printf '%.2e'`, `%.0e`, `%g`, `%#8.3g` of glibc.
    #[test]
    fn c_formats() {
        assert_eq!(exponential(1.884_07e-104, 2), "1.88e-104");
        assert_eq!(exponential(7.5e-8, 0), "7e-08"); // 7.5e-8 in binary is a little less
        assert_eq!(exponential(0.0, 2), "0.00e+00");
        assert_eq!(exponential(110_800.0, 3), "1.108e+05");
        assert_eq!(general(1.884_070_1e-104, 6, false), "1.88407e-104");
        assert_eq!(general(10_685.44, 6, false), "10685.4");
        assert_eq!(general(1_000_000.0, 6, false), "1e+06");
        assert_eq!(general(0.0001, 6, false), "0.0001");
        assert_eq!(general(0.00001, 6, false), "1e-05");
        assert_eq!(general(0.0, 3, true), "0.00");
        assert_eq!(general(42.6028, 3, true), "42.6");
        assert_eq!(general(135.9, 3, true), "136.");
        assert_eq!(general(0.041, 3, true), "0.0410");
        assert_eq!(general(999_999.5, 6, false), "1e+06");
    }

    /// Expected values: `Parameters_expect`, `Statistics_*` of `blastp -outfmt 5`.
    #[test]
    fn xml_doubles() {
        assert_eq!(posix(10.0), "10");
        assert_eq!(posix(1e-5), "1e-05");
        assert_eq!(posix(0.0001), "0.0001");
        assert_eq!(posix(1e-200), "1e-200");
        assert_eq!(posix(123_456_789.0), "123456789");
        assert_eq!(posix(123_456_789_012_345.0), "123456789012345");
        assert_eq!(posix(1_234_567_890_123_456.0), "1.23456789012346e+15");
        assert_eq!(posix(14_999_999_999_992_350.0), "1.49999999999923e+16");
        assert_eq!(posix(0.128_295_710_962_107), "0.128295710962107");
        assert_eq!(posix(286.96), "286.96");
        assert_eq!(posix(-1.0), "-1");
        assert_eq!(posix(0.041), "0.041");
        assert_eq!(posix(0.0), "0");
        assert_eq!(posix(9.999_999_999_999_999_9), "10");
    }

    #[test]
    fn evalues_and_bits() {
        let values =
            [9e-181, 2.4e-104, 7e-99, 8.4e-8, 0.0009, 0.028, 0.27, 1.6, 9.96, 27.4, 10_221.0];
        let texts: Vec<_> = values.iter().map(|&v| evalue(v)).collect();
        assert_eq!(
            texts,
            [
                "0.0", "2e-104", "7e-99", "8e-08", "0.001", "0.028", "0.27", "1.6", "10.0", "27",
                "10221"
            ]
        );
        assert_eq!(tabular_evalue(2.4e-104), "2.40e-104");
        assert_eq!(tabular_evalue(0.0), "0.0");
        let scores = [9.62, 94.4, 99.85, 99.95, 286.96, 110_800.4];
        let texts: Vec<_> = scores.iter().map(|&v| bits(v)).collect();
        assert_eq!(texts, [" 9.6", "94.4", "99.8", " 99", "286", "1.108e+05"]);
        assert_eq!(total_bits(9.62), "9.6");
    }

    #[test]
    fn shares() {
        assert_eq!((percent(7, 7), percent(999, 1000), percent(1, 200)), (100, 99, 1));
        assert_eq!((percent(113, 200), percent(46, 80)), (57, 58));
        assert_eq!((coverage(995, 1000), coverage(989, 1000), coverage(1, 1)), (99, 99, 100));
        assert_eq!(with_commas(17_613), "17,613");
        assert_eq!(with_commas(100), "100");
        assert_eq!(with_commas(-1_234_567), "-1,234,567");
    }
}
