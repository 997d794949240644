//! Runs both sites in one process, with ranks that are threads.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use super::IoSitePlan;
use super::maker::serve_manager;
use super::manager::run_manager;
use crate::audience::Audience;
use crate::error::Error;
use crate::io_channel::mailbox::{Address, Mailbox, Outbox, Parcel};
use crate::io_channel::{IoChannel, IoEndpoint};
use crate::plan::Plan;
use crate::ranks::check_rank_count;
use crate::run::run_with_io_channel as search;

/// Runs the ranks of both sites, and returns when the report is complete.
///
/// # Errors
/// An error of the search or of the report; more ranks than a process can have.
pub fn run(plan: Plan, site: &IoSitePlan, audience: &Arc<dyn Audience>) -> Result<(), Error> {
    let mut plan = plan;
    let all = plan.fleet.ranks.unwrap_or(site.ranks.saturating_add(1));
    check_rank_count(all, plan.fleet.dry_run)?;
    plan.fleet.ranks = Some(all.saturating_sub(site.ranks).max(1));
    if plan.fleet.dry_run {
        // A dry run has no report.
        return search(plan, None, None, Arc::clone(audience));
    }
    let io_channel = IoChannel::new();
    let IoEndpoint { from_search, to_search } = io_channel.io_endpoint()?;
    let (manager, manager_inbox) = channel();
    let (makers, maker_inboxes): (Vec<_>, Vec<_>) = (0..site.ranks).map(|_| channel()).unzip();
    let senders = Arc::new(Senders { search: to_search, manager, makers });
    thread::scope(|scope| {
        let to_manager = senders.manager.clone();
        scope.spawn(move || from_search.iter().try_for_each(|parcel| to_manager.send(parcel)));
        for (number, inbox) in (0..).zip(maker_inboxes) {
            let mailbox = Mailbox::new(Address::Maker(number), inbox, senders.outbox());
            // A maker sends its error to the manager.
            scope.spawn(move || serve_manager(mailbox, site));
        }
        let mailbox = Mailbox::new(Address::Manager, manager_inbox, senders.outbox());
        let reported =
            scope.spawn(move || run_manager(&mailbox, site.size(), &site.out, &**audience));
        drop(senders);
        let searched = search(plan, Some(io_channel), None, Arc::clone(audience));
        let reported = reported.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match reported {
            Err(error) if !error.is_silent() => Err(error),
            _ => searched,
        }
    })
}

/// The senders to all mailboxes. They are shared: copies for each mailbox would take memory
/// proportional to the square of their number.
struct Senders {
    search: Sender<Parcel>,
    manager: Sender<Parcel>,
    makers: Vec<Sender<Parcel>>,
}

impl Senders {
    fn outbox(self: &Arc<Self>) -> Outbox {
        let senders = Arc::clone(self);
        Box::new(move |parcel| {
            let sender = match parcel.to {
                Address::Search => Some(&senders.search),
                Address::Manager => Some(&senders.manager),
                Address::Maker(number) => senders.makers.get(number as usize),
            };
            // If the receiver has ended, it needs no messages.
            let _ = sender.map(|sender| sender.send(parcel));
        })
    }
}
