//! How a search is laid out over its ranks, from what there is of queries, database, and memory.

use std::fs;
use std::io::{self, Write};

use fleetblast_db::load::{HELD_SHARE, machine};
use fleetblast_db::{Contents, Database};
use fleetblast_fleet::plan::{Plan as Layout, Request, Size};

use crate::error::{CliError, exit, output_error};
use crate::plan::{Plan, Source};
use crate::run::queries::BLOCK_RESIDUES;
use crate::run::subjects::{self, Target};

/// The ranks and what a host has for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranks {
    /// In the job.
    pub all: u32,
    /// On the fullest host.
    pub per_host: u32,
    /// Bytes of memory that a rank may use, on the host that has least; `None` if no host tells.
    pub memory: Option<u64>,
}

/// What a rank of this host may use, if there are so many of them.
pub fn memory_per_rank(ranks_on_host: u32) -> Option<u64> {
    let usable = machine::available_memory()? as f64 * HELD_SHARE;
    Some(usable as u64 / u64::from(ranks_on_host.max(1)))
}

/// Lays the search out.
///
/// # Errors
/// A database that does not fit, wishes that cannot be had; an index out of order.
pub fn lay_out(plan: &Plan, target: &Target, ranks: Ranks) -> Result<Layout, CliError> {
    let config = &plan.fleet.config;
    let mut request = Request {
        ranks: ranks.all,
        ranks_per_host: ranks.per_host,
        threads: plan.threads as u32,
        memory: ranks.memory.unwrap_or(u64::MAX),
        database: size(&target.searched).map_err(|error| subjects::failure(&error))?,
        blocks: blocks(plan),
        wishes: plan.fleet.wishes,
    };
    if let Some(wanted) = plan.load.memory {
        // What the user grants is for the database alone, and for each rank, wherever it is.
        request.memory = wanted.saturating_add(request.other_memory(config));
        request.ranks_per_host = 1;
    }
    request.plan(config).map_err(|error| CliError::new(exit::INPUT, format!("Error: {error}")))
}

fn size(database: &Database) -> Result<Size, fleetblast_db::DbError> {
    Ok(Size {
        bytes: database.partition(0..database.oid_count(), Contents::Residues)?.size(),
        residues: database.residues(),
        sequences: database.sequences(),
    })
}

/// Prints a layout.
///
/// # Errors
/// Standard output that takes nothing.
pub fn print(layout: &Layout) -> Result<(), CliError> {
    writeln!(io::stdout(), "{layout}").map_err(|error| output_error(&error))
}

/// About how many blocks there will be, guessed by the size of the file; `None` if there is none.
fn blocks(plan: &Plan) -> Option<u32> {
    let Source::File(path) = &plan.query else { return None };
    let data = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    // Most of a file are residues.
    let blocks = data.len().div_ceil(BLOCK_RESIDUES as u64).max(1);
    Some(u32::try_from(blocks).unwrap_or(u32::MAX))
}
