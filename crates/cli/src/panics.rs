//! The panic hook: a panic ends the process, in whatever thread it happens.
//!
//! Otherwise other threads might wait forever: ranks that are threads wait for each other's
//! messages.

use std::panic;

use fleetblast_db::check_mapped_files;
use fleetblast_job::error::{Error, exit};
use fleetblast_mpi::launched;

use crate::ending::end_process;
use crate::memory;
use crate::messages::complain;

/// Makes panics end the process. Panics about threads have a message of their own. If a mapped file
/// has changed during the search, the message names it and has no backtrace: that is no fault of
/// the program. Results computed from a database that changes meanwhile may contradict each other
/// anywhere.
pub fn prepare() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        memory::end_without_threads(info);
        if let Err(changed) = check_mapped_files() {
            let Error { message, exit_code, .. } = changed.into();
            end_process(exit_code, || complain(&(message + &rank_suffix())));
        }
        end_process(exit::UNKNOWN, || {
            usual(info);
            complain(&format!(
                "FleetBLAST has found a fault in itself and ends{}. The report is not complete. \
                 Please report the lines above with the command.",
                rank_suffix()
            ));
        });
    }));
}

/// Returns the rank of this process for the end of a message; empty if it is the only process.
fn rank_suffix() -> String {
    let launch = launched().filter(|launch| launch.ranks > 1);
    launch.map_or_else(String::new, |launch| format!(" (rank {})", launch.rank))
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::process::Command;
    use std::thread;

    use super::*;

    /// Environment variable that is set in the process that is to panic.
    const PANICS: &str = "FLEETBLAST_TEST_PANICS";

    #[test]
    fn a_panic_ends_a_process_whose_other_threads_wait() {
        if env::var_os(PANICS).is_some() {
            prepare();
            thread::spawn(|| panic!("a fault of the program"));
            loop {
                thread::park();
            }
        }
        let mut command = Command::new(env::current_exe().unwrap());
        let test = "panics::tests::a_panic_ends_a_process_whose_other_threads_wait";
        let ended = command.args(["--exact", test, "--nocapture"]).env(PANICS, "1").output();
        let ended = ended.unwrap();
        let message = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(i32::from(exit::UNKNOWN)), "{message}");
        for text in ["a fault of the program", "FleetBLAST has found a fault in itself"] {
            assert!(message.contains(text), "{message}");
        }
    }
}
