//! Tests of the messages and ticks that a driver passes to its state machines.

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use fleetblast_fleet::config::Heartbeat;
use fleetblast_fleet::ids::{PartitionId, PassId};
use fleetblast_fleet::message::{OutputRequest, ToMaster, ToWorker};
use fleetblast_fleet::topology::TopologyShape;
use fleetblast_fleet::work::{PieceLocation, Slice, WorkerOutcome};

use super::*;

/// Time limit of a test. Only a failure exceeds it.
const PATIENCE: Duration = Duration::from_secs(20);

/// A transport that returns events from a script, and collects the messages that the driver sends.
struct ScriptedTransport<N> {
    next: N,
    sent: Vec<(Rank, Envelope, Option<Receipt>)>,
}

impl<N: FnMut() -> RankEvent> Transport for ScriptedTransport<N> {
    fn event_sender(&self) -> Sender<RankEvent> {
        channel().0
    }

    fn send(
        &mut self,
        to: Rank,
        envelope: Envelope,
        receipt: Option<Receipt>,
    ) -> Result<(), Error> {
        self.sent.push((to, envelope, receipt));
        Ok(())
    }

    fn next(&mut self, _: Duration) -> Result<Option<RankEvent>, Error> {
        Ok(Some((self.next)()))
    }
}

fn driver<'a, T>(rank: u32, topology: &'a Topology, transport: &'a mut T) -> Driver<'a, T> {
    Driver {
        rank: Rank(rank),
        topology,
        transport,
        start: Instant::now(),
        local: VecDeque::new(),
        supermaster: None,
        master: None,
        worker: None,
        output_thread: None,
        shared: None,
        recorder: Recorder::default(),
        traffic: Traffic::default(),
        progress: None,
        tally: ProgressTally::new(topology.groups.len()),
        end: None,
    }
}

fn topology(ranks: u32, groups: u32) -> Arc<Topology> {
    Arc::new(Topology::new(TopologyShape {
        ranks,
        groups,
        replicas: 1,
        partitions: 2,
        dedicated: false,
    }))
}

/// Messages arrive without a pause, from all masters but the last.
#[test]
fn a_busy_supermaster_sends_heartbeats_and_notices_a_silent_master() {
    let beat = |millis: u64| Time(millis * 1_000_000);
    let heartbeat = Some(Heartbeat { interval: beat(20), limit: beat(300) });
    let config = Arc::new(Config { heartbeat, ..Config::default() });
    let topology = topology(3, 3);
    let (start, mut turn) = (Instant::now(), 0);
    let next = || {
        if start.elapsed() > PATIENCE {
            return RankEvent::Broken(Error::new(1, "nobody was missed"));
        }
        turn = (turn + 1) % 2;
        let message = Outgoing::Supermaster(ToSupermaster::Ping);
        RankEvent::Message(Envelope { from: Address::Master(GroupId(turn)), message }, None)
    };
    let mut transport = ScriptedTransport { next, sent: Vec::new() };
    let mut driver = driver(0, &topology, &mut transport);
    let role = Supermaster::new(&config, &topology, BTreeMap::new());
    let (executor, _receiver) = channel();
    driver.supermaster = Some(RoleSlot { role, executor, exited: false });
    let end = driver.run(Clock::new(heartbeat));
    let Ok(RankEnd::Failed(failure)) = end else { panic!("{end:?}") };
    assert_eq!((failure.rank, failure.code), (Rank(2), Failure::SILENT_RANK_CODE));
    assert!(failure.cause.contains("the master of group 2 was silent"), "{}", failure.cause);
    let pings = |rank| {
        let ping = |message: &Outgoing<_>| matches!(message, Outgoing::Master(_, ToMaster::Ping));
        let to = transport
            .sent
            .iter()
            .filter(|(to, envelope, _)| *to == Rank(rank) && ping(&envelope.message));
        to.count()
    };
    assert!(pings(1) > 3 && pings(2) > 3, "{} and {}", pings(1), pings(2));
}

/// Creates a request for `length` bytes of the worker's piece.
fn fetch(window: u64, length: u64) -> Envelope {
    let holder = PieceLocation::Worker(WorkerId(0), PassId(0), PartitionId(0));
    let slices = vec![Slice { location: holder, piece: 0, start: 0, length }];
    let fetch = OutputRequest { window, block: BlockId(0), slices };
    let message = Outgoing::Worker(WorkerId(0), ToWorker::OutputRequest(fetch));
    Envelope { from: Address::Worker(WorkerId(1)), message }
}

/// Returns the ticket of the request that the worker executes next, if there is one.
fn gathering(executor: &Receiver<(Ticket, WorkerWork<Bytes>)>) -> Option<Ticket> {
    let (ticket, work) = executor.try_recv().ok()?;
    assert!(matches!(work, WorkerWork::Gather { .. }));
    Some(ticket)
}

#[test]
fn a_part_takes_memory_until_it_has_left() {
    let config = Config { write_buffer: 100, result_memory: 1000, ..Config::default() };
    let topology = topology(2, 1);
    let mut transport = ScriptedTransport { next: || panic!("nobody asks"), sent: Vec::new() };
    let mut driver = driver(0, &topology, &mut transport);
    let role = Worker::new(WorkerId(0), &Arc::new(config), &topology);
    let ((executor, _tasks), (output_thread, moved)) = (channel(), channel());
    driver.worker = Some((WorkerId(0), RoleSlot { role, executor, exited: false }));
    driver.output_thread = Some(output_thread);
    let held = |driver: &Driver<_>| driver.worker.as_ref().map(|(_, slot)| slot.role.memory_used());

    driver.deliver(fetch(1, 80)).unwrap();
    driver.deliver(fetch(2, 70)).unwrap();
    let ticket = gathering(&moved).expect("the first is served");
    let outcome = WorkerOutcome::Gathered { bytes: vec![1; 80].into(), freed: 0 };
    driver.handle_event(RankEvent::Worker(ticket, Ok(outcome))).unwrap();
    driver.deliver_local().unwrap();
    let receipt = driver.transport.sent.pop().and_then(|(_, _, receipt)| receipt);
    let receipt = receipt.expect("the worker wants to know when it has left");
    assert_eq!(held(&driver), Some(80), "it is not said that it has left");
    assert!(gathering(&moved).is_none(), "both are more than a write buffer");

    driver.handle_event(RankEvent::Sent(receipt)).unwrap();
    assert_eq!(held(&driver), Some(70));
    assert!(gathering(&moved).is_some(), "now there is room for the second");
}

#[test]
fn a_tick_is_delayed_by_at_most_half_of_the_interval() {
    let interval = Time(200_000_000);
    let mut clock = Clock::new(Some(Heartbeat { interval, limit: Time(0) }));
    assert!(!clock.is_late() && !clock.time_until_tick().is_zero());
    // The rank was blocked for long. It must handle waiting messages before the tick.
    std::thread::sleep(Duration::from_millis(700));
    assert!(!clock.is_late() && clock.time_until_tick().is_zero());
    std::thread::sleep(Duration::from_millis(110));
    assert!(clock.is_late());
    clock.tick();
    assert!(!clock.is_late() && !clock.time_until_tick().is_zero());
}
