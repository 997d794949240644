//! Numbers formatted for people.

/// Formats seconds as `14.7 s`, `3 min 20 s`, `2 h 05 min`; `120 ms` below a second.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        0.0 => "0 s".to_owned(),
        s if s < 0.000_999_5 => format!("{:.0} µs", s * 1e6),
        s if s < 0.999_5 => format!("{} ms", three_digits(s * 1e3)),
        s if s < 99.95 => format!("{} s", three_digits(s)),
        s if s < 3599.5 => {
            let whole = s.round() as u64;
            format!("{} min {:02} s", whole / 60, whole % 60)
        }
        s => {
            let minutes = (s / 60.0).round() as u64;
            format!("{} h {:02} min", minutes / 60, minutes % 60)
        }
    }
}

/// Formats a number with three digits.
fn three_digits(number: f64) -> String {
    match number {
        n if n < 9.995 => format!("{n:.2}"),
        n if n < 99.95 => format!("{n:.1}"),
        n => format!("{n:.0}"),
    }
}

/// Formats bytes as `1.5 GB`.
pub fn bytes(bytes: f64) -> String {
    match bytes {
        b if b < 999.5 => format!("{b:.0} bytes"),
        b if b < 999.5e3 => format!("{} kB", three_digits(b / 1e3)),
        b if b < 999.5e6 => format!("{} MB", three_digits(b / 1e6)),
        b => format!("{} GB", three_digits(b / 1e9)),
    }
}

/// Formats a share as `87 %`; with one decimal below ten.
pub fn percent(share: f64) -> String {
    match 100.0 * share {
        p if p.abs() < 0.05 => "0 %".to_owned(),
        p if p < 9.95 => format!("{p:.1} %"),
        p => format!("{p:.0} %"),
    }
}

/// Formats a number as `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number of things as `1 rank`, `4 ranks`.
pub fn pluralize(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(seconds(0.000_05), "50 µs");
        assert_eq!(seconds(0.12), "120 ms");
        assert_eq!(seconds(14.68), "14.7 s");
        assert_eq!(seconds(200.0), "3 min 20 s");
        assert_eq!(seconds(7500.0), "2 h 05 min");
        assert_eq!(bytes(1_530_000.0), "1.53 MB");
        assert_eq!(percent(0.874), "87 %");
        assert_eq!(percent(0.012), "1.2 %");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(pluralize(1, "rank") + &pluralize(20, "task"), "1 rank20 tasks");
    }
}
