//! Jobs of another program on ranks that are processes.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use fleetblast_fleet::ids::Rank;
use fleetblast_mpi::{Messenger, World, name_rank};
use xxhash_rust::xxh3::xxh3_64;

use super::{BlockCut, WrappedContext, WrappedIo, WrappedJob, check_failed_blocks, preload};
use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::interrupt::DrainSignals;
use crate::plan::WrappedJobPlan;
use crate::processes::{JobProcesses, Role, exchange_roles, gather_hosts, mpi_failure};
use crate::ranks::checkpoint::CheckpointOptions;
use crate::ranks::ending::finish_checkpoint;
use crate::ranks::processes::{path_from_bytes, path_to_bytes, share_checkpoint};
use crate::ranks::supervisor::Supervisor;
use crate::ranks::transport::mpi::MpiTransport;

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
    let (hosts, rank) = (gather_hosts(world)?, world.rank());
    processes.require_all(check_same_command(world, &plan, &hosts))?;
    let job = WrappedJob::new(plan, audience);
    let is_first_on_host = world.comm().split_by_host().map_err(mpi_failure)?.rank() == 0;
    let loaded = match is_first_on_host {
        true => preload::preload(&job.plan.files, &**audience),
        false => Ok(()),
    };
    // No program starts before all hosts have read the database.
    processes.require_all(loaded)?;
    let cut = processes.require_all(BlockCut::new(&job.plan, world.size() as u32))?;
    let early_end = drain.as_ref().map(DrainSignals::early_end);
    let job_io =
        if rank == 0 { WrappedIo::open(&job, &cut, early_end.as_deref()) } else { Ok(None) };
    let (job_io, checkpoint) = processes.require_all(job_io)?.unzip();
    let checkpoint = checkpoint.flatten();
    let path = job_io.as_ref().map(|job_io| path_to_bytes(job_io.output.path()));
    // An earlier run has completed the job.
    let Some(path) = processes.broadcast_from_first(path)?.map(path_from_bytes) else {
        return Ok(());
    };
    let checkpoint_options = CheckpointOptions::from(&job.plan);
    let checkpoint_state = share_checkpoint(processes, &checkpoint_options, checkpoint.as_ref())?;
    let supervisor = Supervisor { checkpoint: checkpoint.as_ref(), signals: drain, stream: None };
    let mut job_context =
        WrappedContext::new(&job, world.size() as u32, cut, path, checkpoint_state);
    job_context.hosts = hosts;
    let messenger = Messenger::new(world.comm()).map_err(mpi_failure)?;
    let mut mpi = MpiTransport::new(messenger, None, None);
    let (executor, outputs) = job_io.map(|job_io| job_io.into_executor(&job)).unzip();
    let ended =
        job_context.rank_result(job_context.run(Rank(rank as u32), executor, supervisor, &mut mpi));
    let drained = matches!(&ended, Err(error) if error.exit_code == exit::DRAINED);
    let closed = match &ended {
        Ok(()) => mpi.close_and_publish_output(
            world,
            outputs.as_ref(),
            job_context.checkpoint_state.is_some(),
            checkpoint.as_ref(),
        ),
        Err(_) if drained => mpi.flush(),
        Err(error) => Err(error.clone()),
    };
    let failed = closed.and_then(|()| {
        let own = job.failed_blocks.load(Ordering::Relaxed).to_ne_bytes();
        let all = world.comm().gather_all(&own).map_err(mpi_failure)?;
        mpi.close()?;
        let counts =
            all.iter().filter_map(|count| Some(u64::from_ne_bytes(count[..].try_into().ok()?)));
        Ok(counts.sum())
    });
    let failed = failed.unwrap_or_else(|error: Error| {
        drop(outputs);
        processes.abort(&error)
    });
    if !drained {
        finish_checkpoint(checkpoint, checkpoint_options.records.is_some(), &**audience);
    }
    ended?;
    check_failed_blocks(failed).map_err(|error| match rank {
        0 => error,
        _ => Error::silent(error.exit_code),
    })
}

/// Checks that all ranks have the same command and options as the first rank.
fn check_same_command(world: &World, plan: &WrappedJobPlan, hosts: &[String]) -> Result<(), Error> {
    // Hosts may have the database at different paths, so the paths of files are not compared.
    let described = format!("{:?}", WrappedJobPlan { files: Vec::new(), ranks: 1, ..plan.clone() });
    let own = xxh3_64(described.as_bytes()).to_ne_bytes();
    let all = world.comm().gather_all(&own).map_err(mpi_failure)?;
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
