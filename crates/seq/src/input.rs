//! Opens input files: plain, gzip, bzip2 or zstd, from a path or standard input.
//!
//! The first bytes determine the format, not the name. Files of several concatenated members are
//! read to the end (`bgzip`, `pigz`, `cat a.gz b.gz`). A file that ends inside a member is an
//! error.
//!
//! Other bytes after the last member of gzip or bzip2 are skipped, as by `gzip` and `bzip2`: zeros
//! as padding (`tar`), anything else with a warning. A decompressed sequence that is too long for
//! its compressed size is an error.

mod bounded;
mod members;
mod unchanged;

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;

use self::bounded::{CountingReader, LimitedReader};
use self::members::{Member, Members};
pub use self::unchanged::{FileVersion, UnchangedFile, is_file_change, read_whole_file};

/// Number of bytes to read at a time.
const BUFFER: usize = 256 * 1024;
/// Number of first bytes that identify the compression.
const MAGIC: usize = 6;

/// Error for an input that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot open: {source}; give the path of a readable file, or - for standard input", path.display())]
pub struct OpenError {
    /// The path as the user gave it.
    pub path: PathBuf,
    /// The error of the system.
    pub source: io::Error,
}

/// The compression of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not compressed.
    None,
    /// gzip.
    Gzip,
    /// bzip2.
    Bzip2,
    /// Zstandard.
    Zstd,
}

impl Compression {
    /// Detects the compression from the first six bytes of a file, or from all if there are fewer.
    pub fn detect(start: &[u8]) -> Self {
        match start {
            [0x1f, 0x8b, 8, ..] => Self::Gzip,
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31 | 0x17, ..] => Self::Bzip2,
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            _ => Self::None,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::None => "plain",
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Zstd => "zstd",
        }
    }
}

/// Opens a file, or standard input if `path` is `-`. Calls `warn` with each warning, without line
/// end.
///
/// # Errors
/// [`OpenError`] if the file cannot be opened, or if its first bytes cannot be read. Errors of the
/// returned reader name the file. The reader also fails if the file changes.
pub fn open<'a>(
    path: &Path,
    warn: impl FnMut(&str) + Send + 'a,
) -> Result<Box<dyn BufRead + Send + 'a>, OpenError> {
    open_input_with_version(path, warn).map(|(reader, _)| reader)
}

/// Opens an input like [`open`]. Also returns the version of the file, for a later comparison.
///
/// # Errors
/// Those of [`open`].
pub fn open_input_with_version<'a>(
    path: &Path,
    warn: impl FnMut(&str) + Send + 'a,
) -> Result<(Box<dyn BufRead + Send + 'a>, Option<FileVersion>), OpenError> {
    let wrap = |source| OpenError { path: path.to_path_buf(), source };
    if path == Path::new("-") {
        return Ok((decompress(io::stdin(), path, warn).map_err(wrap)?, None));
    }
    let file = UnchangedFile::open(path).map_err(wrap)?;
    let version = file.version();
    Ok((decompress(file, path, warn).map_err(wrap)?, version))
}

/// Decompresses `input` as its first bytes require. Messages use `name`. Calls `warn` with each
/// warning, without line end.
///
/// # Errors
/// The error of reading the start of the input.
pub fn decompress<'a>(
    input: impl Read + Send + 'a,
    name: &Path,
    warn: impl FnMut(&str) + Send + 'a,
) -> io::Result<Box<dyn BufRead + Send + 'a>> {
    let mut input = EndsOnce { inner: input, has_ended: false };
    let start = peek(&mut input)?;
    let compression = Compression::detect(&start);
    let (input, bytes_read) = CountingReader::new(Cursor::new(start).chain(input));
    let input = BufReader::with_capacity(BUFFER, input);
    let name = Origin { path: name.to_path_buf(), compression, bytes_read };
    Ok(match compression {
        Compression::None => name.buffered(input),
        Compression::Gzip => name.members::<GzDecoder<_>>(input, warn),
        Compression::Bzip2 => name.members::<BzDecoder<_>>(input, warn),
        Compression::Zstd => name.buffered(zstd::stream::read::Decoder::with_buffer(input)?),
    })
}

/// Reader that does not read its source again after the end. At a terminal, each read after the end
/// would wait for another Ctrl-D.
struct EndsOnce<R> {
    inner: R,
    has_ended: bool,
}

impl<R: Read> Read for EndsOnce<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.has_ended {
            return Ok(0);
        }
        let count = self.inner.read(buffer)?;
        self.has_ended = count == 0 && !buffer.is_empty();
        Ok(count)
    }
}

/// Reads up to [`MAGIC`] bytes.
fn peek(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(MAGIC);
    input.by_ref().take(MAGIC as u64).read_to_end(&mut start)?;
    Ok(start)
}

/// Name of an input, its compression, and a counter of its compressed bytes.
struct Origin {
    path: PathBuf,
    compression: Compression,
    /// Number of compressed bytes read so far.
    bytes_read: Arc<AtomicU64>,
}

impl Origin {
    fn members<'a, M>(
        self,
        input: M::Source,
        mut warn: impl FnMut(&str) + Send + 'a,
    ) -> Box<dyn BufRead + Send + 'a>
    where
        M: Member<Source: BufRead + Send> + Send + 'a,
    {
        let (path, format) = (self.path.display().to_string(), self.compression.name());
        let ignored = move || {
            warn(&format!("{path} ({format}): what follows the compressed data is ignored"));
        };
        self.buffered(Members::<M, _>::new(input, ignored))
    }

    fn buffered<'a>(self, inner: impl Read + Send + 'a) -> Box<dyn BufRead + Send + 'a> {
        let (compression, bytes_read) = (self.compression, Arc::clone(&self.bytes_read));
        match compression {
            Compression::None => {
                Box::new(BufReader::with_capacity(BUFFER, NamingReader { inner, origin: self }))
            }
            _ => {
                let name = format!("{} ({})", self.path.display(), compression.name());
                let inner =
                    LimitedReader::new(NamingReader { inner, origin: self }, bytes_read, name);
                Box::new(BufReader::with_capacity(BUFFER, inner))
            }
        }
    }
}

/// Reader whose errors name the file and its compression.
struct NamingReader<R> {
    inner: R,
    origin: Origin,
}

impl<R: Read> Read for NamingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|error| {
            let kind = error.kind();
            if kind == io::ErrorKind::Interrupted {
                return error;
            }
            let Origin { path, compression, .. } = &self.origin;
            let advice = match (compression, kind) {
                (Compression::None, _) => "",
                _ if is_file_change(&error) => "",
                (_, io::ErrorKind::UnexpectedEof) => "; the file is cut short: get it again",
                _ => "; the file may be damaged: get it again",
            };
            let (path, format) = (path.display(), compression.name());
            io::Error::new(kind, format!("{path} ({format}): {error}{advice}"))
        })
    }
}

#[cfg(test)]
mod tests;
