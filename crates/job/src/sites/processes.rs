//! Both sites in one job whose ranks are processes: messages between the sites, and among the I/O ranks, travel by MPI.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use fleetblast_mpi::{Mailbox, World, name_rank};

use super::Storage;
use super::crossing::{Crossing, Far, Near};
use super::maker::serve;
use super::manager::manage;
use super::post::{Address, Message, Outbox, Parcel, Post};
use super::reader::read;
use crate::audience::Audience;
use crate::error::Error;
use crate::metadata::Opened;
use crate::ranks::failure;
use crate::ranks::roles::{Role, agree};

/// Longest nap between two looks at messages; shorter while some are on their way.
const NAPS: [Duration; 2] = [Duration::from_millis(3), Duration::from_micros(300)];
/// Who cannot go on waits so long for the search to end the job, which tells why and clears up.
const GRACE: Duration = Duration::from_secs(10);

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
    /// Of a rank that searches, and all that search; none if there is one site only (collective).
    ///
    /// # Errors
    /// A connection that is lost.
    pub fn of_search(
        world: World,
        crossing: Option<&Crossing>,
    ) -> Result<(World, Option<Self>), Error> {
        let Some(crossing) = crossing else { return Ok((world, None)) };
        let is_first = world.rank() == 0;
        let (world, mut bridge) = Self::new(world, crossing.ranks, SEARCHES)?;
        if is_first {
            let Far { sent, to } = crossing.far()?;
            bridge.here.push((Address::Search, to));
            bridge.sent = Some(sent);
        }
        Ok((world, Some(bridge)))
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

    /// Lets messages go on; whether some do.
    ///
    /// # Errors
    /// A connection that is lost; at the search, what ended the other site.
    pub fn poll(&mut self) -> Result<bool, Error> {
        let mut any = false;
        while let Some(parcel) = self.sent.as_ref().and_then(|sent| sent.try_recv().ok()) {
            any = true;
            self.bring(parcel)?;
        }
        while let Some(message) = self.mailbox.poll().map_err(failure)? {
            any = true;
            let parcel: Parcel = postcard::from_bytes(&message.bytes).map_err(Error::engine)?;
            self.deliver(parcel)?;
        }
        Ok(any || self.mailbox.is_moving())
    }

    /// Brings a parcel on its way.
    fn bring(&mut self, parcel: Parcel) -> Result<(), Error> {
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
            let polled = self.until(&|| work.is_finished()).inspect_err(|_| self.here.clear());
            let done = work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            polled.map(|()| done)
        })
    }

    /// Lets messages go on until something is so.
    fn until(&mut self, is_so: &dyn Fn() -> bool) -> Result<(), Error> {
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

/// The sites, as MPI parts them.
const SEARCHES: u32 = 0;
const REPORTS: u32 = 1;

/// Makes the report on this rank and the others of its site. A failure ends all processes.
///
/// # Errors
/// What keeps the job from beginning.
pub fn report(site: &Storage, audience: &Arc<dyn Audience>) -> Result<(), Error> {
    run::<fn() -> Result<Opened, Error>>(site, None, audience)
}

/// Makes the report of metadata, which the first rank opens, on all ranks. A failure ends all processes.
///
/// # Errors
/// What keeps the job from beginning.
pub fn expand(
    site: &Storage,
    open: impl FnOnce() -> Result<Opened, Error> + Send,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    run(site, Some(open), audience)
}

fn run<F: FnOnce() -> Result<Opened, Error> + Send>(
    site: &Storage,
    open: Option<F>,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    let world = World::init().map_err(failure)?;
    agree(&world, &Role::Report(site.ranks), "", &|text| audience.complain(text))?;
    let (rank, host) = (world.rank(), world.host().to_owned());
    let (world, mut bridge) = Bridge::new(world, site.ranks, REPORTS)?;
    // Without a search it is the first rank that ends the job.
    let ends_it = open.is_some() && rank == 0;
    let ended = made(&world, &mut bridge, (site, open.filter(|_| rank == 0)), audience);
    let closed = match ended {
        Ok(()) => bridge.close(),
        Err(error) if ends_it => Err(error),
        Err(error) => {
            let start = Instant::now();
            // The search hears of it, and ends this process, too.
            let waited = bridge.until(&|| start.elapsed() > GRACE);
            waited.and(Err(error))
        }
    };
    let Err(error) = closed else { return Ok(()) };
    if !error.message.is_empty() {
        let place =
            if ends_it { String::new() } else { format!(" ({})", name_rank(rank, Some(&host))) };
        audience.complain(&format!("{}{place}", error.message));
    }
    world.abort(i32::from(error.exit_code))
}

/// Runs who is on this rank to their ends.
fn made(
    world: &World,
    bridge: &mut Bridge,
    (site, open): (&Storage, Option<impl FnOnce() -> Result<Opened, Error> + Send>),
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    let number = world.rank() as u32;
    let place = name_rank(bridge.manager + world.rank(), Some(world.host()));
    let (out, sent) = channel();
    bridge.sent = Some(sent);
    let outbox = || -> Outbox {
        let out = out.clone();
        // It is listened to as long as somebody is here.
        Box::new(move |parcel| drop(out.send(parcel)))
    };
    let mut post = |own| {
        let (to, inbox) = channel();
        bridge.here.push((own, to));
        Post::new(own, inbox, outbox())
    };
    let manager = (number == 0).then(|| post(Address::Manager));
    let reader = open.map(|open| (open, Near::new(post(Address::Search))));
    let maker = post(Address::Maker(number)).at(place);
    thread::scope(|scope| {
        let manager = manager
            .map(|post| scope.spawn(move || manage(&post, site.size(), &site.out, &**audience)));
        let maker = scope.spawn(move || serve(maker, site));
        let reader = reader.map(|(open, near)| scope.spawn(move || read(open()?, near)));
        let others = [&manager, &reader];
        let is_over = || {
            let mut others = others.iter().filter_map(|thread| thread.as_ref());
            maker.is_finished() && others.all(ScopedJoinHandle::is_finished)
        };
        // Nobody waits for messages that cannot come.
        let polled = bridge.until(&is_over).inspect_err(|_| bridge.here.clear());
        let join = |thread: ScopedJoinHandle<'_, Result<(), Error>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let made = join(maker);
        let [managed, read] = [manager, reader].map(|thread| thread.map_or(Ok(()), join));
        // Who tells why before who has heard of it.
        let all = [read, managed, made, polled];
        let told = |ended: &&Result<(), Error>| {
            ended.as_ref().is_err_and(|error| !error.message.is_empty())
        };
        let first = all.iter().find(told).or(all.iter().find(|ended| ended.is_err()));
        first.cloned().unwrap_or(Ok(()))
    })
}
