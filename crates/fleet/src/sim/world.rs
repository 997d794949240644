//! The simulated job.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::config::Config;
use crate::ids::{BlockId, GroupId, PartitionId, Rank, Ticket, Time, WorkerId};
use crate::master::Master;
use crate::message::{Address, Outgoing, ToMaster, ToSupermaster, ToWorker};
use crate::payload::{Payload, Queries};
use crate::role::{Action, Event, Exit, Failure, Role};
use crate::supermaster::Supermaster;
use crate::topology::Topology;
use crate::work::{
    Holder, MasterOutcome, MasterWork, Run, Slice, SupermasterOutcome, SupermasterWork, Window,
    WorkerOutcome, WorkerWork,
};
use crate::worker::Worker;

use super::ledger::{Checkpoint, Ledger};
use super::machine::{FileSystem, Machine, Network};
use super::queue::Queue;
use super::report::Report;
use super::workload::{Workload, factor};

/// Bytes before the first block.
const HEAD: u64 = 100;
/// Bytes per second at which memory is copied.
const COPY_RATE: f64 = 5e9;

/// A payload of the simulation: a size, and a word for whoever gets it.
#[derive(Clone, Copy, Debug)]
pub struct Parcel {
    bytes: u64,
    /// In questions: the round.
    word: u32,
}

impl Parcel {
    fn of(bytes: u64) -> Parcel {
        Parcel { bytes, word: 0 }
    }
}

impl Payload for Parcel {
    fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// What goes wrong.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// All ranks die.
    pub kill: Option<Time>,
    /// A rank falls silent.
    pub death: Option<(Rank, Time)>,
    /// The supermaster is told to drain.
    pub drain: Option<Time>,
    /// A rank's writes fail from then on.
    pub full_disk: Option<(Rank, Time)>,
}

/// A job to simulate.
#[derive(Clone, Debug)]
pub struct Job {
    /// Who is where.
    pub topology: Arc<Topology>,
    /// Settings.
    pub config: Arc<Config>,
    /// The machine.
    pub machine: Machine,
    /// The queries.
    pub workload: Workload,
    /// What goes wrong.
    pub faults: Faults,
    /// What an earlier run left.
    pub checkpoint: Checkpoint,
    /// Keep account of every byte. Takes memory for each task and block.
    pub audit: bool,
    /// Determines noise, jitter and stragglers.
    pub seed: u64,
}

/// How a simulated job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All roles exited.
    Exited(Exit),
    /// Ended by [`Faults::kill`].
    Killed,
    /// A role ended the job.
    Failed(Failure),
    /// Nothing more would happen: a deadlock.
    Stuck,
}

/// What became of a job.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Its figures.
    pub report: Report,
    /// What is durable.
    pub checkpoint: Checkpoint,
    /// What was wrong; empty unless audited.
    pub violations: Vec<String>,
}

/// Events of the simulation.
enum Happening {
    Supermaster(Event<ToSupermaster, SupermasterOutcome<Parcel>>),
    Master(u32, Event<ToMaster<Parcel>, MasterOutcome<Parcel>>),
    Worker(u32, Event<ToWorker<Parcel>, WorkerOutcome<Parcel>>),
    /// A worker's work has ended, with what it changed.
    Worked(u32, Ticket, WorkerOutcome<Parcel>, Option<Box<Effect>>),
    Tick(Rank),
    Kill,
}

/// What a work changes when it is done.
enum Effect {
    Search(BlockId, PartitionId),
    Keep(u64),
    Gather(u64),
    Write(Window<Parcel>, Option<u64>),
    Together(Vec<Run>, u64),
}

/// A rank.
#[derive(Clone, Debug, Default)]
struct Place {
    /// Until when its communication and its master's works are busy.
    busy: Time,
    /// Time that they took from the search under way.
    stolen: u64,
    /// Slower than others by this factor.
    slowness: f64,
    dead: bool,
    searching: bool,
}

/// Workers of a group in a collective write.
#[derive(Default)]
struct Meeting {
    members: Vec<(u32, Ticket, Option<Box<Effect>>, u64, Time)>,
    bytes: u64,
}

/// Sums for the report, in nanoseconds.
#[derive(Default)]
struct Sums {
    search: u64,
    answer: u64,
    blocked: u64,
    output: u64,
    supermaster: u64,
    masters: Vec<u64>,
    last_work: Vec<Time>,
}

struct World<'a> {
    job: &'a Job,
    queue: Queue<Happening>,
    /// Events in the queue other than ticks.
    alive: u64,
    supermaster: Supermaster<Parcel>,
    masters: Vec<Master<Parcel>>,
    workers: Vec<Worker<Parcel>>,
    places: Vec<Place>,
    /// Roles hosted by each rank.
    hosted: Vec<Vec<Address>>,
    network: Network,
    files: FileSystem,
    rng: Xoshiro256PlusPlus,
    /// Last arrival between two roles; kept only if messages take times by chance.
    last: HashMap<(Address, Address), Time>,
    meetings: BTreeMap<GroupId, Meeting>,
    spilled: HashSet<(BlockId, PartitionId, u32)>,
    ledger: Option<Ledger>,
    sums: Sums,
    report: Report,
    exited: HashSet<Address>,
    /// How the supermaster exited.
    exit: Option<Exit>,
    end: Option<End>,
    now: Time,
}

/// Simulates a job.
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
            Ledger::new(&job.workload, HEAD, workers, config.result_memory, checkpoint)
        });
        let groups = (0..topology.groups.len() as u32).map(GroupId);
        World {
            queue: Queue::new(),
            alive: 0,
            supermaster: Supermaster::new(config, topology, job.checkpoint.finished()),
            masters: groups.map(|group| Master::new(group, config, topology)).collect(),
            workers: (0..workers as u32)
                .map(|worker| Worker::new(WorkerId(worker), config, topology))
                .collect(),
            places,
            hosted,
            network: Network::new(machine, topology.ranks),
            files: FileSystem::new(machine),
            rng,
            last: HashMap::new(),
            meetings: BTreeMap::new(),
            spilled: HashSet::new(),
            ledger,
            sums: Sums {
                masters: vec![0; topology.groups.len()],
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

    fn add(&mut self, time: Time, happening: Happening) {
        self.alive += u64::from(!matches!(happening, Happening::Tick(_)));
        self.queue.add(time, happening);
    }

    fn begin(&mut self) {
        self.add(Time(0), Happening::Supermaster(Event::Start));
        for group in 0..self.masters.len() as u32 {
            self.add(Time(0), Happening::Master(group, Event::Start));
        }
        for worker in 0..self.workers.len() as u32 {
            self.add(Time(0), Happening::Worker(worker, Event::Start));
        }
        if let Some(heartbeat) = self.job.config.heartbeat {
            for rank in 0..self.places.len() as u32 {
                // Not all at once.
                let first = Time(heartbeat.interval.0 * u64::from(rank % 97) / 97);
                self.add(first, Happening::Tick(Rank(rank)));
            }
        }
        let faults = &self.job.faults;
        if let Some(time) = faults.drain {
            self.add(time, Happening::Supermaster(Event::Drain));
        }
        if let Some(time) = faults.kill {
            self.add(time, Happening::Kill);
        }
    }

    fn run(&mut self) {
        while self.end.is_none() {
            let idle = self.alive == 0 && self.job.faults.death.is_none();
            let Some((time, happening)) = self.queue.next().filter(|_| !idle) else {
                self.end = Some(End::Stuck);
                return;
            };
            self.now = time;
            self.alive -= u64::from(!matches!(happening, Happening::Tick(_)));
            if let Some((rank, death)) = self.job.faults.death
                && time >= death
            {
                self.places[rank.index()].dead = true;
                self.end_if_all_left();
                let limit = self.job.config.heartbeat.map_or(Time(0), |heartbeat| heartbeat.limit);
                if time > death + Time(10 * limit.0) && self.alive == 0 {
                    self.end = Some(End::Stuck);
                    return;
                }
            }
            self.happen(happening);
        }
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Supermaster(event) => self.supermaster(event),
            Happening::Master(group, event) => self.master(group, event),
            Happening::Worker(worker, event) => self.worker(worker, event),
            Happening::Worked(worker, ticket, outcome, effect) => {
                self.worked(worker, ticket, outcome, effect);
            }
            Happening::Tick(rank) => self.tick(rank),
            Happening::Kill => self.end = Some(End::Killed),
        }
    }

    /// A role handles an event as soon as its rank can; returns when it has, or `None` if it is not there any more.
    fn attend(&mut self, role: Address, cost: f64) -> Option<Time> {
        // Few roles have exited while there are events.
        if !self.exited.is_empty() && self.exited.contains(&role) {
            return None;
        }
        let rank = self.rank(role);
        let place = &mut self.places[rank.index()];
        if place.dead {
            return None;
        }
        let cost = Time::from_seconds(cost);
        place.busy = self.now.max(place.busy) + cost;
        if place.searching {
            place.stolen += cost.0;
        }
        Some(place.busy)
    }

    fn supermaster(&mut self, event: Event<ToSupermaster, SupermasterOutcome<Parcel>>) {
        let rank = self.rank(Address::Supermaster);
        let Some(now) = self.attend(Address::Supermaster, self.job.machine.message_cost) else {
            return;
        };
        let mut actions = Vec::new();
        self.supermaster.handle(now, event, &mut actions);
        let before = self.places[rank.index()].busy;
        for action in actions {
            self.act(Address::Supermaster, action, |world, ticket, work| {
                world.do_supermaster(ticket, work);
            });
        }
        let cost = Time::from_seconds(self.job.machine.message_cost);
        self.sums.supermaster += (self.places[rank.index()].busy.since(before) + cost).0;
    }

    fn master(&mut self, group: u32, event: Event<ToMaster<Parcel>, MasterOutcome<Parcel>>) {
        let address = Address::Master(GroupId(group));
        let rank = self.rank(address);
        let Some(now) = self.attend(address, self.job.machine.message_cost) else { return };
        let mut actions = Vec::new();
        self.masters[group as usize].handle(now, event, &mut actions);
        let before = self.places[rank.index()].busy;
        for action in actions {
            self.act(address, action, |world, ticket, work| world.do_master(group, ticket, work));
        }
        let cost = Time::from_seconds(self.job.machine.message_cost);
        self.sums.masters[group as usize] +=
            (self.places[rank.index()].busy.since(before) + cost).0;
    }

    fn worker(&mut self, worker: u32, event: Event<ToWorker<Parcel>, WorkerOutcome<Parcel>>) {
        let address = Address::Worker(WorkerId(worker));
        let Some(now) = self.attend(address, self.job.machine.message_cost) else {
            return;
        };
        if let (Some(ledger), Event::Message { message: ToWorker::Part { bytes, .. }, .. }) =
            (&mut self.ledger, &event)
        {
            ledger.hold(WorkerId(worker), bytes.bytes, 0);
        }
        let mut actions = Vec::new();
        self.workers[worker as usize].handle(now, event, &mut actions);
        for action in actions {
            self.act(address, action, |world, ticket, work| world.do_worker(worker, ticket, work));
        }
    }

    fn act<W>(
        &mut self,
        from: Address,
        action: Action<Parcel, W>,
        work: impl FnOnce(&mut Self, Ticket, W),
    ) {
        match action {
            Action::Send { message, receipt } => self.send(from, message, receipt),
            Action::Run { ticket, work: what } => work(self, ticket, what),
            Action::RaiseCut { .. } | Action::Forget { .. } => {}
            Action::Fail(failure) => {
                self.end.get_or_insert(End::Failed(failure));
            }
            Action::Exit(exit) => self.exit(from, exit),
        }
    }

    fn exit(&mut self, role: Address, exit: Exit) {
        if role == Address::Supermaster {
            self.report.makespan = self.now.seconds();
        }
        self.exited.insert(role);
        self.exit.get_or_insert(exit);
        self.end_if_all_left();
    }

    /// Ends the run when all roles have exited, or died after the supermaster did.
    fn end_if_all_left(&mut self) {
        let Some(exit) = self.exit else { return };
        let of_dead = |(rank, _): (Rank, Time)| {
            let dead = self.places[rank.index()].dead;
            let roles = self.hosted[rank.index()].iter();
            roles.filter(|role| dead && !self.exited.contains(role)).count()
        };
        let dead = self.job.faults.death.map_or(0, of_dead);
        if self.exited.len() + dead == 1 + self.masters.len() + self.workers.len() {
            self.end.get_or_insert(End::Exited(exit));
        }
    }

    fn send(&mut self, from: Address, message: Outgoing<Parcel>, receipt: Option<Ticket>) {
        let to = match &message {
            Outgoing::Supermaster(_) => Address::Supermaster,
            Outgoing::Master(group, _) => Address::Master(*group),
            Outgoing::Worker(worker, _) => Address::Worker(*worker),
        };
        let bytes = message.bytes();
        match from {
            Address::Supermaster => self.report.supermaster.add(bytes),
            Address::Master(_) => self.report.masters.add(bytes),
            Address::Worker(_) => self.report.worker_traffic.add(bytes),
        }
        let (sender, receiver) = (self.rank(from), self.rank(to));
        let Some(now) = self.attend(from, self.job.machine.message_cost) else { return };
        let mut passage = self.network.send(now, sender.0, receiver.0, bytes);
        if self.job.machine.jitter > 0.0 {
            let jitter = self.rng.random_range(0.0..self.job.machine.jitter);
            let last = self.last.entry((from, to)).or_default();
            passage.arrived = (passage.arrived + Time::from_seconds(jitter)).max(*last);
            *last = passage.arrived;
        }
        if let (Some(ticket), Address::Worker(worker)) = (receipt, from) {
            self.add(passage.sent, Happening::Worker(worker.0, Event::Sent { ticket }));
            if let Some(ledger) = &mut self.ledger
                && let Outgoing::Worker(_, ToWorker::Part { bytes, .. }) = &message
            {
                // The sender hears of it a little later than it is so, and must not count on it before.
                ledger.hold(worker, 0, bytes.bytes);
            }
        }
        let happening = match message {
            Outgoing::Supermaster(message) => {
                Happening::Supermaster(Event::Message { from, message })
            }
            Outgoing::Master(to, message) => {
                Happening::Master(to.0, Event::Message { from, message })
            }
            Outgoing::Worker(to, message) => {
                Happening::Worker(to.0, Event::Message { from, message })
            }
        };
        self.add(passage.arrived, happening);
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
        self.add(self.now + heartbeat.interval, Happening::Tick(rank));
    }

    fn do_supermaster(&mut self, ticket: Ticket, work: SupermasterWork) {
        let workload = &self.job.workload;
        let (seconds, outcome) = match work {
            SupermasterWork::Open => (1e-3, SupermasterOutcome::Opened { base: HEAD }),
            SupermasterWork::Read { block, .. } if block.0 < workload.blocks() => {
                let payload = Parcel::of(workload.query_bytes(block));
                let queries = Queries { payload, weight: workload.weight(block) };
                (workload.read_seconds(block), SupermasterOutcome::Read(Some(queries)))
            }
            SupermasterWork::Read { .. } => (1e-6, SupermasterOutcome::Read(None)),
            SupermasterWork::Close { offset } => {
                if let Some(ledger) = &mut self.ledger {
                    ledger.close(offset);
                }
                (1e-3, SupermasterOutcome::Closed)
            }
        };
        let done = self.now + Time::from_seconds(seconds);
        self.add(done, Happening::Supermaster(Event::Done { ticket, outcome }));
    }

    fn do_master(&mut self, group: u32, ticket: Ticket, work: MasterWork<Parcel>) {
        let workload = &self.job.workload;
        let (seconds, outcome) = match work {
            MasterWork::Absorb { block, partition, .. } => {
                let cut = workload.raises_cut(block, partition).then_some(Parcel::of(16));
                (workload.master_seconds(block), MasterOutcome::Absorbed { cut })
            }
            MasterWork::Round { block, round, .. } => {
                (workload.master_seconds(block), self.round(block, round))
            }
            MasterWork::Gather { runs } => {
                let slices = runs.iter().flat_map(|run| &run.slices);
                let own = slices.filter(|slice| slice.holder == Holder::Master);
                let bytes: u64 = own.map(|slice| slice.length).sum();
                (bytes as f64 / COPY_RATE, MasterOutcome::Gathered(Parcel::of(bytes)))
            }
        };
        let Some(done) = self.attend(Address::Master(GroupId(group)), seconds) else { return };
        self.add(done, Happening::Master(group, Event::Done { ticket, outcome }));
    }

    /// Two rounds, alignment and formatting, with the partitions that have hits.
    fn round(&self, block: BlockId, round: u32) -> MasterOutcome<Parcel> {
        let workload = &self.job.workload;
        let has_hits = |&partition: &PartitionId| !workload.pieces(block, partition).is_empty();
        let partitions = (0..self.job.topology.partitions).map(PartitionId);
        let asked: Vec<_> = if round < Workload::ROUNDS {
            let part = Parcel { bytes: 64, word: round };
            partitions.filter(has_hits).map(|partition| (partition, part)).collect()
        } else {
            Vec::new()
        };
        if asked.is_empty() {
            MasterOutcome::Layout(workload.layout(block))
        } else {
            MasterOutcome::Ask(asked)
        }
    }

    fn is_full(&self, worker: u32) -> bool {
        let rank = self.job.topology.workers[worker as usize].rank;
        self.job.faults.full_disk.is_some_and(|(full, since)| full == rank && self.now >= since)
    }

    fn do_worker(&mut self, worker: u32, ticket: Ticket, work: WorkerWork<Parcel>) {
        let writes = matches!(
            work,
            WorkerWork::Write(_) | WorkerWork::Persist { .. } | WorkerWork::Collective { .. }
        );
        if writes && self.is_full(worker) {
            let cause = "out.txt: no space left on device".to_string();
            return self.add(self.now, Happening::Worker(worker, Event::Failed { ticket, cause }));
        }
        match work {
            WorkerWork::Search { block, partition, .. } => {
                self.search(worker, ticket, block, partition);
            }
            WorkerWork::Answer { block, parts, budget } => {
                self.answer(worker, ticket, block, &parts, budget);
            }
            WorkerWork::Collective { runs, master } => self.meet(worker, ticket, runs, master),
            WorkerWork::Gather { block, slices } => self.gather(worker, ticket, block, &slices),
            WorkerWork::Write(window) => self.write(worker, ticket, window, None),
            WorkerWork::Persist { window, size, .. } => {
                self.write(worker, ticket, window, Some(size))
            }
        }
    }

    /// How much longer than said a work on the search threads takes.
    fn slowness(&mut self, worker: u32) -> f64 {
        let noise = self.job.machine.noise;
        let noise = if noise > 0.0 { factor(&mut self.rng, noise) } else { 1.0 };
        let rank = self.job.topology.workers[worker as usize].rank;
        self.places[rank.index()].slowness * noise
    }

    /// Ends a work on the search threads after so many seconds.
    fn compute(
        &mut self,
        worker: u32,
        ticket: Ticket,
        span: Time,
        outcome: WorkerOutcome<Parcel>,
        effect: Option<Effect>,
    ) {
        let rank = self.job.topology.workers[worker as usize].rank;
        let place = &mut self.places[rank.index()];
        place.searching = self.job.machine.shared_core;
        let start = self.now.max(place.busy);
        let effect = effect.filter(|_| self.ledger.is_some()).map(Box::new);
        self.add(start + span, Happening::Worked(worker, ticket, outcome, effect));
    }

    fn search(&mut self, worker: u32, ticket: Ticket, block: BlockId, partition: PartitionId) {
        let seconds = self.job.workload.search_seconds(block, partition) * self.slowness(worker);
        let span = Time::from_seconds(seconds);
        self.sums.search += span.0;
        self.report.tasks += 1;
        let hits = Parcel::of(self.job.workload.hit_bytes(block, partition));
        let effect = Effect::Search(block, partition);
        self.compute(worker, ticket, span, WorkerOutcome::Found(hits), Some(effect));
    }

    fn answer(
        &mut self,
        worker: u32,
        ticket: Ticket,
        block: BlockId,
        parts: &[(PartitionId, Parcel)],
        budget: u64,
    ) {
        let workload = &self.job.workload;
        let (mut seconds, mut kept, mut spilled, mut pieces) = (0.0, 0, 0, 0);
        for &(partition, question) in parts {
            seconds += workload.answer_seconds(block, partition);
            if question.word + 1 < Workload::ROUNDS {
                continue;
            }
            for (number, length) in workload.pieces(block, partition).into_iter().enumerate() {
                pieces += 1;
                if kept + length <= budget {
                    kept += length;
                } else {
                    spilled += length;
                    self.spilled.insert((block, partition, number as u32));
                }
            }
        }
        let span = Time::from_seconds(seconds * self.slowness(worker));
        let spooling = Time::from_seconds(spilled as f64 / self.job.machine.spool_rate);
        self.sums.answer += span.0;
        self.sums.blocked += spooling.0;
        self.report.spooled += spilled;
        let reply = Parcel::of(16 * pieces + 16);
        let outcome = WorkerOutcome::Answered { reply, kept };
        self.compute(worker, ticket, span + spooling, outcome, Some(Effect::Keep(kept)));
    }

    /// Bytes of own slices in memory, and elsewhere.
    fn own_bytes<'b>(
        &self,
        worker: u32,
        slices: impl Iterator<Item = (BlockId, &'b Slice)>,
    ) -> (u64, u64) {
        let (mut memory, mut elsewhere) = (0, 0);
        for (block, slice) in slices {
            match slice.holder {
                Holder::Record => elsewhere += slice.length,
                Holder::Worker(holder, partition) if holder.0 == worker => {
                    if self.spilled.contains(&(block, partition, slice.piece)) {
                        elsewhere += slice.length;
                    } else {
                        memory += slice.length;
                    }
                }
                _ => {}
            }
        }
        (memory, elsewhere)
    }

    fn meet(&mut self, worker: u32, ticket: Ticket, runs: Vec<Run>, master: Option<Parcel>) {
        let group = self.job.topology.workers[worker as usize].group;
        let slices = runs.iter().flat_map(|run| run.slices.iter().map(|slice| (run.block, slice)));
        let (freed, _) = self.own_bytes(worker, slices);
        let bytes: u64 = runs.iter().map(Run::length).sum();
        let effect = Effect::Together(runs, master.map_or(0, |bytes| bytes.bytes));
        let effect = Some(Box::new(effect)).filter(|_| self.ledger.is_some());
        if let (Some(ledger), Some(master)) = (&mut self.ledger, master) {
            ledger.hold(WorkerId(worker), master.bytes, 0);
        }
        let meeting = self.meetings.entry(group).or_default();
        meeting.members.push((worker, ticket, effect, freed, self.now));
        meeting.bytes += bytes;
        if meeting.members.len() < self.job.topology.group(group).workers.len() {
            return;
        }
        let meeting = self.meetings.remove(&group).unwrap_or_default();
        let stretches = meeting.bytes.div_ceil(self.job.config.write_buffer) as usize;
        let exchange = meeting.bytes as f64 / self.job.machine.bandwidth;
        let done =
            self.files.transfer(self.now + Time::from_seconds(exchange), meeting.bytes, stretches);
        for (worker, ticket, effect, freed, entered) in meeting.members {
            self.sums.blocked += done.since(entered).0;
            let outcome = WorkerOutcome::Written { freed };
            self.add(done, Happening::Worked(worker, ticket, outcome, effect));
        }
    }

    fn gather(&mut self, worker: u32, ticket: Ticket, block: BlockId, slices: &[Slice]) {
        let (freed, elsewhere) = self.own_bytes(worker, slices.iter().map(|slice| (block, slice)));
        let bytes = freed + elsewhere;
        let seconds = bytes as f64 / COPY_RATE + elsewhere as f64 / self.job.machine.spool_rate;
        let span = Time::from_seconds(seconds);
        self.sums.output += span.0;
        let outcome = WorkerOutcome::Gathered { bytes: Parcel::of(bytes), freed };
        let effect = Some(Box::new(Effect::Gather(bytes))).filter(|_| self.ledger.is_some());
        self.add(self.now + span, Happening::Worked(worker, ticket, outcome, effect));
    }

    fn write(&mut self, worker: u32, ticket: Ticket, window: Window<Parcel>, stored: Option<u64>) {
        let runs = &window.runs;
        let slices = runs.iter().flat_map(|run| run.slices.iter().map(|slice| (run.block, slice)));
        let (freed, elsewhere) = self.own_bytes(worker, slices);
        if let Some(ledger) = &mut self.ledger {
            ledger.hold(WorkerId(worker), elsewhere, 0);
        }
        let reading = Time::from_seconds(elsewhere as f64 / self.job.machine.spool_rate);
        let stretches = if stored.is_some() { 1 } else { runs.len() };
        let done = self.files.transfer(self.now + reading, window.length(), stretches);
        self.sums.output += done.since(self.now).0;
        let outcome = WorkerOutcome::Written { freed };
        let effect =
            Some(Box::new(Effect::Write(window, stored))).filter(|_| self.ledger.is_some());
        self.add(done, Happening::Worked(worker, ticket, outcome, effect));
    }

    fn worked(
        &mut self,
        worker: u32,
        ticket: Ticket,
        outcome: WorkerOutcome<Parcel>,
        effect: Option<Box<Effect>>,
    ) {
        let place = &mut self.places[self.job.topology.workers[worker as usize].rank.index()];
        if place.dead {
            return;
        }
        if matches!(outcome, WorkerOutcome::Found(_) | WorkerOutcome::Answered { .. }) {
            if place.stolen > 0 {
                let later = self.now + Time(std::mem::take(&mut place.stolen));
                return self.add(later, Happening::Worked(worker, ticket, outcome, effect));
            }
            place.searching = false;
            self.sums.last_work[worker as usize] = self.now;
        }
        if let Some(effect) = effect {
            self.take_effect(worker, &outcome, *effect);
        }
        self.worker(worker, Event::Done { ticket, outcome });
    }

    fn take_effect(&mut self, worker: u32, outcome: &WorkerOutcome<Parcel>, effect: Effect) {
        let slices = |runs: &[Run]| {
            let slices =
                runs.iter().flat_map(|run| run.slices.iter().map(|slice| (run.block, *slice)));
            slices.collect::<Vec<_>>()
        };
        let freed = match outcome {
            WorkerOutcome::Gathered { freed, .. } | WorkerOutcome::Written { freed } => *freed,
            _ => 0,
        };
        let elsewhere = match &effect {
            Effect::Write(window, _) => {
                let slices = slices(&window.runs);
                self.own_bytes(worker, slices.iter().map(|(block, slice)| (*block, slice))).1
            }
            _ => 0,
        };
        let Some(ledger) = &mut self.ledger else { return };
        let worker = WorkerId(worker);
        match effect {
            Effect::Search(block, partition) => ledger.search(block, partition, worker),
            Effect::Keep(bytes) => ledger.hold(worker, bytes, 0),
            Effect::Gather(bytes) => ledger.hold(worker, bytes, freed),
            Effect::Write(window, stored) => {
                let parts: u64 = window.parts.iter().map(|(_, part)| part.bytes).sum();
                ledger.hold(worker, 0, freed + parts + elsewhere);
                ledger.write(worker, &window, stored);
            }
            Effect::Together(runs, master) => {
                ledger.hold(worker, 0, freed + master);
                ledger.write_together(worker, &runs, master);
            }
        }
    }

    fn finish(mut self) -> Outcome {
        let end = self.end.take().unwrap_or(End::Stuck);
        let topology = &self.job.topology;
        let seconds = |nanoseconds: u64| Time(nanoseconds).seconds();
        let mut report = std::mem::take(&mut self.report);
        if report.makespan == 0.0 {
            report.makespan = self.now.seconds();
        }
        report.ranks = topology.ranks;
        report.workers = topology.workers.len() as u32;
        report.groups = topology.groups.len() as u32;
        report.search = seconds(self.sums.search);
        report.answer = seconds(self.sums.answer);
        report.blocked = seconds(self.sums.blocked);
        report.output = seconds(self.sums.output);
        let makespan = report.makespan.max(1e-9);
        let lanes = f64::from(report.workers) * makespan;
        let useful = report.search + report.answer;
        report.idle = lanes - useful - report.blocked;
        let last: f64 = self.sums.last_work.iter().map(|time| makespan - time.seconds()).sum();
        report.tail = last / f64::from(report.workers.max(1));
        report.worker_efficiency = useful / lanes;
        report.efficiency = useful / (f64::from(report.ranks) * makespan);
        report.output_share = report.blocked / lanes;
        report.supermaster_load = seconds(self.sums.supermaster) / makespan;
        let busiest = self.sums.masters.iter().max().copied().unwrap_or(0);
        report.master_load = seconds(busiest) / makespan;
        let masters: u64 = self.sums.masters.iter().sum();
        report.master_per_task = masters as f64 / 1e3 / report.tasks.max(1) as f64;
        let peaks = self.workers.iter().map(Worker::peak_memory);
        report.peak_memory = peaks.max().unwrap_or(0);
        report.written = self.files.bytes;
        report.events = self.queue.added();
        let (checkpoint, violations) = match self.ledger {
            Some(ledger) => (ledger.checkpoint, ledger.violations),
            None => (Checkpoint::default(), Vec::new()),
        };
        Outcome { end, report, checkpoint, violations }
    }
}
