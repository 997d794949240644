//! Registers the names of queries, and both ends of the report, for an output that stays as
//! records. They go to a file of their own: other files contain only output.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use fleetblast_db::check_mapped_files;
use fleetblast_fleet::ids::{BlockId, Rank};
use fleetblast_spool::{Catalog, Key, Kind, Name, Place, Share, Writer};

use crate::error::Error;
use crate::ranks::checkpoint::{Kept, failure};

/// Bytes that the writer buffers.
const BUFFER: usize = 1 << 20;

/// A register that the roles of a rank share.
pub type SharedRegister = Arc<Mutex<Register>>;

/// Writes the names of queries, and both ends of the report.
pub struct Register {
    kept: Kept,
    writer: Writer,
    places: Vec<Place>,
    names: Vec<Name>,
}

impl Register {
    /// Creates the register with a writer number that nobody else has.
    ///
    /// # Errors
    /// There are too many ranks, or too little memory.
    pub fn new(kept: &Kept, writer: u32) -> Result<Self, Error> {
        let writer = Writer::new(&kept.run, writer, BUFFER).map_err(|error| failure(&error))?;
        Ok(Register { kept: kept.clone(), writer, places: Vec::new(), names: Vec::new() })
    }

    /// Writes the names of a block's queries. Each query comes with its names, and its range of
    /// bytes in the block's output.
    ///
    /// # Errors
    /// Records cannot be written.
    pub fn keep_names(
        &mut self,
        block: BlockId,
        queries: impl IntoIterator<Item = (Vec<Vec<u8>>, Range<u64>)>,
    ) -> Result<(), Error> {
        let block = u64::from(block.0);
        let mut lines = Vec::new();
        for (names, range) in queries {
            for name in names {
                lines.extend(format!("{}\t{}\t", range.start, range.end).into_bytes());
                lines.extend_from_slice(&name);
                lines.push(b'\n');
                self.names.push(Name::new(&name, block));
            }
        }
        self.keep(Key { block, kind: Kind::NAMES }, &lines)
    }

    /// Writes an end of the report.
    ///
    /// # Errors
    /// Records cannot be written, or a mapped file has changed.
    pub fn keep_end(&mut self, kind: Kind, bytes: &[u8]) -> Result<(), Error> {
        self.keep(Key { block: 0, kind }, bytes)
    }

    fn keep(&mut self, key: Key, bytes: &[u8]) -> Result<(), Error> {
        check_mapped_files()?;
        let appended = self.writer.append(key, Share::whole(bytes.len() as u64), bytes);
        self.places.extend(appended.map_err(|error| failure(&error))?);
        if self.kept.durable {
            self.writer.sync().map_err(|error| failure(&error))?;
        }
        Ok(())
    }

    /// Brings all records to disk, with an index.
    ///
    /// # Errors
    /// Records cannot be written.
    pub fn finish(&mut self) -> Result<(), Error> {
        let (places, names) = (std::mem::take(&mut self.places), std::mem::take(&mut self.names));
        finish(&self.kept, &mut self.writer, places, names)
    }
}

/// Creates the register of a rank, if the records stay as the report.
///
/// # Errors
/// See [`ReportRegister::new`].
pub fn of_rank(
    kept: Option<&Kept>,
    ranks: u32,
    rank: Rank,
) -> Result<Option<SharedRegister>, Error> {
    let Some(kept) = kept.filter(|kept| kept.stays) else { return Ok(None) };
    // The first numbers belong to the ranks, and to the records of verification.
    Register::new(kept, ranks + 1 + rank.0).map(|register| Some(Arc::new(Mutex::new(register))))
}

/// Brings the records of a writer to disk, with an index of them.
///
/// # Errors
/// Records cannot be written.
pub fn finish(
    kept: &Kept,
    writer: &mut Writer,
    places: Vec<Place>,
    names: Vec<Name>,
) -> Result<(), Error> {
    let finished = writer.sync().and_then(|()| {
        if places.is_empty() {
            return Ok(());
        }
        Catalog::new(&kept.run, writer.id(), writer.written(), places, names).write(&kept.run)
    });
    finished.map_err(|error| failure(&error))
}
