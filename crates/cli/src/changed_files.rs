//! The end of a program that panics because a mapped file has changed under it.
//!
//! Results computed from a database that changes meanwhile may contradict each other anywhere.
//! That is no fault of the program and no reason for a backtrace: the message names the file.

use std::panic;

use fleetblast_db::check_mapped_files;
use fleetblast_job::error::Error;
use fleetblast_mpi::launched;

use crate::ending::end_process;
use crate::messages::complain;

/// Makes panics end the process with an error message if a mapped file has changed.
pub fn prepare() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if let Err(changed) = check_mapped_files() {
            end(changed.into());
        }
        usual(info);
    }));
}

/// Ends the process with an error.
fn end(error: Error) -> ! {
    end_process(error.exit_code, || {
        let place = launched().filter(|launch| launch.ranks > 1);
        let place = place.map_or_else(String::new, |launch| format!(" (rank {})", launch.rank));
        complain(&(error.message + &place));
    })
}
