//! Plans of jobs, as plain data. Callers, such as the command line, make the plans.

mod defaults;
mod iteration;
mod metadata;
mod ranks;
mod report;
#[cfg(test)]
mod tests;
mod wrapped;

use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::{Path, PathBuf};

use fleetblast_db::SequenceKind;
use fleetblast_db::load::LoaderRequest;
use fleetblast_db::restrict::Restriction;
use fleetblast_engine::kernel::Kernel;
use fleetblast_engine::params::{DatabaseTotals, Params};
use fleetblast_engine::search::Search;
use fleetblast_report::model::Notation;
use fleetblast_stats::program::ReportedProgram;

pub use fleetblast_report::papers::Citations;

pub use crate::batching::BatchSize;
use crate::error::Error;
use crate::threads::Threads;

pub use self::defaults::BLASTP_BATCH;
pub use self::iteration::{InitialPssm, IterationPlan};
pub use self::metadata::{Link, Metadata, MetadataDestination};
pub use self::ranks::{Checkpoint, Codec, Fleet};
pub use self::report::{Format, Report, StrategyPlan};
pub use self::wrapped::{OutputJoin, PLACEHOLDERS, WrappedJobPlan};

/// Source of an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file. The caller has opened it once, to check that it can be read.
    File(PathBuf),
    /// The contents themselves, which come from a search strategy.
    Text(Vec<u8>),
}

/// Destination of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Destination {
    /// Standard output.
    Stdout,
    /// A file. The caller has opened it once, to check that it can be written, without changing or
    /// creating it.
    File(PathBuf),
    /// A file for each query, and an index. The caller has opened the index as it opens a file.
    Files(ReportFiles),
    /// A directory for a report of records. It is new, empty, or resumed.
    Records(PathBuf),
}

/// A report of several files: one for each query, and an index that names them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportFiles {
    /// Path of the index.
    pub index: PathBuf,
    /// Notation of all files.
    pub notation: Notation,
}

/// The subjects of the search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Subjects {
    /// One or more BLAST databases: names separated by blanks, as typed.
    Database(String),
    /// A FASTA file.
    Fasta {
        /// The file, or standard input.
        source: Source,
        /// Name of the file as typed, for `User specified sequence set (Input: NAME).`
        name: String,
        /// The searched range of each sequence, 0-based; `None` for whole sequences. BLAST+ refuses
        /// sequences that end before the range starts.
        range: Option<Range<usize>>,
    },
}

/// The use of masks that are stored with a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseMask {
    /// The algorithm that made the masks.
    pub algorithm: MaskAlgorithm,
    /// Whether the masks are hard: nothing aligns to masked residues. Otherwise seeds do not touch
    /// them.
    pub has_hard_masks: bool,
}

/// Number or name of a masking algorithm of a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MaskAlgorithm {
    /// Number of the algorithm.
    Number(i32),
    /// Name of the algorithm.
    Name(String),
}

/// Division of the work among threads (`-mt_mode`). It never changes the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThreadDivision {
    /// Threads share the subjects, or divide the work in a way that is faster.
    Database,
    /// Threads share the queries (`-mt_mode 1`). The number of threads is the one that the user
    /// typed.
    Queries,
}

/// The plan of a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The program's name as typed, in reports and checkpoints.
    pub program: String,
    /// The program that reports name. It may differ from the program that runs.
    pub reported_program: ReportedProgram,
    /// Kind of the queries.
    pub query_kind: SequenceKind,
    /// Kind of the subjects.
    pub subject_kind: SequenceKind,
    /// Parameters of the search.
    pub params: Params,
    /// The error with which BLAST+ refuses the options, but only when it searches a searchable
    /// query. It repeats the error for each query of the batch. The report has begun by then.
    pub delayed_option_error: Option<String>,
    /// Name of the matrix as typed, or of the default matrix of the task; empty without a matrix.
    /// Reports print it.
    pub matrix_name: String,
    /// The subjects.
    pub subjects: Subjects,
    /// Restriction of the search to a part of the database.
    pub restriction: Option<Restriction>,
    /// The masks of the database that the search uses.
    pub database_mask: Option<DatabaseMask>,
    /// Database length for statistics instead of the real one (`-dbsize`), when given and not 0. It
    /// may be negative.
    pub dbsize: Option<i64>,
    /// The queries.
    pub query: Source,
    /// The searched range of each query, 0-based; `None` for whole queries.
    pub query_range: Option<Range<usize>>,
    /// Whether the identifiers in definition lines are parsed (`-parse_deflines`).
    pub parse_deflines: bool,
    /// Size of the batches of queries.
    pub batch_size: BatchSize,
    /// An error that BLAST+ reports when it begins to read queries, after it has opened the
    /// database: a wrong batch size in an environment variable, or a missing name for a report of
    /// several files. With adaptive batches it has begun the report by then.
    pub late_error: Option<Error>,
    /// Number of letters of queries that justify a thread, if threads divide the queries. BLAST+
    /// warns if there are fewer letters per thread; `None` for a release that never warns.
    pub thread_letters: Option<usize>,
    /// The papers that reports cite.
    pub citations: Citations,
    /// Whether the IDENTITY matrix rules out the composition-based statistics that the user asked
    /// for. BLAST+ warns about it for each query of the first batch.
    pub identity_resets_composition: bool,
    /// The PSSM that replaces the query, or the PSSM of the query's first iteration.
    pub initial_pssm: Option<InitialPssm>,
    /// The iterations of psiblast; `None` for other programs.
    pub iteration: Option<IterationPlan>,
    /// Format and contents of the report.
    pub report: Report,
    /// Destination of the report.
    pub out: Destination,
    /// Search strategies to write beside the report.
    pub strategy: Option<StrategyPlan>,
    /// Metadata to write instead of the report.
    pub metadata: Option<Metadata>,
    /// Threads to use.
    pub threads: Threads,
    /// Division of the work among the threads.
    pub split: ThreadDivision,
    /// Number of partitions of the database (`-partitions`).
    pub partitions: Option<usize>,
    /// Ranks, their scheduling and checkpoints.
    pub fleet: Fleet,
    /// Loading of the database into memory (`-loader`, `-memory`).
    pub load: LoaderRequest,
    /// The set of vector instructions in use.
    pub kernel: Kernel,
    /// File for the timing (`-timing`).
    pub timing: Option<PathBuf>,
}

impl Plan {
    /// Returns whether the size of a batch depends on the extensions of earlier batches.
    pub fn has_unknown_batches(&self) -> bool {
        self.batch_size.is_adaptive()
    }

    /// Returns the error that BLAST+ reports when it begins to read queries, if there is one.
    ///
    /// # Errors
    /// An invalid batch size; a report of several files without a name.
    pub fn check_late_error(&self) -> Result<(), Error> {
        self.late_error.clone().map_or(Ok(()), Err)
    }

    /// Returns whether a block depends on the results of earlier blocks, so that ranks verify
    /// blocks in order.
    pub fn has_dependent_blocks(&self) -> bool {
        self.has_unknown_batches() || self.iteration.is_some()
    }

    /// Creates the engine for a database with these totals.
    pub fn engine(&self, totals: DatabaseTotals) -> Search {
        let search = Search::new(self.params.clone(), totals, self.kernel);
        match &self.initial_pssm {
            Some(start) => search.with_pssm(start.pssm.clone(), start.lacks_ungapped),
            None => search,
        }
    }

    /// Returns the destination of the output, report or metadata. For metadata that go to a link or
    /// to ranks, it returns the destination of the report.
    pub fn output_destination(&self) -> &Destination {
        match self.metadata.as_ref().map(|metadata| &metadata.out) {
            Some(MetadataDestination::File(out)) => out,
            Some(MetadataDestination::Link(_) | MetadataDestination::Ranks(_)) | None => &self.out,
        }
    }

    /// Returns the number of I/O ranks of the same job; 0 if it has none.
    pub fn io_ranks(&self) -> u32 {
        match self.metadata.as_ref().map(|metadata| &metadata.out) {
            Some(MetadataDestination::Ranks(ranks)) => *ranks,
            _ => 0,
        }
    }

    /// Returns the directory of a report that is kept as records; `None` for other reports.
    pub fn records_directory(&self) -> Option<&Path> {
        match &self.out {
            Destination::Records(path) => Some(path),
            Destination::Stdout | Destination::File(_) | Destination::Files(_) => None,
        }
    }

    /// Returns the plan with these threads.
    #[must_use]
    pub fn with_threads(self, threads: Threads) -> Self {
        Self { threads, ..self }
    }
}
