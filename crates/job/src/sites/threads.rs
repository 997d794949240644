//! Both sites in one process: all ranks are threads.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use super::Storage;
use super::maker::serve;
use super::manager::manage;
use crate::audience::Audience;
use crate::crossing::post::{Address, Outbox, Parcel, Post};
use crate::crossing::{Crossing, Far};
use crate::error::Error;
use crate::plan::Plan;
use crate::ranks::check_rank_count;
use crate::run::run_with_crossing as search;

/// Runs the ranks of both sites.
///
/// # Errors
/// Whatever ended the search or the report; more ranks than a process can have.
pub fn run(plan: Plan, site: &Storage, audience: &Arc<dyn Audience>) -> Result<(), Error> {
    let mut plan = plan;
    let all = plan.fleet.ranks.unwrap_or(site.ranks.saturating_add(1));
    check_rank_count(all, plan.fleet.dry_run)?;
    plan.fleet.ranks = Some(all.saturating_sub(site.ranks).max(1));
    if plan.fleet.dry_run {
        // There will be no report.
        return search(plan, None, None, Arc::clone(audience));
    }
    let crossing = Crossing::new();
    let Far { sent, to } = crossing.far()?;
    let (manager, of_manager) = channel();
    let (makers, of_makers): (Vec<_>, Vec<_>) = (0..site.ranks).map(|_| channel()).unzip();
    let exits = Arc::new(Exits { search: to, manager, makers });
    thread::scope(|scope| {
        let to_manager = exits.manager.clone();
        scope.spawn(move || sent.iter().try_for_each(|parcel| to_manager.send(parcel)));
        for (number, inbox) in (0..).zip(of_makers) {
            let post = Post::new(Address::Maker(number), inbox, exits.outbox());
            // What ended it the manager hears.
            scope.spawn(move || serve(post, site));
        }
        let post = Post::new(Address::Manager, of_manager, exits.outbox());
        let reported = scope.spawn(move || manage(&post, site.size(), &site.out, &**audience));
        drop(exits);
        let searched = search(plan, Some(crossing), None, Arc::clone(audience));
        let reported = reported.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match reported {
            Err(error) if !error.message.is_empty() => Err(error),
            _ => searched,
        }
    })
}

/// Where all of them hear. They share it: a copy for each would take memory by the square of their
/// number.
struct Exits {
    search: Sender<Parcel>,
    manager: Sender<Parcel>,
    makers: Vec<Sender<Parcel>>,
}

impl Exits {
    fn outbox(self: &Arc<Self>) -> Outbox {
        let exits = Arc::clone(self);
        Box::new(move |parcel| {
            let exit = match parcel.to {
                Address::Search => Some(&exits.search),
                Address::Manager => Some(&exits.manager),
                Address::Maker(number) => exits.makers.get(number as usize),
            };
            // Who has ended need not hear of it.
            let _ = exit.map(|exit| exit.send(parcel));
        })
    }
}
