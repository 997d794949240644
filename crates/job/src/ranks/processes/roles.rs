//! What processes that were started together are about to do: either all search or none does.
//!
//! MPI waits for all processes when it begins and when it ends. One that went another way, as to print its version, would be waited
//! for without end; so it, too, begins MPI and tells the others.

use std::thread;

use fleetblast_mpi::{World, launched};
use serde::{Deserialize, Serialize};

use super::together::{LAST_WORDS, failure};
use crate::error::{Error, exit};

/// What a process is about to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// To search with the others.
    Search,
    /// Something else, as it was typed.
    Other(String),
    /// To end with this exit code, and to tell why.
    Refuse(u8),
}

/// Why the processes do not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Verdict {
    /// Who tells.
    speaker: usize,
    code: u8,
    /// What it tells; its own message if there is none.
    text: Option<String>,
}

/// Goes on if all processes search or none does; `told` is why this one does not go on, if it does not.
///
/// # Errors
/// Silent: why has been told by one of them.
pub fn agree(world: &World, own: &Role, told: &str, tell: &dyn Fn(&str)) -> Result<(), Error> {
    let own = postcard::to_allocvec(own).map_err(Error::engine)?;
    let all = world.comm().gather_all(&own).map_err(failure)?;
    let all: Result<Vec<Role>, _> = all.iter().map(|role| postcard::from_bytes(role)).collect();
    let all = all.map_err(|_| Error::engine("the ranks run different builds of FleetBLAST"))?;
    let Some(verdict) = verdict(&all) else { return Ok(()) };
    if verdict.speaker == world.rank() {
        tell(verdict.text.as_deref().unwrap_or(told));
    }
    // Launchers end all when one ends.
    world.comm().barrier().map_err(failure)?;
    thread::sleep(LAST_WORDS);
    Err(Error::new(verdict.code, ""))
}

/// Lets processes that were started with this one know that it does not search, but does `what`, or ends with `refusal`.
///
/// # Errors
/// The refusal, without its message where that has been told; and if others are to search.
pub fn stand_aside(what: &str, refusal: Option<Error>, tell: &dyn Fn(&str)) -> Result<(), Error> {
    let alone = launched().is_none_or(|launch| launch.ranks < 2);
    // Where MPI cannot begin nobody waits for this process.
    let Some(world) = (!alone).then(World::init).and_then(Result::ok) else {
        return refusal.map_or(Ok(()), Err);
    };
    let (role, told) = match refusal {
        Some(error) => (Role::Refuse(error.exit_code), error.message),
        None => (Role::Other(what.to_owned()), String::new()),
    };
    agree(&world, &role, &told, tell)
}

/// Whether the processes end, and who tells why.
fn verdict(roles: &[Role]) -> Option<Verdict> {
    let refused = roles.iter().enumerate().find_map(|(rank, role)| match role {
        Role::Refuse(code) => Some(Verdict { speaker: rank, code: *code, text: None }),
        _ => None,
    });
    if refused.is_some() {
        return refused;
    }
    let search = roles.iter().position(|role| *role == Role::Search)?;
    let (speaker, what) = roles.iter().enumerate().find_map(|(rank, role)| match role {
        Role::Other(what) => Some((rank, what)),
        _ => None,
    })?;
    let text = format!(
        "Error: rank {speaker} runs '{what}' while rank {search} searches; give all ranks the same command"
    );
    Some(Verdict { speaker, code: exit::INPUT, text: Some(text) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_search_or_none_does() {
        let other = || Role::Other("blastp -version".to_owned());
        for sound in [vec![Role::Search, Role::Search], vec![other(), other()], vec![other()]] {
            assert_eq!(verdict(&sound), None, "{sound:?}");
        }
        let mixed = verdict(&[Role::Search, other(), Role::Search]).expect("a verdict");
        assert_eq!((mixed.speaker, mixed.code), (1, exit::INPUT));
        let text = mixed.text.expect("a text");
        assert!(text.contains("rank 1 runs 'blastp -version' while rank 0 searches"), "{text}");
    }

    #[test]
    fn the_first_that_refuses_tells_why() {
        let roles = [Role::Search, Role::Refuse(2), Role::Other(String::new()), Role::Refuse(1)];
        assert_eq!(verdict(&roles), Some(Verdict { speaker: 1, code: 2, text: None }));
    }
}
