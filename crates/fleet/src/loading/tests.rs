//! Routes, and loading ranks on a network with delays.

use std::collections::{BTreeMap, BTreeSet};

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::ids::Time;
use crate::topology::{Topology, TopologyShape};

const SECOND: u64 = 1_000_000_000;

/// Returns the topology, the hosts and the routes of a job whose ranks are dealt to hosts in turn.
fn job(ranks: u32, hosts: u32, replicas: u32, partitions: u32) -> (Topology, Vec<u32>, Vec<Route>) {
    let shape = TopologyShape { ranks, groups: 1, replicas, partitions, dedicated: false };
    let topology = Topology::new(shape);
    let hosts: Vec<u32> = (0..ranks).map(|rank| rank % hosts).collect();
    let piece = PIECE_BYTES as u64;
    let sizes: Vec<u64> =
        (0..u64::from(partitions)).map(|number| number % 4 * piece + number % 3).collect();
    let routes = routes(&topology, &hosts, &sizes);
    (topology, hosts, routes)
}

#[test]
fn a_route_is_a_tree_of_all_hosts_that_hold_the_partition() {
    for (ranks, hosts, replicas, partitions) in
        [(1, 1, 1, 1), (7, 7, 7, 3), (16, 5, 3, 61), (100, 100, 100, 2), (64, 8, 20, 9)]
    {
        let (topology, host_of, routes) = job(ranks, hosts, replicas, partitions);
        assert_eq!(routes.len(), partitions as usize);
        for route in &routes {
            let holders =
                topology.workers.iter().filter(|w| w.partitions.contains(&route.partition));
            let holding: BTreeSet<u32> = holders.map(|w| host_of[w.rank.index()]).collect();
            let filled: BTreeSet<u32> = route.ranks.iter().map(|r| host_of[r.index()]).collect();
            assert_eq!((filled.len(), &filled), (route.ranks.len(), &holding), "one rank a host");
            let holds = |rank: &Rank| {
                topology
                    .workers
                    .iter()
                    .any(|w| w.rank == *rank && w.partitions.contains(&route.partition))
            };
            assert!(route.ranks.iter().all(holds), "who fills it searches it");
            let mut parents = BTreeMap::new();
            for position in 0..route.ranks.len() {
                for child in route.children(position) {
                    assert_eq!(parents.insert(child, route.ranks[position]), None);
                }
            }
            assert_eq!(parents.len() + 1, route.ranks.len());
            for (position, rank) in route.ranks.iter().enumerate() {
                assert_eq!(route.parent(position), parents.get(rank).copied());
                let mut depth = 0;
                let mut at = *rank;
                while let Some(&parent) = parents.get(&at) {
                    (at, depth) = (parent, depth + 1);
                }
                assert!(at == route.ranks[0] && depth <= route.ranks.len().ilog2());
            }
        }
    }
}

#[test]
fn reading_and_filling_are_spread() {
    // Two ranks on each host, and each rank holds everything.
    let (_, hosts, routes) = job(8, 4, 8, 64);
    let (mut read, mut sent, mut filled) = ([0; 4], [0; 4], [0; 8]);
    for route in &routes {
        read[hosts[route.ranks[0].index()] as usize] += route.size;
        for (position, rank) in route.ranks.iter().enumerate() {
            sent[hosts[rank.index()] as usize] +=
                route.size * route.children(position).count() as u64;
            filled[rank.index()] += route.size;
        }
    }
    let total: u64 = routes.iter().map(|route| route.size).sum();
    let near = |bytes: &u64, even: u64| (even / 2..=even * 3 / 2).contains(bytes);
    assert!(read.iter().all(|bytes| near(bytes, total / 4)), "{read:?} of {total}");
    assert!(sent.iter().all(|bytes| near(bytes, 3 * total / 4)), "{sent:?} of {total}");
    assert!(filled.iter().all(|bytes| near(bytes, total / 2)), "{filled:?} of {total}");
}

#[test]
fn a_host_has_each_of_its_partitions_once() {
    let (topology, hosts, routes) = job(10, 3, 4, 13);
    for host in 0..3 {
        let ranks: Vec<Rank> = (0..10).filter(|&r| hosts[r as usize] == host).map(Rank).collect();
        let places = PartitionOffsets::new(&routes, &ranks);
        let mut at = 0;
        assert_eq!(ranks.len(), places.shares.len());
        for (rank, share) in ranks.iter().zip(&places.shares) {
            assert_eq!(share.start, at);
            for route in routes.iter().filter(|route| route.ranks.contains(rank)) {
                assert_eq!(places.starts[&route.partition], at);
                at += route.size as usize;
            }
            assert_eq!(share.end, at);
        }
        assert_eq!(places.length, at);
        let workers = topology.workers.iter().filter(|worker| ranks.contains(&worker.rank));
        let held: BTreeSet<_> =
            workers.flat_map(|worker| worker.partitions.iter().copied()).collect();
        assert_eq!(places.starts.keys().copied().collect::<BTreeSet<_>>(), held);
    }
}

/// An event on the network.
#[derive(Debug)]
enum Event {
    Read(Rank, Piece),
    Piece(Rank, Rank, Piece),
    Confirmation(Rank, Rank),
    Beat(Rank, PartitionId),
    Look,
}

/// The states of all ranks and the messages between them, which arrive after random delays.
struct Network {
    states: Vec<LoadingState>,
    under_way: BTreeMap<(Time, u64), Event>,
    numbers: u64,
    rng: Xoshiro256PlusPlus,
    /// Arrival time of the last message between two ranks.
    last: BTreeMap<(Rank, Rank), Time>,
    /// Number of pieces that are on their way or not yet confirmed, by sender and receiver.
    unconfirmed: BTreeMap<(Rank, Rank), usize>,
    /// Pieces that each rank has put in place.
    placed: BTreeSet<(Rank, Piece)>,
    reads: u64,
    /// Ranks that handle no events any more.
    stuck: BTreeSet<Rank>,
}

impl Network {
    /// Creates a network. A rank that reads takes `pace` nanoseconds for each piece.
    fn new(ranks: u32, routes: &[Route], pace: u64, seed: u64) -> Network {
        let states =
            (0..ranks).map(|rank| LoadingState::new(Rank(rank), routes, Time(0))).collect();
        let mut network = Network {
            states,
            under_way: BTreeMap::new(),
            numbers: 0,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            last: BTreeMap::new(),
            unconfirmed: BTreeMap::new(),
            placed: BTreeSet::new(),
            reads: 0,
            stuck: BTreeSet::new(),
        };
        let mut busy: BTreeMap<Rank, u64> = BTreeMap::new();
        for route in routes {
            for piece in Piece::pieces_of_partition(route.partition, route.size) {
                let until = busy.entry(route.ranks[0]).or_default();
                *until += pace;
                network.schedule(Time(*until), Event::Read(route.ranks[0], piece));
            }
        }
        network.schedule(Time(SECOND), Event::Look);
        network
    }

    fn schedule(&mut self, time: Time, event: Event) {
        self.numbers += 1;
        self.under_way.insert((time, self.numbers), event);
    }

    /// Schedules the arrival of an event. Messages between the same two ranks keep their order.
    fn send(&mut self, now: Time, from: Rank, to: Rank, event: Event) {
        let delay = Time(self.rng.random_range(1..SECOND / 2));
        let arrival = self.last.entry((from, to)).or_default();
        *arrival = (now + delay).max(*arrival);
        let arrival = *arrival;
        self.schedule(arrival, event);
    }

    /// Sends all pieces that a rank may send now.
    fn pump(&mut self, rank: Rank, now: Time) {
        while let Some((to, piece)) = self.states[rank.index()].next_piece(now) {
            let unconfirmed = self.unconfirmed.entry((rank, to)).or_default();
            *unconfirmed += 1;
            assert!(*unconfirmed <= 2, "a rank is sent more than it may be");
            self.send(now, rank, to, Event::Piece(rank, to, piece));
        }
    }

    /// Runs until all pieces are in place, or until a rank reports a silent rank.
    fn run(&mut self) -> Result<Time, (Rank, SilentRank)> {
        while let Some(((now, _), event)) = self.under_way.pop_first() {
            match event {
                Event::Read(rank, piece) if !self.stuck.contains(&rank) => {
                    assert!(self.states[rank.index()].note_arrival(piece, None, now));
                    assert!(self.placed.insert((rank, piece)));
                    self.reads += 1;
                    self.pump(rank, now);
                }
                Event::Piece(from, to, piece) if !self.stuck.contains(&to) => {
                    assert!(self.states[to.index()].note_arrival(piece, Some(from), now));
                    assert!(self.placed.insert((to, piece)));
                    self.send(now, to, from, Event::Confirmation(to, from));
                    self.pump(to, now);
                }
                Event::Confirmation(from, to) if !self.stuck.contains(&to) => {
                    *self.unconfirmed.get_mut(&(to, from)).unwrap() -= 1;
                    assert!(self.states[to.index()].note_confirmation(from, now));
                    self.pump(to, now);
                }
                Event::Beat(to, partition) => {
                    self.states[to.index()].note_heartbeat(partition, now)
                }
                Event::Look if self.states.iter().all(LoadingState::is_done) => return Ok(now),
                Event::Look => {
                    for rank in (0..self.states.len() as u32).map(Rank) {
                        if self.stuck.contains(&rank) {
                            continue;
                        }
                        if let Some(silence) = self.states[rank.index()].silent_rank(now) {
                            return Err((rank, silence));
                        }
                        for (to, partition) in self.states[rank.index()].due_heartbeats(now) {
                            self.send(now, rank, to, Event::Beat(to, partition));
                        }
                    }
                    self.schedule(now + Time(SECOND), Event::Look);
                }
                _ => {}
            }
        }
        panic!("nothing happens any more");
    }
}

#[test]
fn every_piece_reaches_every_host_and_is_read_once() {
    for (seed, (ranks, hosts, replicas, partitions)) in
        [(1, 1, 1, 3), (2, 2, 2, 5), (9, 4, 3, 17), (16, 16, 16, 8), (33, 11, 33, 4)]
            .into_iter()
            .enumerate()
    {
        let (_, _, routes) = job(ranks, hosts, replicas, partitions);
        // A piece takes so long that without heartbeats a rank would count as dead.
        let mut network = Network::new(ranks, &routes, 25 * SECOND, seed as u64);
        network.run().unwrap();
        let pieces =
            |route: &Route| Piece::pieces_of_partition(route.partition, route.size).count() as u64;
        assert_eq!(network.reads, routes.iter().map(pieces).sum::<u64>());
        let wanted = routes.iter().map(|route| pieces(route) * route.ranks.len() as u64);
        assert_eq!(network.placed.len() as u64, wanted.sum::<u64>());
    }
}

#[test]
fn a_rank_that_is_stuck_is_named_by_one_that_waits_for_it() {
    let (_, _, routes) = job(16, 16, 16, 4);
    for stuck in 0..16 {
        let mut network = Network::new(16, &routes, SECOND, 7);
        network.stuck.insert(Rank(stuck));
        let (_, silence) = network.run().unwrap_err();
        assert_eq!(silence.rank, Rank(stuck), "{silence:?}");
        assert!((60.0..70.0).contains(&silence.lasted.seconds()), "{silence:?}");
    }
}

#[test]
fn ranks_that_all_wait_do_not_keep_each_other_waiting() {
    // Each rank reads the partition for which the other waits, and the file server is gone.
    let (_, _, routes) = job(2, 2, 2, 8);
    let mut network = Network::new(2, &routes, 1_000 * SECOND, 3);
    let (rank, silence) = network.run().unwrap_err();
    assert!(rank != silence.rank && silence.awaited == AwaitedMessage::Bytes, "{rank} {silence:?}");
}

#[test]
fn a_rank_that_did_not_listen_blames_nobody() {
    let (_, _, routes) = job(2, 2, 2, 8);
    let reading = routes.iter().find(|route| route.size > 0).unwrap();
    let mut state = LoadingState::new(reading.ranks[1], &routes, Time(0));
    assert_eq!(state.silent_rank(Time(300 * SECOND)), None);
    for second in 301..360 {
        assert_eq!(state.silent_rank(Time(second * SECOND)), None);
    }
    let sent = (360..364).find_map(|second| state.silent_rank(Time(second * SECOND))).unwrap();
    assert_eq!(sent.rank, reading.ranks[0]);
}

#[test]
fn unexpected_pieces_are_refused() {
    let (_, _, routes) = job(2, 2, 2, 8);
    let route = routes.iter().find(|route| route.size > 0).unwrap();
    let (first, second) = (route.ranks[0], route.ranks[1]);
    let piece = Piece { partition: route.partition, number: 0 };
    let mut state = LoadingState::new(second, &routes, Time(0));
    assert!(!state.note_arrival(piece, None, Time(0)), "it does not read this");
    assert!(!state.note_arrival(Piece { number: 999, ..piece }, Some(first), Time(0)));
    assert!(!state.note_arrival(
        Piece { partition: PartitionId(99), ..piece },
        Some(first),
        Time(0)
    ));
    assert!(!state.note_confirmation(first, Time(0)));
    assert!(state.note_arrival(piece, Some(first), Time(0)));
    assert!(!state.note_arrival(piece, Some(first), Time(0)), "twice");
}
