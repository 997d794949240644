//! Another program whose blocks of queries are shared out.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use fleetblast_fleet::config::Config;

use super::{Checkpoint, Codec, Destination, Source};

/// What stands in a command for the queries, the file that the program is to write, and the database.
pub const PLACES: [&str; 3] = ["{query}", "{out}", "{db}"];

/// How the outputs of blocks become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// One after the other.
    Plain,
    /// Reports of BLAST+ for people: what stands before the first query and after the last one once.
    Report,
    /// BLAST+'s XML: one document, whose iterations and queries are counted through.
    Xml,
    /// BLAST+'s tables with comments: the count of queries once, at the end.
    Comments,
}

impl Join {
    /// Whether a block's output depends on what the blocks before it came to.
    pub fn counts(self) -> bool {
        matches!(self, Join::Xml | Join::Comments)
    }
}

/// What to do.
#[derive(Clone, Debug)]
pub struct Foreign {
    /// The program and its arguments, with [`PLACES`].
    pub command: Vec<OsString>,
    /// How its outputs become one.
    pub join: Join,
    /// The queries, in FASTA.
    pub query: Source,
    /// The database, as the program is to be told.
    pub database: OsString,
    /// Its files, which are read once on each host before the program starts.
    pub files: Vec<PathBuf>,
    /// Where the output goes.
    pub out: Destination,
    /// Ranks in this process.
    pub ranks: u32,
    /// Scheduling and output.
    pub config: Config,
    /// What is finished is kept.
    pub checkpoint: Option<Checkpoint>,
    /// How records are compressed that stay as the report.
    pub codec: Codec,
    /// Letters of a block, at least, but for the last one.
    pub block_residues: Option<u64>,
    /// Queries of a block, at most.
    pub block_queries: u64,
    /// How long the program may take for a block.
    pub time_limit: Duration,
    /// How often a block is tried.
    pub tries: u32,
}
