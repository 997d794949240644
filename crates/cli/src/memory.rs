//! The end of a process that gets no more memory or threads: one message, exit code 4, and nothing unfinished left.
//!
//! The library's way is to abort where memory ran out, and to panic where a thread cannot be
//! started or cannot have its stack for signals; neither lets a caller do anything about it. So
//! memory is asked for through [`Telling`], and panics for want of a thread end the process here,
//! too. Both happen anywhere, under any lock (`ending`), and an allocator knows
//! nothing that is not static: hence the static here.

use std::alloc::{GlobalAlloc, Layout, System};
use std::any::Any;
use std::fmt::{self, Write};
use std::panic::{self, PanicHookInfo};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use fleetblast_job::error::{ADVICE, exit};

use crate::ending::end_process;

/// Address space that is given back for what is done at the end.
const RESERVE: usize = 1 << 20;
/// Bytes of the last message, at most.
const MESSAGE: usize = 512;
/// How panics of the library begin for which [`hook`] is.
const WANTS: [&str; 3] = [
    "failed to spawn thread",
    "failed to allocate an alternative stack",
    "failed to set up alternative stack guard page",
];

/// The allocator of the system, which ends the process where there is no memory.
pub struct Telling;

/// The reserve, while it is there.
static RESERVED: AtomicPtr<libc::c_void> = AtomicPtr::new(ptr::null_mut());

// SAFETY: all calls are passed on to the system's allocator as they are; what it returns is returned, unless it is
// null. Then the process ends: `end_process` neither returns nor unwinds.
unsafe impl GlobalAlloc for Telling {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the same rules.
        told(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the same rules.
        told(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps to the same rules.
        told(unsafe { System.realloc(old, layout, size) }, size)
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps to the same rules.
        unsafe { System.dealloc(old, layout) }
    }
}

#[inline]
fn told(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        end(format_args!("no room for {size} more bytes"));
    }
    memory
}

/// Prepares for the end: sets something aside, and has panics for want of a thread end the process in order.
pub fn prepare() {
    let (access, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping at an address of the system's choice changes no other memory.
    let reserve = unsafe { libc::mmap(ptr::null_mut(), RESERVE, access, kind, -1, 0) };
    if reserve != libc::MAP_FAILED {
        RESERVED.store(reserve, Ordering::Relaxed);
    }
    if is_limited() {
        let handler = on_abort as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // SAFETY: the handler does nothing but what the end for want of memory does anywhere, and does not return.
        unsafe { libc::signal(libc::SIGABRT, handler) };
    }
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        hook(info);
        usual(info);
    }));
}

/// Whether the process may have less memory than there is.
fn is_limited() -> bool {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: it writes a limit to where there is room for one.
    let asked = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    asked == 0 && limit.rlim_cur != libc::RLIM_INFINITY
}

/// The C library, and Rust's in its own works, abort where they have no memory for themselves, as when a thread starts. They
/// tell so before.
extern "C" fn on_abort(_: libc::c_int) {
    end(format_args!("a library has no room for its own"));
}

/// Ends the process if a panic is for want of a thread.
fn hook(info: &PanicHookInfo) {
    if let Some(what) =
        text(info.payload()).filter(|text| WANTS.iter().any(|want| text.starts_with(want)))
    {
        // The library shows the system's error as programmers do: `...: Os { code: 11, ... }`.
        end(format_args!("{}", what.split(": Os {").next().unwrap_or(what)));
    }
}

fn text(payload: &dyn Any) -> Option<&str> {
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| payload.downcast_ref::<&str>().copied())
}

/// Ends the process.
#[cold]
fn end(what: fmt::Arguments) -> ! {
    end_process(exit::MEMORY, || {
        say(what);
        give_back();
    })
}

fn say(what: fmt::Arguments) {
    let mut line = Line { text: [0; MESSAGE], length: 0 };
    // What is too long is cut.
    let _ = write!(line, "BLAST ran out of memory: {what}; {ADVICE}");
    line.text[line.length] = b'\n';
    // SAFETY: the bytes are there, and have been written.
    unsafe { libc::write(libc::STDERR_FILENO, line.text.as_ptr().cast(), line.length + 1) };
}

fn give_back() {
    let reserve = RESERVED.swap(ptr::null_mut(), Ordering::Relaxed);
    if !reserve.is_null() {
        // SAFETY: the mapping has this size, nothing is in it, and nobody else gives it back.
        unsafe { libc::munmap(reserve, RESERVE) };
    }
}

/// A line that takes no memory.
struct Line {
    text: [u8; MESSAGE],
    length: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // The last place is the line end's.
        let room = MESSAGE - 1 - self.length;
        let length = text.len().min(room);
        self.text[self.length..self.length + length].copy_from_slice(&text.as_bytes()[..length]);
        self.length += length;
        Ok(())
    }
}
