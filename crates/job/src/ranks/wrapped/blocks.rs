//! Reads FASTA in blocks of whole queries. Does not parse the queries: the program that receives
//! them does.

use std::io::{BufRead, BufReader, Cursor, Read};

use fleetblast_fleet::payload::Weight;
use fleetblast_seq::input::{FileVersion, UnchangedFile};
use serde::{Deserialize, Serialize};

use crate::error::{Error, exit};
use crate::plan::Source;
use crate::standard;

/// Bytes read at a time.
const BUFFER: usize = 1 << 20;

/// Queries for one run of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FastaBlock {
    /// The text in FASTA.
    pub text: Vec<u8>,
    /// The first word of each definition line.
    pub names: Vec<Vec<u8>>,
    /// Number of characters outside definition lines, without white space.
    pub letters: u64,
    /// Number of queries before the block.
    pub before: u64,
    /// Whether this is the last block.
    pub is_last: bool,
}

impl FastaBlock {
    /// Returns the number of queries and letters.
    pub fn weight(&self) -> Weight {
        Weight { sequences: self.names.len() as u64, residues: self.letters }
    }
}

/// Reader of a file of queries, block by block.
pub struct FastaBlocks {
    source: BufReader<Box<dyn Read + Send>>,
    /// Version of the query file; `None` for standard input.
    version: Option<FileVersion>,
    residues: u64,
    queries: u64,
    /// The line after the last block: a definition line, or empty at the end of the input.
    line: Vec<u8>,
    read: u64,
    ended: bool,
}

impl FastaBlocks {
    /// Opens queries. A block is complete when it has `residues` letters or `queries` queries.
    ///
    /// # Errors
    /// The queries cannot be opened.
    pub fn open(source: &Source, residues: u64, queries: u64) -> Result<Self, Error> {
        let failed = |error: &std::io::Error| Error::query(format_args!("queries: {error}"));
        let (source, version): (Box<dyn Read + Send>, _) = match source {
            Source::Stdin => (Box::new(standard::input().map_err(|error| failed(&error))?), None),
            Source::File(path) => {
                let file = UnchangedFile::open(path).map_err(|error| failed(&error))?;
                let version = file.version();
                (Box::new(file), version)
            }
            Source::Text(text) => (Box::new(Cursor::new(text.clone())), None),
        };
        let source = BufReader::with_capacity(BUFFER, source);
        let mut blocks = FastaBlocks {
            source,
            version,
            residues,
            queries,
            line: Vec::new(),
            read: 0,
            ended: false,
        };
        while !blocks.ended && !is_definition(&blocks.line) {
            if !blocks.line.trim_ascii().is_empty() {
                return Err(unnamed_query(1));
            }
            blocks.next_line()?;
        }
        Ok(blocks)
    }

    /// Returns the version of the query file; `None` for standard input.
    pub fn version(&self) -> Option<FileVersion> {
        self.version
    }

    /// Reads the next block; `None` at the end.
    ///
    /// # Errors
    /// Queries cannot be read, or have no name.
    pub fn next(&mut self) -> Result<Option<FastaBlock>, Error> {
        let mut block = FastaBlock { before: self.read, ..FastaBlock::default() };
        while !self.ended && !self.is_enough(&block) {
            let word = self.line[1..].split(u8::is_ascii_whitespace).next().unwrap_or_default();
            if word.is_empty() {
                return Err(unnamed_query(self.read + 1));
            }
            block.names.push(word.to_vec());
            block.text.append(&mut self.line);
            self.read += 1;
            while self.next_line()? && !is_definition(&self.line) {
                let letters = self.line.iter().filter(|byte| !byte.is_ascii_whitespace());
                block.letters += letters.count() as u64;
                block.text.append(&mut self.line);
            }
        }
        if !block.text.ends_with(b"\n") {
            block.text.push(b'\n');
        }
        block.is_last = self.ended;
        Ok((!block.names.is_empty()).then_some(block))
    }

    fn is_enough(&self, block: &FastaBlock) -> bool {
        block.letters >= self.residues || block.names.len() as u64 >= self.queries
    }

    /// Reads a line with its end. Returns false at the end of the file.
    fn next_line(&mut self) -> Result<bool, Error> {
        self.line.clear();
        let read = self.source.read_until(b'\n', &mut self.line);
        let count = read.map_err(|error| Error::query(format_args!("queries: {error}")))?;
        self.ended = count == 0;
        Ok(count > 0)
    }
}

/// Counts the queries and letters of a file. Returns `None` for an input that can be read only
/// once.
///
/// # Errors
/// See [`FastaBlocks::next`].
pub fn count_queries(source: &Source) -> Result<Option<Weight>, Error> {
    match source {
        Source::File(path) if path.is_file() => {}
        _ => return Ok(None),
    }
    let mut all = Weight::default();
    let mut blocks = FastaBlocks::open(source, 1, u64::MAX)?;
    while let Some(block) = blocks.next()? {
        all.sequences += block.weight().sequences;
        all.residues += block.weight().residues;
    }
    Ok(Some(all))
}

fn is_definition(line: &[u8]) -> bool {
    line.starts_with(b">")
}

fn unnamed_query(number: u64) -> Error {
    Error::new(
        exit::INPUT,
        format!(
            "query {number} has no name: programs number such queries, and would begin anew with each block; give each a \
             definition line"
        ),
    )
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn blocks(text: &str, residues: u64, queries: u64) -> Result<Vec<FastaBlock>, Error> {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(text.as_bytes()).expect("room");
        let mut blocks = FastaBlocks::open(&Source::File(file.path().into()), residues, queries)?;
        std::iter::from_fn(|| blocks.next().transpose()).collect()
    }

    #[test]
    fn blocks_are_unchanged_whole_queries() {
        let text = "\n>a one\nMKV\n  LA\n>b\n\n>c three\nMKVLAA";
        let cut = blocks(text, 5, 10).expect("queries");
        let texts: Vec<_> = cut.iter().map(|block| String::from_utf8_lossy(&block.text)).collect();
        assert_eq!(texts, [">a one\nMKV\n  LA\n", ">b\n\n>c three\nMKVLAA\n"]);
        let facts: Vec<_> =
            cut.iter().map(|block| (block.letters, block.before, block.is_last)).collect();
        assert_eq!(facts, [(5, 0, false), (6, 1, true)]);
        assert_eq!(cut[1].names, [b"b".to_vec(), b"c".to_vec()]);
        assert_eq!(blocks(text, 100, 1).expect("queries").len(), 3);
        assert_eq!(blocks(" \n", 1, 1).expect("none"), []);
    }

    #[test]
    fn queries_without_names_are_refused() {
        for (text, number) in [("MKV\n", 1), (">a\nMKV\n> \nMKV\n", 2), (">a\nMKV\n>\n", 2)] {
            let error = blocks(text, 1, 1).expect_err(text);
            assert!(error.message.starts_with(&format!("query {number} has no name")), "{error}");
        }
    }
}
