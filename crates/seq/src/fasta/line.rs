//! Lines of a text with any kind of line ends.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use super::FastaError;
use super::error::FastaErrorKind;

/// Maximal length of a line in bytes.
const MAX_LINE: usize = i32::MAX as usize;

/// Reader of lines that end with LF, CR LF or CR. The current line can be pushed back once.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    name: PathBuf,
    line: Vec<u8>,
    number: u64,
    pushed_back: bool,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R, name: PathBuf) -> Self {
        Self { input, name, line: Vec::new(), number: 0, pushed_back: false }
    }

    /// Sets the number of the line before the first one.
    pub(super) fn count_from(&mut self, lines_before: u64) {
        self.number = lines_before;
    }

    pub(super) fn name(&self) -> &Path {
        &self.name
    }

    /// Returns the current line without its end.
    pub(super) fn current(&self) -> &[u8] {
        &self.line
    }

    /// Returns the number of the current line, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Makes the next call of `advance` return the current line again.
    pub(super) fn push_back(&mut self) {
        self.pushed_back = true;
    }

    /// Goes to the next line. Returns false at the end of the input.
    pub(super) fn advance(&mut self) -> Result<bool, FastaError> {
        if std::mem::take(&mut self.pushed_back) {
            return Ok(true);
        }
        self.line.clear();
        let mut any = false;
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(self.read_error(source)),
            };
            if buffer.is_empty() {
                self.number += u64::from(any);
                return Ok(any);
            }
            any = true;
            let end = memchr::memchr2(b'\n', b'\r', buffer);
            let taken = end.unwrap_or(buffer.len());
            if self.line.len() + taken > MAX_LINE {
                let (file, line) = (self.name.clone(), self.number + 1);
                let (problem, warnings) = (FastaErrorKind::TooLong, Vec::new());
                return Err(FastaError::Invalid { file, line, problem, warnings });
            }
            self.line.extend_from_slice(&buffer[..taken]);
            let Some(end) = end else {
                self.input.consume(taken);
                continue;
            };
            let carriage_return = buffer[end] == b'\r';
            self.input.consume(end + 1);
            if carriage_return {
                self.skip_line_feed()?;
            }
            self.number += 1;
            return Ok(true);
        }
    }

    fn skip_line_feed(&mut self) -> Result<(), FastaError> {
        loop {
            match self.input.fill_buf() {
                Ok(buffer) => {
                    if buffer.first() == Some(&b'\n') {
                        self.input.consume(1);
                    }
                    return Ok(());
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(source) => return Err(self.read_error(source)),
            }
        }
    }

    fn read_error(&self, source: std::io::Error) -> FastaError {
        FastaError::Read { file: self.name.clone(), line: self.number + 1, source }
    }
}
