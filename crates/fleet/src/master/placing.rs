//! Lays out the output of blocks and has the workers write it.

use crate::config::Strategy;
use crate::ids::{BlockId, Time, WorkerId};
use crate::message::{OutputRequest, ToSupermaster, ToWorker};
use crate::payload::Payload;
use crate::role::Action;
use crate::work::{Extent, MasterWork, OutputRun, PieceLocation, PieceOwner, Slice};

use super::output::{CollectiveRound, OutputStep, portions};
use super::{Actions, Gathering, Master, Pending};

impl<P: Payload> Master<P> {
    /// Lays out the output of a block whose search is over, and begins to store or report it.
    pub(super) fn lay_out(
        &mut self,
        now: Time,
        block: BlockId,
        layout: Vec<Extent>,
        actions: &mut Actions<P>,
    ) {
        let Some(search) = self.searches.remove(&block) else { return };
        self.end_pass(now, block, &search, actions);
        let mut slices = Vec::with_capacity(layout.len());
        let filled = layout.into_iter().filter(|extent| extent.length > 0);
        for Extent { owner, piece, length } in filled {
            let holder = match owner {
                PieceOwner::Master => Some(PieceLocation::Master),
                PieceOwner::Partition(pass, partition) => {
                    let answerer = search.answerer(pass, partition);
                    answerer
                        .map(|member| PieceLocation::Worker(self.worker(member), pass, partition))
                }
            };
            let Some(location) = holder else {
                let cause =
                    format!("query block {block}: nobody searched what is laid out of {owner:?}");
                return self.fault(now, cause, actions);
            };
            slices.push(Slice { location, piece, start: 0, length });
        }
        let spare = self.next_worker();
        let next =
            self.outputs.add_layout(block, portions(self.config.strategy, block, slices, spare));
        self.continue_output(now, block, next, actions);
    }

    /// Takes the next step for a block's output.
    pub(super) fn continue_output(
        &mut self,
        now: Time,
        block: BlockId,
        next: OutputStep,
        actions: &mut Actions<P>,
    ) {
        match next {
            OutputStep::Store(portions, size) => {
                for portion in portions {
                    let message = ToWorker::Store { block, runs: portion.runs, size };
                    self.send_to_worker(now, portion.worker, message, actions);
                }
            }
            OutputStep::Finished { size, held } => {
                self.unfinished.remove(block);
                let message = ToSupermaster::Finished { block, size, held };
                self.send_to_supermaster(now, message, actions);
            }
            OutputStep::WriteOutput(portions) if self.config.strategy == Strategy::Collective => {
                self.collective.add(block, portions);
            }
            OutputStep::WriteOutput(portions) => {
                for portion in portions {
                    let message = ToWorker::WriteOutput { block, runs: portion.runs };
                    self.send_to_worker(now, portion.worker, message, actions);
                }
            }
            OutputStep::Placed => {
                actions.push(Action::Placed { block });
                self.send_to_supermaster(now, ToSupermaster::Placed { block }, actions);
            }
            OutputStep::Nothing => {}
        }
    }

    pub(super) fn fetch(&mut self, worker: WorkerId, fetch: OutputRequest) {
        let run = OutputRun { block: fetch.block, offset: 0, slices: fetch.slices };
        let pending = Pending::Gather(Gathering::Window(worker, fetch.window));
        self.works.push_back((pending, MasterWork::Gather { runs: vec![run] }));
    }

    /// Begins a collective write when enough bytes wait for one, or when no block is being
    /// searched. During a drain no write begins: the file will not be kept, and a worker that gets
    /// the message to stop must not be waiting for others.
    pub(super) fn begin_collective(&mut self, now: Time, actions: &mut Actions<P>) {
        if self.draining {
            return;
        }
        let idle = self.preparing == 0 && self.searches.is_empty();
        let Some(mut round) = self.collective.begin(self.members.len() as u32, idle) else {
            return;
        };
        for member in 0..self.members.len() as u32 {
            let worker = self.worker(member);
            let runs = round.remove(&worker).unwrap_or_default();
            let slices = runs.iter().flat_map(|run| &run.slices);
            if slices.into_iter().any(|slice| slice.location == PieceLocation::Master) {
                let work = MasterWork::Gather { runs: runs.clone() };
                let pending = Pending::Gather(Gathering::Collective(worker, runs));
                self.works.push_back((pending, work));
            } else {
                self.send_to_worker(
                    now,
                    worker,
                    ToWorker::Collective { runs, master: None },
                    actions,
                );
            }
        }
        debug_assert_eq!(round, CollectiveRound::new(), "only members of the group write");
    }

    pub(super) fn collective_written(&mut self, now: Time, actions: &mut Actions<P>) {
        for (block, portions) in self.collective.member_finished() {
            for _ in 0..portions {
                let next = self.outputs.portion_written(block);
                self.continue_output(now, block, next, actions);
            }
        }
    }

    pub(super) fn receive_gathered(
        &mut self,
        now: Time,
        gathering: Gathering,
        bytes: P,
        actions: &mut Actions<P>,
    ) {
        match gathering {
            Gathering::Window(worker, window) => {
                self.send_to_worker(now, worker, ToWorker::OutputBytes { window, bytes }, actions);
            }
            Gathering::Collective(worker, runs) => {
                let message = ToWorker::Collective { runs, master: Some(bytes) };
                self.send_to_worker(now, worker, message, actions);
            }
        }
    }
}
