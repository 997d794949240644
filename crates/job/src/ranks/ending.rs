//! The end of a job.

use fleetblast_fleet::end::{Exit, Failure};
use fleetblast_fleet::ids::Rank;
use fleetblast_spool::Checkpoint;

use super::checkpoint::Kept;
use super::driver::End;
use crate::audience::Audience;
use crate::error::{Error, exit};

/// Removes the checkpoint of a job whose report is complete, unless it is the report.
pub fn remove(checkpoint: Option<Checkpoint>, stays: bool, audience: &dyn Audience) {
    let end = if stays { Checkpoint::leave } else { Checkpoint::remove };
    if let Some(Err(error)) = checkpoint.map(end) {
        audience.warn(&format!(
            "the report is complete, but what was kept of it is not removed: {error}"
        ));
    }
}

/// What a rank's end means for its process; `place` tells where a rank is, if there are several.
///
/// # Errors
/// Whatever ended it but the end of the job.
pub fn verdict(
    end: Result<End, Error>,
    kept: Option<&Kept>,
    place: &dyn Fn(Rank) -> Option<String>,
) -> Result<(), Error> {
    match end? {
        End::Exited(Exit::Completed) => Ok(()),
        // Told already, lest a long search delay it.
        End::Exited(Exit::Drained) => Err(Error::silent(exit::DRAINED)),
        End::Failed(Failure { rank, code, cause }) => {
            // What is wrong with queries and options has nothing to do with ranks, and is told in BLAST+'s words.
            let anywhere = [exit::INPUT, exit::ENGINE].contains(&code) || cause.is_empty();
            let mut message = cause;
            if !anywhere {
                if let Some(place) = place(rank) {
                    message += &format!(" ({place})");
                }
                if let Some(Kept { run, durable: true, .. }) = kept {
                    let kept = run.root.display();
                    message +=
                        &format!("; what is finished is kept in {kept}: run it again with -resume");
                }
            }
            Err(Error::new(code, message))
        }
    }
}
