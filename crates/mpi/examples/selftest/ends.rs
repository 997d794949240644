//! Jobs with a rank that cannot continue. They must end, and report a failure.

use std::process::ExitCode;
use std::sync::mpsc::{Sender, channel};

use fleetblast_mpi::World;

/// Starts a thread that waits until the returned sender is dropped.
pub fn idle_thread() -> Sender<()> {
    let (sender, receiver) = channel::<()>();
    std::thread::spawn(move || receiver.recv());
    sender
}

fn is_last(world: &World) -> bool {
    world.rank() + 1 == world.size()
}

/// Aborts the job on the last rank, while the others wait in a barrier.
pub fn abort(world: &World, status: i32) {
    if is_last(world) {
        world.abort(status);
    }
    world.comm().barrier().expect("never ends");
}

/// Panics on the last rank, while the others wait in a barrier.
pub fn panic(world: &World) {
    assert!(!is_last(world), "on purpose");
    world.comm().barrier().expect("never ends");
}

/// Leaves MPI on every rank without finalizing it, and returns `status` as the exit code.
pub fn leave(world: World, status: u8) -> ExitCode {
    world.leave();
    ExitCode::from(status)
}
