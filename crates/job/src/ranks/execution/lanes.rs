//! The threads of a rank that execute the work of its roles, and record it in the trace.
//!
//! A thread ends when the driver drops the sender of its channel. If the receiver of its events is
//! gone, the rank is ending.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::Scope;

use fleetblast_db::{DbError, check_lost_pages, check_mapped_files};
use fleetblast_fleet::ids::{BlockId, PassId, Ticket};
use fleetblast_fleet::payload::Payload;
use fleetblast_fleet::work::{
    Extent, MasterOutcome, MasterWork, SupermasterOutcome, SupermasterWork, WorkerOutcome,
    WorkerWork,
};

use super::shared::{OutputOutcome, WorkerShared};
use super::{MasterExecutor, SupermasterExecutor, WorkerExecutor};
use crate::error::Error;
use crate::ranks::transport::{AssembledBytes, RankEvent};
use crate::ranks::wire::Bytes;
use crate::trace::{Kind, Lane, Recorder, Span};

/// A message to the thread of a master.
pub enum MasterRequest {
    /// Execute work.
    Work(Ticket, MasterWork<Bytes>),
    /// Drop the data of a block.
    Forget(BlockId),
}

/// A message to the compute thread of a worker.
pub enum WorkerRequest {
    /// Execute work.
    Work(Ticket, WorkerWork<Bytes>),
    /// Drop the data of a pass.
    Forget(BlockId, PassId),
}

/// Starts the thread of the supermaster. Returns the channel that sends work to it.
pub fn spawn_supermaster<'s, 'a: 's>(
    scope: &'s Scope<'s, '_>,
    mut executor: Box<dyn SupermasterExecutor + 'a>,
    recorder: Recorder,
    done: Sender<RankEvent>,
) -> Sender<(Ticket, SupermasterWork<Bytes>)> {
    let (sender, receiver) = channel();
    scope.spawn(move || {
        for (ticket, work) in receiver {
            let mut span = supermaster_span(&recorder, &work);
            let outcome = executor.run(work);
            if let Ok(SupermasterOutcome::Read(Some(queries))) = &outcome {
                span.arg("queries", queries.weight.sequences);
                span.arg("residues", queries.weight.residues);
                span.arg("bytes", queries.payload.bytes());
            }
            drop(span);
            let _ = done.send(RankEvent::Supermaster(ticket, outcome));
        }
    });
    sender
}

/// Starts the thread of a master. Returns the channel that sends requests to it.
pub fn spawn_master<'s, 'a: 's>(
    scope: &'s Scope<'s, '_>,
    mut executor: Box<dyn MasterExecutor + 'a>,
    recorder: Recorder,
    done: Sender<RankEvent>,
) -> Sender<MasterRequest> {
    let (sender, receiver) = channel();
    scope.spawn(move || {
        for task in receiver {
            match task {
                MasterRequest::Work(ticket, work) => {
                    let mut span = master_span(&recorder, &work);
                    let outcome = check_database(executor.run(work), check_master_outcome);
                    if let Ok(MasterOutcome::Layout(extents)) = &outcome {
                        span.arg(
                            "bytes",
                            extents.iter().map(|extent: &Extent| extent.length).sum(),
                        );
                    }
                    drop(span);
                    let _ = done.send(RankEvent::Master(ticket, outcome));
                }
                MasterRequest::Forget(block) => executor.forget(block),
            }
        }
    });
    sender
}

/// Starts the compute thread of a worker, whose work uses the threads of `pool`. Returns the
/// channel that sends requests to it.
pub fn spawn_compute<'s, 'a: 's>(
    scope: &'s Scope<'s, '_>,
    mut executor: Box<dyn WorkerExecutor + 'a>,
    pool: rayon::ThreadPool,
    recorder: Recorder,
    done: Sender<RankEvent>,
) -> Sender<WorkerRequest> {
    let (sender, receiver) = channel();
    scope.spawn(move || {
        for task in receiver {
            match task {
                WorkerRequest::Work(ticket, work) => {
                    let mut span = worker_span(&recorder, Lane::Search, &work);
                    let outcome = pool.install(|| executor.run(work, &mut span));
                    // The worker itself checks the volumes that it reads, so only lost pages are
                    // checked here.
                    let outcome = check_database(outcome, |_| check_lost_pages());
                    add_result_arguments(&mut span, &outcome);
                    drop(span);
                    let _ = done.send(RankEvent::Worker(ticket, outcome));
                }
                WorkerRequest::Forget(block, pass) => executor.forget((block, pass)),
            }
        }
        recorder.set_loaded(executor.loading_costs());
    });
    sender
}

/// Starts the output thread of a worker, which writes and sends output while the worker searches.
/// Returns the channel that sends work to it. If there is a `writer`, the thread sends assembled
/// output there instead of writing it.
pub fn spawn_output<'s>(
    scope: &'s Scope<'s, '_>,
    shared: Arc<WorkerShared>,
    writer: Option<Sender<AssembledBytes>>,
    recorder: Recorder,
    done: Sender<RankEvent>,
) -> Sender<(Ticket, WorkerWork<Bytes>)> {
    let (sender, receiver) = channel();
    scope.spawn(move || {
        for (ticket, work) in receiver {
            let mut span = worker_span(&recorder, Lane::Output, &work);
            let outcome = match (shared.execute(work), &writer) {
                (Ok(OutputOutcome::Assembled { output_slices, freed }), Some(writer)) => {
                    let _ = writer.send(AssembledBytes { ticket, output_slices, freed, span });
                    continue;
                }
                (Ok(OutputOutcome::Assembled { output_slices, freed }), None) => {
                    let written = shared.output().write(&output_slices);
                    written.map(|()| WorkerOutcome::Written { freed })
                }
                (Ok(OutputOutcome::Done(outcome)), _) => Ok(outcome),
                (Err(error), _) => Err(error),
            };
            add_result_arguments(&mut span, &outcome);
            drop(span);
            let _ = done.send(RankEvent::Worker(ticket, outcome));
        }
    });
    sender
}

/// Turns the outcome of work into an error if database files were lost or have changed. A changed
/// file may have caused any error, so the change replaces that error. Other ranks may not notice
/// the change.
fn check_database<O>(
    outcome: Result<O, Error>,
    check: impl FnOnce(&O) -> Result<(), DbError>,
) -> Result<O, Error> {
    let checked = |outcome: O| check(&outcome).map(|()| outcome).map_err(Error::from);
    outcome.and_then(checked).map_err(Error::or_changed_files)
}

/// Checks the database after work of a master. Checks all mapped files if the outcome becomes
/// durable or a part of the output. Otherwise checks only for lost pages, because such work is more
/// frequent.
fn check_master_outcome(outcome: &MasterOutcome<Bytes>) -> Result<(), DbError> {
    match outcome {
        MasterOutcome::Verify { .. }
        | MasterOutcome::NextPass { .. }
        | MasterOutcome::Layout(_)
        | MasterOutcome::Gathered(_) => check_mapped_files(),
        MasterOutcome::Prepared { .. } | MasterOutcome::Absorbed { .. } | MasterOutcome::Ask(_) => {
            check_lost_pages()
        }
    }
}

fn supermaster_span(recorder: &Recorder, work: &SupermasterWork<Bytes>) -> Span {
    match work {
        SupermasterWork::Read { block, .. } => {
            let mut span = recorder.begin(Lane::Supermaster, Kind::Read);
            span.arg("block", block.0.into());
            span
        }
        SupermasterWork::Verify { block, .. } => {
            let mut span = recorder.begin(Lane::Supermaster, Kind::Merge);
            span.arg("block", block.0.into());
            span
        }
        SupermasterWork::Write(ends) => {
            let mut span = recorder.begin(Lane::Supermaster, Kind::Write);
            span.arg("bytes", ends.iter().map(|(_, bytes)| bytes.bytes()).sum());
            span.arg("stretches", ends.len() as u64);
            span
        }
        SupermasterWork::Open | SupermasterWork::Close { .. } => {
            recorder.begin(Lane::Supermaster, Kind::Write)
        }
    }
}

fn master_span(recorder: &Recorder, work: &MasterWork<Bytes>) -> Span {
    let kind = match work {
        MasterWork::Prepare { .. } => Kind::Prepare,
        MasterWork::Gather { .. } => Kind::Send,
        MasterWork::MergeHits { .. }
        | MasterWork::DecideNextStep { .. }
        | MasterWork::Verified { .. } => Kind::Merge,
    };
    let mut span = recorder.begin(Lane::Master, kind);
    match work {
        MasterWork::Prepare { block, .. } | MasterWork::Verified { block, .. } => {
            span.arg("block", block.0.into());
        }
        MasterWork::MergeHits { block, partition, hits, .. } => {
            span.arg("block", block.0.into());
            span.arg("partition", partition.0.into());
            span.arg("bytes", hits.bytes());
        }
        MasterWork::DecideNextStep { block, round, .. } => {
            span.arg("block", block.0.into());
            span.arg("round", (*round).into());
        }
        MasterWork::Gather { .. } => {}
    }
    span
}

/// Starts the span of a worker's work, with the arguments that are known at the start.
fn worker_span(recorder: &Recorder, lane: Lane, work: &WorkerWork<Bytes>) -> Span {
    let kind = match work {
        WorkerWork::Search { .. } => Kind::Search,
        // The work sets a more exact kind itself.
        WorkerWork::Answer { .. } => Kind::Align,
        WorkerWork::Gather { .. } | WorkerWork::HandOver(_) => Kind::Send,
        WorkerWork::Collective { .. } | WorkerWork::Write(_) | WorkerWork::Persist { .. } => {
            Kind::Write
        }
    };
    let mut span = recorder.begin(lane, kind);
    match work {
        WorkerWork::Search { block, partition, .. } => {
            span.arg("block", block.0.into());
            span.arg("partition", partition.0.into());
        }
        WorkerWork::Answer { block, parts, .. } => {
            span.arg("block", block.0.into());
            span.arg("partitions", parts.len() as u64);
        }
        WorkerWork::Gather { block, .. } => span.arg("block", block.0.into()),
        WorkerWork::HandOver(window) => span.arg("block", window.block.0.into()),
        WorkerWork::Write(window) | WorkerWork::Persist { window, .. } => {
            span.arg("block", window.block.0.into());
            span.arg("bytes", window.length());
            span.arg("stretches", window.runs.len() as u64);
        }
        WorkerWork::Collective { runs, .. } => {
            span.arg("bytes", runs.iter().map(fleetblast_fleet::work::OutputRun::length).sum());
            span.arg("stretches", runs.len() as u64);
        }
    }
    span
}

/// Adds arguments about the results of a worker's work.
fn add_result_arguments(span: &mut Span, outcome: &Result<WorkerOutcome<Bytes>, Error>) {
    match outcome {
        Ok(WorkerOutcome::Searched(hits)) => span.arg("bytes", hits.bytes()),
        Ok(WorkerOutcome::Gathered { bytes, .. }) => span.arg("bytes", bytes.bytes()),
        Ok(WorkerOutcome::Answered { .. } | WorkerOutcome::Written { .. }) | Err(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::mpsc::Receiver;
    use std::thread;

    use fleetblast_fleet::ids::{PartitionId, WorkerId};
    use fleetblast_fleet::work::{OutputRun, PieceLocation, Slice, Window};

    use super::*;
    use crate::ranks::execution::piece_store::PieceStore;
    use crate::ranks::output::SharedOutput;

    /// Creates a worker that holds one piece. Also returns the work of writing the middle of the
    /// piece at offset 3.
    fn worker(path: &Path) -> (Arc<WorkerShared>, WorkerWork<Bytes>) {
        let (block, pass, partition) = (BlockId(0), PassId(0), PartitionId(0));
        let mut store = PieceStore::new(path.parent().unwrap_or(path));
        store.insert((block, pass, partition, 0), b"<bytes>".to_vec(), 100).unwrap();
        let holder = PieceLocation::Worker(WorkerId(0), pass, partition);
        let slices = vec![Slice { location: holder, piece: 0, start: 1, length: 5 }];
        let runs = vec![OutputRun { block, offset: 3, slices }];
        let work = WorkerWork::Write(Window { block, runs, parts: Vec::new() });
        (Arc::new(WorkerShared::new(store, None, SharedOutput::new(path))), work)
    }

    /// Runs the output thread of a worker with one unit of work. Returns the events of the thread.
    fn run_output_work(
        shared: Arc<WorkerShared>,
        work: WorkerWork<Bytes>,
        writer: Option<Sender<AssembledBytes>>,
    ) -> Receiver<RankEvent> {
        let (done, events) = channel();
        thread::scope(|scope| {
            let output = spawn_output(scope, shared, writer, Recorder::default(), done);
            output.send((Ticket(7), work)).unwrap();
        });
        events
    }

    #[test]
    fn a_worker_writes_unless_it_has_a_writer() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("report");
        std::fs::write(&path, "...").unwrap();

        let (writer, assembled) = channel();
        let (shared, work) = worker(&path);
        assert!(
            run_output_work(shared, work, Some(writer)).try_recv().is_err(),
            "nothing is written yet"
        );
        let AssembledBytes { ticket, output_slices, freed, .. } = assembled.recv().unwrap();
        assert_eq!((ticket, freed, output_slices.len()), (Ticket(7), 5, 1));
        assert_eq!((output_slices[0].offset, &output_slices[0].bytes[..]), (3, &b"bytes"[..]));
        assert_eq!(std::fs::read(&path).unwrap(), b"...");

        let (shared, work) = worker(&path);
        let event = run_output_work(shared, work, None).recv().unwrap();
        let freed = match event {
            RankEvent::Worker(Ticket(7), Ok(WorkerOutcome::Written { freed })) => freed,
            _ => panic!("it did not write"),
        };
        assert_eq!(freed, 5);
        assert_eq!(std::fs::read(&path).unwrap(), b"...bytes");
    }
}
