//! Runs all ranks of a job as threads of this process.

use std::thread;

use fleetblast_fleet::ids::Rank;

use super::driver::RankEnd;
use super::supervisor::Supervisor;
use super::transport::Transport;
use super::transport::threads::ThreadTransport;
use crate::error::Error;

/// Runs each rank to its end with `run`. Returns the end and the result of each, in the order of
/// ranks. The supermaster's rank gets the executor and the supervisor.
///
/// # Panics
/// If a rank panics.
pub fn run_ranks<'a, W: Send, T: Send>(
    ranks: u32,
    supermaster: Rank,
    (executor, supervisor): (W, Supervisor<'a>),
    run: impl Fn(Rank, Option<W>, Supervisor<'a>, &mut ThreadTransport) -> Result<(RankEnd, T), Error>
    + Sync,
) -> Vec<Result<(RankEnd, T), Error>> {
    let mut first = Some((executor, supervisor));
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(ranks as usize);
        for (mut transport, rank) in ThreadTransport::connect(ranks as usize).into_iter().zip(0..) {
            let rank = Rank(rank);
            let first = if rank == supermaster { first.take() } else { None };
            let (executor, supervisor) = first.unzip();
            let run = &run;
            threads.push(scope.spawn(move || {
                let end = run(rank, executor, supervisor.unwrap_or_default(), &mut transport);
                if !matches!(end, Ok((RankEnd::Exited(_), _))) {
                    transport.end_other_ranks();
                }
                end
            }));
        }
        let join = |thread: thread::ScopedJoinHandle<_>| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        threads.into_iter().map(join).collect()
    })
}

/// Combines the results of all ranks into the result of the job.
///
/// # Errors
/// The first error. If it is silent, the last error that has a message.
pub fn combine_results(results: impl IntoIterator<Item = Result<(), Error>>) -> Result<(), Error> {
    let mut ended = Ok(());
    for result in results {
        match result {
            // If another rank ended this rank, the error has no message.
            Err(error) if ended.is_ok() || !error.is_silent() => ended = Err(error),
            _ => {}
        }
    }
    ended
}
