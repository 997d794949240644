//! Numbers as C++ streams print them.

/// Formats a number like a C++ stream: six digits, no zeros at the end.
pub(crate) fn stream_number(value: f64) -> String {
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| {
        let dot = text.contains('.');
        if dot {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if (-4..6).contains(&exponent) {
        trim(&format!("{value:.*}", (5 - exponent) as usize))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim(digits), exponent.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits() {
        assert_eq!(stream_number(0.010_084_23), "0.0100842");
        assert_eq!(stream_number(12.5), "12.5");
        assert_eq!(stream_number(0.0), "0");
        assert_eq!(stream_number(0.000_012_345_6), "1.23456e-05");
        assert_eq!(stream_number(1_234_567.0), "1.23457e+06");
    }
}
