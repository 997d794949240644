//! The plan of a job that runs another program on blocks of queries.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use fleetblast_fleet::config::Config;

use super::{Checkpoint, Codec, Destination, Source};

/// Placeholders in the command for the query file, the output file and the database.
pub const PLACEHOLDERS: [&str; 3] = ["{query}", "{out}", "{db}"];

/// Rule by which the outputs of blocks are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputJoin {
    /// The outputs are concatenated.
    Plain,
    /// The outputs are text reports of BLAST+. Header and footer appear once.
    Report,
    /// The outputs are XML of BLAST+. They become one document with consecutive numbers of
    /// iterations and queries.
    Xml,
    /// The outputs are tables of BLAST+ with comments. The number of queries appears once, at the
    /// end.
    Comments,
}

impl OutputJoin {
    /// Returns whether a block's part of the joined output depends on numbers in the outputs of
    /// earlier blocks.
    pub fn depends_on_earlier_counts(self) -> bool {
        matches!(self, OutputJoin::Xml | OutputJoin::Comments)
    }
}

/// The plan of a job that runs another program on blocks of queries.
#[derive(Clone, Debug)]
pub struct WrappedJobPlan {
    /// The program and its arguments, with [`PLACEHOLDERS`].
    pub command: Vec<OsString>,
    /// Rule by which the outputs of blocks are joined.
    pub join: OutputJoin,
    /// The queries, in FASTA.
    pub query: Source,
    /// The database, in the form of the program's argument.
    pub database: OsString,
    /// Files of the database, which each host reads once before the program starts.
    pub files: Vec<PathBuf>,
    /// Destination of the output.
    pub out: Destination,
    /// Number of ranks in this process.
    pub ranks: u32,
    /// Settings of the scheduling and the output.
    pub config: Config,
    /// Directory that keeps finished blocks, if any.
    pub checkpoint: Option<Checkpoint>,
    /// Compression of the records of a report directory.
    pub codec: Codec,
    /// Minimum number of letters of every block but the last; `None` for the default.
    pub block_residues: Option<u64>,
    /// Maximum number of queries of a block.
    pub block_queries: u64,
    /// Maximum time that the program may take for a block.
    pub time_limit: Duration,
    /// Maximum number of attempts for a block.
    pub tries: u32,
}
