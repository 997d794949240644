//! What is typed for any search.

use fleetblast_job::error::Error;

use super::database::DatabaseOptions;
use super::files::FileOptions;
use super::fleet::FleetOptions;
use super::formatting::FormattingOptions;
use super::generic::SearchOptions;
use super::hsps::HspFilteringOptions;
use super::query::QueryOptions;
use super::resources::ResourceOptions;
use super::single::{UNGAPPED, WINDOW_SIZE};
use super::threads::ThreadOptions;
use crate::options::values::Values;

/// What was typed. Options left out are `None`, or hold the default when BLAST+ always applies one.
#[derive(Clone, Debug, PartialEq)]
pub struct CommonOptions {
    /// What is searched.
    pub database: DatabaseOptions,
    /// Queries and report.
    pub files: FileOptions,
    /// The search.
    pub search: SearchOptions,
    /// Which hits make others superfluous.
    pub hsps: HspFilteringOptions,
    /// `-window_size`.
    pub window_size: Option<i32>,
    /// How queries are read.
    pub queries: QueryOptions,
    /// What the report looks like.
    pub formatting: FormattingOptions,
    /// Threads.
    pub threads: ThreadOptions,
    /// `-ungapped`, of programs that have it.
    pub ungapped: bool,
    /// The machine.
    pub resources: ResourceOptions,
    /// A search by many ranks.
    pub fleet: FleetOptions,
    /// The error for the first option or value given, in the order of the usage text, that
    /// FleetBLAST always refuses.
    pub unsupported: Option<Error>,
}

impl CommonOptions {
    /// Reads the options.
    pub fn read(values: &Values<'_>) -> Self {
        Self {
            database: DatabaseOptions::read(values),
            files: FileOptions::read(values),
            search: SearchOptions::read(values),
            hsps: HspFilteringOptions::read(values),
            window_size: values.optional(&WINDOW_SIZE),
            queries: QueryOptions::read(values),
            formatting: FormattingOptions::read(values),
            threads: ThreadOptions::read(values),
            ungapped: values.has(&UNGAPPED) && values.get(&UNGAPPED),
            resources: ResourceOptions::read(values),
            fleet: FleetOptions::read(values),
            unsupported: values.unsupported(),
        }
    }
}
