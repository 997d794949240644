//! A search by many ranks.

use std::ffi::OsStr;

use fleetblast_fleet::config::{Config, Schedule, Strategy};

use super::load;
use crate::error::CliError;
use crate::options::typed::FleetOptions;

/// What the user wants of the ranks.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// Ranks in this process; `None` for a search without ranks.
    pub ranks: Option<u32>,
    /// Groups of ranks.
    pub groups: Option<u32>,
    /// Copies of the database in each.
    pub replicas: Option<u32>,
    /// Scheduling and output.
    pub config: Config,
}

/// What the options say.
pub fn plan(options: &FleetOptions) -> Result<Fleet, CliError> {
    let default = Config::default();
    let size = |name: &str, text: Option<&OsStr>, default: u64| {
        text.map_or(Ok(default), |text| load::bytes(name, text))
    };
    let config = Config {
        strategy: match options.output.to_str() {
            Some("individual") => Strategy::Individual,
            Some("collective") => Strategy::Collective,
            _ => Strategy::Merge,
        },
        schedule: match options.schedule.to_str() {
            Some("length") => Schedule::Length,
            Some("weight") => Schedule::Weight,
            _ => Schedule::Dynamic,
        },
        segment_residues: options
            .segment_size
            .map_or(default.segment_residues, |residues| residues.unsigned_abs()),
        write_buffer: size("write_buffer", options.write_buffer.as_deref(), default.write_buffer)?,
        result_memory: size(
            "result_memory",
            options.result_memory.as_deref(),
            default.result_memory,
        )?,
        ..default
    };
    config.validate().map_err(CliError::query_options)?;
    let FleetOptions { ranks, groups, replicas, .. } = *options;
    Ok(Fleet { ranks, groups, replicas, config })
}
