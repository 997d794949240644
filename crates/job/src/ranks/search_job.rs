//! A search as a job that ranks run.

use std::collections::HashMap;
use std::sync::Arc;

use fleetblast_db::load::LoadMethod;
use fleetblast_fleet::ids::{GroupId, PartitionId, Rank};
use fleetblast_fleet::topology::Topology;
#[cfg(feature = "mpi")]
use fleetblast_spool::Checkpoint;

use super::account::{self, RankStatistics};
#[cfg(feature = "mpi")]
use super::broadcast::{self, BroadcastContext};
use super::checkpoint::CheckpointOptions;
use super::context::HostedJob;
#[cfg(feature = "mpi")]
use super::context::RankContext;
use super::execution::iterated::IteratedMaster;
use super::execution::master::SearchMaster;
use super::execution::report_register::SharedRegister;
use super::execution::shared::WorkerShared;
use super::execution::worker::SearchWorker;
use super::execution::{MasterExecutor, WorkerExecutor};
use super::job::RankJob;
use crate::audience::Audience;
use crate::error::Error;
use crate::halt::Halt;
use crate::metadata::SearchCapacity;
use crate::plan::Destination;
#[cfg(feature = "mpi")]
use crate::processes::JobProcesses;
use crate::search::{DatabaseScan, RANGES_PER_THREAD};
use crate::threads::pool;
use crate::trace::Recorder;
#[cfg(feature = "mpi")]
use crate::trace::{Kind, Lane};

impl HostedJob for RankJob<'_> {
    type RankStatistics = RankStatistics;

    fn audience(&self) -> &Arc<dyn Audience> {
        &self.audience
    }

    fn halt(&self) -> &Halt {
        &self.halt
    }

    fn destination(&self) -> &Destination {
        &self.plan.out
    }

    fn checkpoint_options(&self) -> CheckpointOptions<'_> {
        self.plan.into()
    }

    fn create_recorder(&self, rank: Rank) -> Result<Recorder, Error> {
        account::recorder(self.plan, rank.0)
    }

    /// Loads the partitions of this rank, if the method is broadcast.
    #[cfg(feature = "mpi")]
    fn load_together(
        context: &RankContext<Self>,
        processes: &JobProcesses,
        checkpoint: Option<&Checkpoint>,
        recorder: &Recorder,
    ) -> Result<(), Error> {
        let job = &context.job;
        if job.loader.method != LoadMethod::Broadcast {
            return Ok(());
        }
        let _span = recorder.begin(Lane::Search, Kind::Load);
        let environment = BroadcastContext { processes, hosts: &context.hosts, checkpoint };
        let loaded = broadcast::load(environment, context)?;
        let twice = |_| Error::engine("the partitions were loaded twice");
        job.loaded_partitions.set(loaded).map_err(twice)
    }

    fn create_master<'a>(
        &'a self,
        id: GroupId,
        topology: &Topology,
        register: Option<SharedRegister>,
        recorder: &Recorder,
    ) -> Result<Box<dyn MasterExecutor + 'a>, Error> {
        let recorder = recorder.clone();
        Ok(match self.iteration_rules() {
            Some(rules) => Box::new(IteratedMaster::new(self, rules, register, recorder)?),
            None => {
                let groups = &topology.groups;
                let threads = groups[id.index()].workers.len() * self.plan.threads.count;
                let capacity = SearchCapacity { threads, groups: groups.len() };
                Box::new(SearchMaster::new(self, register, capacity, recorder)?)
            }
        })
    }

    fn create_worker<'a>(
        &'a self,
        partitions: &[PartitionId],
        shared: &Arc<WorkerShared>,
    ) -> Result<(Box<dyn WorkerExecutor + 'a>, rayon::ThreadPool), Error> {
        let (plan, subjects, loader) = (self.plan, self.subjects, &self.loader);
        // The worker searches one partition at a time, but each partition has buffers of its own.
        let streamed = loader.streaming_bytes.filter(|_| loader.method != LoadMethod::Map);
        let streamed = streamed.map(|memory| memory / partitions.len() as u64);
        let mut scans = HashMap::new();
        for &partition in partitions {
            let (oids, n) = (self.oids(partition), plan.threads.count * RANGES_PER_THREAD);
            let ranges = || subjects.searched.partitions_within(oids.clone(), n);
            let loaded = self.loaded_partitions.get().and_then(|loaded| loaded.get(&partition));
            let supply = match (loaded, streamed) {
                (Some(loaded), _) => loaded.clone().supply(ranges())?,
                (None, None) => loader.supply_ranges(&subjects.searched, ranges())?,
                (None, Some(memory)) => {
                    loader.supply_streamed(&subjects.searched, oids, n, memory)?
                }
            };
            let scan = DatabaseScan::new(subjects, supply, streamed.is_none());
            scans.insert(partition, scan.with_halt(self.halt.clone()));
        }
        let executor = SearchWorker::new(self, scans, Arc::clone(shared));
        Ok((Box::new(executor), pool(plan.threads.count)?))
    }

    fn rank_statistics(&self, recorder: &Recorder) -> Result<RankStatistics, Error> {
        RankStatistics::close(self, recorder)
    }
}
