//! The plan of a job that runs another program on blocks of queries.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use fleetblast_fleet::config::Config;

use super::{Checkpoint, Codec, Destination, Source};

/// Placeholders in the command for the query file, the output file and the database.
pub const PLACEHOLDERS: [&str; 3] = ["{query}", "{out}", "{db}"];

/// How the outputs of blocks are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// Concatenated.
    Plain,
    /// Text reports of BLAST+: header and footer once.
    Report,
    /// BLAST+'s XML: one document with consecutive numbers of iterations and queries.
    Xml,
    /// BLAST+'s tables with comments: the number of queries once, at the end.
    Comments,
}

impl Join {
    /// Whether a block's output depends on the outputs of the blocks before.
    pub fn counts(self) -> bool {
        matches!(self, Join::Xml | Join::Comments)
    }
}

/// The plan of the job.
#[derive(Clone, Debug)]
pub struct Foreign {
    /// The program and its arguments, with [`PLACEHOLDERS`].
    pub command: Vec<OsString>,
    /// How the outputs are joined.
    pub join: Join,
    /// The queries, in FASTA.
    pub query: Source,
    /// The database, as the program's argument.
    pub database: OsString,
    /// Files of the database, which each host reads once before the program starts.
    pub files: Vec<PathBuf>,
    /// Where the output goes.
    pub out: Destination,
    /// Ranks in this process.
    pub ranks: u32,
    /// Scheduling and output.
    pub config: Config,
    /// Where finished blocks are kept.
    pub checkpoint: Option<Checkpoint>,
    /// Compression of the records of a report directory.
    pub codec: Codec,
    /// Letters of a block, at least, except for the last one.
    pub block_residues: Option<u64>,
    /// Queries of a block, at most.
    pub block_queries: u64,
    /// Time that the program may take for a block.
    pub time_limit: Duration,
    /// Number of attempts for a block.
    pub tries: u32,
}
