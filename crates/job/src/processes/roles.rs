//! What processes that were started together are about to do: either all search or none does.
//!
//! MPI waits for all processes when it begins and when it ends. One whose options are refused would be waited for without end; so
//! it, too, begins MPI and tells the others. Commands that do not search leave MPI alone: it begins once in a rank, and scripts that ranks
//! run may have such commands before the search.

use std::thread;

use fleetblast_mpi::{World, launched};
use serde::{Deserialize, Serialize};

use super::together::{LAST_WORDS, failure};
use crate::error::{Error, exit};

/// What a process is about to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// To search with the others. So many of the last ranks make the report.
    Search(u32),
    /// To make the report, as one of so many.
    Report(u32),
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
    let odd = odd_site(&all);
    let Some((speaker, code)) = refusal(&all).or(odd.map(|rank| (rank, exit::INPUT))) else {
        return Ok(());
    };
    if speaker == world.rank() {
        match odd {
            Some(_) if told.is_empty() => tell(&format!(
                "Error: rank {speaker} was started with another -io_ranks than rank 0; it must be the same for all"
            )),
            _ => tell(told),
        }
    }
    // Launchers end all when one ends.
    world.comm().barrier().map_err(failure)?;
    thread::sleep(LAST_WORDS);
    Err(Error::silent(code))
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
        Role::Search(_) | Role::Report(_) => None,
    })
}

/// The first that takes itself for one of another site than the first rank does.
fn odd_site(roles: &[Role]) -> Option<usize> {
    let first = match roles.first()? {
        Role::Search(reporting) | Role::Report(reporting) => *reporting,
        Role::Refuse(_) => return None,
    };
    let searching = roles.len().saturating_sub(first as usize);
    let is_odd = |(rank, role): (usize, &Role)| match role {
        Role::Search(reporting) => *reporting != first || rank >= searching,
        Role::Report(reporting) => *reporting != first || rank < searching,
        Role::Refuse(_) => false,
    };
    roles.iter().enumerate().position(is_odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_refuses_tells_why() {
        assert_eq!(refusal(&[Role::Search(0), Role::Search(0)]), None);
        let roles = [Role::Search(0), Role::Refuse(2), Role::Search(0), Role::Refuse(1)];
        assert_eq!(refusal(&roles), Some((1, 2)));
    }

    #[test]
    fn all_ranks_are_of_one_mind_about_the_sites() {
        let [search, report] = [Role::Search, Role::Report];
        assert_eq!(odd_site(&[search(0), search(0)]), None);
        assert_eq!(odd_site(&[search(1), search(1), report(1)]), None);
        assert_eq!(odd_site(&[search(1), search(1), report(2)]), Some(2));
        assert_eq!(odd_site(&[search(2), search(1), report(1)]), Some(1));
        assert_eq!(odd_site(&[search(1), search(1), search(1)]), Some(2));
    }
}
