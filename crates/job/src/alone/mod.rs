//! Runs a job in this process without ranks: reads queries, searches blocks, writes the report in
//! query order.
//!
//! Memory is bounded for any number of queries: the job holds one block of queries, its hits, and
//! the reports of a few queries.

mod block_size;
mod iterated;
mod sink;
mod strategy;
mod traced;

use std::sync::Arc;
use std::time::Instant;

use fleetblast_db::check_mapped_files;
use fleetblast_db::load::PageKind;
use fleetblast_fleet::plan::BLOCK_RESIDUES;
use fleetblast_metadata::follow::ResumePoint;

use self::block_size::BlockSize;
use self::iterated::IteratedSearch;
pub use self::sink::ResultReceiver;
use self::sink::ResultSink;
use crate::audience::Audience;
use crate::batching::BatchSizer;
use crate::error::Error;
use crate::halt::Halt;
use crate::io_channel::IoChannel;
use crate::metadata::{HeldMetadata, encode_query, other_queries};
use crate::plan::Plan;
use crate::queries::count::count_queries;
use crate::queries::{PreparedBlock, QueryReader, RawBlock};
use crate::search::{Repeats, TwoPhaseSearch, patterns};
use crate::subjects::SubjectDatabase;
use crate::threads::{Threads, pool};
use crate::timing::{Loading, Timing, Usage};
use crate::trace::{Kind, Lane};

/// Writes the complete output of a job whose input has no queries.
///
/// # Errors
/// Outputs that cannot be written; for metadata, a database that cannot be read.
pub fn write_empty_output(
    plan: &Plan,
    subjects: &SubjectDatabase,
    io_channel: Option<&IoChannel>,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    pool(plan.threads.count)?.install(|| {
        ResultSink::write_empty(
            plan,
            &plan.engine(subjects.totals),
            subjects,
            (io_channel, audience),
        )
    })
}

/// Runs a job in this process without ranks, and passes its results to `receiver`.
///
/// # Errors
/// Any error that ends the run early; the output is incomplete then.
pub fn run_without_ranks(
    plan: &Plan,
    receiver: ResultReceiver<'_>,
    audience: &Arc<dyn Audience>,
) -> Result<(), Error> {
    pool(plan.threads.count)?.install(|| search(plan, receiver, audience))
}

fn search(
    plan: &Plan,
    receiver: ResultReceiver<'_>,
    shared: &Arc<dyn Audience>,
) -> Result<(), Error> {
    let audience = &**shared;
    let start = Instant::now();
    let Threads { count: threads, source: threads_source, .. } = plan.threads;
    let mut timing = Timing { threads, threads_source, ..Timing::default() };
    let recorder = traced::recorder(plan)?;
    let loading_span = recorder.begin(Lane::Search, Kind::Load);
    let subjects = SubjectDatabase::open(plan, audience)?;
    audience.begin_search();
    let (first, most) = block_bounds(plan, subjects.searched.residue_count());
    let queries = QueryReader::open(plan, first, subjects.facts(), audience)?;
    let all = 0..subjects.searched.oid_count();
    let occurrences = patterns::count_occurrences(plan, &subjects, all)?;
    let engine = plan.engine(subjects.totals).with_occurrences(occurrences);
    let with_pssm = plan.iteration.as_ref().map(|it| it.engine(subjects.totals, plan.kernel));
    let Some(mut queries) = queries else {
        audience.warn("Query is Empty!");
        return match receiver {
            ResultReceiver::Files(io_channel) => {
                ResultSink::write_empty(plan, &engine, &subjects, (io_channel, shared))
            }
            ResultReceiver::Visitor(_) => Ok(()),
        };
    };
    if audience.is_watching() {
        audience.set_query_count(count_queries(plan).map(|queries| queries.sequences));
    }
    // A database that cannot be loaded is an error before any output is written.
    let repeats = Repeats::open(plan)?;
    let mut repeats = repeats.as_ref().map(Repeats::finder).transpose()?;
    let halt = Halt::default();
    let search = TwoPhaseSearch::new(&subjects, &engine, plan, audience, recorder.clone())?;
    let mut search = search.with_halt(halt.clone());
    // If each block reads the database files again, all blocks have the largest size.
    let first = if search.choice.streaming_bytes.is_some() { most } else { first };
    let mut block_size = BlockSize::new(first, most);
    queries.set_block_residues(block_size.residues());
    let mut sink =
        ResultSink::open(plan, &engine, &subjects, recorder.clone(), (receiver, shared, &halt))?;
    if let Some(HeldMetadata(resume_point)) = sink.held_metadata() {
        skip_sent_queries(&mut queries, resume_point, audience)?;
        sink.verify();
    }
    let mut iterated =
        plan.iteration.as_ref().zip(with_pssm.as_ref()).map(|(iteration, next)| {
            IteratedSearch::new(plan, iteration, &subjects, [&engine, next])
        });
    drop(loading_span);
    timing.input_seconds += start.elapsed().as_secs_f64();
    let mut blocks = 0;
    loop {
        let reading = Instant::now();
        let mut span = recorder.begin(Lane::Supermaster, Kind::Read);
        let mask_repeats =
            |read: &mut RawBlock| repeats.as_mut().map_or(Ok(()), |it| it.mask_repeats(read));
        let block = match queries.next_block(&engine, mask_repeats, audience) {
            Ok(block) => block,
            Err(error) => return sink.finish_early().and(Err(error)),
        };
        traced::add_block_to_span(&mut span, blocks, block.as_ref());
        drop(span);
        timing.input_seconds += reading.elapsed().as_secs_f64();
        let Some(block) = block else { break };
        blocks += 1;
        match &mut iterated {
            Some(iterated) => {
                sink.write_iterated_block(&block, iterated, &mut search, audience)?;
                timing.add_queries(&block.prepared);
            }
            None => {
                let search = (&mut search, queries.batch_sizer());
                run_block(&block, search, &mut sink, &mut timing, audience)?;
            }
        }
        queries.record_extensions(search.extensions);
        block_size.adapt(reading.elapsed());
        queries.set_block_residues(block_size.residues());
    }
    let writing = Instant::now();
    check_mapped_files()?;
    timing.metadata = sink.finish(audience)?;
    queries.warn_of_few_queries(audience);
    subjects.odd_headers().iter().for_each(|odd| audience.warn(&odd.to_string()));
    timing.output_seconds += writing.elapsed().as_secs_f64();
    audience.finish();
    traced::write(&recorder, plan, &subjects, &timing, start)?;
    if let Some(path) = &plan.timing {
        timing.search_seconds = search.phase_times.search.as_secs_f64();
        timing.traceback_seconds = search.phase_times.traceback.as_secs_f64();
        timing.loading = Some(loading(&search));
        timing.subjects = subjects.searched.sequence_count();
        timing.subject_residues = subjects.searched.residue_count();
        let usage = Usage::now();
        (timing.cpu_seconds, timing.peak_memory_bytes) =
            (usage.cpu_seconds, usage.peak_memory_bytes);
        timing.close(start.elapsed(), 1);
        timing.write(path)?;
    }
    Ok(())
}

/// Returns the number of residues of queries in the first block, and the maximum for later blocks.
/// With metadata both are equal, so that the bytes of the output do not depend on the speed of the
/// machine.
fn block_bounds(plan: &Plan, database_residues: u64) -> (u64, u64) {
    let most = plan.block_residues(BLOCK_RESIDUES, database_residues);
    match plan.fleet.user_settings.block_residues {
        Some(wished) => (wished, wished),
        None if plan.metadata.is_some() => (most, most),
        None => (plan.batch_size.min_letters().min(most), most),
    }
}

fn run_block(
    block: &PreparedBlock,
    (search, mut batch_sizer): (&mut TwoPhaseSearch, BatchSizer),
    sink: &mut ResultSink,
    timing: &mut Timing,
    audience: &dyn Audience,
) -> Result<(), Error> {
    audience.open_block(0, block.prepared.len() as u64);
    let hits = search.search_block(&block.prepared, &block.batches)?;
    // If the other site has ended, it has halted the search, and the hits are incomplete.
    sink.check()?;
    let writing = Instant::now();
    batch_sizer.record_extensions(search.extensions);
    sink.write_block(block, &hits, (search, batch_sizer.state()), audience)?;
    timing.output_seconds += writing.elapsed().as_secs_f64();
    timing.add_queries(&block.prepared);
    audience.close_block(0);
    match &block.failure {
        Some(error) => sink.finish_early().and(Err(error.clone())),
        None => Ok(()),
    }
}

/// Reads the queries whose results the other site holds from an earlier run, without searching
/// them. Fails if these are not the first queries of the input.
fn skip_sent_queries(
    queries: &mut QueryReader,
    resume_point: &ResumePoint,
    audience: &dyn Audience,
) -> Result<(), Error> {
    let mut digest = 0;
    for _ in 0..resume_point.queries {
        let record = queries.next_query(audience)?.ok_or_else(other_queries)?;
        digest = encode_query(&record).extend_fingerprint(digest);
    }
    if digest != resume_point.digest {
        return Err(other_queries());
    }
    match resume_point.batch_state {
        Some(state) => queries.resume(state),
        // Metadata from ranks have no batch state, because they may end within a batch.
        None if resume_point.blocks > 0 => return Err(other_queries()),
        None => {}
    }
    if resume_point.ended && queries.next_query(audience)?.is_some() {
        return Err(other_queries());
    }
    audience.skip_queries(resume_point.queries);
    Ok(())
}

/// Describes how the database came into memory.
fn loading(search: &TwoPhaseSearch) -> Loading {
    let loader = search.loader();
    let read = loader.statistics();
    Loading {
        method: search.choice.method.name(),
        reason: search.choice.reason.clone(),
        streamed_through_bytes: search.choice.streaming_bytes,
        bytes_read: read.read_bytes,
        bytes_received: read.received_bytes,
        pages: loader.page_kind().map_or("page cache", PageKind::name).to_owned(),
        read_seconds: read.wall_time.as_secs_f64(),
        wait_seconds: search.waiting().as_secs_f64(),
    }
}
