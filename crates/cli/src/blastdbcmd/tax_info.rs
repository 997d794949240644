//! The taxa of a database: `-tax_info`.

use fleetblast_db::TaxonNames;
use fleetblast_job::error::Error;
use fleetblast_job::output::Output;
use fleetblast_stats::release::Release;

use super::options::Options;
use super::source::Source;

/// A column of `-tax_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Taxid,
    Scientific,
    Common,
    Kingdom,
    Blast,
    Count,
}

/// The columns of `%f`.
const ALL: [Column; 5] =
    [Column::Taxid, Column::Scientific, Column::Common, Column::Kingdom, Column::Blast];

/// A format of `-tax_info`.
#[derive(Debug, PartialEq, Eq)]
struct Layout {
    columns: Vec<Column>,
    /// The text before each column, then perhaps unused texts. The last one is the text after the
    /// last column.
    separators: Vec<Vec<u8>>,
}

impl Layout {
    /// Parses the format of `-tax_info` (`CPrintTaxFields`, blastdbcmd.cpp); `None` if it has no
    /// column.
    fn new(format: &[u8], release: &Release) -> Option<Self> {
        use Column::*;
        let is_later = release.counts_sequences_of_taxa;
        if format == b"%f" && !is_later {
            let mut separators = vec![b"\t".to_vec(); 6];
            separators[0].clear();
            return Some(Self { columns: ALL.to_vec(), separators });
        }
        let (mut columns, mut separators, mut text) = (Vec::new(), Vec::new(), Vec::new());
        let mut at = 0;
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
                b'T' => Some(Taxid),
                b'S' => Some(Scientific),
                b'L' => Some(Common),
                b'K' => Some(Kingdom),
                b'B' => Some(Blast),
                b'n' if is_later => Some(Count),
                b'f' if is_later => None,
                _ => {
                    text.push(next);
                    at += 1;
                    continue;
                }
            };
            at += 1;
            text.pop();
            match column {
                Some(column) => columns.push(column),
                // BLAST+ adds separators for all columns and one more, so that they no longer
                // belong to the columns after them.
                None => {
                    columns.extend(ALL);
                    separators.push(text.clone());
                    separators.extend(ALL.map(|_| b"\t".to_vec()));
                }
            }
            separators.push(std::mem::take(&mut text));
        }
        separators.push(text);
        (!columns.is_empty()).then_some(Self { columns, separators })
    }

    /// Returns whether a column has the number of sequences.
    fn has_count(&self) -> bool {
        self.columns.contains(&Column::Count)
    }

    fn line(&self, taxid: i32, count: usize, names: Option<&TaxonNames>) -> Vec<u8> {
        let mut line = Vec::new();
        for (before, column) in self.separators.iter().zip(&self.columns) {
            line.extend_from_slice(before);
            let name = |pick: fn(&TaxonNames) -> &Vec<u8>| names.map_or(&b"N/A"[..], |n| pick(n));
            match column {
                Column::Taxid => line.extend_from_slice(taxid.to_string().as_bytes()),
                Column::Scientific => line.extend_from_slice(name(|n| &n.scientific_name)),
                Column::Common => line.extend_from_slice(name(|n| &n.common_name)),
                Column::Kingdom => line.extend_from_slice(name(|n| &n.kingdom)),
                Column::Blast => line.extend_from_slice(name(|n| &n.blast_name)),
                Column::Count => line.extend_from_slice(count.to_string().as_bytes()),
            }
        }
        line.extend(self.separators.last().into_iter().flatten());
        line.push(b'\n');
        line
    }
}

/// Writes the lines of `-tax_info`.
pub(super) fn write(source: &Source, options: &Options, out: &mut Output) -> Result<(), Error> {
    let layout = Layout::new(&options.outfmt, options.release)
        .ok_or_else(|| Error::query_options("Invalid format options for tax_info."))?;
    let taxids = source.included_taxids()?;
    out.write(format!("# of Tax IDs in Database: {}\n", taxids.len()).as_bytes())?;
    for taxid in taxids {
        let names = source.taxon(taxid.into());
        source.check_taxonomy()?;
        let count = match layout.has_count() {
            true => source.sequence_count_of_taxid(taxid)?,
            false => 0,
        };
        out.write(&layout.line(taxid, count, names.as_ref()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the line of taxid 562 with 7 sequences, without a taxonomy database.
    fn line(format: &str, release: &Release) -> String {
        let layout = Layout::new(format.as_bytes(), release).expect("a format");
        String::from_utf8(layout.line(562, 7, None)).unwrap()
    }

    /// The expected lines are from `blastdbcmd -tax_info -outfmt FORMAT`.
    #[test]
    fn formats_are_read_as_by_blast() {
        for (format, expected) in [
            ("%f", "562\tN/A\tN/A\tN/A\tN/A\t\n"),
            ("%T", "562\n"),
            ("x%T %% %q %S|", "x562 %% %q N/A|\n"),
            ("%n %T", "%n 562\n"),
        ] {
            assert_eq!(line(format, &Release::V2_12_0), expected, "{format}");
        }
        assert_eq!(Layout::new(b"x", &Release::V2_12_0), None);
    }

    /// The expected lines are from `blastdbcmd -tax_info -outfmt FORMAT` of release 2.17.0.
    #[test]
    fn later_releases_count_and_combine_all_columns_with_others() {
        for (format, expected) in [
            ("%n %T", "7 562\n"),
            ("%f", "562\tN/A\tN/A\tN/A\tN/A\n"),
            ("x%f y%n z%T|", "x562\tN/A\tN/A\tN/A\tN/A\t7x562|\n"),
        ] {
            assert_eq!(line(format, &Release::V2_17_0), expected, "{format}");
        }
    }
}
