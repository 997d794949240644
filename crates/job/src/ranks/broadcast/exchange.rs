//! Reads the pieces of a database, and exchanges them with other ranks.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fleetblast_fleet::end::Failure;
use fleetblast_fleet::ids::{PartitionId, Rank, Time};
use fleetblast_fleet::loading::{AwaitedMessage, LoadingState, Piece, Route, SilentRank};
use fleetblast_mpi::{BarrierEntry, Message, Messenger, name_rank};
use fleetblast_spool::Checkpoint;

use crate::error::Error;
use crate::output::UnfinishedReport;
use crate::processes::{JobProcesses, mpi_failure};
use crate::ranks::{checkpoint, supervisor};

/// Number of threads that read pieces. Network file systems are faster with several.
const READERS: usize = 4;
/// Limit of the bytes in messages that have not left yet. Above it, no further pieces are sent.
const OUTGOING_BYTES: usize = 32 << 20;
/// Longest wait for a message, before this rank checks whether its threads have read further
/// pieces.
const NAP: Duration = Duration::from_millis(1);
/// Time for the first rank to end the job, after this rank has sent its error.
const FAREWELL: Duration = Duration::from_secs(10);
/// Time for the reading threads of a rank to end. After that, the rank ends the job.
const LAST_READ: Duration = Duration::from_secs(2);

/// The tags of messages.
mod tag {
    /// A piece: its partition and number, then its bytes.
    pub const PIECE: u8 = 0;
    /// Confirms that a piece arrived. It names no piece: pieces are confirmed in the order in which
    /// they were sent.
    pub const CONFIRMED: u8 = 1;
    /// A heartbeat for a partition. It contains the partition and the number of one of its pieces.
    pub const BEAT: u8 = 2;
    /// The job cannot continue. The message is the exit code, then the text of the error.
    pub const FAILED: u8 = 3;
}

/// The memory of a piece.
pub enum PieceSlot<'m> {
    /// The piece is not in memory yet. Another rank sends it.
    Empty(&'m mut [u8]),
    /// The piece is in memory.
    Full(&'m [u8]),
}

/// A piece that this rank reads, and the memory for it.
pub type PieceToRead<'m> = (Piece, &'m mut [u8]);
/// A piece that was read, with its bytes or the error.
type ReadResult<'m> = (Piece, Result<&'m [u8], Error>);

/// The ranks that load the database together, and the checkpoint.
#[derive(Clone, Copy)]
pub struct BroadcastContext<'a> {
    /// All ranks.
    pub processes: &'a JobProcesses,
    /// Host name of each rank.
    pub hosts: &'a [String],
    /// The checkpoint, on the rank that opened it. That rank sends heartbeats to the checkpoint
    /// while it loads.
    pub checkpoint: Option<&'a Checkpoint>,
}

/// The part of one rank in the exchange of pieces.
pub struct PieceExchange<'a, 'm> {
    broadcast_context: BroadcastContext<'a>,
    /// Paths of the unfinished report, which is removed if this rank ends the job.
    report: UnfinishedReport,
    messenger: Messenger,
    loading: LoadingState,
    /// All pieces of this rank, except those that its threads are reading.
    slots: HashMap<Piece, PieceSlot<'m>>,
    start: Instant,
    /// When this rank last sent a heartbeat to the checkpoint.
    last_heartbeat: Instant,
}

impl<'a, 'm> PieceExchange<'a, 'm> {
    /// Joins the exchange. Collective over all ranks. `slots` has the memory for pieces from other
    /// ranks. The unfinished `report` is removed if this rank ends the job.
    ///
    /// # Errors
    /// The ranks cannot be connected.
    pub fn new(
        broadcast_context: BroadcastContext<'a>,
        report: UnfinishedReport,
        routes: &[Route],
        slots: HashMap<Piece, PieceSlot<'m>>,
    ) -> Result<Self, Error> {
        let world = &broadcast_context.processes.world;
        let messenger = Messenger::new(world.comm()).map_err(mpi_failure)?;
        let loading = LoadingState::new(Rank(world.rank() as u32), routes, Time(0));
        let start = Instant::now();
        Ok(Self {
            broadcast_context,
            report,
            messenger,
            loading,
            slots,
            start,
            last_heartbeat: start,
        })
    }

    /// Reads the pieces `jobs` with the function `read`, on several threads. Exchanges pieces until
    /// every rank has all pieces that it needs.
    ///
    /// # Errors
    /// The first rank returns the first error of any rank. Another rank returns its own error,
    /// unless the first rank ends the job.
    pub fn run(
        mut self,
        jobs: VecDeque<PieceToRead<'m>>,
        read: impl Fn(Piece, &mut [u8]) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let (readers, jobs) = (READERS.min(jobs.len()), Mutex::new(jobs));
        let stop = AtomicBool::new(false);
        let (done, results) = channel();
        thread::scope(|scope| {
            for _ in 0..readers {
                let (jobs, stop, read, done) = (&jobs, &stop, &read, done.clone());
                scope.spawn(move || read_all(jobs, stop, read, &done));
            }
            drop(done);
            let ended = self.exchange(&results);
            if let Err(error) = &ended {
                stop.store(true, Ordering::Relaxed);
                self.give_up(error, &results);
            }
            ended
        })?;
        // All ranks have all pieces.
        self.messenger.close().map_err(mpi_failure)
    }

    fn exchange(&mut self, results: &Receiver<ReadResult<'m>>) -> Result<(), Error> {
        let mut arrival: Option<BarrierEntry> = None;
        loop {
            while let Ok((piece, bytes)) = results.try_recv() {
                let bytes = bytes.map_err(|error| self.with_own_place(error))?;
                self.note_piece(piece, bytes, None)?;
            }
            self.send_pieces()?;
            if let Some(message) = self.messenger.wait(NAP).map_err(mpi_failure)? {
                self.handle_message(&message)?;
            }
            self.check_liveness()?;
            if let Some(arrival) = &mut arrival {
                if arrival.is_complete().map_err(mpi_failure)? {
                    return Ok(());
                }
            } else if self.loading.is_done() && self.messenger.progress().map_err(mpi_failure)? {
                arrival = Some(
                    self.broadcast_context.processes.world.comm().arrive().map_err(mpi_failure)?,
                );
            }
        }
    }

    fn now(&self) -> Time {
        Time(self.start.elapsed().as_nanos() as u64)
    }

    /// Records that a piece is in memory: read by this rank, or sent by the rank `from`.
    fn note_piece(
        &mut self,
        piece: Piece,
        bytes: &'m [u8],
        from: Option<Rank>,
    ) -> Result<(), Error> {
        if !self.loading.note_arrival(piece, from, self.now()) {
            return Err(self.unexpected_error(from));
        }
        self.slots.insert(piece, PieceSlot::Full(bytes));
        Ok(())
    }

    /// Sends the pieces that other ranks can receive now.
    fn send_pieces(&mut self) -> Result<(), Error> {
        while self.messenger.outgoing_bytes() < OUTGOING_BYTES
            && let Some((to, piece)) = self.loading.next_piece(self.now())
        {
            let Some(PieceSlot::Full(bytes)) = self.slots.get(&piece) else {
                return Err(self.unexpected_error(None));
            };
            self.messenger
                .send(to.index(), tag::PIECE, encode_piece(piece, bytes))
                .map_err(mpi_failure)?;
        }
        Ok(())
    }

    fn handle_message(&mut self, message: &Message) -> Result<(), Error> {
        let (from, now) = (Rank(message.from as u32), self.now());
        match message.tag {
            tag::FAILED => {
                let (code, text) =
                    message.bytes.split_first().ok_or_else(|| self.unexpected_error(Some(from)))?;
                return Err(Error::from_remote(*code, String::from_utf8_lossy(text)));
            }
            tag::CONFIRMED if self.loading.note_confirmation(from, now) => return Ok(()),
            tag::BEAT => {
                let (piece, _) = decode_piece(&message.bytes)
                    .ok_or_else(|| self.unexpected_error(Some(from)))?;
                self.loading.note_heartbeat(piece.partition, now);
                return Ok(());
            }
            tag::PIECE => {
                if let Some((piece, bytes)) = decode_piece(&message.bytes)
                    && let Some(PieceSlot::Empty(room)) = self.slots.remove(&piece)
                    && room.len() == bytes.len()
                {
                    room.copy_from_slice(bytes);
                    self.note_piece(piece, room, Some(from))?;
                    let confirmation = Vec::new();
                    let sent = self.messenger.send(message.from, tag::CONFIRMED, confirmation);
                    return sent.map_err(mpi_failure);
                }
            }
            _ => {}
        }
        Err(self.unexpected_error(Some(from)))
    }

    /// Sends due heartbeats, and checks that other ranks are alive.
    fn check_liveness(&mut self) -> Result<(), Error> {
        let now = self.now();
        for (to, partition) in self.loading.due_heartbeats(now) {
            let beat = encode_piece(Piece { partition, number: 0 }, &[]);
            self.messenger.send(to.index(), tag::BEAT, beat).map_err(mpi_failure)?;
        }
        if let Some(checkpoint) = self.broadcast_context.checkpoint
            && self.last_heartbeat.elapsed() >= supervisor::HEARTBEAT
        {
            self.last_heartbeat = Instant::now();
            checkpoint.renew_lock().map_err(|error| checkpoint::checkpoint_error(&error))?;
        }
        let Some(SilentRank { rank, awaited, partition, lasted }) = self.loading.silent_rank(now)
        else {
            return Ok(());
        };
        let (place, seconds) = (self.place(rank), lasted.seconds());
        let message = match awaited {
            AwaitedMessage::Bytes => format!(
                "loading the database: no byte of partition {partition} has come from {place} for {seconds:.0} s"
            ),
            AwaitedMessage::Confirmation => format!(
                "loading the database: {place} has not taken a piece of partition {partition} for {seconds:.0} s"
            ),
        };
        Err(self.with_own_place(Error::new(Failure::SILENT_RANK_CODE, message)))
    }

    /// Ends the exchange because of an error. Sends the error to the first rank, and waits for that
    /// rank to end the job. If a reading thread hangs, this rank ends the job itself.
    fn give_up(&mut self, error: &Error, results: &Receiver<ReadResult<'m>>) {
        if self.broadcast_context.processes.world.rank() > 0 {
            let sent = Instant::now();
            let mut message = vec![error.exit_code];
            message.extend_from_slice(error.message.as_bytes());
            if self.messenger.send(0, tag::FAILED, message).is_ok() {
                let _ = self.messenger.flush(FAREWELL);
                thread::sleep(FAREWELL.saturating_sub(sent.elapsed()));
            }
        }
        let begun = Instant::now();
        while begun.elapsed() < LAST_READ {
            if results.recv_timeout(NAP) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
        }
        self.broadcast_context.processes.audience.print_message(&error.message);
        self.report.discard();
        self.broadcast_context.processes.world.abort(i32::from(error.exit_code))
    }

    fn place(&self, rank: Rank) -> String {
        name_rank(rank, self.broadcast_context.hosts.get(rank.index()).map(String::as_str))
    }

    /// Adds the name of this rank to its error, because another rank may print it.
    fn with_own_place(&self, error: Error) -> Error {
        error.with_place(&self.place(Rank(self.broadcast_context.processes.world.rank() as u32)))
    }

    fn unexpected_error(&self, from: Option<Rank>) -> Error {
        let from = from.map_or_else(|| "itself".to_owned(), |rank| self.place(rank));
        self.with_own_place(Error::engine(format_args!(
            "loading the database: a rank received an unexpected message from {from}; all ranks must run the same build of \
             the program"
        )))
    }
}

/// Reads one piece after the other until none is left, or one cannot be read.
fn read_all<'m>(
    jobs: &Mutex<VecDeque<PieceToRead<'m>>>,
    stop: &AtomicBool,
    read: impl Fn(Piece, &mut [u8]) -> Result<(), Error>,
    done: &Sender<ReadResult<'m>>,
) {
    while !stop.load(Ordering::Relaxed) {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Some((piece, room)) = job else { return };
        let result = read(piece, room);
        let failed = result.is_err();
        if done.send((piece, result.map(|()| &*room))).is_err() || failed {
            return;
        }
    }
}

/// Encodes a message about a piece: partition and number of the piece, then `bytes`.
fn encode_piece(piece: Piece, bytes: &[u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(PIECE_HEADER_BYTES + bytes.len());
    message.extend_from_slice(&piece.partition.0.to_le_bytes());
    message.extend_from_slice(&piece.number.to_le_bytes());
    message.extend_from_slice(bytes);
    message
}

/// Bytes that encode the partition and the number of a piece.
const PIECE_HEADER_BYTES: usize = 8;

fn decode_piece(message: &[u8]) -> Option<(Piece, &[u8])> {
    let (partition, rest) = message.split_first_chunk()?;
    let (number, bytes) = rest.split_first_chunk()?;
    let partition = PartitionId(u32::from_le_bytes(*partition));
    Some((Piece { partition, number: u32::from_le_bytes(*number) }, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_keep_pieces_and_bytes() {
        let piece = Piece { partition: PartitionId(7), number: 300 };
        let message = encode_piece(piece, b"bytes");
        assert_eq!(decode_piece(&message), Some((piece, &b"bytes"[..])));
        assert_eq!(decode_piece(&message[..PIECE_HEADER_BYTES]), Some((piece, &[][..])));
        assert_eq!(decode_piece(&message[..PIECE_HEADER_BYTES - 1]), None);
        assert_eq!(message.len(), PIECE_HEADER_BYTES + 5);
    }

    #[test]
    fn readers_stop_at_an_unreadable_piece() {
        let mut memory = [0u8; 10];
        let piece = |number| Piece { partition: PartitionId(0), number };
        let jobs: VecDeque<PieceToRead> = (0..).map(piece).zip(memory.chunks_mut(1)).collect();
        let (jobs, stop) = (Mutex::new(jobs), AtomicBool::new(false));
        let (done, results) = channel();
        let read = |piece: Piece, room: &mut [u8]| {
            room[0] = piece.number as u8 + 1;
            if piece.number == 6 { Err(Error::database("torn")) } else { Ok(()) }
        };
        read_all(&jobs, &stop, read, &done);
        drop(done);
        let results: Vec<_> = results.iter().map(|(_, bytes)| bytes.ok()).collect();
        let expected = (1..=6u8).map(Some).chain([None]);
        assert!(results.iter().map(|bytes| bytes.map(|bytes| bytes[0])).eq(expected));
        assert_eq!(jobs.into_inner().unwrap().len(), 3, "the rest is left");
    }
}
