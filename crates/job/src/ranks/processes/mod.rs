//! Runs a job whose ranks are processes. The processes are compared, plan the job together, run it,
//! and end it together.

mod comparison;

use std::fs;
use std::sync::Arc;
use std::time::Instant;

use fleetblast_db::check_mapped_files;
use fleetblast_fleet::plan::Layout;
use fleetblast_mpi::{Comm, Launch, World};

use self::comparison::RankComparison;
use super::layout::{self, DatabaseCut, RankResources};
use super::limits;
use super::running::{RankProcesses, Ranks};
use super::search::RankSearch;
use crate::allowed_cpus;
use crate::audience::Audience;
use crate::error::Error;
use crate::interrupt::DrainSignals;
use crate::io_channel::{IoChannel, SiteConnection};
use crate::plan::Plan;
use crate::processes::{
    Collective, JobProcesses, Role, exchange_roles, gather_hosts, mpi_failure, require_broadcast,
};
use crate::subjects::SubjectDatabase;

/// Runs a job on the processes that were started together.
///
/// # Errors
/// An error that ends the job before it begins. A later error ends all processes.
pub fn on_processes(
    plan: Plan,
    _: Launch,
    drain: Option<DrainSignals>,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    let start = Instant::now();
    let world = World::init().map_err(mpi_failure)?;
    let role = Role::Search(plan.io_ranks());
    exchange_roles(&world, &role, "", &|text| audience.print_message(text))?;
    let io_channel = (plan.io_ranks() > 0).then(IoChannel::new);
    let (world, site_connection) = match &io_channel {
        Some(io_channel) => {
            let (world, site_connection) =
                SiteConnection::for_search(world, plan.io_ranks(), io_channel, audience)?;
            (world, Some(site_connection))
        }
        None => (world, None),
    };
    let processes = &JobProcesses { world, audience: Arc::clone(audience) };
    let has_other_site = site_connection.is_some();
    let ended = search(plan, processes, drain, (io_channel, site_connection), start);
    match ended {
        // Otherwise the I/O site would wait for ever.
        Err(error) if has_other_site => processes.abort(&error),
        ended => ended,
    }
}

/// Runs the job on all processes of the search site.
fn search(
    plan: Plan,
    processes: &JobProcesses,
    drain: Option<DrainSignals>,
    (io_channel, site_connection): (Option<IoChannel>, Option<SiteConnection>),
    start: Instant,
) -> Result<(), Error> {
    let (world, audience) = (&processes.world, &processes.audience);
    let hosts = &gather_hosts(world)?;
    let comparison = RankComparison { processes, hosts };
    comparison.agree_on_plan(&plan)?;
    processes.require_all(limits::check_supported(&plan))?;
    let host = world.comm().split_by_host().map_err(mpi_failure)?;
    let threads = plan.threads.beside_processes(count_ranks_sharing_cpus(&host)?);
    let plan = &plan.with_threads(threads);
    let subjects = &processes.require_all(SubjectDatabase::open(plan, &**audience))?;
    comparison.agree_on_database(plan, subjects)?;
    let layout = &agree_on_layout(processes, &host, plan, subjects)?;
    let ranks = RankProcesses { processes, hosts, writes_by_mpi: true, site_connection };
    let io_channel = io_channel.as_ref();
    if plan.fleet.dry_run {
        let is_first = processes.is_first();
        if let (true, Some(io_channel)) = (is_first, io_channel) {
            io_channel.search_endpoint()?.send_nothing()?;
        }
        let printed = if is_first { layout::print_layout(layout, plan, subjects) } else { Ok(()) };
        processes.require_all(printed)?;
        return ranks.leave();
    }
    let loader = processes.require_all(layout::choose_loader(plan, subjects, layout))?;
    let cut = DatabaseCut::new(subjects, layout);
    let fingerprint = &comparison.agree_on_fingerprint(plan, subjects, &cut)?;
    processes.require_all(check_mapped_files().map_err(Error::from))?;
    let search = RankSearch {
        plan,
        subjects,
        layout,
        cut,
        loader,
        fingerprint,
        io_channel,
        audience,
        start,
    };
    search.run(ranks, drain)
}

/// Counts the ranks of a host that may run on the same CPUs as this rank, including this rank.
fn count_ranks_sharing_cpus(host: &Comm) -> Result<usize, Error> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let own = allowed_cpus(&status).unwrap_or_default();
    let all = host.gather_all(own.as_bytes()).map_err(mpi_failure)?;
    Ok(all.iter().filter(|other| *other == own.as_bytes()).count())
}

/// Plans the layout on the first rank and sends it to all ranks. The plan fits the host with the
/// least memory. Collective over all ranks.
fn agree_on_layout(
    processes: &JobProcesses,
    host: &Comm,
    plan: &Plan,
    subjects: &SubjectDatabase,
) -> Result<Layout, Error> {
    let is_first_on_host = host.rank() == 0;
    let remote = layout::is_remote(&subjects.searched);
    let own =
        (host.size() as u32, is_first_on_host, layout::memory_per_rank(host.size() as u32), remote);
    let rank_count = processes.count() as u32;
    let mut ranks = RankResources {
        rank_count,
        per_host: 1,
        hosts: 0,
        memory: None,
        reads_over_network: false,
    };
    for (per_host, is_first_on_host, memory, remote) in processes.gather(&own)? {
        ranks.per_host = ranks.per_host.max(per_host);
        ranks.hosts += u32::from(is_first_on_host);
        ranks.memory = ranks.memory.into_iter().chain(memory).min();
        ranks.reads_over_network |= remote;
    }
    // All ranks have the same figures, but perhaps not all can read the query file.
    let layout = match processes.is_first() {
        true => layout::plan_layout(plan, subjects, ranks).map(Some),
        false => Ok(None),
    };
    require_broadcast(processes.broadcast(processes.require_all(layout)?)?)
}
