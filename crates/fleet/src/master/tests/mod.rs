//! Tests of a master: the messages that it sends and the works that it starts.

mod passes;
mod searching;
mod writing;

use super::*;
use crate::config::Strategy;
use crate::ids::PartitionId;
use crate::payload::{Queries, Weight};
use crate::topology::TopologyShape;
use crate::work::{Extent, PieceOwner};

type Bytes = Arc<[u8]>;

/// The master of a group of two workers. By default each worker holds one of two partitions.
struct Bench {
    master: Master<Bytes>,
    /// The pass that messages from the workers refer to.
    pass: PassId,
    now: u64,
    actions: Actions<Bytes>,
}

fn bytes(count: usize) -> Bytes {
    Bytes::from(vec![0; count])
}

fn config() -> Config {
    Config { heartbeat: None, prefetch: 0, ..Config::default() }
}

impl Bench {
    fn new(config: Config) -> Bench {
        Bench::with(config, 1, 2)
    }

    /// Creates a group of two workers that hold `replicas` replicas of `partitions` partitions.
    fn with(config: Config, replicas: u32, partitions: u32) -> Bench {
        let shape = TopologyShape { ranks: 2, groups: 1, replicas, partitions, dedicated: false };
        let topology = Arc::new(Topology::new(shape));
        let master = Master::new(GroupId(0), &Arc::new(config), &topology);
        let mut bench = Bench { master, pass: PassId(0), now: 0, actions: Vec::new() };
        for worker in 0..2 {
            bench.worker_says(worker, ToMaster::Ready);
        }
        bench
    }

    fn event(&mut self, event: Event<ToMaster<Bytes>, MasterOutcome<Bytes>>) {
        self.now += 1;
        self.actions.clear();
        self.master.handle(Time(self.now), event, &mut self.actions);
    }

    fn worker_says(&mut self, worker: u32, message: ToMaster<Bytes>) {
        self.event(Event::Message { from: Address::Worker(WorkerId(worker)), message });
    }

    fn supermaster_says(&mut self, message: ToMaster<Bytes>) {
        self.event(Event::Message { from: Address::Supermaster, message });
    }

    fn assign_blocks(&mut self, lengths: &[(u32, u64)]) {
        let block = |&(block, residues): &(u32, u64)| {
            let weight = Weight { sequences: 1, residues };
            (BlockId(block), Queries { payload: bytes(9), weight })
        };
        let blocks = lengths.iter().map(block).collect();
        self.supermaster_says(ToMaster::AssignBlocks { blocks });
        let mut actions = std::mem::take(&mut self.actions);
        for _ in lengths {
            self.done(MasterOutcome::Prepared { queries: bytes(20), pass: PassId(0) });
            actions.append(&mut self.actions);
        }
        self.actions = actions;
    }

    fn result(&mut self, worker: u32, block: u32) {
        self.result_of(worker, block, worker);
    }

    fn result_of(&mut self, worker: u32, block: u32, partition: u32) {
        let (block, pass, partition) = (BlockId(block), self.pass, PartitionId(partition));
        self.worker_says(worker, ToMaster::Result { block, pass, partition, hits: bytes(1) });
    }

    fn reply(&mut self, worker: u32, block: u32) {
        let (block, pass) = (BlockId(block), self.pass);
        self.worker_says(worker, ToMaster::Reply { block, pass, reply: bytes(1) });
    }

    fn done(&mut self, outcome: MasterOutcome<Bytes>) {
        let ticket = self.master.running.as_ref().map(|(ticket, _)| *ticket);
        self.event(Event::Done { ticket: ticket.expect("a work is under way"), outcome });
    }

    /// Lets both workers search the current pass of a block.
    fn search_block(&mut self, block: u32) {
        for worker in 0..2 {
            self.result(worker, block);
            self.done(MasterOutcome::Absorbed { cut: None });
        }
    }

    /// Lets both workers search a block, and lays it out without further rounds.
    fn finish_block(&mut self, block: u32, layout: Vec<Extent>) {
        self.search_block(block);
        self.done(MasterOutcome::Layout(layout));
    }

    /// Returns the tasks that the last event assigned: worker, block, partition, and whether the
    /// message has the queries.
    fn assigned_tasks(&self) -> Vec<(u32, u32, u32, bool)> {
        let assigned = self.actions.iter().filter_map(|action| match action {
            Action::Send {
                message:
                    Outgoing::Worker(worker, ToWorker::Assign { block, partition, queries, .. }),
                ..
            } => Some((worker.0, block.0, partition.0, queries.is_some())),
            _ => None,
        });
        assigned.collect()
    }

    /// Asks questions of these sizes in bytes, by partition. Returns each worker that gets
    /// questions, with their partitions.
    fn ask(&mut self, questions: &[(u32, usize)]) -> Vec<(u32, Vec<u32>)> {
        let part = |&(partition, length): &(u32, usize)| (PartitionId(partition), bytes(length));
        self.done(MasterOutcome::Ask(questions.iter().map(part).collect()));
        let asked = self.actions.iter().filter_map(|action| match action {
            Action::Send {
                message: Outgoing::Worker(worker, ToWorker::AnswerRound { questions: parts, .. }),
                ..
            } => Some((worker.0, parts.iter().map(|(partition, _)| partition.0).collect())),
            _ => None,
        });
        asked.collect()
    }

    fn sent_to_supermaster(&self) -> Vec<String> {
        let sent = self.actions.iter().filter_map(|action| match action {
            Action::Send { message: Outgoing::Supermaster(message), .. } => {
                Some(format!("{message:?}"))
            }
            _ => None,
        });
        sent.collect()
    }

    fn placed_by(&self) -> Vec<(u32, Vec<u64>)> {
        let placed = self.actions.iter().filter_map(|action| match action {
            Action::Send {
                message:
                    Outgoing::Worker(
                        worker,
                        ToWorker::WriteOutput { runs, .. } | ToWorker::Store { runs, .. },
                    ),
                ..
            } => Some((worker.0, runs.iter().map(|run| run.offset).collect())),
            _ => None,
        });
        placed.collect()
    }

    /// Returns the workers that the last event asked to take part in a collective write, each with
    /// the offsets at which it writes.
    fn together(&self) -> Vec<(u32, Vec<u64>)> {
        let sent = self.actions.iter().filter_map(|action| match action {
            Action::Send {
                message: Outgoing::Worker(worker, ToWorker::Collective { runs, .. }),
                ..
            } => Some((worker.0, runs.iter().map(|run| run.offset).collect())),
            _ => None,
        });
        sent.collect()
    }

    /// Lays out blocks for a collective write. Each is given with its offset in the file.
    fn collective(checkpoint: bool, bases: &[(u32, u64)]) -> Bench {
        let config = Config { strategy: Strategy::Collective, checkpoint, ..config() };
        let mut bench = Bench::new(config);
        bench.assign_blocks(&bases.iter().map(|&(block, _)| (block, 1)).collect::<Vec<_>>());
        for &(block, _) in bases {
            bench.finish_block(block, layout()[1..3].to_vec());
            if checkpoint {
                bench.worker_says(0, ToMaster::Stored { block: BlockId(block) });
                bench.worker_says(1, ToMaster::Stored { block: BlockId(block) });
            }
        }
        let offsets = bases.iter().map(|&(block, base)| (BlockId(block), base)).collect();
        bench.supermaster_says(ToMaster::BlockOffsets { offsets });
        bench
    }
}

fn layout() -> Vec<Extent> {
    let extent = |owner, length| Extent { owner, piece: 0, length };
    vec![
        extent(PieceOwner::Master, 10),
        extent(PieceOwner::Partition(PassId(0), PartitionId(0)), 20),
        extent(PieceOwner::Partition(PassId(0), PartitionId(1)), 300),
        extent(PieceOwner::Master, 5),
    ]
}
