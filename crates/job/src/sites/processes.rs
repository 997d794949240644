//! Runs both sites in one job whose ranks are processes. MPI carries the messages between the sites
//! and among the I/O ranks.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::{self, ScopedJoinHandle};

use fleetblast_mpi::{World, name_rank};

use super::IoSitePlan;
use super::maker::serve_manager;
use super::manager::run_manager;
use super::reader::send_records;
use crate::audience::Audience;
use crate::error::{Error, ErrorKind, exit};
use crate::io_channel::mailbox::{Address, Mailbox, Outbox};
use crate::io_channel::{SearchEndpoint, SiteConnection};
use crate::metadata::OpenedMetadata;
use crate::processes::{Role, end_job, exchange_roles, mpi_failure};

/// Makes the report of the search in the same job, on the I/O ranks. A failure ends all processes.
///
/// # Errors
/// An error before the job begins.
pub fn run_io_ranks(site: &IoSitePlan, audience: &Arc<dyn Audience>) -> Result<(), Error> {
    run::<fn() -> Result<OpenedMetadata, Error>>(site, None, audience)
}

/// Makes the report of metadata on all ranks. The first rank opens the metadata with `open`. A
/// failure ends all processes.
///
/// # Errors
/// An error before the job begins.
pub fn expand(
    site: &IoSitePlan,
    open: impl FnOnce() -> Result<OpenedMetadata, Error> + Send,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    run(site, Some(open), audience)
}

fn run<F: FnOnce() -> Result<OpenedMetadata, Error> + Send>(
    site: &IoSitePlan,
    open: Option<F>,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    let world = World::init().map_err(mpi_failure)?;
    exchange_roles(&world, &Role::Report(site.ranks), "", &|text| audience.print_message(text))?;
    let (rank, host) = (world.rank(), world.host().to_owned());
    let (world, mut connection) = SiteConnection::for_io_ranks(world, site.ranks, audience)?;
    // Without a search, the first rank ends the job.
    let ends_job = open.is_some() && rank == 0;
    let ended = run_roles(&world, &mut connection, (site, open.filter(|_| rank == 0)), audience);
    let closed = match ended {
        Ok(()) => connection.close(),
        Err(error) if ends_job => Err(error),
        // The search receives the error and ends all processes, including this one.
        Err(error) => {
            connection.await_end().and(Err(error.with_place(&name_rank(rank, Some(&host)))))
        }
    };
    let Err(error) = closed else { return Ok(()) };
    end_job(&world, &**audience, &error)
}

/// Runs the maker of this rank, and on the first I/O rank also the manager and the reader, until
/// they end.
fn run_roles(
    world: &World,
    connection: &mut SiteConnection,
    (site, open): (&IoSitePlan, Option<impl FnOnce() -> Result<OpenedMetadata, Error> + Send>),
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    let number = world.rank() as u32;
    let place = name_rank(connection.manager() + world.rank(), Some(world.host()));
    let (out, outgoing) = channel();
    connection.set_outgoing(outgoing);
    let outbox = || -> Outbox {
        let out = out.clone();
        // The connection sends parcels until all threads of this rank have ended, so the receiver
        // exists.
        Box::new(move |parcel| drop(out.send(parcel)))
    };
    let mut open_mailbox = |own| {
        let (to, inbox) = channel();
        connection.register(own, to);
        Mailbox::new(own, inbox, outbox())
    };
    let manager = (number == 0).then(|| open_mailbox(Address::Manager));
    let reader = open.map(|open| (open, SearchEndpoint::new(open_mailbox(Address::Search))));
    let maker = open_mailbox(Address::Maker(number)).with_place(place);
    thread::scope(|scope| {
        let manager = manager.map(|mailbox| {
            scope.spawn(move || run_manager(&mailbox, site.size(), &site.out, &**audience))
        });
        let maker = scope.spawn(move || serve_manager(maker, site));
        let reader =
            reader.map(|(open, endpoint)| scope.spawn(move || send_records(open()?, endpoint)));
        let others = [&manager, &reader];
        let are_finished = || {
            let mut others = others.iter().filter_map(|thread| thread.as_ref());
            maker.is_finished() && others.all(ScopedJoinHandle::is_finished)
        };
        let polled = connection.await_threads(&are_finished);
        let join = |thread: ScopedJoinHandle<'_, Result<(), Error>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let maker_result = join(maker);
        let [managed, read] = [manager, reader].map(|thread| thread.map_or(Ok(()), join));
        // The thread that failed has the message. The other threads ended because of it.
        let all = [read, managed, maker_result, polled];
        // A thread that ended because its partner ended has no cause to report.
        let has_cause = |ended: &&Result<(), Error>| {
            let without = [ErrorKind::PartnerEnded, ErrorKind::ReportedElsewhere];
            ended.as_ref().is_err_and(|error| !without.contains(&error.kind))
        };
        // If the reader of the report has closed its pipe, the manager ends without a message.
        let is_unread = |ended: &&Result<(), Error>| {
            ended.as_ref().is_err_and(|error| error.exit_code == exit::CLOSED_PIPE)
        };
        let first = all.iter().find(has_cause).or_else(|| all.iter().find(is_unread));
        let first = first.or_else(|| all.iter().find(|ended| ended.is_err()));
        first.cloned().unwrap_or(Ok(()))
    })
}
