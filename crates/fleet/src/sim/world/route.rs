//! Passes events to roles and carries out their actions.

use rand::Rng;

use crate::ids::{Address, GroupId, Ticket, Time, WorkerId};
use crate::message::{Outgoing, ToMaster, ToSupermaster, ToWorker};
use crate::role::{Action, Event, Role};
use crate::sim::ledger::Passes;
use crate::work::{MasterOutcome, SupermasterOutcome, WorkerOutcome};

use super::{Parcel, RunEnd, SimEvent, World};

impl World<'_> {
    /// Makes the rank of a role busy for `cost` seconds, from when it is free. Returns the time
    /// when it is free again, or `None` if the role has exited or the rank is dead.
    pub(super) fn start_handling(&mut self, role: Address, cost: f64) -> Option<Time> {
        // Almost all roles exit at the end of the job, so the lookup is rare.
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

    pub(super) fn supermaster(
        &mut self,
        event: Event<ToSupermaster<Parcel>, SupermasterOutcome<Parcel>>,
    ) {
        let rank = self.rank(Address::Supermaster);
        let Some(now) = self.start_handling(Address::Supermaster, self.job.machine.message_cost)
        else {
            return;
        };
        let mut actions = Vec::new();
        self.supermaster.handle(now, event, &mut actions);
        self.report.waiting = self.report.waiting.max(self.supermaster.waiting_bytes());
        let before = self.places[rank.index()].busy;
        for action in actions {
            self.act(Address::Supermaster, action, |world, ticket, work| {
                world.do_supermaster(ticket, work);
            });
        }
        let cost = Time::from_seconds(self.job.machine.message_cost);
        self.sums.supermaster += (self.places[rank.index()].busy.since(before) + cost).0;
    }

    pub(super) fn master(
        &mut self,
        group: u32,
        event: Event<ToMaster<Parcel>, MasterOutcome<Parcel>>,
    ) {
        let address = Address::Master(GroupId(group));
        let rank = self.rank(address);
        let Some(now) = self.start_handling(address, self.job.machine.message_cost) else { return };
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

    pub(super) fn worker(
        &mut self,
        worker: u32,
        event: Event<ToWorker<Parcel>, WorkerOutcome<Parcel>>,
    ) {
        let address = Address::Worker(WorkerId(worker));
        let Some(now) = self.start_handling(address, self.job.machine.message_cost) else {
            return;
        };
        if let (Some(ledger), Event::Message { message: ToWorker::OutputBytes { bytes, .. }, .. }) =
            (&mut self.ledger, &event)
        {
            ledger.change_held(WorkerId(worker), bytes.bytes, 0);
        }
        let mut actions = Vec::new();
        self.workers[worker as usize].handle(now, event, &mut actions);
        for action in actions {
            self.act(address, action, |world, ticket, work| world.do_worker(worker, ticket, work));
        }
    }

    pub(super) fn act<W>(
        &mut self,
        from: Address,
        action: Action<Parcel, W>,
        work: impl FnOnce(&mut Self, Ticket, W),
    ) {
        match action {
            Action::Send { message, receipt } => self.send(from, message, receipt),
            Action::Run { ticket, work: what } => work(self, ticket, what),
            Action::RaiseCut { block, pass, cut } => {
                self.note_worker(from, |passes, worker| {
                    passes.raise_cut(worker, (block, pass), cut.pass)
                });
            }
            Action::Forget { block, pass } => {
                self.note_worker(from, |passes, worker| passes.forget(worker, block, pass));
            }
            Action::Placed { .. } => {}
            Action::Fail(failure) => {
                self.end.get_or_insert(RunEnd::Failed(failure));
            }
            Action::Exit(exit) => self.exit(from, exit),
        }
    }

    /// Records in the ledger an action of a worker that concerns a pass.
    fn note_worker(
        &mut self,
        from: Address,
        note: impl FnOnce(&mut Passes, WorkerId) -> Result<(), String>,
    ) {
        if let (Some(ledger), Address::Worker(worker)) = (&mut self.ledger, from) {
            let result = note(&mut ledger.passes, worker);
            ledger.note(result);
        }
    }

    pub(super) fn send(
        &mut self,
        from: Address,
        message: Outgoing<Parcel>,
        receipt: Option<Ticket>,
    ) {
        let to = match &message {
            Outgoing::Supermaster(_) => Address::Supermaster,
            Outgoing::Master(group, _) => Address::Master(*group),
            Outgoing::Worker(worker, _) => Address::Worker(*worker),
        };
        let bytes = message.bytes();
        match from {
            Address::Supermaster => self.report.supermaster.add(bytes),
            Address::Master(group) => {
                self.report.masters.add(bytes);
                self.sums.master_messages[group.index()] += 1;
            }
            Address::Worker(_) => self.report.worker_traffic.add(bytes),
        }
        let (sender, receiver) = (self.rank(from), self.rank(to));
        let Some(now) = self.start_handling(from, self.job.machine.message_cost) else { return };
        let mut passage = self.network.send(now, sender.0, receiver.0, bytes);
        if self.job.machine.jitter > 0.0 {
            let jitter = self.rng.random_range(0.0..self.job.machine.jitter);
            let last = self.last.entry((from, to)).or_default();
            passage.arrived = (passage.arrived + Time::from_seconds(jitter)).max(*last);
            *last = passage.arrived;
        }
        if let (Some(ticket), Address::Worker(worker)) = (receipt, from) {
            self.add(passage.sent, SimEvent::Worker(worker.0, Event::Sent { ticket }));
            if let Some(ledger) = &mut self.ledger
                && let Outgoing::Worker(_, ToWorker::OutputBytes { bytes, .. })
                | Outgoing::Supermaster(ToSupermaster::PartialGrain { bytes, .. }) = &message
            {
                // The memory counts as free now. The sender learns this a little later, when the
                // message has left, and must not rely on it before.
                ledger.change_held(worker, 0, bytes.bytes);
            }
        }
        let happening = match message {
            Outgoing::Supermaster(message) => {
                SimEvent::Supermaster(Event::Message { from, message })
            }
            Outgoing::Master(to, message) => {
                SimEvent::Master(to.0, Event::Message { from, message })
            }
            Outgoing::Worker(to, message) => {
                SimEvent::Worker(to.0, Event::Message { from, message })
            }
        };
        self.add(passage.arrived, happening);
    }
}
