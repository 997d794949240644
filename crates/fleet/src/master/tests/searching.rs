//! Tests of tasks, cuts, and rounds.

use super::*;

#[test]
fn alignment_is_balanced_whoever_searched_most() {
    let mut bench = Bench::with(config(), 2, 4);
    bench.assign_blocks(&[(0, 1)]);
    for (worker, partition) in [(0, 0), (1, 1), (0, 2), (0, 3)] {
        bench.result_of(worker, 0, partition);
        bench.done(MasterOutcome::Absorbed { cut: None });
    }
    let shared = bench.ask(&[(0, 50), (1, 20), (2, 40), (3, 35)]);
    assert_eq!(shared, [(0, vec![0, 1]), (1, vec![2, 3])]);
    bench.reply(0, 0);
    bench.reply(1, 0);
    // The worker that made the alignments of a partition also answers the next round.
    assert_eq!(bench.ask(&[(2, 9), (3, 9)]), [(1, vec![2, 3])]);
    bench.reply(1, 0);
    let piece = |partition| Extent {
        owner: PieceOwner::Partition(PassId(0), PartitionId(partition)),
        piece: 0,
        length: 10 + u64::from(partition),
    };
    bench.done(MasterOutcome::Layout(vec![piece(0), piece(3)]));
    bench.supermaster_says(ToMaster::BlockOffsets { offsets: vec![(BlockId(0), 7)] });
    assert_eq!(bench.placed_by(), [(1, vec![7])]);
}

#[test]
fn without_replicas_the_searcher_answers() {
    let mut bench = Bench::with(config(), 1, 2);
    bench.assign_blocks(&[(0, 1)]);
    bench.search_block(0);
    assert_eq!(bench.ask(&[(0, 1), (1, 100)]), [(0, vec![0]), (1, vec![1])]);
}

#[test]
fn blocks_are_asked_for_and_searched_in_their_order() {
    let mut bench = Bench::new(config());
    assert!(bench.master.supply == BlockSupply::Asked);
    bench.assign_blocks(&[(0, 10), (1, 99)]);
    assert_eq!(bench.assigned_tasks(), [(0, 0, 0, true), (1, 0, 1, true)]);
    bench.result(1, 0);
    assert_eq!(bench.assigned_tasks(), [(1, 1, 1, true)]);
    assert_eq!(bench.sent_to_supermaster(), ["RequestBlocks"], "one task is left for two workers");
}

#[test]
fn queries_are_prepared_once_and_before_they_are_searched() {
    let mut bench = Bench::new(config());
    let queries =
        |block| (BlockId(block), Queries { payload: bytes(9), weight: Weight::default() });
    bench.supermaster_says(ToMaster::AssignBlocks { blocks: vec![queries(3), queries(5)] });
    assert!(matches!(
        &bench.actions[..],
        [Action::Run { work: MasterWork::Prepare { block: BlockId(3), .. }, .. }]
    ));
    bench.done(MasterOutcome::Prepared { queries: bytes(20), pass: PassId(0) });
    let sent = bench.actions.iter().filter_map(|action| match action {
        Action::Send { message: Outgoing::Worker(_, ToWorker::Assign { queries, .. }), .. } => {
            queries.as_ref().map(|queries| queries.len())
        }
        _ => None,
    });
    assert_eq!(sent.collect::<Vec<_>>(), [20, 20], "what was found goes along");
    assert!(bench.sent_to_supermaster().is_empty(), "tasks of block 5 are coming");
    bench.supermaster_says(ToMaster::Drain);
    bench.done(MasterOutcome::Prepared { queries: bytes(20), pass: PassId(0) });
    assert!(bench.assigned_tasks().is_empty(), "a drain drops what was not assigned");
}

#[test]
fn a_worker_gets_a_second_task_only_when_there_are_enough() {
    let mut bench = Bench::new(Config { prefetch: 1, ..config() });
    bench.assign_blocks(&[(0, 1)]);
    assert_eq!(bench.assigned_tasks().len(), 2);
    bench.assign_blocks(&[(1, 1), (2, 1)]);
    let second = bench.assigned_tasks();
    assert_eq!(second, [(0, 1, 0, true), (1, 1, 1, true)]);
}

#[test]
fn no_task_waits_behind_a_long_one() {
    let config = Config { prefetch: 1, prefetch_below: Time(1000), look_ahead: 9.0, ..config() };
    let mut bench = Bench::new(config);
    bench.assign_blocks(&[(0, 1)]);
    // A task has a weight of 1/16 in the mean time, so one long task is enough.
    bench.now += 20_000;
    bench.result(0, 0);
    bench.done(MasterOutcome::Absorbed { cut: None });
    bench.assign_blocks(&[(1, 1), (2, 1), (3, 1)]);
    assert_eq!(bench.assigned_tasks(), [(0, 1, 0, true)]);
}

#[test]
fn the_cut_goes_to_the_searching_workers() {
    let mut bench = Bench::new(config());
    bench.assign_blocks(&[(0, 1)]);
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
fn rounds_ask_the_workers_that_searched() {
    let mut bench = Bench::new(config());
    bench.assign_blocks(&[(0, 1)]);
    for worker in [1, 0] {
        bench.result(worker, 0);
        bench.done(MasterOutcome::Absorbed { cut: None });
    }
    bench.done(MasterOutcome::Ask(vec![(PartitionId(1), bytes(2))]));
    assert!(matches!(
        &bench.actions[..],
        [Action::Send { message: Outgoing::Worker(WorkerId(1), ToWorker::AnswerRound { questions: parts, .. }), .. }]
            if parts.len() == 1
    ));
    bench.reply(1, 0);
    assert!(matches!(
        &bench.actions[..],
        [Action::Run { work: MasterWork::DecideNextStep { round: 1, replies, .. }, .. }] if replies.len() == 1
    ));
}

#[test]
fn asking_for_an_unsearched_partition_ends_the_job() {
    let mut bench = Bench::with(config(), 1, 2);
    bench.assign_blocks(&[(0, 1)]);
    bench.search_block(0);
    assert_eq!(bench.ask(&[(7, 1)]), []);
    let sent = bench.sent_to_supermaster();
    assert!(sent[0].starts_with("Failed") && sent[0].contains("partition 7"), "{sent:?}");
}

#[test]
fn queries_of_unfinished_blocks_are_bounded() {
    let config = Config { most_unfinished_queries: 3, look_ahead: 9.0, ..config() };
    let mut bench = Bench::new(config);
    bench.assign_blocks(&[(0, 1), (1, 1)]);
    assert!(bench.master.supply == BlockSupply::Asked, "there is room for a third query");
    bench.assign_blocks(&[(2, 1)]);
    assert!(bench.master.supply == BlockSupply::Open, "three queries are unfinished");
    bench.finish_block(0, layout());
    assert!(bench.master.supply == BlockSupply::Asked);
}

#[test]
fn blocks_that_are_being_stored_or_written_count() {
    let config =
        Config { most_unfinished_blocks: 1, look_ahead: 9.0, checkpoint: true, ..config() };
    let mut bench = Bench::new(config);
    bench.assign_blocks(&[(0, 1)]);
    bench.finish_block(0, layout());
    assert!(bench.master.supply == BlockSupply::Open, "block 0 is not durable");
    bench.worker_says(1, ToMaster::Stored { block: BlockId(0) });
    assert!(
        bench.master.supply == BlockSupply::Asked,
        "it waits for its place, which others decide"
    );
    bench.assign_blocks(&[(1, 1)]);
    bench.finish_block(1, layout());
    bench.supermaster_says(ToMaster::BlockOffsets { offsets: vec![(BlockId(0), 7)] });
    bench.worker_says(1, ToMaster::Stored { block: BlockId(1) });
    assert!(bench.master.supply == BlockSupply::Open, "block 0 is being written");
    bench.worker_says(1, ToMaster::Written { block: BlockId(0) });
    assert!(bench.master.supply == BlockSupply::Asked);
}

#[test]
fn a_worker_without_a_task_drops_passes_too() {
    let mut bench = Bench::new(config());
    bench.assign_blocks(&[(0, 1), (1, 1), (2, 1), (3, 1)]);
    let mut dropped = Vec::new();
    for block in 0..4 {
        bench.search_block(block);
        bench.done(MasterOutcome::Layout(layout()));
        dropped.extend(bench.actions.iter().filter_map(|action| match action {
            Action::Send {
                message: Outgoing::Worker(worker, ToWorker::Forget { passes }), ..
            } => Some((worker.0, passes.len())),
            _ => None,
        }));
    }
    assert_eq!(dropped, [], "their tasks said so");
    for worker in 0..2 {
        bench.master.members[worker].forget = vec![(BlockId(9), PassId(0)); 3];
    }
    bench.assign_blocks(&[(4, 1)]);
    bench.search_block(4);
    bench.master.members[0].forget = vec![(BlockId(9), PassId(0)); 3];
    bench.done(MasterOutcome::Layout(layout()));
    let sent = bench.actions.iter().filter_map(|action| match action {
        Action::Send { message: Outgoing::Worker(worker, ToWorker::Forget { passes }), .. } => {
            Some((worker.0, passes.len()))
        }
        _ => None,
    });
    assert_eq!(sent.collect::<Vec<_>>(), [(0, 4)]);
}
