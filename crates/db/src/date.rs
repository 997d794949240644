//! Finds the latest date of creation among volumes.

/// Year, month (0-11), day, hour (0-23) and minute; they compare in the order of time.
type Moment = (u32, usize, u32, u32, u32);

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Returns the latest of `dates`. A date that cannot be parsed never replaces another
/// (`CSeqDBImpl::GetDate`, seqdbimpl.cpp).
pub(crate) fn latest_date<'a>(dates: impl Iterator<Item = &'a str>) -> &'a str {
    let mut best = "";
    for date in dates {
        let later = || parse(best).zip(parse(date)).is_some_and(|(old, new)| new > old);
        if best.is_empty() || later() {
            best = date;
        }
    }
    best
}

/// Converts a date such as `Nov 20, 2026  11:10 PM` to `2026-11-20T23:10:00`.
pub(crate) fn format_iso(date: &str) -> Option<String> {
    let (year, month, day, hour, minute) = parse(date)?;
    Some(format!("{year:04}-{:02}-{day:02}T{hour:02}:{minute:02}:00", month + 1))
}

/// Parses a date such as `Nov 20, 2026  11:10 PM`.
fn parse(date: &str) -> Option<Moment> {
    let mut words = date.split_ascii_whitespace();
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month)?;
    let day = words.next()?.strip_suffix(',')?.parse().ok()?;
    let year = words.next()?.parse().ok()?;
    let (hour, minute) = words.next()?.split_once(':')?;
    let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
    let afternoon = match words.next()? {
        "AM" => 0,
        "PM" => 12,
        _ => return None,
    };
    ((1..=12).contains(&hour) && minute < 60 && words.next().is_none()).then_some((
        year,
        month,
        day,
        hour % 12 + afternoon,
        minute,
    ))
}

#[cfg(test)]
mod tests {
    use super::{format_iso, latest_date};

    #[test]
    fn dates_have_an_iso_format() {
        let iso = |date| format_iso(date).unwrap_or_default();
        assert_eq!(iso("Nov 20, 2026  11:10 PM"), "2026-11-20T23:10:00");
        assert_eq!(iso("Mar 5, 2026  12:59 AM"), "2026-03-05T00:59:00");
        assert_eq!(iso("junk"), "");
    }

    #[test]
    fn the_latest_date_wins_and_an_unreadable_one_never_replaces() {
        let of = |dates: &[&'static str]| latest_date(dates.iter().copied());
        let (morning, noon) = ("Nov 20, 2026  11:10 AM", "Nov 20, 2026  12:05 PM");
        assert_eq!(of(&[morning, noon]), noon);
        assert_eq!(of(&[noon, morning]), noon);
        assert_eq!(of(&["Nov 20, 2026  12:59 AM", morning]), morning);
        assert_eq!(of(&["Dec 1, 2025  1:00 AM", "Jan 2, 2026  1:00 AM"]), "Jan 2, 2026  1:00 AM");
        assert_eq!(of(&["junk", noon]), "junk");
        assert_eq!(of(&[noon, "junk"]), noon);
        assert_eq!(of(&["", noon]), noon);
        assert_eq!(of(&[]), "");
    }
}
