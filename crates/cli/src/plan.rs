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
use std::path::PathBuf;

use fleetblast_db::restrict::Restriction;
use fleetblast_engine::kernel::Kernel;
use fleetblast_job::error::Error;
use fleetblast_job::output;
use fleetblast_job::plan::{Destination, Plan, Source, Subjects};

pub(crate) use self::load::{size, wish};
use crate::options::blastp::{BlastpOptions, SPEC};
use crate::options::number;
use crate::options::search::program::ProgramSpec;
use crate::options::search::{files, fleet as ranks, resources};

/// Variables that change what BLAST+ reports and that FleetBLAST does not know.
pub const REFUSED_VARIABLES: [&str; 5] =
    ["ADAPTIVE_CBS", "BL2SEQ_LEGACY", "CHUNK_SIZE", "CTOOLKIT_COMPATIBLE", "OVERLAP_CHUNK_SIZE"];

/// Names the vector instructions to use: `avx512`, `avx2`, or `portable`.
pub const KERNEL: &str = "FLEETBLAST_KERNEL";

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
    out: Destination,
}

impl Named {
    fn new(options: &BlastpOptions) -> Result<Self, Error> {
        let choice = format::Choice::parse(&options.formatting.outfmt)?;
        let subjects = input::subjects(&options.database)?;
        let restriction = restrict::restriction(&options.database)?;
        let query = input::source(files::QUERY.name(), &options.files.query)?;
        let out = input::destination(files::OUT.name(), &options.files.out)?;
        // Better now than after the search.
        for (option, file) in
            [(&resources::TIMING, &options.resources.timing), (&ranks::TRACE, &options.fleet.trace)]
        {
            if let Some(file) = file {
                let file = input::destination(option.name(), file)?;
                input::refuse_same_file(&out, option.name(), &file)?;
            }
        }
        if options.fleet.trace.as_ref().is_some_and(|trace| trace == "-") {
            return Err(Error::query_options("-trace needs a file, not standard output"));
        }
        Ok(Named { choice, subjects, restriction, query, out })
    }
}

/// Plans a run of `blastp`. Warnings, complete lines for standard error, are added even if there is no plan in the end.
///
/// # Errors
/// The first thing wrong, in the order in which BLAST+ checks (`CBlastAppArgs::SetOptions`, blast_args.cpp): output
/// format, subjects, query and output files, filter, ranges, use of the format, composition, and then the values
/// that go together. Before all this, options and variables FleetBLAST does not support are refused by name.
pub fn blastp(
    options: &BlastpOptions,
    host: &Host<'_>,
    warnings: &mut Vec<String>,
) -> Result<Plan, Error> {
    refuse_unsupported(options, &SPEC, host)?;
    let named = Named::new(options)?;
    let out = named.out.clone();
    let plan = with_files(named, options, host, warnings);
    // From here on BLAST+ has the report open.
    plan.inspect_err(|_| output::leave_empty(&out))
}

fn with_files(
    Named { choice, subjects, restriction, query, out }: Named,
    options: &BlastpOptions,
    host: &Host<'_>,
    warnings: &mut Vec<String>,
) -> Result<Plan, Error> {
    let seg = search::seg(&options.filtering.seg)?;
    let query_range = input::range(options.queries.query_loc.as_deref(), "query")?;
    let (report, hitlist_size) = format::report(choice, &SPEC, &options.formatting, warnings)?;
    let has_db = options.database.db.is_some();
    let (threads, split) = threads::share(&options.threads, has_db, &SPEC, host.cores, warnings);
    let old_finite_size = (host.variable)("OLD_FSC").is_some();
    let search = search::params(options, &SPEC, seg, hitlist_size, old_finite_size)?;
    if subjects == Subjects::Database(String::new()) {
        return Err(Error::database("Database name is required."));
    }
    Ok(Plan {
        program: SPEC.name,
        banner: SPEC.banner(),
        params: search.params,
        matrix_name: search.matrix_name,
        subjects,
        restriction,
        database_mask: restrict::mask(&options.database),
        dbsize: options.database.dbsize.filter(|&size| size != 0),
        query,
        query_range,
        parse_deflines: options.queries.parse_deflines,
        batch_size: batch_size(&SPEC, host)?,
        identity_resets_composition: search.identity_resets_composition,
        report,
        out,
        threads,
        threads_wished: options.threads.num_threads.is_some(),
        split,
        partitions: options.resources.partitions,
        fleet: fleet::plan(options, old_finite_size)?,
        load: load::wish(options.resources.loader, options.resources.memory.as_deref())?,
        kernel: kernel(host)?,
        timing: options.resources.timing.clone().map(PathBuf::from),
    })
}

fn refuse_unsupported(
    options: &BlastpOptions,
    program: &ProgramSpec,
    host: &Host<'_>,
) -> Result<(), Error> {
    if let Some(name) = options.unsupported {
        return Err(Error::unsupported(program.name, format_args!("-{name}")));
    }
    match REFUSED_VARIABLES.iter().find(|name| (host.variable)(name).is_some()) {
        Some(name) => {
            Err(Error::unsupported(program.name, format_args!("the environment variable {name}")))
        }
        None => Ok(()),
    }
}

/// The best vector instructions there are, unless [`KERNEL`] tells otherwise: to measure and to test the others.
fn kernel(host: &Host<'_>) -> Result<Kernel, Error> {
    let Some(name) = (host.variable)(KERNEL) else { return Ok(Kernel::detect()) };
    Kernel::named(&name.to_string_lossy()).ok_or_else(|| {
        let name = name.to_string_lossy();
        Error::query_options(format_args!(
            "environment variable {KERNEL}: this processor has no '{name}'; it may be avx512, avx2, or portable"
        ))
    })
}

fn batch_size(program: &ProgramSpec, host: &Host<'_>) -> Result<usize, Error> {
    use std::os::unix::ffi::OsStrExt;
    let Some(text) = (host.variable)("BATCH_SIZE") else { return Ok(program.batch_size) };
    match number::parse_int4(text.as_bytes())? {
        0 => Err(Error::engine("Empty CBlastQueryVector")),
        // BLAST+ takes a negative number for a very large one.
        size => Ok(usize::try_from(size).unwrap_or(usize::MAX)),
    }
}
