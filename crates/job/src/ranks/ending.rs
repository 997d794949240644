//! Ends a job: closes its checkpoint, and converts the ends of its ranks into results.

use fleetblast_fleet::end::{Failure, JobEnd};
use fleetblast_fleet::ids::Rank;
use fleetblast_spool::Checkpoint;

use super::checkpoint::CheckpointState;
use super::driver::RankEnd;
use crate::audience::Audience;
use crate::error::{Error, exit};

/// Removes the checkpoint of a job whose report is complete. If the checkpoint is the report itself
/// (`keep`), only closes it.
pub fn finish_checkpoint(checkpoint: Option<Checkpoint>, keep: bool, audience: &dyn Audience) {
    let end = if keep { Checkpoint::close } else { Checkpoint::remove };
    if let Some(Err(error)) = checkpoint.map(end) {
        audience
            .warn(&format!("the report is complete, but its checkpoint is not removed: {error}"));
    }
}

/// Converts the end of a rank into the result of its process. `place` names a rank for messages;
/// `None` if the job has only one rank.
///
/// # Errors
/// The error of the rank, or the failure or drain of the job.
pub fn rank_result(
    end: Result<RankEnd, Error>,
    checkpoint_state: Option<&CheckpointState>,
    place: &dyn Fn(Rank) -> Option<String>,
) -> Result<(), Error> {
    match end? {
        RankEnd::Exited(JobEnd::Completed) => Ok(()),
        // The user was informed when the drain ended: a long search could delay a message from
        // here.
        RankEnd::Exited(JobEnd::Drained) => Err(Error::silent(exit::DRAINED)),
        RankEnd::Failed(Failure { rank, code, cause }) => {
            // Errors of queries and options do not depend on the rank. They are printed in BLAST+'s
            // words.
            let mut error = Error::from_remote(code, cause);
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
