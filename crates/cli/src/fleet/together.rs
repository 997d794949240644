//! What processes do in step.

use std::thread;
use std::time::Duration;

use fleetblast_mpi::{MpiError, World};

use crate::error::{CliError, exit};
use crate::messages::complain;

/// Stands for the length of nothing at all.
const NOTHING: u64 = u64::MAX;
/// Time for a launcher to read what a rank has said; some drop it when a rank ends with an error.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// Goes on only if all ranks can. Only the first that cannot tells why, before any of them ends: launchers end the others
/// when one does.
pub fn together<T>(world: &World, own: Result<T, CliError>) -> Result<T, CliError> {
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
                complain(&error.message);
            }
            world.comm().barrier().map_err(failure)?;
            thread::sleep(LAST_WORDS);
            let code = marks[first].first().copied().unwrap_or(exit::UNKNOWN);
            Err(CliError::new(code, ""))
        }
    }
}

/// What the first rank knows; what others give is not looked at.
pub fn tell_all(world: &World, known: Option<Vec<u8>>) -> Result<Option<Vec<u8>>, CliError> {
    tell(world, 0, known)
}

/// What a rank knows; what others give is not looked at.
pub fn tell(
    world: &World,
    from: usize,
    known: Option<Vec<u8>>,
) -> Result<Option<Vec<u8>>, CliError> {
    // Nothing at all is not the same as no bytes.
    let length = known.as_ref().map_or(NOTHING, |bytes| bytes.len() as u64);
    let (mut length, mut bytes) = (length.to_ne_bytes(), known.unwrap_or_default());
    world.comm().broadcast(from, &mut length).map_err(failure)?;
    let length = u64::from_ne_bytes(length);
    if length == NOTHING {
        return Ok(None);
    }
    bytes.resize(length as usize, 0);
    world.comm().broadcast(from, &mut bytes).map_err(failure)?;
    Ok(Some(bytes))
}

/// What the first rank has told. It always tells something here.
///
/// # Errors
/// It has told nothing: a fault of the program.
pub fn told(known: Option<Vec<u8>>) -> Result<Vec<u8>, CliError> {
    known.ok_or_else(|| {
        CliError::engine(
            "rank 0 told the others nothing; all ranks must run the same build of the program",
        )
    })
}

#[expect(clippy::needless_pass_by_value, reason = "a function for map_err")]
pub fn failure(error: MpiError) -> CliError {
    CliError::new(exit::UNKNOWN, error.to_string())
}
