//! Limits of jobs on ranks: features that are not supported yet, and the number of ranks.

use fleetblast_fleet::config::{QueryOrder, Schedule, Strategy};

use crate::error::{Error, exit};
use crate::plan::{Format, MetadataDestination, Plan};

/// Largest number of ranks in one process. They share its threads and memory.
const MOST_RANKS: u32 = 10_000;
/// Largest number of ranks of a dry run.
const MOST_RANKS_PLANNED: u32 = 1_000_000;

/// Checks the number of ranks of both sites against the limit of a process or of a dry run.
///
/// # Errors
/// There are too many ranks.
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

/// Checks that ranks can carry out a plan.
///
/// # Errors
/// The plan is only possible in one process. The message names the option.
pub fn check_supported(plan: &Plan) -> Result<(), Error> {
    let Some(what) = find_unsupported(plan) else { return Ok(()) };
    let (version, program) = (env!("CARGO_PKG_VERSION"), &plan.program);
    let message = format!(
        "FleetBLAST {version} does not run {program} with {what} on ranks yet (MPI, -ranks, -plan, -checkpoint); run it in one process"
    );
    Err(Error::new(exit::INPUT, message))
}

fn find_unsupported(plan: &Plan) -> Option<String> {
    if let Some(metadata) = &plan.metadata {
        let option = match metadata.out {
            MetadataDestination::Link(_) => "-send",
            MetadataDestination::File(_) => "-metadata_out",
            MetadataDestination::Ranks(_) => "-io_ranks",
        };
        let several = plan.io_ranks() > 1;
        if plan.report.format == Format::Sam && several {
            // The maker of the end record would need the references of all lines.
            return Some(format!("{option} above 1 and -outfmt 17"));
        }
        if plan.report.format == Format::Sam && metadata.encodings.sends_report() {
            // The references come first in the report, but are known only at its end.
            return Some(format!("{option}, -metadata report and -outfmt 17"));
        }
    }
    if plan.report.format == Format::Sam && plan.fleet.config.strategy == Strategy::Records {
        // The records of each block would have the references of that block before its lines.
        return Some("-outfmt 17 and -output records".to_owned());
    }
    if plan.strategy.is_some() {
        return Some("-export_search_strategy".to_owned());
    }
    if matches!(plan.params.repeat_search(), Ok(Some(_))) {
        return Some("-filtering_db".to_owned());
    }
    if !plan.has_unknown_batches() {
        return None;
    }
    if plan.report.format == Format::Archive {
        // An archive holds a whole batch, but a block can end within one.
        return Some("-outfmt 11".to_owned());
    }
    if plan.params.pairs_diagonals() {
        // The two paired hits may be in two queries of a batch, so their score depends on the
        // prediction.
        return Some("-off_diagonal_range".to_owned());
    }
    // These options give groups segments of blocks in advance. But blocks are verified in their
    // order, and predictions far ahead are wrong. Nearly all of these blocks would wait, and be
    // searched again.
    match plan.fleet.config.schedule {
        Schedule::Dynamic if plan.fleet.user_settings.segment_residues.is_some() => {
            Some("-segment_size".to_owned())
        }
        Schedule::Dynamic => (plan.fleet.config.longest_first
            == QueryOrder::longest_first(Some(QueryOrder::Longest)))
        .then(|| "-query_order longest".to_owned()),
        Schedule::Length => Some("-schedule length".to_owned()),
        Schedule::Weight => Some("-schedule weight".to_owned()),
    }
}
