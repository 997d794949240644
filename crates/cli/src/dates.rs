//! The time of the run in BLAST+'s formats.

use fleetblast_makedb::DatabaseDates;
use jiff::Zoned;

/// The time of the run, in the formats of the log and of the database files.
pub(crate) struct RunTime {
    /// `11/20/2026 23:14:21`, for the log.
    pub(crate) log: String,
    /// `Mar 5, 2026  09:00 PM`, for binary lists of identifiers.
    pub(crate) list: String,
    /// Dates for the files of the database.
    pub(crate) files: DatabaseDates,
}

/// Returns the current local time.
pub(crate) fn now() -> RunTime {
    format(&Zoned::now())
}

fn format(time: &Zoned) -> RunTime {
    let log = time.strftime("%m/%d/%Y %H:%M:%S").to_string();
    // Day and hour have no leading zero or blank.
    let index = time.strftime("%b %-d, %Y  %-I:%M %p").to_string();
    // In lists, the hour has a leading zero.
    let list = time.strftime("%b %-d, %Y  %I:%M %p").to_string();
    RunTime { files: DatabaseDates { index_date: index, mask_date: log.clone() }, list, log }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use jiff::tz::TimeZone;

    #[test]
    fn zones_have_names() {
        let tokyo = TimeZone::get("Asia/Tokyo").expect("the zones that tzdata installs");
        let noon = date(2026, 3, 5).at(12, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap();
        let now = format(&noon.with_time_zone(tokyo));
        assert_eq!(now.files.index_date, "Mar 5, 2026  9:00 PM");
        // As `TZ=Asia/Tokyo blastdb_aliastool -seqid_file_in` writes it.
        assert_eq!(now.list, "Mar 5, 2026  09:00 PM");
    }

    #[test]
    fn dates_are_written_as_blast_does() {
        let format_at = |hour, minute| {
            let time = date(2026, 3, 5).at(hour, minute, 9, 0).to_zoned(TimeZone::UTC).unwrap();
            let now = format(&time);
            (now.log, now.files.index_date)
        };
        assert_eq!(format_at(23, 7).0, "03/05/2026 23:07:09");
        assert_eq!(format_at(23, 7).1, "Mar 5, 2026  11:07 PM");
        assert_eq!(format_at(0, 59).1, "Mar 5, 2026  12:59 AM");
        assert_eq!(format_at(12, 0).1, "Mar 5, 2026  12:00 PM");
    }
}
