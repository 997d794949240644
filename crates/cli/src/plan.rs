//! From what was typed to what to do: derived defaults, checks in the order of BLAST+, warnings.
//!
//! # Environment
//! `BATCH_SIZE` (residues of queries searched together) and `OLD_FSC` are honoured as in BLAST+; [`REFUSED_VARIABLES`]
//! change the results of BLAST+ in ways FleetBLAST does not follow, so a search is refused while one is set.
//! [`KERNEL`] is FleetBLAST's own. `BLAST_MT_QUERY_BATCH_SIZE`, which only cuts work for `-mt_mode 1`, is ignored, and so is `BLASTMAT`: the matrices of
//! `-matrix` are built in, in BLAST+ as here.

mod fleet;
mod format;
pub(crate) mod input;
mod load;
mod restrict;
mod search;
mod threads;

use std::ffi::OsString;
use std::ops::Range;
use std::path::PathBuf;

use fleetblast_db::load::Wish;
use fleetblast_db::restrict::Restriction;
use fleetblast_engine::kernel::Kernel;
use fleetblast_engine::params::{DatabaseTotals, Params};
use fleetblast_engine::search::Search;

pub use self::fleet::{Checkpoint, Fleet};
pub use self::format::{Format, Report};
pub(crate) use self::load::{size, wish};
pub use self::restrict::DatabaseMask;
pub use self::threads::Split;
use crate::error::CliError;
use crate::options::number;
use crate::options::typed::BlastpOptions;
use crate::run::output;
use crate::terminal::When;

/// Variables that change what BLAST+ reports and that FleetBLAST does not know.
pub const REFUSED_VARIABLES: [&str; 5] =
    ["ADAPTIVE_CBS", "BL2SEQ_LEGACY", "CHUNK_SIZE", "CTOOLKIT_COMPATIBLE", "OVERLAP_CHUNK_SIZE"];

/// Names the vector instructions to use: `avx512`, `avx2`, or `portable`.
pub const KERNEL: &str = "FLEETBLAST_KERNEL";

/// Residues of queries that BLAST+ searches together (`GetQueryBatchSize`, blast_input_aux.cpp).
const BATCH_SIZE: usize = 10_000;

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
pub enum Target {
    /// Standard output.
    Stdout,
    /// A file, which could be opened for writing; it holds what it held, and is missing if it was.
    File(PathBuf),
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

/// What to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How to search.
    pub params: Params,
    /// The matrix as typed, or the task's; reports print it so.
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
    /// Residues of queries searched together, as cut by BLAST+.
    pub batch_size: usize,
    /// Composition-based statistics were asked for, but do not go with the IDENTITY matrix. BLAST+ warns of it
    /// for each query of the first batch.
    pub identity_resets_composition: bool,
    /// The report.
    pub report: Report,
    /// Where it goes.
    pub out: Target,
    /// Threads to use, at least 1.
    pub threads: usize,
    /// Whether that is the user's wish.
    pub threads_wished: bool,
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
    /// Whether to show progress.
    pub progress: When,
}

/// What a plan depends on besides the options.
pub struct Host<'a> {
    /// Processors this process may use.
    pub cores: usize,
    /// Looks up an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
}

impl Host<'static> {
    /// This process.
    pub fn current() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { cores, variable: &|name| std::env::var_os(name) }
    }
}

/// What the options name, and the format that BLAST+ looks at before.
struct Named {
    choice: format::Choice,
    subjects: Subjects,
    restriction: Option<Restriction>,
    query: Source,
    out: Target,
}

impl Named {
    fn new(options: &BlastpOptions) -> Result<Self, CliError> {
        let choice = format::Choice::parse(&options.outfmt)?;
        let subjects = input::subjects(options)?;
        let restriction = restrict::restriction(options)?;
        let query = input::source("query", &options.query)?;
        let out = input::target("out", &options.out)?;
        // Better now than after the search.
        for (name, file) in [("timing", &options.timing), ("trace", &options.fleet.trace)] {
            if let Some(file) = file {
                let file = input::target(name, file)?;
                input::refuse_same_file(&out, name, &file)?;
            }
        }
        if options.fleet.trace.as_ref().is_some_and(|trace| trace == "-") {
            return Err(CliError::query_options("-trace needs a file, not standard output"));
        }
        Ok(Named { choice, subjects, restriction, query, out })
    }
}

impl Plan {
    /// Makes a plan. Warnings, complete lines for standard error, are added even if there is no plan in the end.
    ///
    /// # Errors
    /// The first thing wrong, in the order in which BLAST+ checks (`CBlastAppArgs::SetOptions`, blast_args.cpp): output
    /// format, subjects, query and output files, filter, ranges, use of the format, composition, and then the values
    /// that go together. Before all this, options and variables FleetBLAST does not support are refused by name.
    pub fn new(
        options: &BlastpOptions,
        host: &Host<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<Self, CliError> {
        refuse_unsupported(options, host)?;
        let named = Named::new(options)?;
        let out = named.out.clone();
        let plan = Self::with_files(named, options, host, warnings);
        // From here on BLAST+ has the report open.
        plan.inspect_err(|_| output::leave_empty(&out))
    }

    fn with_files(
        Named { choice, subjects, restriction, query, out }: Named,
        options: &BlastpOptions,
        host: &Host<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<Self, CliError> {
        let seg = search::seg(&options.seg)?;
        let query_range = input::range(options.query_loc.as_deref(), "query")?;
        let (report, hitlist_size) = format::report(choice, options, warnings)?;
        let (threads, split) = threads::share(options, host.cores, warnings);
        let old_finite_size = (host.variable)("OLD_FSC").is_some();
        let search = search::params(options, seg, hitlist_size, old_finite_size)?;
        if subjects == Subjects::Database(String::new()) {
            return Err(CliError::database("Database name is required."));
        }
        Ok(Self {
            params: search.params,
            matrix_name: search.matrix_name,
            subjects,
            restriction,
            database_mask: restrict::mask(options),
            dbsize: options.dbsize.filter(|&size| size != 0),
            query,
            query_range,
            parse_deflines: options.parse_deflines,
            batch_size: batch_size(host)?,
            identity_resets_composition: search.identity_resets_composition,
            report,
            out,
            threads,
            threads_wished: options.num_threads.is_some(),
            split,
            partitions: options.partitions,
            fleet: fleet::plan(options, old_finite_size)?,
            load: load::wish(&options.loader, options.memory.as_deref())?,
            kernel: kernel(host)?,
            timing: options.timing.clone().map(PathBuf::from),
            progress: When::from_word(&options.progress),
        })
    }

    /// The search of a database with these totals.
    pub fn engine(&self, totals: DatabaseTotals) -> Search {
        Search::new(self.params.clone(), totals, self.kernel)
    }

    /// So many ranks, this one among them, run on the same cores: without a wish, each takes its share of threads.
    #[must_use]
    pub fn sharing_cores(mut self, ranks: usize) -> Self {
        if !self.threads_wished {
            self.threads = (self.threads / ranks.max(1)).max(1);
        }
        self
    }
}

fn refuse_unsupported(options: &BlastpOptions, host: &Host<'_>) -> Result<(), CliError> {
    if let Some(name) = options.unsupported {
        return Err(CliError::unsupported("blastp", format_args!("-{name}")));
    }
    match REFUSED_VARIABLES.iter().find(|name| (host.variable)(name).is_some()) {
        Some(name) => {
            Err(CliError::unsupported("blastp", format_args!("the environment variable {name}")))
        }
        None => Ok(()),
    }
}

/// The best vector instructions there are, unless [`KERNEL`] tells otherwise: to measure and to test the others.
fn kernel(host: &Host<'_>) -> Result<Kernel, CliError> {
    let Some(name) = (host.variable)(KERNEL) else { return Ok(Kernel::detect()) };
    Kernel::named(&name.to_string_lossy()).ok_or_else(|| {
        let name = name.to_string_lossy();
        CliError::query_options(format_args!(
            "environment variable {KERNEL}: this processor has no '{name}'; it may be avx512, avx2, or portable"
        ))
    })
}

fn batch_size(host: &Host<'_>) -> Result<usize, CliError> {
    use std::os::unix::ffi::OsStrExt;
    let Some(text) = (host.variable)("BATCH_SIZE") else { return Ok(BATCH_SIZE) };
    match number::parse_int4(text.as_bytes()).map_err(|error| CliError::number(&error))? {
        0 => Err(CliError::engine("Empty CBlastQueryVector")),
        // BLAST+ takes a negative number for a very large one.
        size => Ok(usize::try_from(size).unwrap_or(usize::MAX)),
    }
}
