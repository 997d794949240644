//! Ends all processes of a job after an error.

use fleetblast_mpi::World;

use crate::audience::Audience;
use crate::cleanup;
use crate::error::Error;

/// Ends all processes of the job and removes their unfinished files. It waits for no other thread
/// of this process, which may be busy for ever. An error without a message was reported elsewhere.
pub fn end_job(world: &World, audience: &dyn Audience, error: &Error) -> ! {
    audience.abort();
    if !error.is_silent() {
        audience.print_message(&error.message);
    }
    cleanup::run_all();
    world.abort(i32::from(error.exit_code))
}
