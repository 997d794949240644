//! Options of all searches.

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

/// Values of the options of all searches. Options left out are `None`, or hold the default if
/// BLAST+ always applies one.
#[derive(Clone, Debug, PartialEq)]
pub struct CommonOptions {
    /// Database or subjects.
    pub database: DatabaseOptions,
    /// Files of the queries and the report.
    pub files: FileOptions,
    /// Parameters of the search.
    pub search: SearchOptions,
    /// HSP filters.
    pub hsps: HspFilteringOptions,
    /// `-window_size`.
    pub window_size: Option<i32>,
    /// How to read queries.
    pub queries: QueryOptions,
    /// Format of the report.
    pub formatting: FormattingOptions,
    /// Threads.
    pub threads: ThreadOptions,
    /// `-ungapped`; true for tblastx, false for other programs without it.
    pub ungapped: bool,
    /// Resources of the machine.
    pub resources: ResourceOptions,
    /// Options for a search by many ranks.
    pub fleet: FleetOptions,
    /// The error for the first option or value, in the order of the usage text, that FleetBLAST
    /// always refuses.
    pub unsupported: Option<Error>,
}

impl CommonOptions {
    /// Reads the values of the options.
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
