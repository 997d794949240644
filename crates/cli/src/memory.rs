//! Ends a process that runs out of memory or threads with one message and exit code 4, and leaves
//! no unfinished files.
//!
//! Rust's library aborts when memory runs out, and panics when a thread or its signal stack cannot
//! be created; a caller can handle neither. So all memory comes from [`ExitingAllocator`], and
//! panics about threads end the process here, too. Both happen anywhere, under any lock (see
//! `ending`), and an allocator reaches only static state.

use std::alloc::{GlobalAlloc, Layout, System};
use std::any::Any;
use std::fmt::{self, Write};
use std::mem;
use std::panic::PanicHookInfo;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use fleetblast_job::error::{ADVICE, exit};

use crate::ending::end_process;

/// Bytes of address space that are reserved at the start, and freed for the cleanups.
const RESERVE: usize = 1 << 20;
/// Largest length of the last message in bytes.
const MESSAGE: usize = 512;
/// Beginnings of the panic messages of Rust's library that [`end_without_threads`] handles.
const WANTS: [&str; 3] = [
    "failed to spawn thread",
    "failed to allocate an alternative stack",
    "failed to set up alternative stack guard page",
];

/// The system's allocator; ends the process when memory runs out.
pub struct ExitingAllocator;

/// Address of the reserved memory; null before it is reserved and after it is freed.
static RESERVED: AtomicPtr<libc::c_void> = AtomicPtr::new(ptr::null_mut());

// SAFETY: all calls are passed on unchanged to the system's allocator, and its results are returned
// unless they are null. For null the process ends: `end_process` neither returns nor unwinds.
unsafe impl GlobalAlloc for ExitingAllocator {
    // SAFETY: the caller keeps to the rules of `GlobalAlloc`.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the same rules.
        non_null(unsafe { System.alloc(layout) }, layout.size())
    }

    // SAFETY: the caller keeps to the rules of `GlobalAlloc`.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the same rules.
        non_null(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    // SAFETY: the caller keeps to the rules of `GlobalAlloc`.
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps to the same rules.
        non_null(unsafe { System.realloc(old, layout, size) }, size)
    }

    // SAFETY: the caller keeps to the rules of `GlobalAlloc`.
    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps to the same rules.
        unsafe { System.dealloc(old, layout) }
    }
}

#[inline]
fn non_null(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        end(format_args!("no room for {size} more bytes"));
    }
    memory
}

/// Prepares for lack of memory: reserves memory for the cleanups at the end.
pub fn prepare() {
    let (access, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping at an address of the system's choice changes no other memory.
    let reserve = unsafe { libc::mmap(ptr::null_mut(), RESERVE, access, kind, -1, 0) };
    if reserve != libc::MAP_FAILED {
        RESERVED.store(reserve, Ordering::Relaxed);
    }
    if is_limited() {
        type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
        // SAFETY: all bytes zero are a valid value: no signals are blocked.
        let mut action: libc::sigaction = unsafe { mem::zeroed() };
        action.sa_sigaction = on_abort as Handler as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO;
        // SAFETY: where the process aborts itself, the handler does only what the allocator does
        // when memory runs out, and does not return. For a signal from outside, which may interrupt
        // anything, it calls nothing that a signal handler must not call.
        unsafe { libc::sigaction(libc::SIGABRT, &raw const action, ptr::null_mut()) };
    }
}

/// Returns whether the process has a memory limit below the machine's memory.
fn is_limited() -> bool {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the call writes a limit to a variable of that type.
    let asked = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    asked == 0 && limit.rlim_cur != libc::RLIM_INFINITY
}

/// Handles the abort signal. The C library and Rust's library abort if they have no memory for
/// themselves, for example to start a thread. They print a message before. The signal may also come
/// from another process; then it has its usual effect.
extern "C" fn on_abort(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: with SA_SIGINFO the system passes the signal's information.
    let is_own = unsafe { (*info).si_code == libc::SI_TKILL && (*info).si_pid() == libc::getpid() };
    if is_own {
        end(format_args!("a library could not allocate memory"));
    }
    // SAFETY: both functions may be called in signal handlers. The signal is delivered when this
    // handler returns.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// Ends the process if the panic says that a thread could not be created.
pub(crate) fn end_without_threads(info: &PanicHookInfo) {
    if let Some(what) =
        panic_text(info.payload()).filter(|text| WANTS.iter().any(|want| text.starts_with(want)))
    {
        // The library prints the system's error in debug form: `...: Os { code: 11, ... }`.
        end(format_args!("{}", what.split(": Os {").next().unwrap_or(what)));
    }
}

fn panic_text(payload: &dyn Any) -> Option<&str> {
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| payload.downcast_ref::<&str>().copied())
}

/// Prints that memory ran out, frees the reserved memory and ends the process.
#[cold]
fn end(what: fmt::Arguments) -> ! {
    end_process(exit::MEMORY, || {
        say(what);
        give_back();
    })
}

fn say(what: fmt::Arguments) {
    let mut line = Line { text: [0; MESSAGE], length: 0 };
    // A message that is too long is cut.
    let _ = write!(line, "BLAST ran out of memory: {what}; {ADVICE}");
    line.text[line.length] = b'\n';
    // SAFETY: the pointer and the length are those of written bytes of the buffer.
    unsafe { libc::write(libc::STDERR_FILENO, line.text.as_ptr().cast(), line.length + 1) };
}

fn give_back() {
    let reserve = RESERVED.swap(ptr::null_mut(), Ordering::Relaxed);
    if !reserve.is_null() {
        // SAFETY: the mapping has this size, holds no data, and is unmapped only here.
        unsafe { libc::munmap(reserve, RESERVE) };
    }
}

/// A line in a buffer on the stack, which needs no allocation.
struct Line {
    text: [u8; MESSAGE],
    length: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // The last byte is for the line end.
        let room = MESSAGE - 1 - self.length;
        let length = text.len().min(room);
        self.text[self.length..self.length + length].copy_from_slice(&text.as_bytes()[..length]);
        self.length += length;
        Ok(())
    }
}
