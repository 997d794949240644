//! Tests of the messages and works of the supermaster.

use std::slice::from_ref;
use std::sync::Arc;

use super::*;
use crate::config::Heartbeat;
use crate::ids::{PassId, Rank, WorkerId};
use crate::payload::Weight;
use crate::topology::TopologyShape;

type Bytes = Arc<[u8]>;

struct Bench {
    supermaster: Supermaster<Bytes>,
    now: u64,
    actions: Actions<Bytes>,
}

impl Bench {
    fn new(config: Config, groups: u32, earlier: &[(u32, u64)]) -> Bench {
        let shape =
            TopologyShape { ranks: groups, groups, replicas: 1, partitions: 2, dedicated: false };
        let earlier = earlier.iter().map(|&(block, size)| (BlockId(block), size)).collect();
        let topology = Arc::new(Topology::new(shape));
        let supermaster = Supermaster::new(&Arc::new(config), &topology, earlier);
        let mut bench = Bench { supermaster, now: 0, actions: Vec::new() };
        bench.event(Event::Start);
        bench
    }

    fn event(&mut self, event: Event<ToSupermaster<Bytes>, SupermasterOutcome<Bytes>>) {
        self.now += 1;
        self.supermaster.handle(Time(self.now), event, &mut self.actions);
    }

    fn from(&mut self, group: u32, message: ToSupermaster<Bytes>) {
        self.event(Event::Message { from: Address::Master(GroupId(group)), message });
    }

    /// Ends the running work, which must be `expected`.
    fn done(&mut self, expected: &SupermasterWork<Bytes>, outcome: SupermasterOutcome<Bytes>) {
        let ticket = self.actions.iter().find_map(|action| match action {
            Action::Run { ticket, work } if work == expected => Some(*ticket),
            _ => None,
        });
        self.actions.clear();
        self.event(Event::Done { ticket: ticket.expect("the work was started"), outcome });
    }

    fn open_and_read(&mut self, lengths: &[u64], earlier: &[u32]) {
        self.done(&SupermasterWork::Open, SupermasterOutcome::Opened { base: 10 });
        for (number, &residues) in lengths.iter().enumerate() {
            let weight = Weight { sequences: 1, residues };
            let queries = Queries { payload: Bytes::from(vec![0; 3]), weight };
            let skip = earlier.contains(&(number as u32));
            let read = SupermasterWork::Read { block: BlockId(number as u32), skip };
            self.done(&read, SupermasterOutcome::Read(Some(queries)));
        }
        let end = SupermasterWork::Read { block: BlockId(lengths.len() as u32), skip: false };
        self.done(&end, SupermasterOutcome::Read(None));
    }

    /// Returns the messages that were sent to groups since the last call.
    fn sent_messages(&mut self) -> Vec<(u32, String)> {
        let said = self.actions.iter().filter_map(|action| match action {
            Action::Send { message: Outgoing::Master(group, message), .. } => {
                Some((group.0, summary(message)))
            }
            _ => None,
        });
        let said = said.collect();
        self.actions.clear();
        said
    }
}

fn summary(message: &ToMaster<Bytes>) -> String {
    match message {
        ToMaster::AssignBlocks { blocks, .. } => {
            format!("blocks {:?}", blocks.iter().map(|(block, _)| block.0).collect::<Vec<_>>())
        }
        ToMaster::BlockOffsets { offsets } => {
            format!(
                "bases {:?}",
                offsets.iter().map(|(block, base)| (block.0, *base)).collect::<Vec<_>>()
            )
        }
        ToMaster::Restore { block, base, size } => format!("restore {block} {base} {size}"),
        ToMaster::Verified { block, pass, .. } => format!("verified {block} {pass}"),
        ToMaster::NoMore => "no more".into(),
        ToMaster::Drain => "drain".into(),
        ToMaster::Stop(exit) => format!("stop {exit:?}"),
        other => panic!("unexpected {other:?}"),
    }
}

fn one_by_one() -> Config {
    let config = Config::default();
    Config { segment_residues: 1, longest_first: 0.0, heartbeat: None, grain: 1, ..config }
}

fn finished_message(block: u32, size: u64) -> ToSupermaster<Bytes> {
    ToSupermaster::Finished { block: BlockId(block), size, held: size }
}

#[test]
fn a_job_from_start_to_end() {
    let mut bench = Bench::new(one_by_one(), 2, &[]);
    bench.open_and_read(&[5, 5], &[]);
    bench.from(1, ToSupermaster::RequestBlocks);
    bench.from(0, ToSupermaster::RequestBlocks);
    bench.from(1, ToSupermaster::RequestBlocks);
    assert_eq!(
        bench.sent_messages(),
        [(1, "blocks [0]".into()), (0, "blocks [1]".into()), (1, "no more".into())]
    );
    bench.from(0, finished_message(1, 7));
    assert_eq!(bench.sent_messages(), [], "the offset of block 1 is not known");
    bench.from(1, finished_message(0, 5));
    assert_eq!(
        bench.sent_messages(),
        [(0, "bases [(1, 15)]".into()), (1, "bases [(0, 10)]".into())]
    );
    bench.from(0, ToSupermaster::Placed { block: BlockId(1) });
    bench.from(1, ToSupermaster::Placed { block: BlockId(0) });
    bench.done(&SupermasterWork::Close { offset: 22 }, SupermasterOutcome::Closed);
    assert!(matches!(bench.actions.last(), Some(Action::Exit(JobEnd::Completed))));
    assert_eq!(bench.sent_messages(), [(0, "stop Completed".into()), (1, "stop Completed".into())]);
}

#[test]
fn too_much_waiting_output_holds_back_all_blocks_except_the_oldest() {
    let config = Config { waiting_limit: 6, ..one_by_one() };
    let mut bench = Bench::new(config, 1, &[]);
    bench.open_and_read(&[1, 1, 1, 1], &[]);
    for _ in 0..3 {
        bench.from(0, ToSupermaster::RequestBlocks);
    }
    bench.from(0, finished_message(1, 4));
    bench.from(0, finished_message(2, 4));
    bench.sent_messages();
    bench.from(0, ToSupermaster::RequestBlocks);
    assert_eq!(bench.sent_messages(), [], "8 bytes wait for block 0");
    bench.from(0, finished_message(0, 1));
    assert_eq!(
        bench.sent_messages(),
        [(0, "bases [(0, 10), (1, 11), (2, 15)]".into()), (0, "blocks [3]".into())]
    );
}

#[test]
fn blocks_of_an_earlier_run_are_only_placed() {
    let mut bench = Bench::new(one_by_one(), 1, &[(1, 50)]);
    bench.open_and_read(&[1, 1], &[1]);
    bench.from(0, ToSupermaster::RequestBlocks);
    bench.from(0, ToSupermaster::RequestBlocks);
    assert_eq!(bench.sent_messages(), [(0, "blocks [0]".into()), (0, "no more".into())]);
    bench.from(0, finished_message(0, 2));
    assert_eq!(
        bench.sent_messages(),
        [(0, "restore 1 12 50".into()), (0, "bases [(0, 10)]".into())]
    );
}

#[test]
fn a_drain_waits_for_blocks_that_can_be_stored() {
    let config = Config { checkpoint: true, drain_limit: Time(100), ..one_by_one() };
    let mut bench = Bench::new(config.clone(), 2, &[]);
    bench.event(Event::Drain);
    assert_eq!(bench.sent_messages(), [(0, "drain".into()), (1, "drain".into())]);
    bench.from(0, ToSupermaster::Drained);
    assert_eq!(bench.sent_messages(), []);
    bench.from(1, ToSupermaster::Drained);
    assert!(matches!(bench.actions.last(), Some(Action::Exit(JobEnd::Drained))));
    assert_eq!(bench.sent_messages(), [(0, "stop Drained".into()), (1, "stop Drained".into())]);

    let mut late = Bench::new(config.clone(), 1, &[]);
    late.event(Event::Drain);
    late.sent_messages();
    late.now += 100;
    late.event(Event::Tick);
    assert_eq!(late.sent_messages(), [(0, "stop Drained".into())], "time is up");

    let mut without = Bench::new(Config { checkpoint: false, ..config }, 1, &[]);
    without.event(Event::Drain);
    assert_eq!(without.sent_messages(), [(0, "stop Drained".into())], "nothing can be kept");
}

#[test]
fn a_silent_master_ends_the_job() {
    let heartbeat = Heartbeat { interval: Time(10), limit: Time(30) };
    let mut bench = Bench::new(Config { heartbeat: Some(heartbeat), ..one_by_one() }, 3, &[]);
    bench.event(Event::Tick);
    for _ in 0..2 {
        bench.now += 15;
        bench.from(0, ToSupermaster::Ping);
        bench.from(2, ToSupermaster::Ping);
        bench.event(Event::Tick);
    }
    let failed = bench.actions.iter().find_map(|action| match action {
        Action::Fail(failure) => Some(failure.rank),
        _ => None,
    });
    assert_eq!(failed, Some(Rank(1)));
}

/// Returns the message with bytes of a partial grain.
fn end(offset: u64, length: usize) -> Event<ToSupermaster<Bytes>, SupermasterOutcome<Bytes>> {
    let message = ToSupermaster::PartialGrain { offset, bytes: Bytes::from(vec![1; length]) };
    Event::Message { from: Address::Worker(WorkerId(3)), message }
}

#[test]
fn the_file_is_closed_when_all_partial_grains_are_written() {
    let mut bench = Bench::new(Config { grain: 8, ..one_by_one() }, 1, &[]);
    bench.open_and_read(&[1, 1], &[]);
    bench.from(0, ToSupermaster::RequestBlocks);
    bench.from(0, ToSupermaster::RequestBlocks);
    // Block 0 has the bytes 10 to 30, which contain the whole grain 16 to 24. Block 1 has the bytes
    // 30 to 33, which contain no whole grain.
    bench.from(0, finished_message(0, 20));
    bench.from(0, finished_message(1, 3));
    bench.from(0, ToSupermaster::Placed { block: BlockId(0) });
    bench.from(0, ToSupermaster::Placed { block: BlockId(1) });
    bench.actions.clear();
    let started = |bench: &Bench| {
        let works = bench.actions.iter().filter_map(|action| match action {
            Action::Run { work, .. } => Some(work.clone()),
            _ => None,
        });
        works.collect::<Vec<_>>()
    };
    assert_eq!(started(&bench), [], "fifteen bytes have not come");
    let part = |offset, length| (offset, Bytes::from(vec![1; length]));
    bench.event(end(24, 6));
    let first = SupermasterWork::Write(vec![part(24, 6)]);
    assert_eq!(started(&bench), from_ref(&first));
    bench.event(end(10, 6));
    bench.event(end(30, 3));
    assert_eq!(started(&bench), from_ref(&first), "one work at a time");
    bench.done(&first, SupermasterOutcome::Written);
    let second = SupermasterWork::Write(vec![part(10, 6), part(30, 3)]);
    assert_eq!(started(&bench), from_ref(&second), "nothing is closed before");
    bench.done(&second, SupermasterOutcome::Written);
    assert_eq!(started(&bench), [SupermasterWork::Close { offset: 33 }]);
    bench.event(end(30, 1));
    assert!(matches!(bench.actions.last(), Some(Action::Fail(_))), "there is no more");
}

#[test]
fn waiting_partial_grains_hold_blocks_back() {
    let config = Config { grain: 64, waiting_limit: 15, ..one_by_one() };
    let mut bench = Bench::new(config, 1, &[]);
    bench.open_and_read(&[1, 1, 1], &[]);
    bench.from(0, ToSupermaster::RequestBlocks);
    bench.from(0, finished_message(0, 20));
    bench.event(end(10, 20));
    bench.sent_messages();
    // The oldest block may always be handed out.
    bench.from(0, ToSupermaster::RequestBlocks);
    assert_eq!(bench.sent_messages(), [(0, "blocks [1]".into())]);
    bench.from(0, ToSupermaster::RequestBlocks);
    assert_eq!(bench.sent_messages(), [], "20 bytes wait to be written");
}

#[test]
fn others_wait_for_the_verification_of_a_short_first_block_and_go_one_by_one() {
    let config = Config { verifies_blocks: true, segment_residues: 100, ..one_by_one() };
    let mut bench = Bench::new(config, 2, &[]);
    bench.done(&SupermasterWork::Open, SupermasterOutcome::Opened { base: 10 });
    let queries = |residues| {
        let weight = Weight { sequences: 1, residues };
        Some(Queries { payload: Bytes::from(vec![0; 3]), weight })
    };
    let read = |block| SupermasterWork::Read { block: BlockId(block), skip: false };
    bench.done(&read(0), SupermasterOutcome::Read(queries(10)));
    for group in 0..2 {
        bench.from(group, ToSupermaster::RequestBlocks);
    }
    let is_reading = |bench: &Bench| {
        let mut works = bench.actions.iter();
        works.any(|action| matches!(action, Action::Run { work: SupermasterWork::Read { .. }, .. }))
    };
    assert!(!is_reading(&bench), "{:?}", bench.actions);
    assert_eq!(bench.sent_messages(), [(0, "blocks [0]".into())]);
    let (block, pass, results) = (BlockId(0), PassId(0), Bytes::from(vec![1; 4]));
    bench.from(0, ToSupermaster::Verify { block, pass, found: results.clone() });
    let outcome = |is_confirmed| SupermasterOutcome::Verified {
        is_confirmed,
        verdict: Bytes::from(vec![2; 5]),
    };
    bench.done(&SupermasterWork::Verify { block, pass, results: results.clone() }, outcome(false));
    assert!(!is_reading(&bench), "{:?}", bench.actions);
    assert_eq!(bench.sent_messages(), [(0, "verified 0 0".into())]);
    let pass = PassId(1);
    bench.from(0, ToSupermaster::Verify { block, pass, found: results.clone() });
    bench.done(&SupermasterWork::Verify { block, pass, results }, outcome(true));
    bench.done(&read(1), SupermasterOutcome::Read(queries(10)));
    bench.done(&read(2), SupermasterOutcome::Read(queries(50)));
    assert_eq!(bench.sent_messages(), []);
    bench.from(0, ToSupermaster::RequestBlocks);
    assert_eq!(bench.sent_messages(), [(0, "blocks [2]".into())]);
}

#[test]
fn the_next_block_to_verify_goes_out_of_turn() {
    let config = Config { longest_first: f64::MAX, ..one_by_one() };
    let mut bench = Bench::new(config, 1, &[]);
    bench.open_and_read(&[1, 5, 9], &[]);
    bench.from(0, ToSupermaster::RequestBlocks);
    assert_eq!(bench.sent_messages(), [(0, "blocks [2]".into())], "the longest");
    let (block, pass, found) = (BlockId(2), PassId(0), Bytes::from(vec![0; 3]));
    bench.from(0, ToSupermaster::Verify { block, pass, found });
    bench.from(0, ToSupermaster::RequestBlocks);
    assert_eq!(bench.sent_messages(), [(0, "blocks [0]".into())]);
}
