//! Ends all processes of a job after an error.

use fleetblast_mpi::World;

use crate::audience::Audience;
use crate::cleanup;
use crate::error::Error;

/// Removes the unfinished files of this process, and ends all processes of the job. Waits for no
/// other thread of this process, because a thread may be busy for ever. A silent error is not
/// printed: it was reported elsewhere.
pub fn end_job(world: &World, audience: &dyn Audience, error: &Error) -> ! {
    audience.abort();
    if !error.is_silent() {
        audience.print_message(&error.message);
    }
    cleanup::run_all();
    world.abort(i32::from(error.exit_code))
}
