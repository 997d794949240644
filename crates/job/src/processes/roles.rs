//! Roles of processes that were started together: either all of them run the job, or none does.
//!
//! MPI waits for all processes when it begins and when it ends. A process with bad options would
//! make the others wait for ever, so it also begins MPI and sends its refusal. Commands that do not
//! search do not begin MPI. A rank can begin MPI only once, and a script on ranks may run such
//! commands before the search.

use std::thread;

use fleetblast_mpi::{World, launched};
use serde::{Deserialize, Serialize};

use super::together::{OUTPUT_DELAY, mpi_failure};
use crate::error::{Error, exit};

/// Role that a process is about to take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// The process searches with the others. The number counts the I/O ranks, which are the last
    /// ranks and make the report.
    Search(u32),
    /// The process makes the report, as one of this number of I/O ranks.
    Report(u32),
    /// The process ends with this exit code. The first such process reports the reason.
    Refuse(u8),
}

/// Exchanges the roles of all processes, and succeeds if all of them run the job. `reason` is the
/// message of a process that refuses; `report` prints it.
///
/// # Errors
/// A silent error: one of the processes has reported the reason.
pub fn exchange_roles(
    world: &World,
    own: &Role,
    reason: &str,
    report: &dyn Fn(&str),
) -> Result<(), Error> {
    let own = postcard::to_allocvec(own).map_err(Error::engine)?;
    let all = world.comm().gather_all(&own).map_err(mpi_failure)?;
    let all: Result<Vec<Role>, _> = all.iter().map(|role| postcard::from_bytes(role)).collect();
    let all = all.map_err(|_| Error::engine("the ranks run different builds of FleetBLAST"))?;
    let wrong_site = find_wrong_site(&all);
    let Some((reporter, code)) = refusal(&all).or(wrong_site.map(|rank| (rank, exit::INPUT)))
    else {
        return Ok(());
    };
    if reporter == world.rank() {
        match wrong_site {
            Some(_) if reason.is_empty() => report(&format!(
                "Error: rank {reporter} was started with another -io_ranks than rank 0; it must be the same for all"
            )),
            _ => report(reason),
        }
    }
    // Launchers end all processes when one ends, so no process ends before the reason is reported.
    world.comm().barrier().map_err(mpi_failure)?;
    thread::sleep(OUTPUT_DELAY);
    Err(Error::silent(code))
}

/// Informs the processes that were started with this one that it refuses to run the job, and why.
/// Returns the reason, or a silent error if another process has reported a reason.
pub fn announce_refusal(reason: Error, report: &dyn Fn(&str)) -> Error {
    let alone = launched().is_none_or(|launch| launch.ranks < 2);
    // Where MPI cannot begin, no process waits for this one.
    let Some(world) = (!alone).then(World::init).and_then(Result::ok) else { return reason };
    let role = Role::Refuse(reason.exit_code);
    exchange_roles(&world, &role, &reason.message, report).err().unwrap_or(reason)
}

/// Returns the first process that refuses, and its exit code.
fn refusal(roles: &[Role]) -> Option<(usize, u8)> {
    roles.iter().enumerate().find_map(|(rank, role)| match role {
        Role::Refuse(code) => Some((rank, *code)),
        Role::Search(_) | Role::Report(_) => None,
    })
}

/// Returns the first rank whose role or number of I/O ranks contradicts the options of rank 0.
fn find_wrong_site(roles: &[Role]) -> Option<usize> {
    let first = match roles.first()? {
        Role::Search(reporting) | Role::Report(reporting) => *reporting,
        Role::Refuse(_) => return None,
    };
    let searching = roles.len().saturating_sub(first as usize);
    let is_wrong = |(rank, role): (usize, &Role)| match role {
        Role::Search(reporting) => *reporting != first || rank >= searching,
        Role::Report(reporting) => *reporting != first || rank < searching,
        Role::Refuse(_) => false,
    };
    roles.iter().enumerate().position(is_wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_refusal_is_found() {
        assert_eq!(refusal(&[Role::Search(0), Role::Search(0)]), None);
        let roles = [Role::Search(0), Role::Refuse(2), Role::Search(0), Role::Refuse(1)];
        assert_eq!(refusal(&roles), Some((1, 2)));
    }

    #[test]
    fn ranks_of_the_wrong_site_are_found() {
        let [search, report] = [Role::Search, Role::Report];
        assert_eq!(find_wrong_site(&[search(0), search(0)]), None);
        assert_eq!(find_wrong_site(&[search(1), search(1), report(1)]), None);
        assert_eq!(find_wrong_site(&[search(1), search(1), report(2)]), Some(2));
        assert_eq!(find_wrong_site(&[search(2), search(1), report(1)]), Some(1));
        assert_eq!(find_wrong_site(&[search(1), search(1), search(1)]), Some(2));
    }
}
