//! Simulates large jobs with the layout that the driver would choose, to show how far a search
//! scales.

use serde::{Deserialize, Serialize};

use crate::config::{Config, QueryOrder, Schedule, Strategy};
use crate::payload::Weight;
use crate::plan::{
    BLOCK_QUERIES, BLOCK_RESIDUES, BlockLimits, DatabaseSize, Layout, LayoutError, PlanInput,
    UserSettings,
};

use super::machine::Machine;
use super::startup::Startup;
use super::workload::{Distribution, Source, Workload};
use super::world::Job;

/// Default size limit of a database volume in bytes (`makeblastdb -max_file_sz`).
const VOLUME_BYTES: u64 = 3_000_000_000;
/// Default number of residues in a batch of BLAST+.
const BATCH_RESIDUES: u64 = 10_000;

/// Seconds per residue to read the queries and to compress them for sending.
const READ_SECONDS: f64 = 40e-9;
/// Seconds per residue to mask the queries and to compute their statistics. Measured: 12 to 28 ms
/// for 50,000 residues.
const PREPARE_SECONDS: f64 = 400e-9;

/// How many of 100 proteins needed one, two, three, four and five iterations of `psiblast` against
/// 176,606 subjects (docs/cluster.md).
const ROUNDS: [f64; 5] = [0.0, 32.0, 13.0, 6.0, 49.0];

/// Kind of a simulated machine, with the search that runs on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MachineKind {
    /// Blue Gene/P that searches microbial genomes, 5.4 GB, against themselves (Lin et al., section
    /// V-D).
    BlueGene,
    /// A current cluster that searches proteins against 240 billion residues (nr in 2024).
    Modern,
}

/// A job to simulate: its machine, its search and its size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// The machine and the search.
    pub kind: MachineKind,
    /// Number of ranks.
    pub ranks: u32,
    /// Number of queries.
    pub queries: u32,
    /// Method by which blocks get to the groups.
    pub schedule: Schedule,
    /// Order in which blocks are handed out; `None` for the driver's default.
    pub order: Option<QueryOrder>,
    /// Largest number of iterations of a query (`psiblast -num_iterations`), at most five.
    pub iterations: u32,
    /// Method by which the output gets into the file.
    pub strategy: Strategy,
    /// Settings that the user chose. The others are chosen as for a real job.
    #[serde(rename = "wishes")]
    pub user_settings: UserSettings,
    /// Seed that determines the queries and all random times.
    pub seed: u64,
}

impl Scale {
    /// Returns the job of figure 5 of the paper by Lin et al., with 250,000 queries.
    pub fn blue_gene(ranks: u32) -> Scale {
        Scale {
            kind: MachineKind::BlueGene,
            ranks,
            queries: 250_000,
            schedule: Schedule::Dynamic,
            order: None,
            iterations: 1,
            strategy: Strategy::Merge,
            user_settings: UserSettings::default(),
            seed: 1,
        }
    }

    /// Returns a job of ten million proteins on a current cluster.
    pub fn modern(ranks: u32) -> Scale {
        Scale { kind: MachineKind::Modern, queries: 10_000_000, ..Scale::blue_gene(ranks) }
    }

    /// Returns the properties of the machine.
    pub fn machine(&self) -> Machine {
        match self.kind {
            MachineKind::BlueGene => Machine::blue_gene(self.ranks),
            MachineKind::Modern => Machine::modern(),
        }
    }

    /// Returns the distributions of queries and times. The times of works other than the search
    /// come from traces of searches on two current cores (2,000 queries, 17 blocks, 68 tasks). A
    /// core of a Blue Gene/P takes ten times as long.
    pub fn distribution(&self) -> Distribution {
        let slower = match self.kind {
            MachineKind::BlueGene => 10.0,
            MachineKind::Modern => 1.0,
        };
        let usual = Distribution {
            queries: self.queries,
            residues: 333.0,
            residue_spread: 0.7,
            // Measured: 4.8e11 pairs of residues in 2 s on one core (docs/performance.md). A rank
            // has 64 cores.
            search_seconds: 333.0 * 240e9 / (240e9 * 64.0),
            // Measured (docs/cluster.md): queries that find many more subjects in later iterations
            // also take longer in these iterations.
            query_spread: if self.iterations > 1 { 0.7 } else { 0.5 },
            task_spread: 0.1,
            answer_share: 0.15,
            passes: self.rounds(),
            predicted: false,
            rounds: 2,
            subjects: 250.0,
            most_pieces: 2,
            piece_bytes: 1500.0,
            piece_spread: 0.7,
            master_bytes: 1000,
            hit_bytes: 40_000.0,
            // Measured: a master took 145 us for a query that found fewer subjects.
            master_seconds: slower * 1e-3,
            work_seconds: slower * 20e-6,
            read_seconds: slower * READ_SECONDS,
            prepare_seconds: slower * PREPARE_SECONDS,
        };
        match self.kind {
            MachineKind::Modern => usual,
            // The whole search took 12 hours on 32,768 cores, which is about 256 s for a sequence
            // of 1,000 bases.
            MachineKind::BlueGene => Distribution {
                residues: 1000.0,
                search_seconds: 256.0,
                task_spread: 0.3,
                answer_share: 0.05,
                subjects: 29.0,
                piece_bytes: 15_000.0,
                piece_spread: 1.0,
                ..usual
            },
        }
    }

    /// Returns the relative numbers of queries that need one iteration, two, and so on.
    fn rounds(&self) -> Vec<f64> {
        let (kept, more) = ROUNDS.split_at((self.iterations as usize).clamp(1, ROUNDS.len()));
        let mut rounds = kept.to_vec();
        *rounds.last_mut().expect("one at least") += more.iter().sum::<f64>();
        rounds
    }

    /// Returns the facts that the driver would know before the job starts.
    pub fn request(&self) -> PlanInput {
        let (machine, queries) = (self.machine(), self.distribution());
        let database = match self.kind {
            MachineKind::BlueGene => {
                DatabaseSize { bytes: 1_360_000_000, residues: 5_440_000_000, sequences: 5_440_000 }
            }
            MachineKind::Modern => {
                DatabaseSize { bytes: 240 << 30, residues: 240 << 30, sequences: 680_000_000 }
            }
        };
        let residues = (f64::from(self.queries) * queries.residues) as u64;
        PlanInput {
            ranks: self.ranks,
            ranks_per_host: machine.ranks_per_host,
            hosts: self.ranks.div_ceil(machine.ranks_per_host),
            broadcast: true,
            stream: false,
            threads: machine.threads,
            memory: machine.memory,
            database,
            queries: Some(Weight { sequences: self.queries.into(), residues }),
            batch_residues: BATCH_RESIDUES,
            most_block_residues: BLOCK_RESIDUES,
            block_queries: BLOCK_QUERIES,
            user_settings: self.user_settings,
        }
    }

    /// Returns the layout and the job, with the settings that the driver would choose.
    ///
    /// # Errors
    /// The layout is impossible.
    pub fn job(&self) -> Result<(Layout, Job), LayoutError> {
        let request = self.request();
        let config = Config {
            strategy: self.strategy,
            schedule: self.schedule,
            longest_first: QueryOrder::longest_first(self.order),
            ..Config::default()
        };
        let layout = request.plan(&config)?;
        let source = Source::Drawn(self.distribution());
        let job = Job::from_layout(&layout, &request, source, self.machine(), self.seed);
        Ok((layout, job))
    }
}

impl Job {
    /// Creates the simulated job of a layout on a machine, as the driver would run it.
    pub fn from_layout(
        layout: &Layout,
        request: &PlanInput,
        source: Source,
        machine: Machine,
        seed: u64,
    ) -> Job {
        let cut = BlockLimits {
            batch_residues: request.batch_residues,
            block_residues: layout.block_residues,
            block_queries: BLOCK_QUERIES,
        };
        let workload = Workload::new(source, cut, layout.shape.partitions, seed);
        let startup = Startup {
            query_bytes: request.queries.map_or(0, |queries| queries.residues),
            volumes: request.database.bytes.div_ceil(VOLUME_BYTES) as u32,
            host_bytes: layout.host_memory,
            read_bytes: layout.bytes_read,
            broadcast: layout.broadcast,
            ..Startup::default()
        };
        let (topology, config) = (layout.topology.clone(), layout.config.clone());
        Job { startup: Some(startup), ..Job::new(topology, config, machine, workload, seed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_queries_end_with_the_last_iteration() {
        let rounds = |iterations| Scale { iterations, ..Scale::modern(4) }.rounds();
        assert_eq!(rounds(1), [100.0]);
        assert_eq!(rounds(5), ROUNDS);
        assert_eq!(rounds(3).len(), 3);
        assert_eq!(rounds(3).iter().sum::<f64>(), 100.0);
    }

    /// The simulated job must have the settings that the driver would choose.
    #[test]
    fn a_simulated_job_has_the_layout_of_the_driver() {
        for scale in [Scale::blue_gene(4096), Scale { queries: 1000, ..Scale::modern(512) }] {
            let (_, job) = scale.job().unwrap();
            let driver = scale.request().plan(&Config::default()).unwrap();
            assert_eq!(*job.config, driver.config);
            assert_eq!(*job.topology, driver.topology);
            assert!(job.config.heartbeat.is_some() && job.config.total.is_some());
            let residues: u64 = (0..job.workload.blocks())
                .map(|block| job.workload.weight(crate::ids::BlockId(block)).residues)
                .sum();
            let mean = residues as f64 / f64::from(job.workload.blocks());
            assert!(mean >= driver.block_residues as f64 * 0.9, "{mean}");
            assert!(mean < driver.block_residues as f64 + 10_000.0, "{mean}");
        }
    }
}
