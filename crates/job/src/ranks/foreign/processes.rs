//! Jobs of another program on ranks that are processes.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use fleetblast_fleet::ids::Rank;
use fleetblast_mpi::{Mailbox, World, name_rank};
use xxhash_rust::xxh3::xxh3_64;

use super::{Common, Cut, Ends, Job, judge, preload};
use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::interrupt::DrainSignals;
use crate::plan::Foreign;
use crate::processes::{Processes, Role, agree, failure, hosts};
use crate::ranks::checkpoint::Keeping;
use crate::ranks::ending::remove;
use crate::ranks::processes::{kept, path_bytes, path_of};
use crate::ranks::transport::mpi::Mpi;
use crate::ranks::vigil::Vigil;

/// Runs the program on the processes that were started together.
///
/// # Errors
/// Returns errors before the job begins, and reports at the end that blocks are missing. In
/// between, an error ends all processes.
pub fn run(
    foreign: Foreign,
    drain: Option<DrainSignals>,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    let world = World::init().map_err(failure)?;
    agree(&world, &Role::Search(0), "", &|text| audience.complain(text))?;
    let processes = &Processes { world, audience: Arc::clone(audience) };
    let world = &processes.world;
    let (hosts, rank) = (hosts(world)?, world.rank());
    processes.together(same(world, &foreign, &hosts))?;
    let job = Job::new(foreign, audience);
    let in_front = world.comm().split_by_host().map_err(failure)?.rank() == 0;
    let loaded = match in_front {
        true => preload::preload(&job.foreign.files, &**audience),
        false => Ok(()),
    };
    // No program starts before the database is loaded.
    processes.together(loaded)?;
    let cut = processes.together(Cut::new(&job.foreign, world.size() as u32))?;
    let early = drain.as_ref().map(DrainSignals::early_end);
    let ends = if rank == 0 { Ends::open(&job, &cut, early.as_deref()) } else { Ok(None) };
    let (ends, checkpoint) = processes.together(ends)?.unzip();
    let checkpoint = checkpoint.flatten();
    let path = ends.as_ref().map(|ends| path_bytes(ends.output.path()));
    // There is nothing to do.
    let Some(path) = processes.tell_all(path)?.map(path_of) else { return Ok(()) };
    let keeping = Keeping::from(&job.foreign);
    let kept = kept(processes, &keeping, checkpoint.as_ref())?;
    let vigil = Vigil { checkpoint: checkpoint.as_ref(), signals: drain, sending: None };
    let mut common = Common::new(&job, world.size() as u32, cut, path, kept);
    common.hosts = hosts;
    let mailbox = Mailbox::new(world.comm()).map_err(failure)?;
    let mut mpi = Mpi::new(mailbox, None, None);
    let (works, whole) = ends.map(|ends| ends.works(&job)).unzip();
    let ended = common.verdict(common.run(Rank(rank as u32), works, vigil, &mut mpi));
    let drained = matches!(&ended, Err(error) if error.exit_code == exit::DRAINED);
    let closed = match &ended {
        Ok(()) => mpi.complete(world, whole.as_ref(), common.kept.is_some(), checkpoint.as_ref()),
        Err(_) if drained => mpi.flush(),
        Err(error) => Err(error.clone()),
    };
    let failed = closed.and_then(|()| {
        let own = job.failed.load(Ordering::Relaxed).to_ne_bytes();
        let all = world.comm().gather_all(&own).map_err(failure)?;
        mpi.close()?;
        let counts =
            all.iter().filter_map(|count| Some(u64::from_ne_bytes(count[..].try_into().ok()?)));
        Ok(counts.sum())
    });
    let failed = failed.unwrap_or_else(|error: Error| {
        drop(whole);
        processes.abort(&error)
    });
    if !drained {
        remove(checkpoint, keeping.records.is_some(), &**audience);
    }
    ended?;
    judge(failed).map_err(|error| match rank {
        0 => error,
        _ => Error::new(error.exit_code, ""),
    })
}

/// Checks that all ranks have the same command as the first.
fn same(world: &World, foreign: &Foreign, hosts: &[String]) -> Result<(), Error> {
    // Hosts may have the database at different paths.
    let told = format!("{:?}", Foreign { files: Vec::new(), ranks: 1, ..foreign.clone() });
    let own = xxh3_64(told.as_bytes()).to_ne_bytes();
    let all = world.comm().gather_all(&own).map_err(failure)?;
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
