//! Simulates hosts whose ranks share cores. While a host runs more search threads than it has
//! cores, all its works take longer.

use crate::ids::{Ticket, Time};
use crate::sim::machine::Machine;
use crate::work::WorkerOutcome;

use super::{Effect, Parcel};

/// A running work: its worker, its ticket, its outcome and its effect.
pub type Work = (u32, Ticket, WorkerOutcome<Parcel>, Option<Box<Effect>>);

/// The hosts of a job whose ranks share cores.
pub struct Hosts {
    ranks_per_host: u32,
    /// Number of works that a host can run at full speed at the same time.
    cores: f64,
    hosts: Vec<Host>,
}

/// State of a host.
#[derive(Default)]
struct Host {
    /// Running works, each with the nanoseconds that it would still take if it ran alone.
    running: Vec<(f64, Work)>,
    /// Time at which these nanoseconds were computed.
    since: Time,
    /// Number of changes so far. Each change makes the earlier expected end invalid.
    version: u64,
}

/// Time at which the next work of a host will end, if no work begins there before.
#[derive(Clone, Copy)]
pub struct ExpectedEnd {
    /// The host.
    pub host: u32,
    /// Number of changes of the host when this time was computed.
    pub version: u64,
    /// The time of the expected end.
    pub time: Time,
}

impl Hosts {
    /// Creates the hosts of `ranks` ranks; `None` if each rank has cores of its own.
    pub fn new(machine: &Machine, ranks: u32) -> Option<Hosts> {
        let cores = machine.cores_per_host? / f64::from(machine.threads.max(1));
        let ranks_per_host = machine.ranks_per_host.max(1);
        let hosts = (0..ranks.div_ceil(ranks_per_host)).map(|_| Host::default()).collect();
        Some(Hosts { ranks_per_host, cores, hosts })
    }

    /// Begins a work that would take `span` if it ran alone. Returns the next expected end on its
    /// host.
    pub fn begin(&mut self, rank: u32, now: Time, span: Time, work: Work) -> ExpectedEnd {
        let host = rank / self.ranks_per_host;
        let state = &mut self.hosts[host as usize];
        state.advance(now, self.cores);
        state.running.push((span.0 as f64, work));
        self.foresee(host, now).unwrap_or(ExpectedEnd { host, version: 0, time: now })
    }

    /// Returns the works that end at the expected time, and the next expected end. If a work has
    /// begun since the time was computed, no work ends.
    pub fn end(&mut self, expected: ExpectedEnd) -> (Vec<Work>, Option<ExpectedEnd>) {
        let state = &mut self.hosts[expected.host as usize];
        if state.version != expected.version {
            return (Vec::new(), None);
        }
        state.advance(expected.time, self.cores);
        let (ended, running) = std::mem::take(&mut state.running)
            .into_iter()
            .partition(|(left, _): &(f64, Work)| *left < 1.0);
        state.running = running;
        let ended: Vec<(f64, Work)> = ended;
        (
            ended.into_iter().map(|(_, work)| work).collect(),
            self.foresee(expected.host, expected.time),
        )
    }

    fn foresee(&mut self, host: u32, now: Time) -> Option<ExpectedEnd> {
        let state = &mut self.hosts[host as usize];
        state.version += 1;
        let least = state.running.iter().map(|(left, _)| *left).min_by(f64::total_cmp)?;
        let span = (least / state.rate(self.cores)).ceil() as u64;
        Some(ExpectedEnd { host, version: state.version, time: now + Time(span) })
    }
}

impl Host {
    /// Returns the speed of each work, relative to a work that runs alone.
    fn rate(&self, cores: f64) -> f64 {
        (cores / self.running.len().max(1) as f64).min(1.0)
    }

    fn advance(&mut self, now: Time, cores: f64) {
        let done = now.since(self.since).0 as f64 * self.rate(cores);
        self.running.iter_mut().for_each(|(left, _)| *left -= done);
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(worker: u32) -> Work {
        (worker, Ticket(0), WorkerOutcome::Written { freed: 0 }, None)
    }

    #[test]
    fn three_ranks_on_two_cores_take_half_as_long_again() {
        let machine = Machine { cores_per_host: Some(2.0), ..Machine::local(3) };
        let mut hosts = Hosts::new(&machine, 3).expect("cores are shared");
        hosts.begin(0, Time(0), Time(1000), work(0));
        hosts.begin(1, Time(0), Time(1000), work(1));
        let expected = hosts.begin(2, Time(0), Time(400), work(2));
        assert_eq!(expected.time, Time(600));
        let (ended, next) = hosts.end(expected);
        assert_eq!(ended.iter().map(|work| work.0).collect::<Vec<_>>(), [2]);
        // Each of the other two works has 600 ns left, and now a core of its own.
        assert_eq!(next.map(|next| next.time), Some(Time(1200)));
        assert!(hosts.end(expected).0.is_empty(), "it was expected before a change");
    }
}
