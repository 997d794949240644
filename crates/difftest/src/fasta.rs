//! Reads and writes the FASTA records of test inputs.
//!
//! The reader is for trusted test data only. Unusual FASTA for the tested programs is written as
//! raw bytes, without this module.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::error::{Result, io_error};

/// One sequence with its definition line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Definition line without `>`.
    pub header: String,
    /// Residue letters as written.
    pub seq: Vec<u8>,
}

impl Record {
    /// Creates a record from its parts.
    pub fn new(header: impl Into<String>, seq: impl Into<Vec<u8>>) -> Self {
        Record { header: header.into(), seq: seq.into() }
    }
}

/// Opens a plain or gzip-compressed (`.gz`) file for line-wise reading.
fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    let file = File::open(path).map_err(io_error("open", path))?;
    let plain: Box<dyn Read> = if path.extension().is_some_and(|e| e == "gz") {
        Box::new(MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    Ok(Box::new(BufReader::with_capacity(1 << 16, plain)))
}

/// Reads at most `limit` records of a plain or gzip FASTA file.
pub fn read(path: &Path, limit: usize) -> Result<Vec<Record>> {
    records(open(path)?, limit).map_err(io_error("read", path))
}

/// Returns the records of a FASTA text.
pub fn parse(text: &[u8]) -> std::io::Result<Vec<Record>> {
    records(text, usize::MAX)
}

/// Reads at most `limit` records.
fn records(text: impl BufRead, limit: usize) -> std::io::Result<Vec<Record>> {
    let mut records: Vec<Record> = Vec::new();
    for line in text.lines() {
        let line = line?;
        if let Some(header) = line.strip_prefix('>') {
            if records.len() == limit {
                break;
            }
            records.push(Record::new(header, Vec::new()));
        } else if let Some(last) = records.last_mut() {
            last.seq.extend(line.bytes().filter(|b| !b.is_ascii_whitespace()));
        }
    }
    Ok(records)
}

/// Reads the first `letters` letters of a plain or gzip FASTA file. The last record may be cut.
pub fn read_letters(path: &Path, letters: usize) -> Result<Vec<Record>> {
    let mut records: Vec<Record> = Vec::new();
    let mut left = letters;
    for line in open(path)?.lines() {
        let line = line.map_err(io_error("read", path))?;
        if let Some(header) = line.strip_prefix('>') {
            records.push(Record::new(header, Vec::new()));
        } else if let Some(last) = records.last_mut() {
            let line = &line.as_bytes()[..left.min(line.len())];
            last.seq.extend_from_slice(line);
            left -= line.len();
        }
        if left == 0 {
            break;
        }
    }
    Ok(records)
}

/// Reads at most `limit` records of a plain or gzip FASTQ file with four lines per record.
pub fn read_fastq(path: &Path, limit: usize) -> Result<Vec<Record>> {
    let lines = open(path)?.lines().take(4 * limit);
    let lines: Vec<String> =
        lines.collect::<std::io::Result<_>>().map_err(io_error("read", path))?;
    let record =
        |lines: &[String]| Record::new(lines[0].trim_start_matches('@'), lines[1].as_bytes());
    Ok(lines.chunks_exact(4).map(record).collect())
}

/// Copies a plain or gzip file to `to` as plain text.
pub fn unpack(from: &Path, to: &Path) -> Result<()> {
    let mut out = File::create(to).map_err(io_error("create", to))?;
    let mut input = open(from)?;
    std::io::copy(&mut input, &mut out).map_err(io_error("unpack", from))?;
    out.flush().map_err(io_error("write", to))
}

/// Formats the records as FASTA text, with 60 residues per line.
pub fn to_bytes(records: &[Record]) -> Vec<u8> {
    let mut text = Vec::new();
    for record in records {
        text.push(b'>');
        text.extend_from_slice(record.header.as_bytes());
        text.push(b'\n');
        for line in record.seq.chunks(60) {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_wrapped_and_headers_kept() {
        let text = to_bytes(&[Record::new("a b", vec![b'A'; 61]), Record::new("", *b"MK")]);
        assert_eq!(text, format!(">a b\n{}\nA\n>\nMK\n", "A".repeat(60)).into_bytes());
    }
}
