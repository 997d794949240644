//! What is to be done: types only. How a plan comes about is known to whoever makes it.

mod defaults;
mod foreign;
mod iteration;
mod metadata;
mod ranks;
mod report;

use std::ops::Range;
use std::path::{Path, PathBuf};

use fleetblast_db::SequenceKind;
use fleetblast_db::load::Wish;
use fleetblast_db::restrict::Restriction;
use fleetblast_engine::kernel::Kernel;
use fleetblast_engine::params::{DatabaseTotals, Params};
use fleetblast_engine::search::Search;

pub use fleetblast_report::papers;

pub use crate::batching::BatchSize;
use crate::error::Error;
use crate::threads::Threads;

pub use self::defaults::BLASTP_BATCH;
pub use self::foreign::{Foreign, Join, PLACES};
pub use self::iteration::{Iteration, Start};
pub use self::metadata::{Link, Metadata, MetadataDestination};
pub use self::ranks::{Checkpoint, Codec, Fleet};
pub use self::report::{Format, Report};

/// Where bytes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file, which could be opened for reading.
    File(PathBuf),
}

/// Where the report goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Standard output.
    Stdout,
    /// A file, which could be opened for writing; it holds what it held, and is missing if it was.
    File(PathBuf),
    /// A directory of records, which is new or empty, or keeps what is to go on.
    Records(PathBuf),
}

/// What is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subjects {
    /// One or more BLAST databases, names separated by blanks, as typed.
    Database(String),
    /// A FASTA file.
    Fasta {
        /// Where it is.
        source: Source,
        /// The file as typed, for `User specified sequence set (Input: NAME).`
        name: String,
        /// The part of each sequence to use, 0-based. BLAST+ refuses sequences that end before it starts.
        range: Option<Range<usize>>,
    },
}

/// Masks stored with a database, and how they are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseMask {
    /// Who made them.
    pub algorithm: MaskAlgorithm,
    /// Masked residues are as good as absent; otherwise only no words are looked for there.
    pub hard: bool,
}

/// What a database calls an algorithm that masks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MaskAlgorithm {
    /// Its number.
    Number(i32),
    /// Its name.
    Name(String),
}

/// What threads share out among them (`-mt_mode`). It never changes the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// The database, or whatever is best.
    Database,
    /// The queries: so many threads were asked for.
    Queries,
}

/// What to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What is typed to run the program; reports and what is kept of them name it so.
    pub program: &'static str,
    /// The program and its version, as reports begin: `BLASTP 2.12.0+`.
    pub banner: String,
    /// What the queries are.
    pub query_kind: SequenceKind,
    /// What the subjects are.
    pub subject_kind: SequenceKind,
    /// How to search.
    pub params: Params,
    /// What BLAST+ finds wrong only when it searches queries that can be searched, and tells of each; the report has begun
    /// by then.
    pub refusal: Option<String>,
    /// The matrix as typed, or the task's, where there is one; reports print it so.
    pub matrix_name: String,
    /// What is searched.
    pub subjects: Subjects,
    /// The part of the database that is searched.
    pub restriction: Option<Restriction>,
    /// Masks stored with the database, and what they do.
    pub database_mask: Option<DatabaseMask>,
    /// Database length for statistics instead of the real one (`-dbsize`), when given and not 0; may be negative.
    pub dbsize: Option<i64>,
    /// The queries.
    pub query: Source,
    /// The part of each query to search, 0-based.
    pub query_range: Option<Range<usize>>,
    /// `-parse_deflines`.
    pub parse_deflines: bool,
    /// Letters of queries searched together.
    pub batch_size: BatchSize,
    /// The size that the environment asks for is none. BLAST+ finds that when it begins to read
    /// queries, after the database is opened. With batches of adaptive size it has begun the report
    /// by then.
    pub batch_size_error: Option<Error>,
    /// Letters of queries that are worth a thread, where threads share out the queries.
    pub thread_letters: usize,
    /// The papers that reports cite.
    pub papers: &'static [papers::Paper],
    /// Composition-based statistics were asked for, but do not go with the IDENTITY matrix. BLAST+ warns of it
    /// for each query of the first batch.
    pub identity_resets_composition: bool,
    /// Queries are searched again with what was found.
    pub iteration: Option<Iteration>,
    /// The report.
    pub report: Report,
    /// Where it goes.
    pub out: Destination,
    /// Metadata are written instead, by which another site makes it.
    pub metadata: Option<Metadata>,
    /// Threads to use.
    pub threads: Threads,
    /// What threads share out among them.
    pub split: Split,
    /// Ranges of subjects searched on their own (`-partitions`).
    pub partitions: Option<usize>,
    /// Whether and how many ranks search.
    pub fleet: Fleet,
    /// How to bring the database into memory (`-loader`, `-memory`).
    pub load: Wish,
    /// Vector instructions to use.
    pub kernel: Kernel,
    /// File for the timing (`-timing`).
    pub timing: Option<PathBuf>,
}

impl Plan {
    /// The matrix that the first search is made with, and that brings the query along.
    pub fn start(&self) -> Option<&Start> {
        self.iteration.as_ref()?.start.as_ref()
    }

    /// Whether the queries of a batch depend on what those before found.
    pub fn has_unknown_batches(&self) -> bool {
        self.batch_size.is_adaptive()
    }

    /// Checks that the size of batches that the environment asks for is one.
    ///
    /// # Errors
    /// It is none.
    pub fn check_batch_size(&self) -> Result<(), Error> {
        self.batch_size_error.clone().map_or(Ok(()), Err)
    }

    /// Whether blocks of queries are judged one after the other on ranks: what is searched or reported of one depends on what those
    /// before it found.
    pub fn judges_blocks(&self) -> bool {
        self.has_unknown_batches() || self.iteration.is_some()
    }

    /// The search of a database with these totals.
    pub fn engine(&self, totals: DatabaseTotals) -> Search {
        Search::new(self.params.clone(), totals, self.kernel)
    }

    /// Where what is written goes: the report, or metadata.
    pub fn written(&self) -> &Destination {
        match self.metadata.as_ref().map(|metadata| &metadata.out) {
            Some(MetadataDestination::File(out)) => out,
            Some(MetadataDestination::Link(_) | MetadataDestination::Ranks(_)) | None => &self.out,
        }
    }

    /// I/O ranks of the same job; 0 without.
    pub fn io_ranks(&self) -> u32 {
        match self.metadata.as_ref().map(|metadata| &metadata.out) {
            Some(MetadataDestination::Ranks(ranks)) => *ranks,
            _ => 0,
        }
    }

    /// The directory of a report that is records.
    pub fn records(&self) -> Option<&Path> {
        match &self.out {
            Destination::Records(path) => Some(path),
            Destination::Stdout | Destination::File(_) => None,
        }
    }

    /// The same plan with other threads.
    #[must_use]
    pub fn with_threads(self, threads: Threads) -> Self {
        Self { threads, ..self }
    }
}
