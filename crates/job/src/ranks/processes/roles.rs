//! What processes that were started together are about to do: either all search or none does.
//!
//! MPI waits for all processes when it begins and when it ends. One whose options are refused would be waited for without end; so
//! it, too, begins MPI and tells the others. Commands that do not search leave MPI alone: it begins once in a rank, and scripts that ranks
//! run may have such commands before the search.

use std::thread;

use fleetblast_mpi::{World, launched};
use serde::{Deserialize, Serialize};

use super::together::{LAST_WORDS, failure};
use crate::error::Error;

/// What a process is about to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// To search with the others.
    Search,
    /// To end with this exit code, and to tell why.
    Refuse(u8),
}

/// Goes on if all processes search; `told` is why this one does not go on, if it does not.
///
/// # Errors
/// Silent: why has been told by one of them.
pub fn agree(world: &World, own: &Role, told: &str, tell: &dyn Fn(&str)) -> Result<(), Error> {
    let own = postcard::to_allocvec(own).map_err(Error::engine)?;
    let all = world.comm().gather_all(&own).map_err(failure)?;
    let all: Result<Vec<Role>, _> = all.iter().map(|role| postcard::from_bytes(role)).collect();
    let all = all.map_err(|_| Error::engine("the ranks run different builds of FleetBLAST"))?;
    let Some((speaker, code)) = refusal(&all) else { return Ok(()) };
    if speaker == world.rank() {
        tell(told);
    }
    // Launchers end all when one ends.
    world.comm().barrier().map_err(failure)?;
    thread::sleep(LAST_WORDS);
    Err(Error::new(code, ""))
}

/// Lets processes that were started with this one know that it does not search, for this reason. Returns the reason, without its message
/// where that has been told.
pub fn stand_aside(reason: Error, tell: &dyn Fn(&str)) -> Error {
    let alone = launched().is_none_or(|launch| launch.ranks < 2);
    // Where MPI cannot begin nobody waits for this process.
    let Some(world) = (!alone).then(World::init).and_then(Result::ok) else { return reason };
    let role = Role::Refuse(reason.exit_code);
    agree(&world, &role, &reason.message, tell).err().unwrap_or(reason)
}

/// The first process that does not search, and its exit code.
fn refusal(roles: &[Role]) -> Option<(usize, u8)> {
    roles.iter().enumerate().find_map(|(rank, role)| match role {
        Role::Refuse(code) => Some((rank, *code)),
        Role::Search => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_refuses_tells_why() {
        assert_eq!(refusal(&[Role::Search, Role::Search]), None);
        let roles = [Role::Search, Role::Refuse(2), Role::Search, Role::Refuse(1)];
        assert_eq!(refusal(&roles), Some((1, 2)));
    }
}
