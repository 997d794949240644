//! Handler of SIGBUS for lost pages of mapped files.
//!
//! A signal handler may do everything that this one does: it reads data that never changes, changes
//! atomics, and makes system calls.

use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::ptr;
use std::sync::{Once, OnceLock};

use libc::{c_int, c_void, sigaction, siginfo_t};

use super::register::{MappedFileEntry, entries};

/// Action of the process for a SIGBUS with another cause.
static USUAL: OnceLock<Usual> = OnceLock::new();

/// Exit code for a database that cannot be read, as in [`DbError::exit_code`](crate::DbError).
const DATABASE: c_int = 2;

/// The action that was set before this handler was installed, and the page size.
struct Usual {
    action: sigaction,
    page_size: usize,
}

/// A signal handler that receives information about the signal.
// SAFETY: only the system calls it for a signal, or a caller with the arguments that the system
// passed.
type Handler = unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

/// Installs the handler, once in a process. If the system refuses, a lost page ends the process.
pub(super) fn install_handler() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let page_size = rustix::param::page_size();
        // SAFETY: all zeros are a valid action, the default one.
        let mut usual: sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: a null action changes nothing, and the last argument points to a valid action.
        if unsafe { libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut usual) } != 0 {
            return;
        }
        // The previous action is stored before the first signal can arrive.
        let _ = USUAL.set(Usual { action: usual, page_size });
        // SAFETY: all zeros are a valid action, the default one.
        let mut own: sigaction = unsafe { std::mem::zeroed() };
        own.sa_sigaction = on_bus_error as Handler as libc::sighandler_t;
        // The handler runs on the signal stack if there is one, as the previous handler expects.
        own.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: the handler uses only operations that a handler may use, and passes other signals
        // on.
        unsafe { libc::sigaction(libc::SIGBUS, &raw const own, ptr::null_mut()) };
    });
}

/// Replaces lost pages of a mapped file by zeros. Passes a SIGBUS with another cause on.
///
/// # Safety
/// Only the operating system may call it, as the handler of SIGBUS.
unsafe extern "C" fn on_bus_error(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let Some(usual) = USUAL.get() else { return };
    // SAFETY: the system passes valid information with a signal, and SIGBUS has an address.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    if code == libc::BUS_ADRERR
        && let Some(entry) = entries().find(|entry| entry.contains_address(address))
    {
        // SAFETY: every thread has a valid location of its error number.
        let error = unsafe { *libc::__errno_location() };
        let lost = entry.mark_lost(address, usual.page_size);
        // SAFETY: the thread that was interrupted reads this file, so it stays mapped.
        if !unsafe { put_zeros(lost) } {
            end(entry);
        }
        // SAFETY: every thread has a valid location of its error number. The interrupted code sees
        // its old value.
        unsafe { *libc::__errno_location() = error };
        return;
    }
    // SAFETY: the system passed these arguments.
    unsafe { pass_on(&usual.action, signal, info, context) };
}

/// Replaces pages by zeros. Returns false if the system refuses.
///
/// # Safety
/// The pages must belong to a [`MappedFile`](super::MappedFile) that lives until this returns.
unsafe fn put_zeros(pages: Range<usize>) -> bool {
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
    // SAFETY: the caller guarantees that the pages belong to a read-only mapped file. They stay
    // readable, their owner unmaps them like those of the file, and nothing relies on the bytes of
    // a file staying the same.
    let zeros = unsafe {
        libc::mmap(pages.start as *mut c_void, pages.len(), libc::PROT_READ, kind, -1, 0)
    };
    zeros != libc::MAP_FAILED
}

/// Writes a message and ends the process, because lost pages cannot be replaced.
fn end(entry: &MappedFileEntry) -> ! {
    let parts = [
        &b"BLAST Database error: file ("[..],
        entry.stamp().path().as_os_str().as_bytes(),
        b") cannot be read any more: was it changed while it was searched?\n",
    ];
    for part in parts {
        // SAFETY: pointer and length are those of a slice.
        unsafe { libc::write(libc::STDERR_FILENO, part.as_ptr().cast(), part.len()) };
    }
    // SAFETY: the call ends the process and runs no other code before.
    unsafe { libc::_exit(DATABASE) }
}

/// Handles the signal as the process would have done without this module's handler.
///
/// # Safety
/// `info` and `context` must be those that the system passed with the signal.
unsafe fn pass_on(usual: &sigaction, signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes valid information with a signal.
    let is_fault = unsafe { (*info).si_code } > 0;
    match usual.sa_sigaction {
        libc::SIG_IGN if !is_fault => {}
        // An ignored fault would repeat forever, so the default action ends the process instead.
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: a handler may call this function. The fault repeats as soon as the handler
            // returns.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
            if !is_fault {
                // SAFETY: a handler may call this function. The signal waits until the handler
                // returns.
                unsafe { libc::raise(signal) };
            }
        }
        handler if usual.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: the code that set this action with the flag gave a function of this type, for
            // the system to call with these arguments.
            unsafe { std::mem::transmute::<usize, Handler>(handler)(signal, info, context) };
        }
        handler => {
            // SAFETY: the code that set this action without the flag gave a function of this type.
            unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(handler)(signal) };
        }
    }
}
