//! Makes a plan from options: derived defaults, checks in the order of BLAST+, warnings.
//!
//! # Environment
//! `BATCH_SIZE` (residues of queries in a batch) and `OLD_FSC` are honoured as in BLAST+.
//! [`REFUSED_VARIABLES`] change the results of BLAST+ in ways that FleetBLAST does not follow, so a
//! search is refused while one is set. [`KERNEL`] and
//! [`FLEETBLAST_THREADS`](crate::threads::FLEETBLAST_THREADS) are FleetBLAST's own.
//! `BLAST_MT_QUERY_BATCH_SIZE` is ignored: it only sets the number of query letters per thread for
//! `-mt_mode 1`. `BLASTMAT` is ignored too: the matrices of `-matrix` are built in, as in BLAST+.

mod archive;
mod blastn;
mod blastp;
mod blastx;
mod contents;
pub(crate) mod fleet;
pub(crate) mod format;
pub(crate) mod input;
mod metadata;
mod protein;
mod psiblast;
mod pssm;
pub(crate) mod restrict;
mod search;
mod tblastn;
mod tblastx;
mod threads;
mod windowmasker;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use fleetblast_db::restrict::Restriction;
use fleetblast_engine::kernel::Kernel;
use fleetblast_fleet::config::Strategy;
use fleetblast_job::error::Error;
use fleetblast_job::output;
use fleetblast_job::plan::{
    BatchSize, Destination, Format, IterationPlan, Plan, Report, Source, StrategyPlan, Subjects,
};
use fleetblast_metadata::EncodingChoice;
use fleetblast_report::archive_options::ArchiveRequest;
use fleetblast_report::model::Notation;
use fleetblast_stats::program::ReportedProgram;
use fleetblast_stats::release::Release;

pub(crate) use self::fleet::refuse_other_checkpoint;
pub(crate) use self::metadata::{link, metadata};
use self::search::SearchPlan;
use crate::cpus::Cpus;
use crate::exceptions::conversion_error;
use crate::options::load::loader_request;
use crate::options::number;
use crate::options::search::common::CommonOptions;
use crate::options::search::metadata::{self as metadata_options, MetadataOptions};
use crate::options::search::program::ProgramSpec;
use crate::options::search::strategy::EXPORT_SEARCH_STRATEGY;
use crate::options::search::{files, fleet as ranks, resources};
use crate::options::typed::to_text;

/// Environment variables that change the report of BLAST+ and that FleetBLAST does not support.
pub const REFUSED_VARIABLES: [&str; 5] =
    ["ADAPTIVE_CBS", "BL2SEQ_LEGACY", "CHUNK_SIZE", "CTOOLKIT_COMPATIBLE", "OVERLAP_CHUNK_SIZE"];

/// Entries in section `[NCBI]` of NCBI's configuration that limit a process of BLAST+, which then
/// crashes or ends without a report.
const REFUSED_ENTRIES: [&str; 3] = ["MemorySizeLimit", "HeapSizeLimit", "CpuTimeLimit"];

/// Environment variable for the vector instructions: `avx512`, `avx2`, or `portable`.
pub const KERNEL: &str = "FLEETBLAST_KERNEL";

/// The process and its environment, as far as a plan depends on them.
pub struct ProcessEnvironment<'a> {
    /// CPUs of the machine, and those that this process may use.
    pub cpus: Cpus,
    /// Whether a launcher started this process as one of several ranks.
    pub is_rank: bool,
    /// The command line, a blank after each word.
    pub command: Vec<u8>,
    /// Whether reports of all programs can be sorted and can have delimiters, as those from
    /// archives.
    pub sorts_all_reports: bool,
    /// The function that looks up an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
}

impl ProcessEnvironment<'static> {
    /// Describes this process.
    pub fn current() -> Self {
        Self {
            cpus: Cpus::detect(),
            is_rank: fleetblast_mpi::launched().is_some_and(|launch| launch.ranks > 1),
            command: command_line(),
            sorts_all_reports: false,
            variable: &|name| std::env::var_os(name),
        }
    }
}

/// Returns the command line for the report, as if the program had been run under its own name.
///
/// It has no leading `fleetblast` and no options for metadata. If the search writes metadata
/// instead of a report, it has no options for ranks and checkpoints either, since they do not
/// change metadata.
fn command_line() -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    let own = |word: &OsString| Path::new(word).file_name() == Some(OsStr::new("fleetblast"));
    let mut words = std::env::args_os().enumerate().filter(|(at, word)| *at > 0 || !own(word));
    let elsewhere = std::env::args_os()
        .any(|word| match_option(&word, &metadata_options::REPORT_REPLACING_OPTIONS).is_some());
    let mut line = Vec::new();
    let own = metadata_options::OPTIONS.iter().map(|option| option.name);
    let others = [ranks::RANKS.name(), ranks::CHECKPOINT.name()];
    let taken: Vec<&str> = own.chain(others.into_iter().filter(|_| elsewhere)).collect();
    while let Some((_, word)) = words.next() {
        match match_option(&word, &taken) {
            Some(true) => drop(words.next()),
            Some(false) => {}
            None if elsewhere && match_option(&word, &[ranks::RESUME.name()]).is_some() => {}
            None => line.extend([word.as_bytes(), b" "].concat()),
        }
    }
    line
}

/// Compares a word of the command line with the names of options. Returns `Some(true)` if the
/// option's value is the next word, `Some(false)` if the word contains the value, and `None` for
/// other words.
fn match_option(word: &OsStr, options: &[&str]) -> Option<bool> {
    use std::os::unix::ffi::OsStrExt;
    let name = word.as_bytes().strip_prefix(b"-").unwrap_or_default();
    let is = |option: &&str| match name.strip_prefix(option.as_bytes()) {
        Some(b"") => Some(true),
        Some([b'=', ..]) => Some(false),
        _ => None,
    };
    options.iter().find_map(is)
}

/// A search program and the options that it has in common with others.
#[derive(Clone, Copy)]
pub struct ProgramBase<'a> {
    /// Properties of the program.
    pub spec: &'static ProgramSpec,
    /// Options that all searches have.
    pub common: &'a CommonOptions,
    /// Options for a report made at another site, if the program supports that.
    pub metadata: Option<&'a MetadataOptions>,
    /// The value of `-seg`, if the program has this filter.
    pub seg: Option<&'a OsStr>,
}

/// The options of a search program, with everything about planning that differs between programs.
pub trait SearchProgram {
    /// Returns the program and the options that it has in common with others.
    fn base(&self) -> ProgramBase<'_>;

    /// Returns the properties of the program.
    fn spec(&self) -> &'static ProgramSpec {
        self.base().spec
    }

    /// Returns the options that all searches have.
    fn common(&self) -> &CommonOptions {
        self.base().common
    }

    /// Returns the option that names the file of queries, and the file.
    fn query(&self) -> (&'static str, &OsStr) {
        (files::QUERY.name(), &self.common().files.query)
    }

    /// Returns the options for a report made at another site, if the program supports that.
    fn metadata(&self) -> Option<&MetadataOptions> {
        self.base().metadata
    }

    /// Returns the files that the program writes beside the report, each with its option.
    fn output_files(&self) -> Vec<(&'static str, &OsStr)> {
        Vec::new()
    }

    /// Returns an option that these encodings of metadata do not support yet, if it is given. The
    /// name is empty if no search of the program supports the encodings.
    fn option_without_metadata(&self, _: EncodingChoice) -> Option<&'static str> {
        None
    }

    /// Returns an option or value that FleetBLAST does not support, if one is given.
    fn unsupported(&self) -> Option<String> {
        None
    }

    /// Checks the filter of queries; BLAST+ does so before most of the checks that all programs
    /// share.
    ///
    /// # Errors
    /// A malformed filter.
    fn check_filter(&self) -> Result<(), Error> {
        self.base().seg.map_or(Ok(()), |seg| protein::seg(seg).map(|_| ()))
    }

    /// Plans the search; it keeps `hitlist_size` subjects of each query.
    ///
    /// # Errors
    /// Values that are invalid or contradict each other.
    fn plan_search(
        &self,
        hitlist_size: usize,
        environment: &ProcessEnvironment<'_>,
    ) -> Result<SearchPlan, Error>;

    /// Returns an option that archives and search strategies do not support yet, if one is given.
    fn unsupported_in_archives(&self) -> Option<&'static str> {
        None
    }

    /// Returns the description of the search in archives, with `hitlist_size` subjects to keep for
    /// each query; `None` if archives do not support the search yet.
    ///
    /// # Errors
    /// A malformed filter.
    fn archive_request(&self, _hitlist_size: usize) -> Result<Option<ArchiveRequest>, Error> {
        Ok(None)
    }

    /// Returns the program's own options on which the report depends, with their values.
    fn report_options(&self) -> Vec<fleet::OptionText>;
}

/// The format of the report, and the files that the options name, after their checks. BLAST+ checks
/// the format first. If it stores the search, it checks the file for the search first, and the
/// format later, with the options of the report (`CBlastAppArgs::SetOptions`, blast_args.cpp).
struct OpenedFiles {
    choice: Result<format::FormatChoice, Error>,
    strategy: Option<Destination>,
    subjects: Subjects,
    restriction: Option<Restriction>,
    query: Result<Source, Error>,
    out: Destination,
}

impl OpenedFiles {
    fn new(program: &dyn SearchProgram, warnings: &mut Vec<String>) -> Result<Self, Error> {
        let options = program.common();
        let strategy = options.export_search_strategy.as_deref();
        let strategy = strategy.map(|file| input::destination(EXPORT_SEARCH_STRATEGY.name(), file));
        let strategy = strategy.transpose()?;
        let choice = format::FormatChoice::parse(&options.formatting.outfmt, options.release);
        let choice = if strategy.is_some() { choice } else { Ok(choice?) };
        let number = choice.as_ref().map_or(0, format::FormatChoice::number);
        let subjects = input::subjects(&options.database, options.release)?;
        let restriction = restrict::restriction(&options.database, options.release, warnings)?;
        let (option, query) = program.query();
        let is_query = option == files::QUERY.name();
        let query = input::source(option, query);
        // BLAST+ opens a PSSM or an alignment only when it reads it, after other checks
        // (`CPsiBlastArgs::ExtractAlgorithmOptions`).
        let query = if is_query { Ok(query?) } else { query };
        let elsewhere = program.metadata().is_some_and(|it| it.io_ranks.is_some());
        let out = match options.fleet.output {
            // The I/O ranks check the file of the report.
            _ if elsewhere => Destination::Stdout,
            Strategy::Records if matches!(number, 13 | 14) => {
                let what = format!("-outfmt {number} with -output records");
                return Err(Error::unsupported(program.spec().name(), what));
            }
            Strategy::Records => input::records(files::OUT.name(), &options.files.out)?,
            _ => input::report_destination(files::OUT.name(), &options.files.out, number)?,
        };
        // An unusable file ends the job before the search rather than after it.
        for (option, file) in
            [(&resources::TIMING, &options.resources.timing), (&ranks::TRACE, &options.fleet.trace)]
        {
            if let Some(file) = file {
                let file = input::destination(option.name(), file)?;
                input::refuse_same_file((files::OUT.name(), &out), (option.name(), &file))?;
            }
        }
        if options.fleet.trace.as_ref().is_some_and(|trace| trace == "-") {
            return Err(Error::query_options("-trace needs a file, not standard output"));
        }
        Ok(OpenedFiles { choice, strategy, subjects, restriction, query, out })
    }
}

/// Plans a run of a program. Warnings, complete lines for standard error, are added to `warnings`
/// even if planning fails.
///
/// # Errors
/// The first error, in the order in which BLAST+ checks (`CBlastAppArgs::SetOptions`,
/// blast_args.cpp): output format (later if the search is stored), subjects, query and output
/// files, filter, ranges, use of the format, the program's own options, and then combinations of
/// values. Options and variables that FleetBLAST does not support are refused by name before all
/// this.
pub fn plan(
    program: &dyn SearchProgram,
    environment: &ProcessEnvironment<'_>,
    warnings: &mut Vec<String>,
) -> Result<Plan, Error> {
    refuse_unsupported(program, environment)?;
    let named = OpenedFiles::new(program, warnings)?;
    let out = named.out.clone();
    let plan = with_files(named, program, environment, warnings);
    // BLAST+ has opened the report by now, so an error leaves an empty file.
    plan.inspect_err(|_| output::leave_empty(&out))
}

fn with_files(
    OpenedFiles { choice, strategy, subjects, restriction, query, out }: OpenedFiles,
    program: &dyn SearchProgram,
    environment: &ProcessEnvironment<'_>,
    warnings: &mut Vec<String>,
) -> Result<Plan, Error> {
    let (spec, options) = (program.spec(), program.common());
    program.check_filter()?;
    let query_range = input::range(options.queries.query_loc.as_deref(), "query", options.release)?;
    let (report, hitlist_size) = format::report(
        choice?,
        (spec, options.release),
        &options.formatting,
        environment,
        warnings,
    )?;
    // Metadata do not have the positives that the search counts, which formats 8, 9 and 12 show. A
    // site that makes a report of several files does not divide it yet.
    let destination = program.metadata().and_then(MetadataOptions::metadata_destination_option);
    let crosses = |format: Format| !format.is_annotation() && !format.has_files();
    if let Some(option) = destination.filter(|_| !crosses(report.format)) {
        let format = to_text(&options.formatting.outfmt);
        let what = format_args!("-outfmt {} with -{option}", format.trim());
        return Err(Error::unsupported(spec.name(), what));
    }
    let archive = match report.format {
        Format::Archive => archive_request(program, hitlist_size, "-outfmt 11")?,
        _ => ArchiveRequest::default(),
    };
    let strategy = plan_strategy(program, hitlist_size, strategy, &out)?;
    let has_db = options.database.db.is_some();
    let (threads, split) = threads::choose_threads_and_division(
        &options.threads,
        has_db,
        spec,
        environment,
        warnings,
    )?;
    let report =
        Report { archive: ArchiveRequest { warnings: warnings.clone(), ..archive }, ..report };
    let query = query?;
    let search = program.plan_search(hitlist_size, environment)?;
    let again = if search.reads_again { warnings.clone() } else { Vec::new() };
    let iteration = search.iteration.map(|it| IterationPlan { warnings: again, ..it });
    let query_from = query_range.as_ref().map_or(0, |range| range.start as u32);
    let wished = match iteration {
        // BLAST+ has psiblast search one query at a time, even with `BATCH_SIZE`.
        Some(_) => Ok(search.batch_size),
        None => batch_size(search.batch_size, environment, options.release),
    };
    let (batch_size, late_error) = match wished {
        Ok(size) => (size, missing_name(report.format, &out)),
        Err(error) => (search.batch_size, Some(error)),
    };
    if report.format.is_text() && has_long_seqids() {
        let what = "[BLAST] LONG_SEQID=1 in NCBI's configuration with -outfmt 0 to 4";
        return Err(Error::unsupported(spec.name(), what));
    }
    if report.html
        && (report.format.is_text() || report.format == Format::Organisms)
        && let Some(section) = fleetblast_db::section_for_html_links()
    {
        let what = format_args!("[{section}] in NCBI's configuration with -html");
        return Err(Error::unsupported(spec.name(), what));
    }
    if subjects == Subjects::Database(String::new()) {
        return Err(Error::database("Database name is required."));
    }
    Ok(Plan {
        program: spec.name().to_owned(),
        reported_program: search.reported_program.unwrap_or(ReportedProgram::Command(spec.program)),
        query_kind: spec.queries(),
        subject_kind: spec.subjects(),
        params: search.params.with_query_start(query_from),
        delayed_option_error: search.delayed_option_error,
        matrix_name: search.matrix_name,
        subjects,
        restriction,
        database_mask: restrict::mask(&options.database),
        dbsize: options.database.dbsize.filter(|&size| size != 0),
        query,
        query_range,
        parse_deflines: options.queries.parse_deflines,
        batch_size,
        late_error,
        thread_letters: options.release.advises_on_few_queries.then_some(match batch_size {
            BatchSize::Fixed(letters) => letters,
            BatchSize::Adaptive { .. } => search.thread_letters,
        }),
        citations: search.citations,
        identity_resets_composition: search.identity_resets_composition,
        initial_pssm: search.initial_pssm,
        iteration,
        report,
        out,
        strategy,
        metadata: None,
        threads,
        split,
        partitions: options.resources.partitions,
        fleet: fleet::plan(program, environment)?,
        load: loader_request(options.resources.loader, options.resources.memory.as_deref())?,
        kernel: kernel(environment)?,
        timing: options.resources.timing.clone().map(PathBuf::from),
    })
}

/// Returns BLAST+'s error for a report of several files that have no name (`UseXInclude`,
/// blast_app_util.cpp).
fn missing_name(format: Format, out: &Destination) -> Option<Error> {
    let Format::Output2 { notation, has_own_documents: true } = format else { return None };
    let number = if notation == Notation::Json { 13 } else { 14 };
    let what = format_args!("Please provide a file name for outfmt {number}.");
    (*out == Destination::Stdout).then(|| Error::query_options(what))
}

/// Returns the description of the search in archives and search strategies, with an empty list of
/// warnings.
fn archive_request(
    program: &dyn SearchProgram,
    hitlist_size: usize,
    purpose: &str,
) -> Result<ArchiveRequest, Error> {
    let unsupported = |what: &str| {
        let what = format_args!("{what} with {purpose}");
        Error::unsupported(program.spec().name(), what)
    };
    if let Some(name) = program.unsupported_in_archives() {
        return Err(unsupported(name));
    }
    // Metadata do not have the definition lines of queries.
    let destination = program.metadata().and_then(MetadataOptions::metadata_destination_option);
    if let Some(option) = destination {
        return Err(unsupported(&format!("-{option}")));
    }
    let request = program.archive_request(hitlist_size)?;
    request.ok_or_else(|| Error::unsupported(program.spec().name(), purpose))
}

/// Plans the search strategies that the job writes, if there is a file for them.
fn plan_strategy(
    program: &dyn SearchProgram,
    hitlist_size: usize,
    file: Option<Destination>,
    out: &Destination,
) -> Result<Option<StrategyPlan>, Error> {
    let Some(file) = file else { return Ok(None) };
    let name = EXPORT_SEARCH_STRATEGY.name();
    input::refuse_same_file((files::OUT.name(), out), (name, &file))?;
    let request = archive_request(program, hitlist_size, "-export_search_strategy")?;
    Ok(Some(StrategyPlan { out: file, request }))
}

/// Returns whether NCBI's configuration selects identifiers in FASTA style.
pub(crate) fn has_long_seqids() -> bool {
    fleetblast_db::configuration_value("BLAST", "LONG_SEQID").is_some_and(|value| value == *"1")
}

fn refuse_unsupported(
    program: &dyn SearchProgram,
    environment: &ProcessEnvironment<'_>,
) -> Result<(), Error> {
    let unsupported = |what: &str| Err(Error::unsupported(program.spec().name(), what));
    if let Some(error) = &program.common().unsupported {
        return Err(error.clone());
    }
    if let Some(what) = program.unsupported() {
        return unsupported(&what);
    }
    for entry in REFUSED_ENTRIES {
        // Empty entries have no effect (`x_HonorStandardSettings`, ncbiapp.cpp).
        if fleetblast_db::configuration_value("NCBI", entry).is_some_and(|value| !value.is_empty())
        {
            return unsupported(&format!("the entry [NCBI] {entry} of NCBI's configuration"));
        }
    }
    match REFUSED_VARIABLES.iter().find(|name| (environment.variable)(name).is_some()) {
        Some(name) => unsupported(&format!("the environment variable {name}")),
        None => Ok(()),
    }
}

/// Returns the kernel named by [`KERNEL`], for measurements and tests; by default the best one of
/// this CPU.
fn kernel(environment: &ProcessEnvironment<'_>) -> Result<Kernel, Error> {
    let Some(name) = (environment.variable)(KERNEL) else { return Ok(Kernel::detect()) };
    Kernel::from_name(&name.to_string_lossy()).ok_or_else(|| {
        let name = name.to_string_lossy();
        Error::query_options(format_args!(
            "environment variable {KERNEL}: this processor has no '{name}'; it may be avx512, avx2, neon, or portable"
        ))
    })
}

/// Returns whether the environment switches finite-size statistics off.
fn has_old_finite_size(environment: &ProcessEnvironment<'_>) -> bool {
    (environment.variable)("OLD_FSC").is_some()
}

/// Returns the size of batches. The environment variable `BATCH_SIZE` may set it, for tests.
fn batch_size(
    default: BatchSize,
    environment: &ProcessEnvironment<'_>,
    release: &Release,
) -> Result<BatchSize, Error> {
    use std::os::unix::ffi::OsStrExt;
    let Some(text) = (environment.variable)("BATCH_SIZE") else { return Ok(default) };
    let number = number::parse_int4(text.as_bytes());
    match (number.map_err(|error| conversion_error(&error, release))?, default) {
        // Adaptive batches have no fixed size, so 0 means no change.
        (0, BatchSize::Adaptive { .. }) => Ok(default),
        // BLAST+ takes a negative number for a very large one.
        (size, _) => Ok(BatchSize::Fixed(usize::try_from(size).unwrap_or(usize::MAX))),
    }
}
