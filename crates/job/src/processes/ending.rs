//! The end of all processes of a job by an error.

use fleetblast_mpi::World;

use crate::audience::Audience;
use crate::error::Error;
use crate::last_works;

/// Ends all processes of the job, whatever other threads of this one are doing: they may be busy
/// for ever, so nobody waits for them. Their unfinished files are removed. An error without a
/// message was reported elsewhere.
pub fn end_job(world: &World, audience: &dyn Audience, error: &Error) -> ! {
    audience.leave();
    if !error.is_silent() {
        audience.complain(&error.message);
    }
    last_works::do_all();
    world.abort(i32::from(error.exit_code))
}
