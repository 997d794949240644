//! Formats real numbers with 15 digits as NCBI's toolkit does (`NStr::DoubleToString_Ecvt`,
//! ncbistr.cpp). They are not always the nearest numbers of 15 digits.
//!
//! The toolkit computes 17 digits by products with 64 bits, corrects the sixteenth digit by its
//! neighbours, and rounds.

use std::fmt::Write as _;

/// Number of digits that are kept.
const DIGITS: usize = 15;
/// Number of digits in the first step of the computation, and in the second one.
const FIRST: u32 = 9;
const SECOND: u32 = 8;

/// Returns the digits of a positive number without leading zeros, and the decimal exponent of the
/// first digit.
fn digits(value: f64) -> (Vec<u8>, i32) {
    // With forty digits, rounding does not reach the next power of ten, so the exponent is exact.
    let exact = format!("{value:.40e}");
    let exponent = exact.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let Some(taken) = seventeen(value, exponent) else {
        let text = format!("{value:.14e}");
        let digits = text.bytes().take_while(|&byte| byte != b'e').filter(u8::is_ascii_digit);
        return (digits.collect(), exponent);
    };
    rounded(taken, exponent)
}

/// Returns the first 17 digits of a number; `exponent` is the decimal exponent of its first digit.
/// Returns `None` if the toolkit does not scale the number by a single multiplication.
fn seventeen(value: f64, exponent: i32) -> Option<Vec<u8>> {
    let power = u32::try_from(FIRST as i32 - 1 - exponent).ok().filter(|&power| power <= 24)?;
    let bits = value.to_bits();
    // The number is not subnormal, so its first bit is implicit.
    let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
    let scale = (bits >> 52 & 0x7ff) as i32 - 1075;
    // A power of ten is a power of five times a power of two, and only the former needs a product.
    // The product is rounded to the nearest number of 64 bits, a tie to the even one.
    let product = u128::from(mantissa) * 5_u128.pow(power);
    let excess = (128 - product.leading_zeros()).saturating_sub(64);
    let (kept, rest) = (product >> excess, product & ((1 << excess) - 1));
    let half = if excess == 0 { u128::MAX } else { 1 << (excess - 1) };
    let up = rest > half || rest == half && kept & 1 == 1;
    let kept = kept + u128::from(up);
    let below = u32::try_from(-(scale + power as i32 + excess as i32)).ok()?;
    let least = 10_u128.pow(FIRST - 1);
    let (first, part) = match kept >> below {
        first if first >= 10 * least => (10 * least - 1, kept - ((10 * least - 1) << below)),
        first if first < least => (least, 0),
        first => (first, kept & ((1 << below) - 1)),
    };
    let most = 10_u128.pow(SECOND);
    let second = ((part * most) >> below).min(most - 1);
    Some(format!("{first}{second:08}").into_bytes())
}

/// Rounds digits to the first [`DIGITS`]. Returns them with their exponent, which is one higher if
/// all were nines.
fn rounded(mut taken: Vec<u8>, exponent: i32) -> (Vec<u8>, i32) {
    let run = |digits: &[u8], digit: u8| {
        let length = digits.iter().rev().take_while(|&&d| d == digit).count();
        // The toolkit does not look at the first digit.
        if length + 1 < digits.len() { length + 1 } else { 0 }
    };
    match taken[DIGITS] {
        b'4' if run(&taken[..DIGITS - 1], b'9') + 1 > DIGITS / 2 => taken[DIGITS] = b'5',
        b'5' if run(&taken[..DIGITS], b'0') > DIGITS / 2 => taken[DIGITS] = b'4',
        _ => {}
    }
    let up = taken[DIGITS] >= b'5';
    taken.truncate(DIGITS);
    if up {
        while taken.last() == Some(&b'9') {
            taken.pop();
        }
        match taken.last_mut() {
            Some(last) => *last += 1,
            None => return (vec![b'1'], exponent + 1),
        }
    }
    (taken, exponent)
}

/// Formats a number as ASN.1 text: mantissa, base and exponent, such as `{ 267, 10, -3 }`.
pub fn format_real(value: f64) -> String {
    if value == 0.0 {
        return "{ 0, 10, 0 }".to_owned();
    }
    let (mut digits, exponent) = digits(value.abs());
    while digits.len() > 1 && digits.last() == Some(&b'0') {
        digits.pop();
    }
    let mut text = String::from("{ ");
    if value < 0.0 {
        text.push('-');
    }
    text += &String::from_utf8_lossy(&digits);
    // Writing to a string cannot fail.
    let _ = write!(text, ", 10, {} }}", exponent - (digits.len() as i32 - 1));
    text
}

#[cfg(test)]
mod tests {
    use super::format_real;

    #[test]
    fn numbers_have_fifteen_digits_without_zeros_at_their_end() {
        let all = [0.0, 1.0, -2.5, 0.267, 1_000_000.0, 0.038_875_291_065_279_4, 1.0 / 3.0, 0.01];
        assert_eq!(
            all.map(format_real),
            [
                "{ 0, 10, 0 }",
                "{ 1, 10, 0 }",
                "{ -25, 10, -1 }",
                "{ 267, 10, -3 }",
                "{ 1, 10, 6 }",
                "{ 388752910652794, 10, -16 }",
                "{ 333333333333333, 10, -15 }",
                "{ 1, 10, -2 }"
            ]
        );
        assert_eq!(format_real(1e-300), "{ 1, 10, -300 }");
        assert_eq!(format_real(1e300), "{ 1, 10, 300 }");
    }
}
