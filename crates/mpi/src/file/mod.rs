//! Files that all ranks write. They are not read by MPI-IO: `docs/cluster.md` has its costs.

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
use crate::comm::{Comm, Extremum};
use crate::pieces::pieces;

/// Most bytes of one write through a view. The bytes are copied into a buffer for it.
const BATCH_BYTES: usize = 64 << 20;

/// Mode in which a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Writes a new file, or empties an existing one.
    Create,
    /// Writes to an existing file.
    Write,
}

/// A file that the ranks of a group have opened together by MPI-IO.
///
/// Opening, [`ParallelFile::sync`], [`ParallelFile::close`] and methods ending in `_all` are
/// collective: if any rank has an error, all ranks get one. The other methods concern one rank
/// only. Positions are bytes from the start of the file. Two ranks must not write the same bytes.
/// During a collective write, no rank may write to its gaps: some libraries read the gaps and write
/// them back.
///
/// A file that is dropped without [`ParallelFile::close`] stays open until the process ends.
pub struct ParallelFile {
    path: PathBuf,
    comm: Comm,
    together: Handle,
    /// A handle of this rank alone, opened when first needed. Setting a view is collective for the
    /// ranks of a handle, so a rank that writes alone through a view needs a handle of its own.
    alone: OnceCell<Handle>,
}

impl ParallelFile {
    /// Opens a file (collective).
    ///
    /// # Errors
    /// [`MpiError::File`]; [`MpiError::Untrusted`] if OMPIO may write the file.
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

    /// Writes bytes to one range of the file.
    ///
    /// # Errors
    /// [`MpiError::File`]; [`MpiError::NoSpace`] if the file system is full.
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

    /// Writes scattered pieces, each with its offset, through a view of this rank alone.
    ///
    /// # Errors
    /// [`MpiError::File`]; [`MpiError::NoSpace`]; [`MpiError::Overlap`].
    pub fn write_scattered(&self, pieces: &[(u64, &[u8])]) -> Result<(), MpiError> {
        for batch in self.batches(pieces)? {
            self.write_batch(self.alone()?, false, &batch)?;
        }
        Ok(())
    }

    /// Writes scattered pieces of all ranks (collective). A rank may have no pieces.
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
            // A rank without further batches, or with an error, still takes part with an empty
            // batch.
            let batch = batches.get(round).unwrap_or(&nothing);
            result = result.and(self.write_batch(&self.together, true, batch));
        }
        if rounds > 0 {
            // The other methods count positions in the whole file, not in a view.
            result = result.and(self.together.view(&[]).map_err(|failure| self.failed(0, failure)));
        }
        self.comm.agree(result)
    }

    fn write_batch(&self, file: &Handle, all: bool, batch: &Batch) -> Result<(), MpiError> {
        let failed = |failure| self.not_written(batch.offset(), batch.bytes.len() as u64, failure);
        let viewed = file.view(&batch.stretches);
        // The other ranks are already in the collective write. If this rank has no view, it takes
        // part with no bytes.
        let bytes = if viewed.is_ok() { batch.bytes.as_slice() } else { &[] };
        let written = file.write(all, 0, bytes);
        let count = viewed.and(written).map_err(failed)?;
        if count != batch.bytes.len() {
            return Err(failed(short("write through a view", count, batch.bytes.len())));
        }
        Ok(())
    }

    /// Creates the error for bytes that could not be written. MPI libraries do not distinguish a
    /// full file system from a broken one, so this checks the free space.
    fn not_written(&self, offset: u64, wanted: u64, failure: Failure) -> MpiError {
        match free_bytes(&self.path) {
            Ok(free) if free < wanted => self.no_space(wanted, free),
            _ => self.failed(offset, failure),
        }
    }

    fn no_space(&self, wanted: u64, free: u64) -> MpiError {
        MpiError::NoSpace { rank: self.comm.rank(), path: self.path.clone(), wanted, free }
    }

    /// Reserves space for a range of the file, so that writes to it cannot fail for lack of space.
    /// The length of the file does not change.
    ///
    /// If the file system cannot reserve space, this only compares the range with the free space.
    /// The range counts as new: reserving it twice may be refused although the space is there.
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
        // The free space is checked first: some file systems would fill up before they find that
        // the space does not suffice.
        let free = free_bytes(&self.path).map_err(|error| failed("statvfs", error.into()))?;
        if free < wanted {
            return Err(self.no_space(wanted, free));
        }
        let file = OpenOptions::new().write(true).open(&self.path);
        let file = file.map_err(|error| failed("open", error))?;
        match fallocate(&file, FallocateFlags::KEEP_SIZE, range.start, wanted) {
            // A file system that cannot reserve space has at least enough of it now.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            Err(Errno::NOSPC) => Err(self.no_space(wanted, free)),
            Err(error) => Err(failed("fallocate", error.into())),
        }
    }

    /// Makes the system write all data of all ranks to its storage (collective).
    ///
    /// # Errors
    /// [`MpiError::File`].
    pub fn sync(&self) -> Result<(), MpiError> {
        self.comm.agree(self.together.sync().map_err(|failure| self.failed(0, failure)))
    }

    /// Closes the file (collective).
    ///
    /// # Errors
    /// [`MpiError::File`]: written data may be lost.
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

    /// Returns the number of calls of a collective function that all ranks must make, if this rank
    /// needs `own` calls: the largest of all ranks' numbers.
    fn rounds(&self, own: usize) -> Result<usize, MpiError> {
        Ok(self.comm.extremum(own as u64, Extremum::Maximum)? as usize)
    }

    fn piece(&self) -> usize {
        self.comm.session().piece
    }

    fn failed(&self, offset: u64, failure: Failure) -> MpiError {
        in_file(&self.path, &self.comm, offset, failure)
    }
}

/// Returns the number of bytes that this user may still write to the file system of a file.
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
