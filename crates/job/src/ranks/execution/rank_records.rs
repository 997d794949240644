//! The checkpoint records of one rank: writes the output of blocks to records, and reads it back.

use std::collections::HashMap;
use std::mem::take;

use fleetblast_db::check_mapped_files;
use fleetblast_fleet::ids::{BlockId, Rank};
use fleetblast_fleet::work::{OutputRun, Slice};
use fleetblast_spool::{Reader, ResultKey, ResultKind, ShareRange, StoredShare, Writer};

use super::report_register;
use crate::error::Error;
use crate::ranks::checkpoint::{CheckpointState, checkpoint_error};
use crate::ranks::output::OutputSlice;

/// Bytes that the writer buffers, if each block is brought to disk separately.
const BUFFER: usize = 1 << 20;

/// The checkpoint records of one rank.
pub struct RankRecords {
    checkpoint_state: CheckpointState,
    writer: Writer,
    reader: Reader,
    /// Blocks that this rank stored in this run and has not yet written to the output.
    own: HashMap<BlockId, StoredBlock>,
    /// The block of an earlier run that was read last, and its records in ascending order.
    restored: Option<(BlockId, Vec<StoredShare>)>,
    /// Places of all records of this rank, if the report consists of records.
    index: Vec<StoredShare>,
}

/// The records of one block.
#[derive(Default)]
struct StoredBlock {
    /// Places of the records, in ascending order, without overlap.
    places: Vec<StoredShare>,
    /// Bytes of the block that are not in the output yet.
    left: u64,
}

/// A part of a record that contains requested bytes.
struct RecordPart {
    place: StoredShare,
    /// Offset of the part in the record.
    from: usize,
    /// Offset of the part in the requested bytes.
    to: usize,
    length: usize,
}

impl RankRecords {
    /// Creates the records of a rank. If the report consists of records, the writer buffers
    /// `write_buffer` bytes.
    ///
    /// # Errors
    /// There are too many ranks, or too little memory.
    pub fn new(
        checkpoint_state: &CheckpointState,
        rank: Rank,
        write_buffer: u64,
    ) -> Result<RankRecords, Error> {
        let buffer =
            if checkpoint_state.records_are_report { write_buffer as usize } else { BUFFER };
        let writer = Writer::new(&checkpoint_state.run, rank.0, buffer)
            .map_err(|error| checkpoint_error(&error))?;
        let (reader, own) = (Reader::new(&checkpoint_state.run), HashMap::new());
        Ok(RankRecords {
            checkpoint_state: checkpoint_state.clone(),
            writer,
            reader,
            own,
            restored: None,
            index: Vec::new(),
        })
    }

    /// Appends slices of a block's output, whose total size is `size` bytes. After the `last`
    /// slices, brings the block to disk if the job may be resumed.
    ///
    /// # Errors
    /// The checkpoint cannot be written, or a mapped file has changed.
    pub fn append(
        &mut self,
        block: BlockId,
        size: u64,
        output_slices: &[OutputSlice],
        last: bool,
    ) -> Result<(), Error> {
        check_mapped_files()?;
        let key = key(block);
        if size == 0 {
            let places = self.writer.append(key, ShareRange::whole(0), &[]);
            self.note_places(block, places.map_err(|error| checkpoint_error(&error))?);
        }
        for OutputSlice { offset, bytes } in output_slices {
            let share = ShareRange { start: *offset, total: size };
            let places = self.writer.append(key, share, bytes);
            self.note_places(block, places.map_err(|error| checkpoint_error(&error))?);
        }
        if last && self.checkpoint_state.durable {
            self.writer.sync().map_err(|error| checkpoint_error(&error))?;
            if let Some(own) = self.own.get_mut(&block) {
                own.places.sort_unstable_by_key(|place| place.share.start);
            }
        }
        Ok(())
    }

    /// Keeps the places of a block's records: for the index of the records if these are the report,
    /// otherwise until the block is in the output.
    fn note_places(&mut self, block: BlockId, places: Vec<StoredShare>) {
        if self.checkpoint_state.records_are_report {
            self.index.extend(places);
            return;
        }
        let places = places.into_iter().filter(|place| place.length > 0);
        for place in places {
            let own = self.own.entry(block).or_default();
            own.left += place.length;
            own.places.push(place);
        }
    }

    /// Brings all records to disk and writes their index, if the report consists of records.
    ///
    /// # Errors
    /// Records cannot be written.
    pub fn write_report_index(&mut self) -> Result<(), Error> {
        match self.checkpoint_state.records_are_report {
            true => report_register::finish_records(
                &self.checkpoint_state,
                &mut self.writer,
                take(&mut self.index),
                Vec::new(),
            ),
            false => Ok(()),
        }
    }

    /// Reads runs of the output from records. Returns a slice of the output for each run.
    ///
    /// # Errors
    /// Records are damaged or cannot be read.
    pub fn read_slices(&mut self, runs: &[OutputRun]) -> Result<Vec<OutputSlice>, Error> {
        let mut output_slices = Vec::with_capacity(runs.len());
        for run in runs {
            let mut bytes = vec![0; run.length() as usize];
            let mut parts = Vec::new();
            let mut to = 0;
            for slice in &run.slices {
                self.find_parts(run.block, slice, to, &mut parts)?;
                to += slice.length as usize;
            }
            // Reads the files one after the other, and each file in its order.
            parts.sort_unstable_by_key(|part: &RecordPart| (part.place.file, part.place.offset));
            for RecordPart { place, from, to, length } in parts {
                let contents =
                    self.reader.read(&place).map_err(|error| checkpoint_error(&error))?;
                let part =
                    contents.get(from..from + length).ok_or_else(|| missing_record(run.block))?;
                bytes[to..to + length].copy_from_slice(part);
            }
            self.drop_run(run);
            output_slices.push(OutputSlice { offset: run.offset, bytes });
        }
        Ok(output_slices)
    }

    /// Finds the parts of records that contain a slice of a block's output. `to` is the offset of
    /// the slice in the requested bytes.
    fn find_parts(
        &mut self,
        block: BlockId,
        slice: &Slice,
        to: usize,
        parts: &mut Vec<RecordPart>,
    ) -> Result<(), Error> {
        let places = match self.own.get(&block) {
            Some(own) => &own.places,
            None => self.restored_places(block)?,
        };
        let (mut at, end) = (slice.start, slice.start + slice.length);
        let first = places.partition_point(|place| place.end() <= at);
        for place in &places[first..] {
            if at >= end || place.share.start > at {
                break;
            }
            let length = place.end().min(end).saturating_sub(at);
            parts.push(RecordPart {
                place: *place,
                from: (at - place.share.start) as usize,
                to: to + (at - slice.start) as usize,
                length: length as usize,
            });
            at += length;
        }
        if at < end { Err(missing_record(block)) } else { Ok(()) }
    }

    /// Returns the places of the records of a block that an earlier run finished.
    fn restored_places(&mut self, block: BlockId) -> Result<&Vec<StoredShare>, Error> {
        if self.restored.as_ref().is_none_or(|(known, _)| *known != block) {
            let places = self
                .checkpoint_state
                .earlier
                .shares_of_result(key(block))
                .ok_or_else(|| missing_record(block))?;
            self.restored = Some((block, places));
        }
        self.restored.as_ref().map(|(_, places)| places).ok_or_else(|| missing_record(block))
    }

    /// Notes that the bytes of a run go to the output now. After the last run of a block, drops the
    /// places of the block's records, because each run is read only once.
    fn drop_run(&mut self, run: &OutputRun) {
        if let Some(own) = self.own.get_mut(&run.block) {
            own.left = own.left.saturating_sub(run.length());
            if own.left == 0 {
                self.own.remove(&run.block);
            }
        }
    }
}

fn key(block: BlockId) -> ResultKey {
    ResultKey { block: u64::from(block.0), kind: ResultKind::RESULT }
}

/// Creates the error for a missing record, a fault of the program.
fn missing_record(block: BlockId) -> Error {
    Error::engine(format_args!("a record of query block {block} is missing in the checkpoint"))
}
