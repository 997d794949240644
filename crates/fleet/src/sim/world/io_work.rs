//! Simulates the works of a worker that run while searches go on.

use crate::config::Strategy;
use crate::ids::{BlockId, Ticket, Time, WorkerId};
use crate::work::{OutputRun, PieceLocation, Slice, Window, WorkerOutcome};

use super::works::COPY_RATE;
use super::{CollectiveMember, Effect, Parcel, SimEvent, World};

impl World<'_> {
    /// Returns the bytes of the worker's own slices that are in memory, and those in the spool or
    /// checkpoint.
    pub(super) fn own_bytes<'b>(
        &self,
        worker: u32,
        slices: impl Iterator<Item = (BlockId, &'b Slice)>,
    ) -> (u64, u64) {
        let (mut memory, mut elsewhere) = (0, 0);
        for (block, slice) in slices {
            match slice.location {
                PieceLocation::Checkpoint => elsewhere += slice.length,
                PieceLocation::Worker(holder, pass, partition) if holder.0 == worker => {
                    if self.spilled.contains(&(block, pass, partition, slice.piece)) {
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

    pub(super) fn join_collective(
        &mut self,
        worker: u32,
        ticket: Ticket,
        runs: Vec<OutputRun>,
        master: Option<Parcel>,
    ) {
        let group = self.job.topology.workers[worker as usize].group;
        let slices = runs.iter().flat_map(|run| run.slices.iter().map(|slice| (run.block, slice)));
        let (freed, _) = self.own_bytes(worker, slices);
        let bytes: u64 = runs.iter().map(OutputRun::length).sum();
        let effect = Effect::Together(runs, master.map_or(0, |bytes| bytes.bytes));
        let effect = Some(Box::new(effect)).filter(|_| self.ledger.is_some());
        if let (Some(ledger), Some(master)) = (&mut self.ledger, master) {
            ledger.change_held(WorkerId(worker), master.bytes, 0);
        }
        let collective = self.collectives.entry(group).or_default();
        collective.members.push(CollectiveMember {
            worker,
            ticket,
            effect,
            freed,
            entered: self.now,
        });
        collective.bytes += bytes;
        if collective.members.len() < self.job.topology.group(group).workers.len() {
            return;
        }
        let collective = self.collectives.remove(&group).unwrap_or_default();
        let stretches = collective.bytes.div_ceil(self.job.config.write_buffer) as usize;
        let exchange = collective.bytes as f64 / self.job.machine.bandwidth;
        let done = self.files.transfer(
            self.now + Time::from_seconds(exchange),
            collective.bytes,
            stretches,
        );
        for CollectiveMember { worker, ticket, effect, freed, entered } in collective.members {
            self.block_until(worker, done);
            self.sums.output += done.since(entered).0;
            let outcome = WorkerOutcome::Written { freed };
            self.add(done, SimEvent::Worked(worker, ticket, outcome, effect));
        }
    }

    pub(super) fn gather(&mut self, worker: u32, ticket: Ticket, block: BlockId, slices: &[Slice]) {
        let (freed, elsewhere) = self.own_bytes(worker, slices.iter().map(|slice| (block, slice)));
        let bytes = freed + elsewhere;
        let seconds = bytes as f64 / COPY_RATE + elsewhere as f64 / self.job.machine.spool_rate;
        let span = Time::from_seconds(seconds);
        self.sums.output += span.0;
        let outcome = WorkerOutcome::Gathered { bytes: Parcel::without_pass(bytes), freed };
        let effect = Some(Box::new(Effect::Gather(bytes))).filter(|_| self.ledger.is_some());
        self.add(self.now + span, SimEvent::Worked(worker, ticket, outcome, effect));
    }

    pub(super) fn hand_over(&mut self, worker: u32, ticket: Ticket, window: Window<Parcel>) {
        let slices = window.runs.iter();
        let slices = slices.flat_map(|run| run.slices.iter().map(|slice| (run.block, slice)));
        let (freed, elsewhere) = self.own_bytes(worker, slices);
        if let Some(ledger) = &mut self.ledger {
            ledger.change_held(WorkerId(worker), elsewhere, 0);
        }
        let bytes = window.length();
        let seconds = bytes as f64 / COPY_RATE + elsewhere as f64 / self.job.machine.spool_rate;
        let span = Time::from_seconds(seconds);
        self.sums.output += span.0;
        let outcome = WorkerOutcome::Gathered { bytes: Parcel::without_pass(bytes), freed };
        let effect = Some(Box::new(Effect::HandOver(window))).filter(|_| self.ledger.is_some());
        self.add(self.now + span, SimEvent::Worked(worker, ticket, outcome, effect));
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
            ledger.change_held(WorkerId(worker), elsewhere, 0);
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
        self.add(done, SimEvent::Worked(worker, ticket, outcome, effect));
    }

    /// Keeps a rank from handling messages until `done`, since MPI writes on the thread that
    /// handles them.
    fn block_until(&mut self, worker: u32, done: Time) {
        if self.job.machine.blocking_writes {
            let rank = self.job.topology.workers[worker as usize].rank;
            let place = &mut self.places[rank.index()];
            place.busy = place.busy.max(done);
        }
    }
}
