//! The end of a job.

use fleetblast_fleet::end::{Exit, Failure};
use fleetblast_fleet::ids::Rank;
use fleetblast_spool::Checkpoint;

use super::checkpoint::CheckpointState;
use super::driver::RankEnd;
use crate::audience::Audience;
use crate::error::{Error, exit};

/// Ends the checkpoint of a job whose report is complete: removes it, or with `keep`, if it is the
/// report itself, only closes it.
pub fn finish_checkpoint(checkpoint: Option<Checkpoint>, keep: bool, audience: &dyn Audience) {
    let end = if keep { Checkpoint::leave } else { Checkpoint::remove };
    if let Some(Err(error)) = checkpoint.map(end) {
        audience
            .warn(&format!("the report is complete, but its checkpoint is not removed: {error}"));
    }
}

/// Converts the end of a rank into the result of its process. `place` names a rank, if there are
/// several.
///
/// # Errors
/// Returns any error of the rank, and the end of a job that did not complete.
pub fn rank_result(
    end: Result<RankEnd, Error>,
    checkpoint_state: Option<&CheckpointState>,
    place: &dyn Fn(Rank) -> Option<String>,
) -> Result<(), Error> {
    match end? {
        RankEnd::Exited(Exit::Completed) => Ok(()),
        // The user was informed at once: a long search could delay this.
        RankEnd::Exited(Exit::Drained) => Err(Error::silent(exit::DRAINED)),
        RankEnd::Failed(Failure { rank, code, cause }) => {
            // Errors of queries and options do not depend on the rank. They are printed in BLAST+'s
            // words.
            let mut error = Error::received(code, cause);
            if ![exit::INPUT, exit::ENGINE].contains(&code) && !error.is_silent() {
                if let Some(place) = place(rank) {
                    error = error.with_place(&place);
                }
                if let Some(CheckpointState { run, durable: true, .. }) = checkpoint_state {
                    let directory = run.root.display();
                    error.message += &format!(
                        "; what is finished is kept in {directory}: run it again with -resume"
                    );
                }
            }
            Err(error)
        }
    }
}
