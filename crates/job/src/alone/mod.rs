//! A search in this process alone: queries in, blocks through the two phases of the search, reports out in query order.
//!
//! Memory is bounded whatever the number of queries: one block of queries is held at a time, its hits, and
//! the reports of a few queries.

mod block_size;
mod iterated;
mod outlet;
mod traced;

use std::sync::Arc;
use std::time::Instant;

use fleetblast_db::load::HugePages;
use fleetblast_db::{SequenceKind, check_mapped_files};
use fleetblast_engine::query::Query;
use fleetblast_fleet::plan::BLOCK_RESIDUES;
use fleetblast_metadata::follow::ResumePoint;

use self::block_size::BlockSize;
use self::iterated::Rounds;
use self::outlet::Outlet;
pub use self::outlet::Receiver;
use crate::audience::Audience;
use crate::batching::Batching;
use crate::crossing::IoChannel;
use crate::error::Error;
use crate::halt::Halt;
use crate::metadata::{Resumed, encode_query, other_queries};
use crate::plan::{Plan, Split};
use crate::queries::count::count;
use crate::queries::{self, Block, Queries, Records};
use crate::search::{Repeats, TwoPhases, patterns};
use crate::subjects::Target;
use crate::threads::{Threads, pool};
use crate::timing::{Loading, Timing, Usage};
use crate::trace::{Kind, Lane};

/// Writes all there is of an input without queries.
///
/// # Errors
/// Outputs that cannot be written; for metadata, a database that cannot be read.
pub fn leave_empty(
    plan: &Plan,
    target: &Target,
    crossing: Option<&IoChannel>,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    pool(plan.threads.count)?
        .install(|| Outlet::empty(plan, &plan.engine(target.totals), target, (crossing, audience)))
}

/// Runs a search in this process.
///
/// # Errors
/// Whatever ends the run early; what was written until then is not the whole report.
pub fn run(plan: &Plan, receiver: Receiver<'_>, audience: &Arc<dyn Audience>) -> Result<(), Error> {
    pool(plan.threads.count)?.install(|| search(plan, receiver, audience))
}

fn search(plan: &Plan, receiver: Receiver<'_>, shared: &Arc<dyn Audience>) -> Result<(), Error> {
    let audience = &**shared;
    let start = Instant::now();
    let Threads { count: threads, source: threads_source, .. } = plan.threads;
    let mut timing = Timing { threads, threads_source, ..Timing::default() };
    let recorder = traced::recorder(plan)?;
    let loading_span = recorder.begin(Lane::Search, Kind::Load);
    let target = Target::open(plan, audience)?;
    audience.begin();
    let (first, most) = block_bounds(plan, target.searched.residues());
    let (letters, nothing_included) = (target.letters(), target.nothing_included);
    let queries = Queries::open(plan, first, letters, nothing_included, audience)?;
    let all = 0..target.searched.oid_count();
    let occurrences = patterns::occurrences(plan, &target, all)?;
    let engine = plan.engine(target.totals).with_occurrences(occurrences);
    let with_pssm = plan.iteration.as_ref().map(|it| it.engine(target.totals, plan.kernel));
    let Some(mut queries) = queries else {
        audience.warn("Query is Empty!");
        return match receiver {
            Receiver::Files(crossing) => Outlet::empty(plan, &engine, &target, (crossing, shared)),
            Receiver::Visitor(_) => Ok(()),
        };
    };
    if audience.is_watching() {
        audience.expect(count(plan).map(|queries| queries.sequences));
    }
    // What cannot be loaded is refused before anything is written.
    let repeats = Repeats::open(plan)?;
    let mut repeats = repeats.as_ref().map(Repeats::finder).transpose()?;
    let halt = Halt::default();
    let search = TwoPhases::new(&target, &engine, plan, audience, recorder.clone())?;
    let mut search = search.until(halt.clone());
    // Where each block reads the database from its files again, all are as large as may be.
    let first = if search.choice.streamed.is_some() { most } else { first };
    let mut block_size = BlockSize::new(first, most);
    queries.set_block_residues(block_size.residues());
    let mut outlet =
        Outlet::open(plan, &engine, &target, recorder.clone(), (receiver, shared, &halt))?;
    if let Some(Resumed(resume_point)) = outlet.resumed() {
        pass_over(&mut queries, resume_point, audience)?;
        outlet.verify();
    }
    let mut rounds = plan
        .iteration
        .as_ref()
        .zip(with_pssm.as_ref())
        .map(|(iteration, next)| Rounds::new(plan, iteration, &target, [&engine, next]));
    drop(loading_span);
    timing.input_seconds += start.elapsed().as_secs_f64();
    let (mut shares, mut blocks) = (Shares::default(), 0);
    loop {
        let reading = Instant::now();
        let mut span = recorder.begin(Lane::Supermaster, Kind::Read);
        let mark = |read: &mut Records| repeats.as_mut().map_or(Ok(()), |it| it.mark(read));
        let block = match queries.next_block(&engine, mark, audience) {
            Ok(block) => block,
            Err(error) => return outlet.end_early().and(Err(error)),
        };
        traced::note_block(&mut span, blocks, block.as_ref());
        drop(span);
        timing.input_seconds += reading.elapsed().as_secs_f64();
        let Some(block) = block else { break };
        shares.add(plan, &block);
        refuse(plan, &block)?;
        blocks += 1;
        match &mut rounds {
            Some(rounds) => {
                outlet.rounds(&block, rounds, &mut search, audience)?;
                timing.add_queries(&block.prepared);
            }
            None => {
                let search = (&mut search, queries.batching());
                run_block(&block, search, &mut outlet, &mut timing, audience)?;
            }
        }
        queries.found(search.extensions);
        block_size.adapt(reading.elapsed());
        queries.set_block_residues(block_size.residues());
    }
    let writing = Instant::now();
    check_mapped_files()?;
    timing.metadata = outlet.finish(audience)?;
    warn_of_few_queries(plan, shares.count, audience);
    target.odd_headers().iter().for_each(|odd| audience.warn(&odd.to_string()));
    timing.output_seconds += writing.elapsed().as_secs_f64();
    audience.finish();
    traced::write(&recorder, plan, &target, &timing, start)?;
    if let Some(path) = &plan.timing {
        timing.search_seconds = search.phases.search.as_secs_f64();
        timing.traceback_seconds = search.phases.traceback.as_secs_f64();
        timing.loading = Some(loading(&search));
        timing.subjects = target.searched.sequences();
        timing.subject_residues = target.searched.residues();
        let usage = Usage::now();
        (timing.cpu_seconds, timing.peak_memory_bytes) =
            (usage.cpu_seconds, usage.peak_memory_bytes);
        timing.close(start.elapsed(), 1);
        timing.write(path)?;
    }
    Ok(())
}

/// Residues of queries in the first block, and in a later one at most. Metadata has the same
/// blocks, and so the same bytes, however fast the machine is.
fn block_bounds(plan: &Plan, database_residues: u64) -> (u64, u64) {
    let most = plan.block_residues(BLOCK_RESIDUES, database_residues);
    match plan.fleet.wishes.block_residues {
        Some(wished) => (wished, wished),
        None if plan.metadata.is_some() => (most, most),
        None => (plan.batch_size.least().min(most), most),
    }
}

fn run_block(
    block: &Block,
    (search, mut batching): (&mut TwoPhases, Batching),
    outlet: &mut Outlet,
    timing: &mut Timing,
    audience: &dyn Audience,
) -> Result<(), Error> {
    audience.open(0, block.prepared.len() as u64);
    let hits = search.run(&block.prepared, &block.batches)?;
    // If that halted it, these are not all.
    outlet.check()?;
    let writing = Instant::now();
    batching.found(search.extensions);
    outlet.block(block, &hits, (search, batching.course()), audience)?;
    timing.output_seconds += writing.elapsed().as_secs_f64();
    timing.add_queries(&block.prepared);
    audience.close(0);
    match &block.failure {
        Some(error) => outlet.end_early().and(Err(error.clone())),
        None => Ok(()),
    }
}

/// Reads the queries of which another site holds what was found, without searching them again.
fn pass_over(
    queries: &mut Queries,
    resume_point: &ResumePoint,
    audience: &dyn Audience,
) -> Result<(), Error> {
    let mut digest = 0;
    for _ in 0..resume_point.queries {
        let record = queries.next_query(audience)?.ok_or_else(other_queries)?;
        digest = encode_query(&record).fold(digest);
    }
    if digest != resume_point.digest {
        return Err(other_queries());
    }
    match resume_point.batch_state {
        Some(state) => queries.go_on(state),
        // Ranks sent what ends amid a batch.
        None if resume_point.blocks > 0 => return Err(other_queries()),
        None => {}
    }
    if resume_point.ended && queries.next_query(audience)?.is_some() {
        return Err(other_queries());
    }
    audience.skip(resume_point.queries);
    Ok(())
}

/// How the database came into memory.
fn loading(search: &TwoPhases) -> Loading {
    let loader = search.loader();
    let read = loader.statistics();
    Loading {
        method: search.choice.method.name(),
        reason: search.choice.reason.clone(),
        streamed_through_bytes: search.choice.streamed,
        bytes_read: read.bytes,
        bytes_received: read.received,
        pages: loader.pages().map_or("page cache", HugePages::name).to_owned(),
        read_seconds: read.time.as_secs_f64(),
        wait_seconds: search.waiting().as_secs_f64(),
    }
}

/// What BLAST+ finds wrong when it searches queries that can be searched.
fn refuse(plan: &Plan, block: &Block) -> Result<(), Error> {
    match &plan.refusal {
        Some(told) if block.prepared.iter().any(Query::is_searchable) => {
            let first = block.batches.first().copied().unwrap_or_default();
            let messages = block.records[..first].iter().map(|record| &record.messages);
            Err(queries::refused(told, messages))
        }
        _ => Ok(()),
    }
}

/// The queries as BLAST+ shares them out where threads search others each.
#[derive(Default)]
struct Shares {
    count: usize,
    /// Letters that the last share still takes.
    room: usize,
}

impl Shares {
    fn add(&mut self, plan: &Plan, block: &Block) {
        for query in &block.prepared {
            if self.room == 0 {
                self.count += 1;
                self.room = plan.thread_letters;
            }
            self.room = self.room.saturating_sub(query.length as usize);
        }
    }
}

/// BLAST+'s word on threads that share out the queries but are more than the batches (`CheckMTByQueries_QuerySize`,
/// blast_app_util.cpp).
fn warn_of_few_queries(plan: &Plan, shares: usize, audience: &dyn Audience) {
    if plan.split == Split::Queries && shares < plan.threads.count {
        audience.warn(&format!(
            "This set of queries is too small to fully benefit from the -mt_mode=1 option. The total number of \
             letters should be at least {} {} per thread.",
            plan.thread_letters,
            if plan.query_kind == SequenceKind::Nucleotide { "bases" } else { "residues" }
        ));
    }
}
