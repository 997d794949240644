//! Messages between the sites, and among the I/O ranks, by MPI.

use std::sync::mpsc::{Receiver, Sender};
use std::thread;
use std::time::Duration;

use fleetblast_mpi::{Mailbox, World};

use super::post::{Address, Message, Parcel};
use super::{Crossing, Far};
use crate::error::Error;
use crate::processes::failure;

/// Longest nap between two looks at messages; shorter while some are on their way.
const NAPS: [Duration; 2] = [Duration::from_millis(3), Duration::from_micros(300)];
/// The sites, as MPI parts them.
const SEARCHES: u32 = 0;
const REPORTS: u32 = 1;

/// Messages to ranks of the other site.
pub struct Bridge {
    mailbox: Mailbox,
    /// The rank of the manager, whom the makers follow.
    manager: usize,
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
        crossing: &Crossing,
    ) -> Result<(World, Self), Error> {
        let is_first = world.rank() == 0;
        let (world, mut bridge) = Self::new(world, ranks, SEARCHES)?;
        if is_first {
            let Far { sent, to } = crossing.far()?;
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
        let mailbox = Mailbox::new(world.comm()).map_err(failure)?;
        let own = world.comm().split(Some(site), 0).map_err(failure)?;
        let own = own.ok_or_else(|| Error::engine("a rank is of no site"))?;
        let bridge = Bridge { mailbox, manager, here: Vec::new(), sent: None };
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
            let parcel: Parcel = postcard::from_bytes(&message.bytes).map_err(Error::engine)?;
            self.deliver(parcel)?;
        }
        Ok(any || self.mailbox.is_moving())
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
        self.mailbox.send(to, 0, bytes).map_err(failure)
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

    /// Does something on another thread, and lets messages go on meanwhile.
    ///
    /// # Errors
    /// As [`poll`](Self::poll), when that other thread has ended.
    pub fn meanwhile<T: Send>(&mut self, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
        thread::scope(|scope| {
            let work = scope.spawn(work);
            let polled = self.poll_until(&|| work.is_finished()).inspect_err(|_| self.hang_up());
            let done = work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            polled.map(|()| done)
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
        self.poll()?;
        self.mailbox.close().map_err(failure)
    }
}
