//! Sends messages over MPI between the search site and the I/O site of one job, and among the I/O
//! ranks.
//!
//! The manager is the first I/O rank. It exchanges heartbeats with the other I/O ranks and with the
//! first rank of the search. While the report is made and while the job ends, the first rank of the
//! search also exchanges heartbeats with the other search ranks.
//!
//! If a rank is silent for too long, rank 0 reports it and ends the job. If rank 0 is the silent
//! rank, the manager does. Any other rank that finds the silence informs the reporting rank and
//! waits. If the job does not end in time, the waiting rank ends it.

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
use crate::processes::{end_job, gather_hosts, mpi_failure};

/// Pauses between two polls: while no message is in transfer, and while some are.
const POLL_PAUSES: [Duration; 2] = [Duration::from_millis(3), Duration::from_micros(300)];
/// How long a rank waits for another rank to report an error and to end the job.
const END_TIMEOUT: Duration = Duration::from_secs(10);
/// Tag of a message that contains a [`Parcel`].
const PARCEL: u8 = 0;
/// Tag of a heartbeat. The receiver can expect more of them until a [`PAUSE`].
const PING: u8 = 1;
/// Tag of the announcement that the sender sends no heartbeats until its next [`PING`].
const PAUSE: u8 = 2;
/// Tag of a message that asks the receiver to end the job. Its text names the silent rank.
const LOST_RANK: u8 = 3;
/// Colour of the search ranks, for `MPI_Comm_split`.
const SEARCH_SITE: u32 = 0;
/// Colour of the I/O ranks.
const IO_SITE: u32 = 1;

/// The connection of one rank to the other ranks of a job with I/O ranks.
pub struct SiteConnection {
    mailbox: Messenger,
    /// All ranks of both sites.
    world: World,
    /// The host of each rank.
    hosts: Vec<String>,
    /// Rank of the manager, the first I/O rank. The other I/O ranks follow it.
    manager: usize,
    heartbeats: Heartbeats,
    start: Instant,
    /// The addresses on this rank, each with the channel to its inbox.
    inboxes: Vec<(Address, Sender<Parcel>)>,
    /// Parcels from the threads of this rank, to be sent.
    outgoing: Option<Receiver<Parcel>>,
    /// Receives the message about a lost rank.
    audience: Arc<dyn Audience>,
}

impl SiteConnection {
    /// Connects a search rank to the I/O ranks, which are the last `ranks` ranks of `world`. Also
    /// returns the world of the search ranks alone. Collective over all ranks of both sites.
    ///
    /// # Errors
    /// A lost connection.
    pub fn for_search(
        world: World,
        ranks: u32,
        io_channel: &IoChannel,
        audience: &Arc<dyn Audience>,
    ) -> Result<(World, Self), Error> {
        let is_first = world.rank() == 0;
        let (world, mut connection) = Self::new(world, ranks, SEARCH_SITE, audience)?;
        if is_first {
            let IoEndpoint { from_search, to_search } = io_channel.io_endpoint()?;
            connection.register(Address::Search, to_search);
            connection.set_outgoing(from_search);
        }
        Ok((world, connection))
    }

    /// Connects an I/O rank, one of the last `ranks` ranks of `world`, to all other ranks. Also
    /// returns the world of the I/O ranks alone. Collective over all ranks of both sites.
    ///
    /// # Errors
    /// A lost connection.
    pub fn for_io_ranks(
        world: World,
        ranks: u32,
        audience: &Arc<dyn Audience>,
    ) -> Result<(World, Self), Error> {
        Self::new(world, ranks, IO_SITE, audience)
    }

    /// Connects a rank and splits the ranks by site. `site` is [`SEARCH_SITE`] or [`IO_SITE`].
    fn new(
        world: World,
        ranks: u32,
        site: u32,
        audience: &Arc<dyn Audience>,
    ) -> Result<(World, Self), Error> {
        let all = world.comm();
        let manager = all.size().saturating_sub(ranks as usize);
        let mailbox = Messenger::new(all).map_err(mpi_failure)?;
        let hosts = gather_hosts(&world)?;
        let own = all.split(Some(site), 0).map_err(mpi_failure)?;
        let own = own.ok_or_else(|| Error::engine("a rank is of no site"))?;
        let heartbeat = Config::default().heartbeat;
        let heartbeats = Heartbeats::new(peers(all.rank(), manager, all.size()), heartbeat);
        let own = world.restrict(own);
        let connection = SiteConnection {
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
        Ok((own, connection))
    }

    /// Returns the rank of the manager.
    pub fn manager(&self) -> usize {
        self.manager
    }

    /// Directs parcels for this address to an inbox on this rank.
    pub fn register(&mut self, address: Address, inbox: Sender<Parcel>) {
        self.inboxes.push((address, inbox));
    }

    /// Sets the channel of the parcels that this rank sends.
    pub fn set_outgoing(&mut self, outgoing: Receiver<Parcel>) {
        self.outgoing = Some(outgoing);
    }

    /// Closes all inboxes of this rank, so that no thread waits for further parcels.
    fn close_inboxes(&mut self) {
        self.inboxes.clear();
    }

    /// Sends and receives messages. Returns whether any message was handled or is still in
    /// transfer. Ends the job if a rank is lost.
    ///
    /// # Errors
    /// A lost connection; on the first rank of the search, the error that ended the I/O site.
    pub fn poll(&mut self) -> Result<bool, Error> {
        let mut any = false;
        while let Some(parcel) = self.outgoing.as_ref().and_then(|sent| sent.try_recv().ok()) {
            any = true;
            self.send(parcel)?;
        }
        while let Some(message) = self.mailbox.poll().map_err(mpi_failure)? {
            any = true;
            match message.tag {
                PARCEL => self.deliver(parcel(&message.bytes)?)?,
                LOST_RANK => {
                    self.end_job(&lost_rank_error(&String::from_utf8_lossy(&message.bytes)))
                }
                tag => self.heartbeats.set_expected(message.from, tag == PING),
            }
        }
        self.exchange_heartbeats()?;
        Ok(any || self.mailbox.has_transfers())
    }

    /// Sends heartbeats and checks those of the peers. Ends the job if a rank is lost.
    ///
    /// # Errors
    /// A lost connection.
    fn exchange_heartbeats(&mut self) -> Result<(), Error> {
        let now = Time(self.start.elapsed().as_nanos() as u64);
        for rank in self.mailbox.senders() {
            self.heartbeats.note_received(rank, now);
        }
        if !self.heartbeats.is_check_due(now) {
            return Ok(());
        }
        for rank in self.heartbeats.due(now) {
            self.mailbox.send(rank, PING, Vec::new()).map_err(mpi_failure)?;
        }
        match self.heartbeats.find_silent(now) {
            Some((rank, silence)) => self.report_silent(rank, silence),
            None => Ok(()),
        }
    }

    /// Ends the job because `rank` was silent for too long. The [reporting rank](reporter) ends it
    /// with a message. If it does not do so in time, this rank ends the job.
    ///
    /// # Errors
    /// A lost connection.
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
            self.mailbox
                .send(reporter, LOST_RANK, text.clone().into_bytes())
                .map_err(mpi_failure)?;
            self.await_end()?;
        }
        self.end_job(&lost_rank_error(&text))
    }

    /// Waits for another rank to end the job. Returns if none does so in time.
    ///
    /// # Errors
    /// As [`poll`](Self::poll).
    pub fn await_end(&mut self) -> Result<(), Error> {
        // Without peers, this rank finds no further silent ranks while it waits.
        self.heartbeats.clear();
        let start = Instant::now();
        self.poll_until(&|| start.elapsed() > END_TIMEOUT)
    }

    /// Ends all processes of the job, without waiting for other threads of this process.
    fn end_job(&self, error: &Error) -> ! {
        end_job(&self.world, &*self.audience, error)
    }

    /// Announces to the peers that this rank sends no heartbeats until it polls again.
    ///
    /// # Errors
    /// A lost connection.
    pub fn pause_heartbeats(&mut self) -> Result<(), Error> {
        for &rank in self.heartbeats.pause_heartbeats() {
            self.mailbox.send(rank, PAUSE, Vec::new()).map_err(mpi_failure)?;
        }
        Ok(())
    }

    /// Adds heartbeats between the first rank of the search and the other search ranks.
    pub fn watch_search(&mut self) {
        match self.world.rank() {
            0 => self.heartbeats.add(1..self.manager),
            rank if rank < self.manager => self.heartbeats.add([0]),
            _ => {}
        }
    }

    /// Polls until all ranks of a group have called this function (collective in the group).
    ///
    /// # Errors
    /// As [`poll`](Self::poll).
    pub fn poll_barrier(&mut self, group: &Comm) -> Result<(), Error> {
        let mut arrival = group.arrive().map_err(mpi_failure)?;
        while !arrival.is_complete().map_err(mpi_failure)? {
            let moves = self.poll()?;
            thread::sleep(POLL_PAUSES[usize::from(moves)]);
        }
        Ok(())
    }

    /// Sends a parcel to the rank of its address, which may be this rank.
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
        self.mailbox.send(to, PARCEL, bytes).map_err(mpi_failure)
    }

    /// Puts a parcel into the inbox of its address.
    ///
    /// # Errors
    /// On the first rank of the search, the error that ended the I/O site.
    fn deliver(&self, parcel: Parcel) -> Result<(), Error> {
        let ended = match (&parcel.to, &parcel.message) {
            (Address::Search, Message::Failed(code, text)) => {
                Err(Error::from_remote(*code, text.clone()))
            }
            _ => Ok(()),
        };
        if let Some((_, inbox)) = self.inboxes.iter().find(|(address, _)| *address == parcel.to) {
            // A thread that has ended needs no parcels.
            let _ = inbox.send(parcel);
        }
        ended
    }

    /// Runs `work` on another thread, and polls until it has finished. Then this rank [pauses its
    /// heartbeats](Self::pause_heartbeats).
    ///
    /// # Errors
    /// An error of the work; as [`await_threads`](Self::await_threads).
    pub fn poll_during<T: Send>(
        &mut self,
        work: impl FnOnce() -> Result<T, Error> + Send,
    ) -> Result<T, Error> {
        let (polled, done) = thread::scope(|scope| {
            let work = scope.spawn(work);
            let polled = self.await_threads(&|| work.is_finished());
            (polled, work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let paused = self.pause_heartbeats();
        let done = done?;
        polled.and(paused).map(|()| done)
    }

    /// Polls until other threads of this rank have finished. An error with a message ends the job
    /// at once, because a thread may never finish: it may be opening a pipe.
    ///
    /// # Errors
    /// An error without a message. The thread or rank that failed reports the cause.
    pub fn await_threads(&mut self, are_finished: &dyn Fn() -> bool) -> Result<(), Error> {
        self.poll_until(are_finished).inspect_err(|error| {
            if !error.is_silent() {
                self.end_job(error);
            }
            self.close_inboxes();
        })
    }

    /// Polls until a condition holds.
    ///
    /// # Errors
    /// As [`poll`](Self::poll).
    fn poll_until(&mut self, condition: &dyn Fn() -> bool) -> Result<(), Error> {
        while !condition() {
            let moves = self.poll()?;
            thread::sleep(POLL_PAUSES[usize::from(moves)]);
        }
        Ok(())
    }

    /// Closes the connection after all messages have left (collective, over both sites).
    ///
    /// # Errors
    /// As [`poll`](Self::poll).
    pub fn close(mut self) -> Result<(), Error> {
        self.watch_search();
        self.poll_barrier(&self.world.comm().clone())?;
        self.mailbox.close().map_err(mpi_failure)
    }
}

/// Returns the ranks with which `rank` exchanges heartbeats from the start.
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

/// Creates the error for a lost rank.
fn lost_rank_error(text: &str) -> Error {
    Error::new(Failure::SILENT_RANK_CODE, text)
}

/// Returns the rank that reports the `silent` rank and ends the job. This is rank 0, or the manager
/// if rank 0 is silent. In a job without a search, rank 0 is the manager, and rank 1 reports its
/// silence.
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
