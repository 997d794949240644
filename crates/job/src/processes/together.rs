//! What processes do in step.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use fleetblast_db::check_mapped_files;
use fleetblast_mpi::{MpiError, World, name_rank};

use super::ending::end_job;
use crate::audience::Audience;
use crate::error::{Error, exit};

/// Stands for the length of nothing at all.
const NOTHING: u64 = u64::MAX;
/// Time for a launcher to read what a rank has said; some drop it when a rank ends with an error.
pub const LAST_WORDS: Duration = Duration::from_millis(100);

/// All processes of the job, and who hears of what keeps them from going on.
pub struct Processes {
    /// All ranks.
    pub world: World,
    /// Who hears of this one.
    pub audience: Arc<dyn Audience>,
}

impl Processes {
    /// Ends the job on all ranks by an error.
    pub fn abort(&self, error: &Error) -> ! {
        end_job(&self.world, &*self.audience, error)
    }

    /// Goes on only if all ranks can. Only the first that cannot tells why, before any of them ends: launchers end the others
    /// when one does.
    ///
    /// # Errors
    /// Silent: why has been told.
    pub fn together<T>(&self, own: Result<T, Error>) -> Result<T, Error> {
        let mark = match &own {
            Ok(_) => Vec::new(),
            Err(error) => vec![error.exit_code],
        };
        let marks = self.world.comm().gather_all(&mark).map_err(failure)?;
        let first = marks.iter().position(|mark| !mark.is_empty());
        match (own, first) {
            (own, None) => own,
            (own, Some(first)) => {
                if let (Err(error), true) = (&own, first == self.world.rank()) {
                    self.audience.complain(&self.placed(error).message);
                }
                self.world.comm().barrier().map_err(failure)?;
                thread::sleep(LAST_WORDS);
                let code = marks[first].first().copied().unwrap_or(exit::UNKNOWN);
                Err(Error::silent(code))
            }
        }
    }

    /// Returns an error of this rank. If a mapped file has changed, its message names rank and
    /// host: on another host the same path may be another file.
    fn placed(&self, error: &Error) -> Error {
        let error = error.clone();
        match check_mapped_files() {
            Err(_) if self.world.size() > 1 => {
                error.with_place(&name_rank(self.world.rank(), Some(self.world.host())))
            }
            _ => error,
        }
    }

    /// What the first rank knows; what others give is not looked at.
    ///
    /// # Errors
    /// A connection that is lost.
    pub fn tell_all(&self, known: Option<Vec<u8>>) -> Result<Option<Vec<u8>>, Error> {
        self.tell(0, known)
    }

    /// What a rank knows; what others give is not looked at.
    ///
    /// # Errors
    /// A connection that is lost.
    pub fn tell(&self, from: usize, known: Option<Vec<u8>>) -> Result<Option<Vec<u8>>, Error> {
        // Nothing at all is not the same as no bytes.
        let length = known.as_ref().map_or(NOTHING, |bytes| bytes.len() as u64);
        let (mut length, mut bytes) = (length.to_ne_bytes(), known.unwrap_or_default());
        self.world.comm().broadcast(from, &mut length).map_err(failure)?;
        let length = u64::from_ne_bytes(length);
        if length == NOTHING {
            return Ok(None);
        }
        bytes.resize(length as usize, 0);
        self.world.comm().broadcast(from, &mut bytes).map_err(failure)?;
        Ok(Some(bytes))
    }
}

/// What the first rank has told. It always tells something here.
///
/// # Errors
/// It has told nothing: a fault of the program.
pub fn told(known: Option<Vec<u8>>) -> Result<Vec<u8>, Error> {
    known.ok_or_else(|| {
        Error::engine(
            "rank 0 told the others nothing; all ranks must run the same build of the program",
        )
    })
}

/// The host of each rank.
///
/// # Errors
/// A connection that is lost.
pub fn hosts(world: &World) -> Result<Vec<String>, Error> {
    let names = world.comm().gather_all(world.host().as_bytes()).map_err(failure)?;
    Ok(names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

#[expect(clippy::needless_pass_by_value, reason = "a function for map_err")]
pub fn failure(error: MpiError) -> Error {
    Error::new(exit::UNKNOWN, error.to_string())
}
