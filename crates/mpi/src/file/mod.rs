//! Files that all ranks write. They do not read by MPI-IO: `docs/cluster.md` says what that would cost.

mod handle;
mod scatter;

use std::cell::OnceCell;
use std::fs::OpenOptions;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate, statvfs};
use rustix::io::Errno;

use self::handle::Handle;
use self::scatter::{Batch, batches};
use crate::MpiError;
use crate::call::Failure;
use crate::comm::{Comm, Extreme};
use crate::pieces::pieces;

/// Bytes of one write through a view, at most: they are copied for it.
const BATCH_BYTES: usize = 64 << 20;

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Writing from nothing: made if it is not there, emptied if it is.
    Create,
    /// Writing to what is there.
    Write,
}

/// A file that the ranks of a group have open together, by MPI-IO.
///
/// Methods ending in `_all`, opening, [`ParallelFile::sync`] and [`ParallelFile::close`] are collective; with them, if
/// any rank has an error, all have one. The others concern one rank only. Positions are bytes from the start of the
/// file. Ranks must not write the same bytes. While a collective write is under way, nobody may write to gaps that it
/// leaves: some libraries write those, too, with what was there before.
///
/// Dropped without [`ParallelFile::close`], the file stays open until the process ends.
pub struct ParallelFile {
    path: PathBuf,
    comm: Comm,
    together: Handle,
    /// Opened when first needed: views are collective, so writing through one without the others takes a handle of
    /// one's own.
    alone: OnceCell<Handle>,
}

impl ParallelFile {
    /// Opens a file (collective).
    ///
    /// # Errors
    /// [`MpiError::File`]; [`MpiError::Untrusted`] with OMPIO.
    pub fn open(comm: &Comm, path: &Path, access: Access) -> Result<Self, MpiError> {
        comm.agree(match &comm.session().untrusted {
            Some(choice) => {
                let (rank, path, choice) = (comm.rank(), path.to_owned(), choice.clone());
                Err(MpiError::Untrusted { rank, path, choice })
            }
            _ => Ok(()),
        })?;
        let failed = |failure: Failure| in_file(path, comm, 0, failure);
        let together = comm.agree(Handle::open(comm, path, access).map_err(failed))?;
        if access == Access::Create {
            comm.agree(together.set_size(0).map_err(failed))?;
        }
        let alone = OnceCell::new();
        Ok(Self { path: path.to_owned(), comm: comm.clone(), together, alone })
    }

    /// Writes bytes in one stretch.
    ///
    /// # Errors
    /// [`MpiError::File`].
    pub fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<(), MpiError> {
        for range in pieces(bytes.len(), self.piece()) {
            let mut rest = &bytes[range.clone()];
            let mut at = offset.saturating_add(range.start as u64);
            while !rest.is_empty() {
                let failed = |failure| self.not_written(at, rest.len() as u64, failure);
                let count = self.together.write(false, at, rest).map_err(failed)?;
                if count == 0 {
                    return Err(failed(short("MPI_File_write_at", 0, rest.len())));
                }
                rest = &rest[count.min(rest.len())..];
                at = at.saturating_add(count as u64);
            }
        }
        Ok(())
    }

    /// Writes pieces that lie here and there, through a view of this rank's own.
    ///
    /// # Errors
    /// [`MpiError::File`]; [`MpiError::Overlap`].
    pub fn write_scattered(&self, pieces: &[(u64, &[u8])]) -> Result<(), MpiError> {
        for batch in self.batches(pieces)? {
            self.write_batch(self.alone()?, false, &batch)?;
        }
        Ok(())
    }

    /// The same by all ranks together, each with its own pieces, which may be none (collective).
    ///
    /// # Errors
    /// As [`ParallelFile::write_scattered`].
    pub fn write_scattered_all(&self, pieces: &[(u64, &[u8])]) -> Result<(), MpiError> {
        let (batches, mut result) = match self.batches(pieces) {
            Ok(batches) => (batches, Ok(())),
            Err(error) => (Vec::new(), Err(error)),
        };
        let rounds = self.rounds(batches.len())?;
        let nothing = Batch::default();
        for round in 0..rounds {
            // Whoever has nothing left, or an error, still takes part.
            let batch = batches.get(round).unwrap_or(&nothing);
            result = result.and(self.write_batch(&self.together, true, batch));
        }
        if rounds > 0 {
            // Other methods count positions in the whole file.
            result = result.and(self.together.view(&[]).map_err(|failure| self.failed(0, failure)));
        }
        self.comm.agree(result)
    }

    fn write_batch(&self, file: &Handle, all: bool, batch: &Batch) -> Result<(), MpiError> {
        let failed = |failure| self.not_written(batch.offset(), batch.bytes.len() as u64, failure);
        let viewed = file.view(&batch.stretches);
        // The other ranks are in the write already: this one takes part, but not without its view.
        let bytes = if viewed.is_ok() { batch.bytes.as_slice() } else { &[] };
        let written = file.write(all, 0, bytes);
        let count = viewed.and(written).map_err(failed)?;
        if count != batch.bytes.len() {
            return Err(failed(short("write through a view", count, batch.bytes.len())));
        }
        Ok(())
    }

    /// The error for bytes that were not written. Libraries do not tell a full file system from a broken one, so its
    /// room is looked at.
    fn not_written(&self, offset: u64, wanted: u64, failure: Failure) -> MpiError {
        match free_bytes(&self.path) {
            Ok(free) if free < wanted => self.no_space(wanted, free),
            _ => self.failed(offset, failure),
        }
    }

    fn no_space(&self, wanted: u64, free: u64) -> MpiError {
        MpiError::NoSpace { rank: self.comm.rank(), path: self.path.clone(), wanted, free }
    }

    /// Has the system set aside room for a range, so that writing there cannot fail for want of it; without changing
    /// the length of the file. Where the file system cannot do that, compares with the room that it has left now. The
    /// range counts as new: reserving it twice may be refused though it is there.
    ///
    /// # Errors
    /// [`MpiError::NoSpace`]; [`MpiError::File`].
    pub fn reserve(&self, range: Range<u64>) -> Result<(), MpiError> {
        let wanted = range.end.saturating_sub(range.start);
        if wanted == 0 {
            return Ok(());
        }
        let failed = |call, error: std::io::Error| {
            self.failed(range.start, Failure { call, text: error.to_string() })
        };
        // Asked first: some file systems would fill up before they find that it does not suffice.
        let free = free_bytes(&self.path).map_err(|error| failed("statvfs", error.into()))?;
        if free < wanted {
            return Err(self.no_space(wanted, free));
        }
        let file = OpenOptions::new().write(true).open(&self.path);
        let file = file.map_err(|error| failed("open", error))?;
        match fallocate(&file, FallocateFlags::KEEP_SIZE, range.start, wanted) {
            // Where the file system cannot do it, that there is room now must suffice.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            Err(Errno::NOSPC) => Err(self.no_space(wanted, free)),
            Err(error) => Err(failed("fallocate", error.into())),
        }
    }

    /// Has the system write everything to its storage, whoever of the ranks wrote it (collective).
    ///
    /// # Errors
    /// [`MpiError::File`].
    pub fn sync(&self) -> Result<(), MpiError> {
        self.comm.agree(self.together.sync().map_err(|failure| self.failed(0, failure)))
    }

    /// Closes the file (collective).
    ///
    /// # Errors
    /// [`MpiError::File`]: what was written may be lost.
    pub fn close(self) -> Result<(), MpiError> {
        let Self { path, comm, together, alone } = self;
        let own = alone.into_inner().map_or(Ok(()), Handle::close);
        let closed = together.close().and(own);
        comm.agree(closed.map_err(|failure| in_file(&path, &comm, 0, failure)))
    }

    fn alone(&self) -> Result<&Handle, MpiError> {
        if let Some(handle) = self.alone.get() {
            return Ok(handle);
        }
        let opened = Handle::open_alone(self.comm.session(), &self.path, Access::Write);
        let opened = opened.map_err(|failure| self.failed(0, failure))?;
        Ok(self.alone.get_or_init(|| opened))
    }

    fn batches(&self, pieces: &[(u64, &[u8])]) -> Result<Vec<Batch>, MpiError> {
        batches(pieces, self.piece().min(BATCH_BYTES)).map_err(|offset| MpiError::Overlap {
            rank: self.comm.rank(),
            path: self.path.clone(),
            offset,
        })
    }

    /// How often all ranks must call a collective function, if this one must `own` times.
    fn rounds(&self, own: usize) -> Result<usize, MpiError> {
        Ok(self.comm.extreme(own as u64, Extreme::Most)? as usize)
    }

    fn piece(&self) -> usize {
        self.comm.session().piece
    }

    fn failed(&self, offset: u64, failure: Failure) -> MpiError {
        in_file(&self.path, &self.comm, offset, failure)
    }
}

/// Bytes that the file system of a file has left for this user.
fn free_bytes(path: &Path) -> Result<u64, Errno> {
    let system = statvfs(path)?;
    Ok(system.f_bavail.saturating_mul(system.f_frsize))
}

fn in_file(path: &Path, comm: &Comm, offset: u64, failure: Failure) -> MpiError {
    let Failure { call, text } = failure;
    MpiError::File { rank: comm.rank(), path: path.to_owned(), call, offset, text }
}

fn short(call: &'static str, count: usize, wanted: usize) -> Failure {
    let text = format!("{count} of {wanted} bytes were written");
    Failure { call, text }
}
