//! Jobs of another program on ranks that are processes.

use std::sync::Arc;

use fleetblast_mpi::{World, name_rank};
use xxhash_rust::xxh3::xxh3_64;

use super::{BlockCut, WrappedJob, preload, run_on_ranks};
use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::interrupt::DrainSignals;
use crate::plan::WrappedJobPlan;
use crate::processes::{Collective, JobProcesses, Role, exchange_roles, gather_hosts, mpi_failure};
use crate::ranks::running::RankProcesses;

/// Runs the program on the processes that were started together.
///
/// # Errors
/// An error before the job begins, or at the end an error if blocks are missing in the output. An
/// error in between ends all processes.
pub fn run(
    plan: WrappedJobPlan,
    drain: Option<DrainSignals>,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    let world = World::init().map_err(mpi_failure)?;
    exchange_roles(&world, &Role::Search(0), "", &|text| audience.print_message(text))?;
    let processes = &JobProcesses { world, audience: Arc::clone(audience) };
    let world = &processes.world;
    let hosts = &gather_hosts(world)?;
    processes.require_all(check_same_command(processes, &plan, hosts))?;
    let is_first_on_host = world.comm().split_by_host().map_err(mpi_failure)?.rank() == 0;
    let loaded = match is_first_on_host {
        true => preload::preload(&plan.files, &**audience),
        false => Ok(()),
    };
    // No program starts before all hosts have read the database.
    processes.require_all(loaded)?;
    let rank_count = processes.count() as u32;
    let cut = processes.require_all(BlockCut::new(&plan, rank_count))?;
    let ranks = RankProcesses { processes, hosts, writes_by_mpi: false, site_connection: None };
    run_on_ranks(WrappedJob::new(plan, audience), cut, rank_count, ranks, drain)
}

/// Checks that all ranks have the same command and options as the first rank.
fn check_same_command(
    processes: &JobProcesses,
    plan: &WrappedJobPlan,
    hosts: &[String],
) -> Result<(), Error> {
    // Hosts may have the database at different paths, so the paths of files are not compared.
    let described = format!("{:?}", WrappedJobPlan { files: Vec::new(), ranks: 1, ..plan.clone() });
    let all = processes.gather(&xxh3_64(described.as_bytes()))?;
    match all.iter().position(|other| *other != all[0]) {
        None => Ok(()),
        Some(rank) => Err(Error::new(
            exit::INPUT,
            format!(
                "{} was given another command or other options than rank 0",
                name_rank(rank, Some(&hosts[rank]))
            ),
        )),
    }
}
