//! What ranks do not do yet, and how many there may be.

use fleetblast_fleet::config::{QueryOrder, Schedule, Strategy};
use fleetblast_metadata::{Encoding, EncodingChoice};

use crate::error::{Error, exit};
use crate::plan::{Format, MetadataDestination, Plan};

/// Most ranks of a process, whose threads and memory they share.
const MOST_RANKS: u32 = 10_000;
/// Most ranks that a search is laid out for.
const MOST_RANKS_PLANNED: u32 = 1_000_000;

/// Refuses a number of ranks, those of both sites, that is too large for one process or for a plan.
///
/// # Errors
/// Such a number.
pub fn check_rank_count(ranks: u32, dry_run: bool) -> Result<(), Error> {
    let (most, place) = match dry_run {
        true => (MOST_RANKS_PLANNED, "in a plan"),
        false => (MOST_RANKS, "in one process"),
    };
    if ranks <= most {
        return Ok(());
    }
    let what = format!("-ranks {ranks} is not possible: it must be from 1 to {most} {place}");
    Err(Error::new(exit::INPUT, format!("Error: {what}")))
}

/// Refuses by name what ranks would do wrong.
///
/// # Errors
/// A plan for one process.
pub fn refuse(plan: &Plan) -> Result<(), Error> {
    let Some(what) = refused(plan) else { return Ok(()) };
    let (version, program) = (env!("CARGO_PKG_VERSION"), plan.program);
    let message = format!(
        "FleetBLAST {version} does not run {program} with {what} on ranks yet (MPI, -ranks, -plan, -checkpoint); run it in one process"
    );
    Err(Error::new(exit::INPUT, message))
}

fn refused(plan: &Plan) -> Option<String> {
    if let Some(metadata) = &plan.metadata {
        let option = match metadata.out {
            MetadataDestination::Link(_) => "-send",
            MetadataDestination::File(_) => "-metadata_out",
            MetadataDestination::Ranks(_) => "-io_ranks",
        };
        let several = plan.io_ranks() > 1;
        if plan.report.format == Format::Sam && several {
            // Who makes the end has to know the references of all lines.
            return Some(format!("{option} above 1 and -outfmt 17"));
        }
        if plan.report.format == Format::Sam
            && metadata.encodings == EncodingChoice::Only(Encoding::Report)
        {
            // What the references of all lines are is known in the end, and comes first.
            return Some(format!("{option}, -metadata report and -outfmt 17"));
        }
    }
    if plan.report.format == Format::Sam && plan.fleet.config.strategy == Strategy::Records {
        // Each block's references would stand before its lines.
        return Some("-outfmt 17 and -output records".to_owned());
    }
    if matches!(plan.params.repeat_search(), Ok(Some(_))) {
        return Some("-filtering_db".to_owned());
    }
    if !plan.has_unknown_batches() {
        return None;
    }
    if plan.params.pairs_diagonals() {
        // Two hits beside each other may lie in two queries, and need not be worth anything.
        return Some("-off_diagonal_range".to_owned());
    }
    // Groups are given segments of blocks ahead then. But a block is judged when those before it are, and what is foretold of one that
    // is far ahead is wrong: nearly all of it would wait, and be searched again.
    match plan.fleet.config.schedule {
        Schedule::Dynamic if plan.fleet.wishes.segment_residues.is_some() => {
            Some("-segment_size".to_owned())
        }
        Schedule::Dynamic => (plan.fleet.config.longest_first
            == QueryOrder::longest_first(Some(QueryOrder::Longest)))
        .then(|| "-query_order longest".to_owned()),
        Schedule::Length => Some("-schedule length".to_owned()),
        Schedule::Weight => Some("-schedule weight".to_owned()),
    }
}
