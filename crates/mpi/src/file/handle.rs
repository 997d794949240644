//! An open file of MPI. Each function here wraps one function of MPI-IO.

use std::ffi::{CString, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use mpi_sys as ffi;

use super::Access;
use crate::call::{Failure, check, int, start, unsigned};
use crate::comm::Comm;
use crate::session::Session;

/// An open file. Closing it is collective. So dropping a handle closes the file only if this rank
/// opened it alone.
pub(super) struct Handle {
    raw: ffi::MPI_File,
    /// Whether this rank opened the file alone.
    alone: bool,
    session: Rc<Session>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.alone && self.session.is_orderly() {
            // SAFETY: the file is open, because `close` consumes the handle.
            unsafe { ffi::MPI_File_close(&mut self.raw) };
        }
    }
}

impl Handle {
    /// Opens a file for the ranks of a group (collective; MPI 3.1, section 13.2.1).
    pub(super) fn open(comm: &Comm, path: &Path, access: Access) -> Result<Self, Failure> {
        Self::open_in(comm.raw(), false, comm.session(), path, access)
    }

    /// Opens a file for this rank alone.
    pub(super) fn open_alone(
        session: &Rc<Session>,
        path: &Path,
        access: Access,
    ) -> Result<Self, Failure> {
        // SAFETY: this reads a constant of MPI.
        let own = unsafe { ffi::RSMPI_COMM_SELF };
        Self::open_in(own, true, session, path, access)
    }

    fn open_in(
        comm: ffi::MPI_Comm,
        alone: bool,
        session: &Rc<Session>,
        path: &Path,
        access: Access,
    ) -> Result<Self, Failure> {
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| Failure {
            call: "MPI_File_open",
            text: "the name holds a zero byte".to_owned(),
        })?;
        let mode = match access {
            // Read access, too: some layers read the surroundings of the bytes that they write.
            Access::Create => ffi::MPI_MODE_RDWR | ffi::MPI_MODE_CREATE,
            Access::Write => ffi::MPI_MODE_RDWR,
        };
        // SAFETY: the name ends with a zero; the communicator and the hints live; the handle is
        // written.
        let raw = unsafe {
            let mut hints = hints()?;
            let mut raw = ffi::RSMPI_FILE_NULL;
            let code = ffi::MPI_File_open(comm, name.as_ptr(), mode as c_int, hints, &mut raw);
            ffi::MPI_Info_free(&mut hints);
            check("MPI_File_open", code)?;
            raw
        };
        let file = Self { raw, alone, session: Rc::clone(session) };
        // SAFETY: the file is open; the handler is a constant of MPI.
        let code = unsafe { ffi::MPI_File_set_errhandler(raw, ffi::RSMPI_ERRORS_RETURN) };
        check("MPI_File_set_errhandler", code)?;
        Ok(file)
    }

    /// Closes the file (collective).
    pub(super) fn close(mut self) -> Result<(), Failure> {
        self.alone = false;
        // SAFETY: the file is open, and `self`, which ends here, is the only one to have the
        // handle.
        check("MPI_File_close", unsafe { ffi::MPI_File_close(&mut self.raw) })
    }

    /// Sets the length of the file in bytes (collective).
    pub(super) fn set_size(&self, bytes: u64) -> Result<(), Failure> {
        let bytes = position(bytes)?;
        // SAFETY: the file is open.
        check("MPI_File_set_size", unsafe { ffi::MPI_File_set_size(self.raw, bytes) })
    }

    /// Makes the system write the data of the file to its storage (collective).
    pub(super) fn sync(&self) -> Result<(), Failure> {
        // SAFETY: the file is open.
        check("MPI_File_sync", unsafe { ffi::MPI_File_sync(self.raw) })
    }

    /// Writes bytes at the position `at`, which counts in the view if one is set. Returns the
    /// number of bytes written. With `all`, the call is collective for the ranks of the file.
    pub(super) fn write(&self, all: bool, at: u64, bytes: &[u8]) -> Result<usize, Failure> {
        let at = position(at)?;
        let (start, length) = (start(bytes), int(bytes.len()));
        transfer(|status| {
            // SAFETY: the file is open; `start` and `length` are those of a slice.
            unsafe {
                let byte = ffi::RSMPI_UINT8_T;
                if all {
                    let code =
                        ffi::MPI_File_write_at_all(self.raw, at, start, length, byte, status);
                    ("MPI_File_write_at_all", code)
                } else {
                    let code = ffi::MPI_File_write_at(self.raw, at, start, length, byte, status);
                    ("MPI_File_write_at", code)
                }
            }
        })
    }

    /// Sets this rank's view of the file to these ranges, one after the other, or to the whole file
    /// if there are none (collective; MPI 3.1, section 13.3). Each range has an offset and a
    /// length. Ranges must ascend and not touch.
    pub(super) fn view(&self, stretches: &[(u64, usize)]) -> Result<(), Failure> {
        let ends = |range: &(u64, usize)| range.0 + range.1 as u64;
        debug_assert!(stretches.windows(2).all(|pair| ends(&pair[0]) < pair[1].0), "{stretches:?}");
        if stretches.is_empty() {
            // SAFETY: this reads a constant of MPI.
            return self.set_view(unsafe { ffi::RSMPI_UINT8_T });
        }
        let mut kind = match hindexed_type(stretches) {
            Ok(kind) => kind,
            Err(failure) => {
                // The other ranks wait in this collective call, so this rank must take part without
                // a valid view.
                self.view(&[])?;
                return Err(failure);
            }
        };
        let done = self.set_view(kind);
        // SAFETY: the type was made just now; MPI keeps the types that its files use.
        unsafe { ffi::MPI_Type_free(&mut kind) };
        done
    }

    fn set_view(&self, kind: ffi::MPI_Datatype) -> Result<(), Failure> {
        // SAFETY: the file is open, the type is committed, the others are constants.
        let code = unsafe {
            let (byte, none) = (ffi::RSMPI_UINT8_T, ffi::RSMPI_INFO_NULL);
            ffi::MPI_File_set_view(self.raw, 0, byte, kind, c"native".as_ptr(), none)
        };
        check("MPI_File_set_view", code)
    }
}

/// Creates a committed type of the bytes in these ranges (MPI 3.1, section 4.1.2).
fn hindexed_type(stretches: &[(u64, usize)]) -> Result<ffi::MPI_Datatype, Failure> {
    let lengths: Vec<c_int> = stretches.iter().map(|&(_, length)| int(length)).collect();
    let mut offsets = Vec::with_capacity(stretches.len());
    for &(offset, _) in stretches {
        offsets.push(position(offset)? as ffi::MPI_Aint);
    }
    // SAFETY: there are as many lengths as offsets; the type is written.
    unsafe {
        let mut kind = ffi::RSMPI_DATATYPE_NULL;
        let (count, byte) = (int(stretches.len()), ffi::RSMPI_UINT8_T);
        let (lengths, offsets) = (lengths.as_ptr(), offsets.as_ptr());
        let code = ffi::MPI_Type_create_hindexed(count, lengths, offsets, byte, &mut kind);
        check("MPI_Type_create_hindexed", code)?;
        check("MPI_Type_commit", ffi::MPI_Type_commit(&mut kind))?;
        Ok(kind)
    }
}

/// Creates hints for files. Libraries ignore hints that they do not know.
fn hints() -> Result<ffi::MPI_Info, Failure> {
    // SAFETY: the object is written; names and values end with a zero.
    unsafe {
        let mut hints = ffi::RSMPI_INFO_NULL;
        check("MPI_Info_create", ffi::MPI_Info_create(&mut hints))?;
        // Without this, ROMIO reads the gaps between ranges and writes them back, over bytes that
        // other ranks have written meanwhile.
        let (name, value) = (c"romio_ds_write".as_ptr(), c"disable".as_ptr());
        check("MPI_Info_set", ffi::MPI_Info_set(hints, name, value))?;
        Ok(hints)
    }
}

/// Makes a call that transfers bytes, and returns their number.
fn transfer(
    call: impl FnOnce(*mut ffi::MPI_Status) -> (&'static str, c_int),
) -> Result<usize, Failure> {
    // SAFETY: a status is plain data: numbers, for which zeros are a value.
    let mut status: ffi::MPI_Status = unsafe { std::mem::zeroed() };
    let (name, code) = call(&mut status);
    check(name, code)?;
    let mut count = 0;
    // SAFETY: the status was written by the call.
    let code = unsafe { ffi::MPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut count) };
    check("MPI_Get_count", code)?;
    Ok(unsigned(count))
}

/// Converts a position in a file to the type of MPI.
fn position(bytes: u64) -> Result<ffi::MPI_Offset, Failure> {
    ffi::MPI_Offset::try_from(bytes).map_err(|_| Failure {
        call: "position in a file",
        text: format!("{bytes} is beyond 2^63"),
    })
}
