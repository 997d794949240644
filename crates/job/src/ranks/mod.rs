//! Runs one job on many ranks: the roles of `fleetblast-fleet`, with the engine and the report.

mod account;
#[cfg(feature = "mpi")]
mod broadcast;
mod checkpoint;
mod context;
mod database_fingerprint;
mod driver;
mod ending;
mod execution;
mod job;
mod job_io;
mod job_properties;
mod layout;
mod limits;
mod metadata_stream;
mod output;
#[cfg(feature = "mpi")]
mod processes;
mod progress;
mod record_chain;
mod running;
mod sam_header;
mod search;
mod search_job;
mod supervisor;
mod transport;
mod wire;
#[cfg(not(feature = "mpi"))]
mod without_mpi;
mod wrapped;

use std::sync::Arc;
use std::time::Instant;

use fleetblast_db::load::{self, LoadPurpose};

pub use self::job_properties::regular_file;
use self::layout::{DatabaseCut, RankResources};
pub use self::limits::check_rank_count;
#[cfg(feature = "mpi")]
pub use self::processes::on_processes;
use self::running::RankThreads;
use self::search::RankSearch;
#[cfg(not(feature = "mpi"))]
pub use self::without_mpi::on_processes;
pub use self::wrapped::run as wrap;
use crate::audience::Audience;
use crate::error::Error;
use crate::interrupt::DrainSignals;
use crate::io_channel::IoChannel;
use crate::plan::Plan;
use crate::subjects::SubjectDatabase;

/// Runs a job on `ranks` ranks, all of them threads of this process.
///
/// # Errors
/// Returns the first error that ends the job early.
pub fn on_threads(
    plan: Plan,
    ranks: u32,
    io_channel: Option<&IoChannel>,
    drain: Option<DrainSignals>,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    let start = Instant::now();
    check_rank_count(ranks, plan.fleet.dry_run)?;
    let all = RankResources::in_one_process(&plan, ranks);
    let threads = plan.threads.for_ranks_inside((all.rank_count / all.hosts) as usize);
    let plan = &plan.with_threads(threads);
    limits::check_supported(plan)?;
    let subjects = &SubjectDatabase::open(plan, &**audience)?;
    let layout = &layout::plan_layout(plan, subjects, all)?;
    if plan.fleet.dry_run {
        return layout::print_layout(layout, plan, subjects);
    }
    let loader = load::choose_loader(&subjects.searched, LoadPurpose::Search, plan.load)?;
    let cut = DatabaseCut::new(subjects, layout);
    let fingerprint = &database_fingerprint::read_fingerprint(plan, subjects, &cut)?;
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
    search.run(RankThreads, drain)
}
