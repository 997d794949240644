//! Opening input files: plain, gzip, bzip2 or zstd, from a path or standard input.
//!
//! The format is told by the first bytes, never by the name. Files of several concatenated members
//! are read through (`bgzip`, `pigz`, `cat a.gz b.gz`). A file that ends inside a member is an
//! error. What follows the last member of gzip or bzip2 and is none is passed over as by `gzip` and
//! `bzip2`: zeros as padding (`tar`), anything else with a warning. The compressed bytes of a
//! sequence bound its length.

mod bounded;
mod members;
mod unchanged;

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;

use self::bounded::{Bounded, Counted};
use self::members::{Member, Members};
use self::unchanged::Changed;
pub use self::unchanged::{FileVersion, UnchangedFile, read_whole};

/// Bytes read at a time.
const BUFFER: usize = 256 * 1024;
/// Bytes that tell the format.
const MAGIC: usize = 6;

/// An input that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot open: {source}; give the path of a readable file, or - for standard input", path.display())]
pub struct OpenError {
    /// The path as given.
    pub path: PathBuf,
    /// The cause.
    pub source: io::Error,
}

/// How an input is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip.
    Gzip,
    /// bzip2.
    Bzip2,
    /// Zstandard.
    Zstd,
}

impl Compression {
    /// Tells the compression from the first bytes of a file, six if there are so many.
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

/// Opens a file, or standard input if `path` is `-`. `warn` hears of what is odd and no error, without line end.
///
/// # Errors
/// The file cannot be opened or its start not read. Errors of the returned reader name the file;
/// one of them is that the file has changed.
pub fn open<'a>(
    path: &Path,
    warn: impl FnMut(&str) + Send + 'a,
) -> Result<Box<dyn BufRead + Send + 'a>, OpenError> {
    open_version(path, warn).map(|(reader, _)| reader)
}

/// The same, with the version of the file that is read.
///
/// # Errors
/// As [`open`].
pub fn open_version<'a>(
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

/// Reads `input` through the decompression that its first bytes ask for. `name` is what errors
/// call it; `warn` hears of what is odd and no error, without line end.
///
/// # Errors
/// The start of the input cannot be read.
pub fn decompress<'a>(
    input: impl Read + Send + 'a,
    name: &Path,
    warn: impl FnMut(&str) + Send + 'a,
) -> io::Result<Box<dyn BufRead + Send + 'a>> {
    let mut input = EndsOnce { inner: input, has_ended: false };
    let start = peek(&mut input)?;
    let compression = Compression::detect(&start);
    let (input, came) = Counted::new(Cursor::new(start).chain(input));
    let input = BufReader::with_capacity(BUFFER, input);
    let name = Origin { path: name.to_path_buf(), compression, came };
    Ok(match compression {
        Compression::None => name.buffered(input),
        Compression::Gzip => name.members::<GzDecoder<_>>(input, warn),
        Compression::Bzip2 => name.members::<BzDecoder<_>>(input, warn),
        Compression::Zstd => name.buffered(zstd::stream::read::Decoder::with_buffer(input)?),
    })
}

/// A reader that is not read again after its end: a terminal would wait for more, until somebody
/// types Ctrl-D once more for each reader that looks.
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

/// Where bytes come from.
struct Origin {
    path: PathBuf,
    compression: Compression,
    /// Compressed bytes that were read.
    came: Arc<AtomicU64>,
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
        let (compression, came) = (self.compression, Arc::clone(&self.came));
        match compression {
            Compression::None => {
                Box::new(BufReader::with_capacity(BUFFER, Named { inner, origin: self }))
            }
            _ => {
                let name = format!("{} ({})", self.path.display(), compression.name());
                let inner = Bounded::new(Named { inner, origin: self }, came, name);
                Box::new(BufReader::with_capacity(BUFFER, inner))
            }
        }
    }
}

/// A reader whose errors say which file failed and how it was read.
struct Named<R> {
    inner: R,
    origin: Origin,
}

impl<R: Read> Read for Named<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|error| {
            let kind = error.kind();
            if kind == io::ErrorKind::Interrupted {
                return error;
            }
            let Origin { path, compression, .. } = &self.origin;
            let has_changed = error.get_ref().is_some_and(|cause| cause.is::<Changed>());
            let advice = match (compression, kind) {
                (Compression::None, _) => "",
                _ if has_changed => "",
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
