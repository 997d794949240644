//! The plan of a job on ranks.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

use fleetblast_fleet::config::Config;
use fleetblast_fleet::plan::UserSettings;
pub use fleetblast_spool::Codec;

/// What the user wants of the ranks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fleet {
    /// Number of ranks in this process; `None` for a search without ranks.
    pub ranks: Option<u32>,
    /// Only print the layout of the search.
    pub dry_run: bool,
    /// The wanted groups of ranks and copies of the database in each.
    pub user_settings: UserSettings,
    /// Scheduling and output.
    pub config: Config,
    /// Where finished blocks are kept.
    pub checkpoint: Option<Checkpoint>,
    /// Compression of the records of a report directory.
    pub codec: Codec,
    /// File for the trace of all ranks.
    pub trace: Option<PathBuf>,
    /// Names, with dashes, and values of all options on which the report depends, except for
    /// queries and lists.
    pub decisive: BTreeMap<String, String>,
    /// The same for other options that must be equal on all ranks.
    pub common: BTreeMap<String, String>,
    /// Name, with its dash, of the option with a list of sequences to search.
    pub list: Option<String>,
}

/// Where finished blocks are kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The directory.
    pub directory: PathBuf,
    /// Whether the job may resume the job in the directory.
    pub resume: bool,
}
