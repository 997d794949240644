//! Formats real numbers as ASN.1 text.

use crate::number;

/// Formats a number as ASN.1 text: mantissa, base and exponent, such as `{ 267, 10, -3 }`.
pub fn format_real(value: f64) -> String {
    if value == 0.0 {
        return "{ 0, 10, 0 }".to_owned();
    }
    let (digits, exponent) = number::fifteen_digits(value.abs());
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{{ {sign}{digits}, 10, {} }}", exponent - (digits.len() as i32 - 1))
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
