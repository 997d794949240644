//! Guesses whether a file is FASTA: BLAST+ looks at its start before it reads it (`CFormatGuess`).

use std::io::{self, Read};

use fleetblast_seq::convert::is_space;

/// Number of bytes of a file to look at, unless all of them are comments.
const SAMPLE: usize = 8096;
/// Largest number of bytes to look at, in units of `SAMPLE`, if all before are comments.
const MOST: usize = 1024;

/// Least share of letters, digits and white space in a file.
const TEXT: f64 = 0.8;
/// Least share of letters of one alphabet in the sequences.
const RESIDUES: f64 = 0.91;

const DNA: &[u8] = b"ACGNTU-";
const PROTEIN: &[u8] = b"ACDEFGHIKLMNPQRSTVWYBZX-*";

/// Guesses from the start of a file whether it is FASTA, and reads no more of it than needed.
///
/// # Errors
/// Errors of the reader.
pub(super) fn is_fasta(mut file: impl Read) -> io::Result<bool> {
    let mut sample = Vec::new();
    let mut size = SAMPLE;
    loop {
        file.by_ref().take((size - sample.len()) as u64).read_to_end(&mut sample)?;
        let cut = sample.len() == size;
        if size == MOST * SAMPLE || !is_all_comment(&sample, cut) {
            return Ok(starts_with_record(&sample) && has_residues(&sample));
        }
        if !cut {
            return Ok(false);
        }
        size *= 2;
    }
}

/// Returns whether all complete lines of a text are comments; true if no line is complete.
fn is_all_comment(sample: &[u8], cut: bool) -> bool {
    let printed = sample.iter().filter(|c| matches!(c, b' '..=b'~')).count();
    if (printed as f64) < sample.len() as f64 * 0.9 {
        return false;
    }
    let high = sample.iter().filter(|c| !c.is_ascii()).count();
    if high > 0 && sample.len() / high < 20 {
        return true;
    }
    let has = |end: &[u8]| sample.windows(end.len()).any(|at| at == end);
    let (ends, broken): (&[u8], _) = match () {
        () if has(b"\r\n") => (b"\r\n", true),
        () if has(b"\n") => (b"\n", true),
        () => (b"\r", has(b"\r")),
    };
    let mut lines: Vec<&[u8]> = sample.split(|c| ends.contains(c)).collect();
    lines.retain(|line| !line.is_empty());
    // BLAST+ takes the last of several lines for cut off, even if its end is there.
    if cut && (lines.len() > 1 || !broken) {
        lines.pop();
    }
    lines.iter().all(|line| line.starts_with(b"#") || line.starts_with(b"--"))
}

/// Returns whether the first line that is neither blank nor comment is a definition line.
fn starts_with_record(sample: &[u8]) -> bool {
    let mut rest = sample;
    loop {
        let blanks = rest.iter().take_while(|&&c| is_space(c)).count();
        rest = &rest[blanks..];
        match rest.first() {
            Some(b'>') => return true,
            Some(b';' | b'#' | b'!') => {
                let end = rest.iter().position(|c| matches!(c, b'\r' | b'\n'));
                rest = &rest[end.unwrap_or(rest.len())..];
            }
            _ => return false,
        }
    }
}

/// Returns whether a sample has enough text, and enough residues outside definition lines.
fn has_residues(sample: &[u8]) -> bool {
    let (mut text, mut data, mut dna, mut protein) = (0usize, 0usize, 0usize, 0usize);
    for line in sample.split(|c| matches!(c, b'\r' | b'\n')).filter(|line| !line.is_empty()) {
        // The end of the line counts as white space.
        text += 1 + line.iter().filter(|c| c.is_ascii_alphanumeric() || is_space(**c)).count();
        if line[0] == b'>' {
            continue;
        }
        for c in line.iter().filter(|c| !is_space(**c)).map(u8::to_ascii_uppercase) {
            data += 1;
            dna += usize::from(DNA.contains(&c));
            protein += usize::from(PROTEIN.contains(&c));
        }
    }
    let part = |of: usize, all: usize| of as f64 / all as f64;
    if data == 0 {
        // BLAST+ searches in a C string, which ends at NUL.
        let bar = sample.iter().take_while(|&&c| c != 0).position(|&c| c == b'|');
        return part(text, sample.len()) >= 0.75 && bar.is_some_and(|at| at <= 10);
    }
    part(text, sample.len()) >= TEXT
        && (part(dna, data) > RESIDUES || part(protein, data) > RESIDUES)
}

#[cfg(test)]
mod tests {
    fn is_fasta(file: &[u8]) -> bool {
        super::is_fasta(file).unwrap()
    }

    #[test]
    fn fasta_is_distinguished_from_other_files() {
        assert!(is_fasta(b">a\nMKTAYIAKQR\n"));
        // Comments count as sequence, so there must be more of the sequence.
        assert!(!is_fasta(b"; comment\n\n>a\nACGT\n"));
        assert!(is_fasta(&[&b"; comment\n\n>a\n"[..], &b"ACGT\n".repeat(20)].concat()));
        assert!(!is_fasta(b"MKTAYIAKQR\n"));
        assert!(!is_fasta(b">a\nMKT%%%%%%%\n"));
        assert!(is_fasta(b">a \xc3\xa9\nMKTAYIAKQR\n"));
        assert!(is_fasta(b">a nul\0\x02\nMKTAYIAKQR\n"));
        assert!(!is_fasta(b"\0>a\nMKTAYIAKQR\n"));
        assert!(!is_fasta(b">a \xff\xff\xff\xff\xff\xff\xff\nMKTAYIAKQR\n"));
        assert!(is_fasta(b">aaaa|bcdef\n") && !is_fasta(b">aaaa\0|bcdef\n"));
        assert!(!is_fasta(b""));
        assert!(!is_fasta(b"#"));
    }
}
