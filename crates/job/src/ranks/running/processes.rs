//! Ranks that are processes, connected by MPI. Each process has one rank.

use std::sync::Arc;

use fleetblast_db::check_mapped_files;
use fleetblast_fleet::ids::Rank;
use fleetblast_mpi::Messenger;

use super::{FirstRank, Ranks};
use crate::error::{Error, exit};
use crate::io_channel::SiteConnection;
use crate::processes::{Collective, JobProcesses, mpi_failure};
use crate::ranks::context::{HostedJob, RankContext};
use crate::ranks::transport::group_file::GroupFile;
use crate::ranks::transport::mpi::MpiTransport;

/// Ranks that are processes.
pub struct RankProcesses<'p> {
    /// The processes of this site.
    pub processes: &'p JobProcesses,
    /// Host name of each rank.
    pub hosts: &'p [String],
    /// Whether the ranks may write the output by MPI. They do if the output strategy uses MPI-IO.
    pub writes_by_mpi: bool,
    /// The connection to the ranks of the other site, in a job with I/O ranks.
    pub site_connection: Option<SiteConnection>,
}

impl Ranks for RankProcesses<'_> {
    type Processes = JobProcesses;

    fn processes(&self) -> &JobProcesses {
        self.processes
    }

    fn hosts(&self) -> Vec<String> {
        self.hosts.to_vec()
    }

    fn open_on_first<T: Send>(
        &mut self,
        open: impl FnOnce() -> Result<Option<T>, Error> + Send,
    ) -> Result<Option<T>, Error> {
        let opened = match &mut self.site_connection {
            _ if !self.processes.is_first() => Ok(None),
            // If there are no queries, the I/O ranks also finish during this call.
            Some(site_connection) => site_connection.poll_during(open),
            None => open(),
        };
        self.processes.require_all(opened)
    }

    fn run<'a, J: HostedJob>(
        self,
        context: &'a RankContext<J>,
        first: FirstRank<'a>,
        conclude: impl FnOnce(Vec<J::RankStatistics>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let RankProcesses { processes, writes_by_mpi, site_connection, .. } = self;
        let (world, rank) = (&processes.world, Rank(processes.number() as u32));
        let FirstRank { executor, supervisor } = first;
        let (executor, outputs) = executor.unzip();
        let checkpoint = supervisor.checkpoint;
        let recorder = processes.require_all(context.job.create_recorder(rank))?;
        match J::load_together(context, processes, checkpoint, &recorder) {
            // Files that one rank read for all may have changed meanwhile.
            Ok(()) => processes.require_all(check_mapped_files().map_err(Error::from))?,
            // All ranks have this error, and one has reported it.
            Err(error) if error.is_silent() => return Err(error),
            Err(error) => {
                drop((executor, outputs));
                processes.abort(&error)
            }
        }
        let output = match writes_by_mpi {
            true => processes.require_all(open_group_file(context, processes))?,
            false => None,
        };
        let messenger = Messenger::new(world.comm()).map_err(mpi_failure)?;
        let mut mpi = MpiTransport::new(messenger, output, site_connection);
        let end = context.run(rank, executor, supervisor, &recorder, &mut mpi);
        let (end, statistics) = end.map_or_else(
            |error| (Err(error), None),
            |(end, statistics)| (Ok(end), Some(statistics)),
        );
        let ended = context.rank_result(end);
        let closed = match &ended {
            Ok(()) => mpi.close_and_publish_output(
                world,
                outputs.as_ref(),
                context.checkpoint_state.is_some(),
                checkpoint,
            ),
            Err(error) if error.exit_code == exit::DRAINED => mpi.flush(),
            Err(error) => Err(error.clone()),
        };
        // Launchers end all ranks if one rank ends with an error. So no rank ends before all ranks
        // have come to this point.
        let all_closed = closed.and_then(|()| {
            let all = processes.gather(&statistics)?;
            conclude(all.into_iter().flatten().collect())?;
            mpi.close()
        });
        if let Err(error) = all_closed {
            drop(outputs);
            processes.abort(&error)
        }
        ended
    }

    fn leave(self) -> Result<(), Error> {
        self.site_connection.map_or(Ok(()), SiteConnection::close)
    }
}

/// Opens the output in each group of ranks, if the output strategy uses MPI-IO.
fn open_group_file<J: HostedJob>(
    context: &RankContext<J>,
    processes: &JobProcesses,
) -> Result<Option<GroupFile>, Error> {
    let (report, audience) = (context.unpublished_files(), Arc::clone(context.job.audience()));
    GroupFile::open(&processes.world, &context.topology, &context.config, report, audience)
        .map_err(mpi_failure)
}
