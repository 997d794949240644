//! The end of a program that panics because a mapped file has changed under it.
//!
//! Results computed from a database that changes meanwhile may contradict each other anywhere.
//! That is no fault of the program and no reason for a backtrace: the message names the file.

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use fleetblast_db::check_mapped_files;
use fleetblast_job::error::Error;
use fleetblast_job::last_works;
use fleetblast_mpi::launched;

use crate::messages::complain;

/// Has panics end the process in order where a mapped file has changed.
pub fn prepare() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if let Err(changed) = check_mapped_files() {
            end(changed.into());
        }
        usual(info);
    }));
}

/// Removes unfinished files and ends the process. The launcher then ends the other ranks.
fn end(mut error: Error) -> ! {
    static IS_ENDING: AtomicBool = AtomicBool::new(false);
    if IS_ENDING.swap(true, Ordering::SeqCst) {
        // Another thread ends the process.
        loop {
            thread::park();
        }
    }
    if let Some(launch) = launched().filter(|launch| launch.ranks > 1) {
        error.message += &format!(" (rank {})", launch.rank);
    }
    complain(&error.message);
    last_works::do_all();
    // SAFETY: it ends the process, and runs nothing before that.
    unsafe { libc::_exit(i32::from(error.exit_code)) }
}
