//! The header of a SAM report, which names the references of all lines before the first line.
//!
//! Ranks write their lines at the final offsets while other lines are still missing, so the header
//! is not known yet. Each block begins with the header lines of its own references. When the report
//! is complete, these lines are taken out and merged into one header before all other lines.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use fleetblast_report::sam::SamHeader;
use fleetblast_spool::open_regular;

/// Bytes read at a time.
const BUFFER: usize = 1 << 20;

/// Collects the references of all blocks into `header`, which has none yet, and writes it to the
/// start of the report. Holds little more than the header in memory.
///
/// # Errors
/// The file cannot be read or written.
pub fn insert_header(path: &Path, header: SamHeader) -> io::Result<()> {
    insert_header_buffered(path, header, BUFFER)
}

/// Inserts the header. Besides the header, buffers at most `most` bytes and a line.
fn insert_header_buffered(path: &Path, mut header: SamHeader, most: usize) -> io::Result<()> {
    for_each_line(path, |line| {
        header.add_line(line);
        Ok(())
    })?;
    let file = open_regular(File::options().write(true), path)?;
    let (mut read, mut written) = (0, 0);
    // Bytes that are read or generated, but not written. The bytes that they overwrite must be read
    // first.
    let mut waiting = VecDeque::from(header.to_bytes());
    for_each_line(path, |line| {
        read += line.len() as u64;
        if !header.add_line(line) {
            waiting.write_all(line)?;
        }
        if waiting.len() > most {
            written += write_waiting(&file, &mut waiting, written, read)?;
        }
        Ok(())
    })?;
    written += write_waiting(&file, &mut waiting, written, u64::MAX)?;
    file.set_len(written)
}

/// Removes bytes from the start of `waiting` and writes them at offset `at`, but not beyond offset
/// `end`. Returns the number of bytes written.
fn write_waiting(file: &File, waiting: &mut VecDeque<u8>, at: u64, end: u64) -> io::Result<u64> {
    let length = (end - at).min(waiting.len() as u64);
    let bytes: Vec<u8> = waiting.drain(..length as usize).collect();
    file.write_all_at(&bytes, at)?;
    Ok(length)
}

fn for_each_line(
    path: &Path,
    mut handle_line: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut reader =
        BufReader::with_capacity(BUFFER, open_regular(File::options().read(true), path)?);
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        handle_line(&line)?;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn references_of_all_blocks_come_first() {
        let reference = |name: u32| format!("@SQ\tSN:s{name}\tLN:{}\n", 100 + name);
        let line = |name: u32, more: u32| {
            let letters = "ACGT".repeat(more as usize % 9);
            format!("@SQ\t16\ts{name}\t1\t255\t{letters}\n")
        };
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report");
        for blocks in [0, 1, 3, 50] {
            let (mut report, mut named, mut lines) = (String::new(), Vec::new(), String::new());
            for block in 0..blocks {
                // Later blocks name references that were named before.
                let names: Vec<u32> = (block / 2..block + 5).collect();
                for &name in &names {
                    report += &reference(name);
                    if !named.contains(&name) {
                        named.push(name);
                    }
                }
                for more in 0..block % 4 {
                    let line = line(names[more as usize], more + block);
                    report += &line;
                    lines += &line;
                }
            }
            let head: String = named.into_iter().map(reference).collect();
            let all = if head.is_empty() { head } else { format!("first\n{head}last\n") };
            for most in [0, 1, 40, 500, 100_000] {
                fs::write(&path, &report).unwrap();
                insert_header_buffered(
                    &path,
                    SamHeader::from_first_and_last(b"first\n", b"last\n"),
                    most,
                )
                .unwrap();
                assert_eq!(fs::read_to_string(&path).unwrap(), format!("{all}{lines}"), "{most}");
            }
        }
    }
}
