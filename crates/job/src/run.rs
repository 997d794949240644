//! A job from its begin to its end: in this process alone, or on ranks.

use std::sync::Arc;

use fleetblast_db::load::Method;

use crate::alone::{self, Receiver};
use crate::audience::{Audience, Nobody};
use crate::crossing::IoChannel;
use crate::error::{Error, exit};
use crate::hits::QueryHits;
use crate::interrupt::DrainSignals;
use crate::last_works::before_the_end;
use crate::output::leave_empty;
use crate::plan::Plan;
use crate::ranks;

/// Carries a plan out, and tells the audience how that goes; what ends it early is returned and not told.
/// The signals of `drain` drain a job with a checkpoint.
///
/// # Errors
/// Whatever ends the job early. Where no file was, an empty one is left then, unless a signal ended it. Of several processes all
/// but one have an error without a message.
pub fn run(
    plan: Plan,
    drain: Option<DrainSignals>,
    audience: Arc<dyn Audience>,
) -> Result<(), Error> {
    run_with_crossing(plan, None, drain, audience)
}

/// Searches in this process and passes each query with its hits to `visit`, in the order of the
/// queries. Nothing is written. `examples/search.rs` shows its use.
///
/// # Errors
/// Whatever ends the search early: a database that cannot be read, queries that are not FASTA, an
/// error of `visit`. Iterated searches are not supported yet.
pub fn visit_hits(
    plan: &Plan,
    visit: impl FnMut(QueryHits) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    let audience: Arc<dyn Audience> = Arc::new(Nobody);
    alone::run(plan, Receiver::Visitor(Box::new(visit)), &audience)
}

/// Does the same as [`run`], where the metadata go to the I/O ranks at the other end of `crossing`.
/// It ends with the search, so that they never wait for more. (Processes make a way of their own.)
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
        audience.leave();
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
        None => alone::run(&plan, Receiver::Files(crossing), audience),
    }
}
