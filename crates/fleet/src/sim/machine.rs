//! The simulated machine: its network, its file system, and the speed of its ranks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use crate::ids::Time;

/// Properties of a simulated machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Number of ranks per host. They share the link of the host.
    pub ranks_per_host: u32,
    /// Number of cores that the ranks of a host share; `None` if each rank has cores of its own.
    pub cores_per_host: Option<f64>,
    /// Number of search threads per rank.
    pub threads: u32,
    /// Least time of a message in seconds.
    pub latency: f64,
    /// Most random time added to a message, in seconds.
    pub jitter: f64,
    /// Bandwidth of a host's link in bytes per second, in each direction.
    pub bandwidth: f64,
    /// CPU time of a rank to send or receive a message, in seconds.
    pub message_cost: f64,
    /// Whether communication takes its CPU time from the search of its rank. Otherwise there is a
    /// spare core for it.
    pub shared_core: bool,
    /// Bandwidth of the file system in bytes per second, for all clients together.
    pub file_rate: f64,
    /// Bandwidth of the file system in bytes per second, for one client.
    pub client_rate: f64,
    /// Number of clients that the file system serves at once. Other clients wait.
    pub clients: u32,
    /// Seconds that each contiguous write takes in addition to its transfer.
    pub write_latency: f64,
    /// Number of files opened, or directories listed, per second.
    pub open_rate: f64,
    /// Whether a rank handles no messages while it writes by MPI.
    pub blocking_writes: bool,
    /// Bytes of memory that a rank may use.
    pub memory: u64,
    /// Bandwidth of a rank's own spool in bytes per second.
    pub spool_rate: f64,
    /// Speed of a rank, relative to the rank on which the task times were measured.
    pub speed: f64,
    /// Standard deviation of the logarithm of the random factor of a work's time.
    pub noise: f64,
    /// Share of ranks that are slow.
    pub stragglers: f64,
    /// Factor by which works take longer on slow ranks.
    pub straggler_factor: f64,
}

impl Machine {
    /// Returns a Blue Gene/P in virtual node mode, as Lin et al. describe it: four ranks and 2 GB a
    /// node, an I/O node for 64 compute nodes, GPFS, and 425 MB/s torus links. The rate of 5,000
    /// opened files a second is a guess.
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
            open_rate: 5e3,
            blocking_writes: true,
            memory: 480 << 20,
            spool_rate: 50e6,
            speed: 1.0,
            noise: 0.02,
            stragglers: 0.0,
            straggler_factor: 1.0,
        }
    }

    /// Returns one host for all ranks, with a local file system. The latency is long, because a
    /// message waits until its receiver polls.
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
            open_rate: 100e3,
            blocking_writes: false,
            memory: u64::MAX,
            spool_rate: 1e9,
            speed: 1.0,
            noise: 0.0,
            stragglers: 0.0,
            straggler_factor: 1.0,
        }
    }

    /// Returns a current cluster: a rank per socket with 256 GB, 100 Gbit links, and a parallel
    /// file system of 100 GB/s that opens 50,000 files a second.
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
            open_rate: 50e3,
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

/// The network of the hosts. Each host has one link in each direction.
#[derive(Clone, Debug)]
pub struct Network {
    latency: u64,
    seconds_per_byte: f64,
    ranks_per_host: u32,
    /// Time until which the link of each host is busy with sending (`out`) and receiving (`into`).
    out: Vec<u64>,
    into: Vec<u64>,
}

/// Times at which a message leaves its sender and reaches its receiver.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// Time when the message has left, so that the sender's memory is free again.
    pub sent: Time,
    /// Time when the message has reached the receiver.
    pub arrived: Time,
}

impl Network {
    /// Creates the network of `ranks` ranks.
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

    /// Sends a message of `bytes` bytes between two ranks. Returns its times.
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

/// The file system that all ranks share.
#[derive(Clone, Debug)]
pub struct FileSystem {
    seconds_per_byte: f64,
    client_seconds_per_byte: f64,
    latency: f64,
    /// Times at which the transfers being served end, the earliest first.
    served: BinaryHeap<Reverse<u64>>,
    clients: usize,
    busy: u64,
    /// Bytes written so far.
    pub bytes: u64,
}

impl FileSystem {
    /// Creates the file system of a machine.
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

    /// Transfers bytes of one client in `stretches` contiguous accesses. Returns the end time.
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
