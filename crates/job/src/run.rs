//! A job from its begin to its end: in this process alone, or on ranks.

use std::sync::Arc;

use fleetblast_db::load::Method;
use fleetblast_fleet::config::Strategy;

use crate::alone::{self, ResultReceiver};
use crate::audience::{Audience, SilentAudience};
use crate::crossing::IoChannel;
use crate::error::{Error, exit};
use crate::hits::QueryHits;
use crate::interrupt::DrainSignals;
use crate::last_works::before_the_end;
use crate::output::leave_empty;
use crate::plan::{Destination, Fleet, Plan};
use crate::ranks;

/// Carries a plan out and reports its progress to the audience. An error that ends the job early is
/// returned and not reported. The signals of `drain` drain a job with a checkpoint.
///
/// # Errors
/// Whatever ends the job early. If the report did not exist, an empty file is left then, unless a
/// signal ended the job. Of several processes all but one have an error without a message.
pub fn run(
    plan: Plan,
    drain: Option<DrainSignals>,
    audience: Arc<dyn Audience>,
) -> Result<(), Error> {
    run_with_crossing(plan, None, drain, audience)
}

/// Searches in this process and passes each query with its hits to `visit`, in the order of the
/// queries. `examples/search.rs` shows its use.
///
/// There is no report, so the plan's `report` has no effect. The files of the plan's `timing` and
/// `fleet.trace` are written, as by [`run`]. Nothing else is written.
///
/// # Errors
/// Plans that ask for something else, by the name of the field: `out`, `metadata`, `iteration`,
/// `fleet.ranks`, `fleet.dry_run`, `fleet.checkpoint`, and [`Strategy::Records`] in `fleet.config`.
/// Otherwise, whatever ends the search early: a database that cannot be read, queries that are not
/// FASTA, an error of `visit`, a timing or a trace that cannot be written.
pub fn visit_hits(
    plan: &Plan,
    visit: impl FnMut(QueryHits) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    refuse_for_visitor(plan)?;
    let audience: Arc<dyn Audience> = Arc::new(SilentAudience);
    alone::run(plan, ResultReceiver::Visitor(Box::new(visit)), &audience)
}

/// Refuses by name what a plan asks for in vain if its hits are visited.
///
/// # Errors
/// Such a plan.
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
    let Error { exit_code, message } = Error::not_yet(what);
    Err(Error::new(exit_code, format!("{message}; it must be {neutral}")))
}

/// Does the same as [`run`], and sends the metadata to the I/O ranks at the end of `crossing`.
/// It is dropped with the search, so that they never wait for more. Processes make their own.
///
/// # Errors
/// See [`run`].
pub fn run_with_crossing(
    plan: Plan,
    crossing: Option<IoChannel>,
    drain: Option<DrainSignals>,
    audience: Arc<dyn Audience>,
) -> Result<(), Error> {
    let out = (!plan.fleet.dry_run).then(|| plan.out.clone());
    let _last = out.clone().map(|out| before_the_end(move || leave_empty(&out)));
    search(plan, crossing.as_ref(), drain, &audience).inspect_err(|error| {
        audience.abort();
        if let Some(out) = out.filter(|_| error.exit_code != exit::DRAINED) {
            leave_empty(&out);
        }
    })
}

fn search(
    plan: Plan,
    crossing: Option<&IoChannel>,
    drain: Option<DrainSignals>,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    // What processes do together, one that is alone among them does too.
    let together = cfg!(feature = "mpi") && plan.load.method == Some(Method::Broadcast);
    let launched = fleetblast_mpi::launched();
    let launched = launched.filter(|launch| launch.ranks > 1 || together);
    if let Some(launch) = launched {
        return ranks::on_processes(plan, launch, drain, audience);
    }
    match plan.fleet.ranks {
        Some(ranks) => ranks::on_threads(plan, ranks, crossing, drain, audience),
        None => alone::run(&plan, ResultReceiver::Files(crossing), audience),
    }
}

#[cfg(test)]
mod tests;
