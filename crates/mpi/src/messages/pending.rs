//! Transfers in progress. They own the memory that MPI reads or writes.

use std::ffi::c_int;
use std::ops::Range;
use std::rc::Rc;

use mpi_sys as ffi;

use super::inbox::Ticket;
use crate::call::{Failure, check, int, start, unsigned};
use crate::comm::Comm;

/// Non-blocking transfers of MPI, each with the owner of its memory.
pub(super) struct Pending<T> {
    requests: Vec<ffi::MPI_Request>,
    /// Owners of the memory, in the order of `requests`. Moving an owner does not move its memory.
    owners: Vec<T>,
    finished: Vec<c_int>,
    statuses: Vec<ffi::MPI_Status>,
}

/// The bytes of a message that is being sent. All pieces of the message share this buffer.
pub(super) struct SendBuffer {
    pub(super) bytes: Vec<u8>,
    /// Receipt that [`Messenger::next_receipt`](super::Messenger::next_receipt) returns once the
    /// message has left.
    pub(super) receipt: Option<u64>,
}

/// A piece of a message that is being sent.
pub(super) struct Outgoing {
    message: Rc<SendBuffer>,
    /// Length of this piece in bytes.
    length: usize,
}

/// A piece of a message that is being received.
pub(super) struct Incoming {
    pub(super) ticket: Ticket,
    /// An empty buffer, with capacity for the piece.
    buffer: Vec<u8>,
    length: usize,
}

/// A piece that MPI has matched, so that no other receive can take it.
pub(super) struct MatchedPiece {
    message: ffi::MPI_Message,
    pub(super) from: usize,
    pub(super) tag: c_int,
    pub(super) length: usize,
}

impl<T> Pending<T> {
    pub(super) fn new() -> Self {
        Self { requests: vec![], owners: vec![], finished: vec![], statuses: vec![] }
    }

    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }

    fn push(&mut self, request: ffi::MPI_Request, owner: T) {
        self.requests.push(request);
        self.owners.push(owner);
    }

    /// Calls `done` with the owner of each transfer that has ended.
    fn advance(&mut self, mut done: impl FnMut(T)) -> Result<(), Failure> {
        let count = self.len();
        if count == 0 {
            return Ok(());
        }
        self.finished.resize(count, 0);
        // SAFETY: a status is plain data: numbers, for which zeros are a value.
        self.statuses.resize(count, unsafe { std::mem::zeroed() });
        let mut ended: c_int = 0;
        // SAFETY: there are `count` requests, and room for as many indices and statuses.
        let code = unsafe {
            ffi::MPI_Testsome(
                int(count),
                self.requests.as_mut_ptr(),
                &mut ended,
                self.finished.as_mut_ptr(),
                self.statuses.as_mut_ptr(),
            )
        };
        // A negative number (MPI_UNDEFINED) means that there are no transfers.
        let ended = unsigned(ended).min(count);
        if code == ffi::MPI_ERR_IN_STATUS as c_int {
            for status in &self.statuses[..ended] {
                check("transfer of a message", status.MPI_ERROR)?;
            }
        }
        check("MPI_Testsome", code)?;
        self.finished.truncate(ended);
        // From the end, so that an element that replaces a removed one was handled already.
        self.finished.sort_unstable();
        while let Some(index) = self.finished.pop() {
            self.requests.swap_remove(unsigned(index));
            done(self.owners.swap_remove(unsigned(index)));
        }
        Ok(())
    }
}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        // MPI may still read or write the memory of the owners.
        std::mem::forget(std::mem::take(&mut self.owners));
    }
}

impl Pending<Outgoing> {
    /// Begins to send a range of a message.
    pub(super) fn send(
        &mut self,
        comm: &Comm,
        to: usize,
        tag: c_int,
        message: &Rc<SendBuffer>,
        range: Range<usize>,
    ) -> Result<(), Failure> {
        let piece = &message.bytes[range];
        // SAFETY: `piece` is memory of the message. The owner below keeps it until the transfer has
        // ended, and for ever if it does not end.
        let request = unsafe {
            let mut request = ffi::RSMPI_REQUEST_NULL;
            let (start, length) = (start(piece), int(piece.len()));
            let byte = ffi::RSMPI_UINT8_T;
            let code = ffi::MPI_Isend(start, length, byte, int(to), tag, comm.raw(), &mut request);
            check("MPI_Isend", code)?;
            request
        };
        self.push(request, Outgoing { message: Rc::clone(message), length: piece.len() });
        Ok(())
    }

    /// Makes progress. Returns the number of bytes that have left. Calls `left` with the receipt of
    /// each message whose pieces have all left; its memory is free.
    pub(super) fn progress_sends(&mut self, mut left: impl FnMut(u64)) -> Result<usize, Failure> {
        let mut bytes = 0;
        self.advance(|Outgoing { message, length }| {
            bytes += length;
            Rc::into_inner(message)
                .and_then(|message| message.receipt)
                .into_iter()
                .for_each(&mut left);
        })?;
        Ok(bytes)
    }
}

impl Pending<Incoming> {
    /// Begins to receive a piece into `buffer`, which must be empty and have room for the piece.
    pub(super) fn receive(
        &mut self,
        matched: MatchedPiece,
        ticket: Ticket,
        mut buffer: Vec<u8>,
    ) -> Result<(), Failure> {
        let MatchedPiece { mut message, length, .. } = matched;
        // A buffer without memory has address 1, which has a special meaning in some libraries.
        buffer.reserve(1);
        assert!(buffer.is_empty() && buffer.capacity() >= length, "room for the piece");
        // SAFETY: the buffer has room for `length` bytes. The owner below keeps it until the
        // transfer has ended, and for ever if it does not end.
        let request = unsafe {
            let mut request = ffi::RSMPI_REQUEST_NULL;
            let (start, byte) = (buffer.as_mut_ptr().cast(), ffi::RSMPI_UINT8_T);
            let code = ffi::MPI_Imrecv(start, int(length), byte, &mut message, &mut request);
            check("MPI_Imrecv", code)?;
            request
        };
        self.push(request, Incoming { ticket, buffer, length });
        Ok(())
    }

    /// Makes progress. Calls `done` with each piece that has arrived.
    pub(super) fn progress_receives(
        &mut self,
        mut done: impl FnMut(Ticket, Vec<u8>),
    ) -> Result<(), Failure> {
        self.advance(|Incoming { ticket, mut buffer, length }| {
            // SAFETY: the transfer has ended, so MPI has written all of these bytes; there was room
            // for them.
            unsafe { buffer.set_len(length) };
            done(ticket, buffer);
        })
    }
}

impl MatchedPiece {
    /// Matches the next piece from any rank, or returns `None` if there is none (MPI 3.1, section
    /// 3.8.2).
    pub(super) fn probe(comm: &Comm) -> Result<Option<Self>, Failure> {
        let mut found = 0;
        // SAFETY: a status is plain data: numbers, for which zeros are a value.
        let mut status: ffi::MPI_Status = unsafe { std::mem::zeroed() };
        // SAFETY: the arguments are constants of MPI, a communicator that lives, and values to be
        // written.
        let (message, code) = unsafe {
            let mut message = ffi::RSMPI_MESSAGE_NULL;
            let (any, every) = (ffi::RSMPI_ANY_SOURCE, ffi::RSMPI_ANY_TAG);
            let code =
                ffi::MPI_Improbe(any, every, comm.raw(), &mut found, &mut message, &mut status);
            (message, code)
        };
        check("MPI_Improbe", code)?;
        if found == 0 {
            return Ok(None);
        }
        let mut length = 0;
        // SAFETY: the status of a message that was found.
        let code = unsafe { ffi::MPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut length) };
        check("MPI_Get_count", code)?;
        let (from, tag) = (unsigned(status.MPI_SOURCE), status.MPI_TAG);
        Ok(Some(Self { message, from, tag, length: unsigned(length) }))
    }
}
