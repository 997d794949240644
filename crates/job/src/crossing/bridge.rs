//! Messages between the sites, and among the I/O ranks, by MPI.
//!
//! The manager exchanges heartbeats with the other I/O ranks and with the first rank of the search.
//! While the report is made and while the job ends, the first rank of the search exchanges them
//! with the other ranks of the search, too. If a rank is silent for too long, one rank reports it
//! and ends the job: the first of all, or if that is the silent one, the manager. Any other rank
//! that finds the silence informs that rank and waits; if nothing happens it ends the job itself.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use fleetblast_fleet::config::Config;
use fleetblast_fleet::end::Failure;
use fleetblast_fleet::ids::Time;
use fleetblast_mpi::{Comm, Messenger, World, name_rank};

use super::heartbeats::Heartbeats;
use super::mailbox::{Address, Message, Parcel};
use super::{IoChannel, IoEndpoint};
use crate::audience::Audience;
use crate::error::Error;
use crate::processes::{end_job, failure, hosts};

/// Longest nap between two polls; shorter while messages are on their way.
const NAPS: [Duration; 2] = [Duration::from_millis(3), Duration::from_micros(300)];
/// How long a rank that cannot go on waits for another one to report why and to end the job.
const GRACE: Duration = Duration::from_secs(10);
/// Tag of a message with a parcel.
const PARCEL: u8 = 0;
/// Tag of a heartbeat, which announces more of them.
const PING: u8 = 1;
/// Tag of the announcement that no heartbeats will come for a while.
const ASIDE: u8 = 2;
/// Tag of a message with the reason why a rank is lost.
const LOST: u8 = 3;
/// Colour of the ranks that search, for `MPI_Comm_split`.
const SEARCHES: u32 = 0;
/// Colour of the I/O ranks.
const REPORTS: u32 = 1;

/// The connection of a rank to the ranks of the other site.
pub struct Bridge {
    mailbox: Messenger,
    /// All ranks of both sites.
    world: World,
    /// The host of each rank.
    hosts: Vec<String>,
    /// The rank of the manager. The other I/O ranks follow it.
    manager: usize,
    heartbeats: Heartbeats,
    start: Instant,
    /// The addresses on this rank, and where their parcels go.
    inboxes: Vec<(Address, Sender<Parcel>)>,
    /// The parcels that this rank sends.
    outgoing: Option<Receiver<Parcel>>,
    /// Receives the message that a rank is lost.
    audience: Arc<dyn Audience>,
}

impl Bridge {
    /// Connects a rank that searches to the last `ranks` ranks, which make the report. Also returns
    /// the ranks that search (collective).
    ///
    /// # Errors
    /// A connection that is lost.
    pub fn of_search(
        world: World,
        ranks: u32,
        crossing: &IoChannel,
        audience: &Arc<dyn Audience>,
    ) -> Result<(World, Self), Error> {
        let is_first = world.rank() == 0;
        let (world, mut bridge) = Self::new(world, ranks, SEARCHES, audience)?;
        if is_first {
            let IoEndpoint { sent, to } = crossing.io_endpoint()?;
            bridge.register(Address::Search, to);
            bridge.set_outgoing(sent);
        }
        Ok((world, bridge))
    }

    /// Connects one of the last `ranks` ranks, which make the report, to all others. Also returns
    /// the I/O ranks (collective).
    ///
    /// # Errors
    /// A connection that is lost.
    pub fn of_report(
        world: World,
        ranks: u32,
        audience: &Arc<dyn Audience>,
    ) -> Result<(World, Self), Error> {
        Self::new(world, ranks, REPORTS, audience)
    }

    /// Connects a rank, and splits the ranks into those of the two sites.
    fn new(
        world: World,
        ranks: u32,
        site: u32,
        audience: &Arc<dyn Audience>,
    ) -> Result<(World, Self), Error> {
        let all = world.comm();
        let manager = all.size().saturating_sub(ranks as usize);
        let mailbox = Messenger::new(all).map_err(failure)?;
        let hosts = hosts(&world)?;
        let own = all.split(Some(site), 0).map_err(failure)?;
        let own = own.ok_or_else(|| Error::engine("a rank is of no site"))?;
        let heartbeat = Config::default().heartbeat;
        let heartbeats = Heartbeats::new(peers(all.rank(), manager, all.size()), heartbeat);
        let own = world.restrict(own);
        let bridge = Bridge {
            mailbox,
            world,
            hosts,
            manager,
            heartbeats,
            start: Instant::now(),
            inboxes: Vec::new(),
            outgoing: None,
            audience: Arc::clone(audience),
        };
        Ok((own, bridge))
    }

    /// The rank of the manager.
    pub fn manager(&self) -> usize {
        self.manager
    }

    /// Parcels to this address are for this rank and go to this inbox.
    pub fn register(&mut self, address: Address, inbox: Sender<Parcel>) {
        self.inboxes.push((address, inbox));
    }

    /// Sends the parcels that come out here.
    pub fn set_outgoing(&mut self, outgoing: Receiver<Parcel>) {
        self.outgoing = Some(outgoing);
    }

    /// Closes all inboxes of this rank, so that nobody waits for parcels that cannot come.
    fn hang_up(&mut self) {
        self.inboxes.clear();
    }

    /// Sends and receives messages. Returns whether some are on their way. Ends the job if a rank
    /// is lost.
    ///
    /// # Errors
    /// A connection that is lost; at the search, the error that ended the other site.
    pub fn poll(&mut self) -> Result<bool, Error> {
        let mut any = false;
        while let Some(parcel) = self.outgoing.as_ref().and_then(|sent| sent.try_recv().ok()) {
            any = true;
            self.send(parcel)?;
        }
        while let Some(message) = self.mailbox.poll().map_err(failure)? {
            any = true;
            match message.tag {
                PARCEL => self.deliver(parcel(&message.bytes)?)?,
                LOST => self.end_job(&lost(&String::from_utf8_lossy(&message.bytes))),
                tag => self.heartbeats.set_expected(message.from, tag == PING),
            }
        }
        self.exchange_heartbeats()?;
        Ok(any || self.mailbox.is_moving())
    }

    /// Sends heartbeats, and checks that those of the peers came. Ends the job if a rank is lost.
    ///
    /// # Errors
    /// A connection that is lost.
    fn exchange_heartbeats(&mut self) -> Result<(), Error> {
        let now = Time(self.start.elapsed().as_nanos() as u64);
        for rank in self.mailbox.senders() {
            self.heartbeats.note_received(rank, now);
        }
        if !self.heartbeats.is_check_due(now) {
            return Ok(());
        }
        for rank in self.heartbeats.due(now) {
            self.mailbox.send(rank, PING, Vec::new()).map_err(failure)?;
        }
        match self.heartbeats.find_silent(now) {
            Some((rank, silence)) => self.report_silent(rank, silence),
            None => Ok(()),
        }
    }

    /// Has the job ended because a rank was silent for too long: by the rank that is to report it,
    /// or by this one if nothing comes of that.
    ///
    /// # Errors
    /// A connection that is lost.
    fn report_silent(&mut self, rank: usize, silence: Time) -> Result<(), Error> {
        let who = match rank {
            _ if rank >= self.manager => "the I/O rank",
            0 => "the first rank of the search",
            _ => "the rank of the search",
        };
        let place = name_rank(rank, self.hosts.get(rank).map(String::as_str));
        let text = format!("{who} was silent for {:.1} s ({place})", silence.seconds());
        let reporter = reporter(rank, self.manager);
        if self.world.rank() != reporter {
            self.mailbox.send(reporter, LOST, text.clone().into_bytes()).map_err(failure)?;
            self.await_end()?;
        }
        self.end_job(&lost(&text))
    }

    /// Waits for another rank to end the job. Returns if none does so in time.
    ///
    /// # Errors
    /// As [`poll`](Self::poll).
    pub fn await_end(&mut self) -> Result<(), Error> {
        // One reason to end is enough.
        self.heartbeats.clear();
        let start = Instant::now();
        self.poll_until(&|| start.elapsed() > GRACE)
    }

    /// Ends all processes of the job, whatever other threads of this one are doing.
    fn end_job(&self, error: &Error) -> ! {
        end_job(&self.world, &*self.audience, error)
    }

    /// Announces that this rank will poll again only after it has done something else.
    ///
    /// # Errors
    /// A connection that is lost.
    pub fn step_aside(&mut self) -> Result<(), Error> {
        for &rank in self.heartbeats.step_aside() {
            self.mailbox.send(rank, ASIDE, Vec::new()).map_err(failure)?;
        }
        Ok(())
    }

    /// From now on the first rank of the search and the others of the search are peers.
    pub fn watch_search(&mut self) {
        match self.world.rank() {
            0 => self.heartbeats.add(1..self.manager),
            rank if rank < self.manager => self.heartbeats.add([0]),
            _ => {}
        }
    }

    /// Polls until all ranks of a group have arrived here (collective in the group).
    ///
    /// # Errors
    /// As [`poll`](Self::poll).
    pub fn meet(&mut self, group: &Comm) -> Result<(), Error> {
        let mut arrival = group.arrive().map_err(failure)?;
        while !arrival.is_complete().map_err(failure)? {
            let moves = self.poll()?;
            thread::sleep(NAPS[usize::from(moves)]);
        }
        Ok(())
    }

    /// Sends a parcel to its rank, which may be this one.
    fn send(&mut self, parcel: Parcel) -> Result<(), Error> {
        if self.inboxes.iter().any(|(address, _)| *address == parcel.to) {
            return self.deliver(parcel);
        }
        let to = match parcel.to {
            Address::Search => 0,
            Address::Manager => self.manager,
            Address::Maker(number) => self.manager + number as usize,
        };
        let bytes = postcard::to_allocvec(&parcel).map_err(Error::engine)?;
        self.mailbox.send(to, PARCEL, bytes).map_err(failure)
    }

    /// Puts a parcel into the inbox of its address.
    ///
    /// # Errors
    /// At the search, the error that ended the other site.
    fn deliver(&self, parcel: Parcel) -> Result<(), Error> {
        let ended = match (&parcel.to, &parcel.message) {
            (Address::Search, Message::Failed(code, text)) => Err(Error::new(*code, text.clone())),
            _ => Ok(()),
        };
        if let Some((_, inbox)) = self.inboxes.iter().find(|(address, _)| *address == parcel.to) {
            // A thread that has ended needs no parcels.
            let _ = inbox.send(parcel);
        }
        ended
    }

    /// Does some work on another thread, and polls meanwhile. Then this rank
    /// [steps aside](Self::step_aside).
    ///
    /// # Errors
    /// Those of the work; as [`await_threads`](Self::await_threads).
    pub fn meanwhile<T: Send>(
        &mut self,
        work: impl FnOnce() -> Result<T, Error> + Send,
    ) -> Result<T, Error> {
        let (polled, done) = thread::scope(|scope| {
            let work = scope.spawn(work);
            let polled = self.await_threads(&|| work.is_finished());
            (polled, work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let aside = self.step_aside();
        let done = done?;
        polled.and(aside).map(|()| done)
    }

    /// Polls until other threads of this rank have finished. An error that has a message ends the
    /// job at once, because the threads may never finish: one may be opening a pipe.
    ///
    /// # Errors
    /// An error without a message. It comes from one of the threads, which has the message.
    pub fn await_threads(&mut self, are_finished: &dyn Fn() -> bool) -> Result<(), Error> {
        self.poll_until(are_finished).inspect_err(|error| {
            if !error.is_silent() {
                self.end_job(error);
            }
            self.hang_up();
        })
    }

    /// Polls until a condition holds.
    ///
    /// # Errors
    /// As [`poll`](Self::poll).
    fn poll_until(&mut self, condition: &dyn Fn() -> bool) -> Result<(), Error> {
        while !condition() {
            let moves = self.poll()?;
            thread::sleep(NAPS[usize::from(moves)]);
        }
        Ok(())
    }

    /// Ends the connection when all messages have left (collective, over both sites).
    ///
    /// # Errors
    /// As [`poll`](Self::poll).
    pub fn close(mut self) -> Result<(), Error> {
        self.watch_search();
        self.meet(&self.world.comm().clone())?;
        self.mailbox.close().map_err(failure)
    }
}

/// The ranks that a rank exchanges heartbeats with from the beginning.
fn peers(rank: usize, manager: usize, size: usize) -> Vec<usize> {
    match rank {
        _ if rank == manager => {
            let search = (manager > 0).then_some(0);
            search.into_iter().chain(manager + 1..size).collect()
        }
        _ if rank == 0 || rank > manager => vec![manager],
        _ => Vec::new(),
    }
}

/// The error of a job that has lost a rank.
fn lost(text: &str) -> Error {
    Error::new(Failure::SILENT_RANK_CODE, text)
}

/// The rank that reports a silent rank, and ends the job. Without a search the first rank is the
/// manager.
fn reporter(silent: usize, manager: usize) -> usize {
    if silent == 0 { manager.max(1) } else { 0 }
}

fn parcel(bytes: &[u8]) -> Result<Parcel, Error> {
    postcard::from_bytes(bytes).map_err(Error::engine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_mutual() {
        for (manager, size) in [(3, 6), (1, 2), (3, 4), (0, 1), (0, 4)] {
            for rank in 0..size {
                for peer in peers(rank, manager, size) {
                    assert!(peers(peer, manager, size).contains(&rank), "{rank} of {size}");
                }
            }
        }
        assert_eq!(peers(3, 3, 6), [0, 4, 5]);
        assert!(peers(1, 3, 6).is_empty(), "the master of its group watches it");
    }

    #[test]
    fn no_rank_reports_its_own_silence() {
        for (manager, size) in [(3, 6), (1, 2), (0, 2)] {
            assert!((0..size).all(|silent| reporter(silent, manager) != silent));
            assert!((0..size).all(|silent| reporter(silent, manager) < size));
        }
    }
}
