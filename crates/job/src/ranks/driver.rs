//! Drives the roles of one rank: passes events to their state machines, messages to the transport,
//! and work to threads.

mod clock;
mod roles;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Instant;

use fleetblast_fleet::config::Config;
use fleetblast_fleet::end::{Failure, JobEnd};
use fleetblast_fleet::ids::{Address, BlockId, GroupId, Rank, Ticket, Time, WorkerId};
use fleetblast_fleet::master::Master;
use fleetblast_fleet::message::{Outgoing, ToSupermaster};
use fleetblast_fleet::role::Event;
use fleetblast_fleet::supermaster::Supermaster;
use fleetblast_fleet::topology::Topology;
use fleetblast_fleet::traffic::Traffic;
use fleetblast_fleet::work::{SupermasterWork, WorkerWork};
use fleetblast_fleet::worker::Worker;

use self::clock::Clock;
use self::roles::{MasterEvent, SupermasterEvent, WorkerEvent};
use super::execution::lanes::{self, MasterRequest, WorkerRequest};
use super::execution::shared::WorkerShared;
use super::execution::{MasterExecutor, SupermasterExecutor, WorkerExecutor};
use super::progress::{GroupProgress, ProgressTally};
use super::supervisor::{self, Supervisor};
use super::transport::{Envelope, RankEvent, Receipt, Transport};
use super::wire::Bytes;
use crate::audience::Audience;
use crate::error::Error;
use crate::trace::{
    MESSAGE_BYTES, MESSAGES, RESULT_MEMORY, Recorder, WAITING_OUTPUT_BYTES, WAITING_TASKS,
};

/// The roles of a rank, with their executors.
pub struct HostedRoles<'a> {
    /// The supermaster, if it is on this rank.
    pub supermaster: Option<Box<dyn SupermasterExecutor + 'a>>,
    /// On the supermaster's rank: blocks that earlier runs finished, and the number of bytes of
    /// their output.
    pub earlier: BTreeMap<BlockId, u64>,
    /// The master, if one is on this rank.
    pub master: Option<(GroupId, Box<dyn MasterExecutor + 'a>)>,
    /// The worker, if one is on this rank.
    pub worker: Option<HostedWorker<'a>>,
    /// Records the activities of all roles.
    pub recorder: Recorder,
    /// Receives warnings and progress.
    pub audience: Arc<dyn Audience>,
}

/// A worker: its number, its executor, the data that its threads share, and its thread pool.
pub type HostedWorker<'a> =
    (WorkerId, Box<dyn WorkerExecutor + 'a>, Arc<WorkerShared>, rayon::ThreadPool);

/// The end of the job, as far as this rank knows it.
#[derive(Clone, Debug)]
pub enum RankEnd {
    /// All roles of this rank have exited.
    Exited(JobEnd),
    /// The job cannot go on.
    Failed(Failure),
}

/// A state machine, and the channel to the thread that executes its work.
struct RoleSlot<R, T> {
    role: R,
    executor: Sender<T>,
    exited: bool,
}

/// Work of the supermaster, with the ticket that identifies it.
type SupermasterTask = (Ticket, SupermasterWork<Bytes>);

/// The roles of a rank while the job runs.
struct Driver<'a, T> {
    rank: Rank,
    topology: &'a Topology,
    transport: &'a mut T,
    start: Instant,
    /// Messages between roles of this rank, each with the receipt that its sender waits for.
    local: VecDeque<(Envelope, Option<Receipt>)>,
    supermaster: Option<RoleSlot<Supermaster<Bytes>, SupermasterTask>>,
    master: Option<(GroupId, RoleSlot<Master<Bytes>, MasterRequest>)>,
    worker: Option<(WorkerId, RoleSlot<Worker<Bytes>, WorkerRequest>)>,
    output_thread: Option<Sender<(Ticket, WorkerWork<Bytes>)>>,
    shared: Option<Arc<WorkerShared>>,
    recorder: Recorder,
    /// Number and approximate bytes of messages to other ranks.
    traffic: Traffic,
    /// On the supermaster's rank: the progress of all groups.
    progress: Option<GroupProgress>,
    /// On the rank of a master without the supermaster: progress to send to the supermaster.
    tally: ProgressTally,
    end: Option<RankEnd>,
}

/// Runs the roles of a rank until they end. If the job fails, calls `failed` with the cause. That
/// function stops the work in progress.
///
/// # Errors
/// The connection to other ranks is lost.
pub fn run<T: Transport>(
    rank: Rank,
    topology: &Arc<Topology>,
    config: &Arc<Config>,
    roles: HostedRoles,
    supervisor: Supervisor,
    transport: &mut T,
    failed: impl FnOnce(Result<RankEnd, Error>),
) -> Result<RankEnd, Error> {
    let done = transport.event_sender();
    thread::scope(|scope| {
        let HostedRoles { supermaster, earlier, master, worker, recorder, audience } = roles;
        let kept_in = supervisor.checkpoint.map(|checkpoint| checkpoint.run().root.clone());
        let _supervisor = supervisor::start(scope, supervisor, &done);
        let progress =
            supermaster.as_ref().map(|_| GroupProgress::new(Arc::clone(&audience), topology));
        let mut driver = Driver {
            rank,
            topology,
            transport,
            start: Instant::now(),
            local: VecDeque::new(),
            supermaster: supermaster.map(|executor| RoleSlot {
                role: Supermaster::new(config, topology, earlier),
                executor: lanes::spawn_supermaster(scope, executor, recorder.clone(), done.clone()),
                exited: false,
            }),
            master: master.map(|(id, executor)| {
                let role = Master::new(id, config, topology);
                let executor = lanes::spawn_master(scope, executor, recorder.clone(), done.clone());
                (id, RoleSlot { role, executor, exited: false })
            }),
            output_thread: None,
            shared: None,
            worker: None,
            recorder,
            traffic: Traffic::default(),
            progress,
            tally: ProgressTally::new(topology.groups.len()),
            end: None,
        };
        if let Some((id, executor, shared, pool)) = worker {
            let role = Worker::new(id, config, topology);
            let recorder = driver.recorder.clone();
            driver.output_thread = Some(lanes::spawn_output(
                scope,
                Arc::clone(&shared),
                driver.transport.bytes_sender(),
                recorder.clone(),
                done.clone(),
            ));
            driver.shared = Some(shared);
            let executor = lanes::spawn_compute(scope, executor, pool, recorder, done.clone());
            driver.worker = Some((id, RoleSlot { role, executor, exited: false }));
        }
        let end = driver.run(Clock::new(config.heartbeat));
        match (&end, driver.progress) {
            (Ok(RankEnd::Exited(JobEnd::Drained)), _) => {
                supervisor::exit_after_drain(kept_in.as_deref(), &*audience)
            }
            (Ok(RankEnd::Exited(JobEnd::Completed)), Some(progress)) => progress.finish(),
            (Ok(RankEnd::Exited(JobEnd::Completed)), None) => {}
            (Ok(RankEnd::Failed(_)) | Err(_), _) => {
                driver.transport.end_other_ranks();
                failed(end.clone());
            }
        }
        end
    })
}

impl<T: Transport> Driver<'_, T> {
    fn run(&mut self, mut clock: Clock) -> Result<RankEnd, Error> {
        self.notify_all(|| Event::Start, || Event::Start, || Event::Start)?;
        loop {
            self.deliver_local()?;
            self.record_counters();
            if let Some(end) = self.end.take() {
                return Ok(end);
            }
            self.report_progress()?;
            let event = match clock.is_late() {
                true => None,
                false => self.transport.next(clock.time_until_tick())?,
            };
            match event {
                Some(event) => self.handle_event(event)?,
                None => {
                    clock.tick();
                    self.notify_all(|| Event::Tick, || Event::Tick, || Event::Tick)?;
                }
            }
        }
    }

    /// Delivers messages among the roles of this rank, until none is left.
    fn deliver_local(&mut self) -> Result<(), Error> {
        while let Some((envelope, receipt)) = self.local.pop_front() {
            self.deliver(envelope)?;
            receipt.map_or(Ok(()), |receipt| self.handle_receipt(receipt))?;
        }
        Ok(())
    }

    fn handle_receipt(&mut self, Receipt { role, ticket }: Receipt) -> Result<(), Error> {
        match role {
            Address::Supermaster => self.supermaster(Event::Sent { ticket }),
            Address::Master(_) => self.master(Event::Sent { ticket }),
            Address::Worker(_) => self.worker(Event::Sent { ticket }),
        }
    }

    /// Records counters of waiting work and of messages sent, if a trace is wanted.
    fn record_counters(&self) {
        if !self.recorder.is_on() {
            return;
        }
        if let Some(slot) = &self.supermaster {
            self.recorder.set_counter(WAITING_OUTPUT_BYTES, slot.role.waiting_bytes());
        }
        if let Some((_, slot)) = &self.master {
            self.recorder.set_counter(WAITING_TASKS, slot.role.waiting_tasks());
        }
        if let Some((_, slot)) = &self.worker {
            self.recorder.set_counter(RESULT_MEMORY, slot.role.memory_used());
        }
        self.recorder.set_counter(MESSAGES, self.traffic.messages);
        self.recorder.set_counter(MESSAGE_BYTES, self.traffic.bytes);
    }

    /// Shows the progress of all groups. On the rank of a master without the supermaster, sends the
    /// progress of the group to the supermaster instead.
    fn report_progress(&mut self) -> Result<(), Error> {
        if let Some(progress) = &self.progress {
            progress.show_slowest();
            return Ok(());
        }
        let (Some((group, _)), Some(blocks)) = (&self.master, self.tally.take_due()) else {
            return Ok(());
        };
        let message = Outgoing::Supermaster(ToSupermaster::Advanced { blocks });
        let envelope = Envelope { from: Address::Master(*group), message };
        self.transport.send(self.topology.supermaster, envelope, None)
    }

    fn now(&self) -> Time {
        Time(self.start.elapsed().as_nanos() as u64)
    }

    /// Passes an event to all roles of the rank.
    fn notify_all(
        &mut self,
        supermaster: impl Fn() -> SupermasterEvent,
        master: impl Fn() -> MasterEvent,
        worker: impl Fn() -> WorkerEvent,
    ) -> Result<(), Error> {
        if self.supermaster.is_some() {
            self.supermaster(supermaster())?;
        }
        if self.master.is_some() {
            self.master(master())?;
        }
        if self.worker.is_some() {
            self.worker(worker())?;
        }
        Ok(())
    }

    fn handle_event(&mut self, event: RankEvent) -> Result<(), Error> {
        match event {
            // A role has the payload in its memory now. So the receipt is dropped, which returns it
            // to the sender.
            RankEvent::Message(envelope, _returned) => self.deliver(envelope),
            RankEvent::Sent(receipt) => self.handle_receipt(receipt),
            RankEvent::Supermaster(ticket, outcome) => {
                let event = Self::completion_event(ticket, outcome);
                self.supermaster(event)
            }
            RankEvent::Master(ticket, outcome) => {
                let event = Self::completion_event(ticket, outcome);
                self.master(event)
            }
            RankEvent::Worker(ticket, outcome) => {
                let event = Self::completion_event(ticket, outcome);
                self.worker(event)
            }
            RankEvent::Broken(error) => Err(error),
            RankEvent::Drain => self.drain(),
        }
    }

    /// Asks the supermaster to drain the job.
    fn drain(&mut self) -> Result<(), Error> {
        if self.supermaster.is_some() {
            return self.supermaster(Event::Drain);
        }
        let from = match (&self.master, &self.worker) {
            (Some((group, _)), _) => Address::Master(*group),
            (None, Some((worker, _))) => Address::Worker(*worker),
            (None, None) => return Ok(()),
        };
        let message = Outgoing::Supermaster(ToSupermaster::Drain);
        self.transport.send(self.topology.supermaster, Envelope { from, message }, None)
    }

    /// Converts the outcome of work into an event of its role.
    fn completion_event<M, O>(ticket: Ticket, outcome: Result<O, Error>) -> Event<M, O> {
        match outcome {
            Ok(outcome) => Event::Done { ticket, outcome },
            Err(error) => Event::Failed { ticket, code: error.exit_code, cause: error.message },
        }
    }
}
