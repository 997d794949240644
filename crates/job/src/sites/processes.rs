//! Both sites in one job whose ranks are processes: messages between the sites, and among the I/O
//! ranks, travel by MPI.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::{self, ScopedJoinHandle};

use fleetblast_mpi::{World, name_rank};

use super::Storage;
use super::maker::serve;
use super::manager::manage;
use super::reader::read;
use crate::audience::Audience;
use crate::crossing::mailbox::{Address, GONE, Mailbox, Outbox};
use crate::crossing::{Bridge, SearchEndpoint};
use crate::error::{Error, exit};
use crate::metadata::OpenedMetadata;
use crate::processes::{Role, agree, end_job, failure};

/// Makes the report on this rank and the others of its site. A failure ends all processes.
///
/// # Errors
/// What keeps the job from beginning.
pub fn report(site: &Storage, audience: &Arc<dyn Audience>) -> Result<(), Error> {
    run::<fn() -> Result<OpenedMetadata, Error>>(site, None, audience)
}

/// Makes the report of metadata, which the first rank opens, on all ranks. A failure ends all
/// processes.
///
/// # Errors
/// What keeps the job from beginning.
pub fn expand(
    site: &Storage,
    open: impl FnOnce() -> Result<OpenedMetadata, Error> + Send,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    run(site, Some(open), audience)
}

fn run<F: FnOnce() -> Result<OpenedMetadata, Error> + Send>(
    site: &Storage,
    open: Option<F>,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    let world = World::init().map_err(failure)?;
    agree(&world, &Role::Report(site.ranks), "", &|text| audience.complain(text))?;
    let (rank, host) = (world.rank(), world.host().to_owned());
    let (world, mut bridge) = Bridge::of_report(world, site.ranks, audience)?;
    // Without a search it is the first rank that ends the job.
    let ends_it = open.is_some() && rank == 0;
    let ended = made(&world, &mut bridge, (site, open.filter(|_| rank == 0)), audience);
    let closed = match ended {
        Ok(()) => bridge.close(),
        Err(error) if ends_it => Err(error),
        // The search receives the error, and ends this process, too.
        Err(error) => bridge.await_end().and(Err(error.with_place(&name_rank(rank, Some(&host))))),
    };
    let Err(error) = closed else { return Ok(()) };
    end_job(&world, &**audience, &error)
}

/// Runs the manager, the maker and the reader that are on this rank to their ends.
fn made(
    world: &World,
    bridge: &mut Bridge,
    (site, open): (&Storage, Option<impl FnOnce() -> Result<OpenedMetadata, Error> + Send>),
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    let number = world.rank() as u32;
    let place = name_rank(bridge.manager() + world.rank(), Some(world.host()));
    let (out, sent) = channel();
    bridge.set_outgoing(sent);
    let outbox = || -> Outbox {
        let out = out.clone();
        // Parcels are sent as long as a thread is here.
        Box::new(move |parcel| drop(out.send(parcel)))
    };
    let mut post = |own| {
        let (to, inbox) = channel();
        bridge.register(own, to);
        Mailbox::new(own, inbox, outbox())
    };
    let manager = (number == 0).then(|| post(Address::Manager));
    let reader = open.map(|open| (open, SearchEndpoint::new(post(Address::Search))));
    let maker = post(Address::Maker(number)).with_place(place);
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
        let polled = bridge.await_threads(&is_over);
        let join = |thread: ScopedJoinHandle<'_, Result<(), Error>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let made = join(maker);
        let [managed, read] = [manager, reader].map(|thread| thread.map_or(Ok(()), join));
        // The thread that failed has the message; the others ended because of it.
        let all = [read, managed, made, polled];
        // A thread whose partner has ended knows no cause.
        let has_cause = |ended: &&Result<(), Error>| {
            ended.as_ref().is_err_and(|error| !error.is_silent() && error.message != GONE)
        };
        // If nobody reads the report any more, the manager ends in silence.
        let is_unread = |ended: &&Result<(), Error>| {
            ended.as_ref().is_err_and(|error| error.exit_code == exit::CLOSED_PIPE)
        };
        let first = all.iter().find(has_cause).or_else(|| all.iter().find(is_unread));
        let first = first.or_else(|| all.iter().find(|ended| ended.is_err()));
        first.cloned().unwrap_or(Ok(()))
    })
}
