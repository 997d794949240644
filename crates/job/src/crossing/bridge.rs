//! Messages between the sites, and among the I/O ranks, by MPI.
//!
//! The manager and the other I/O ranks exchange signs of life, and so do the manager and the first
//! rank of the search. While the report is made and when the job ends, the first rank of the search
//! and the others of the search do so, too. One rank ends the job when another is silent for too
//! long: the first of all, or if that is the silent one, the manager. Whoever else finds the
//! silence waits for that, and ends the job if nothing comes of it.

use std::sync::mpsc::{Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use fleetblast_fleet::config::Config;
use fleetblast_fleet::end::Failure;
use fleetblast_fleet::ids::Time;
use fleetblast_mpi::{Comm, Mailbox, World, name_rank};

use super::heartbeats::Heartbeats;
use super::mailbox::{Address, Message, Parcel};
use super::{IoChannel, IoEndpoint};
use crate::error::Error;
use crate::processes::{failure, hosts};

/// Longest nap between two looks at messages; shorter while some are on their way.
const NAPS: [Duration; 2] = [Duration::from_millis(3), Duration::from_micros(300)];
/// Who cannot go on waits so long for another rank to end the job, which says why and clears up.
pub const GRACE: Duration = Duration::from_secs(10);
/// Tags of messages: parcels, pings, and what says that no pings will come for a while.
const PARCEL: u8 = 0;
const PING: u8 = 1;
const ASIDE: u8 = 2;
/// The sites, as MPI parts them.
const SEARCHES: u32 = 0;
const REPORTS: u32 = 1;

/// Messages to ranks of the other site.
pub struct Bridge {
    mailbox: Mailbox,
    /// All ranks of both sites, and their hosts.
    all: Comm,
    hosts: Vec<String>,
    /// The rank of the manager, whom the makers follow.
    manager: usize,
    /// Ranks that this one depends on.
    heartbeats: Heartbeats,
    start: Instant,
    /// One of them gave none for too long.
    has_lost_rank: bool,
    /// Who is here, and where they hear.
    here: Vec<(Address, Sender<Parcel>)>,
    /// What they send.
    sent: Option<Receiver<Parcel>>,
}

impl Bridge {
    /// Of a rank that searches beside `ranks` I/O ranks, and all that search (collective).
    ///
    /// # Errors
    /// A connection that is lost.
    pub fn of_search(
        world: World,
        ranks: u32,
        crossing: &IoChannel,
    ) -> Result<(World, Self), Error> {
        let is_first = world.rank() == 0;
        let (world, mut bridge) = Self::new(world, ranks, SEARCHES)?;
        if is_first {
            let IoEndpoint { sent, to } = crossing.io_endpoint()?;
            bridge.register(Address::Search, to);
            bridge.set_outgoing(sent);
        }
        Ok((world, bridge))
    }

    /// Of one of `ranks` I/O ranks, and all of these (collective).
    ///
    /// # Errors
    /// A connection that is lost.
    pub fn of_report(world: World, ranks: u32) -> Result<(World, Self), Error> {
        Self::new(world, ranks, REPORTS)
    }

    /// Parts the ranks into those of both sites.
    fn new(world: World, ranks: u32, site: u32) -> Result<(World, Self), Error> {
        let manager = world.size().saturating_sub(ranks as usize);
        let all = world.comm().clone();
        let mailbox = Mailbox::new(&all).map_err(failure)?;
        let hosts = hosts(&world)?;
        let own = all.split(Some(site), 0).map_err(failure)?;
        let own = own.ok_or_else(|| Error::engine("a rank is of no site"))?;
        let heartbeat = Config::default().heartbeat;
        let heartbeats = Heartbeats::new(peers(all.rank(), manager, all.size()), heartbeat);
        let bridge = Bridge {
            mailbox,
            all,
            hosts,
            manager,
            heartbeats,
            start: Instant::now(),
            has_lost_rank: false,
            here: Vec::new(),
            sent: None,
        };
        Ok((world.within(own), bridge))
    }

    /// The rank of the manager.
    pub fn manager(&self) -> usize {
        self.manager
    }

    /// Messages to this address are for this rank, and come here.
    pub fn register(&mut self, address: Address, inbox: Sender<Parcel>) {
        self.here.push((address, inbox));
    }

    /// Sends the messages that come from here.
    pub fn set_outgoing(&mut self, sent: Receiver<Parcel>) {
        self.sent = Some(sent);
    }

    /// No more messages come to this rank.
    pub fn hang_up(&mut self) {
        self.here.clear();
    }

    /// Lets messages go on; whether some do.
    ///
    /// # Errors
    /// A connection that is lost; at the search, what ended the other site.
    pub fn poll(&mut self) -> Result<bool, Error> {
        let mut any = false;
        while let Some(parcel) = self.sent.as_ref().and_then(|sent| sent.try_recv().ok()) {
            any = true;
            self.send(parcel)?;
        }
        while let Some(message) = self.mailbox.poll().map_err(failure)? {
            any = true;
            match message.tag {
                PARCEL => self.deliver(parcel(&message.bytes)?)?,
                tag => self.heartbeats.expect(message.from, tag == PING),
            }
        }
        self.look()?;
        Ok(any || self.mailbox.is_moving())
    }

    /// Sends signs of life, and looks for those of others.
    ///
    /// # Errors
    /// A rank that was silent for too long.
    fn look(&mut self) -> Result<(), Error> {
        let now = Time(self.start.elapsed().as_nanos() as u64);
        for rank in self.mailbox.senders() {
            self.heartbeats.note_received(rank, now);
        }
        if !self.heartbeats.must_look(now) {
            return Ok(());
        }
        for rank in self.heartbeats.due(now) {
            self.mailbox.send(rank, PING, Vec::new()).map_err(failure)?;
        }
        match self.heartbeats.silent(now) {
            Some((rank, silence)) => Err(self.lose(rank, silence)?),
            None => Ok(()),
        }
    }

    /// What ends the job when a rank was silent for too long. Returns at the rank that ends the
    /// job; at others only if that one does nothing.
    fn lose(&mut self, rank: usize, silence: Time) -> Result<Error, Error> {
        self.has_lost_rank = true;
        self.heartbeats.clear();
        let who = match rank {
            _ if rank >= self.manager => "the I/O rank",
            0 => "the first rank of the search",
            _ => "the rank of the search",
        };
        let place = name_rank(rank, self.hosts.get(rank).map(String::as_str));
        let text = format!("{who} was silent for {:.1} s ({place})", silence.seconds());
        let reporter = reporter(rank, self.manager);
        if self.all.rank() != reporter {
            if reporter == 0 {
                let message = Message::Failed(Failure::SILENT_RANK_CODE, text.clone());
                self.send(Parcel::new(Address::Search, Address::Manager, message))?;
            }
            let start = Instant::now();
            while start.elapsed() < GRACE {
                self.mailbox.poll().map_err(failure)?;
                thread::sleep(NAPS[0]);
            }
        }
        Ok(Error::new(Failure::SILENT_RANK_CODE, text))
    }

    /// Whether a rank was silent for too long, which is what an error of [`poll`](Self::poll) says
    /// then.
    pub fn has_lost_rank(&self) -> bool {
        self.has_lost_rank
    }

    /// Says that this rank will look after messages again only when it has done something else.
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
        match self.all.rank() {
            0 => self.heartbeats.add(1..self.manager),
            rank if rank < self.manager => self.heartbeats.add([0]),
            _ => {}
        }
    }

    /// Lets messages go on until all ranks of a group have come here (collective in the group).
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
        if self.here.iter().any(|(address, _)| *address == parcel.to) {
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

    /// Gives a parcel to whom it is for.
    fn deliver(&self, parcel: Parcel) -> Result<(), Error> {
        let ended = match (&parcel.to, &parcel.message) {
            (Address::Search, Message::Failed(code, text)) => Err(Error::new(*code, text.clone())),
            _ => Ok(()),
        };
        if let Some((_, inbox)) = self.here.iter().find(|(address, _)| *address == parcel.to) {
            // Who has ended need not hear of it.
            let _ = inbox.send(parcel);
        }
        ended
    }

    /// Does something on another thread, and lets messages go on meanwhile. Afterwards this rank
    /// [steps aside](Self::step_aside).
    ///
    /// # Errors
    /// As [`poll`](Self::poll), when that other thread has ended.
    pub fn meanwhile<T: Send>(&mut self, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
        thread::scope(|scope| {
            let work = scope.spawn(work);
            let polled = self.poll_until(&|| work.is_finished()).inspect_err(|_| self.hang_up());
            let done = work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            polled.and_then(|()| self.step_aside()).map(|()| done)
        })
    }

    /// Lets messages go on until something is so.
    ///
    /// # Errors
    /// As [`poll`](Self::poll).
    pub fn poll_until(&mut self, is_so: &dyn Fn() -> bool) -> Result<(), Error> {
        while !is_so() {
            let moves = self.poll()?;
            thread::sleep(NAPS[usize::from(moves)]);
        }
        Ok(())
    }

    /// Ends the connection, when all messages have left (collective, over both sites).
    ///
    /// # Errors
    /// A connection that is lost.
    pub fn close(mut self) -> Result<(), Error> {
        self.watch_search();
        self.meet(&self.all.clone())?;
        self.mailbox.close().map_err(failure)
    }
}

/// The ranks that a rank exchanges signs of life with from the beginning.
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
    fn each_rank_has_the_peers_that_have_it() {
        for (manager, size) in [(3, 6), (1, 2), (3, 4), (0, 1), (0, 4)] {
            for rank in 0..size {
                for peer in peers(rank, manager, size) {
                    assert!(peers(peer, manager, size).contains(&rank), "{rank} of {size}");
                }
            }
        }
        assert_eq!(peers(3, 3, 6), [0, 4, 5]);
        assert!(peers(1, 3, 6).is_empty(), "the master of its group looks after it");
    }

    #[test]
    fn no_rank_reports_its_own_silence() {
        for (manager, size) in [(3, 6), (1, 2), (0, 2)] {
            assert!((0..size).all(|silent| reporter(silent, manager) != silent));
            assert!((0..size).all(|silent| reporter(silent, manager) < size));
        }
    }
}
