//! Divides a report of several files (formats 13 and 14) into its files.
//!
//! The documents of the queries are first written to one hidden file, one after the other, by as
//! many threads and ranks as write any other report. When it is complete, each document gets its
//! own file, and the index comes last. So an index names only complete documents.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use fleetblast_report::report_files::{document_path, index_text};
use fleetblast_spool::open_regular;

use super::{resolve_replaced_path, write_whole};
use crate::error::{Error, exit};
use crate::plan::ReportFiles;

/// Divides the report at `joined` into documents, and writes the index. An older index is emptied
/// before the first document takes the place of an older one. A report without documents has an
/// empty index.
///
/// # Errors
/// A file cannot be read or written.
pub fn divide_report(joined: &Path, files: &ReportFiles) -> Result<(), Error> {
    let index = files.index.as_os_str().as_bytes();
    let failed = |error: io::Error| super::failure(joined, None, &error);
    let reader = open_regular(File::options().read(true), joined).map_err(failed)?;
    let mut documents = Documents::new(reader, files.notation.document_start()).map_err(failed)?;
    if let Some(older) = resolve_replaced_path(&files.index).filter(|older| older.exists()) {
        fs::write(&older, b"").map_err(|error| super::failure(&older, None, &error))?;
    }
    let mut count = 0;
    while documents.has_next() {
        count += 1;
        let path = PathBuf::from(OsStr::from_bytes(&document_path(index, files.notation, count)));
        write_whole(&path, |file| documents.copy_next(file)).map_err(|error| {
            let message = "Command line argument error: Cannot open output file";
            Error::new(exit::INPUT, format!("{message}\n({}: {error})", path.display()))
        })?;
    }
    let text = match count {
        0 => Vec::new(),
        count => index_text(index, files.notation, count),
    };
    write_whole(&files.index, |file| file.write_all(&text))
        .map_err(|error| super::failure(&files.index, None, &error))
}

/// Reader of a file that contains documents one after the other.
struct Documents {
    reader: BufReader<File>,
    /// Bytes with which the first line of each document begins, and no other line.
    start: &'static [u8],
    /// The first line of the next document; empty at the end.
    line: Vec<u8>,
}

impl Documents {
    fn new(file: File, start: &'static [u8]) -> io::Result<Self> {
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        reader.read_until(b'\n', &mut line)?;
        Ok(Self { reader, start, line })
    }

    fn has_next(&self) -> bool {
        !self.line.is_empty()
    }

    fn copy_next(&mut self, file: &mut File) -> io::Result<()> {
        let mut writer = BufWriter::new(file);
        loop {
            writer.write_all(&self.line)?;
            self.line.clear();
            let length = self.reader.read_until(b'\n', &mut self.line)?;
            if length == 0 || self.line.starts_with(self.start) {
                return writer.flush();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use fleetblast_report::model::Notation;

    use super::*;

    #[test]
    fn each_document_gets_a_file_and_the_index_comes_last() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        let files = ReportFiles { index: at("r.json"), notation: Notation::Json };
        fs::write(at("joined"), "{\n  \"a\": {}\n}\n{\n  \"b\"\n}\n").expect("a file");
        divide_report(&at("joined"), &files).expect("a report");
        let read = |name: &str| fs::read_to_string(at(name)).expect("a document");
        assert_eq!(read("r_1.json"), "{\n  \"a\": {}\n}\n");
        assert_eq!(read("r_2.json"), "{\n  \"b\"\n}\n");
        assert!(read("r.json").contains("r.json_2.json"));
        fs::remove_file(at("r_2.json")).expect("it is there");
        fs::create_dir(at("r_2.json")).expect("a directory");
        let error = divide_report(&at("joined"), &files).expect_err("a directory is in the way");
        assert!(error.message.contains("r_2.json"), "{}", error.message);
        assert_eq!(read("r.json"), "", "an index names complete documents only");
        fs::write(at("joined"), "").expect("a file");
        divide_report(&at("joined"), &files).expect("an empty report");
        assert_eq!(read("r.json"), "");
    }
}
