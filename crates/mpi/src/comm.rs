//! Groups of ranks, and their collective operations.

use std::ffi::c_int;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use mpi_sys as ffi;

use crate::MpiError;
use crate::backoff::Backoff;
use crate::call::{Failure, check, int, start, start_mut, unsigned};
use crate::pieces::pieces;
use crate::session::Session;

/// Longest nap between two polls in a barrier.
const BARRIER_NAP: Duration = Duration::from_millis(1);

/// A group of ranks (an MPI communicator). A clone is the same group.
///
/// Except where it says otherwise, every method is collective: all ranks of the group must call it,
/// in the same order.
#[derive(Clone)]
pub struct Comm {
    inner: Rc<Inner>,
}

struct Inner {
    raw: ffi::MPI_Comm,
    rank: usize,
    size: usize,
    session: Rc<Session>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.session.is_orderly() {
            // SAFETY: the communicator was made by this module, is not predefined, and is freed
            // only here.
            unsafe { ffi::MPI_Comm_free(&mut self.raw) };
        }
    }
}

/// The smallest or the largest of all ranks' numbers.
#[derive(Clone, Copy)]
pub(crate) enum Extremum {
    Minimum,
    Maximum,
}

impl Comm {
    /// Creates a communicator of all ranks. It is a duplicate, so other users of MPI in this
    /// process do not interfere.
    pub(crate) fn world(session: &Rc<Session>) -> Result<Self, MpiError> {
        // SAFETY: a session exists, so MPI is initialized, and these are its constants. Errors are
        // set to be returned before anything else can fail; the copy inherits that.
        let made = unsafe {
            let world = ffi::RSMPI_COMM_WORLD;
            let code = ffi::MPI_Comm_set_errhandler(world, ffi::RSMPI_ERRORS_RETURN);
            check("MPI_Comm_set_errhandler", code)
                .and_then(|()| create_comm("MPI_Comm_dup", |new| ffi::MPI_Comm_dup(world, new)))
        };
        Self::adopt(made.map_err(Failure::at_begin)?, session)
    }

    fn adopt(raw: ffi::MPI_Comm, session: &Rc<Session>) -> Result<Self, MpiError> {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: `raw` was made just now; the functions write one int each.
        let codes = unsafe {
            (
                ffi::MPI_Comm_set_errhandler(raw, ffi::RSMPI_ERRORS_RETURN),
                ffi::MPI_Comm_rank(raw, &mut rank),
                ffi::MPI_Comm_size(raw, &mut size),
            )
        };
        let rank = unsigned(rank);
        for (call, code) in [
            ("MPI_Comm_set_errhandler", codes.0),
            ("MPI_Comm_rank", codes.1),
            ("MPI_Comm_size", codes.2),
        ] {
            check(call, code).map_err(|failure| failure.with_rank(rank))?;
        }
        let inner = Inner { raw, rank, size: unsigned(size), session: Rc::clone(session) };
        Ok(Self { inner: Rc::new(inner) })
    }

    /// Returns the rank of this process in the group. Not collective.
    pub fn rank(&self) -> usize {
        self.inner.rank
    }

    /// Returns the number of ranks in the group. Not collective.
    pub fn size(&self) -> usize {
        self.inner.size
    }

    pub(crate) fn raw(&self) -> ffi::MPI_Comm {
        self.inner.raw
    }

    pub(crate) fn session(&self) -> &Rc<Session> {
        &self.inner.session
    }

    fn failed(&self) -> impl FnOnce(Failure) -> MpiError {
        let rank = self.rank();
        move |failure| failure.with_rank(rank)
    }

    /// Creates another group of the same ranks. Messages of the two groups do not mix.
    pub(crate) fn duplicate(&self) -> Result<Self, MpiError> {
        // SAFETY: the communicator lives as long as `self`.
        let raw = create_comm("MPI_Comm_dup", |new| unsafe { ffi::MPI_Comm_dup(self.raw(), new) });
        Self::adopt(raw.map_err(self.failed())?, self.session())
    }

    /// Splits the group by colour: ranks with the same colour form a new group. Its ranks are
    /// ordered by `key`, then by their old rank. A rank without a colour gets no group.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn split(&self, colour: Option<u32>, key: u32) -> Result<Option<Self>, MpiError> {
        // SAFETY: this reads a constant of MPI.
        let none = unsafe { ffi::RSMPI_UNDEFINED };
        let number = |n: u32| c_int::try_from(n).unwrap_or(c_int::MAX);
        let (wanted, key) = (colour.map_or(none, number), number(key));
        let call = "MPI_Comm_split";
        // SAFETY: the communicator lives as long as `self`.
        let raw =
            create_comm(call, |new| unsafe { ffi::MPI_Comm_split(self.raw(), wanted, key, new) });
        let raw = raw.map_err(self.failed())?;
        colour.map(|_| Self::adopt(raw, self.session())).transpose()
    }

    /// Returns the group of those ranks of this group that run on the same host. They can share
    /// memory.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn split_by_host(&self) -> Result<Self, MpiError> {
        // SAFETY: the communicator lives as long as `self`; the others are constants of MPI.
        let raw = create_comm("MPI_Comm_split_type", |new| unsafe {
            let kind = ffi::RSMPI_COMM_TYPE_SHARED;
            ffi::MPI_Comm_split_type(self.raw(), kind, int(self.rank()), ffi::RSMPI_INFO_NULL, new)
        });
        Self::adopt(raw.map_err(self.failed())?, self.session())
    }

    /// Waits until all ranks have called this. It sleeps between polls, so that other threads can
    /// use the cores.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn barrier(&self) -> Result<(), MpiError> {
        let mut arrival = self.arrive()?;
        let mut backoff = Backoff::new();
        while !arrival.is_complete()? {
            backoff.pause(BARRIER_NAP);
        }
        Ok(())
    }

    /// Enters a barrier without waiting for the other ranks.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn arrive(&self) -> Result<BarrierEntry, MpiError> {
        // SAFETY: this reads a constant of MPI.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        // SAFETY: the communicator lives as long as `self`; the request is written.
        let code = unsafe { ffi::MPI_Ibarrier(self.raw(), &mut request) };
        check("MPI_Ibarrier", code).map_err(self.failed())?;
        Ok(BarrierEntry { comm: self.clone(), request })
    }

    /// Copies the bytes of rank `root` to all ranks. All ranks must pass the same number of bytes.
    /// It polls without sleeping, so it keeps a core busy.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn broadcast(&self, root: usize, bytes: &mut [u8]) -> Result<(), MpiError> {
        for range in pieces(bytes.len(), self.session().piece) {
            let piece = &mut bytes[range];
            let (start, length) = (start_mut(piece), int(piece.len()));
            // SAFETY: `start` and `length` are those of a slice that this function alone has.
            let code =
                unsafe { ffi::MPI_Bcast(start, length, ffi::RSMPI_UINT8_T, int(root), self.raw()) };
            check("MPI_Bcast", code).map_err(self.failed())?;
        }
        Ok(())
    }

    /// Sends the bytes of each rank to all ranks. Returns them in the order of the ranks. Meant for
    /// few bytes, since every rank gets all of them.
    ///
    /// # Errors
    /// [`MpiError::Call`]; [`MpiError::GatherMemory`] if a rank has not enough memory,
    /// which ends the job.
    pub fn gather_all(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, MpiError> {
        let mut lengths = vec![0u64; self.size()];
        let own_length = own.len() as u64;
        // SAFETY: `lengths` has room for one number of each rank.
        let code = unsafe {
            let word = ffi::RSMPI_UINT64_T;
            let (from, to) = ((&raw const own_length).cast(), lengths.as_mut_ptr().cast());
            ffi::MPI_Allgather(from, 1, word, to, 1, word, self.raw())
        };
        check("MPI_Allgather", code).map_err(self.failed())?;
        let mut gathered = Vec::with_capacity(lengths.len());
        for &length in &lengths {
            let (mut bytes, length) = (Vec::new(), length as usize);
            bytes.try_reserve_exact(length).map_err(|_| self.no_room(&lengths))?;
            gathered.push(bytes);
        }
        let total = lengths.iter().sum::<u64>() as usize;
        let limit = self.session().piece;
        let mut piece = vec![0u8; total.min(limit)];
        for range in pieces(total, limit) {
            let Share { counts, places, own: sent } = Share::new(&lengths, self.rank(), &range);
            let sent = &own[sent];
            // SAFETY: `counts` and `places` say where in `piece` the bytes of each rank go: one
            // after the other, in all as many as the range has, which is at most its length. `sent`
            // has as many as `counts` says of this rank.
            let code = unsafe {
                let byte = ffi::RSMPI_UINT8_T;
                let (from, to) = (start(sent), start_mut(&mut piece));
                let (all, at) = (counts.as_ptr(), places.as_ptr());
                ffi::MPI_Allgatherv(from, int(sent.len()), byte, to, all, at, byte, self.raw())
            };
            check("MPI_Allgatherv", code).map_err(self.failed())?;
            for (bytes, (&place, &count)) in gathered.iter_mut().zip(places.iter().zip(&counts)) {
                bytes.extend_from_slice(&piece[unsigned(place)..][..unsigned(count)]);
            }
        }
        Ok(gathered)
    }

    fn no_room(&self, lengths: &[u64]) -> MpiError {
        MpiError::GatherMemory { rank: self.rank(), length: lengths.iter().sum() }
    }

    /// Returns the smallest or the largest of all ranks' numbers.
    pub(crate) fn extremum(&self, own: u64, which: Extremum) -> Result<u64, MpiError> {
        // SAFETY: these are constants of MPI.
        let operation = unsafe {
            match which {
                Extremum::Minimum => ffi::RSMPI_MIN,
                Extremum::Maximum => ffi::RSMPI_MAX,
            }
        };
        self.reduce(own, operation)
    }

    /// Returns the sum of all ranks' numbers, modulo 2^64.
    pub(crate) fn sum(&self, own: u64) -> Result<u64, MpiError> {
        // SAFETY: this reads a constant of MPI.
        self.reduce(own, unsafe { ffi::RSMPI_SUM })
    }

    /// Reduces all ranks' numbers to one with an operation of MPI.
    fn reduce(&self, own: u64, operation: ffi::MPI_Op) -> Result<u64, MpiError> {
        let mut result = own;
        // SAFETY: both are one number of 64 bits; callers pass operations of MPI that take such
        // numbers.
        let code = unsafe {
            let (from, to) = ((&raw const own).cast(), (&raw mut result).cast());
            ffi::MPI_Allreduce(from, to, 1, ffi::RSMPI_UINT64_T, operation, self.raw())
        };
        check("MPI_Allreduce", code).map_err(self.failed())?;
        Ok(result)
    }

    /// Makes all ranks agree on success. If any rank has an error, all ranks return the error of
    /// the lowest such rank.
    ///
    /// # Errors
    /// This rank's own error if it is the lowest; [`MpiError::OtherRank`] with its text on
    /// the others.
    pub fn agree<T>(&self, own: Result<T, MpiError>) -> Result<T, MpiError> {
        let vote = if own.is_err() { self.rank() } else { self.size() };
        let first = self.extremum(vote as u64, Extremum::Minimum)? as usize;
        if first >= self.size() {
            return own;
        }
        let text = own.as_ref().err().map(ToString::to_string).unwrap_or_default().into_bytes();
        let mut length = (text.len() as u64).to_ne_bytes();
        self.broadcast(first, &mut length)?;
        let mut text = text;
        text.resize(u64::from_ne_bytes(length) as usize, 0);
        self.broadcast(first, &mut text)?;
        match own {
            Err(error) if first == self.rank() => Err(error),
            _ => {
                let text = String::from_utf8_lossy(&text).into_owned();
                Err(MpiError::OtherRank { rank: first, text })
            }
        }
    }
}

/// The entry of this rank into a barrier. Poll it until all ranks have entered, or until the job
/// ends early.
pub struct BarrierEntry {
    comm: Comm,
    request: ffi::MPI_Request,
}

impl BarrierEntry {
    /// Whether all ranks have entered the barrier. Does not wait.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn is_complete(&mut self) -> Result<bool, MpiError> {
        let mut done = 0;
        // SAFETY: the request is that of a barrier, whose communicator lives as long as `self`, or,
        // after its end, null; no status is wanted.
        let code = unsafe { ffi::MPI_Test(&mut self.request, &mut done, ffi::RSMPI_STATUS_IGNORE) };
        check("MPI_Ibarrier", code).map_err(self.comm.failed())?;
        Ok(done != 0)
    }
}

/// Calls a function that creates a communicator, and returns the communicator. `call` is its name.
fn create_comm(
    call: &'static str,
    make: impl FnOnce(*mut ffi::MPI_Comm) -> c_int,
) -> Result<ffi::MPI_Comm, Failure> {
    // SAFETY: this reads a constant of MPI.
    let mut raw = unsafe { ffi::RSMPI_COMM_NULL };
    check(call, make(&mut raw))?;
    Ok(raw)
}

/// The bytes of each rank in one piece of the concatenated bytes of all ranks.
#[derive(Debug, PartialEq, Eq)]
struct Share {
    /// Number of bytes of each rank in the piece.
    counts: Vec<c_int>,
    /// Offset in the piece at which the bytes of each rank begin.
    places: Vec<c_int>,
    /// Range of this rank's own bytes that is in the piece.
    own: Range<usize>,
}

impl Share {
    /// Computes the shares of one piece for rank `rank`. `range` is the piece's range in the
    /// concatenated bytes of all ranks, and `lengths` has the number of bytes of each rank.
    fn new(lengths: &[u64], rank: usize, range: &Range<usize>) -> Share {
        let (mut counts, mut places) = (vec![], vec![]);
        let (mut begin, mut own) = (0, 0..0);
        for (number, &length) in lengths.iter().enumerate() {
            let end = begin + length as usize;
            let cut = |place: usize| place.clamp(range.start, range.end);
            let bytes = cut(begin)..cut(end);
            counts.push(int(bytes.len()));
            places.push(int(bytes.start - range.start));
            if number == rank && !bytes.is_empty() {
                own = bytes.start - begin..bytes.end - begin;
            }
            begin = end;
        }
        Share { counts, places, own }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_have_every_byte_of_every_rank_once() {
        let lengths = [5, 0, 1, 12, 0, 3];
        for limit in [1, 2, 4, 7, 20, 21, 100] {
            for rank in 0..lengths.len() {
                let (mut counted, mut sent) = (vec![0; lengths.len()], Vec::new());
                for range in pieces(21, limit) {
                    let Share { counts, places, own } = Share::new(&lengths, rank, &range);
                    assert_eq!(own.len(), unsigned(counts[rank]));
                    sent.extend(own);
                    let mut end = 0;
                    for (number, (&count, &place)) in counts.iter().zip(&places).enumerate() {
                        assert!(count == 0 || unsigned(place) == end, "one after the other");
                        end += unsigned(count);
                        counted[number] += unsigned(count) as u64;
                    }
                    assert_eq!(end, range.len());
                }
                assert_eq!(counted, lengths);
                assert!(sent.into_iter().eq(0..lengths[rank] as usize));
            }
        }
    }
}
