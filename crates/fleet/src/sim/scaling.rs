//! Large jobs, laid out as the driver lays them out: how far a search scales.

use serde::{Deserialize, Serialize};

use crate::config::{Config, QueryOrder, Schedule, Strategy};
use crate::payload::Weight;
use crate::plan::{BLOCK_QUERIES, BLOCK_RESIDUES, Cut, Layout, LayoutError, Request, Size, Wishes};

use super::machine::Machine;
use super::startup::Startup;
use super::workload::{Distribution, Source, Workload};
use super::world::Job;

/// Bytes of a database's volume at most, by default (`makeblastdb -max_file_sz`).
const VOLUME_BYTES: u64 = 3_000_000_000;
/// Residues of queries that BLAST+ searches together, by default.
const BATCH_RESIDUES: u64 = 10_000;

/// Seconds to read a residue of the queries and to compress it for its way.
const READ_SECONDS: f64 = 40e-9;
/// Seconds to mask a residue of the queries and to compute their statistics: 12 to 28 ms were seen for 50,000.
const PREPARE_SECONDS: f64 = 400e-9;

/// How many of 100 proteins needed so many rounds of `psiblast` against 176,606, of five at most (docs/cluster.md).
const ROUNDS: [f64; 5] = [0.0, 32.0, 13.0, 6.0, 49.0];

/// A kind of machine with what is searched on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MachineKind {
    /// Blue Gene/P searching microbial genomes, 5.4 GB, against themselves (Lin et al., section V-D).
    BlueGene,
    /// A cluster of today searching proteins against 240 billion residues (nr in 2024).
    Modern,
}

/// A job at some scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// Machine and work.
    pub kind: MachineKind,
    /// Ranks.
    pub ranks: u32,
    /// Queries.
    pub queries: u32,
    /// How blocks get to groups.
    pub schedule: Schedule,
    /// In which order blocks are handed out, if not in the driver's own.
    pub order: Option<QueryOrder>,
    /// Rounds of a query at most (`psiblast -num_iterations`), up to five.
    pub iterations: u32,
    /// How output gets into the file.
    pub strategy: Strategy,
    /// What the user wants; the rest is chosen as for any search.
    pub wishes: Wishes,
    /// Determines the queries and all chance.
    pub seed: u64,
}

impl Scale {
    /// The job of the paper's figure 5: 250,000 queries.
    pub fn blue_gene(ranks: u32) -> Scale {
        Scale {
            kind: MachineKind::BlueGene,
            ranks,
            queries: 250_000,
            schedule: Schedule::Dynamic,
            order: None,
            iterations: 1,
            strategy: Strategy::Merge,
            wishes: Wishes::default(),
            seed: 1,
        }
    }

    /// Ten million proteins on a cluster of today.
    pub fn modern(ranks: u32) -> Scale {
        Scale { kind: MachineKind::Modern, queries: 10_000_000, ..Scale::blue_gene(ranks) }
    }

    /// The machine.
    pub fn machine(&self) -> Machine {
        match self.kind {
            MachineKind::BlueGene => Machine::blue_gene(self.ranks),
            MachineKind::Modern => Machine::modern(),
        }
    }

    /// What is searched. Seconds of works beside the search were seen in traces of searches on two cores of today (2,000
    /// queries, 17 blocks, 68 tasks); a core of Blue Gene/P takes ten times as long.
    pub fn distribution(&self) -> Distribution {
        let slower = match self.kind {
            MachineKind::BlueGene => 10.0,
            MachineKind::Modern => 1.0,
        };
        let usual = Distribution {
            queries: self.queries,
            residues: 333.0,
            residue_spread: 0.7,
            // 4.8e11 pairs of residues in 2 s on a core (docs/performance.md), with 64 of these.
            search_seconds: 333.0 * 240e9 / (240e9 * 64.0),
            // Seen (docs/cluster.md): queries whose subjects are many more in later rounds take longer in these.
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
            // A master took 145 us a query, which found fewer subjects.
            master_seconds: slower * 1e-3,
            work_seconds: slower * 20e-6,
            read_seconds: slower * READ_SECONDS,
            prepare_seconds: slower * PREPARE_SECONDS,
        };
        match self.kind {
            MachineKind::Modern => usual,
            // The whole took 12 hours on 32,768 cores: about 256 s for a sequence of 1,000 bases.
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

    /// How many queries need one round, two, and so on.
    fn rounds(&self) -> Vec<f64> {
        let (kept, more) = ROUNDS.split_at((self.iterations as usize).clamp(1, ROUNDS.len()));
        let mut rounds = kept.to_vec();
        *rounds.last_mut().expect("one at least") += more.iter().sum::<f64>();
        rounds
    }

    /// What the driver would know of the job before it starts.
    pub fn request(&self) -> Request {
        let (machine, queries) = (self.machine(), self.distribution());
        let database = match self.kind {
            MachineKind::BlueGene => {
                Size { bytes: 1_360_000_000, residues: 5_440_000_000, sequences: 5_440_000 }
            }
            MachineKind::Modern => {
                Size { bytes: 240 << 30, residues: 240 << 30, sequences: 680_000_000 }
            }
        };
        let residues = (f64::from(self.queries) * queries.residues) as u64;
        Request {
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
            wishes: self.wishes,
        }
    }

    /// The job, with all that the driver chooses for it.
    ///
    /// # Errors
    /// A layout that is not possible.
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
        let job = Job::planned(&layout, &request, source, self.machine(), self.seed);
        Ok((layout, job))
    }
}

impl Job {
    /// The job of a layout: what the driver does with it, on a machine.
    pub fn planned(
        layout: &Layout,
        request: &Request,
        source: Source,
        machine: Machine,
        seed: u64,
    ) -> Job {
        let cut = Cut {
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
    fn queries_that_go_on_end_with_the_last_round() {
        let rounds = |iterations| Scale { iterations, ..Scale::modern(4) }.rounds();
        assert_eq!(rounds(1), [100.0]);
        assert_eq!(rounds(5), ROUNDS);
        assert_eq!(rounds(3).len(), 3);
        assert_eq!(rounds(3).iter().sum::<f64>(), 100.0);
    }

    /// Whatever the driver would choose is what is simulated.
    #[test]
    fn a_simulated_job_is_what_the_driver_lays_out() {
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
