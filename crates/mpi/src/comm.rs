//! Groups of ranks, and what they do together.

use std::ffi::c_int;
use std::rc::Rc;
use std::time::Duration;

use mpi_sys as ffi;

use crate::MpiError;
use crate::backoff::Backoff;
use crate::call::{Failure, check, int, start, start_mut, unsigned};
use crate::pieces::pieces;
use crate::session::Session;

/// Longest nap in a barrier.
const BARRIER_NAP: Duration = Duration::from_millis(1);

/// A group of ranks (an MPI communicator). Copies are the same group.
///
/// Except where it says otherwise, every method is collective: all ranks of the group must call it, in the same order.
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
            // SAFETY: the communicator was made by this module, is not predefined, and is freed only here.
            unsafe { ffi::MPI_Comm_free(&mut self.raw) };
        }
    }
}

/// Which number all ranks shall know.
#[derive(Clone, Copy)]
pub(crate) enum Extreme {
    Least,
    Most,
}

impl Comm {
    /// All ranks: a group of its own, so that whoever else uses MPI in this process does not interfere.
    pub(crate) fn world(session: &Rc<Session>) -> Result<Self, MpiError> {
        // SAFETY: a session exists, so MPI is initialized, and these are its constants. Errors are set to be returned
        // before anything else can fail; the copy inherits that.
        let made = unsafe {
            let world = ffi::RSMPI_COMM_WORLD;
            let code = ffi::MPI_Comm_set_errhandler(world, ffi::RSMPI_ERRORS_RETURN);
            check("MPI_Comm_set_errhandler", code)
                .and_then(|()| made("MPI_Comm_dup", |new| ffi::MPI_Comm_dup(world, new)))
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
            check(call, code).map_err(|failure| failure.at(rank))?;
        }
        let inner = Inner { raw, rank, size: unsigned(size), session: Rc::clone(session) };
        Ok(Self { inner: Rc::new(inner) })
    }

    /// The number of this rank in the group. Not collective.
    pub fn rank(&self) -> usize {
        self.inner.rank
    }

    /// Number of ranks in the group. Not collective.
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
        move |failure| failure.at(rank)
    }

    /// A group of the same ranks whose messages do not mix with this one's.
    pub(crate) fn duplicate(&self) -> Result<Self, MpiError> {
        // SAFETY: the communicator lives as long as `self`.
        let raw = made("MPI_Comm_dup", |new| unsafe { ffi::MPI_Comm_dup(self.raw(), new) });
        Self::adopt(raw.map_err(self.failed())?, self.session())
    }

    /// Splits the group by colour; in the new groups ranks are in order of `key`, then of their old number. Ranks
    /// without a colour get no group.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn split(&self, colour: Option<u32>, key: u32) -> Result<Option<Self>, MpiError> {
        // SAFETY: a constant of MPI.
        let none = unsafe { ffi::RSMPI_UNDEFINED };
        let number = |n: u32| c_int::try_from(n).unwrap_or(c_int::MAX);
        let (wanted, key) = (colour.map_or(none, number), number(key));
        let call = "MPI_Comm_split";
        // SAFETY: the communicator lives as long as `self`.
        let raw = made(call, |new| unsafe { ffi::MPI_Comm_split(self.raw(), wanted, key, new) });
        let raw = raw.map_err(self.failed())?;
        colour.map(|_| Self::adopt(raw, self.session())).transpose()
    }

    /// The ranks of this group on the same host, which can share memory.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn split_by_host(&self) -> Result<Self, MpiError> {
        // SAFETY: the communicator lives as long as `self`; the others are constants of MPI.
        let raw = made("MPI_Comm_split_type", |new| unsafe {
            let kind = ffi::RSMPI_COMM_TYPE_SHARED;
            ffi::MPI_Comm_split_type(self.raw(), kind, int(self.rank()), ffi::RSMPI_INFO_NULL, new)
        });
        Self::adopt(raw.map_err(self.failed())?, self.session())
    }

    /// Waits until all ranks are here. Sleeps meanwhile, so that other threads have the cores.
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

    /// Tells the other ranks that this one is here, without waiting for them.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn arrive(&self) -> Result<Arrival, MpiError> {
        // SAFETY: a constant of MPI.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        // SAFETY: the communicator lives as long as `self`; the request is written.
        let code = unsafe { ffi::MPI_Ibarrier(self.raw(), &mut request) };
        check("MPI_Ibarrier", code).map_err(self.failed())?;
        Ok(Arrival { comm: self.clone(), request })
    }

    /// Copies the bytes of rank `root` to all. All ranks must give the same number of bytes. Keeps a core busy.
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

    /// Tells all ranks what each has: the results are in order of ranks. For small things: everybody gets all, and all
    /// together must be less than 2 GiB.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn gather_all(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, MpiError> {
        let mut lengths = vec![0 as c_int; self.size()];
        let own_length = int(own.len());
        // SAFETY: `lengths` has room for one int of each rank.
        let code = unsafe {
            let int32 = ffi::RSMPI_INT32_T;
            let (from, to) = ((&raw const own_length).cast(), lengths.as_mut_ptr().cast());
            ffi::MPI_Allgather(from, 1, int32, to, 1, int32, self.raw())
        };
        check("MPI_Allgather", code).map_err(self.failed())?;
        let (starts, total) = starts(&lengths).ok_or_else(|| {
            let text = "more than 2 GiB in all".to_owned();
            Failure { call: "MPI_Allgatherv", text }.at(self.rank())
        })?;
        let mut all = vec![0u8; total];
        // SAFETY: `lengths` and `starts` say where in `all` the bytes of each rank go: one after the other, in all
        // `total`.
        let code = unsafe {
            let byte = ffi::RSMPI_UINT8_T;
            let (from, to) = (start(own), start_mut(&mut all));
            let (counts, places) = (lengths.as_ptr(), starts.as_ptr());
            ffi::MPI_Allgatherv(from, own_length, byte, to, counts, places, byte, self.raw())
        };
        check("MPI_Allgatherv", code).map_err(self.failed())?;
        let piece = |(&start, &length)| all[unsigned(start)..][..unsigned(length)].to_vec();
        Ok(starts.iter().zip(&lengths).map(piece).collect())
    }

    /// The least or the largest of all ranks' numbers.
    pub(crate) fn extreme(&self, own: u64, which: Extreme) -> Result<u64, MpiError> {
        let mut result = own;
        // SAFETY: both are one number of 64 bits; the operations are constants of MPI.
        let code = unsafe {
            let operation = match which {
                Extreme::Least => ffi::RSMPI_MIN,
                Extreme::Most => ffi::RSMPI_MAX,
            };
            let (from, to) = ((&raw const own).cast(), (&raw mut result).cast());
            ffi::MPI_Allreduce(from, to, 1, ffi::RSMPI_UINT64_T, operation, self.raw())
        };
        check("MPI_Allreduce", code).map_err(self.failed())?;
        Ok(result)
    }

    /// Agrees on success: if any rank has an error, all have one, that of the first of these ranks.
    ///
    /// # Errors
    /// This rank's own error if it is the first, [`MpiError::Elsewhere`] with its text at the others.
    pub fn agree<T>(&self, own: Result<T, MpiError>) -> Result<T, MpiError> {
        let vote = if own.is_err() { self.rank() } else { self.size() };
        let first = self.extreme(vote as u64, Extreme::Least)? as usize;
        if first >= self.size() {
            return own;
        }
        let text = own.as_ref().err().map(ToString::to_string).unwrap_or_default().into_bytes();
        let mut length = (text.len() as u64).to_ne_bytes();
        self.broadcast(first, &mut length)?;
        let mut told = text;
        told.resize(u64::from_ne_bytes(length) as usize, 0);
        self.broadcast(first, &mut told)?;
        match own {
            Err(error) if first == self.rank() => Err(error),
            _ => {
                let text = String::from_utf8_lossy(&told).into_owned();
                Err(MpiError::Elsewhere { rank: first, text })
            }
        }
    }
}

/// The arrival of this rank where all ranks of a group shall be, some of which may not be there yet. To be asked until all
/// are, or until the job ends early.
pub struct Arrival {
    comm: Comm,
    request: ffi::MPI_Request,
}

impl Arrival {
    /// Whether all ranks of the group are here. Does not wait.
    ///
    /// # Errors
    /// [`MpiError::Call`].
    pub fn is_complete(&mut self) -> Result<bool, MpiError> {
        let mut done = 0;
        // SAFETY: the request is that of a barrier, whose communicator lives as long as `self`, or, after its end, null;
        // no status is wanted.
        let code = unsafe { ffi::MPI_Test(&mut self.request, &mut done, ffi::RSMPI_STATUS_IGNORE) };
        check("MPI_Ibarrier", code).map_err(self.comm.failed())?;
        Ok(done != 0)
    }
}

/// The communicator that a function makes.
fn made(
    call: &'static str,
    make: impl FnOnce(*mut ffi::MPI_Comm) -> c_int,
) -> Result<ffi::MPI_Comm, Failure> {
    // SAFETY: a constant of MPI.
    let mut raw = unsafe { ffi::RSMPI_COMM_NULL };
    check(call, make(&mut raw))?;
    Ok(raw)
}

/// Where each rank's bytes begin if they lie one after the other, and how many there are; `None` if they are too many
/// for an `int`.
fn starts(lengths: &[c_int]) -> Option<(Vec<c_int>, usize)> {
    let mut end: c_int = 0;
    let mut starts = Vec::with_capacity(lengths.len());
    for &length in lengths {
        starts.push(end);
        end = end.checked_add(length)?;
    }
    Some((starts, unsigned(end)))
}
