//! Unknown columns in `-outfmt`: BLAST+ ignores them without a message.

use fleetblast_job::plan::{Format, Report};
use fleetblast_report::columns::Columns;

use crate::options::nearest::nearest;

/// Words in `-outfmt 17` that select optional contents of SAM.
const OF_SAM: [&str; 2] = ["SQ", "SR"];

/// Returns a hint for each word of `-outfmt` that names no column.
pub fn unknown(report: &Report) -> Vec<String> {
    let words = report.columns.split(' ').filter(|word| !word.is_empty());
    let (known, what): (Vec<&str>, _) = match report.format {
        Format::Tabular | Format::TabularComments | Format::Csv | Format::HeadedCsv => {
            (Columns::names().collect(), "column")
        }
        Format::Sam => (OF_SAM.to_vec(), "word for SAM"),
        _ => return Vec::new(),
    };
    let is_known = |word: &str| known.contains(&word);
    // A dash removes a column.
    let unknown = words.filter(|word| !is_known(word.strip_prefix('-').unwrap_or(word)));
    unknown.map(|word| hint(word, what, &known)).collect()
}

fn hint(word: &str, what: &str, known: &[&'static str]) -> String {
    if word.starts_with("delim=") {
        return format!(
            "Hint: -outfmt ignores '{word}' here: it must be the first word after the number."
        );
    }
    let meant = match nearest(word, known.iter().copied()) {
        Some(meant) => format!("; did you mean '{meant}'?"),
        None => ".".to_owned(),
    };
    format!("Hint: -outfmt leaves '{word}' out: there is no such {what}{meant}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(format: Format, columns: &str) -> Vec<String> {
        let report = Report {
            archive: Default::default(),
            format,
            columns: columns.to_owned(),
            command: Vec::new(),
            delimiter: None,
            html: false,
            show_gis: false,
            line_length: 60,
            num_descriptions: 1,
            num_alignments: 1,
            sort_hits: None,
            sort_hsps: None,
            lacks_sequences: false,
        };
        unknown(&report)
    }

    #[test]
    fn words_that_name_no_column_are_named_with_the_nearest() {
        assert_eq!(hints(Format::Tabular, " qseqid std -evalue  qcovus"), [""; 0]);
        let hint =
            "Hint: -outfmt leaves 'sseqidd' out: there is no such column; did you mean 'sseqid'?";
        for format in [Format::Tabular, Format::TabularComments, Format::Csv] {
            assert_eq!(hints(format, "qseqid sseqidd"), [hint]);
        }
        assert_eq!(
            hints(Format::Csv, "zzz,zzz delim=@ -evalu"),
            [
                "Hint: -outfmt leaves 'zzz,zzz' out: there is no such column.",
                "Hint: -outfmt ignores 'delim=@' here: it must be the first word after the number.",
                "Hint: -outfmt leaves '-evalu' out: there is no such column; did you mean 'evalue'?",
            ]
        );
        assert_eq!(hints(Format::Sam, "SQ SR"), [""; 0]);
        let of_sam = "Hint: -outfmt leaves 'SQR' out: there is no such word for SAM";
        assert!(hints(Format::Sam, "SQR")[0].starts_with(of_sam));
    }
}
