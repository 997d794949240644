//! Makes files of alignments with which psiblast can begin: copies of a query, with gaps, in each
//! format.

use crate::program::NamedFile;
use crate::rng::Draw;
use fastrand::Rng;

/// Letters of a protein.
const LETTERS: &[u8] = b"ARNDCQEGHILKMFPSTWYV";
/// Number of columns per line.
const WIDTH: usize = 60;

/// The name and the letters of one row of an alignment. All rows of an alignment have equally many
/// columns.
type Row = (&'static str, Vec<u8>);

/// Returns names and contents of files with alignments of a query.
pub fn files(query: &[u8]) -> Vec<NamedFile> {
    let rows = rows(query);
    let mut odd = rows.clone();
    // This alignment has letters other than the twenty, lower case in the query, and one row of
    // gaps.
    let places = [(0, b'X'), (1, b'O'), (2, b'U'), (3, b'B'), (4, b'J'), (5, b'*')];
    for (row, letter) in places {
        let at = 20 + 3 * row;
        odd[row].1[at] = letter;
    }
    odd[0].1[30..45].make_ascii_lowercase();
    odd[6].1.fill(b'-');
    let mut twins = rows.clone();
    twins[2].1 = twins[0].1.clone();
    let titled = fasta(&rows, " a title [of it]");
    let cut = titled[..titled.len() - WIDTH / 2].to_vec();
    vec![
        ("msa_titled", titled),
        ("msa_cut", cut),
        ("msa_clustal", clustal(&rows)),
        ("msa_phylip", phylip(&rows)),
        ("msa_odd", fasta(&odd, "")),
        ("msa_twins", fasta(&twins, "")),
        ("msa_one", fasta(&rows[..1], "")),
    ]
}

/// Returns rows of the query's first letters and of mutated copies of them.
fn rows(query: &[u8]) -> Vec<Row> {
    let mut rng = Rng::with_seed(20);
    let query = &query[..query.len().min(150)];
    let names = ["row1", "row2", "row3", "4", "row5/1-9", "row6", "row7", "row8"];
    let mut rows: Vec<Row> = names.iter().map(|name| (*name, query.to_vec())).collect();
    for (number, (_, row)) in rows.iter_mut().enumerate().skip(1) {
        let share = 0.1 * number as f64;
        for letter in row.iter_mut() {
            if rng.chance(share) {
                *letter = *rng.pick(LETTERS);
            }
        }
        for length in [1, 4, 9, 12] {
            let start = rng.usize(..row.len() - length);
            row[start..start + length].fill(b'-');
        }
    }
    // These are columns in which the query has a gap.
    let at = query.len() / 2;
    for (number, (_, row)) in rows.iter_mut().enumerate() {
        let inserted = if number % 3 == 1 { *b"WW" } else { *b"--" };
        row.splice(at..at, inserted);
    }
    rows
}

fn fasta(rows: &[Row], title: &str) -> Vec<u8> {
    let mut text = Vec::new();
    for (name, row) in rows {
        text.extend(format!(">{name}{title}\n").into_bytes());
        for line in row.chunks(WIDTH) {
            text.extend(line);
            text.push(b'\n');
        }
    }
    text
}

/// Returns an interleaved alignment: blocks of columns, each with a line per row and then `end`.
/// `line` formats a line from the block's first column, the name and the letters.
fn lines(rows: &[Row], line: impl Fn(usize, &str, &str) -> String, end: &str) -> String {
    let columns = rows[0].1.len();
    let mut text = String::new();
    for start in (0..columns).step_by(WIDTH) {
        for (name, row) in rows {
            let letters = &row[start..columns.min(start + WIDTH)];
            text += &line(start, name, &String::from_utf8_lossy(letters));
        }
        text += end;
    }
    text
}

fn clustal(rows: &[Row]) -> Vec<u8> {
    let line = |_, name: &str, letters: &str| format!("{name:<15} {letters}\n");
    let text = lines(rows, line, "                ** .:\n\n");
    format!("CLUSTAL W (1.83) multiple sequence alignment\n\n{text}").into_bytes()
}

fn phylip(rows: &[Row]) -> Vec<u8> {
    let line = |start, name: &str, letters: &str| match start {
        0 => format!("{name:<12}{letters}\n"),
        _ => format!("{letters}\n"),
    };
    format!(" {} {}\n{}", rows.len(), rows[0].1.len(), lines(rows, line, "\n")).into_bytes()
}
