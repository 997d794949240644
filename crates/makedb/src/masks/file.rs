//! Files of masks from segmasker, dustmasker, windowmasker and convert2blastmask
//! (Blast-db-mask-info, blast.asn), in binary or text.

use std::io::{self, BufRead, BufReader};
use std::ops::Range;
use std::path::{Path, PathBuf};

use fleetblast_seq::asn::{AsnError, AsnReader, Malformed, Node, Place, read_location};
use fleetblast_seq::id::SeqId;
use fleetblast_seq::input::UnchangedFile;

/// Number of bytes to read at a time. The first read is enough to detect the format.
const BUFFER: usize = 1 << 16;
/// Number of leading bytes from which BLAST+ guesses the format.
const GUESSED: usize = 8096;

/// The fields of a Blast-db-mask-info.
const INFO: &[&str] = &["algo-id", "algo-program", "algo-options", "masks"];
/// The fields of a Blast-mask-list.
const MASKS: &[&str] = &["masks", "more"];

/// An error of reading a file of masks.
#[derive(Debug, thiserror::Error)]
pub enum MaskError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file is neither binary nor text ASN.1.
    #[error("Unknown encoding for mask data in '{}'", path.display())]
    UnknownEncoding {
        /// The file.
        path: PathBuf,
    },
    /// The contents are not those of masking programs.
    #[error("{}, {}: {problem}; make it anew with -outfmt maskinfo_asn1_bin", path.display(), at)]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The byte from 0, or the line from 1.
        at: Place,
        /// Description of the error.
        problem: String,
    },
}

/// Description of masks, which precedes them in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskDescription {
    /// The masking program: 10 dust, 20 seg, 30 windowmasker, 40 repeat, 100 other.
    pub program: i64,
    /// Options of the masking program.
    pub options: Vec<u8>,
}

/// A file of masks that is being read.
pub struct MaskFile {
    path: PathBuf,
    source: AsnReader<'static>,
}

impl MaskFile {
    /// Opens a file. Reading fails if the file changes after that.
    ///
    /// # Errors
    /// If the file cannot be read, or is not ASN.1.
    pub fn open(path: &Path) -> Result<Self, MaskError> {
        let wrap = |source| MaskError::Unreadable { path: path.to_path_buf(), source };
        let file = UnchangedFile::open(path).map_err(wrap)?;
        Self::new(BufReader::with_capacity(BUFFER, file), path)
    }

    /// Creates a reader of `input`; `path` is its name in messages.
    ///
    /// # Errors
    /// If the file cannot be read, or is not ASN.1.
    pub fn new(mut input: impl BufRead + 'static, path: &Path) -> Result<Self, MaskError> {
        let path = path.to_path_buf();
        let start = match input.fill_buf() {
            Ok(start) => &start[..start.len().min(GUESSED)],
            Err(source) => return Err(MaskError::Unreadable { path, source }),
        };
        let source: AsnReader<'static> = match guess(start) {
            Some(true) => AsnReader::binary(input),
            Some(false) => AsnReader::text(input),
            None => return Err(MaskError::UnknownEncoding { path }),
        };
        Ok(Self { path, source })
    }

    /// Reads the description of the next object of the file; `None` at the end. The caller must
    /// then read the object's masks with [`for_each_mask`](Self::for_each_mask).
    ///
    /// # Errors
    /// If the file cannot be read or is malformed.
    pub fn read_next_description(&mut self) -> Result<Option<MaskDescription>, MaskError> {
        let mut read = || {
            let source = &mut self.source;
            if !source.more()? {
                return Ok(None);
            }
            source.header("Blast-db-mask-info")?;
            source.open()?;
            open_field(source, INFO, "algo-id")?;
            source.value()?;
            source.close_field()?;
            open_field(source, INFO, "algo-program")?;
            let program = program(source.value()?)?;
            source.close_field()?;
            open_field(source, INFO, "algo-options")?;
            let options = source.value()?.text()?.into_owned();
            source.close_field()?;
            open_field(source, INFO, "masks")?;
            Ok(Some(MaskDescription { program, options }))
        };
        let result = read();
        result.map_err(|problem| self.error(problem))
    }

    /// Reads the masks of the current object, and calls `each` with every sequence and its ranges.
    ///
    /// # Errors
    /// If the file cannot be read or is malformed.
    pub fn for_each_mask(
        &mut self,
        mut each: impl FnMut(SeqId, Vec<Range<u32>>),
    ) -> Result<(), MaskError> {
        let result = self.read_masks(&mut each);
        result.map_err(|problem| self.error(problem))
    }

    fn read_masks(
        &mut self,
        each: &mut impl FnMut(SeqId, Vec<Range<u32>>),
    ) -> Result<(), AsnError> {
        let source = &mut self.source;
        source.open()?;
        let mut more = list(source, each)?;
        source.close()?;
        source.close_field()?;
        source.close()?;
        // Masks that did not fit into the object follow in further objects.
        while more {
            source.header("Blast-mask-list")?;
            source.open()?;
            more = list(source, each)?;
            source.close()?;
        }
        Ok(())
    }

    fn error(&self, problem: AsnError) -> MaskError {
        let path = self.path.clone();
        match problem {
            AsnError::Io(source) => MaskError::Unreadable { path, source },
            AsnError::Malformed(Malformed { problem, .. }) => {
                MaskError::Malformed { path, at: self.source.place(), problem }
            }
        }
    }
}

/// Starts the next field of a value, which must be the one with this name.
fn open_field(source: &mut AsnReader<'_>, names: &[&str], name: &str) -> Result<(), AsnError> {
    match source.open_field(names, 0)? {
        Some(place) if names[place] == name => Ok(()),
        _ => source.fail(format!("'{name}' belongs here")),
    }
}

/// Reads a Blast-mask-list, and calls `each` with each of its masks. Returns whether another list
/// follows.
fn list(
    source: &mut AsnReader<'_>,
    each: &mut impl FnMut(SeqId, Vec<Range<u32>>),
) -> Result<bool, AsnError> {
    open_field(source, MASKS, "masks")?;
    source.for_each_element(|node| {
        if let Some((id, ranges)) = read_location(node)? {
            each(id, ranges);
        }
        Ok(())
    })?;
    source.close_field()?;
    open_field(source, MASKS, "more")?;
    let more = source.value()?.boolean()?;
    source.close_field()?;
    Ok(more)
}

/// Returns the number of a masking program. Text files have the program's name instead.
fn program(node: Node<'_>) -> Result<i64, Malformed> {
    let Some(name) = node.word() else { return node.integer() };
    Ok(match name {
        b"not-set" => 0,
        b"dust" => 10,
        b"seg" => 20,
        b"windowmasker" => 30,
        b"repeat" => 40,
        b"other" => 100,
        _ => return node.fail("an unknown masking program"),
    })
}

/// Returns whether the start of a file is binary ASN.1 (`Some(true)`) or text ASN.1
/// (`Some(false)`), by the rules of BLAST+ (`CFormatGuess`); `None` if it is neither. A file with
/// unprintable bytes is binary. In text, `::=` is the second word of the first line that is no
/// comment.
fn guess(start: &[u8]) -> Option<bool> {
    let odd = |byte: &u8| !byte.is_ascii_graphic() && !matches!(byte, b' ' | b'\t'..=b'\r' | 1);
    if start.iter().any(odd) {
        return Some(true);
    }
    let line = start
        .split(|&byte| byte == b'\n' || byte == b'\r')
        .map(<[u8]>::trim_ascii)
        .find(|line| !line.is_empty() && !line.starts_with(b"--"))?;
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let letter = words.next()?.first()?.is_ascii_alphabetic();
    (letter && words.next()? == b"::=").then_some(false)
}
