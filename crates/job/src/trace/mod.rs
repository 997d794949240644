//! Timelines of a job on ranks, which show the activities of each rank (`-trace`).
//!
//! A timeline is a file in the trace event format of Chrome (JSON object format), which
//! <https://ui.perfetto.dev> and `fleetblast report` open. Times are in microseconds since 1970, by
//! the clock of each rank's host. Every rank has a track (a "thread" of the one "process") for each
//! of its [`Lane`]s. A slice (`ph` X) is an activity. Its category (`cat`) is the [`Kind`] of the
//! activity, its arguments are numbers such as block, partition, residues, bytes. Counters (`ph` C)
//! record waiting tasks, memory and messages. `otherData` is the [`Description`] of the search.
//!
//! While a rank works, it appends its events to a file of its own next to the trace. At the end the
//! parts are [joined](join). So recording needs only a buffer per rank, however long the search
//! takes.

mod join;
mod read;
mod record;

use std::fmt;
use std::io;
use std::path::Path;

use fleetblast_fleet::config::{Schedule, Strategy};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::Error;

pub use self::join::join;
pub use self::read::{Slice, Timeline};
pub use self::record::{LoadingCosts, RankTotals, Recorder, Span};

/// The kind of an activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Opening the database.
    Load,
    /// Reading queries.
    Read,
    /// Preparing queries: masks and statistics.
    Prepare,
    /// Preliminary search of a task: a block in a partition.
    Search,
    /// Alignments with traceback.
    Align,
    /// Making the rows of description tables.
    Describe,
    /// Formatting.
    Format,
    /// Merging hits, selecting among them, and laying out the output, by the master.
    Merge,
    /// Gathering bytes for another rank that writes them.
    Send,
    /// Writing to the output or to the checkpoint.
    Write,
    /// Search threads waiting for a task.
    Wait,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 11] = [
        Kind::Load,
        Kind::Read,
        Kind::Prepare,
        Kind::Search,
        Kind::Align,
        Kind::Describe,
        Kind::Format,
        Kind::Merge,
        Kind::Send,
        Kind::Write,
        Kind::Wait,
    ];

    /// Returns the word for the kind in files and figures.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Load => "load",
            Kind::Read => "read",
            Kind::Prepare => "prepare",
            Kind::Search => "search",
            Kind::Align => "align",
            Kind::Describe => "describe",
            Kind::Format => "format",
            Kind::Merge => "merge",
            Kind::Send => "send",
            Kind::Write => "write",
            Kind::Wait => "wait",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A part of a rank that works concurrently with the rank's other parts. Each lane is a track of
/// the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// The search threads.
    Search,
    /// Threads that write and send concurrently with the search.
    Output,
    /// The group's master.
    Master,
    /// The supermaster.
    Supermaster,
}

impl Lane {
    const ALL: [Lane; 4] = [Lane::Search, Lane::Output, Lane::Master, Lane::Supermaster];

    /// Returns the word for the lane in the names of tracks.
    pub fn name(self) -> &'static str {
        match self {
            Lane::Search => "search",
            Lane::Output => "output",
            Lane::Master => "master",
            Lane::Supermaster => "supermaster",
        }
    }
}

/// A lane of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Track {
    /// The number of the rank.
    pub rank: u32,
    /// The lane of the rank.
    pub lane: Lane,
}

impl Track {
    /// Returns the number of the track in a file.
    fn tid(self) -> u64 {
        u64::from(self.rank) * Lane::ALL.len() as u64 + self.lane as u64
    }

    fn from_tid(tid: u64) -> Self {
        let lanes = Lane::ALL.len() as u64;
        Track { rank: (tid / lanes) as u32, lane: Lane::ALL[(tid % lanes) as usize] }
    }
}

impl fmt::Display for Track {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} {}", self.rank, self.lane.name())
    }
}

/// An event in the encoding of a trace file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Event {
    /// Phase: X for a slice, C for a counter, M for a name.
    ph: String,
    pid: u64,
    /// Number of the track.
    tid: u64,
    /// Microseconds since 1970.
    ts: u64,
    /// Duration in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dur: Option<u64>,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cat: Option<Kind>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    args: Map<String, Value>,
}

/// Creates the error for a trace that cannot be written.
pub fn failure(trace: &Path, error: &io::Error) -> Error {
    Error::output(format_args!("{error} (-trace {})", trace.display()))
}

/// Name of a master's counter: tasks that no worker has yet.
pub const WAITING_TASKS: &str = "waiting tasks";
/// Name of a worker's counter: bytes of output that it holds.
pub const RESULT_MEMORY: &str = "result memory";
/// Name of the supermaster's counter: bytes of finished output that wait for an earlier block.
pub const WAITING_OUTPUT_BYTES: &str = "waiting output";
/// Name of a rank's counter: messages sent to other ranks.
pub const MESSAGES: &str = "messages";
/// Name of a rank's counter: approximate bytes of the messages sent.
pub const MESSAGE_BYTES: &str = "message bytes";

/// Number of the one process of a trace.
const PROCESS: u64 = 1;

/// Description of the search: data that the slices of a trace do not contain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Program and version that wrote the file.
    pub made_by: String,
    /// Number of ranks.
    pub ranks: u32,
    /// Number of search threads of each rank.
    pub threads: u32,
    /// Number of cores that the process may use on the host of the first rank.
    pub cores: u32,
    /// Whether all ranks are in one process.
    pub one_process: bool,
    /// Number of hosts; each has the same number of consecutive ranks.
    pub hosts: u32,
    /// Number of groups of ranks.
    pub groups: u32,
    /// Number of copies of the database in a group.
    pub replicas: u32,
    /// Residues of each partition.
    pub partition_residues: Vec<u64>,
    /// Method by which the output gets into the file.
    pub output: Strategy,
    /// Method by which blocks of queries get to the groups.
    pub schedule: Schedule,
    /// Name of the database, as typed.
    pub database: String,
    /// Number of queries.
    pub queries: u64,
    /// Residues of the queries.
    pub query_residues: u64,
    /// Wall time of the whole program, in seconds.
    pub wall_seconds: f64,
}

/// The contents of a trace file.
#[derive(Debug, Deserialize)]
struct File {
    #[serde(rename = "otherData")]
    other_data: Description,
    #[serde(rename = "traceEvents")]
    trace_events: Vec<Event>,
}
