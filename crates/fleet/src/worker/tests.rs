//! Tests of the messages and works of a worker.

use super::*;
use crate::config::Heartbeat;
use crate::end::JobEnd;
use crate::message::ToSupermaster;
use crate::topology::TopologyShape;
use crate::work::{OutputRun, PieceLocation, Slice};

type Bytes = Arc<[u8]>;

struct Bench {
    worker: Worker<Bytes>,
    now: u64,
    actions: Actions<Bytes>,
}

impl Bench {
    fn new(config: Config) -> Bench {
        let shape =
            TopologyShape { ranks: 2, groups: 1, replicas: 1, partitions: 2, dedicated: false };
        let topology = Arc::new(Topology::new(shape));
        let worker = Worker::new(WorkerId(0), &Arc::new(config), &topology);
        Bench { worker, now: 0, actions: Vec::new() }
    }

    fn event(&mut self, event: Event<ToWorker<Bytes>, WorkerOutcome<Bytes>>) {
        self.now += 1;
        self.actions.clear();
        self.worker.handle(Time(self.now), event, &mut self.actions);
    }

    fn deliver(&mut self, message: ToWorker<Bytes>) {
        self.event(Event::Message { from: Address::Master(GroupId(0)), message });
    }

    fn assign(&mut self, block: u32) {
        self.assign_in(block, PassId(0));
    }

    fn assign_in(&mut self, block: u32, pass: PassId) {
        self.deliver(ToWorker::Assign {
            block: BlockId(block),
            pass,
            partition: PartitionId(0),
            queries: None,
            cut: None,
            forget: Vec::new(),
        });
    }

    /// Returns the work that the last event started.
    fn started_work(&self) -> Option<(Ticket, &WorkerWork<Bytes>)> {
        self.actions.iter().find_map(|action| match action {
            Action::Run { ticket, work } => Some((*ticket, work)),
            _ => None,
        })
    }
}

fn bytes(count: usize) -> Bytes {
    Bytes::from(vec![0; count])
}

fn ask(block: u32) -> ToWorker<Bytes> {
    let questions = vec![(PartitionId(0), bytes(1))];
    ToWorker::AnswerRound { block: BlockId(block), pass: PassId(0), questions }
}

fn cut(block: u32, pass: PassId) -> ToWorker<Bytes> {
    ToWorker::RaiseCut { block: BlockId(block), pass, cut: bytes(2) }
}

fn place(slices: &[(u32, u64)]) -> ToWorker<Bytes> {
    let slice = |&(worker, length): &(u32, u64)| {
        let location = PieceLocation::Worker(WorkerId(worker), PassId(0), PartitionId(worker));
        Slice { location, piece: 0, start: 0, length }
    };
    let slices = slices.iter().map(slice).collect();
    let block = BlockId(5);
    ToWorker::WriteOutput { block, runs: vec![OutputRun { block, offset: 1000, slices }] }
}

#[test]
fn questions_come_before_searches_and_one_work_at_a_time() {
    let mut bench = Bench::new(Config::default());
    bench.assign(0);
    let (first, work) = bench.started_work().unwrap();
    assert!(matches!(work, WorkerWork::Search { .. }));
    bench.assign(1);
    assert!(bench.started_work().is_none());
    bench.deliver(ask(7));
    assert!(bench.started_work().is_none());
    bench.event(Event::Done { ticket: first, outcome: WorkerOutcome::Searched(bytes(3)) });
    let (_, work) = bench.started_work().unwrap();
    assert!(matches!(work, WorkerWork::Answer { block: BlockId(7), .. }));
}

#[test]
fn the_cut_reaches_the_running_search_and_waiting_tasks() {
    let mut bench = Bench::new(Config::default());
    bench.assign(0);
    let (first, _) = bench.started_work().unwrap();
    bench.assign(1);
    bench.deliver(cut(0, PassId(0)));
    assert!(matches!(bench.actions[..], [Action::RaiseCut { block: BlockId(0), .. }]));
    bench.deliver(cut(1, PassId(0)));
    assert!(bench.actions.is_empty());
    bench.event(Event::Done { ticket: first, outcome: WorkerOutcome::Searched(bytes(3)) });
    let (_, work) = bench.started_work().unwrap();
    assert!(matches!(work, WorkerWork::Search { cut: Some(_), .. }));
}

#[test]
fn a_cut_of_another_pass_prunes_nothing() {
    let mut bench = Bench::new(Config::default());
    bench.assign_in(0, PassId(1));
    let (ticket, _) = bench.started_work().unwrap();
    bench.assign_in(0, PassId(1));
    for pass in [0, 2] {
        bench.deliver(cut(0, PassId(pass)));
        assert!(bench.actions.is_empty(), "{:?}", bench.actions);
    }
    bench.event(Event::Done { ticket, outcome: WorkerOutcome::Searched(bytes(3)) });
    let result = bench.actions.iter().any(|action| {
        let Action::Send { message: Outgoing::Master(_, message), .. } = action else {
            return false;
        };
        matches!(message, ToMaster::Result { block: BlockId(0), pass: PassId(1), .. })
    });
    assert!(result, "{:?}", bench.actions);
    let (_, work) = bench.started_work().unwrap();
    assert!(matches!(work, WorkerWork::Search { pass: PassId(1), cut: None, .. }), "{work:?}");
    bench.deliver(cut(0, PassId(1)));
    assert!(matches!(bench.actions[..], [Action::RaiseCut { pass: PassId(1), .. }]));
}

#[test]
fn an_answer_names_its_pass() {
    let mut bench = Bench::new(Config::default());
    let questions = vec![(PartitionId(0), bytes(1))];
    bench.deliver(ToWorker::AnswerRound { block: BlockId(0), pass: PassId(3), questions });
    let (ticket, work) = bench.started_work().unwrap();
    assert!(matches!(work, WorkerWork::Answer { pass: PassId(3), .. }));
    let outcome = WorkerOutcome::Answered { reply: bytes(1), kept: 0 };
    bench.event(Event::Done { ticket, outcome });
    let [Action::Send { message: Outgoing::Master(_, message), .. }] = &bench.actions[..] else {
        panic!("{:?}", bench.actions)
    };
    assert!(matches!(message, ToMaster::Reply { pass: PassId(3), .. }));
}

#[test]
fn data_of_a_pass_is_dropped_before_the_next_begins() {
    let mut bench = Bench::new(Config::default());
    bench.deliver(ToWorker::Assign {
        block: BlockId(4),
        pass: PassId(1),
        partition: PartitionId(0),
        queries: Some(bytes(9)),
        cut: None,
        forget: vec![(BlockId(4), PassId(0))],
    });
    assert!(matches!(
        bench.actions[..],
        [
            Action::Forget { block: BlockId(4), pass: PassId(0) },
            Action::Run { work: WorkerWork::Search { pass: PassId(1), queries: Some(_), .. }, .. }
        ]
    ));
}

#[test]
fn a_writer_collects_windows_of_at_most_the_buffer() {
    let config = Config { write_buffer: 100, result_memory: 1000, grain: 1, ..Config::default() };
    let mut bench = Bench::new(config);
    bench.deliver(place(&[(0, 60), (1, 90)]));
    let lengths: Vec<u64> = bench
        .actions
        .iter()
        .filter_map(|action| match action {
            Action::Send {
                message: Outgoing::Worker(_, ToWorker::OutputRequest(fetch)), ..
            } => Some(fetch.slices.iter().map(|slice| slice.length).sum()),
            _ => None,
        })
        .collect();
    assert_eq!(lengths, [40, 50]);
    let from = Address::Worker(WorkerId(1));
    bench.event(Event::Message {
        from,
        message: ToWorker::OutputBytes { window: 1, bytes: bytes(50) },
    });
    let (ticket, work) = bench.started_work().unwrap();
    let WorkerWork::Write(window) = work else { panic!("{work:?}") };
    assert_eq!((window.runs[0].offset, window.length()), (1100, 50));
    bench.event(Event::Message {
        from,
        message: ToWorker::OutputBytes { window: 0, bytes: bytes(40) },
    });
    assert!(bench.started_work().is_none());
    bench.event(Event::Done { ticket, outcome: WorkerOutcome::Written { freed: 0 } });
    let (ticket, _) = bench.started_work().unwrap();
    bench.event(Event::Done { ticket, outcome: WorkerOutcome::Written { freed: 60 } });
    assert!(matches!(
        bench.actions[..],
        [Action::Send {
            message: Outgoing::Master(_, ToMaster::Written { block: BlockId(5) }),
            ..
        }]
    ));
}

#[test]
fn a_collective_write_goes_on_beside_the_search() {
    let mut bench = Bench::new(Config::default());
    bench.assign(0);
    assert!(matches!(bench.started_work(), Some((_, WorkerWork::Search { .. }))));
    bench.deliver(ToWorker::Collective { runs: Vec::new(), master: None });
    let (ticket, work) = bench.started_work().unwrap();
    assert!(matches!(work, WorkerWork::Collective { .. }));
    bench.event(Event::Done { ticket, outcome: WorkerOutcome::Written { freed: 0 } });
    assert!(matches!(
        bench.actions[..],
        [Action::Send { message: Outgoing::Master(_, ToMaster::CollectiveWritten), .. }]
    ));
}

#[test]
fn an_answer_may_use_the_remaining_memory() {
    let config = Config { write_buffer: 100, result_memory: 1000, ..Config::default() };
    let mut bench = Bench::new(config);
    bench.deliver(ask(0));
    let (ticket, work) = bench.started_work().unwrap();
    assert!(matches!(work, WorkerWork::Answer { budget: 600, .. }));
    let outcome = WorkerOutcome::Answered { reply: bytes(1), kept: 450 };
    bench.event(Event::Done { ticket, outcome });
    bench.deliver(ask(1));
    assert!(matches!(bench.started_work(), Some((_, WorkerWork::Answer { budget: 150, .. }))));
}

#[test]
fn a_drain_drops_waiting_tasks() {
    let mut bench = Bench::new(Config::default());
    bench.assign(0);
    bench.assign(1);
    bench.deliver(ToWorker::Drain);
    let dropped = |action: &Action<_, _>| {
        matches!(
            action,
            Action::Send {
                message: Outgoing::Master(_, ToMaster::Dropped { block: BlockId(1), .. }),
                ..
            }
        )
    };
    assert!(bench.actions.len() == 1 && dropped(&bench.actions[0]), "{:?}", bench.actions);
    bench.deliver(ToWorker::Stop(JobEnd::Drained));
    assert!(matches!(bench.actions[..], [Action::Exit(JobEnd::Drained)]));
}

#[test]
fn a_failed_write_names_the_rank() {
    let mut bench = Bench::new(Config::default());
    bench.event(Event::Failed { ticket: Ticket(1), code: 6, cause: "out.txt: disk full".into() });
    let Action::Send { message: Outgoing::Master(_, ToMaster::Failed(failure)), .. } =
        &bench.actions[0]
    else {
        panic!("{:?}", bench.actions)
    };
    assert_eq!((failure.to_string().as_str(), failure.code), ("rank 0: out.txt: disk full", 6));
}

#[test]
fn a_quiet_worker_pings_and_a_silent_master_ends_the_job() {
    let heartbeat = Heartbeat { interval: Time(10), limit: Time(30) };
    let mut bench = Bench::new(Config { heartbeat: Some(heartbeat), ..Config::default() });
    bench.now = 10;
    bench.event(Event::Tick);
    assert!(matches!(
        bench.actions[..],
        [Action::Send { message: Outgoing::Master(_, ToMaster::Ping), .. }]
    ));
    bench.now = 30;
    bench.event(Event::Tick);
    bench.now = 50;
    bench.event(Event::Tick);
    assert!(matches!(&bench.actions[..], [Action::Fail(failure)] if failure.rank == Rank(0)));
}

#[test]
fn partial_grains_are_handed_over_and_take_memory_until_they_have_left() {
    let config = Config { grain: 64, write_buffer: 100, result_memory: 1000, ..Config::default() };
    let mut bench = Bench::new(config);
    // The bytes 1000 to 1150 contain only one whole grain, 1024 to 1088. There is memory for two
    // windows.
    bench.deliver(place(&[(0, 150)]));
    let handed = |bench: &Bench| {
        bench.actions.iter().find_map(|action| match action {
            Action::Send {
                message: Outgoing::Supermaster(ToSupermaster::PartialGrain { offset, bytes }),
                receipt: Some(receipt),
            } => Some((*offset, bytes.len(), *receipt)),
            _ => None,
        })
    };
    let mut receipts = Vec::new();
    for (start, length) in [(1000, 24), (1088, 62)] {
        let (ticket, work) = bench.started_work().unwrap();
        let WorkerWork::HandOver(window) = work else { panic!("{work:?}") };
        assert_eq!((window.runs[0].offset, window.length()), (start, length));
        let outcome = WorkerOutcome::Gathered { bytes: bytes(length as usize), freed: length };
        bench.event(Event::Done { ticket, outcome });
        let (offset, sent, receipt) = handed(&bench).unwrap();
        assert_eq!((offset, sent as u64), (start, length));
        receipts.push(receipt);
    }
    assert_eq!(bench.worker.memory_used(), 24 + 62 + 64, "with the window that is written");
    let (ticket, work) = bench.started_work().unwrap();
    let WorkerWork::Write(window) = work else { panic!("{work:?}") };
    assert_eq!((window.runs[0].offset, window.length()), (1024, 64));
    bench.event(Event::Done { ticket, outcome: WorkerOutcome::Written { freed: 64 } });
    let written = |action: &Action<_, _>| {
        matches!(
            action,
            Action::Send { message: Outgoing::Master(_, ToMaster::Written { .. }), .. }
        )
    };
    assert!(bench.actions.iter().any(written));
    for (receipt, left) in receipts.into_iter().zip([62, 0]) {
        bench.event(Event::Sent { ticket: receipt });
        assert_eq!(bench.worker.memory_used(), left);
    }
}
