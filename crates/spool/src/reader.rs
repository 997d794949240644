//! Reading records back.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use xxhash_rust::xxh3::xxh3_64;
use zstd::stream::read::Decoder;

use crate::error::{Context, Error};
use crate::layout::{FileId, Run};
use crate::record::{HEADER_BYTES, Header, Place};

/// Largest window (base 2 logarithm) that a body may ask the decompressor to keep: 8 MB.
const WINDOW_LOG: u32 = 23;
/// Contents are rarely more times as long as what is stored: the memory to begin with.
const USUAL_RATIO: u64 = 16;

/// Reads records of any file of a job, whichever writer and run it is of.
pub struct Reader {
    run: Run,
    /// The file that was read last.
    open: Option<(FileId, File)>,
}

impl Reader {
    /// A reader for the job of `run`.
    pub fn new(run: &Run) -> Self {
        Self { run: run.clone(), open: None }
    }

    /// The contents of a record. One of a writer at work can be read after its [`flush`](crate::Writer::flush).
    ///
    /// # Errors
    /// [`Error::Damaged`] if the bytes are not those that were written; [`Error::Io`] if they cannot be read.
    pub fn read(&mut self, place: &Place) -> Result<Vec<u8>, Error> {
        let path = self.run.path(place.file);
        let damaged = |what| Error::Damaged { path: path.clone(), offset: place.offset, what };
        let file = match self.open.take() {
            Some((id, file)) if id == place.file => file,
            _ => File::open(&path).during("open", &path)?,
        };
        let (_, file) = self.open.insert((place.file, file));

        let length = file.metadata().during("read", &path)?.len();
        let size = place.stored.checked_add(HEADER_BYTES as u64);
        let end = size.and_then(|size| size.checked_add(place.offset));
        let (Some(size), true) = (size, end.is_some_and(|end| end <= length)) else {
            return Err(damaged("the file ends before the record does"));
        };
        let mut bytes = vec![0; size as usize];
        file.read_exact_at(&mut bytes, place.offset).during_at("read", &path, place.offset)?;
        let header = bytes
            .first_chunk()
            .and_then(|bytes| Header::decode(bytes, self.run.job, place.file, place.offset))
            .filter(|header| header.place == *place)
            .ok_or_else(|| damaged("there is no such record"))?;
        let stored = &bytes[HEADER_BYTES..];
        if xxh3_64(stored) != header.body {
            return Err(damaged("the checksum of the record is wrong"));
        }
        decompress(stored, place.length)
            .ok()
            .filter(|contents| xxh3_64(contents) == place.content)
            .ok_or_else(|| damaged("the record cannot be decompressed"))
    }
}

/// The contents of a body, which have to be of this length. Memory grows with what comes out, not with what is told.
fn decompress(stored: &[u8], length: u64) -> io::Result<Vec<u8>> {
    let mut decoder = Decoder::with_buffer(stored)?.single_frame();
    decoder.window_log_max(WINDOW_LOG)?;
    let usual = length.min(USUAL_RATIO.saturating_mul(stored.len() as u64));
    let mut contents = Vec::with_capacity(usual as usize);
    decoder.take(length.saturating_add(1)).read_to_end(&mut contents)?;
    match contents.len() as u64 == length {
        true => Ok(contents),
        false => Err(io::ErrorKind::InvalidData.into()),
    }
}
