//! What a rank keeps beside the output of blocks, where that stays as records: which queries they have, and both ends of the
//! report. It goes to a file of its own: the others hold nothing but output.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use fleetblast_db::check_mapped_files;
use fleetblast_fleet::ids::{BlockId, Rank};
use fleetblast_spool::{Catalog, Key, Kind, Name, Place, Share, Writer};

use crate::error::Error;
use crate::ranks::checkpoint::{Kept, failure};

/// Bytes that the writer collects before it writes.
const BUFFER: usize = 1 << 20;

/// A register that the roles of a rank have in common.
pub type SharedRegister = Arc<Mutex<Register>>;

/// What is kept beside.
pub struct Register {
    kept: Kept,
    writer: Writer,
    places: Vec<Place>,
    names: Vec<Name>,
}

impl Register {
    /// With the writer of this number, which is no other's.
    ///
    /// # Errors
    /// Too many ranks, too little memory.
    pub fn new(kept: &Kept, writer: u32) -> Result<Self, Error> {
        let writer = Writer::new(&kept.run, writer, BUFFER).map_err(|error| failure(&error))?;
        Ok(Register { kept: kept.clone(), writer, places: Vec::new(), names: Vec::new() })
    }

    /// Keeps the names of a block's queries, with the bytes of the block's output that are each one's own.
    ///
    /// # Errors
    /// Records that cannot be written.
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

    /// Keeps an end of the report.
    ///
    /// # Errors
    /// Records that cannot be written; a mapped file that has changed.
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

    /// Brings everything to disk, with an index.
    ///
    /// # Errors
    /// Records that cannot be written.
    pub fn finish(&mut self) -> Result<(), Error> {
        let (places, names) = (std::mem::take(&mut self.places), std::mem::take(&mut self.names));
        finish(&self.kept, &mut self.writer, places, names)
    }
}

/// What a rank keeps beside the output of blocks, where that stays as records.
///
/// # Errors
/// As [`Register::new`].
pub fn of_rank(
    kept: Option<&Kept>,
    ranks: u32,
    rank: Rank,
) -> Result<Option<SharedRegister>, Error> {
    let Some(kept) = kept.filter(|kept| kept.stays) else { return Ok(None) };
    // After those of the ranks and of what is judged.
    Register::new(kept, ranks + 1 + rank.0).map(|register| Some(Arc::new(Mutex::new(register))))
}

/// Brings the records of a writer to disk, with an index of them.
///
/// # Errors
/// Records that cannot be written.
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
