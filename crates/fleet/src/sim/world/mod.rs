//! The simulation of one run of a job.

mod computing;
mod effects;
mod hosts;
mod io_work;
mod job;
mod route;
mod summary;
mod works;

use std::collections::{BTreeMap, HashMap, HashSet};

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::end::JobEnd;
use crate::ids::{Address, BlockId, GroupId, PartitionId, PassId, Rank, Ticket, Time, WorkerId};
use crate::master::Master;
use crate::message::{ToMaster, ToSupermaster, ToWorker};
use crate::role::Event;
use crate::supermaster::Supermaster;
use crate::work::{MasterOutcome, OutputRun, SupermasterOutcome, Window, WorkerOutcome};
use crate::worker::Worker;

use crate::sim::ledger::{Ledger, Task};
use crate::sim::machine::{FileSystem, Network};
use crate::sim::queue::Queue;
use crate::sim::report::Report;

use self::hosts::{ExpectedEnd, Hosts};
use self::job::Parcel;
pub use self::job::{Faults, Job, Outcome, RunEnd};

/// Bytes of the output before the first block.
const HEAD: u64 = 100;

/// Events of the simulation.
enum SimEvent {
    Supermaster(Event<ToSupermaster<Parcel>, SupermasterOutcome<Parcel>>),
    Master(u32, Event<ToMaster<Parcel>, MasterOutcome<Parcel>>),
    Worker(u32, Event<ToWorker<Parcel>, WorkerOutcome<Parcel>>),
    /// A work of this worker has ended, with this outcome and effect.
    Worked(u32, Ticket, WorkerOutcome<Parcel>, Option<Box<Effect>>),
    /// Some work may have ended on a host whose ranks share cores.
    Host(ExpectedEnd),
    Tick(Rank),
    Kill,
}

/// The effect of a work, which is recorded in the ledger when the work ends.
enum Effect {
    Search(Task),
    /// Answered tasks, each with its round, and the bytes of pieces kept in memory.
    Answer(Vec<(Task, u32)>, u64),
    Gather(u64),
    Write(Window<Parcel>, Option<u64>),
    HandOver(Window<Parcel>),
    Together(Vec<OutputRun>, u64),
}

/// State of a rank.
#[derive(Clone, Debug, Default)]
struct Place {
    /// Time until which communication and works of a master or supermaster keep the rank busy.
    busy: Time,
    /// Nanoseconds that communication and works of a master or supermaster took from the running
    /// search.
    stolen: u64,
    /// Factor by which works on the search threads take longer than on the rank with speed 1.
    slowness: f64,
    dead: bool,
    searching: bool,
}

/// A worker that has entered a collective write.
struct CollectiveMember {
    worker: u32,
    ticket: Ticket,
    effect: Option<Box<Effect>>,
    freed: u64,
    entered: Time,
}

/// The workers of a group that have entered a collective write, and their bytes.
#[derive(Default)]
struct CollectiveWrite {
    members: Vec<CollectiveMember>,
    bytes: u64,
}

/// Sums for the report. Times are in nanoseconds.
#[derive(Default)]
struct Sums {
    search: u64,
    answer: u64,
    blocked: u64,
    output: u64,
    supermaster: u64,
    /// Time of the supermaster's works.
    reading: u64,
    masters: Vec<u64>,
    /// Number of messages that each master sent.
    master_messages: Vec<u64>,
    last_work: Vec<Time>,
}

struct World<'a> {
    job: &'a Job,
    queue: Queue<SimEvent>,
    /// Number of events in the queue, not counting ticks.
    alive: u64,
    supermaster: Supermaster<Parcel>,
    masters: Vec<Master<Parcel>>,
    workers: Vec<Worker<Parcel>>,
    places: Vec<Place>,
    /// Roles on each rank.
    hosted: Vec<Vec<Address>>,
    network: Network,
    files: FileSystem,
    /// State of the hosts, if their ranks share cores.
    hosts: Option<Hosts>,
    rng: Xoshiro256PlusPlus,
    /// Arrival time of the last message between two roles; only kept if message times are random.
    last: HashMap<(Address, Address), Time>,
    collectives: BTreeMap<GroupId, CollectiveWrite>,
    spilled: HashSet<(BlockId, PassId, PartitionId, u32)>,
    ledger: Option<Ledger>,
    sums: Sums,
    report: Report,
    exited: HashSet<Address>,
    /// Result with which a role exited first.
    exit: Option<JobEnd>,
    end: Option<RunEnd>,
    now: Time,
}

/// Simulates a run of a job.
pub fn simulate(job: &Job) -> Outcome {
    let mut world = World::new(job);
    world.begin();
    world.run();
    world.finish()
}

impl<'a> World<'a> {
    fn new(job: &'a Job) -> World<'a> {
        let (topology, config, machine) = (&job.topology, &job.config, &job.machine);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(job.seed);
        let place = |_| {
            let slow = machine.stragglers > 0.0 && rng.random_bool(machine.stragglers);
            let slowness = if slow { machine.straggler_factor } else { 1.0 };
            Place { slowness: slowness / machine.speed, ..Place::default() }
        };
        let places: Vec<Place> = (0..topology.ranks).map(place).collect();
        let mut hosted = vec![Vec::new(); topology.ranks as usize];
        hosted[topology.supermaster.index()].push(Address::Supermaster);
        for (number, group) in topology.groups.iter().enumerate() {
            hosted[group.master.index()].push(Address::Master(GroupId(number as u32)));
        }
        for (number, worker) in topology.workers.iter().enumerate() {
            hosted[worker.rank.index()].push(Address::Worker(WorkerId(number as u32)));
        }
        let workers = topology.workers.len();
        let ledger = job.audit.then(|| {
            let checkpoint = job.checkpoint.clone();
            Ledger::new(&job.workload, HEAD, workers, config, checkpoint)
        });
        let groups = (0..topology.groups.len() as u32).map(GroupId);
        World {
            queue: Queue::new(),
            alive: 0,
            supermaster: Supermaster::new(config, topology, job.checkpoint.finished_blocks()),
            masters: groups.map(|group| Master::new(group, config, topology)).collect(),
            workers: (0..workers as u32)
                .map(|worker| Worker::new(WorkerId(worker), config, topology))
                .collect(),
            places,
            hosted,
            network: Network::new(machine, topology.ranks),
            files: FileSystem::new(machine),
            hosts: Hosts::new(machine, topology.ranks),
            rng,
            last: HashMap::new(),
            collectives: BTreeMap::new(),
            spilled: HashSet::new(),
            ledger,
            sums: Sums {
                masters: vec![0; topology.groups.len()],
                master_messages: vec![0; topology.groups.len()],
                last_work: vec![Time(0); workers],
                ..Sums::default()
            },
            report: Report::default(),
            exited: HashSet::new(),
            exit: None,
            end: None,
            now: Time(0),
            job,
        }
    }

    fn rank(&self, role: Address) -> Rank {
        match role {
            Address::Supermaster => self.job.topology.supermaster,
            Address::Master(group) => self.job.topology.group(group).master,
            Address::Worker(worker) => self.job.topology.worker(worker).rank,
        }
    }

    fn add(&mut self, time: Time, happening: SimEvent) {
        self.alive += u64::from(!matches!(happening, SimEvent::Tick(_)));
        self.queue.add(time, happening);
    }

    fn begin(&mut self) {
        if let Some(startup) = &self.job.startup {
            self.report.phases = startup.phases(&self.job.machine, self.job.topology.ranks);
        }
        self.report.startup = self.report.phases.iter().map(|phase| phase.seconds).sum();
        let start = Time::from_seconds(self.report.startup);
        self.add(start, SimEvent::Supermaster(Event::Start));
        for group in 0..self.masters.len() as u32 {
            self.add(start, SimEvent::Master(group, Event::Start));
        }
        for worker in 0..self.workers.len() as u32 {
            self.add(start, SimEvent::Worker(worker, Event::Start));
        }
        if let Some(heartbeat) = self.job.config.heartbeat {
            for rank in 0..self.places.len() as u32 {
                // The ranks tick at different times.
                let first = start + Time(heartbeat.interval.0 * u64::from(rank % 97) / 97);
                self.add(first, SimEvent::Tick(Rank(rank)));
            }
        }
        let faults = &self.job.faults;
        if let Some(time) = faults.drain {
            self.add(time, SimEvent::Supermaster(Event::Drain));
        }
        if let Some(time) = faults.kill {
            self.add(time, SimEvent::Kill);
        }
    }

    fn run(&mut self) {
        while self.end.is_none() {
            let idle = self.alive == 0 && self.job.faults.death.is_none();
            let Some((time, happening)) = self.queue.next().filter(|_| !idle) else {
                self.end = Some(RunEnd::Stuck);
                return;
            };
            self.now = time;
            self.alive -= u64::from(!matches!(happening, SimEvent::Tick(_)));
            if let Some((rank, death)) = self.job.faults.death
                && time >= death
            {
                self.places[rank.index()].dead = true;
                self.end_if_all_left();
                let limit = self.job.config.heartbeat.map_or(Time(0), |heartbeat| heartbeat.limit);
                if time > death + Time(10 * limit.0) && self.alive == 0 {
                    self.end = Some(RunEnd::Stuck);
                    return;
                }
            }
            self.happen(happening);
        }
    }

    fn happen(&mut self, happening: SimEvent) {
        match happening {
            SimEvent::Supermaster(event) => self.supermaster(event),
            SimEvent::Master(group, event) => self.master(group, event),
            SimEvent::Worker(worker, event) => self.worker(worker, event),
            SimEvent::Worked(worker, ticket, outcome, effect) => {
                self.work_ended(worker, ticket, outcome, effect);
            }
            SimEvent::Host(expected) => self.end_works_of_host(expected),
            SimEvent::Tick(rank) => self.tick(rank),
            SimEvent::Kill => self.end = Some(RunEnd::Killed),
        }
    }

    fn exit(&mut self, role: Address, exit: JobEnd) {
        if role == Address::Supermaster {
            self.report.makespan = self.now.seconds();
        }
        self.exited.insert(role);
        self.exit.get_or_insert(exit);
        self.end_if_all_left();
    }

    /// Ends the run once some role has exited, and every other role has exited or is on a dead
    /// rank.
    fn end_if_all_left(&mut self) {
        let Some(exit) = self.exit else { return };
        let of_dead = |(rank, _): (Rank, Time)| {
            let dead = self.places[rank.index()].dead;
            let roles = self.hosted[rank.index()].iter();
            roles.filter(|role| dead && !self.exited.contains(role)).count()
        };
        let dead = self.job.faults.death.map_or(0, of_dead);
        if self.exited.len() + dead == 1 + self.masters.len() + self.workers.len() {
            self.end.get_or_insert(RunEnd::Exited(exit));
        }
    }

    fn tick(&mut self, rank: Rank) {
        let Some(heartbeat) = self.job.config.heartbeat else { return };
        for role in self.hosted[rank.index()].clone() {
            match role {
                Address::Supermaster => self.supermaster(Event::Tick),
                Address::Master(group) => self.master(group.0, Event::Tick),
                Address::Worker(worker) => self.worker(worker.0, Event::Tick),
            }
        }
        self.add(self.now + heartbeat.interval, SimEvent::Tick(rank));
    }
}
