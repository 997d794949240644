//! Ends works of workers, and records their effects in the ledger.

use crate::ids::{Ticket, Time, WorkerId};
use crate::role::Event;
use crate::work::{OutputRun, WorkerOutcome};

use super::{Effect, Parcel, SimEvent, World};

impl World<'_> {
    pub(super) fn work_ended(
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
        if matches!(outcome, WorkerOutcome::Searched(_) | WorkerOutcome::Answered { .. }) {
            if place.stolen > 0 {
                let later = self.now + Time(std::mem::take(&mut place.stolen));
                return self.add(later, SimEvent::Worked(worker, ticket, outcome, effect));
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
        let slices = |runs: &[OutputRun]| {
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
            Effect::Search(task) => {
                let result = ledger.passes.search(worker, task);
                ledger.note(result);
            }
            Effect::Answer(answered, kept) => {
                let held = self.job.topology.partitions_of(worker);
                for (task, round) in answered {
                    ledger.check(held.contains(&task.2), || {
                        format!("worker {worker} is asked for partition {}", task.2)
                    });
                    let result = ledger.passes.answer(worker, task, round);
                    ledger.note(result);
                }
                ledger.change_held(worker, kept, 0);
            }
            Effect::Gather(bytes) => ledger.change_held(worker, bytes, freed),
            Effect::HandOver(window) => {
                // The worker holds the collected bytes until the message with them has left.
                ledger.hand_over(worker, &window);
                let parts: u64 = window.parts.iter().map(|(_, part)| part.bytes).sum();
                ledger.change_held(worker, window.length(), freed + parts + elsewhere);
            }
            Effect::Write(window, stored) => {
                let parts: u64 = window.parts.iter().map(|(_, part)| part.bytes).sum();
                ledger.change_held(worker, 0, freed + parts + elsewhere);
                ledger.write(worker, &window, stored);
            }
            Effect::Together(runs, master) => {
                ledger.change_held(worker, 0, freed + master);
                ledger.write_together(worker, &runs, master);
            }
        }
        ledger.note_written_blocks(self.now);
    }
}
