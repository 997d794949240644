//! Tests of writing output, and of the end of a drain.

use super::*;

#[test]
fn merged_output_is_written_by_the_worker_with_most_of_it() {
    let mut bench = Bench::new(config());
    bench.assign_blocks(&[(0, 1)]);
    bench.finish_block(0, layout());
    assert_eq!(
        bench.sent_to_supermaster(),
        ["Finished { block: BlockId(0), size: 335, held: 1135 }"]
    );
    bench.supermaster_says(ToMaster::BlockOffsets { offsets: vec![(BlockId(0), 1000)] });
    assert_eq!(bench.placed_by(), [(1, vec![1000])]);
    bench.worker_says(1, ToMaster::Written { block: BlockId(0) });
    assert_eq!(bench.sent_to_supermaster(), ["Placed { block: BlockId(0) }"]);
}

#[test]
fn individual_output_is_written_by_each_at_its_offsets() {
    let mut bench = Bench::new(Config { strategy: Strategy::Individual, ..config() });
    bench.assign_blocks(&[(0, 1)]);
    bench.finish_block(0, layout());
    bench.supermaster_says(ToMaster::BlockOffsets { offsets: vec![(BlockId(0), 1000)] });
    assert_eq!(bench.placed_by(), [(0, vec![1010]), (1, vec![1000, 1030])]);
    bench.worker_says(0, ToMaster::Written { block: BlockId(0) });
    assert!(bench.sent_to_supermaster().is_empty());
    bench.worker_says(1, ToMaster::Written { block: BlockId(0) });
    assert_eq!(bench.sent_to_supermaster(), ["Placed { block: BlockId(0) }"]);
}

#[test]
fn collective_writes_have_no_gaps() {
    let mut bench = Bench::collective(false, &[(0, 1000), (1, 1320), (2, 9000)]);
    assert_eq!(bench.together(), [(0, vec![1000, 1320]), (1, vec![1020, 1340])]);
    bench.worker_says(1, ToMaster::CollectiveWritten);
    assert!(bench.actions.is_empty(), "the other one is not through: {:?}", bench.actions);
    bench.worker_says(0, ToMaster::CollectiveWritten);
    let placed = |block| format!("Placed {{ block: BlockId({block}) }}");
    assert_eq!(bench.sent_to_supermaster(), [placed(0), placed(1)]);
    assert_eq!(bench.together(), [(0, vec![9000]), (1, vec![9020])]);
}

#[test]
fn workers_without_bytes_take_part_in_collective_writes() {
    let mut bench = Bench::new(Config { strategy: Strategy::Collective, ..config() });
    bench.assign_blocks(&[(0, 1)]);
    bench.finish_block(0, layout()[2..3].to_vec());
    bench.supermaster_says(ToMaster::BlockOffsets { offsets: vec![(BlockId(0), 1000)] });
    assert_eq!(bench.together(), [(0, vec![]), (1, vec![1000])]);
}

#[test]
fn with_a_checkpoint_a_block_is_finished_when_durable() {
    let mut bench = Bench::new(Config { checkpoint: true, ..config() });
    bench.assign_blocks(&[(0, 1)]);
    bench.finish_block(0, layout());
    assert_eq!(bench.placed_by(), [(1, vec![0])]);
    assert!(!bench.sent_to_supermaster().iter().any(|sent| sent.starts_with("Finished")));
    bench.worker_says(1, ToMaster::Stored { block: BlockId(0) });
    assert_eq!(
        bench.sent_to_supermaster(),
        ["Finished { block: BlockId(0), size: 335, held: 535 }"]
    );
}

#[test]
fn stored_records_are_not_written_again() {
    let mut bench = Bench::new(Config { strategy: Strategy::Records, ..config() });
    bench.assign_blocks(&[(0, 1)]);
    bench.finish_block(0, layout());
    assert_eq!(bench.placed_by(), [(1, vec![0])]);
    bench.worker_says(1, ToMaster::Stored { block: BlockId(0) });
    assert_eq!(
        bench.sent_to_supermaster(),
        ["Finished { block: BlockId(0), size: 335, held: 535 }"]
    );
    bench.supermaster_says(ToMaster::BlockOffsets { offsets: vec![(BlockId(0), 1000)] });
    assert_eq!(bench.sent_to_supermaster(), ["Placed { block: BlockId(0) }"]);
    // A block that an earlier run stored is not written either.
    bench.supermaster_says(ToMaster::Restore { block: BlockId(1), base: 1335, size: 20 });
    assert_eq!(bench.sent_to_supermaster(), ["Placed { block: BlockId(1) }"]);
    assert!(bench.placed_by().is_empty());
}

#[test]
fn a_drain_ends_after_the_running_write_and_begins_none() {
    let mut bench = Bench::collective(true, &[(0, 1000), (1, 9000)]);
    assert_eq!(bench.together().len(), 2);
    bench.supermaster_says(ToMaster::Drain);
    bench.worker_says(0, ToMaster::CollectiveWritten);
    assert!(bench.sent_to_supermaster().is_empty(), "worker 1 is still writing");
    bench.worker_says(1, ToMaster::CollectiveWritten);
    assert_eq!(bench.sent_to_supermaster(), ["Placed { block: BlockId(0) }", "Drained"]);
    assert!(bench.together().is_empty());
}

#[test]
fn a_drain_finishes_what_is_assigned_and_drops_the_rest() {
    let mut bench = Bench::new(Config { checkpoint: true, ..config() });
    bench.assign_blocks(&[(0, 9), (1, 5)]);
    bench.result(0, 0);
    bench.supermaster_says(ToMaster::Drain);
    assert!(bench.sent_to_supermaster().is_empty(), "block 0 can still be finished");
    bench.done(MasterOutcome::Absorbed { cut: None });
    // Block 1 is dropped: one of its tasks was not assigned.
    bench.result(0, 1);
    bench.result(1, 0);
    bench.done(MasterOutcome::Absorbed { cut: None });
    bench.done(MasterOutcome::Layout(layout()));
    assert!(bench.sent_to_supermaster().is_empty(), "it is not durable yet");
    bench.worker_says(1, ToMaster::Stored { block: BlockId(0) });
    assert_eq!(
        bench.sent_to_supermaster(),
        ["Finished { block: BlockId(0), size: 335, held: 535 }", "Drained"]
    );
}
