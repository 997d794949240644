//! The trace of a job without ranks. It has the form of a trace of one rank with one partition.

use std::path::Path;
use std::time::Instant;

use crate::error::Error;
use crate::plan::{Plan, Subjects};
use crate::queries::PreparedBlock;
use crate::subjects::SubjectDatabase;
use crate::timing::Timing;
use crate::trace::{self, Description, Recorder, Span};

/// Number of the only rank.
const RANK: u32 = 0;

/// Creates the recorder of a job. It is off unless the plan asks for a trace.
///
/// # Errors
/// A trace file that cannot be created.
pub fn recorder(plan: &Plan) -> Result<Recorder, Error> {
    let Some(path) = &plan.fleet.trace else { return Ok(Recorder::default()) };
    Recorder::new(RANK, Some(path)).map_err(|error| trace::failure(path, &error))
}

/// Adds the number and the size of a block to the span in which the block is read. `block` is
/// `None` at the end of the queries.
pub fn add_block_to_span(span: &mut Span, number: u64, block: Option<&PreparedBlock>) {
    span.arg("block", number);
    if let Some(block) = block {
        span.arg("queries", block.prepared.len() as u64);
        let residues: u64 = block.prepared.iter().map(|query| u64::from(query.length)).sum();
        span.arg("residues", residues);
        // A message with the block would have about this number of bytes.
        span.arg("bytes", residues);
    }
}

/// Writes the trace, if the plan asks for one.
///
/// # Errors
/// A trace that cannot be written.
pub fn write(
    recorder: &Recorder,
    plan: &Plan,
    subjects: &SubjectDatabase,
    timing: &Timing,
    start: Instant,
) -> Result<(), Error> {
    let Some(path) = &plan.fleet.trace else { return Ok(()) };
    let finished = recorder.finish();
    let described = describe(plan, subjects, timing, start);
    let joined = finished.and_then(|_| trace::join(Path::new(path), &described));
    joined.map_err(|error| trace::failure(path, &error))
}

fn describe(
    plan: &Plan,
    subjects: &SubjectDatabase,
    timing: &Timing,
    start: Instant,
) -> Description {
    Description {
        made_by: format!("fleetblast {} {}", env!("CARGO_PKG_VERSION"), plan.program),
        ranks: 1,
        threads: plan.threads.count as u32,
        cores: plan.threads.cpus as u32,
        one_process: true,
        hosts: 1,
        groups: 1,
        replicas: 1,
        partition_residues: vec![subjects.searched.residue_count()],
        output: plan.fleet.config.strategy,
        schedule: plan.fleet.config.schedule,
        database: match &plan.subjects {
            Subjects::Database(name) | Subjects::Fasta { name, .. } => name.clone(),
        },
        queries: timing.queries,
        query_residues: timing.query_residues,
        wall_seconds: start.elapsed().as_secs_f64(),
    }
}
