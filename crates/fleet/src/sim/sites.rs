//! Simulates a search whose report is made at another site. The metadata of the search crosses a
//! link in the order of the blocks. Ranks of the I/O site, the *makers*, make the report from the
//! metadata. The first maker, the *manager*, writes it, as in a real job on two sites.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::machine::{FileSystem, Machine};
use super::queue::Queue;
use super::startup::Phase;
use super::workload::{Distribution, Source};
use crate::ids::Time;
use crate::topology::Topology;

/// Bytes of metadata that may be under way while their report is not written. At this limit the
/// sender waits.
const ROOM: u64 = 64 << 20;
/// Number of blocks per maker for which reports may be made ahead of the next block to be written.
const AHEAD: usize = 2;

/// Costs of metadata, in comparison with a report.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EncodingCost {
    /// Bytes of metadata per byte of the report.
    pub share: f64,
    /// Core time at the search site to encode the metadata, less the time to format the report, in
    /// seconds per byte of the report.
    pub encode_seconds: f64,
    /// Core time at the I/O site to make the report from the metadata, in seconds per byte of the
    /// report.
    pub report_seconds: f64,
    /// Whether the makers need the database. If so, each of their hosts reads it whole, to verify
    /// that it is the same as at the search site.
    pub is_compared: bool,
}

/// The link between two sites.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Bandwidth in bytes per second.
    pub rate: f64,
    /// Time from sending a byte to its arrival, in seconds.
    pub delay: f64,
}

/// The I/O site, where the report is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportSite {
    /// The link to the search site.
    pub link: Link,
    /// Number of ranks at this site.
    pub ranks: u32,
    /// Properties of the machine.
    pub machine: Machine,
    /// Size of the database at the I/O site in bytes.
    pub database: u64,
    /// Costs of the metadata that this site receives.
    pub encoding: EncodingCost,
}

/// A block whose metadata is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodedBlock {
    /// Time from which its metadata, and that of all earlier blocks, can be sent.
    pub at: Time,
    /// Size of the metadata in bytes.
    pub bytes: u64,
    /// Number of queries of the block. A maker divides them among its threads.
    pub queries: u64,
}

/// Times and sizes of the report at the I/O site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SiteReport {
    /// Time when the report is complete, in seconds.
    pub end: f64,
    /// Number of bytes sent over the link.
    pub link_bytes: u64,
    /// Size of the report in bytes.
    pub report: u64,
    /// Time when the makers have read their database, in seconds.
    pub ready: f64,
    /// Time in which the link was busy, in seconds.
    pub link: f64,
    /// Time in which makers made reports, in seconds, as a sum over all makers.
    pub making: f64,
    /// Time in which the manager wrote the report, in seconds.
    pub writing: f64,
}

impl Machine {
    /// Returns the same machine with its files at the other end of a link. The network file system
    /// hides the delay of the link, as sshfs does.
    #[must_use]
    pub fn with_remote_files(self, link: Link) -> Machine {
        let (file_rate, client_rate) =
            (self.file_rate.min(link.rate), self.client_rate.min(link.rate));
        Machine { file_rate, client_rate, ..self }
    }
}

impl EncodingCost {
    /// Returns the source of a search that encodes metadata instead of formatting its report.
    #[must_use]
    pub fn encoded_source(&self, queries: &Distribution) -> Source {
        let report = queries.subjects * queries.piece_bytes + queries.master_bytes as f64;
        Source::Drawn(Distribution {
            piece_bytes: queries.piece_bytes * self.share,
            master_bytes: (queries.master_bytes as f64 * self.share).ceil() as u64,
            master_seconds: queries.master_seconds + self.encode_seconds * report,
            ..queries.clone()
        })
    }
}

/// Returns the time that the search site needs to compute the fingerprint of a database. For each
/// partition, one rank that holds it reads it before the search.
pub fn fingerprint(database: u64, topology: &Topology, machine: &Machine) -> Phase {
    let hosts = topology.workers.len().div_ceil(machine.ranks_per_host.max(1) as usize);
    let (partitions, bytes) = (topology.partitions.max(1), database as f64);
    let each = f64::from(partitions.div_ceil(hosts.max(1) as u32)) / f64::from(partitions);
    let seconds = (bytes / machine.file_rate).max(bytes * each / machine.client_rate);
    Phase { name: "its fingerprint".to_owned(), seconds }
}

/// Events at both ends of the link.
enum Event {
    /// The metadata of a block can be sent.
    BlockReady,
    /// The metadata of a block has arrived.
    Arrived(usize),
    /// A maker has opened and verified its database.
    Ready,
    /// A maker has made the report of a block.
    Made(usize),
    /// The manager has received the report of a block.
    Received(usize),
    /// The sender learns that the report from this many bytes of metadata is written.
    Written(u64),
}

/// Simulates the I/O site for these blocks, in their order. Returns the times and sizes of the
/// report.
pub fn simulate_report_site(blocks: &[EncodedBlock], site: &ReportSite) -> SiteReport {
    let mut simulation = SiteSimulation::new(blocks, site);
    while let Some((now, event)) = simulation.queue.next() {
        simulation.happen(now, event);
    }
    simulation.arrival
}

struct SiteSimulation<'a> {
    blocks: &'a [EncodedBlock],
    site: &'a ReportSite,
    queue: Queue<Event>,
    /// Number of blocks whose metadata can be sent (`ready_blocks`), and number of those sent
    /// (`sent`).
    ready_blocks: usize,
    sent: usize,
    under_way: u64,
    /// Blocks whose metadata has arrived and whose report no maker has begun.
    waiting: VecDeque<usize>,
    idle: usize,
    /// Blocks whose report the manager has received and not written.
    made: BTreeSet<usize>,
    next: usize,
    files: FileSystem,
    /// Times until which four resources are busy: the link between the sites, the link of the
    /// manager's host in both directions, and the manager, which handles no events while it writes.
    link: Time,
    out: Time,
    into: Time,
    manager: Time,
    arrival: SiteReport,
}

impl<'a> SiteSimulation<'a> {
    fn new(blocks: &'a [EncodedBlock], site: &'a ReportSite) -> Self {
        let mut queue = Queue::new();
        let ready = site.opening_time();
        (0..site.ranks).for_each(|_| queue.add(ready, Event::Ready));
        blocks.iter().for_each(|block| queue.add(block.at, Event::BlockReady));
        SiteSimulation {
            blocks,
            site,
            queue,
            ready_blocks: 0,
            sent: 0,
            under_way: 0,
            waiting: VecDeque::new(),
            idle: 0,
            made: BTreeSet::new(),
            next: 0,
            files: FileSystem::new(&site.machine),
            link: Time(0),
            out: Time(0),
            into: Time(0),
            manager: Time(0),
            arrival: SiteReport { ready: ready.seconds(), ..SiteReport::default() },
        }
    }

    fn happen(&mut self, now: Time, event: Event) {
        let is_managers = matches!(event, Event::Arrived(_) | Event::Ready | Event::Received(_));
        if is_managers && now < self.manager {
            return self.queue.add(self.manager, event);
        }
        match event {
            Event::BlockReady => {
                self.ready_blocks += 1;
                self.send(now);
            }
            Event::Written(bytes) => {
                self.under_way -= bytes;
                self.send(now);
            }
            Event::Arrived(block) => {
                self.waiting.push_back(block);
                self.start_makers(now);
            }
            Event::Ready => {
                self.idle += 1;
                self.start_makers(now);
            }
            Event::Made(block) => {
                let bytes = self.report(block);
                let received = Self::pass(&mut self.into, now, bytes, &self.site.machine);
                self.queue.add(received, Event::Received(block));
            }
            Event::Received(block) => {
                self.idle += 1;
                self.made.insert(block);
                let now = self.write(now);
                self.start_makers(now);
            }
        }
    }

    /// Returns the size of a block's report in bytes.
    fn report(&self, block: usize) -> u64 {
        (self.blocks[block].bytes as f64 / self.site.encoding.share) as u64
    }

    fn send(&mut self, now: Time) {
        let Link { rate, delay } = self.site.link;
        while self.sent < self.ready_blocks && self.under_way < ROOM {
            let bytes = self.blocks[self.sent].bytes;
            let span = bytes as f64 / rate;
            self.link = self.link.max(now) + Time::from_seconds(span);
            self.queue.add(self.link + Time::from_seconds(delay), Event::Arrived(self.sent));
            self.under_way += bytes;
            self.sent += 1;
            self.arrival.link_bytes += bytes;
            self.arrival.link += span;
        }
    }

    /// Sends bytes over the link of the manager's host, which is busy until `busy`. Returns the
    /// time when they arrive.
    fn pass(busy: &mut Time, now: Time, bytes: u64, machine: &Machine) -> Time {
        *busy = now.max(*busy) + Time::from_seconds(bytes as f64 / machine.bandwidth);
        *busy + Time::from_seconds(machine.latency)
    }

    fn start_makers(&mut self, now: Time) {
        let machine = &self.site.machine;
        while self.idle > 0
            && let Some(&block) = self.waiting.front()
            && block < self.next + AHEAD * self.site.ranks as usize
        {
            self.waiting.pop_front();
            self.idle -= 1;
            let EncodedBlock { bytes, queries, .. } = self.blocks[block];
            let begun = Self::pass(&mut self.out, now, bytes, machine);
            let threads = u64::from(machine.threads).min(queries).max(1);
            let work =
                self.report(block) as f64 * self.site.encoding.report_seconds / machine.speed;
            let span = work / threads as f64;
            self.arrival.making += span;
            self.queue.add(begun + Time::from_seconds(span), Event::Made(block));
        }
    }

    /// Writes the reports that are next in order. Returns the end time.
    fn write(&mut self, now: Time) -> Time {
        let mut done = now;
        while self.made.remove(&self.next) {
            let report = self.report(self.next);
            let begun = done;
            done = self.files.transfer(begun, report, 1);
            self.arrival.writing += done.since(begun).seconds();
            self.arrival.report += report;
            let acknowledged = done + Time::from_seconds(self.site.link.delay);
            self.queue.add(acknowledged, Event::Written(self.blocks[self.next].bytes));
            self.next += 1;
        }
        self.manager = self.manager.max(done);
        self.arrival.end = self.arrival.end.max(done.seconds());
        done
    }
}

impl ReportSite {
    /// Returns the time when the ranks have verified that their database is the one that is
    /// searched. Each host reads the whole database for this.
    fn opening_time(&self) -> Time {
        if !self.encoding.is_compared {
            return Time(0);
        }
        let (machine, bytes) = (&self.machine, self.database as f64);
        let hosts = f64::from(self.ranks.div_ceil(machine.ranks_per_host.max(1)));
        let seconds = (hosts * bytes / machine.file_rate).max(bytes / machine.client_rate);
        Time::from_seconds(seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::TopologyShape;

    const MEGABYTE: u64 = 1_000_000;

    fn site(rate: f64, delay: f64) -> ReportSite {
        ReportSite {
            link: Link { rate, delay },
            ranks: 4,
            machine: Machine { ranks_per_host: 1, ..Machine::local(4) },
            database: 1_000_000_000,
            encoding: EncodingCost {
                share: 0.01,
                encode_seconds: 0.0,
                report_seconds: 1e-8,
                is_compared: true,
            },
        }
    }

    /// Returns `count` blocks: one per second, each with `bytes` bytes of metadata.
    fn blocks(count: u64, bytes: u64) -> Vec<EncodedBlock> {
        let ready_blocks =
            |number| EncodedBlock { at: Time::from_seconds(number as f64), bytes, queries: 10 };
        (1..=count).map(ready_blocks).collect()
    }

    #[test]
    fn hosts_share_the_reading_for_the_fingerprint() {
        let seconds = |ranks, partitions, machine: &Machine| {
            let shape =
                TopologyShape { ranks, groups: 1, replicas: 1, partitions, dedicated: false };
            fingerprint(4_000_000_000, &Topology::new(shape), machine).seconds
        };
        let machine = Machine { client_rate: 1e9, file_rate: 1e12, ..site(1.0, 0.0).machine };
        assert_eq!(seconds(8, 8, &machine), 0.5);
        // A partition is the smallest unit that a rank reads, so with two partitions only two ranks
        // read.
        assert_eq!(seconds(8, 2, &machine), 2.0);
        assert_eq!(seconds(2, 8, &Machine { ranks_per_host: 2, ..machine.clone() }), 4.0);
        assert_eq!(seconds(8, 8, &Machine { file_rate: 2e9, ..machine }), 2.0);
    }

    #[test]
    fn a_link_that_is_fast_enough_adds_the_last_block_and_its_delay() {
        let arrival = simulate_report_site(&blocks(20, MEGABYTE / 10), &site(1e9, 0.1));
        assert_eq!(arrival.link_bytes, 2 * MEGABYTE);
        assert_eq!(arrival.report, 200 * MEGABYTE);
        // The report of the last block has 10 MB. It takes 0.1 s to make and 0.01 s to write.
        assert!((20.2..20.3).contains(&arrival.end), "{arrival:?}");
    }

    #[test]
    fn a_slow_link_bounds_the_report() {
        let arrival = simulate_report_site(&blocks(20, MEGABYTE), &site(0.1e6, 0.0));
        assert!((201.0..205.0).contains(&arrival.end), "{arrival:?}");
        assert!((arrival.link - 200.0).abs() < 0.1, "{arrival:?}");
    }

    #[test]
    fn a_long_link_is_kept_full_up_to_the_limit() {
        let many: Vec<EncodedBlock> = blocks(200, MEGABYTE)
            .into_iter()
            .map(|ready_blocks| EncodedBlock { at: Time(0), ..ready_blocks })
            .collect();
        let mut near = site(100e6, 0.0);
        near.encoding =
            EncodingCost { share: 1.0, report_seconds: 0.0, is_compared: false, ..near.encoding };
        let far = ReportSite { link: Link { delay: 1.0, ..near.link }, ..near.clone() };
        let (near, far) =
            (simulate_report_site(&many, &near).end, simulate_report_site(&many, &far).end);
        // The sender waits after 67 MB; its first report is acknowledged after more than two
        // seconds.
        assert!(near < 2.5 && far > 5.0, "{near} {far}");
    }

    #[test]
    fn makers_wait_for_their_database_and_for_the_writer() {
        let mut slow = site(1e9, 0.0);
        slow.machine.file_rate = 10e6;
        let arrival = simulate_report_site(&blocks(20, MEGABYTE / 10), &slow);
        assert!((arrival.ready - 400.0).abs() < 1.0, "{arrival:?}");
        assert!(arrival.end > 400.0 + 20.0, "{arrival:?}");
        let mut none = slow.clone();
        none.encoding.is_compared = false;
        assert!(
            (20.0..25.0).contains(&simulate_report_site(&blocks(20, MEGABYTE / 10), &none).end)
        );
    }

    #[test]
    fn an_empty_search_has_an_empty_report() {
        assert_eq!(simulate_report_site(&[], &site(1.0, 1.0)).end, 0.0);
    }
}
