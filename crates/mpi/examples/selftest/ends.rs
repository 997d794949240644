//! Jobs with a rank that cannot continue: they must end, with a failure.

use std::process::ExitCode;
use std::sync::mpsc::{Sender, channel};

use fleetblast_mpi::World;

/// A thread that waits until the sender is dropped.
pub fn idle_thread() -> Sender<()> {
    let (sender, receiver) = channel::<()>();
    std::thread::spawn(move || receiver.recv());
    sender
}

fn is_last(world: &World) -> bool {
    world.rank() + 1 == world.size()
}

/// The last rank aborts while the others wait for it.
pub fn abort(world: &World, status: i32) {
    if is_last(world) {
        world.abort(status);
    }
    world.comm().barrier().expect("never ends");
}

/// The last rank panics while the others wait for it.
pub fn panic(world: &World) {
    assert!(!is_last(world), "on purpose");
    world.comm().barrier().expect("never ends");
}

/// The last rank leaves, and the others know it.
pub fn leave(world: World, status: u8) -> ExitCode {
    world.leave();
    ExitCode::from(status)
}
