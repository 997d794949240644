//! Ranks that are threads of this process.

use std::sync::mpsc::Receiver;
use std::thread;

use fleetblast_fleet::ids::Rank;

use super::{FirstRank, Ranks};
use crate::error::{Error, exit};
use crate::processes::OneProcess;
use crate::ranks::context::{HostedJob, RankContext};
use crate::ranks::driver::RankEnd;
use crate::ranks::execution::SupermasterExecutor;
use crate::ranks::output::publish;
use crate::ranks::supervisor::Supervisor;
use crate::ranks::transport::Transport;
use crate::ranks::transport::threads::ThreadTransport;

/// Ranks that are threads of this process.
pub struct RankThreads;

impl Ranks for RankThreads {
    type Processes = OneProcess;

    fn processes(&self) -> &OneProcess {
        &OneProcess
    }

    fn hosts(&self) -> Vec<String> {
        Vec::new()
    }

    fn open_on_first<T: Send>(
        &mut self,
        open: impl FnOnce() -> Result<Option<T>, Error> + Send,
    ) -> Result<Option<T>, Error> {
        open()
    }

    fn run<'a, J: HostedJob>(
        self,
        context: &'a RankContext<J>,
        first: FirstRank<'a>,
        conclude: impl FnOnce(Vec<J::RankStatistics>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let FirstRank { executor, supervisor } = first;
        let (executor, outputs) = executor.unzip();
        let checkpoint = supervisor.checkpoint;
        let results = run_ranks(context, executor, supervisor);
        let mut statistics = Vec::with_capacity(results.len());
        let ended = combine_results(results.into_iter().map(|result| {
            let (end, rank_statistics) = result?;
            statistics.push(rank_statistics);
            context.rank_result(Ok(end))
        }));
        let outputs = outputs.iter().flat_map(Receiver::try_iter);
        let ended = ended.and_then(|()| publish(outputs, checkpoint));
        match &ended {
            // A drained job has statistics, too.
            Err(error) if error.exit_code != exit::DRAINED => ended,
            _ => conclude(statistics).and(ended),
        }
    }

    fn leave(self) -> Result<(), Error> {
        Ok(())
    }
}

/// Runs each rank to its end. Returns the end and the statistics of each, in the order of ranks.
///
/// # Panics
/// If a rank panics.
fn run_ranks<'a, J: HostedJob>(
    context: &'a RankContext<J>,
    executor: Option<Box<dyn SupermasterExecutor + 'a>>,
    supervisor: Supervisor<'a>,
) -> Vec<Result<(RankEnd, J::RankStatistics), Error>> {
    let ranks = context.topology.ranks;
    let mut first = Some((executor, supervisor));
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(ranks as usize);
        for (mut transport, rank) in ThreadTransport::connect(ranks as usize).into_iter().zip(0..) {
            let rank = Rank(rank);
            let first = first.take_if(|_| rank == context.topology.supermaster);
            let (executor, supervisor) = first.unzip();
            let executor = executor.flatten();
            threads.push(scope.spawn(move || {
                let end = context.job.create_recorder(rank).and_then(|recorder| {
                    let supervisor = supervisor.unwrap_or_default();
                    context.run(rank, executor, supervisor, &recorder, &mut transport)
                });
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
fn combine_results(results: impl IntoIterator<Item = Result<(), Error>>) -> Result<(), Error> {
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
