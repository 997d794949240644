//! The number of threads that search, and the source of this number.

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Starts a pool of `count` threads.
///
/// # Errors
/// The system does not start the threads.
pub fn pool(count: usize) -> Result<rayon::ThreadPool, Error> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(count)
        .build()
        .map_err(|error| Error::starved(format_args!("cannot start {count} threads: {error}")))
}

/// The source of the number of threads. `-timing` names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThreadSource {
    /// `-num_threads`.
    #[serde(rename = "-num_threads")]
    NumThreads,
    /// `FLEETBLAST_THREADS` in the environment.
    #[serde(rename = "FLEETBLAST_THREADS")]
    FleetblastThreads,
    /// `OMP_NUM_THREADS` in the environment.
    #[serde(rename = "OMP_NUM_THREADS")]
    OmpNumThreads,
    /// `SLURM_CPUS_PER_TASK` in the environment.
    #[serde(rename = "SLURM_CPUS_PER_TASK")]
    SlurmCpusPerTask,
    /// The CPUs that the process may run on, if they are fewer than those of the machine.
    #[serde(rename = "affinity mask")]
    AffinityMask,
    /// The CPU time that a cgroup of the process may use.
    #[serde(rename = "cgroup CPU limit")]
    CgroupLimit,
    /// All CPUs of the machine.
    #[default]
    #[serde(rename = "CPUs of the machine")]
    Machine,
    /// An equal share of the CPUs, because several ranks of a host run on the same ones.
    #[serde(rename = "CPUs shared with other ranks")]
    SharedCpus,
}

impl ThreadSource {
    /// Returns the name of the source in the output of `-timing`.
    pub fn name(self) -> &'static str {
        match self {
            Self::NumThreads => "-num_threads",
            Self::FleetblastThreads => "FLEETBLAST_THREADS",
            Self::OmpNumThreads => "OMP_NUM_THREADS",
            Self::SlurmCpusPerTask => "SLURM_CPUS_PER_TASK",
            Self::AffinityMask => "affinity mask",
            Self::CgroupLimit => "cgroup CPU limit",
            Self::Machine => "CPUs of the machine",
            Self::SharedCpus => "CPUs shared with other ranks",
        }
    }
}

/// The threads of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Threads {
    /// Number of threads, at least 1.
    pub count: usize,
    /// The source of the number of threads.
    pub source: ThreadSource,
    /// Number of CPUs that the process may use, at least 1.
    pub cpus: usize,
}

impl Threads {
    /// Returns the threads of a process that shares its CPUs with other processes of its host.
    /// `ranks` is the number of these processes, with this one.
    ///
    /// A number of threads that was chosen for this program stays as it is. Any other number must
    /// not exceed the share of one rank, because a cluster may set `OMP_NUM_THREADS` to all CPUs of
    /// a host.
    #[must_use]
    pub fn beside_processes(self, ranks: usize) -> Self {
        use ThreadSource::{FleetblastThreads, NumThreads};
        let share = (self.cpus / ranks.max(1)).max(1);
        match self.source {
            NumThreads | FleetblastThreads => self,
            _ if self.count <= share => self,
            _ => Self { count: share, source: ThreadSource::SharedCpus, ..self },
        }
    }

    /// Returns the threads of each of `ranks` ranks in this process. `-num_threads` is the number
    /// of threads of each rank. A number from any other source is for the process, and the ranks
    /// share it.
    #[must_use]
    pub fn for_ranks_inside(self, ranks: usize) -> Self {
        match self.source {
            ThreadSource::NumThreads => self,
            _ => Self { count: (self.count / ranks.max(1)).max(1), ..self },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads(count: usize, source: ThreadSource) -> Threads {
        Threads { count, source, cpus: 8 }
    }

    #[test]
    fn processes_on_the_same_cpus_share_them() {
        let beside = |count, source, ranks| {
            let threads = threads(count, source).beside_processes(ranks);
            (threads.count, threads.source)
        };
        use ThreadSource::*;
        assert_eq!(beside(8, Machine, 1), (8, Machine));
        assert_eq!(beside(8, Machine, 3), (2, SharedCpus));
        assert_eq!(beside(8, Machine, 9), (1, SharedCpus));
        assert_eq!(beside(8, OmpNumThreads, 4), (2, SharedCpus));
        assert_eq!(beside(2, OmpNumThreads, 4), (2, OmpNumThreads));
        assert_eq!(beside(4, SlurmCpusPerTask, 2), (4, SlurmCpusPerTask));
        assert_eq!(beside(8, FleetblastThreads, 4), (8, FleetblastThreads));
        assert_eq!(beside(8, NumThreads, 4), (8, NumThreads));
    }

    #[test]
    fn ranks_of_a_process_share_its_threads() {
        let inside = |source, ranks| threads(8, source).for_ranks_inside(ranks).count;
        assert_eq!([1, 2, 3, 9].map(|ranks| inside(ThreadSource::Machine, ranks)), [8, 4, 2, 1]);
        assert_eq!(inside(ThreadSource::FleetblastThreads, 4), 2);
        assert_eq!(inside(ThreadSource::NumThreads, 4), 8);
    }
}
