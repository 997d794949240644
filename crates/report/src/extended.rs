//! Computes decimal digits as NCBI's toolkit does, by arithmetic with mantissas of 64 bits.

use fleetblast_stats::extended::Extended;

/// Returns the first seventeen decimal digits of a positive double, and the decimal exponent of the
/// first digit. Intermediate products are rounded, as in `NStr::DoubleToString_Ecvt` (ncbistr.cpp).
pub fn decimal_digits(value: f64) -> (Vec<u8>, i32) {
    let (scaled, exponent) = scale(Extended::from(value));
    let limit = |power: i32| 10_u64.pow(power as u32);
    let (whole, rest) = scaled.split();
    let (first, second) = if whole >= limit(9) {
        (limit(9) - 1, limit(8) - 1)
    } else if whole < limit(8) {
        (limit(8), 0)
    } else {
        let more = rest.times(Extended::power_of_ten(8)).split().0;
        (whole, more.min(limit(8) - 1))
    };
    (format!("{first:09}{second:08}").into_bytes(), exponent)
}

/// Scales the number by a power of ten so that it has nine digits before its point. Also returns
/// the decimal exponent of its first digit.
fn scale(mut value: Extended) -> (Extended, i32) {
    let one = Extended::power_of_ten(0);
    // Large numbers are multiplied by negative powers of ten, small numbers by positive ones.
    let sign = if value >= one { 1 } else { -1 };
    let beyond = |value: Extended, power: i32| match sign {
        1 => value >= Extended::power_of_ten(power),
        _ => value <= Extended::power_of_ten(-power),
    };
    let mut exponent = 0;
    while beyond(value, 256) {
        value = value.times(Extended::power_of_ten(-sign * 256));
        exponent += sign * 256;
    }
    if let Some(power) = (1..16).rev().map(|step| 16 * step).find(|&power| beyond(value, power)) {
        value = value.times(Extended::power_of_ten(-sign * power));
        exponent += sign * power;
    }
    let below = |power: i32| value < Extended::power_of_ten(power);
    let first = match sign {
        1 => (-1..16).find(|&power| below(power + 1)).unwrap_or(16),
        _ => (-16..0).find(|&power| below(power + 1)).unwrap_or(0),
    };
    (value.times(Extended::power_of_ten(8 - first)), exponent + first)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: results of NCBI's code, compiled with `long double` of 80 bits.
    #[test]
    fn digits_are_those_of_products_that_are_rounded() {
        for (value, text, exponent) in [
            (1.0, "10000000000000000", 0),
            (0.1, "10000000000000000", -1),
            (14_999_999_999_992_350.0, "14999999999992349", 16),
            (567_106_924.0, "56710692400000000", 8),
            (f64::MAX, "17976931348623157", 308),
            (5e-324, "49406564584124654", -324),
        ] {
            let expected = (text.as_bytes().to_vec(), exponent);
            assert_eq!(decimal_digits(value), expected, "{value:e}");
        }
    }
}
