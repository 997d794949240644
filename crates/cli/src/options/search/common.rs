//! Options of all searches.

use std::ffi::OsString;

use fleetblast_job::error::Error;
use fleetblast_stats::release::Release;

use super::database::DatabaseOptions;
use super::files::FileOptions;
use super::fleet::FleetOptions;
use super::formatting::FormattingOptions;
use super::generic::SearchOptions;
use super::hsps::HspFilteringOptions;
use super::query::QueryOptions;
use super::resources::ResourceOptions;
use super::single::{UNGAPPED, WINDOW_SIZE};
use super::strategy::EXPORT_SEARCH_STRATEGY;
use super::threads::ThreadOptions;
use crate::options::values::Values;

/// Values of the options of all searches. Options left out are `None`, or hold the default if
/// BLAST+ always applies one.
#[derive(Clone, Debug, PartialEq)]
pub struct CommonOptions {
    /// The release whose rules the search follows.
    pub release: &'static Release,
    /// Options for the database or the file of subjects.
    pub database: DatabaseOptions,
    /// Files of the queries and of the report.
    pub files: FileOptions,
    /// Options for the parameters of the search.
    pub search: SearchOptions,
    /// Options for HSP filters.
    pub hsps: HspFilteringOptions,
    /// `-window_size`.
    pub window_size: Option<i32>,
    /// Options for reading queries.
    pub queries: QueryOptions,
    /// Options for the format of the report.
    pub formatting: FormattingOptions,
    /// Number of threads, and how they share the search.
    pub threads: ThreadOptions,
    /// `-ungapped`; true for tblastx, false for other programs without it.
    pub ungapped: bool,
    /// Options for resources of the machine.
    pub resources: ResourceOptions,
    /// `-export_search_strategy`.
    pub export_search_strategy: Option<OsString>,
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
            release: values.release(),
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
            export_search_strategy: values.optional(&EXPORT_SEARCH_STRATEGY),
            fleet: FleetOptions::read(values),
            unsupported: values.unsupported(),
        }
    }
}
