//! Large jobs: how the schedule scales.

use serde::{Deserialize, Serialize};

use crate::config::{Config, Schedule, Strategy};
use crate::ids::Time;
use crate::topology::{Shape, Topology};

use super::machine::Machine;
use super::workload::{Distribution, Source, Workload};
use super::world::Job;

/// A kind of machine with what is searched on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Blue Gene/P searching microbial genomes against themselves (Lin et al., section V-D): 64 partitions, replicas of 16
    /// workers.
    BlueGene,
    /// A cluster of today: ranks with 64 threads that hold a quarter of the database each.
    Modern,
}

/// A job at some scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// Machine and work.
    pub kind: Kind,
    /// Ranks.
    pub ranks: u32,
    /// Blocks of queries.
    pub blocks: u32,
    /// Ranks per group.
    pub group: u32,
    /// How blocks get to groups.
    pub schedule: Schedule,
    /// How output gets into the file.
    pub strategy: Strategy,
    /// Determines the queries and all chance.
    pub seed: u64,
}

impl Scale {
    /// The paper's job: 250,000 queries, groups of 128.
    pub fn blue_gene(ranks: u32) -> Scale {
        Scale {
            kind: Kind::BlueGene,
            ranks,
            blocks: 250_000,
            group: 128,
            schedule: Schedule::Dynamic,
            strategy: Strategy::Merge,
            seed: 1,
        }
    }

    /// The same number of query blocks on a cluster of today, in groups of 32.
    pub fn modern(ranks: u32) -> Scale {
        Scale { kind: Kind::Modern, group: 32, ..Scale::blue_gene(ranks) }
    }

    /// What is searched.
    pub fn distribution(&self) -> Distribution {
        match self.kind {
            // 5.4 GB of queries took 12 hours on 32,768 cores: about 4 s for a sequence of 1,000 bases and a partition.
            Kind::BlueGene => Distribution {
                blocks: self.blocks,
                sequences: 1,
                residues: 1000.0,
                residue_spread: 0.7,
                search_seconds: 256.0,
                block_spread: 0.5,
                task_spread: 0.3,
                answer_share: 0.05,
                hit_chance: 0.3,
                most_pieces: 2,
                piece_bytes: 15_000.0,
                piece_spread: 1.0,
                master_bytes: 2000,
                hit_bytes: 500,
                master_seconds: 30e-6,
                read_seconds: 10e-6,
            },
            Kind::Modern => Distribution {
                blocks: self.blocks,
                sequences: 100,
                residues: 33_000.0,
                residue_spread: 0.1,
                search_seconds: 20.0,
                block_spread: 0.3,
                task_spread: 0.1,
                answer_share: 0.15,
                hit_chance: 1.0,
                most_pieces: 2,
                piece_bytes: 500_000.0,
                piece_spread: 0.7,
                master_bytes: 100_000,
                hit_bytes: 40_000,
                master_seconds: 500e-6,
                read_seconds: 500e-6,
            },
        }
    }

    /// The job.
    pub fn job(&self) -> Job {
        let (partitions, replica, machine) = match self.kind {
            Kind::BlueGene => (64, 16, Machine::blue_gene(self.ranks)),
            Kind::Modern => (8, 4, Machine::modern()),
        };
        let groups = (self.ranks / self.group).max(1);
        let workers = self.ranks / groups;
        let topology = Topology::new(Shape {
            ranks: self.ranks,
            groups,
            replicas: (workers / replica).max(1),
            partitions,
            dedicated: false,
        });
        let workload = Workload::new(Source::Drawn(self.distribution()), partitions, self.seed);
        let config = Config {
            strategy: self.strategy,
            schedule: self.schedule,
            result_memory: 64 << 20,
            waiting_limit: u64::from(self.ranks) * (32 << 20),
            total: Some(workload.total()),
            segment_residues: 100_000,
            heartbeat: None,
            drain_limit: Time::from_seconds(20.0),
            ..Config::default()
        };
        Job::new(topology, config, machine, workload, self.seed)
    }
}
