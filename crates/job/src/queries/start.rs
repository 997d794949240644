//! The start of an input of queries.

use std::fs::{self, File};
use std::io::BufRead;
use std::os::unix::fs::FileTypeExt;

use rustix::fs::SeekFrom;

use crate::plan::Source;

/// Reads buffers up to the first one that has more than white space. Returns all bytes read, with
/// the white space; none for an empty input.
pub fn read_leading_blanks(input: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut start = Vec::new();
    loop {
        let bytes = input.fill_buf()?;
        let (len, blank) = (bytes.len(), bytes.iter().all(u8::is_ascii_whitespace));
        start.extend_from_slice(bytes);
        input.consume(len);
        if len == 0 || !blank {
            return Ok(start);
        }
    }
}

/// Returns whether an input can seek. BLAST+ checks only such an input for emptiness.
pub fn is_seekable(source: &Source) -> bool {
    match source {
        Source::Stdin => rustix::fs::seek(std::io::stdin(), SeekFrom::Current(0)).is_ok(),
        Source::Text(_) => true,
        Source::File(path) => {
            // A pipe must not be opened a second time: its writer would see another reader, which
            // closes at once.
            let is_pipe = fs::metadata(path).is_ok_and(|meta| meta.file_type().is_fifo());
            let seek = |file| rustix::fs::seek(file, SeekFrom::Current(0));
            !is_pipe && File::open(path).is_ok_and(|file| seek(file).is_ok())
        }
    }
}
