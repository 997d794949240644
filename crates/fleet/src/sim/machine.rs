//! The machine that is simulated: network, file system, and how fast ranks are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use crate::ids::Time;

/// A machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Ranks on a host: they share its link.
    pub ranks_per_host: u32,
    /// Cores that the ranks of a host share; `None` if each rank has its own.
    pub cores_per_host: Option<f64>,
    /// Search threads of a rank.
    pub threads: u32,
    /// Seconds that a message takes at least.
    pub latency: f64,
    /// Further seconds that a message takes at most, by chance.
    pub jitter: f64,
    /// Bytes per second of a host's link, each way.
    pub bandwidth: f64,
    /// CPU seconds that sending or receiving a message costs a rank.
    pub message_cost: f64,
    /// Communication takes its CPU time from the search of its rank; otherwise a core is spare.
    pub shared_core: bool,
    /// Bytes per second that the file system takes in all.
    pub file_rate: f64,
    /// Bytes per second that it takes from a client.
    pub client_rate: f64,
    /// Clients that it serves at a time; others wait.
    pub clients: u32,
    /// Seconds per stretch of contiguous bytes written.
    pub write_latency: f64,
    /// Files that it opens a second, or directories that it lists.
    pub opens: f64,
    /// What is written by MPI keeps a rank from answering messages meanwhile.
    pub blocking_writes: bool,
    /// Bytes of memory that a rank may use.
    pub memory: u64,
    /// Bytes per second of a rank's own spool.
    pub spool_rate: f64,
    /// Speed of a rank relative to that on which the times of tasks were taken.
    pub speed: f64,
    /// Standard deviation of the logarithm of a task's time, whatever the task.
    pub noise: f64,
    /// Share of the ranks that are slow.
    pub stragglers: f64,
    /// How many times longer they take.
    pub straggler_factor: f64,
}

impl Machine {
    /// A Blue Gene/P in virtual node mode, as Lin et al. describe it: four ranks and 2 GB a node, an I/O node for 64 compute
    /// nodes, GPFS; 425 MB/s torus links. That it opens 5,000 files a second is a guess.
    pub fn blue_gene(ranks: u32) -> Machine {
        let io_nodes = (f64::from(ranks) / 256.0).max(1.0);
        Machine {
            ranks_per_host: 4,
            cores_per_host: None,
            threads: 1,
            latency: 5e-6,
            jitter: 0.0,
            bandwidth: 425e6,
            message_cost: 3e-6,
            shared_core: true,
            file_rate: io_nodes * 105e6,
            client_rate: 105e6,
            clients: (io_nodes as u32 * 4).max(1),
            write_latency: 5e-3,
            opens: 5e3,
            blocking_writes: true,
            memory: 480 << 20,
            spool_rate: 50e6,
            speed: 1.0,
            noise: 0.02,
            stragglers: 0.0,
            straggler_factor: 1.0,
        }
    }

    /// One host for so many ranks, with a local file system. A message waits until its receiver looks for one.
    pub fn local(ranks: u32) -> Machine {
        Machine {
            ranks_per_host: ranks.max(1),
            cores_per_host: None,
            threads: 1,
            latency: 0.3e-3,
            jitter: 0.0,
            bandwidth: 5e9,
            message_cost: 10e-6,
            shared_core: false,
            file_rate: 1e9,
            client_rate: 1e9,
            clients: 64,
            write_latency: 0.1e-3,
            opens: 100e3,
            blocking_writes: false,
            memory: u64::MAX,
            spool_rate: 1e9,
            speed: 1.0,
            noise: 0.0,
            stragglers: 0.0,
            straggler_factor: 1.0,
        }
    }

    /// A cluster of today: a rank per socket with 256 GB, 100 Gbit links, a parallel file system of 100 GB/s that opens
    /// 50,000 files a second.
    pub fn modern() -> Machine {
        Machine {
            ranks_per_host: 2,
            cores_per_host: None,
            threads: 64,
            latency: 1.5e-6,
            jitter: 0.0,
            bandwidth: 12.5e9,
            message_cost: 1e-6,
            shared_core: false,
            file_rate: 100e9,
            client_rate: 2e9,
            clients: 4096,
            write_latency: 1e-3,
            opens: 50e3,
            blocking_writes: true,
            memory: 256 << 30,
            spool_rate: 2e9,
            speed: 1.0,
            noise: 0.03,
            stragglers: 0.001,
            straggler_factor: 1.5,
        }
    }
}

/// The links of hosts.
#[derive(Clone, Debug)]
pub struct Network {
    latency: u64,
    seconds_per_byte: f64,
    ranks_per_host: u32,
    /// Until when each host's link is busy, out and in.
    out: Vec<u64>,
    into: Vec<u64>,
}

/// When a message is gone, and when it is there.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// The sender's memory is free again.
    pub sent: Time,
    /// The receiver has it.
    pub arrived: Time,
}

impl Network {
    /// The network of so many ranks.
    pub fn new(machine: &Machine, ranks: u32) -> Network {
        let hosts = ranks.div_ceil(machine.ranks_per_host.max(1)) as usize;
        Network {
            latency: Time::from_seconds(machine.latency).0,
            seconds_per_byte: 1.0 / machine.bandwidth,
            ranks_per_host: machine.ranks_per_host.max(1),
            out: vec![0; hosts],
            into: vec![0; hosts],
        }
    }

    /// Sends a message.
    pub fn send(&mut self, now: Time, from: u32, to: u32, bytes: u64) -> Delivery {
        if from == to {
            return Delivery { sent: now, arrived: now };
        }
        let transfer = Time::from_seconds(bytes as f64 * self.seconds_per_byte).0;
        let (from, to) = (from / self.ranks_per_host, to / self.ranks_per_host);
        let (out, into) = (&mut self.out[from as usize], &mut self.into[to as usize]);
        *out = now.0.max(*out) + transfer;
        *into = now.0.max(*into) + transfer;
        Delivery { sent: Time(*out), arrived: Time((*out).max(*into) + self.latency) }
    }
}

/// The shared file system.
#[derive(Clone, Debug)]
pub struct FileSystem {
    seconds_per_byte: f64,
    client_seconds_per_byte: f64,
    latency: f64,
    /// When each client that is served now will be through.
    served: BinaryHeap<Reverse<u64>>,
    clients: usize,
    busy: u64,
    /// Bytes written.
    pub bytes: u64,
}

impl FileSystem {
    /// The file system of a machine.
    pub fn new(machine: &Machine) -> FileSystem {
        FileSystem {
            seconds_per_byte: 1.0 / machine.file_rate,
            client_seconds_per_byte: 1.0 / machine.client_rate,
            latency: machine.write_latency,
            served: BinaryHeap::new(),
            clients: machine.clients.max(1) as usize,
            busy: 0,
            bytes: 0,
        }
    }

    /// A client reads or writes so many bytes in so many stretches; returns when it is through.
    pub fn transfer(&mut self, now: Time, bytes: u64, stretches: usize) -> Time {
        let mut start = now.0;
        if self.served.len() >= self.clients
            && let Some(Reverse(free)) = self.served.pop()
        {
            start = start.max(free);
        }
        let client = bytes as f64 * self.client_seconds_per_byte + stretches as f64 * self.latency;
        let in_all = Time::from_seconds(bytes as f64 * self.seconds_per_byte).0;
        self.busy = self.busy.max(start) + in_all;
        let end = self.busy.max(start + Time::from_seconds(client).0);
        self.served.push(Reverse(end));
        self.bytes += bytes;
        Time(end)
    }
}
