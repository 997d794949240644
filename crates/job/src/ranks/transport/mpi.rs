//! Transport between ranks that are processes, connected by MPI.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use fleetblast_fleet::ids::Rank;
use fleetblast_mpi::{Messenger, World, name_rank};
use fleetblast_spool::Checkpoint;

use super::group_file::GroupFile;
use super::{AssembledBytes, Envelope, RankEvent, Receipt, Transport};
use crate::error::Error;
use crate::io_channel::SiteConnection;
use crate::processes::mpi_failure;
use crate::ranks::output::JobOutput;
use crate::ranks::output::publish;

/// Longest sleep between two checks for messages. On hosts with more ranks than cores, checks take
/// time from searching threads.
const NAP: Duration = Duration::from_millis(5);
/// Longest sleep while messages are in transit.
const MOVING_NAP: Duration = Duration::from_micros(500);
/// First sleep between two polls. Later sleeps become longer.
const SHORTEST_NAP: Duration = Duration::from_micros(20);
/// Longest time for messages to leave at the end of the job.
const FAREWELL: Duration = Duration::from_secs(10);

/// Transport of this process. If ranks write the output by MPI, it also does that.
pub struct MpiTransport {
    messenger: Messenger,
    /// Receipts of messages that have not left yet, by their numbers.
    receipts: HashMap<u64, Receipt>,
    next_receipt: u64,
    output: Option<GroupFile>,
    /// The connection to the ranks of the other site, in a job with I/O ranks.
    site_connection: Option<SiteConnection>,
    /// Channel of events from the threads of this rank.
    events: (Sender<RankEvent>, Receiver<RankEvent>),
}

impl MpiTransport {
    /// Creates the transport. `messenger` connects all ranks of this site.
    pub fn new(
        messenger: Messenger,
        output: Option<GroupFile>,
        site_connection: Option<SiteConnection>,
    ) -> Self {
        let (receipts, events) = (HashMap::new(), channel());
        MpiTransport { messenger, receipts, next_receipt: 0, output, site_connection, events }
    }

    /// Waits until all messages have left.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.messenger.flush(FAREWELL).map(drop).map_err(mpi_failure)
    }

    /// Ends a job whose output is written. All ranks close the output, and bring it to disk if
    /// `durable`. Then the supermaster's rank publishes it.
    ///
    /// # Errors
    /// The output cannot be closed or published, or the connection is lost.
    pub fn close_and_publish_output(
        &mut self,
        world: &World,
        outputs: Option<&Receiver<JobOutput>>,
        durable: bool,
        checkpoint: Option<&Checkpoint>,
    ) -> Result<(), Error> {
        // Closing the output waits for other ranks, which may take their time.
        self.site_connection.as_mut().map_or(Ok(()), SiteConnection::pause_heartbeats)?;
        self.flush()?;
        let closed = self.output.take().map_or(Ok(()), |output| output.close(durable));
        closed.map_err(|error| error.with_place(&name_rank(world.rank(), Some(world.host()))))?;
        let Some(site_connection) = &mut self.site_connection else {
            world.comm().barrier().map_err(mpi_failure)?;
            return outputs.map_or(Ok(()), |outputs| publish(outputs.try_iter(), checkpoint));
        };
        site_connection.watch_search();
        site_connection.poll_barrier(world.comm())?;
        if let Some(outputs) = outputs {
            let outputs: Vec<JobOutput> = outputs.try_iter().collect();
            site_connection.poll_during(|| publish(outputs, None))?;
        }
        // All ranks wait until the report is complete, which may take longer than the search.
        site_connection.poll_barrier(world.comm())?;
        // Next, the ranks collect warnings and times, and write traces.
        site_connection.pause_heartbeats()
    }

    /// Closes the connections after all messages have left. Collective over all ranks.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn close(self) -> Result<(), Error> {
        self.messenger.close().map_err(mpi_failure)?;
        self.site_connection.map_or(Ok(()), SiteConnection::close)
    }
}

impl Transport for MpiTransport {
    fn event_sender(&self) -> Sender<RankEvent> {
        self.events.0.clone()
    }

    fn bytes_sender(&self) -> Option<Sender<AssembledBytes>> {
        self.output.as_ref().map(GroupFile::bytes_sender)
    }

    fn send(
        &mut self,
        to: Rank,
        envelope: Envelope,
        receipt: Option<Receipt>,
    ) -> Result<(), Error> {
        let (to, bytes) = (to.index(), postcard::to_allocvec(&envelope).map_err(Error::engine)?);
        let Some(receipt) = receipt else {
            return self.messenger.send(to, 0, bytes).map_err(mpi_failure);
        };
        self.next_receipt += 1;
        self.receipts.insert(self.next_receipt, receipt);
        self.messenger.send_with_receipt(to, 0, bytes, self.next_receipt).map_err(mpi_failure)
    }

    fn next(&mut self, timeout: Duration) -> Result<Option<RankEvent>, Error> {
        let start = Instant::now();
        let mut nap = SHORTEST_NAP;
        loop {
            // The connection comes first, so that heartbeats go on however many events there are.
            let crosses = self.site_connection.as_mut().map_or(Ok(false), SiteConnection::poll)?;
            if let Ok(event) = self.events.1.try_recv() {
                return Ok(Some(event));
            }
            let left =
                self.messenger.next_receipt().and_then(|number| self.receipts.remove(&number));
            if let Some(receipt) = left {
                return Ok(Some(RankEvent::Sent(receipt)));
            }
            let written = self.output.as_mut().map_or(Ok(None), GroupFile::poll);
            if let Some(event) = written.map_err(mpi_failure)? {
                return Ok(Some(event));
            }
            if let Some(message) = self.messenger.poll().map_err(mpi_failure)? {
                let envelope = postcard::from_bytes(&message.bytes).map_err(Error::engine)?;
                return Ok(Some(RankEvent::Message(envelope, None)));
            }
            let rest = timeout.saturating_sub(start.elapsed());
            if rest.is_zero() {
                return Ok(None);
            }
            // The end of work wakes this thread up, but messages must be polled.
            if let Ok(event) = self.events.1.recv_timeout(nap.min(rest)) {
                return Ok(Some(event));
            }
            let has_transfers = crosses || self.messenger.has_transfers();
            nap = (2 * nap).min(if has_transfers { MOVING_NAP } else { NAP });
        }
    }
}
