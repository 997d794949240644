//! Stores the pieces that a worker has formatted, until they are written to the output.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use fleetblast_fleet::ids::{Address, BlockId, GroupId, PartitionId, PassId};
use fleetblast_fleet::work::{OutputRun, PieceLocation, Slice, Window};
use fleetblast_spool::{ScratchFile, StoredShare};

use crate::error::Error;
use crate::ranks::output::OutputSlice;
use crate::ranks::wire::Bytes;

/// Identifies a piece of a worker: block, pass, partition, and number among the pieces with this
/// block, pass and partition.
pub type PieceKey = (BlockId, PassId, PartitionId, u32);

/// The formatted pieces of a worker, in memory or in a spool file.
pub struct PieceStore {
    pieces: HashMap<PieceKey, StoredPiece>,
    /// The spool file, for pieces that exceed the memory budget.
    spool: Option<ScratchFile>,
    /// The directory in which the spool file is created.
    directory: PathBuf,
}

/// A stored piece. `left` is the number of its bytes that were not taken yet.
enum StoredPiece {
    Memory { bytes: Vec<u8>, left: u64 },
    Spooled { places: Vec<StoredShare>, left: u64 },
}

impl PieceStore {
    /// Creates an empty store, whose spool file is in `directory`.
    pub fn new(directory: &Path) -> Self {
        PieceStore { pieces: HashMap::new(), spool: None, directory: directory.to_owned() }
    }

    /// Stores a piece: in memory if it has at most `budget` bytes, else in the spool. Returns the
    /// bytes of memory that it takes.
    ///
    /// # Errors
    /// The spool cannot be written.
    pub fn insert(&mut self, key: PieceKey, bytes: Vec<u8>, budget: u64) -> Result<u64, Error> {
        let left = bytes.len() as u64;
        if left == 0 {
            return Ok(0);
        }
        let (piece, kept) = if left <= budget {
            (StoredPiece::Memory { bytes, left }, left)
        } else {
            (StoredPiece::Spooled { places: self.spool(&bytes)?, left }, 0)
        };
        self.pieces.insert(key, piece);
        Ok(kept)
    }

    /// Takes slices of pieces in this store. Returns their bytes, one slice after the other, and
    /// the number of bytes of memory that are freed.
    ///
    /// # Errors
    /// The spool cannot be read.
    pub fn take_slices(&mut self, block: BlockId, slices: &[Slice]) -> Result<(Bytes, u64), Error> {
        let (mut bytes, mut freed) = (Vec::new(), 0);
        for slice in slices {
            freed += self.take_slice(block, slice, &mut bytes)?;
        }
        Ok((bytes.into(), freed))
    }

    /// Assembles the bytes of a window from pieces in this store and from bytes that other ranks
    /// sent. Also returns the bytes of memory that are freed.
    ///
    /// # Errors
    /// The spool cannot be read.
    pub fn assemble(&mut self, window: Window<Bytes>) -> Result<(Vec<OutputSlice>, u64), Error> {
        let mut parts: HashMap<Address, (Bytes, usize)> =
            window.parts.into_iter().map(|(from, bytes)| (from, (bytes, 0))).collect();
        self.assemble_runs(&window.runs, &mut parts)
    }

    /// Assembles this rank's share of a collective write. Besides pieces in this store, only bytes
    /// of the master are needed. Also returns the bytes of memory that are freed.
    ///
    /// # Errors
    /// The spool cannot be read.
    pub fn assemble_share(
        &mut self,
        runs: &[OutputRun],
        master: Option<Bytes>,
    ) -> Result<(Vec<OutputSlice>, u64), Error> {
        let from = Address::Master(GroupId(0));
        let mut parts = master.into_iter().map(|bytes| (from, (bytes, 0))).collect();
        self.assemble_runs(runs, &mut parts)
    }

    fn assemble_runs(
        &mut self,
        runs: &[OutputRun],
        parts: &mut HashMap<Address, (Bytes, usize)>,
    ) -> Result<(Vec<OutputSlice>, u64), Error> {
        let (mut output_slices, mut freed) = (Vec::with_capacity(runs.len()), 0);
        for run in runs {
            let mut bytes = Vec::with_capacity(run.length() as usize);
            for slice in &run.slices {
                let from = match slice.location {
                    PieceLocation::Master => parts.iter_mut().find(|(from, _)| is_master(from)),
                    PieceLocation::Worker(worker, ..) => {
                        parts.iter_mut().find(|(from, _)| **from == Address::Worker(worker))
                    }
                    // Records are only requested with a checkpoint, and read from there.
                    PieceLocation::Checkpoint => None,
                };
                let Some((_, (part, at))) = from else {
                    freed += self.take_slice(run.block, slice, &mut bytes)?;
                    continue;
                };
                let end = *at + slice.length as usize;
                let taken = part.get().get(*at..end).ok_or_else(|| missing_part(run.block))?;
                bytes.extend_from_slice(taken);
                *at = end;
            }
            output_slices.push(OutputSlice { offset: run.offset, bytes });
        }
        let left_over = parts.values().any(|(part, at)| part.get().len() > *at);
        match (left_over, runs.first()) {
            (true, Some(run)) => Err(missing_part(run.block)),
            _ => Ok((output_slices, freed)),
        }
    }

    /// Appends a slice of a piece in this store to `bytes`. Returns the bytes of memory that are
    /// freed.
    fn take_slice(
        &mut self,
        block: BlockId,
        slice: &Slice,
        bytes: &mut Vec<u8>,
    ) -> Result<u64, Error> {
        let PieceLocation::Worker(_, pass, partition) = slice.location else {
            return Err(missing_part(block));
        };
        let key = (block, pass, partition, slice.piece);
        let piece = self.pieces.get_mut(&key).ok_or_else(|| missing_part(block))?;
        let (left, freed) = match piece {
            StoredPiece::Memory { bytes: own, left } => {
                let range = slice.start as usize..(slice.start + slice.length) as usize;
                bytes.extend_from_slice(own.get(range).ok_or_else(|| missing_part(block))?);
                (left, slice.length)
            }
            StoredPiece::Spooled { places, left } => {
                let spool = self.spool.as_mut().ok_or_else(|| missing_part(block))?;
                let end = slice.start + slice.length;
                let wanted =
                    |place: &&StoredShare| place.share.start < end && place.end() > slice.start;
                for place in places.iter().filter(wanted) {
                    let part = spool.read(place);
                    let part = part.map_err(|error| spool_failure(&self.directory, &error))?;
                    let from = slice.start.saturating_sub(place.share.start) as usize;
                    let to = (end.min(place.end()) - place.share.start) as usize;
                    bytes.extend_from_slice(&part[from..to]);
                }
                (left, 0)
            }
        };
        *left = left.saturating_sub(slice.length);
        if *left == 0 {
            self.pieces.remove(&key);
        }
        if self.pieces.is_empty() {
            // The spool has no pieces left either, so its file can be removed.
            self.spool = None;
        }
        Ok(freed)
    }

    /// Appends bytes to the spool. Returns their locations.
    fn spool(&mut self, bytes: &[u8]) -> Result<Vec<StoredShare>, Error> {
        let spool = match self.spool.take() {
            Some(spool) => Ok(spool),
            None => ScratchFile::new(&self.directory),
        };
        let kept = spool.and_then(|spool| self.spool.insert(spool).write(bytes));
        kept.map_err(|error| spool_failure(&self.directory, &error))
    }
}

fn is_master(from: &Address) -> bool {
    matches!(from, Address::Master(_))
}

fn spool_failure(directory: &Path, error: &fleetblast_spool::Error) -> Error {
    Error::output(format_args!(
        "spool of results in {}: {error}; make room, or raise -result_memory",
        directory.display()
    ))
}

/// Creates the error for a missing part of the report, a fault of the program.
pub fn missing_part(block: BlockId) -> Error {
    Error::engine(format_args!("a part of the report of query block {block} is missing"))
}

#[cfg(test)]
mod tests {
    use fleetblast_fleet::ids::WorkerId;

    use super::*;

    /// Assembles seven bytes. The worker has the first three, and another worker sends the last
    /// four (`sent`).
    fn assemble(sent: &[u8]) -> Result<(Vec<OutputSlice>, u64), Error> {
        let (block, pass, partition) = (BlockId(3), PassId(0), PartitionId(0));
        let mut store = PieceStore::new(Path::new("."));
        store.insert((block, pass, partition, 0), b"own".to_vec(), 10)?;
        let slice = |worker, length| {
            let location = PieceLocation::Worker(WorkerId(worker), pass, partition);
            Slice { location, piece: 0, start: 0, length }
        };
        let runs = vec![OutputRun { block, offset: 20, slices: vec![slice(0, 3), slice(1, 4)] }];
        let parts = vec![(Address::Worker(WorkerId(1)), sent.to_vec().into())];
        store.assemble(Window { block, runs, parts })
    }

    #[test]
    fn a_part_has_the_requested_bytes() {
        let (output_slices, freed) = assemble(b"sent").unwrap();
        assert_eq!(
            (output_slices[0].offset, &output_slices[0].bytes[..], freed),
            (20, &b"ownsent"[..], 3)
        );
        for sent in ["", "sen", "sent!"] {
            let error = assemble(sent.as_bytes()).err().expect(sent);
            assert!(error.message.contains("query block 3 is missing"), "{error:?}");
        }
    }
}
