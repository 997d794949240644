//! `fleetblast expand`: makes the report of a search at another site from its metadata.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fleetblast_job::audience::Audience;
use fleetblast_job::error::{Error, exit};
use fleetblast_job::metadata::{self, ExpandRequest, OpenedMetadata, expand};
use fleetblast_job::plan::{Destination, Format, Plan};
use fleetblast_job::sites::{self, IoSitePlan};
use fleetblast_job::threads::Threads;
use fleetblast_metadata::header::OptionValue;
use fleetblast_metadata::{Encoding, EncodingChoice, Header};
use fleetblast_stats::program::BlastProgram;

use crate::crossing;
use crate::hint;
use crate::messages::{ExitWithError, complain};
use crate::options::expand::{self as options, EXPAND, ExpandOptions};
use crate::options::load;
use crate::options::parse::GivenOptions;
use crate::options::search::database::{DB, SUBJECT};
use crate::options::search::outfmt::OUTFMT;
use crate::options::typed::to_text;
use crate::plan::{self, ProcessEnvironment, input};
use crate::search_programs::SearchEntry;
use crate::terminal::{Progress, ProgressMode};
use crate::threads::{self, FLEETBLAST_THREADS};

/// Runs `fleetblast expand`, on all processes that were started together.
///
/// # Errors
/// See [`fleetblast_job::metadata::expand()`]; options that do not agree with those of the search.
pub fn run(given: &GivenOptions, exit_with_error: &ExitWithError) -> Result<(), Error> {
    let options = ExpandOptions::new(given);
    let Some(launch) = fleetblast_mpi::launched().filter(|launch| launch.ranks > 1) else {
        return alone(&options, given);
    };
    let site = match storage(&options, given, (launch.rank, launch.ranks)) {
        Ok(site) => site,
        Err(error) => return exit_with_error(error),
    };
    let to_stdout = site.out == Destination::Stdout;
    let progress: Arc<dyn Audience> =
        Arc::new(Progress::new(EXPAND.name, ProgressMode::Auto, to_stdout));
    let open = || open(&options).inspect(|opened| warn_of_version(&opened.header, &*progress));
    sites::expand(&site, open, &progress)
}

/// Plans how this rank, one of `ranks`, makes the report.
fn storage(
    options: &ExpandOptions,
    given: &GivenOptions,
    (rank, ranks): (u32, u32),
) -> Result<IoSitePlan, Error> {
    let version = env!("CARGO_PKG_VERSION");
    let not_yet = move |what: &str| {
        let message = format!(
            "FleetBLAST {version} does not run expand {what} on ranks yet (MPI); run it in one process"
        );
        Error::new(exit::INPUT, message)
    };
    if options.query.is_some() {
        return Err(not_yet("-query"));
    }
    let (out, path) = (destination(options)?, PathBuf::from(&options.metadata));
    let threads = threads::for_process(Some(options.num_threads.unwrap_or(1)))?;
    let (options, given) = (options.clone(), given.clone());
    let plan = move |header: &Header| {
        let mut warnings = Vec::new();
        let plan = plan_report((header, &*path), &options, &given, threads, &mut warnings);
        // All ranks have the same warnings, so only the first one prints them.
        warnings.iter().filter(|_| rank == 0).for_each(|warning| complain(warning));
        match plan? {
            // The rank that writes the end of a SAM report would have to know the references of all
            // lines.
            Some(plan) if plan.report.format == Format::Sam => Err(not_yet("-outfmt 17")),
            plan => Ok(plan),
        }
    };
    Ok(IoSitePlan { ranks, threads: threads.count, out, plan: Box::new(plan) })
}

fn alone(options: &ExpandOptions, given: &GivenOptions) -> Result<(), Error> {
    let opened = open(options)?;
    let out = destination(options)?;
    // An unknown program is refused after a warning about the version that made the metadata.
    let program = searched_program(&opened.header).map_or(EXPAND.name, BlastProgram::name);
    let progress = Progress::new(program, ProgressMode::Auto, out == Destination::Stdout);
    write_report(opened, out, (options, given), &progress)
}

/// Opens the metadata.
fn open(options: &ExpandOptions) -> Result<OpenedMetadata, Error> {
    let path = (options.metadata != "-").then(|| PathBuf::from(&options.metadata));
    OpenedMetadata::open(path, record_memory(options)?)
}

/// Returns the memory that a record of metadata may take, in bytes.
///
/// # Errors
/// A malformed size.
pub fn record_memory(options: &ExpandOptions) -> Result<u64, Error> {
    let name = options::MEMORY.name();
    let wished = options.memory.as_deref().map(|text| load::bytes(name, text)).transpose()?;
    Ok(metadata::record_memory(wished))
}

/// Returns the destination of the report, which must not be the metadata.
fn destination(options: &ExpandOptions) -> Result<Destination, Error> {
    let out = input::destination(options::OUT.name(), &options.out)?;
    let metadata = Destination::File(PathBuf::from(&options.metadata));
    input::refuse_same_file((options::OUT.name(), &out), (options::METADATA.name(), &metadata))?;
    Ok(out)
}

/// Warns if another version of the program made the metadata.
fn warn_of_version(header: &Header, audience: &dyn Audience) {
    let (searched, here) = (header.version.as_str(), env!("CARGO_PKG_VERSION"));
    if searched != here {
        audience.warn(&format!("FleetBLAST {searched} made the metadata; this is {here}"));
    }
}

/// Makes the report from metadata and the options given.
///
/// # Errors
/// See [`fleetblast_job::metadata::expand()`]; options that do not agree with those of the search.
pub fn write_report(
    opened: OpenedMetadata,
    out: Destination,
    (options, given): (&ExpandOptions, &GivenOptions),
    audience: &dyn Audience,
) -> Result<(), Error> {
    warn_of_version(&opened.header, audience);
    let threads = threads::for_process(options.num_threads)?;
    let mut warnings = Vec::new();
    let of = (&opened.header, &*opened.path);
    let plan = plan_report(of, options, given, threads, &mut warnings);
    warnings.iter().for_each(|warning| complain(warning));
    let plan = plan?;
    if let Some(plan) = &plan {
        hint::unknown_columns(&plan.report);
    }
    let wanted = selected_queries(options)?;
    if !wanted.is_empty() && has_joined_objects(plan.as_ref(), &opened.header) {
        let what = "-query with formats 15 and 16, whose objects are joined";
        return Err(Error::unsupported("expand", what));
    }
    let program = searched_program(&opened.header)?;
    expand(ExpandRequest { opened, program, plan, out, threads: threads.count, wanted }, audience)
}

/// Returns whether the report is JSON or XML2. Then no query can be left out: the text of a query
/// begins with the end of the previous query's object.
fn has_joined_objects(plan: Option<&Plan>, header: &Header) -> bool {
    if let Some(plan) = plan {
        return matches!(plan.report.format, Format::Output2 { .. });
    }
    let format = header.options.iter().find(|(name, _)| name == OUTFMT.name());
    let Some((_, OptionValue::Text(text))) = format else { return false };
    let number = text.trim_ascii().split(u8::is_ascii_whitespace).next();
    let number = number.and_then(|number| str::from_utf8(number).ok()?.parse().ok());
    matches!(number, Some(15 | 16))
}

/// Returns the names of the selected queries; none for all queries.
fn selected_queries(options: &ExpandOptions) -> Result<Vec<Vec<u8>>, Error> {
    let Some(names) = &options.query else { return Ok(Vec::new()) };
    let names = names.as_bytes().split(|&byte| byte == b',').filter(|name| !name.is_empty());
    let names: Vec<_> = names.map(<[u8]>::to_vec).collect();
    match names.is_empty() {
        // A script may have computed an empty list, which must not mean all queries.
        true => Err(Error::query_options("-query has no names of queries")),
        false => Ok(names),
    }
}

/// Plans how to make the report from the metadata in `path`. Returns `None` if the metadata contain
/// the report itself, which needs no database. Appends warnings to `warnings`.
///
/// # Errors
/// Options that do not agree with those of the search.
pub fn plan_report(
    (header, path): (&Header, &Path),
    options: &ExpandOptions,
    given: &GivenOptions,
    threads: Threads,
    warnings: &mut Vec<String>,
) -> Result<Option<Plan>, Error> {
    let only = header.encodings == EncodingChoice::Only(Encoding::Report);
    if header.encodings.fixes_format() {
        if let Some(name) = given.keys().find(|name| options::is_of_format(name)) {
            return Err(Error::query_options(format_args!(
                "{} holds {} as it is, so that -{name} cannot change it",
                path.display(),
                if only { "the report" } else { "parts of the report" }
            )));
        }
        if only && options.db.is_none() && options.subject.is_none() {
            return Ok(None);
        }
    }
    let name = &*header.program;
    let program = searched_program(header)?;
    if program.properties().iterates && only {
        return Err(Error::query_options(format_args!(
            "{} holds the report of {name} as it is: name no -{} or -{}",
            path.display(),
            DB.name(),
            SUBJECT.name()
        )));
    }
    let plan = search(program, (header, path), (options, given), warnings)?;
    // Metadata do not have the definition lines of queries, which archives hold.
    if plan.report.format == Format::Archive {
        return Err(Error::unsupported(name, "metadata with -outfmt 11"));
    }
    // Nor do they have the positives that the search counts.
    if plan.report.format.is_annotation() {
        return Err(Error::unsupported(name, "metadata with -outfmt 8, 9 and 12"));
    }
    if plan.report.format.has_files() {
        return Err(Error::unsupported(name, "metadata with -outfmt 13 and 14"));
    }
    let (kept, keeps) = (header.hitlist_size, plan.params.common().hitlist_size as u64);
    if kept != keeps {
        return Err(Error::query_options(format_args!(
            "the search kept {kept} subjects of each query, and a report of this format with these options shows {keeps} \
             (-max_target_seqs, -num_descriptions, -num_alignments): choose these as for the search"
        )));
    }
    let report = fleetblast_job::plan::Report { command: header.command.clone(), ..plan.report };
    let restriction = header.restriction.clone();
    Ok(Some(Plan { report, restriction, threads, ..plan }))
}

/// Returns the program that made the metadata.
fn searched_program(header: &Header) -> Result<BlastProgram, Error> {
    let name = &*header.program;
    BlastProgram::from_name(name)
        .map_err(|_| Error::unsupported(name, format_args!("metadata of {name}")))
}

/// Plans a search again from the header of its metadata, with the options given at this site.
fn search(
    program: BlastProgram,
    (header, path): (&Header, &Path),
    (options, given): (&ExpandOptions, &GivenOptions),
    warnings: &mut Vec<String>,
) -> Result<Plan, Error> {
    let is_subject = header.database.is_subject;
    let wanted = if is_subject { "subject" } else { "db" };
    if options.db.is_some() && is_subject
        || options.subject.is_some() && !is_subject
        || options.db.is_none() && options.subject.is_none()
    {
        return Err(Error::query_options(format_args!(
            "name the searched database or file with -{wanted}: it was {}",
            to_text(std::ffi::OsStr::from_bytes(&header.database.label))
        )));
    }
    let SearchEntry { table, read, .. } = SearchEntry::new(program);
    let decoded = crossing::decode_options(&table, (header, path))?;
    let sent = |name: &str| {
        let mut values = header.environment.iter().filter(|(other, _)| other == name);
        values.next().map(|(_, value)| std::ffi::OsStr::from_bytes(value).to_owned())
    };
    let here = ProcessEnvironment::current();
    let variable = |name: &str| match name {
        _ if crossing::VARIABLES.contains(&name) => sent(name),
        // The number of threads is already chosen, and that of the search does not matter.
        FLEETBLAST_THREADS => None,
        _ => (here.variable)(name),
    };
    let environment =
        ProcessEnvironment { command: header.command.clone(), variable: &variable, ..here };
    let planned = |decoded: &GivenOptions, given: &GivenOptions, warnings: &mut Vec<String>| {
        plan::plan(
            &*read(&crossing::merge_options(decoded, options, given)),
            &environment,
            warnings,
        )
    };
    let plan = match planned(&decoded, given, warnings) {
        Ok(plan) => plan,
        Err(error) => {
            // The header is damaged if its options alone give an error, and the options given here
            // alone do not.
            let fails = |decoded| planned(decoded, &GivenOptions::new(), &mut Vec::new()).is_err();
            let is_headers = fails(&decoded) && !fails(&GivenOptions::new());
            let what = format_args!("options that no search has ({})", error.message.trim_end());
            return Err(if is_headers {
                crossing::damaged_header_error(path, what)
            } else {
                error
            });
        }
    };
    let is_number = plan.check_late_error();
    is_number.map_err(|_| {
        crossing::damaged_header_error(path, "a value of BATCH_SIZE that is no number")
    })?;
    Ok(plan)
}
