//! Times of the phases before the first block is searched, in the order of the driver. All ranks go
//! through each phase together.

use serde::{Deserialize, Serialize};

use super::machine::Machine;

/// Number of files that a rank opens for each volume: index, headers and residues.
const FILES_OF_VOLUME: f64 = 3.0;
/// Number of further files that a rank opens: the alias or list.
const OTHER_FILES: f64 = 1.0;
/// Bytes of the index that a host reads to find where partitions begin. These are whole pages, with
/// the pages that the system reads ahead.
const INDEX_BYTES: f64 = 4e6;
/// Number of broadcasts from the first rank to all ranks, in a job without a checkpoint.
const BROADCASTS: f64 = 4.0;
/// Number of gathers, in which each rank receives a part from every rank: for example its location,
/// its features, or the host that it shares. Eleven of them check that all ranks have succeeded so
/// far.
const GATHERS: f64 = 14.0;
/// Bytes of one rank's part of a gather.
const PART: f64 = 32.0;
/// Time of a rank to process one part of a gather, in seconds.
const PART_SECONDS: f64 = 100e-9;
/// Bytes of queries that one current core counts per second; an assumption.
const COUNT_RATE: f64 = 1e9;
/// Traffic of a host's link during the broadcast of the database, relative to the bytes that the
/// host holds. An assumption: it exceeds 1 because some hosts send more than others.
const RELAYS: f64 = 2.0;

/// Amounts of work of a start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Startup {
    /// Size of the queries in bytes. They are counted before the search.
    pub query_bytes: u64,
    /// Number of volumes of the database.
    pub volumes: u32,
    /// Bytes of the database on the host that holds most of it.
    pub host_bytes: u64,
    /// Bytes of the database that all hosts together read.
    pub read_bytes: u64,
    /// Whether hosts receive from each other the bytes that they do not read.
    pub broadcast: bool,
    /// Number of files that earlier runs left in the checkpoint.
    pub spools: u32,
    /// Number of records in these files.
    pub records: u64,
    /// Further phases, after those that this module computes.
    pub more: Vec<Phase>,
}

/// A phase of the start, with its duration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Name of the phase.
    pub name: String,
    /// Duration in seconds.
    pub seconds: f64,
}

/// Bytes of a directory entry, and bytes of the description of a record.
const ENTRY: f64 = 64.0;
/// Number of entries in a directory of the checkpoint.
const OF_DIRECTORY: f64 = 16.0;

impl Startup {
    /// Returns all phases of a start on `ranks` ranks, with their times.
    pub fn phases(&self, machine: &Machine, ranks: u32) -> Vec<Phase> {
        let phase = |name: &str, seconds: f64| Phase { name: name.to_owned(), seconds };
        let usual = [
            phase("opening the database", self.open(machine, ranks)),
            phase("agreeing and gathering", Startup::agree(machine, ranks)),
            phase("counting the queries", self.count(machine)),
            phase("checkpoint", self.scan(machine, ranks)),
            phase("loading the database", self.load(machine, ranks)),
        ];
        usual.into_iter().chain(self.more.iter().cloned()).collect()
    }

    /// Returns the time in seconds to open the database. Every rank opens all files, and each host
    /// reads the first pages of the index.
    fn open(&self, machine: &Machine, ranks: u32) -> f64 {
        let hosts = f64::from(ranks.div_ceil(machine.ranks_per_host.max(1)));
        let files = FILES_OF_VOLUME * f64::from(self.volumes) + OTHER_FILES;
        f64::from(ranks) * files / machine.open_rate + hosts * INDEX_BYTES / machine.file_rate
    }

    fn agree(machine: &Machine, ranks: u32) -> f64 {
        let ranks = f64::from(ranks);
        let step = machine.latency + 2.0 * machine.message_cost;
        let tree = step * ranks.log2().ceil();
        let parts = ranks * (PART / machine.bandwidth + PART_SECONDS);
        2.0 * (BROADCASTS + GATHERS) * tree + GATHERS * parts
    }

    fn count(&self, machine: &Machine) -> f64 {
        self.query_bytes as f64 / COUNT_RATE.min(machine.client_rate)
    }

    /// Returns the time in seconds to read the checkpoint. The first rank lists the files, all
    /// ranks scan them, and all ranks receive the list of records.
    fn scan(&self, machine: &Machine, ranks: u32) -> f64 {
        let (spools, records) = (f64::from(self.spools), self.records as f64);
        let listing = spools / OF_DIRECTORY / machine.open_rate.min(1.0 / machine.write_latency);
        let opening = spools / machine.open_rate;
        let broadcasting = (records + spools) * (ENTRY / machine.bandwidth + PART_SECONDS);
        let own = records / f64::from(ranks.max(1)) * machine.write_latency;
        if self.spools == 0 { 0.0 } else { listing + opening + broadcasting + own }
    }

    fn load(&self, machine: &Machine, ranks: u32) -> f64 {
        let hosts = f64::from(ranks.div_ceil(machine.ranks_per_host.max(1)));
        let read = self.read_bytes as f64 / machine.file_rate;
        if !self.broadcast {
            return read.max(self.read_bytes as f64 / hosts / machine.client_rate);
        }
        read + RELAYS * self.host_bytes as f64 / machine.bandwidth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_start_counts() {
        let startup = Startup {
            query_bytes: 1 << 30,
            volumes: 1,
            host_bytes: 1 << 30,
            read_bytes: 1 << 30,
            broadcast: true,
            spools: 4096,
            records: 10_000,
            more: vec![Phase { name: "more".to_owned(), seconds: 1.0 }],
        };
        let machine = Machine::modern();
        let phases = startup.phases(&machine, 4096);
        assert_eq!(phases.len(), 6);
        assert!(phases.iter().all(|phase| phase.seconds > 0.0), "{phases:?}");
        let many = startup.phases(&machine, 32_768);
        for at in [0, 1] {
            assert!(many[at].seconds > 4.0 * phases[at].seconds, "{phases:?} {many:?}");
        }
    }
}
