//! What a master has done by whom.

use super::*;
use crate::ids::PartitionId;
use crate::payload::{Queries, Weight};
use crate::topology::Shape;

type Bytes = Arc<[u8]>;

/// A group of two workers with a partition each.
struct Bench {
    master: Master<Bytes>,
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

    /// Two workers that hold so many replicas of so many partitions.
    fn with(config: Config, replicas: u32, partitions: u32) -> Bench {
        let shape = Shape { ranks: 2, groups: 1, replicas, partitions, dedicated: false };
        let topology = Arc::new(Topology::new(shape));
        let master = Master::new(GroupId(0), &Arc::new(config), &topology);
        let mut bench = Bench { master, now: 0, actions: Vec::new() };
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

    fn segment(&mut self, lengths: &[(u32, u64)]) {
        let block = |&(block, residues): &(u32, u64)| {
            let weight = Weight { sequences: 1, residues };
            (BlockId(block), Queries { payload: bytes(9), weight })
        };
        let blocks = lengths.iter().map(block).collect();
        self.supermaster_says(ToMaster::Segment { blocks });
        let mut actions = std::mem::take(&mut self.actions);
        for _ in lengths {
            self.done(MasterOutcome::Prepared { queries: bytes(20) });
            actions.append(&mut self.actions);
        }
        self.actions = actions;
    }

    fn result(&mut self, worker: u32, block: u32) {
        self.result_of(worker, block, worker);
    }

    fn result_of(&mut self, worker: u32, block: u32, partition: u32) {
        let (block, partition) = (BlockId(block), PartitionId(partition));
        self.worker_says(worker, ToMaster::Result { block, partition, hits: bytes(1) });
    }

    fn done(&mut self, outcome: MasterOutcome<Bytes>) {
        let ticket = self.master.running.as_ref().map(|(ticket, _)| *ticket);
        self.event(Event::Done { ticket: ticket.expect("a work is under way"), outcome });
    }

    /// Has a block searched by both workers and laid out without further rounds.
    fn finish_block(&mut self, block: u32, layout: Vec<Extent>) {
        for worker in 0..2 {
            self.result(worker, block);
            self.done(MasterOutcome::Absorbed { cut: None });
        }
        self.done(MasterOutcome::Layout(layout));
    }

    /// Tasks assigned by the last event: worker, block, partition, whether the queries came along.
    fn assigned(&self) -> Vec<(u32, u32, u32, bool)> {
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

    /// Has the workers asked questions of so many bytes; whom each is for, by partition.
    fn asked(&mut self, questions: &[(u32, usize)]) -> Vec<(u32, Vec<u32>)> {
        let part = |&(partition, length): &(u32, usize)| (PartitionId(partition), bytes(length));
        self.done(MasterOutcome::Ask(questions.iter().map(part).collect()));
        let asked = self.actions.iter().filter_map(|action| match action {
            Action::Send {
                message: Outgoing::Worker(worker, ToWorker::Ask { parts, .. }), ..
            } => Some((worker.0, parts.iter().map(|(partition, _)| partition.0).collect())),
            _ => None,
        });
        asked.collect()
    }

    fn told_supermaster(&self) -> Vec<String> {
        let told = self.actions.iter().filter_map(|action| match action {
            Action::Send { message: Outgoing::Supermaster(message), .. } => {
                Some(format!("{message:?}"))
            }
            _ => None,
        });
        told.collect()
    }

    fn placed_by(&self) -> Vec<(u32, Vec<u64>)> {
        let placed = self.actions.iter().filter_map(|action| match action {
            Action::Send {
                message:
                    Outgoing::Worker(
                        worker,
                        ToWorker::Place { runs, .. } | ToWorker::Store { runs, .. },
                    ),
                ..
            } => Some((worker.0, runs.iter().map(|run| run.offset).collect())),
            _ => None,
        });
        placed.collect()
    }

    /// Who is told to take part in a collective write, and where each writes.
    fn together(&self) -> Vec<(u32, Vec<u64>)> {
        let told = self.actions.iter().filter_map(|action| match action {
            Action::Send {
                message: Outgoing::Worker(worker, ToWorker::Collective { runs, .. }),
                ..
            } => Some((worker.0, runs.iter().map(|run| run.offset).collect())),
            _ => None,
        });
        told.collect()
    }

    /// Blocks that are laid out, and where in the file they begin, to be written together.
    fn collective(checkpoint: bool, bases: &[(u32, u64)]) -> Bench {
        let config = Config { strategy: Strategy::Collective, checkpoint, ..config() };
        let mut bench = Bench::new(config);
        bench.segment(&bases.iter().map(|&(block, _)| (block, 1)).collect::<Vec<_>>());
        for &(block, _) in bases {
            bench.finish_block(block, layout()[1..3].to_vec());
            if checkpoint {
                bench.worker_says(0, ToMaster::Stored { block: BlockId(block) });
                bench.worker_says(1, ToMaster::Stored { block: BlockId(block) });
            }
        }
        let bases = bases.iter().map(|&(block, base)| (BlockId(block), base)).collect();
        bench.supermaster_says(ToMaster::Bases { bases });
        bench
    }
}

#[test]
fn who_searched_most_does_not_align_most() {
    let mut bench = Bench::with(config(), 2, 4);
    bench.segment(&[(0, 1)]);
    for (worker, partition) in [(0, 0), (1, 1), (0, 2), (0, 3)] {
        bench.result_of(worker, 0, partition);
        bench.done(MasterOutcome::Absorbed { cut: None });
    }
    let shared = bench.asked(&[(0, 50), (1, 20), (2, 40), (3, 35)]);
    assert_eq!(shared, [(0, vec![0, 1]), (1, vec![2, 3])]);
    let reply = || ToMaster::Reply { block: BlockId(0), reply: bytes(1) };
    bench.worker_says(0, reply());
    bench.worker_says(1, reply());
    // What was aligned stays where it is.
    assert_eq!(bench.asked(&[(2, 9), (3, 9)]), [(1, vec![2, 3])]);
    bench.worker_says(1, reply());
    let piece = |partition| Extent {
        owner: Owner::Partition(PartitionId(partition)),
        piece: 0,
        length: 10 + u64::from(partition),
    };
    bench.done(MasterOutcome::Layout(vec![piece(0), piece(3)]));
    bench.supermaster_says(ToMaster::Bases { bases: vec![(BlockId(0), 7)] });
    assert_eq!(bench.placed_by(), [(1, vec![7])]);
}

#[test]
fn without_replicas_who_searched_answers() {
    let mut bench = Bench::with(config(), 1, 2);
    bench.segment(&[(0, 1)]);
    for worker in 0..2 {
        bench.result(worker, 0);
        bench.done(MasterOutcome::Absorbed { cut: None });
    }
    assert_eq!(bench.asked(&[(0, 1), (1, 100)]), [(0, vec![0]), (1, vec![1])]);
}

fn layout() -> Vec<Extent> {
    let extent = |owner, length| Extent { owner, piece: 0, length };
    vec![
        extent(Owner::Master, 10),
        extent(Owner::Partition(PartitionId(0)), 20),
        extent(Owner::Partition(PartitionId(1)), 300),
        extent(Owner::Master, 5),
    ]
}

#[test]
fn blocks_are_asked_for_and_searched_in_their_order() {
    let mut bench = Bench::new(config());
    assert!(bench.master.supply == Supply::Asked);
    bench.segment(&[(0, 10), (1, 99)]);
    assert_eq!(bench.assigned(), [(0, 0, 0, true), (1, 0, 1, true)]);
    bench.result(1, 0);
    assert_eq!(bench.assigned(), [(1, 1, 1, true)]);
    assert_eq!(bench.told_supermaster(), ["WantSegment"], "one task is left for two workers");
}

#[test]
fn queries_are_prepared_once_and_before_they_are_searched() {
    let mut bench = Bench::new(config());
    let queries =
        |block| (BlockId(block), Queries { payload: bytes(9), weight: Weight::default() });
    bench.supermaster_says(ToMaster::Segment { blocks: vec![queries(3), queries(5)] });
    assert!(matches!(
        &bench.actions[..],
        [Action::Run { work: MasterWork::Prepare { block: BlockId(3), .. }, .. }]
    ));
    bench.done(MasterOutcome::Prepared { queries: bytes(20) });
    let sent = bench.actions.iter().filter_map(|action| match action {
        Action::Send { message: Outgoing::Worker(_, ToWorker::Assign { queries, .. }), .. } => {
            queries.as_ref().map(|queries| queries.len())
        }
        _ => None,
    });
    assert_eq!(sent.collect::<Vec<_>>(), [20, 20], "what was found goes along");
    assert!(bench.told_supermaster().is_empty(), "tasks of block 5 are coming");
    bench.supermaster_says(ToMaster::Drain);
    bench.done(MasterOutcome::Prepared { queries: bytes(20) });
    assert!(bench.assigned().is_empty(), "a drain drops what was not assigned");
}

#[test]
fn a_worker_gets_a_second_task_only_when_there_are_enough() {
    let mut bench = Bench::new(Config { prefetch: 1, ..config() });
    bench.segment(&[(0, 1)]);
    assert_eq!(bench.assigned().len(), 2);
    bench.segment(&[(1, 1), (2, 1)]);
    let second = bench.assigned();
    assert_eq!(second, [(0, 1, 0, true), (1, 1, 1, true)]);
}

#[test]
fn no_task_waits_behind_a_long_one() {
    let config = Config { prefetch: 1, prefetch_below: Time(1000), look_ahead: 9.0, ..config() };
    let mut bench = Bench::new(config);
    bench.segment(&[(0, 1)]);
    // Of the first task the mean has a part of 1/16.
    bench.now += 20_000;
    bench.result(0, 0);
    bench.done(MasterOutcome::Absorbed { cut: None });
    bench.segment(&[(1, 1), (2, 1), (3, 1)]);
    assert_eq!(bench.assigned(), [(0, 1, 0, true)]);
}

#[test]
fn the_cut_goes_to_those_who_search() {
    let mut bench = Bench::new(config());
    bench.segment(&[(0, 1)]);
    bench.result(0, 0);
    bench.done(MasterOutcome::Absorbed { cut: Some(bytes(4)) });
    let raised = bench.actions.iter().any(|action| {
        matches!(
            action,
            Action::Send { message: Outgoing::Worker(WorkerId(1), ToWorker::RaiseCut { .. }), .. }
        )
    });
    assert!(raised, "{:?}", bench.actions);
}

#[test]
fn rounds_ask_those_who_searched() {
    let mut bench = Bench::new(config());
    bench.segment(&[(0, 1)]);
    for worker in [1, 0] {
        bench.result(worker, 0);
        bench.done(MasterOutcome::Absorbed { cut: None });
    }
    bench.done(MasterOutcome::Ask(vec![(PartitionId(1), bytes(2))]));
    assert!(matches!(
        &bench.actions[..],
        [Action::Send { message: Outgoing::Worker(WorkerId(1), ToWorker::Ask { parts, .. }), .. }]
            if parts.len() == 1
    ));
    bench.worker_says(1, ToMaster::Reply { block: BlockId(0), reply: bytes(3) });
    assert!(matches!(
        &bench.actions[..],
        [Action::Run { work: MasterWork::Round { round: 1, replies, .. }, .. }] if replies.len() == 1
    ));
}

#[test]
fn merged_output_is_written_by_the_worker_with_most_of_it() {
    let mut bench = Bench::new(config());
    bench.segment(&[(0, 1)]);
    bench.finish_block(0, layout());
    assert_eq!(bench.told_supermaster(), ["Finished { block: BlockId(0), size: 335 }"]);
    bench.supermaster_says(ToMaster::Bases { bases: vec![(BlockId(0), 1000)] });
    assert_eq!(bench.placed_by(), [(1, vec![1000])]);
    bench.worker_says(1, ToMaster::Written { block: BlockId(0) });
    assert_eq!(bench.told_supermaster(), ["Placed { block: BlockId(0) }"]);
}

#[test]
fn individual_output_is_written_by_each_at_its_offsets() {
    let mut bench = Bench::new(Config { strategy: Strategy::Individual, ..config() });
    bench.segment(&[(0, 1)]);
    bench.finish_block(0, layout());
    bench.supermaster_says(ToMaster::Bases { bases: vec![(BlockId(0), 1000)] });
    assert_eq!(bench.placed_by(), [(0, vec![1010]), (1, vec![1000, 1030])]);
    bench.worker_says(0, ToMaster::Written { block: BlockId(0) });
    assert!(bench.told_supermaster().is_empty());
    bench.worker_says(1, ToMaster::Written { block: BlockId(0) });
    assert_eq!(bench.told_supermaster(), ["Placed { block: BlockId(0) }"]);
}

#[test]
fn what_is_written_together_has_no_gaps() {
    let mut bench = Bench::collective(false, &[(0, 1000), (1, 1320), (2, 9000)]);
    assert_eq!(bench.together(), [(0, vec![1000, 1320]), (1, vec![1020, 1340])]);
    bench.worker_says(1, ToMaster::CollectiveWritten);
    assert!(bench.actions.is_empty(), "the other one is not through: {:?}", bench.actions);
    bench.worker_says(0, ToMaster::CollectiveWritten);
    let placed = |block| format!("Placed {{ block: BlockId({block}) }}");
    assert_eq!(bench.told_supermaster(), [placed(0), placed(1)]);
    assert_eq!(bench.together(), [(0, vec![9000]), (1, vec![9020])]);
}

#[test]
fn who_has_nothing_to_write_takes_part() {
    let mut bench = Bench::new(Config { strategy: Strategy::Collective, ..config() });
    bench.segment(&[(0, 1)]);
    bench.finish_block(0, layout()[2..3].to_vec());
    bench.supermaster_says(ToMaster::Bases { bases: vec![(BlockId(0), 1000)] });
    assert_eq!(bench.together(), [(0, vec![]), (1, vec![1000])]);
}

#[test]
fn a_drain_ends_after_the_write_under_way_and_begins_none() {
    let mut bench = Bench::collective(true, &[(0, 1000), (1, 9000)]);
    assert_eq!(bench.together().len(), 2);
    bench.supermaster_says(ToMaster::Drain);
    bench.worker_says(0, ToMaster::CollectiveWritten);
    assert!(bench.told_supermaster().is_empty(), "worker 1 is still writing");
    bench.worker_says(1, ToMaster::CollectiveWritten);
    assert_eq!(bench.told_supermaster(), ["Placed { block: BlockId(0) }", "Drained"]);
    assert!(bench.together().is_empty());
}

#[test]
fn with_a_checkpoint_a_block_is_finished_when_durable() {
    let mut bench = Bench::new(Config { checkpoint: true, ..config() });
    bench.segment(&[(0, 1)]);
    bench.finish_block(0, layout());
    assert_eq!(bench.placed_by(), [(1, vec![0])]);
    assert!(!bench.told_supermaster().iter().any(|told| told.starts_with("Finished")));
    bench.worker_says(1, ToMaster::Stored { block: BlockId(0) });
    assert_eq!(bench.told_supermaster(), ["Finished { block: BlockId(0), size: 335 }"]);
}

#[test]
fn a_drain_finishes_what_is_assigned_and_drops_the_rest() {
    let mut bench = Bench::new(Config { checkpoint: true, ..config() });
    bench.segment(&[(0, 9), (1, 5)]);
    bench.result(0, 0);
    bench.supermaster_says(ToMaster::Drain);
    assert!(bench.told_supermaster().is_empty(), "block 0 can still be finished");
    bench.done(MasterOutcome::Absorbed { cut: None });
    // Block 1 is dropped: one of its tasks was not assigned.
    bench.result(0, 1);
    bench.result(1, 0);
    bench.done(MasterOutcome::Absorbed { cut: None });
    bench.done(MasterOutcome::Layout(layout()));
    assert!(bench.told_supermaster().is_empty(), "it is not durable yet");
    bench.worker_says(1, ToMaster::Stored { block: BlockId(0) });
    assert_eq!(bench.told_supermaster(), ["Finished { block: BlockId(0), size: 335 }", "Drained"]);
}

#[test]
fn asking_for_what_was_not_searched_ends_the_job() {
    let mut bench = Bench::with(config(), 1, 2);
    bench.segment(&[(0, 1)]);
    for worker in 0..2 {
        bench.result(worker, 0);
        bench.done(MasterOutcome::Absorbed { cut: None });
    }
    assert_eq!(bench.asked(&[(7, 1)]), []);
    let told = bench.told_supermaster();
    assert!(told[0].starts_with("Failed") && told[0].contains("partition 7"), "{told:?}");
}
