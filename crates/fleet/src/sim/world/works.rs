//! Simulates the works of the supermaster, the masters and the workers: their times and outcomes.

use crate::ids::{Address, BlockId, GroupId, PartitionId, PassId, Rank, Ticket, Time, WorkerId};
use crate::payload::Queries;
use crate::role::Event;
use crate::work::{
    MasterOutcome, MasterWork, PieceLocation, SupermasterOutcome, SupermasterWork, WorkerWork,
};

use super::{HEAD, Parcel, SimEvent, World};

/// Rate of copying memory in bytes per second.
pub const COPY_RATE: f64 = 5e9;
/// Error message of a write to a full disk.
const FULL: &str = "out.txt: no space left on device";

impl World<'_> {
    pub(super) fn do_supermaster(&mut self, ticket: Ticket, work: SupermasterWork<Parcel>) {
        let supermaster = self.job.topology.supermaster;
        if matches!(work, SupermasterWork::Write(_)) && self.is_full(supermaster) {
            let event = Event::Failed { ticket, code: 6, cause: FULL.to_owned() };
            return self.add(self.now, SimEvent::Supermaster(event));
        }
        let workload = &self.job.workload;
        let (seconds, outcome) = match work {
            SupermasterWork::Open => (1e-3, SupermasterOutcome::Opened { base: HEAD }),
            SupermasterWork::Read { block, .. } if block.0 < workload.blocks() => {
                let payload = Parcel::without_pass(workload.query_bytes(block, false));
                let queries = Queries { payload, weight: workload.weight(block) };
                (workload.read_seconds(block), SupermasterOutcome::Read(Some(queries)))
            }
            SupermasterWork::Read { .. } => (1e-6, SupermasterOutcome::Read(None)),
            SupermasterWork::Verify { block, pass, results } => {
                let is_confirmed = workload.is_last(block, pass);
                if let Some(ledger) = &mut self.ledger {
                    let result = ledger.passes.verify((block, pass), results.pass, is_confirmed);
                    ledger.note(result);
                }
                let verdict = Parcel::with_pass(64, pass);
                (
                    workload.master_seconds(block),
                    SupermasterOutcome::Verified { is_confirmed, verdict },
                )
            }
            SupermasterWork::Write(ends) => {
                if let Some(ledger) = &mut self.ledger {
                    ends.iter()
                        .for_each(|(offset, end)| ledger.write_partial_grain(*offset, end.bytes));
                }
                let bytes = ends.iter().map(|(_, end)| end.bytes).sum();
                let done = self.files.transfer(self.now, bytes, ends.len());
                if let Some(ledger) = &mut self.ledger {
                    ledger.note_written_blocks(done);
                }
                (done.since(self.now).seconds(), SupermasterOutcome::Written)
            }
            SupermasterWork::Close { offset } => {
                if let Some(ledger) = &mut self.ledger {
                    ledger.check_complete(offset);
                }
                (1e-3, SupermasterOutcome::Closed)
            }
        };
        let span = Time::from_seconds(seconds);
        self.sums.reading += span.0;
        let done = self.now + span;
        self.add(done, SimEvent::Supermaster(Event::Done { ticket, outcome }));
    }

    pub(super) fn do_master(&mut self, group: u32, ticket: Ticket, work: MasterWork<Parcel>) {
        let workload = &self.job.workload;
        let (seconds, outcome) = match &work {
            MasterWork::Prepare { block, .. } => {
                let pass = self.job.checkpoint.first_pass(*block);
                let queries = Parcel::with_pass(workload.query_bytes(*block, true), pass);
                let seconds = workload.prepare_seconds(*block);
                (seconds, MasterOutcome::Prepared { queries, pass })
            }
            MasterWork::MergeHits { block, pass, partition, .. } => {
                let rises = workload.raises_cut(*block, *pass, *partition);
                let cut = rises.then_some(Parcel::with_pass(16, *pass));
                (workload.master_seconds(*block), MasterOutcome::Absorbed { cut })
            }
            MasterWork::DecideNextStep { block, pass, round, .. } => {
                let outcome = match workload.is_predicted() && *round == 0 {
                    true => MasterOutcome::Verify { found: Parcel::with_pass(64, *pass) },
                    false => self.round(*block, *pass, *round),
                };
                (workload.master_seconds(*block), outcome)
            }
            MasterWork::Verified { block, pass, .. } => {
                let outcome = match workload.is_last(*block, *pass) {
                    true => self.round(*block, *pass, 0),
                    false => self.again(*block, *pass),
                };
                (workload.master_seconds(*block), outcome)
            }
            MasterWork::Gather { runs } => {
                let slices = runs.iter().flat_map(|run| &run.slices);
                let own = slices.filter(|slice| slice.location == PieceLocation::Master);
                let bytes: u64 = own.map(|slice| slice.length).sum();
                (bytes as f64 / COPY_RATE, MasterOutcome::Gathered(Parcel::without_pass(bytes)))
            }
        };
        let Some(done) = self.start_handling(Address::Master(GroupId(group)), seconds) else {
            return;
        };
        self.note_master(&work, &outcome);
        self.add(done, SimEvent::Master(group, Event::Done { ticket, outcome }));
    }

    /// Records the end of a master's work in the ledger.
    fn note_master(&mut self, work: &MasterWork<Parcel>, outcome: &MasterOutcome<Parcel>) {
        let Some(ledger) = &mut self.ledger else { return };
        let passes = &mut ledger.passes;
        let result = match (work, outcome) {
            (MasterWork::Prepare { block, .. }, MasterOutcome::Prepared { pass, .. }) => {
                passes.prepare(*block, *pass)
            }
            (MasterWork::MergeHits { block, pass, partition, hits }, _) => {
                passes.absorb((*block, *pass, *partition), hits.pass)
            }
            (MasterWork::DecideNextStep { block, pass, round, replies }, outcome) => {
                let replies = replies.iter().map(|reply| (reply.pass, reply.round));
                let whole = passes.round((*block, *pass), *round, replies);
                whole.and_then(|()| passes.decide((*block, *pass), outcome))
            }
            (MasterWork::Verified { block, pass, verdict }, outcome) => {
                let received = passes.receive_verdict((*block, *pass), verdict.pass);
                received.and_then(|()| passes.decide((*block, *pass), outcome))
            }
            _ => Ok(()),
        };
        ledger.note(result);
        if let (MasterWork::DecideNextStep { block, pass, .. }, MasterOutcome::NextPass { .. }) =
            (work, outcome)
            && self.job.config.checkpoint
        {
            ledger.checkpoint.keep(*block, *pass);
        }
    }

    /// Returns the next step of a pass. Its rounds ask the partitions that have hits for
    /// alignments, for rows of a sorted table if there is one, and for formatted pieces. Then the
    /// next pass follows, or the layout.
    fn round(&self, block: BlockId, pass: PassId, round: u32) -> MasterOutcome<Parcel> {
        let workload = &self.job.workload;
        let has_hits =
            |&partition: &PartitionId| !workload.pieces(block, pass, partition).is_empty();
        let partitions = (0..self.job.topology.partitions).map(PartitionId);
        let asked: Vec<_> = if round < workload.rounds() {
            // The first question contains the hits that the worker must align.
            let bytes =
                |partition| if round == 0 { workload.hit_bytes(block, partition) } else { 64 };
            let part = |partition| (partition, Parcel { bytes: bytes(partition), pass, round });
            partitions.filter(has_hits).map(part).collect()
        } else {
            Vec::new()
        };
        if !asked.is_empty() {
            return MasterOutcome::Ask(asked);
        }
        if workload.is_last(block, pass) {
            let first = self.job.checkpoint.first_pass(block);
            return MasterOutcome::Layout(workload.layout(block, first));
        }
        self.again(block, pass)
    }

    fn again(&self, block: BlockId, pass: PassId) -> MasterOutcome<Parcel> {
        let bytes = self.job.workload.query_bytes(block, true);
        MasterOutcome::NextPass { queries: Parcel::with_pass(bytes, pass.next()) }
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
            return self
                .add(self.now, SimEvent::Worker(worker, Event::Failed { ticket, code: 6, cause }));
        }
        match work {
            WorkerWork::Search { block, pass, partition, queries, cut } => {
                let task = (block, pass, partition);
                if let Some(ledger) = &mut self.ledger {
                    let of = |parcel: Option<Parcel>| parcel.map(|parcel| parcel.pass);
                    let result = ledger.passes.begin(WorkerId(worker), task, of(queries), of(cut));
                    ledger.note(result);
                }
                self.search(worker, ticket, task);
            }
            WorkerWork::Answer { block, pass, parts, budget } => {
                self.answer(worker, ticket, (block, pass), &parts, budget);
            }
            WorkerWork::Collective { runs, master } => {
                self.join_collective(worker, ticket, runs, master)
            }
            WorkerWork::Gather { block, slices } => self.gather(worker, ticket, block, &slices),
            WorkerWork::HandOver(window) => self.hand_over(worker, ticket, window),
            WorkerWork::Write(window) => self.write(worker, ticket, window, None),
            WorkerWork::Persist { window, size, .. } => {
                self.write(worker, ticket, window, Some(size))
            }
        }
    }
}
