//! What works take and make.

use crate::config::Strategy;
use crate::ids::{Address, BlockId, GroupId, PartitionId, Rank, Ticket, Time, WorkerId};
use crate::payload::Queries;
use crate::role::Event;
use crate::sim::workload::factor;
use crate::work::{
    Holder, MasterOutcome, MasterWork, Run, Slice, SupermasterOutcome, SupermasterWork, Window,
    WorkerOutcome, WorkerWork,
};

use super::hosts::Foreseen;
use super::{Attendee, Effect, HEAD, Happening, Parcel, World};

/// Bytes per second at which memory is copied.
const COPY_RATE: f64 = 5e9;
/// Why a write fails.
const FULL: &str = "out.txt: no space left on device";

impl World<'_> {
    pub(super) fn do_supermaster(&mut self, ticket: Ticket, work: SupermasterWork<Parcel>) {
        let supermaster = self.job.topology.supermaster;
        if matches!(work, SupermasterWork::Write(_)) && self.is_full(supermaster) {
            let event = Event::Failed { ticket, code: 6, cause: FULL.to_owned() };
            return self.add(self.now, Happening::Supermaster(event));
        }
        let workload = &self.job.workload;
        let (seconds, outcome) = match work {
            SupermasterWork::Open => (1e-3, SupermasterOutcome::Opened { base: HEAD }),
            SupermasterWork::Read { block, .. } if block.0 < workload.blocks() => {
                let payload = Parcel::of(workload.query_bytes(block, false));
                let queries = Queries { payload, weight: workload.weight(block) };
                (workload.read_seconds(block), SupermasterOutcome::Read(Some(queries)))
            }
            SupermasterWork::Read { .. } => (1e-6, SupermasterOutcome::Read(None)),
            SupermasterWork::Write(ends) => {
                if let Some(ledger) = &mut self.ledger {
                    ends.iter().for_each(|(offset, end)| ledger.write_end(*offset, end.bytes));
                }
                let bytes = ends.iter().map(|(_, end)| end.bytes).sum();
                let done = self.files.transfer(self.now, bytes, ends.len());
                (done.since(self.now).seconds(), SupermasterOutcome::Wrote)
            }
            SupermasterWork::Close { offset } => {
                if let Some(ledger) = &mut self.ledger {
                    ledger.close(offset);
                }
                (1e-3, SupermasterOutcome::Closed)
            }
        };
        let span = Time::from_seconds(seconds);
        self.sums.reading += span.0;
        let done = self.now + span;
        self.add(done, Happening::Supermaster(Event::Done { ticket, outcome }));
    }

    pub(super) fn do_master(&mut self, group: u32, ticket: Ticket, work: MasterWork<Parcel>) {
        let workload = &self.job.workload;
        let (seconds, outcome) = match work {
            MasterWork::Prepare { block, .. } => {
                let queries = Parcel::of(workload.query_bytes(block, true));
                let seconds = workload.prepare_seconds(block);
                (seconds, MasterOutcome::Prepared { queries })
            }
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

    /// Alignment, rows of a sorted table if there is one, and formatting, with the partitions that have hits.
    pub(super) fn round(&self, block: BlockId, round: u32) -> MasterOutcome<Parcel> {
        let workload = &self.job.workload;
        let has_hits = |&partition: &PartitionId| !workload.pieces(block, partition).is_empty();
        let partitions = (0..self.job.topology.partitions).map(PartitionId);
        let asked: Vec<_> = if round < workload.rounds() {
            // The first question says which hits to align.
            let bytes =
                |partition| if round == 0 { workload.hit_bytes(block, partition) } else { 64 };
            let part = |partition| (partition, Parcel { bytes: bytes(partition), word: round });
            partitions.filter(has_hits).map(part).collect()
        } else {
            Vec::new()
        };
        if asked.is_empty() {
            MasterOutcome::Layout(workload.layout(block))
        } else {
            MasterOutcome::Ask(asked)
        }
    }

    pub(super) fn is_full(&self, rank: Rank) -> bool {
        self.job.faults.full_disk.is_some_and(|(full, since)| full == rank && self.now >= since)
    }

    pub(super) fn do_worker(&mut self, worker: u32, ticket: Ticket, work: WorkerWork<Parcel>) {
        let writes = matches!(
            work,
            WorkerWork::Write(_) | WorkerWork::Persist { .. } | WorkerWork::Collective { .. }
        );
        if writes && self.is_full(self.job.topology.workers[worker as usize].rank) {
            let cause = FULL.to_owned();
            return self.add(
                self.now,
                Happening::Worker(worker, Event::Failed { ticket, code: 6, cause }),
            );
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
            WorkerWork::HandOver(window) => self.hand_over(worker, ticket, window),
            WorkerWork::Write(window) => self.write(worker, ticket, window, None),
            WorkerWork::Persist { window, size, .. } => {
                self.write(worker, ticket, window, Some(size))
            }
        }
    }

    /// How much longer than said a work on the search threads takes.
    pub(super) fn slowness(&mut self, worker: u32) -> f64 {
        let noise = self.job.machine.noise;
        let noise = if noise > 0.0 { factor(&mut self.rng, noise) } else { 1.0 };
        let rank = self.job.topology.workers[worker as usize].rank;
        self.places[rank.index()].slowness * noise
    }

    /// Ends a work on the search threads after so many seconds.
    pub(super) fn compute(
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
        if let Some(hosts) = &mut self.hosts {
            let work = (worker, ticket, outcome, effect);
            let foreseen = hosts.begin(rank.0, self.now, span, work);
            return self.add(foreseen.time, Happening::Host(foreseen));
        }
        self.add(start + span, Happening::Worked(worker, ticket, outcome, effect));
    }

    /// Ends the works of a host that are through.
    pub(super) fn on_host(&mut self, foreseen: Foreseen) {
        let Some(hosts) = &mut self.hosts else { return };
        let (ended, next) = hosts.end(foreseen);
        if let Some(next) = next {
            self.add(next.time, Happening::Host(next));
        }
        for (worker, ticket, outcome, effect) in ended {
            self.worked(worker, ticket, outcome, effect);
        }
    }

    pub(super) fn search(
        &mut self,
        worker: u32,
        ticket: Ticket,
        block: BlockId,
        partition: PartitionId,
    ) {
        let seconds = self.job.workload.search_seconds(block, partition) * self.slowness(worker);
        let span = Time::from_seconds(seconds);
        self.sums.search += span.0;
        self.report.tasks += 1;
        let hits = Parcel::of(self.job.workload.hit_bytes(block, partition));
        let effect = Effect::Search(block, partition);
        self.compute(worker, ticket, span, WorkerOutcome::Found(hits), Some(effect));
    }

    pub(super) fn answer(
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
            if question.word + 1 < workload.rounds() {
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
        let effect = self.ledger.is_some().then(|| {
            let answered = parts.iter().map(|&(partition, question)| (partition, question.word));
            Effect::Answer(block, answered.collect(), kept)
        });
        self.compute(worker, ticket, span + spooling, outcome, effect);
    }

    /// Bytes of own slices in memory, and elsewhere.
    pub(super) fn own_bytes<'b>(
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

    pub(super) fn meet(
        &mut self,
        worker: u32,
        ticket: Ticket,
        runs: Vec<Run>,
        master: Option<Parcel>,
    ) {
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
        meeting.members.push(Attendee { worker, ticket, effect, freed, entered: self.now });
        meeting.bytes += bytes;
        if meeting.members.len() < self.job.topology.group(group).workers.len() {
            return;
        }
        let meeting = self.meetings.remove(&group).unwrap_or_default();
        let stretches = meeting.bytes.div_ceil(self.job.config.write_buffer) as usize;
        let exchange = meeting.bytes as f64 / self.job.machine.bandwidth;
        let done =
            self.files.transfer(self.now + Time::from_seconds(exchange), meeting.bytes, stretches);
        for Attendee { worker, ticket, effect, freed, entered } in meeting.members {
            self.block_until(worker, done);
            self.sums.output += done.since(entered).0;
            let outcome = WorkerOutcome::Written { freed };
            self.add(done, Happening::Worked(worker, ticket, outcome, effect));
        }
    }

    pub(super) fn gather(&mut self, worker: u32, ticket: Ticket, block: BlockId, slices: &[Slice]) {
        let (freed, elsewhere) = self.own_bytes(worker, slices.iter().map(|slice| (block, slice)));
        let bytes = freed + elsewhere;
        let seconds = bytes as f64 / COPY_RATE + elsewhere as f64 / self.job.machine.spool_rate;
        let span = Time::from_seconds(seconds);
        self.sums.output += span.0;
        let outcome = WorkerOutcome::Gathered { bytes: Parcel::of(bytes), freed };
        let effect = Some(Box::new(Effect::Gather(bytes))).filter(|_| self.ledger.is_some());
        self.add(self.now + span, Happening::Worked(worker, ticket, outcome, effect));
    }

    pub(super) fn hand_over(&mut self, worker: u32, ticket: Ticket, window: Window<Parcel>) {
        let slices = window.runs.iter();
        let slices = slices.flat_map(|run| run.slices.iter().map(|slice| (run.block, slice)));
        let (freed, elsewhere) = self.own_bytes(worker, slices);
        if let Some(ledger) = &mut self.ledger {
            ledger.hold(WorkerId(worker), elsewhere, 0);
        }
        let bytes = window.length();
        let seconds = bytes as f64 / COPY_RATE + elsewhere as f64 / self.job.machine.spool_rate;
        let span = Time::from_seconds(seconds);
        self.sums.output += span.0;
        let outcome = WorkerOutcome::Gathered { bytes: Parcel::of(bytes), freed };
        let effect = Some(Box::new(Effect::HandOver(window))).filter(|_| self.ledger.is_some());
        self.add(self.now + span, Happening::Worked(worker, ticket, outcome, effect));
    }

    pub(super) fn write(
        &mut self,
        worker: u32,
        ticket: Ticket,
        window: Window<Parcel>,
        stored: Option<u64>,
    ) {
        let runs = &window.runs;
        let slices = runs.iter().flat_map(|run| run.slices.iter().map(|slice| (run.block, slice)));
        let (freed, elsewhere) = self.own_bytes(worker, slices);
        if let Some(ledger) = &mut self.ledger {
            ledger.hold(WorkerId(worker), elsewhere, 0);
        }
        let reading = Time::from_seconds(elsewhere as f64 / self.job.machine.spool_rate);
        let stretches = if stored.is_some() { 1 } else { runs.len() };
        let done = self.files.transfer(self.now + reading, window.length(), stretches);
        if self.job.config.strategy == Strategy::Individual && stored.is_none() {
            self.block_until(worker, done);
        }
        self.sums.output += done.since(self.now).0;
        let outcome = WorkerOutcome::Written { freed };
        let effect =
            Some(Box::new(Effect::Write(window, stored))).filter(|_| self.ledger.is_some());
        self.add(done, Happening::Worked(worker, ticket, outcome, effect));
    }

    /// MPI writes on the thread that answers messages.
    fn block_until(&mut self, worker: u32, done: Time) {
        if self.job.machine.blocking_writes {
            let rank = self.job.topology.workers[worker as usize].rank;
            let place = &mut self.places[rank.index()];
            place.busy = place.busy.max(done);
        }
    }

    pub(super) fn worked(
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

    pub(super) fn take_effect(
        &mut self,
        worker: u32,
        outcome: &WorkerOutcome<Parcel>,
        effect: Effect,
    ) {
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
            Effect::Write(window, _) | Effect::HandOver(window) => {
                let slices = slices(&window.runs);
                self.own_bytes(worker, slices.iter().map(|(block, slice)| (*block, slice))).1
            }
            _ => 0,
        };
        let Some(ledger) = &mut self.ledger else { return };
        let worker = WorkerId(worker);
        match effect {
            Effect::Search(block, partition) => ledger.search(block, partition, worker),
            Effect::Answer(block, answered, kept) => {
                let held = self.job.topology.held(worker);
                for (partition, round) in answered {
                    ledger.check(held.contains(&partition), || {
                        format!("worker {worker} is asked for partition {partition}")
                    });
                    ledger.answer(block, partition, worker, round);
                }
                ledger.hold(worker, kept, 0);
            }
            Effect::Gather(bytes) => ledger.hold(worker, bytes, freed),
            Effect::HandOver(window) => {
                // What it is made of is what it then holds, until that has left.
                ledger.hand_over(worker, &window);
                let parts: u64 = window.parts.iter().map(|(_, part)| part.bytes).sum();
                ledger.hold(worker, window.length(), freed + parts + elsewhere);
            }
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
}
