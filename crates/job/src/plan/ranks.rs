//! A search by many ranks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fleetblast_fleet::config::Config;
use fleetblast_fleet::plan::Wishes;
pub use fleetblast_spool::Codec;

/// What the user wants of the ranks.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// Ranks in this process; `None` for a search without ranks.
    pub ranks: Option<u32>,
    /// Only tell how the search would be laid out.
    pub dry_run: bool,
    /// Groups of ranks, and copies of the database in each.
    pub wishes: Wishes,
    /// Scheduling and output.
    pub config: Config,
    /// What is finished is kept.
    pub checkpoint: Option<Checkpoint>,
    /// How records are compressed that stay as the report.
    pub codec: Codec,
    /// File for what every rank did when.
    pub trace: Option<PathBuf>,
    /// Names, with their dashes, and values of all options on which the report depends, but for the queries and lists.
    pub decisive: BTreeMap<String, String>,
    /// The same of options that all ranks must have alike besides.
    pub common: BTreeMap<String, String>,
    /// Name, with its dash, of the option that names a list of what is searched.
    pub list: Option<String>,
}

/// Where to keep what is finished.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The directory.
    pub directory: PathBuf,
    /// A job that it keeps may go on.
    pub resume: bool,
}
