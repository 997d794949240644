//! Registers the names of queries, and the bytes before the first block and after the last one, if
//! the report consists of records. The register has a file of its own, because the other files
//! contain only output.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use fleetblast_db::check_mapped_files;
use fleetblast_fleet::ids::{BlockId, Rank};
use fleetblast_spool::{Catalog, Name, ResultKey, ResultKind, ShareRange, StoredShare, Writer};

use crate::error::Error;
use crate::ranks::checkpoint::{CheckpointState, checkpoint_error};

/// Number of bytes that the writer buffers.
const BUFFER: usize = 1 << 20;

/// A register that the roles of a rank share.
pub type SharedRegister = Arc<Mutex<ReportRegister>>;

/// Writer of the names of queries, and of the bytes before the first block and after the last one.
pub struct ReportRegister {
    checkpoint_state: CheckpointState,
    writer: Writer,
    places: Vec<StoredShare>,
    names: Vec<Name>,
}

impl ReportRegister {
    /// Creates the register. No other writer of the job may have the number `writer`.
    ///
    /// # Errors
    /// There are too many ranks, or too little memory.
    pub fn new(checkpoint_state: &CheckpointState, writer: u32) -> Result<Self, Error> {
        let writer = Writer::new(&checkpoint_state.run, writer, BUFFER)
            .map_err(|error| checkpoint_error(&error))?;
        Ok(ReportRegister {
            checkpoint_state: checkpoint_state.clone(),
            writer,
            places: Vec::new(),
            names: Vec::new(),
        })
    }

    /// Writes the names of a block's queries. Each query comes with its names, and its range of
    /// bytes in the block's output.
    ///
    /// # Errors
    /// Records cannot be written.
    pub fn write_names(
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
        self.append(ResultKey { block, kind: ResultKind::NAMES }, &lines)
    }

    /// Writes the bytes before the first block or after the last one, as `kind` says.
    ///
    /// # Errors
    /// Records cannot be written, or a mapped file has changed.
    pub fn write_end(&mut self, kind: ResultKind, bytes: &[u8]) -> Result<(), Error> {
        self.append(ResultKey { block: 0, kind }, bytes)
    }

    fn append(&mut self, key: ResultKey, bytes: &[u8]) -> Result<(), Error> {
        check_mapped_files()?;
        let appended = self.writer.append(key, ShareRange::whole(bytes.len() as u64), bytes);
        self.places.extend(appended.map_err(|error| checkpoint_error(&error))?);
        if self.checkpoint_state.durable {
            self.writer.sync().map_err(|error| checkpoint_error(&error))?;
        }
        Ok(())
    }

    /// Brings all records to disk, and writes their index.
    ///
    /// # Errors
    /// Records cannot be written.
    pub fn finish(&mut self) -> Result<(), Error> {
        let (places, names) = (std::mem::take(&mut self.places), std::mem::take(&mut self.names));
        finish_records(&self.checkpoint_state, &mut self.writer, places, names)
    }
}

/// Creates the register of a rank. Returns `None` unless the report consists of records.
///
/// # Errors
/// See [`ReportRegister::new`].
pub fn open_for_rank(
    checkpoint_state: Option<&CheckpointState>,
    ranks: u32,
    rank: Rank,
) -> Result<Option<SharedRegister>, Error> {
    let Some(checkpoint_state) =
        checkpoint_state.filter(|checkpoint_state| checkpoint_state.records_are_report)
    else {
        return Ok(None);
    };
    // The first numbers belong to the writers of ranks, and to that of verification records.
    ReportRegister::new(checkpoint_state, ranks + 1 + rank.0)
        .map(|register| Some(Arc::new(Mutex::new(register))))
}

/// Brings the records of a writer to disk, and writes their index.
///
/// # Errors
/// Records cannot be written.
pub fn finish_records(
    checkpoint_state: &CheckpointState,
    writer: &mut Writer,
    places: Vec<StoredShare>,
    names: Vec<Name>,
) -> Result<(), Error> {
    let finished = writer.sync().and_then(|()| {
        if places.is_empty() {
            return Ok(());
        }
        Catalog::new(&checkpoint_state.run, writer.id(), writer.written(), places, names)
            .write(&checkpoint_state.run)
    });
    finished.map_err(|error| checkpoint_error(&error))
}
