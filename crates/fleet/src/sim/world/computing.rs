//! Simulates the works of a worker that use its search threads.

use crate::ids::{BlockId, PartitionId, PassId, Ticket, Time};
use crate::sim::ledger::Task;
use crate::sim::workload::log_normal;
use crate::work::WorkerOutcome;

use super::hosts::ExpectedEnd;
use super::{Effect, Parcel, SimEvent, World};

impl World<'_> {
    /// Returns the factor by which a work on the search threads takes longer than planned.
    fn slowness(&mut self, worker: u32) -> f64 {
        let noise = self.job.machine.noise;
        let noise = if noise > 0.0 { log_normal(&mut self.rng, noise) } else { 1.0 };
        let rank = self.job.topology.workers[worker as usize].rank;
        self.places[rank.index()].slowness * noise
    }

    /// Schedules the end of a work on the search threads, which takes the time `span`.
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
        if let Some(hosts) = &mut self.hosts {
            let work = (worker, ticket, outcome, effect);
            let expected = hosts.begin(rank.0, self.now, span, work);
            return self.add(expected.time, SimEvent::Host(expected));
        }
        self.add(start + span, SimEvent::Worked(worker, ticket, outcome, effect));
    }

    /// Ends the works of a host whose time is over, and schedules the next end.
    pub(super) fn end_works_of_host(&mut self, expected: ExpectedEnd) {
        let Some(hosts) = &mut self.hosts else { return };
        let (ended, next) = hosts.end(expected);
        if let Some(next) = next {
            self.add(next.time, SimEvent::Host(next));
        }
        for (worker, ticket, outcome, effect) in ended {
            self.work_ended(worker, ticket, outcome, effect);
        }
    }

    pub(super) fn search(&mut self, worker: u32, ticket: Ticket, (block, pass, partition): Task) {
        let seconds = self.job.workload.search_seconds(block, pass, partition);
        let seconds = seconds * self.slowness(worker);
        let span = Time::from_seconds(seconds);
        self.sums.search += span.0;
        self.report.tasks += 1;
        let hits = Parcel::with_pass(self.job.workload.hit_bytes(block, partition), pass);
        let effect = Effect::Search((block, pass, partition));
        self.compute(worker, ticket, span, WorkerOutcome::Searched(hits), Some(effect));
    }

    pub(super) fn answer(
        &mut self,
        worker: u32,
        ticket: Ticket,
        (block, pass): (BlockId, PassId),
        parts: &[(PartitionId, Parcel)],
        budget: u64,
    ) {
        let workload = &self.job.workload;
        let (mut seconds, mut kept, mut spilled, mut pieces) = (0.0, 0, 0, 0);
        for &(partition, question) in parts {
            seconds += workload.answer_seconds(block, pass, partition);
            if question.round + 1 < workload.rounds() {
                continue;
            }
            for (number, length) in (0..).zip(workload.pieces(block, pass, partition)) {
                pieces += 1;
                if kept + length <= budget {
                    kept += length;
                } else {
                    spilled += length;
                    self.spilled.insert((block, pass, partition, number));
                }
            }
        }
        let span = Time::from_seconds(seconds * self.slowness(worker));
        let spooling = Time::from_seconds(spilled as f64 / self.job.machine.spool_rate);
        self.sums.answer += span.0;
        self.sums.blocked += spooling.0;
        self.report.spooled += spilled;
        // All questions of one message belong to the same round.
        let round = parts.first().map_or(0, |(_, question)| question.round);
        let reply = Parcel { bytes: 16 * pieces + 16, pass, round };
        let outcome = WorkerOutcome::Answered { reply, kept };
        let effect = self.ledger.is_some().then(|| {
            let answered = parts
                .iter()
                .map(|&(partition, question)| ((block, question.pass, partition), question.round));
            Effect::Answer(answered.collect(), kept)
        });
        self.compute(worker, ticket, span + spooling, outcome, effect);
    }
}
