//! Formats real numbers with 15 digits as NCBI's toolkit does (`NStr::DoubleToString_Ecvt`,
//! ncbistr.cpp). They are not always the nearest numbers of 15 digits.
//!
//! The toolkit computes 17 digits with the 64 bits of a `long double` of x86, corrects the
//! sixteenth digit by its neighbours, and rounds.

use std::fmt::Write as _;

use fleetblast_stats::extended::Extended;

/// Number of digits that are kept.
const DIGITS: usize = 15;
/// Number of digits in the first step of the computation, and in the second one.
const FIRST: u32 = 9;
const SECOND: u32 = 8;

/// Returns the digits of a positive number without leading zeros, and the decimal exponent of the
/// first digit.
fn digits(value: f64) -> (Vec<u8>, i32) {
    let (taken, exponent) = seventeen(Extended::from(value));
    rounded(taken, exponent)
}

/// Returns the first 17 digits of a number, and the decimal exponent of the first one.
fn seventeen(mut value: Extended) -> (Vec<u8>, i32) {
    let mut exponent = 0;
    let mut scale = |value: &mut Extended, power: i32| {
        *value = value.times(Extended::power_of_ten(power));
        exponent -= power;
    };
    // Brings the number between 1e-16 and 1e16.
    let is_large = value >= Extended::power_of_ten(0);
    let is_beyond = |value: &Extended, power: i32| match is_large {
        true => *value >= Extended::power_of_ten(power),
        false => *value <= Extended::power_of_ten(-power),
    };
    let back = if is_large { -1 } else { 1 };
    while is_beyond(&value, 256) {
        scale(&mut value, 256 * back);
    }
    if let Some(step) = (1..16).rev().find(|step| is_beyond(&value, 16 * step)) {
        scale(&mut value, 16 * step * back);
    }
    let (least, most) = if is_large { (-1, 16) } else { (-16, 0) };
    let is_below = |power: &i32| value < Extended::power_of_ten(power + 1);
    let place = (least..most).find(is_below).unwrap_or(most);
    let scaled = value.times(Extended::power_of_ten(FIRST as i32 - 1 - place));
    let least = 10_u64.pow(FIRST - 1);
    let (first, part) = match scaled.split() {
        (first, part) if first >= 10 * least => {
            (10 * least - 1, Some(part.plus(first - (10 * least - 1))))
        }
        (first, _) if first < least => (least, None),
        (first, part) => (first, Some(part)),
    };
    let most = 10_u64.pow(SECOND);
    let second = part.map_or(0, |part| part.times(Extended::from(most as f64)).split().0);
    (format!("{first}{:08}", second.min(most - 1)).into_bytes(), exponent + place)
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
