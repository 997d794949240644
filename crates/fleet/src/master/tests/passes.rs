//! Tests of blocks that are searched in more than one pass.

use super::*;
use crate::work::PieceLocation;

impl Bench {
    /// Returns the tasks that the last event assigned: worker, block, pass, partition, and the size
    /// of the queries in bytes.
    fn assigned_in_passes(&self) -> Vec<(u32, u32, u32, u32, Option<usize>)> {
        let assigned = self.actions.iter().filter_map(|action| match action {
            Action::Send { message: Outgoing::Worker(worker, message), .. } => {
                let ToWorker::Assign { block, pass, partition, queries, .. } = message else {
                    return None;
                };
                let queries = queries.as_ref().map(|queries| queries.len());
                Some((worker.0, block.0, pass.0, partition.0, queries))
            }
            _ => None,
        });
        assigned.collect()
    }

    /// Returns the passes whose data workers may drop, according to the last event.
    fn forgotten_passes(&self) -> Vec<(u32, u32)> {
        let sent = self.actions.iter().filter_map(|action| match action {
            Action::Send {
                message: Outgoing::Worker(_, ToWorker::Assign { forget, .. }), ..
            } => Some(forget.iter().map(|(block, pass)| (block.0, pass.0))),
            _ => None,
        });
        sent.flatten().collect()
    }

    /// Returns the work that the last event started.
    fn started_work(&self) -> Option<&MasterWork<Bytes>> {
        self.actions.iter().find_map(|action| match action {
            Action::Run { work, .. } => Some(work),
            _ => None,
        })
    }

    /// Creates a group in which block 0 is in its second pass, with 33 bytes of queries. The first
    /// pass was searched by both workers.
    fn in_second_pass(config: Config) -> Bench {
        let mut bench = Bench::new(config);
        bench.assign_blocks(&[(0, 1)]);
        bench.result(0, 0);
        bench.done(MasterOutcome::Absorbed { cut: Some(bytes(4)) });
        bench.result(1, 0);
        bench.done(MasterOutcome::Absorbed { cut: None });
        bench.done(MasterOutcome::NextPass { queries: bytes(33) });
        bench
    }
}

#[test]
fn a_block_comes_back_before_those_that_have_not_begun() {
    let mut bench = Bench::new(config());
    bench.assign_blocks(&[(0, 1), (1, 1), (2, 1)]);
    bench.search_block(0);
    // Both workers are now searching block 1.
    bench.done(MasterOutcome::NextPass { queries: bytes(33) });
    assert_eq!(bench.assigned_in_passes(), []);
    bench.result(0, 1);
    assert_eq!(bench.assigned_in_passes(), [(0, 0, 1, 0, Some(33))]);
    assert_eq!(bench.forgotten_passes(), [(0, 0)]);
    bench.done(MasterOutcome::Absorbed { cut: None });
    bench.pass = PassId(1);
    bench.result(0, 0);
    assert_eq!(bench.assigned_in_passes(), [(0, 2, 0, 0, Some(20))]);
}

#[test]
fn all_partitions_are_searched_again_with_the_new_queries_and_no_cut() {
    let bench = Bench::in_second_pass(config());
    assert_eq!(bench.assigned_in_passes(), [(0, 0, 1, 0, Some(33)), (1, 0, 1, 1, Some(33))]);
    let cut = bench.actions.iter().any(|action| {
        let Action::Send { message: Outgoing::Worker(_, message), .. } = action else {
            return false;
        };
        matches!(message, ToWorker::Assign { cut: Some(_), .. })
    });
    assert!(!cut, "the cut of the first pass: {:?}", bench.actions);
}

#[test]
fn messages_of_an_earlier_pass_do_not_count_for_the_current_one() {
    let mut bench = Bench::in_second_pass(config());
    bench.result(1, 0);
    assert!(bench.started_work().is_none(), "hits of the first pass: {:?}", bench.actions);
    bench.worker_says(1, ToMaster::Dropped { block: BlockId(0), pass: PassId(0) });
    bench.reply(1, 0);
    assert!(bench.started_work().is_none(), "a reply of the first pass: {:?}", bench.actions);

    bench.pass = PassId(1);
    bench.result(0, 0);
    assert!(matches!(bench.started_work(), Some(MasterWork::MergeHits { pass: PassId(1), .. })));
    bench.done(MasterOutcome::Absorbed { cut: Some(bytes(5)) });
    let raised: Vec<_> = bench
        .actions
        .iter()
        .filter_map(|action| match action {
            Action::Send {
                message: Outgoing::Worker(worker, ToWorker::RaiseCut { pass, .. }),
                ..
            } => Some((worker.0, pass.0)),
            _ => None,
        })
        .collect();
    assert_eq!(raised, [(1, 1)], "it waits for partition 1");
    bench.result(1, 0);
    bench.done(MasterOutcome::Absorbed { cut: None });
    assert!(matches!(
        bench.started_work(),
        Some(MasterWork::DecideNextStep { pass: PassId(1), round: 0, .. })
    ));
}

#[test]
fn rounds_of_a_new_pass_begin_at_zero_and_late_replies_end_none() {
    let mut bench = Bench::in_second_pass(config());
    bench.pass = PassId(1);
    bench.search_block(0);
    assert_eq!(bench.ask(&[(1, 2)]), [(1, vec![1])]);
    bench.pass = PassId(0);
    bench.reply(1, 0);
    assert!(bench.started_work().is_none(), "{:?}", bench.actions);
    bench.pass = PassId(1);
    bench.reply(1, 0);
    assert!(matches!(
        bench.started_work(),
        Some(MasterWork::DecideNextStep { pass: PassId(1), round: 1, replies, .. }) if replies.len() == 1
    ));
}

#[test]
fn output_has_the_pieces_of_all_passes_from_their_answerers() {
    // Both workers hold the one partition. When block 0 returns, the first worker searches block 2.
    let mut bench = Bench::with(Config { strategy: Strategy::Individual, ..config() }, 2, 1);
    bench.assign_blocks(&[(0, 1), (1, 1), (2, 1)]);
    bench.result_of(0, 0, 0);
    bench.result_of(1, 1, 0);
    bench.done(MasterOutcome::Absorbed { cut: None });
    bench.done(MasterOutcome::Absorbed { cut: None });
    bench.done(MasterOutcome::NextPass { queries: bytes(33) });
    assert_eq!(bench.assigned_in_passes(), [(1, 0, 1, 0, Some(33))]);
    bench.done(MasterOutcome::Layout(Vec::new()));
    bench.pass = PassId(1);
    bench.result_of(1, 0, 0);
    bench.done(MasterOutcome::Absorbed { cut: None });
    let piece = |pass, length| {
        let owner = PieceOwner::Partition(PassId(pass), PartitionId(0));
        Extent { owner, piece: 0, length }
    };
    bench.done(MasterOutcome::Layout(vec![piece(1, 10), piece(0, 20)]));
    bench.supermaster_says(ToMaster::BlockOffsets { offsets: vec![(BlockId(0), 0)] });
    let holders: Vec<_> = bench
        .actions
        .iter()
        .filter_map(|action| match action {
            Action::Send {
                message: Outgoing::Worker(_, ToWorker::WriteOutput { runs, .. }),
                ..
            } => Some(runs.iter().flat_map(|run| run.slices.iter().map(|slice| slice.location))),
            _ => None,
        })
        .flatten()
        .collect();
    let made = |worker, pass| PieceLocation::Worker(WorkerId(worker), PassId(pass), PartitionId(0));
    assert_eq!(holders, [made(0, 0), made(1, 1)]);
}

#[test]
fn a_block_begins_with_the_pass_after_those_that_were_kept() {
    let mut bench = Bench::new(config());
    let queries = Queries { payload: bytes(9), weight: Weight::default() };
    bench.supermaster_says(ToMaster::AssignBlocks { blocks: vec![(BlockId(0), queries)] });
    bench.done(MasterOutcome::Prepared { queries: bytes(20), pass: PassId(3) });
    assert_eq!(bench.assigned_in_passes(), [(0, 0, 3, 0, Some(20)), (1, 0, 3, 1, Some(20))]);
    bench.pass = PassId(3);
    bench.search_block(0);
    let owner = PieceOwner::Partition(PassId(2), PartitionId(0));
    bench.done(MasterOutcome::Layout(vec![Extent { owner, piece: 0, length: 9 }]));
    let sent = bench.sent_to_supermaster();
    assert!(sent[0].starts_with("Failed") && sent[0].contains("nobody searched"), "{sent:?}");
}

#[test]
fn a_drain_drops_a_block_that_would_come_back() {
    let mut bench = Bench::new(Config { checkpoint: true, ..config() });
    bench.assign_blocks(&[(0, 1)]);
    bench.supermaster_says(ToMaster::Drain);
    bench.search_block(0);
    assert!(bench.sent_to_supermaster().is_empty(), "it may yet be laid out");
    bench.done(MasterOutcome::NextPass { queries: bytes(33) });
    assert_eq!(bench.assigned_in_passes(), []);
    assert_eq!(bench.sent_to_supermaster(), ["Drained"]);
}

#[test]
fn a_drain_drops_a_block_that_has_come_back() {
    let config = Config { checkpoint: true, ..config() };
    let mut bench = Bench::in_second_pass(config);
    bench.supermaster_says(ToMaster::Drain);
    bench.worker_says(1, ToMaster::Dropped { block: BlockId(0), pass: PassId(1) });
    assert_eq!(bench.sent_to_supermaster(), ["Drained"]);
    bench.pass = PassId(1);
    bench.result(0, 0);
    assert!(bench.started_work().is_none(), "the block is gone: {:?}", bench.actions);
}

#[test]
fn results_of_a_pass_are_verified_before_the_next_step() {
    let mut bench = Bench::new(config());
    bench.assign_blocks(&[(0, 1)]);
    bench.result(0, 0);
    bench.done(MasterOutcome::Absorbed { cut: None });
    bench.result(1, 0);
    bench.done(MasterOutcome::Absorbed { cut: None });
    bench.done(MasterOutcome::Verify { found: bytes(7) });
    let sent = bench.actions.iter().any(|action| {
        let Action::Send { message: Outgoing::Supermaster(message), .. } = action else {
            return false;
        };
        matches!(message, ToSupermaster::Verify { block: BlockId(0), pass: PassId(0), .. })
    });
    assert!(sent && bench.started_work().is_none(), "{:?}", bench.actions);
    let verdict =
        |pass| ToMaster::Verified { block: BlockId(0), pass: PassId(pass), verdict: bytes(2) };
    bench.supermaster_says(verdict(1));
    assert!(bench.started_work().is_none(), "the verdict of another pass");
    bench.supermaster_says(verdict(0));
    assert!(matches!(bench.started_work(), Some(MasterWork::Verified { block: BlockId(0), .. })));
    bench.done(MasterOutcome::NextPass { queries: bytes(33) });
    assert_eq!(bench.assigned_in_passes(), [(0, 0, 1, 0, Some(33)), (1, 0, 1, 1, Some(33))]);
}

#[test]
fn a_drain_drops_blocks_that_wait_for_verification() {
    let mut bench = Bench::new(Config { checkpoint: true, ..config() });
    bench.assign_blocks(&[(0, 1)]);
    bench.search_block(0);
    bench.done(MasterOutcome::Verify { found: bytes(7) });
    bench.supermaster_says(ToMaster::Drain);
    let drained = bench.actions.iter().any(|action| {
        matches!(
            action,
            Action::Send { message: Outgoing::Supermaster(ToSupermaster::Drained), .. }
        )
    });
    assert!(drained, "{:?}", bench.actions);
    let verdict = ToMaster::Verified { block: BlockId(0), pass: PassId(0), verdict: bytes(2) };
    bench.supermaster_says(verdict);
    assert!(bench.started_work().is_none(), "{:?}", bench.actions);
}
