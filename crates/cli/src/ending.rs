//! Ends the process from any place: in the allocator, in a panic hook, under any lock.
//!
//! The code here takes no lock that it would have to wait for. The state is static, since an
//! allocator and a signal handler reach nothing else.

use std::sync::atomic::{AtomicI32, Ordering};

use fleetblast_job::cleanup;

/// Linux id of the thread that ends the process; 0 while no thread does.
static ENDING: AtomicI32 = AtomicI32::new(0);
/// Exit code of the process, set by the thread that ends it.
static EXIT_CODE: AtomicI32 = AtomicI32::new(0);

/// Time in seconds that a thread waits for another one that ends the process.
const PATIENCE_SECONDS: u32 = 10;

/// A guard that ends the process when it is dropped. A panic on the way to the end therefore does
/// not unwind out of the allocator.
struct Ending;

impl Drop for Ending {
    fn drop(&mut self) {
        exit()
    }
}

/// Calls `say` to print the reason, runs the [cleanups](cleanup) and ends the process. Never
/// unwinds. If several threads call this, the first one ends the process and the others wait. The
/// launcher of ranks then ends the other ranks.
#[cold]
pub(crate) fn end_process(exit_code: u8, say: impl FnOnce()) -> ! {
    let ending = Ending;
    // SAFETY: the call only returns a number.
    let own = unsafe { libc::gettid() };
    match ENDING.compare_exchange(0, own, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {
            EXIT_CODE.store(i32::from(exit_code), Ordering::Relaxed);
            let handler = on_abort as extern "C" fn(libc::c_int) as libc::sighandler_t;
            // SAFETY: the handler ends the process or waits, which is allowed anywhere.
            unsafe { libc::signal(libc::SIGABRT, handler) };
            say();
            cleanup::run_all();
        }
        // A cleanup called this function on the same thread: memory ran out, even with the reserve.
        Err(ending) if ending == own => {}
        Err(_) => wait_for_the_end(),
    }
    drop(ending);
    unreachable!("the process has ended")
}

/// Handles the abort signal. A panic in a panic hook does not unwind but aborts. The C library also
/// aborts in another thread that is out of memory; that thread must wait until the cleanups are
/// done.
extern "C" fn on_abort(_: libc::c_int) {
    // SAFETY: the call only returns a number.
    match ENDING.load(Ordering::Acquire) == unsafe { libc::gettid() } {
        true => exit(),
        false => wait_for_the_end(),
    }
}

/// Waits until another thread has ended the process. Ends the process if that takes too long: the
/// other thread may wait for a lock that this thread holds.
fn wait_for_the_end() -> ! {
    for _ in 0..PATIENCE_SECONDS {
        // SAFETY: the call only waits.
        unsafe { libc::sleep(1) };
    }
    exit()
}

fn exit() -> ! {
    // SAFETY: the call ends the process without running other code.
    unsafe { libc::_exit(EXIT_CODE.load(Ordering::Relaxed)) }
}

#[cfg(test)]
mod tests {
    use std::process::{self, Command, ExitStatus};
    use std::time::Duration;
    use std::{env, panic, thread};

    use super::*;

    /// Environment variable that is set in the process that is to end.
    const ENDS: &str = "FLEETBLAST_TEST_ENDS";
    const CODE: u8 = 42;

    /// Runs the test of this name in a process of its own; returns the exit status.
    fn run(name: &str) -> ExitStatus {
        let test = format!("ending::tests::{name}");
        let mut command = Command::new(std::env::current_exe().unwrap());
        let output = command.args(["--exact", &test, "--nocapture"]).env(ENDS, "1").output();
        let output = output.unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains("this is the end"), "{errors}");
        assert!(errors.contains("a fault of the program"), "{errors}");
        output.status
    }

    fn say() {
        eprintln!("this is the end");
    }

    /// The cleanup finishes although another thread aborts meanwhile.
    #[test]
    fn another_thread_that_aborts_waits() {
        if env::var_os(ENDS).is_some() {
            let _work = cleanup::register_cleanup(|| {
                thread::spawn(|| process::abort());
                thread::sleep(Duration::from_millis(300));
                eprintln!("a fault of the program");
            });
            end_process(CODE, say);
        }
        assert_eq!(run("another_thread_that_aborts_waits").code(), Some(i32::from(CODE)));
    }

    /// Unwinding out of the allocator would be undefined behaviour.
    #[test]
    fn a_panic_in_a_cleanup_does_not_unwind() {
        if std::env::var_os(ENDS).is_some() {
            let _work = cleanup::register_cleanup(|| panic!("a fault of the program"));
            let _: Result<(), _> = panic::catch_unwind(|| end_process(CODE, say));
            std::process::exit(1);
        }
        let status = run("a_panic_in_a_cleanup_does_not_unwind");
        assert_eq!(status.code(), Some(i32::from(CODE)), "{status}");
    }

    /// Rust aborts if a panic hook panics.
    #[test]
    fn a_panic_in_a_cleanup_in_a_hook_does_not_abort() {
        if std::env::var_os(ENDS).is_some() {
            let _work = cleanup::register_cleanup(|| panic!("a fault of the program"));
            panic::set_hook(Box::new(|_| end_process(CODE, say)));
            panic!("why the process ends");
        }
        let status = run("a_panic_in_a_cleanup_in_a_hook_does_not_abort");
        assert_eq!(status.code(), Some(i32::from(CODE)), "{status}");
    }
}
