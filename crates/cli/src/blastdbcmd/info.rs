//! Description of a database (`-info`) and its taxa (`-tax_info`).

use std::os::unix::ffi::OsStrExt;

use fleetblast_db::masks::MaskAlgorithm;
use fleetblast_db::{SequenceKind, TaxonNames};
use fleetblast_job::error::Error;
use fleetblast_job::output::Output;
use fleetblast_report::with_commas;

use super::source::Source;

/// Formats the text of `-info`.
pub(super) fn database(source: &Source, exact_length: bool) -> Result<Vec<u8>, Error> {
    let database = &source.database;
    let letters = match database.kind() {
        SequenceKind::Nucleotide => "bases",
        _ => "residues",
    };
    let whole = database.combined_info();
    let residues = if exact_length { database.exact_residue_count() } else { whole.residue_count };
    let number = |value: u64| with_commas(i64::try_from(value).unwrap_or(i64::MAX));
    let mut text = b"Database: ".to_vec();
    text.extend_from_slice(&whole.title);
    text.extend_from_slice(
        format!(
            "\n\t{} sequences; {} total {letters}\n\nDate: {}\tLongest sequence: {} {letters}\n\n\
             BLASTDB Version: {}\n",
            number(whole.sequence_count),
            number(residues),
            database.date(),
            number(database.reported_max_length(exact_length).into()),
            database.version(),
        )
        .as_bytes(),
    );
    let masks = source.masks()?;
    text.extend(algorithms(masks.algorithms()));
    text.extend_from_slice(b"\nVolumes:\n");
    for path in &whole.volumes {
        text.push(b'\t');
        text.extend_from_slice(path);
        text.push(b'\n');
    }
    Ok(text)
}

/// Formats the table of masking algorithms; empty if there are none.
fn algorithms(algorithms: &[MaskAlgorithm]) -> Vec<u8> {
    const HEAD: &str = "\nAvailable filtering algorithms applied to database sequences:\n\n";
    let mut text = Vec::new();
    if algorithms.is_empty() {
        return text;
    }
    text.extend_from_slice(HEAD.as_bytes());
    text.extend(row(b"Algorithm ID", b"Algorithm name", b"Algorithm options"));
    for algorithm in algorithms {
        let is_number = std::str::from_utf8(&algorithm.program)
            .is_ok_and(|program| program.parse::<i32>().is_ok());
        let name = if is_number { &algorithm.name } else { &algorithm.program };
        let options: &[u8] = match &algorithm.options[..] {
            b"" => b"default options used",
            options => options,
        };
        text.extend(row(algorithm.id.to_string().as_bytes(), name, options));
    }
    text
}

/// Formats a row with columns of 13, 40 and 40 bytes.
fn row(id: &[u8], name: &[u8], options: &[u8]) -> Vec<u8> {
    let mut row = Vec::new();
    for (cell, width) in [(id, 13), (name, 40), (options, 40)] {
        row.extend_from_slice(cell);
        row.extend(std::iter::repeat_n(b' ', usize::saturating_sub(width, cell.len())));
    }
    row.push(b'\n');
    row
}

/// A column of `-tax_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Taxid,
    Scientific,
    Common,
    Kingdom,
    Blast,
}

/// A format of `-tax_info`: columns with the text before each, and the text after the last.
#[derive(Debug, PartialEq, Eq)]
struct Layout {
    columns: Vec<(Vec<u8>, Column)>,
    end: Vec<u8>,
}

impl Layout {
    /// Parses the format of `-tax_info` (`CPrintTaxFields`, blastdbcmd.cpp); `None` if it has no
    /// column.
    fn new(format: &[u8]) -> Option<Self> {
        use Column::*;
        if format == b"%f" {
            let columns = [Taxid, Scientific, Common, Kingdom, Blast].into_iter().enumerate();
            let before = |i: usize| if i == 0 { Vec::new() } else { b"\t".to_vec() };
            let columns = columns.map(|(i, column)| (before(i), column)).collect();
            return Some(Self { columns, end: b"\t".to_vec() });
        }
        let (mut columns, mut text, mut at) = (Vec::new(), Vec::new(), 0);
        while let Some(&byte) = format.get(at) {
            at += 1;
            text.push(byte);
            if byte != b'%' {
                continue;
            }
            // In BLAST+ the NUL of a C string follows the last byte.
            let next = format.get(at).copied().unwrap_or(0);
            let column = match next {
                // The second percent sign may begin a column.
                b'%' => continue,
                b'T' => Taxid,
                b'S' => Scientific,
                b'L' => Common,
                b'K' => Kingdom,
                b'B' => Blast,
                _ => {
                    text.push(next);
                    at += 1;
                    continue;
                }
            };
            at += 1;
            text.pop();
            columns.push((std::mem::take(&mut text), column));
        }
        (!columns.is_empty()).then_some(Self { columns, end: text })
    }

    fn line(&self, taxid: i32, names: Option<&TaxonNames>) -> Vec<u8> {
        let mut line = Vec::new();
        for (before, column) in &self.columns {
            line.extend_from_slice(before);
            let name = |pick: fn(&TaxonNames) -> &Vec<u8>| names.map_or(&b"N/A"[..], |n| pick(n));
            match column {
                Column::Taxid => line.extend_from_slice(taxid.to_string().as_bytes()),
                Column::Scientific => line.extend_from_slice(name(|n| &n.scientific_name)),
                Column::Common => line.extend_from_slice(name(|n| &n.common_name)),
                Column::Kingdom => line.extend_from_slice(name(|n| &n.kingdom)),
                Column::Blast => line.extend_from_slice(name(|n| &n.blast_name)),
            }
        }
        line.extend_from_slice(&self.end);
        line.push(b'\n');
        line
    }
}

/// Writes the lines of `-tax_info`.
pub(super) fn taxonomy(source: &Source, format: &[u8], out: &mut Output) -> Result<(), Error> {
    let layout = Layout::new(format)
        .ok_or_else(|| Error::query_options("Invalid format options for tax_info."))?;
    let taxids = source.lookup.included_taxids()?;
    out.write(format!("# of Tax IDs in Database: {}\n", taxids.len()).as_bytes())?;
    for taxid in taxids {
        let names = source.taxon(taxid.into());
        out.write(&layout.line(taxid, names.as_ref()))?;
    }
    Ok(())
}

/// Sums the sizes of all files of a database in bytes (`CSeqDB::GetDiskUsage`, seqdb.cpp).
pub(super) fn disk_usage(database: &fleetblast_db::Database) -> u64 {
    const BOTH: [&str; 16] = [
        "al", "in", "hr", "sq", "ni", "nd", "pi", "pd", "aa", "ab", "ac", "og", "hi", "hd", "ti",
        "td",
    ];
    const VERSION_4: [&str; 2] = ["si", "sd"];
    const VERSION_5: [&str; 7] = ["db", "os", "ot", "tf", "to", "db-lock", "tf-lock"];
    let own: &[&str] = if database.version() == 5 { &VERSION_5 } else { &VERSION_4 };
    let mut bytes = 0;
    for volume in database.volume_paths() {
        for extension in BOTH.iter().chain(own) {
            let mut path = volume.as_os_str().as_bytes().to_vec();
            path.push(b'.');
            path.extend_from_slice(database.kind().extension(extension).as_bytes());
            let path = std::path::Path::new(std::ffi::OsStr::from_bytes(&path));
            bytes += std::fs::metadata(path).map_or(0, |file| file.len());
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected lines are from `blastdbcmd -tax_info -outfmt FORMAT` for taxid 562 without a
    /// taxonomy database.
    #[test]
    fn formats_are_read_as_by_blast() {
        for (format, line) in [
            ("%f", "562\tN/A\tN/A\tN/A\tN/A\t\n"),
            ("%T", "562\n"),
            ("x%T %% %q %S|", "x562 %% %q N/A|\n"),
        ] {
            let layout = Layout::new(format.as_bytes()).expect("a format");
            assert_eq!(String::from_utf8(layout.line(562, None)).unwrap(), line, "{format}");
        }
        assert_eq!(Layout::new(b"x"), None);
    }
}
