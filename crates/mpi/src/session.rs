//! The use of MPI by this process, from initialization to finalization.

use std::cell::Cell;
use std::ffi::{c_char, c_int};
use std::path::Path;
use std::ptr;
use std::thread;
use std::time::Duration;

use mpi_sys as ffi;

use crate::MpiError;
use crate::call::{Failure, check, text_of};

/// Exit status of a rank that panicked, as of any Rust program.
const PANIC_STATUS: i32 = 101;
/// Time that a launcher gets to read the last output of a rank before MPI is aborted.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// MPI is initialized while a session exists. Dropping its last reference finalizes MPI.
///
/// References are `Rc`, so that all calls of MPI stay on the thread that initialized it, as
/// MPI_THREAD_FUNNELED requires.
pub(crate) struct Session {
    /// Whether dropping the session finalizes MPI.
    orderly: Cell<bool>,
    /// Name and version of the MPI library.
    pub(crate) library: String,
    /// Name of this rank's host.
    pub(crate) host: String,
    /// Most bytes in one call of MPI.
    pub(crate) piece: usize,
    /// The value of [`LAYER`], or [`UNSET`], if files may be written by a layer that loses data;
    /// otherwise `None`.
    pub(crate) untrusted: Option<String>,
}

/// Environment variable that selects Open MPI's layer for files.
const LAYER: &str = "OMPI_MCA_io";
/// Text that stands for the value of [`LAYER`] if it is not set and this crate cannot set it.
const UNSET: &str = "(not set, and not to be set without /proc)";

impl Session {
    /// Initializes MPI (MPI 3.1, section 12.4.3). Calls of MPI transfer at most `piece` bytes.
    pub(crate) fn begin(piece: usize) -> Result<Self, MpiError> {
        if touched().map_err(Failure::at_begin)? {
            return Err(MpiError::AlreadyInitialized);
        }
        let library = library_version().map_err(Failure::at_begin)?;
        let untrusted = choose_file_layer(&library)?;
        let wanted = ffi::MPI_THREAD_FUNNELED as c_int;
        let mut provided = 0;
        // SAFETY: MPI was not initialized before. Null pointers stand for the arguments of `main`,
        // which MPI need not see.
        let code = unsafe {
            ffi::MPI_Init_thread(ptr::null_mut(), ptr::null_mut(), wanted, &mut provided)
        };
        check("MPI_Init_thread", code).map_err(Failure::at_begin)?;
        let orderly = Cell::new(true);
        let mut session = Self { orderly, library, host: String::new(), piece, untrusted };
        session.host = session.processor_name().map_err(Failure::at_begin)?;
        if provided < wanted {
            return Err(MpiError::ThreadSupport { library: session.library.clone() });
        }
        Ok(session)
    }

    fn processor_name(&self) -> Result<String, Failure> {
        let mut text = vec![0u8; ffi::MPI_MAX_PROCESSOR_NAME as usize + 1];
        let mut length = 0;
        // SAFETY: MPI is initialized while `self` exists. The function writes at most
        // MPI_MAX_PROCESSOR_NAME bytes, and their number.
        let code =
            unsafe { ffi::MPI_Get_processor_name(text.as_mut_ptr().cast::<c_char>(), &mut length) };
        check("MPI_Get_processor_name", code)?;
        Ok(text_of(&text, length))
    }

    /// Makes the session end without finalizing MPI, which would wait for ranks that may be gone.
    pub(crate) fn leave(&self) {
        self.orderly.set(false);
    }

    /// Whether MPI handles may still be freed. They must not be freed if other ranks may be gone.
    pub(crate) fn is_orderly(&self) -> bool {
        self.orderly.get() && !thread::panicking()
    }

    /// Ends all ranks.
    pub(crate) fn abort(&self, status: i32) -> ! {
        // Some launchers drop output of a rank that they have not read yet.
        thread::sleep(LAST_WORDS);
        // SAFETY: MPI is initialized while `self` exists.
        unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, status) };
        std::process::exit(status)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.orderly.get() {
            return;
        }
        if thread::panicking() {
            // The other ranks would wait for this rank for ever.
            self.abort(PANIC_STATUS);
        }
        // SAFETY: MPI is initialized, and nothing that calls it outlives the last reference to this
        // session.
        unsafe { ffi::MPI_Finalize() };
    }
}

/// Whether this process has initialized or finalized MPI before.
fn touched() -> Result<bool, Failure> {
    let (mut begun, mut ended) = (0, 0);
    // SAFETY: these functions may be called at any time, and write one int each.
    let codes = unsafe { (ffi::MPI_Initialized(&mut begun), ffi::MPI_Finalized(&mut ended)) };
    check("MPI_Initialized", codes.0)?;
    check("MPI_Finalized", codes.1)?;
    Ok(begun != 0 || ended != 0)
}

/// Returns the name and version of the MPI library: the start of its version text.
fn library_version() -> Result<String, Failure> {
    let mut text = vec![0u8; ffi::MPI_MAX_LIBRARY_VERSION_STRING as usize + 1];
    let mut length = 0;
    // SAFETY: the function may be called at any time. It writes at most
    // MPI_MAX_LIBRARY_VERSION_STRING bytes and their number.
    let code =
        unsafe { ffi::MPI_Get_library_version(text.as_mut_ptr().cast::<c_char>(), &mut length) };
    check("MPI_Get_library_version", code)?;
    let text = text_of(&text, length);
    let name = text.split(['\n', ',']).next().unwrap_or_default();
    Ok(name.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Makes Open MPI write files by ROMIO, unless the user chose a layer. Returns the choice if files
/// may be written by OMPIO, Open MPI's own layer.
///
/// On a full file system, OMPIO hangs in collective writes or reports success (both seen in 4.1.4).
/// Excluding OMPIO works in all versions; the name of ROMIO's layer differs between them.
fn choose_file_layer(library: &str) -> Result<Option<String>, MpiError> {
    if !library.starts_with("Open MPI") {
        return Ok(None);
    }
    if let Some(choice) = std::env::var_os(LAYER) {
        let choice = choice.to_string_lossy().into_owned();
        return Ok(allows_ompio(&choice).then_some(choice));
    }
    match threads_in(Path::new("/proc/self/task")) {
        Some(1) => {
            // SAFETY: this is the only thread of the process, so no other thread reads or writes
            // the environment meanwhile.
            unsafe { std::env::set_var(LAYER, "^ompio") };
            Ok(None)
        }
        Some(threads) => Err(MpiError::Threads { threads }),
        // The environment cannot be changed safely. So Open MPI may use OMPIO, and writing files is
        // refused.
        None => Ok(Some(UNSET.to_owned())),
    }
}

/// Returns the number of entries of a directory with one entry per thread, or `None` if it cannot
/// be read.
fn threads_in(tasks: &Path) -> Option<usize> {
    let mut threads = 0;
    for task in std::fs::read_dir(tasks).ok()? {
        task.ok()?;
        threads += 1;
    }
    (threads > 0).then_some(threads)
}

/// Whether a value of `OMPI_MCA_io` allows OMPIO. It lists layers to use or, after `^`, to exclude.
fn allows_ompio(choice: &str) -> bool {
    let (names, excluded) = match choice.trim().strip_prefix('^') {
        Some(names) => (names, true),
        None => (choice, false),
    };
    let named = names.split(',').any(|name| name.trim() == "ompio");
    named != excluded || names.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_counted_where_the_system_shows_them() {
        let directory = tempfile::tempdir().unwrap();
        let tasks = directory.path();
        assert_eq!(threads_in(tasks), None, "this thread should be there");
        std::fs::create_dir(tasks.join("1")).unwrap();
        std::fs::create_dir(tasks.join("2")).unwrap();
        assert_eq!(threads_in(tasks), Some(2));
        assert_eq!(threads_in(&tasks.join("none")), None, "/proc is not mounted");
    }

    #[test]
    fn lists_of_layers_are_understood() {
        for choice in ["ompio", " romio321 , ompio", "^romio321", "", "^"] {
            assert!(allows_ompio(choice), "{choice:?}");
        }
        for choice in ["^ompio", "romio321", "^romio321,ompio"] {
            assert!(!allows_ompio(choice), "{choice:?}");
        }
    }
}
