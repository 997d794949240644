//! Runs all ranks of a job as threads of this process.

use std::thread;

use fleetblast_fleet::ids::Rank;

use super::driver::End;
use super::transport::Transport;
use super::transport::threads::Threads;
use super::vigil::Vigil;
use crate::error::Error;

/// Runs ranks to their ends with `run`. Returns how each ended, with its result, in the order of
/// ranks. The supermaster's executor and the supervisor go to the supermaster's rank.
///
/// # Panics
/// Panics if a rank does.
pub fn run_all<'a, W: Send, T: Send>(
    ranks: u32,
    supermaster: Rank,
    (works, vigil): (W, Vigil<'a>),
    run: impl Fn(Rank, Option<W>, Vigil<'a>, &mut Threads) -> Result<(End, T), Error> + Sync,
) -> Vec<Result<(End, T), Error>> {
    let mut first = Some((works, vigil));
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(ranks as usize);
        for (mut transport, rank) in Threads::connect(ranks as usize).into_iter().zip(0..) {
            let rank = Rank(rank);
            let first = if rank == supermaster { first.take() } else { None };
            let (works, vigil) = first.unzip();
            let run = &run;
            threads.push(scope.spawn(move || {
                let end = run(rank, works, vigil.unwrap_or_default(), &mut transport);
                if !matches!(end, Ok((End::Exited(_), _))) {
                    transport.end_all();
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
/// Returns the first error; if it is silent, the last one with a message.
pub fn sum_up(results: impl IntoIterator<Item = Result<(), Error>>) -> Result<(), Error> {
    let mut ended = Ok(());
    for result in results {
        match result {
            // Ranks that were ended by others have no message of their own.
            Err(error) if ended.is_ok() || !error.is_silent() => ended = Err(error),
            _ => {}
        }
    }
    ended
}
