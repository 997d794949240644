//! Messages between ranks that are processes, connected by MPI.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use fleetblast_fleet::ids::Rank;
use fleetblast_mpi::{Mailbox, World, name_rank};
use fleetblast_spool::Checkpoint;

use super::group_file::GroupFile;
use super::{Assembled, Envelope, Happening, Receipt, Transport};
use crate::error::Error;
use crate::io_channel::SiteConnection;
use crate::processes::mpi_failure;
use crate::ranks::output::Whole;
use crate::ranks::output::publish;

/// Longest nap between two looks at messages. On hosts with more ranks than cores looking takes
/// time from those that search.
const NAP: Duration = Duration::from_millis(5);
/// Longest while messages are on their way.
const MOVING_NAP: Duration = Duration::from_micros(500);
/// Shortest.
const SHORTEST_NAP: Duration = Duration::from_micros(20);
/// How long to wait at the end for messages to leave.
const FAREWELL: Duration = Duration::from_secs(10);

/// The messages of this process, and the output where ranks write that by MPI.
pub struct Mpi {
    mailbox: Mailbox,
    /// Receipts of messages that have not left, by their numbers, which count up.
    receipts: HashMap<u64, Receipt>,
    next_receipt: u64,
    output: Option<GroupFile>,
    /// The way to ranks of another site.
    site_connection: Option<SiteConnection>,
    /// Where works tell that they have ended.
    works: (Sender<Happening>, Receiver<Happening>),
}

impl Mpi {
    /// With the mailbox of all ranks.
    pub fn new(
        mailbox: Mailbox,
        output: Option<GroupFile>,
        site_connection: Option<SiteConnection>,
    ) -> Self {
        let (receipts, works) = (HashMap::new(), channel());
        Mpi { mailbox, receipts, next_receipt: 0, output, site_connection, works }
    }

    /// Waits for messages to leave.
    ///
    /// # Errors
    /// A connection that is lost.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.mailbox.flush(FAREWELL).map(drop).map_err(mpi_failure)
    }

    /// Ends a job whose output is written: has it published, on the rank that has it whole, when
    /// all ranks have closed it. `durable`: it is to be on disk then.
    ///
    /// # Errors
    /// Output that cannot be closed or published; a connection that is lost.
    pub fn complete(
        &mut self,
        world: &World,
        whole: Option<&Receiver<Whole>>,
        durable: bool,
        checkpoint: Option<&Checkpoint>,
    ) -> Result<(), Error> {
        // Other ranks close the output with this one, and may take their time.
        self.site_connection.as_mut().map_or(Ok(()), SiteConnection::pause_heartbeats)?;
        self.flush()?;
        let closed = self.output.take().map_or(Ok(()), |output| output.close(durable));
        closed.map_err(|mut error| {
            if !error.is_silent() {
                error.message += &format!(" ({})", name_rank(world.rank(), Some(world.host())));
            }
            error
        })?;
        let Some(site_connection) = &mut self.site_connection else {
            world.comm().barrier().map_err(mpi_failure)?;
            return whole.map_or(Ok(()), |whole| publish(whole.try_iter(), checkpoint));
        };
        site_connection.watch_search();
        site_connection.poll_barrier(world.comm())?;
        if let Some(whole) = whole {
            let whole: Vec<Whole> = whole.try_iter().collect();
            site_connection.poll_during(|| publish(whole, None))?;
        }
        // The report may take longer than the search.
        site_connection.poll_barrier(world.comm())?;
        // The ranks gather warnings and times next, and write traces.
        site_connection.pause_heartbeats()
    }

    /// Ends the connection, when all messages have left (collective).
    ///
    /// # Errors
    /// A connection that is lost.
    pub fn close(self) -> Result<(), Error> {
        self.mailbox.close().map_err(mpi_failure)?;
        self.site_connection.map_or(Ok(()), SiteConnection::close)
    }
}

impl Transport for Mpi {
    fn works(&self) -> Sender<Happening> {
        self.works.0.clone()
    }

    fn writer(&self) -> Option<Sender<Assembled>> {
        self.output.as_ref().map(GroupFile::writer)
    }

    fn send(
        &mut self,
        to: Rank,
        envelope: Envelope,
        receipt: Option<Receipt>,
    ) -> Result<(), Error> {
        let (to, bytes) = (to.index(), postcard::to_allocvec(&envelope).map_err(Error::engine)?);
        let Some(receipt) = receipt else {
            return self.mailbox.send(to, 0, bytes).map_err(mpi_failure);
        };
        self.next_receipt += 1;
        self.receipts.insert(self.next_receipt, receipt);
        self.mailbox.send_with_receipt(to, 0, bytes, self.next_receipt).map_err(mpi_failure)
    }

    fn next(&mut self, timeout: Duration) -> Result<Option<Happening>, Error> {
        let start = Instant::now();
        let mut nap = SHORTEST_NAP;
        loop {
            // First, so that signs of life go on however much happens here.
            let crosses = self.site_connection.as_mut().map_or(Ok(false), SiteConnection::poll)?;
            if let Ok(happening) = self.works.1.try_recv() {
                return Ok(Some(happening));
            }
            let left = self.mailbox.left().and_then(|number| self.receipts.remove(&number));
            if let Some(receipt) = left {
                return Ok(Some(Happening::Sent(receipt)));
            }
            let written = self.output.as_mut().map_or(Ok(None), GroupFile::poll);
            if let Some(happening) = written.map_err(mpi_failure)? {
                return Ok(Some(happening));
            }
            if let Some(message) = self.mailbox.poll().map_err(mpi_failure)? {
                let envelope = postcard::from_bytes(&message.bytes).map_err(Error::engine)?;
                return Ok(Some(Happening::Message(envelope, None)));
            }
            let rest = timeout.saturating_sub(start.elapsed());
            if rest.is_zero() {
                return Ok(None);
            }
            // The end of a work wakes this thread; for a message it has to look.
            if let Ok(happening) = self.works.1.recv_timeout(nap.min(rest)) {
                return Ok(Some(happening));
            }
            let is_moving = crosses || self.mailbox.is_moving();
            nap = (2 * nap).min(if is_moving { MOVING_NAP } else { NAP });
        }
    }
}
