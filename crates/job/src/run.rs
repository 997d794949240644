//! Runs a job in this process alone, or on ranks.

use std::sync::Arc;

use fleetblast_db::load::LoadMethod;
use fleetblast_fleet::config::Strategy;

use crate::alone::{self, ResultReceiver};
use crate::audience::{Audience, SilentAudience};
use crate::cleanup::register_cleanup;
use crate::error::{Error, exit};
use crate::hits::QueryHits;
use crate::interrupt::DrainSignals;
use crate::io_channel::IoChannel;
use crate::output::leave_empty;
use crate::plan::{Destination, Fleet, Plan};
use crate::ranks;

/// Runs the job of a plan and reports its progress to the audience. An error that ends the job
/// early is returned and not reported. The signals of `drain` drain a job with a checkpoint.
///
/// # Errors
/// Any error that ends the job early. If the report did not exist, an empty file is left, unless a
/// signal ended the job. Of several processes all but one get a silent error.
pub fn run(
    plan: Plan,
    drain: Option<DrainSignals>,
    audience: Arc<dyn Audience>,
) -> Result<(), Error> {
    run_with_io_channel(plan, None, drain, audience)
}

/// Searches in this process and passes each query with its hits to `visit`, in the order of the
/// queries. `examples/search.rs` shows its use.
///
/// There is no report, so the plan's `report` has no effect. The files of the plan's `timing` and
/// `fleet.trace` are written, as by [`run`]. Nothing else is written.
///
/// # Errors
/// Plans that ask for something else; the message names the field: `out`, `metadata`, `iteration`,
/// `fleet.ranks`, `fleet.dry_run`, `fleet.checkpoint`, and [`Strategy::Records`] in `fleet.config`.
/// Otherwise any error that ends the search early: a database that cannot be read, queries that are
/// not FASTA, an error of `visit`, a timing or a trace that cannot be written.
pub fn visit_hits(
    plan: &Plan,
    visit: impl FnMut(QueryHits) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    refuse_for_visitor(plan)?;
    let audience: Arc<dyn Audience> = Arc::new(SilentAudience);
    alone::run_without_ranks(plan, ResultReceiver::Visitor(Box::new(visit)), &audience)
}

/// Refuses a plan with a field that has no effect in [`visit_hits`].
///
/// # Errors
/// A plan with such a field.
fn refuse_for_visitor(plan: &Plan) -> Result<(), Error> {
    let Fleet { ranks, dry_run, checkpoint, config, .. } = &plan.fleet;
    let (field, neutral) = match plan {
        _ if plan.out != Destination::Stdout => ("out", "Destination::Stdout"),
        _ if plan.metadata.is_some() => ("metadata", "None"),
        _ if plan.iteration.is_some() => ("iteration", "None"),
        _ if ranks.is_some() => ("fleet.ranks", "None"),
        _ if *dry_run => ("fleet.dry_run", "false"),
        _ if checkpoint.is_some() => ("fleet.checkpoint", "None"),
        _ if config.strategy == Strategy::Records => ("fleet.config.strategy", "another one"),
        _ => return Ok(()),
    };
    let what = format_args!("the plan's `{field}` in `visit_hits`");
    let error = Error::not_yet(what);
    Err(Error { message: format!("{}; it must be {neutral}", error.message), ..error })
}

/// Runs a job as [`run`] does, and sends its metadata through `io_channel` to the I/O ranks. The
/// channel is dropped with the search, so that the I/O ranks never wait for further metadata. Jobs
/// of several processes create their own channel.
///
/// # Errors
/// See [`run`].
pub fn run_with_io_channel(
    plan: Plan,
    io_channel: Option<IoChannel>,
    drain: Option<DrainSignals>,
    audience: Arc<dyn Audience>,
) -> Result<(), Error> {
    let out = (!plan.fleet.dry_run).then(|| plan.out.clone());
    let _last = out.clone().map(|out| register_cleanup(move || leave_empty(&out)));
    search(plan, io_channel.as_ref(), drain, &audience).inspect_err(|error| {
        audience.abort();
        if let Some(out) = out.filter(|_| error.exit_code != exit::DRAINED) {
            leave_empty(&out);
        }
    })
}

fn search(
    plan: Plan,
    io_channel: Option<&IoChannel>,
    drain: Option<DrainSignals>,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    // With the loader `broadcast`, a single process takes part in collective steps, too.
    let together = cfg!(feature = "mpi") && plan.load.method == Some(LoadMethod::Broadcast);
    let launched = fleetblast_mpi::launched();
    let launched = launched.filter(|launch| launch.ranks > 1 || together);
    if let Some(launch) = launched {
        return ranks::on_processes(plan, launch, drain, audience);
    }
    match plan.fleet.ranks {
        Some(ranks) => ranks::on_threads(plan, ranks, io_channel, drain, audience),
        None => alone::run_without_ranks(&plan, ResultReceiver::Files(io_channel), audience),
    }
}

#[cfg(test)]
mod tests;
