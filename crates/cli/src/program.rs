//! The program, from its arguments to its exit code.

use std::ffi::{OsStr, OsString};
use std::panic;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use fleetblast_job::audience::Audience;
use fleetblast_job::error::{Error, exit};
use fleetblast_job::interrupt::{DrainSignals, catch_size_limit};
use fleetblast_job::plan::{Destination, Plan, Source};
use fleetblast_job::standard::print;
use fleetblast_mpi::is_first_process;
use fleetblast_stats::program::is_missing_program;
use fleetblast_stats::release::Release;

use crate::blast_formatter;
use crate::blastdb_aliastool;
use crate::blastdbcheck;
use crate::blastdbcmd;
use crate::cat;
use crate::conffile;
use crate::dbcheck;
use crate::doctor;
use crate::expand;
use crate::generate;
use crate::hint;
use crate::installed_blast;
use crate::keygen;
use crate::logfile;
use crate::makeblastdb;
use crate::masker;
use crate::memory;
use crate::messages::{ExitWithError, complain};
use crate::options::blast_formatter::BLAST_FORMATTER;
use crate::options::blastdb_aliastool::BLASTDB_ALIASTOOL;
use crate::options::blastdbcheck::BLASTDBCHECK;
use crate::options::blastdbcmd::BLASTDBCMD;
use crate::options::cat::CAT;
use crate::options::compat::{self, COMPAT, ChosenRelease};
use crate::options::convert2blastmask::CONVERT2BLASTMASK;
use crate::options::dbcheck::DBCHECK;
use crate::options::doctor::DOCTOR;
use crate::options::dustmasker::DUSTMASKER;
use crate::options::expand::EXPAND;
use crate::options::generate::GENERATE;
use crate::options::keygen::KEYGEN;
use crate::options::makeblastdb::MAKEBLASTDB;
use crate::options::nearest::nearest;
use crate::options::parse::{self, GivenOptions, Request};
use crate::options::receive::RECEIVE;
use crate::options::report::REPORT;
use crate::options::segmasker::SEGMASKER;
use crate::options::simulate::SIMULATE;
use crate::options::spec::Program;
use crate::options::usage::{self, ProgramName};
use crate::options::version;
use crate::options::wrap::WRAP;
use crate::panics;
use crate::plan::{self, ProcessEnvironment, SearchProgram};
use crate::receive;
use crate::report;
use crate::search_programs::{SEARCH_PROGRAMS, SearchEntry};
use crate::simulate;
use crate::sites::{self, SiteRole};
use crate::strategy::ImportedSearch;
use crate::terminal::Progress;
use crate::wrap;

const USAGE: &str = "
USAGE
  fleetblast COMMAND OPTIONS...
  fleetblast help COMMAND
  fleetblast --version
";

const EXAMPLE: &str = "
EXAMPLE
  fleetblast makeblastdb -in proteins.fa -dbtype prot -out proteins
  fleetblast blastp -query queries.fa -db proteins -outfmt 6 -out hits.txt

'fleetblast help blastp' tells the options of blastp. Run through a link named
like a command, the program is that command.
";

/// A command with its options, and the function that runs it.
#[derive(Clone, Copy)]
struct Command {
    program: Program,
    run: Work,
}

/// The function that runs a command. The variants differ in the processes that take part.
#[derive(Clone, Copy)]
enum Work {
    /// A search by all processes that were started together.
    Search(SearchEntry),
    /// A command that each process runs independently.
    Alone(fn(&GivenOptions) -> Result<(), Error>),
    /// As `Alone`, for a command whose output can go to the `-logfile`. Its messages stay on
    /// standard error.
    Logging(fn(&GivenOptions) -> Result<(), Error>),
    /// As `Alone`, for a command that prints its usage before the error about a file.
    ReportingUsage(fn(&GivenOptions) -> Result<(), Error>),
    /// A command that all processes started together run.
    Together(fn(&GivenOptions, &ExitWithError) -> Result<(), Error>),
    /// A command that all processes started together run; the words are another command, after two
    /// dashes.
    Wrapping(fn(&GivenOptions, &[OsString], &ExitWithError) -> Result<(), Error>),
}

/// Commands that do not search.
const OTHER_COMMANDS: [Command; 18] = [
    Command { program: BLAST_FORMATTER, run: Work::Alone(blast_formatter::run) },
    Command { program: BLASTDB_ALIASTOOL, run: Work::Alone(blastdb_aliastool::run) },
    Command { program: BLASTDBCHECK, run: Work::Logging(blastdbcheck::run) },
    Command { program: BLASTDBCMD, run: Work::Alone(blastdbcmd::run) },
    Command { program: MAKEBLASTDB, run: Work::Alone(makeblastdb::run) },
    Command { program: SEGMASKER, run: Work::Alone(masker::segmasker) },
    Command { program: DUSTMASKER, run: Work::ReportingUsage(masker::dustmasker) },
    Command { program: CONVERT2BLASTMASK, run: Work::Alone(masker::convert2blastmask) },
    Command { program: EXPAND, run: Work::Together(expand::run) },
    Command { program: RECEIVE, run: Work::Alone(receive::run) },
    Command { program: KEYGEN, run: Work::Alone(keygen::run) },
    Command { program: CAT, run: Work::Alone(cat::run) },
    Command { program: DBCHECK, run: Work::Alone(dbcheck::run) },
    Command { program: DOCTOR, run: Work::Alone(doctor::run) },
    Command { program: REPORT, run: Work::Alone(report::run) },
    Command { program: SIMULATE, run: Work::Alone(simulate::run) },
    Command { program: WRAP, run: Work::Wrapping(wrap::run) },
    Command { program: GENERATE, run: Work::Alone(generate) },
];

/// All commands, in the order of the list of commands.
const COMMANDS: [Command; SEARCH_PROGRAMS.len() + OTHER_COMMANDS.len()] = {
    let mut commands = [OTHER_COMMANDS[0]; SEARCH_PROGRAMS.len() + OTHER_COMMANDS.len()];
    let mut number = 0_usize;
    while number < commands.len() {
        commands[number] = match number.checked_sub(SEARCH_PROGRAMS.len()) {
            Some(other) => OTHER_COMMANDS[other],
            None => {
                let entry = SEARCH_PROGRAMS[number];
                Command { program: entry.table, run: Work::Search(entry) }
            }
        };
        number += 1;
    }
    commands
};

/// The tables of options of all commands, in the same order.
pub const PROGRAMS: [Program; COMMANDS.len()] = {
    let mut programs = [COMMANDS[0].program; COMMANDS.len()];
    let mut number = 0;
    while number < programs.len() {
        programs[number] = COMMANDS[number].program;
        number += 1;
    }
    programs
};

/// Runs the program. The first argument is the name that it was called by.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    memory::prepare();
    panics::prepare();
    if let Err(error) = catch_size_limit() {
        return finish(Err(Error::refused("cannot catch signals", &error)));
    }
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if fleetblast_mpi::launched().is_some() {
        // MPI is used by the first thread, and starts before there are others.
        return finish(dispatch(&arguments));
    }
    // The stack of the first thread grows on demand: with limited memory that may fail anywhere,
    // with a signal.
    let thread = thread::Builder::new().name("main".to_owned());
    match thread.spawn(move || finish(dispatch(&arguments))).map(JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(panic)) => panic::resume_unwind(panic),
        Err(error) => {
            finish(Err(Error::starved(format_args!("a thread cannot be started: {error}"))))
        }
    }
}

/// Prints the error that ended the program early, if any. Returns the exit code.
fn finish(end: Result<(), Error>) -> ExitCode {
    match end.map_err(Error::or_changed_files) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !error.is_silent() {
                complain(&error.message);
            }
            ExitCode::from(error.exit_code)
        }
    }
}

/// The action that the command line requests.
enum Action {
    /// Print a text.
    Print(String),
    /// Run a command, called by this name, with these options; the words are another command, after
    /// two dashes.
    Run(&'static Command, ProgramName, GivenOptions, Vec<OsString>),
}

fn dispatch(arguments: &[OsString]) -> Result<(), Error> {
    let aside = |reason| Err(fleetblast_job::announce_refusal(reason, &complain));
    match decide(arguments) {
        Ok(Action::Run(command, name, given, wrapped)) => {
            if let Err(error) = check_configuration(&command.program) {
                return aside(error);
            }
            match command.run {
                Work::Search(entry) => {
                    let release = compat::given_release(&given).or(command.program.release);
                    if !release.is_some_and(|it| entry.logs_searches(it)) {
                        logfile::restore();
                    }
                    let imported = ImportedSearch::read(&command.program, arguments, &given);
                    let imported = match imported {
                        Ok(imported) => imported,
                        Err(error) => return aside(error),
                    };
                    let given = imported.as_ref().map_or(&given, |imported| &imported.given);
                    let program = (entry.read)(given);
                    search((&command.program, given), &*program, imported.as_ref(), &aside)
                }
                Work::Together(run) => run(&given, &aside),
                Work::Wrapping(run) => run(&given, &wrapped, &aside),
                Work::Alone(run) => run(&given),
                Work::Logging(run) => {
                    logfile::restore();
                    run(&given)
                }
                Work::ReportingUsage(run) => run(&given)
                    .map_err(|error| parse::convert_file_error(&command.program, name, error)),
            }
        }
        Ok(Action::Print(text)) if is_first_process() => print(&text),
        Ok(Action::Print(_)) => Ok(()),
        Err(error) => aside(error),
    }
}

/// Warns about NCBI's configuration, if the program reads it.
///
/// # Errors
/// Configuration with which BLAST+ does not start.
fn check_configuration(program: &Program) -> Result<(), Error> {
    if !program.is_of_blast() && ![EXPAND.name, RECEIVE.name].contains(&program.name) {
        return Ok(());
    }
    let warning = fleetblast_db::check_configuration();
    let warning = warning.map_err(|fault| Error::new(exit::DATABASE, fault))?;
    warning.filter(|_| is_first_process()).iter().for_each(|warning| complain(warning));
    Ok(())
}

fn decide(arguments: &[OsString]) -> Result<Action, Error> {
    let path = arguments.first().map_or(OsStr::new(""), OsString::as_os_str);
    let called = Path::new(path).file_name();
    if let Some(command) = called.and_then(find_command) {
        return parse(command, ProgramName::Blast, (path, &arguments[1..]));
    }
    if let Some(name) = called.and_then(OsStr::to_str).filter(|name| is_missing_program(name)) {
        return Err(no_command(name));
    }
    let Some(word) = arguments.get(1) else {
        return Err(Error::new(exit::INPUT, about().trim_end()));
    };
    if let Some(command) = find_command(word) {
        return parse(command, ProgramName::FleetBlast, (path, &arguments[2..]));
    }
    match word.to_string_lossy().as_ref() {
        "-h" | "-help" | "--help" => Ok(Action::Print(about())),
        "help" => help(path, &arguments[2..]).map(Action::Print),
        "-version" | "--version" => Ok(Action::Print(version::own_text("fleetblast"))),
        other => Err(no_command(other)),
    }
}

fn find_command(name: &OsStr) -> Option<&'static Command> {
    const { &COMMANDS }.iter().find(|command| name == command.program.name)
}

/// Returns the text of `fleetblast help`, about one command or all commands.
fn help(called: &OsStr, arguments: &[OsString]) -> Result<String, Error> {
    match arguments {
        [] => Ok(about()),
        [name] if name == "help" => Ok(about()),
        [name] => match find_command(name) {
            Some(Command { program, .. }) => {
                let chosen = choose_release(program, called, &[])?;
                let program = program.in_release(chosen.map(|chosen| chosen.release));
                Ok(usage::full(&program, ProgramName::FleetBlast))
            }
            None => Err(no_command(&name.to_string_lossy())),
        },
        [_, second, ..] => {
            let second = second.to_string_lossy();
            let message = format!("fleetblast: 'help' takes one command; '{second}' is too much");
            Err(Error::new(exit::INPUT, message))
        }
    }
}

/// Returns the error for an unknown command.
fn no_command(word: &str) -> Error {
    if is_missing_program(word) {
        let version = env!("CARGO_PKG_VERSION");
        let message =
            format!("FleetBLAST {version} does not have {word} yet; run NCBI {word} instead");
        return Error::new(exit::INPUT, message);
    }
    let names = PROGRAMS.iter().map(|program| program.name).chain(["help"]);
    let message = match nearest(word, names) {
        // An option must come after a command.
        _ if word.starts_with('-') => {
            format!("fleetblast: name a command before '{word}', such as 'fleetblast blastp'")
        }
        Some(name) => format!("fleetblast: there is no command '{word}'; did you mean '{name}'?"),
        None => format!("fleetblast: there is no command '{word}'"),
    };
    Error::new(exit::INPUT, message + "\n'fleetblast help' lists the commands")
}

/// Returns the text of `fleetblast help` without a command.
fn about() -> String {
    let releases = Release::ALL.map(|release| release.version).join(", ");
    let mut text = format!(
        "FleetBLAST: a drop-in parallel BLAST with the bytes of NCBI BLAST+ {releases}\n{USAGE}"
    );
    for (title, blast) in [("COMMANDS of BLAST+", true), ("COMMANDS of FleetBLAST", false)] {
        text.push_str(&format!("\n{title}\n"));
        for program in PROGRAMS.iter().filter(|program| program.is_of_blast() == blast) {
            text.push_str(&format!("  {:<19}{}\n", program.name, program.about));
        }
    }
    text + EXAMPLE
}

fn generate(given: &GivenOptions) -> Result<(), Error> {
    generate::run(given, &PROGRAMS)
}

fn parse(
    command: &'static Command,
    name: ProgramName,
    (called, arguments): (&OsStr, &[OsString]),
) -> Result<Action, Error> {
    let dashes = arguments.iter().position(|word| word == "--");
    let (own, wrapped) = match (&command.run, dashes) {
        (Work::Wrapping(_), Some(at)) => (&arguments[..at], arguments[at + 1..].to_vec()),
        _ => (arguments, Vec::new()),
    };
    let program = &command.program;
    if let Some(path) = parse::log_path(program, own) {
        logfile::redirect(path);
    }
    let chosen = choose_release(program, called, own)?;
    let release = chosen.as_ref().map(|chosen| chosen.release);
    let program = program.in_release(release);
    let request = match parse::find_priority_option(&program, name, own) {
        Some(request) => request,
        None => {
            if let (Some(release), Some(name)) =
                (program.release, parse::configuration_name(&program, own))
            {
                conffile::set(release, name)?;
            }
            parse::parse(&program, name, own)?
        }
    };
    match request {
        Request::Print(text) => Ok(Action::Print(text)),
        Request::PrintVersion(option) => {
            let reason = chosen.map(|chosen| chosen.reason.to_string());
            Ok(Action::Print(version::version_text(option, &program, reason.as_deref())))
        }
        Request::Run(_) if matches!(command.run, Work::Wrapping(_)) && wrapped.is_empty() => {
            let message = "fleetblast wrap: name the program, with its arguments, after two dashes: -- PROGRAM ARGUMENTS";
            Err(Error::new(exit::INPUT, message))
        }
        Request::Run(mut given) => {
            if let Some(release) = release {
                compat::insert_release(release, &mut given);
            }
            Ok(Action::Run(command, name, given, wrapped))
        }
    }
}

/// Chooses the release that a program follows, if it follows several.
fn choose_release(
    program: &Program,
    called: &OsStr,
    arguments: &[OsString],
) -> Result<Option<ChosenRelease>, Error> {
    if program.find(COMPAT.name()).is_none() {
        return Ok(None);
    }
    let variable = std::env::var_os(installed_blast::VARIABLE);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let find_installed = || installed_blast::find(called, &path);
    let chosen = compat::choose_release(arguments, variable.as_deref(), find_installed)?;
    if let Some(problem) = chosen.problem().filter(|_| is_first_process()) {
        complain(&format!("Warning: [{}] {problem}", program.name));
    }
    Ok(Some(chosen))
}

/// Refuses queries that cannot be read again when a job with a checkpoint is resumed. A missing
/// file or a directory keeps its own error, in BLAST+'s words.
fn refuse_unrepeatable(program: &dyn SearchProgram) -> Result<(), Error> {
    let fleet = &program.common().fleet;
    let (option, query) = program.query();
    let path = Path::new(query);
    if fleet.checkpoint.is_none() || fleet.plan || path.is_dir() {
        return Ok(());
    }
    let source = match query.to_str() {
        Some("-") => Source::Stdin,
        _ if path.exists() => Source::File(path.to_owned()),
        _ => return Ok(()),
    };
    fleetblast_job::regular_file(&source, &format!("-{option}")).map(|_| ())
}

/// Runs a search. Each of the processes that were started together calls either this function or
/// `exit_with_error`.
fn search(
    (table, given): (&Program, &GivenOptions),
    program: &dyn SearchProgram,
    imported: Option<&ImportedSearch>,
    exit_with_error: &ExitWithError,
) -> Result<(), Error> {
    // This check comes before signals are caught, which would promise that the job can be resumed.
    if let Err(error) = refuse_unrepeatable(program) {
        return exit_with_error(error);
    }
    // Signals are caught before files are opened and ranks wait for each other, which may take
    // long.
    let drain = match DrainSignals::catch_for(program.common().fleet.checkpoint.is_some()) {
        Ok(drain) => drain,
        Err(error) => return exit_with_error(error),
    };
    let mut warnings = imported.map_or(Vec::new(), |imported| imported.warnings.clone());
    let environment = ProcessEnvironment::current();
    let site = match sites::SiteRole::from_options(program, (table, given), &environment) {
        Ok(Some(SiteRole::Storage(storage))) => {
            let when = program.common().resources.progress;
            let to_stdout = storage.out == Destination::Stdout;
            let progress: Arc<dyn Audience> =
                Arc::new(Progress::new(program.spec().name(), when, to_stdout));
            return fleetblast_job::sites::run_io_ranks(&storage, &progress);
        }
        Ok(place) => place,
        Err(error) => return exit_with_error(error),
    };
    let plan = plan::plan(program, &environment, &mut warnings);
    let plan = plan.and_then(|mut plan| {
        if let Some(imported) = imported {
            imported.complete(&mut plan, &mut warnings)?;
        }
        let metadata = plan::metadata(table, program, given, &environment, plan.report.format)?;
        // Checked before another site receives any data. A dry run (`-plan`) reads no queries.
        if metadata.is_some() || site.is_some() || plan.fleet.dry_run {
            plan.check_late_error()?;
        }
        Ok(Plan { metadata, ..plan })
    });
    if is_first_process() {
        warnings.iter().for_each(|warning| complain(warning));
    }
    let plan = match plan {
        Ok(plan) => plan,
        Err(error) => {
            return exit_with_error(compat::convert_error(program.common().release, error));
        }
    };
    let (spec, options) = (program.spec(), program.common());
    hint::before_search(spec, &plan, program.query().0);
    let when = options.resources.progress;
    let progress = Arc::new(Progress::new(spec.name(), when, plan.out == Destination::Stdout));
    let db = options.database.db.as_deref().unwrap_or_default();
    let searched = match site {
        Some(SiteRole::Both(storage)) => {
            let audience: Arc<dyn Audience> = progress;
            fleetblast_job::sites::run(plan, &storage, &audience)
        }
        _ => fleetblast_job::run(plan, drain, progress),
    };
    searched
        .map_err(|error| compat::convert_error(options.release, error))
        .map_err(|error| hint::with_hint(spec, &db.to_string_lossy(), error))
}
