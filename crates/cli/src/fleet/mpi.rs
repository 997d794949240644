//! Ranks as processes, connected by MPI.

use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use fleetblast_fleet::ids::Rank;
use fleetblast_mpi::{Launch, Mailbox, MpiError, World};

use super::driver::{Envelope, Happening, Transport};
use super::{Common, Ends, verdict};
use crate::error::{CliError, exit};
use crate::plan::Plan;
use crate::run::subjects::Target;

/// Longest nap between two looks at messages and works.
const NAP: Duration = Duration::from_millis(1);
/// Shortest.
const SHORTEST_NAP: Duration = Duration::from_micros(20);
/// How long to wait at the end for messages to leave.
const FAREWELL: Duration = Duration::from_secs(10);

/// Runs a search on the ranks that were started together.
///
/// # Errors
/// Whatever ends the job before it has begun. Afterwards a failure ends all processes.
pub fn on_processes(plan: &Plan, _: Launch) -> Result<(), CliError> {
    let world = World::init().map_err(failure)?;
    let target = together(&world, Target::open(plan))?;
    let is_first = world.rank() == 0;
    let ends = if is_first { Ends::open(plan, &target) } else { Ok(None) };
    let ends = together(&world, ends)?;
    let path = tell_all(&world, ends.as_ref().map(|ends| ends.output.path().to_owned()))?;
    // Nothing to do.
    let Some(path) = path else { return Ok(()) };
    let common = together(&world, Common::new(plan, &target, world.size() as u32, path))?;
    let mut mailbox = Mpi { mailbox: Mailbox::new(world.comm()).map_err(failure)? };
    let works = ends.map(|ends| ends.works(&common.job));
    let end = common.run(Rank(world.rank() as u32), works, &mut mailbox, &Mutex::new(None));
    match end.and_then(verdict) {
        Ok(()) => {
            mailbox.mailbox.flush(FAREWELL).map_err(failure)?;
            Ok(())
        }
        Err(error) => {
            crate::program::complain(&error.message);
            world.abort(i32::from(error.exit_code))
        }
    }
}

/// Goes on only if all ranks can. Only the first that cannot tells why, before any of them ends: launchers end the others
/// when one does.
fn together<T>(world: &World, own: Result<T, CliError>) -> Result<T, CliError> {
    let mark = match &own {
        Ok(_) => Vec::new(),
        Err(error) => vec![error.exit_code],
    };
    let marks = world.comm().gather_all(&mark).map_err(failure)?;
    let first = marks.iter().position(|mark| !mark.is_empty());
    match (own, first) {
        (own, None) => own,
        (own, Some(first)) => {
            if let (Err(error), true) = (&own, first == world.rank()) {
                crate::program::complain(&error.message);
            }
            world.comm().barrier().map_err(failure)?;
            let code = marks[first].first().copied().unwrap_or(exit::UNKNOWN);
            Err(CliError::new(code, ""))
        }
    }
}

/// What the first rank knows.
fn tell_all(world: &World, path: Option<PathBuf>) -> Result<Option<PathBuf>, CliError> {
    let mut bytes = path.map_or_else(Vec::new, |path| path.as_os_str().as_bytes().to_vec());
    let mut length = (bytes.len() as u64).to_ne_bytes();
    world.comm().broadcast(0, &mut length).map_err(failure)?;
    bytes.resize(u64::from_ne_bytes(length) as usize, 0);
    world.comm().broadcast(0, &mut bytes).map_err(failure)?;
    let path = PathBuf::from(std::ffi::OsString::from_vec(bytes));
    Ok(Some(path).filter(|path| !path.as_os_str().is_empty()))
}

#[expect(clippy::needless_pass_by_value, reason = "a function for map_err")]
fn failure(error: MpiError) -> CliError {
    CliError::new(exit::UNKNOWN, error.to_string())
}

/// The messages of this process.
struct Mpi {
    mailbox: Mailbox,
}

impl Transport for Mpi {
    fn send(&mut self, to: Rank, envelope: Envelope) -> Result<(), CliError> {
        let bytes = postcard::to_allocvec(&envelope).map_err(CliError::engine)?;
        self.mailbox.send(to.index(), 0, bytes).map_err(failure)
    }

    fn next(
        &mut self,
        works: &Receiver<Happening>,
        timeout: Duration,
    ) -> Result<Option<Happening>, CliError> {
        let start = Instant::now();
        let mut nap = SHORTEST_NAP;
        loop {
            if let Ok(happening) = works.try_recv() {
                return Ok(Some(happening));
            }
            if let Some(message) = self.mailbox.poll().map_err(failure)? {
                let envelope = postcard::from_bytes(&message.bytes).map_err(CliError::engine)?;
                return Ok(Some(Happening::Message(envelope)));
            }
            let rest = timeout.saturating_sub(start.elapsed());
            if rest.is_zero() {
                return Ok(None);
            }
            thread::sleep(nap.min(rest));
            nap = (2 * nap).min(NAP);
        }
    }
}
