//! Splits FASTA text into parts that start with a record.

use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use fleetblast_seq::fasta::FastaError;

use crate::encode::FastaPart;

/// Minimal size of a part in bytes, except for the last.
const PART: usize = 1 << 20;

/// Splitter of an input into parts.
pub(crate) struct FastaSplitter {
    input: Box<dyn BufRead + Send>,
    name: PathBuf,
    /// Text already read, which belongs to the next part.
    rest: Vec<u8>,
    lines: u64,
    ended: bool,
    /// Whether a part was returned.
    started: bool,
}

impl FastaSplitter {
    pub(crate) fn new(input: Box<dyn BufRead + Send>, name: &Path) -> Self {
        let name = name.to_path_buf();
        Self { input, name, rest: Vec::new(), lines: 0, ended: false, started: false }
    }

    /// Returns the next part; `None` at the end. Even an empty input has a first part.
    pub(crate) fn next_part(&mut self) -> Result<Option<FastaPart>, FastaError> {
        let mut bytes = std::mem::take(&mut self.rest);
        let mut wanted = PART;
        loop {
            self.fill(&mut bytes, wanted)?;
            if self.ended {
                break;
            }
            if let Some(cut) = last_record(&bytes) {
                self.rest = bytes.split_off(cut);
                break;
            }
            wanted = 2 * bytes.len();
        }
        if bytes.is_empty() && self.started {
            return Ok(None);
        }
        self.started = true;
        let lines_before = self.lines;
        self.lines += lines(&bytes);
        Ok(Some(FastaPart { bytes, lines_before }))
    }

    /// Reads until there are `wanted` bytes or the input ends.
    fn fill(&mut self, bytes: &mut Vec<u8>, wanted: usize) -> Result<(), FastaError> {
        bytes.reserve(wanted.saturating_sub(bytes.len()));
        while bytes.len() < wanted && !self.ended {
            let missing = (wanted - bytes.len()) as u64;
            match self.input.by_ref().take(missing).read_to_end(bytes) {
                Ok(0) => self.ended = true,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    let line = self.lines + lines(bytes) + 1;
                    return Err(FastaError::Read { file: self.name.clone(), line, source });
                }
            }
        }
        Ok(())
    }
}

/// Returns the start of the last record in the text; `None` if no record starts after the
/// beginning. A line that may be a gap line does not start a record.
fn last_record(bytes: &[u8]) -> Option<usize> {
    let mut end = bytes.len();
    while let Some(at) = memchr::memrchr(b'>', &bytes[..end]) {
        let starts_line = at > 0 && matches!(bytes[at - 1], b'\n' | b'\r');
        let starts_record = match &bytes[at + 1..] {
            [b'?', b'_', ..] => true,
            [] | [b'?', ..] => false,
            _ => true,
        };
        if starts_line && starts_record {
            return Some(at);
        }
        end = at;
    }
    None
}

/// Returns the number of line ends: `\n`, `\r\n` or `\r`. A last line without an end does not
/// count.
fn lines(bytes: &[u8]) -> u64 {
    let feeds = memchr::memchr_iter(b'\n', bytes).count();
    let returns =
        memchr::memchr_iter(b'\r', bytes).filter(|&at| bytes.get(at + 1) != Some(&b'\n')).count();
    (feeds + returns) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(text: &[u8]) -> Option<usize> {
        last_record(text)
    }

    #[test]
    fn parts_start_with_records_and_not_with_gap_lines() {
        assert_eq!(starts(b">a\nMKT\n>b\nMKT\n"), Some(7));
        assert_eq!(starts(b">a\rMKT\r>b>c\r"), Some(7));
        assert_eq!(starts(b">a\nMKT\n>?100\nMKT\n"), None);
        assert_eq!(starts(b">a\nMKT\n>?_x\nMKT\n>"), Some(7));
        assert_eq!(starts(b">a\nMKT\n"), None);
    }

    #[test]
    fn lines_are_counted_whatever_ends_them() {
        assert_eq!(lines(b"a\nb\r\nc\rd"), 3);
        assert_eq!(lines(b"\r\r\n\n"), 3);
    }

    #[test]
    fn the_parts_are_the_input_and_know_their_lines() {
        let mut text = Vec::new();
        for n in 0..40_000 {
            text.extend(format!(">record {n}\nMKTAYIAKQR\r\nMKTAYIAKQRQISFVKSHFSRQ\n").bytes());
        }
        let mut splitter =
            FastaSplitter::new(Box::new(io::Cursor::new(text.clone())), Path::new("x"));
        let (mut joined, mut count) = (Vec::new(), 0);
        while let Some(part) = splitter.next_part().unwrap() {
            assert_eq!(part.lines_before, lines(&joined));
            assert_eq!(part.bytes[0], b'>');
            joined.extend(part.bytes);
            count += 1;
        }
        assert!(joined == text && count > 1, "{count}");
    }
}
