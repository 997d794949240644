//! The plan of a job on ranks.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

use fleetblast_fleet::config::Config;
use fleetblast_fleet::plan::UserSettings;
pub use fleetblast_spool::Codec;

/// The user's settings for ranks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fleet {
    /// Number of ranks in this process; `None` for a search without ranks.
    pub ranks: Option<u32>,
    /// Whether to print only the layout of the job, without a search.
    pub dry_run: bool,
    /// Settings of the layout that the user chose, such as groups and replicas; `None` values are
    /// defaults.
    pub user_settings: UserSettings,
    /// Settings of the scheduling and the output.
    pub config: Config,
    /// Directory that keeps finished blocks, if any.
    pub checkpoint: Option<Checkpoint>,
    /// Compression of the records of a report directory.
    pub codec: Codec,
    /// File for the trace of all ranks.
    pub trace: Option<PathBuf>,
    /// Names, with dashes, and values of all options on which the report depends, except for
    /// queries and lists.
    pub report_options: BTreeMap<String, String>,
    /// Names, with dashes, and values of other options that must be equal on all ranks.
    pub equal_options: BTreeMap<String, String>,
    /// Name, with its dash, of the option with a list of sequences to search.
    pub sequence_list_option: Option<String>,
}

/// A directory that keeps finished blocks, from which a job can be resumed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Path of the directory.
    pub directory: PathBuf,
    /// Whether the directory may contain a job to resume.
    pub resume: bool,
}
