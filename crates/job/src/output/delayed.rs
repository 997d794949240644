//! Errors of writing that a file system reports only when a file is closed.

use std::fs::File;
use std::io;
use std::os::fd::IntoRawFd;

/// Asks a network file system for errors of a file, by closing a copy of the file's descriptor.
/// Such a file system reports a full disk or an exceeded quota only on closing, and dropping a
/// [`File`] hides the error. On a local file system this costs nothing, unlike [`File::sync_all`].
///
/// # Errors
/// Bytes written before could not be stored.
pub fn report_delayed_errors(file: &File) -> io::Result<()> {
    // Without another descriptor, only a write to the disk itself can report errors.
    let Ok(copy) = file.try_clone() else { return file.sync_all() };
    let copy = copy.into_raw_fd();
    // SAFETY: `copy` is open, and nobody else knows it.
    match unsafe { libc::close(copy) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
