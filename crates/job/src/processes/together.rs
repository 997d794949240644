//! Collective steps of all processes of a job.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use fleetblast_db::check_mapped_files;
use fleetblast_mpi::{MpiError, World, name_rank};

use super::collective::Collective;
use super::ending::end_job;
use crate::audience::Audience;
use crate::error::{Error, exit};

/// Broadcast length that stands for no data at all.
const NO_DATA: u64 = u64::MAX;
/// Time for a launcher to read the output of a rank; some launchers drop it when a rank fails.
pub const OUTPUT_DELAY: Duration = Duration::from_millis(100);

/// All processes of the job, and the audience of this one.
pub struct JobProcesses {
    /// The MPI world of all ranks.
    pub world: World,
    /// Receiver of the messages of this process.
    pub audience: Arc<dyn Audience>,
}

impl JobProcesses {
    /// Ends the job on all ranks with an error.
    pub fn abort(&self, error: &Error) -> ! {
        end_job(&self.world, &*self.audience, error)
    }

    /// Returns a copy of an error of this rank. If a mapped file has changed, the message also
    /// names rank and host, because the same path may be another file on another host.
    fn with_place(&self, error: &Error) -> Error {
        let error = error.clone();
        match check_mapped_files() {
            Err(_) if self.world.size() > 1 => {
                error.with_place(&name_rank(self.world.rank(), Some(self.world.host())))
            }
            _ => error,
        }
    }

    /// Broadcasts the data of rank `from` and returns them. `known` is ignored on other ranks.
    ///
    /// # Errors
    /// A connection that is lost.
    pub fn broadcast_from(
        &self,
        from: usize,
        known: Option<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>, Error> {
        // `None` differs from empty data.
        let length = known.as_ref().map_or(NO_DATA, |bytes| bytes.len() as u64);
        let (mut length, mut bytes) = (length.to_ne_bytes(), known.unwrap_or_default());
        self.world.comm().broadcast(from, &mut length).map_err(mpi_failure)?;
        let length = u64::from_ne_bytes(length);
        if length == NO_DATA {
            return Ok(None);
        }
        bytes.resize(length as usize, 0);
        self.world.comm().broadcast(from, &mut bytes).map_err(mpi_failure)?;
        Ok(Some(bytes))
    }
}

impl Collective for JobProcesses {
    fn number(&self) -> usize {
        self.world.rank()
    }

    fn count(&self) -> usize {
        self.world.size()
    }

    // The first failed rank reports its error before any rank ends, because a launcher ends all
    // ranks when one ends.
    fn require_all<T>(&self, own: Result<T, Error>) -> Result<T, Error> {
        let exit_code = match &own {
            Ok(_) => Vec::new(),
            Err(error) => vec![error.exit_code],
        };
        let exit_codes = self.world.comm().gather_all(&exit_code).map_err(mpi_failure)?;
        let first = exit_codes.iter().position(|exit_code| !exit_code.is_empty());
        match (own, first) {
            (own, None) => own,
            (own, Some(first)) => {
                if let (Err(error), true) = (&own, first == self.world.rank()) {
                    self.audience.print_message(&self.with_place(error).message);
                }
                self.world.comm().barrier().map_err(mpi_failure)?;
                thread::sleep(OUTPUT_DELAY);
                let code = exit_codes[first].first().copied().unwrap_or(exit::UNKNOWN);
                Err(Error::silent(code))
            }
        }
    }

    fn broadcast_bytes(&self, own: Option<Vec<u8>>) -> Result<Option<Vec<u8>>, Error> {
        self.broadcast_from(0, own)
    }

    fn gather_bytes(&self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, Error> {
        self.world.comm().gather_all(&own).map_err(mpi_failure)
    }
}

/// Returns the data of a broadcast in which the first rank always has data.
///
/// # Errors
/// No data: a fault of the program.
pub fn require_broadcast<T>(known: Option<T>) -> Result<T, Error> {
    known.ok_or_else(|| {
        Error::engine("rank 0 sent no data; all ranks must run the same build of the program")
    })
}

/// Returns the host name of each rank, in rank order.
///
/// # Errors
/// A connection that is lost.
pub fn gather_hosts(world: &World) -> Result<Vec<String>, Error> {
    let names = world.comm().gather_all(world.host().as_bytes()).map_err(mpi_failure)?;
    Ok(names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

#[expect(clippy::needless_pass_by_value, reason = "a function for map_err")]
pub fn mpi_failure(error: MpiError) -> Error {
    Error::new(exit::UNKNOWN, error.to_string())
}
