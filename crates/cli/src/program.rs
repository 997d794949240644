//! From the arguments of the process to its exit code.

use std::ffi::{OsStr, OsString};
use std::panic;
use std::path::Path;
use std::process::ExitCode;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fleetblast_mpi::speaks_for_all;

use crate::blastdbcmd;
use crate::blastp;
use crate::dbcheck;
use crate::doctor;
use crate::error::{CliError, exit};
use crate::makeblastdb;
use crate::memory;
use crate::messages::complain;
use crate::options::blastdbcmd::BLASTDBCMD;
use crate::options::blastp::BLASTP;
use crate::options::dbcheck::DBCHECK;
use crate::options::doctor::DOCTOR;
use crate::options::makeblastdb::MAKEBLASTDB;
use crate::options::parse::{self, Given, Request};
use crate::options::report::REPORT;
use crate::options::simulate::SIMULATE;
use crate::options::spec::Program;
use crate::options::typed::BlastpOptions;
use crate::options::usage::Name;
use crate::plan::{Host, Plan};
use crate::report;
use crate::simulate;
use crate::standard::print;

const ABOUT: &str = "\
FleetBLAST: a drop-in parallel BLAST with the bytes of NCBI BLAST+ 2.12.0

USAGE
  fleetblast COMMAND OPTIONS...

COMMANDS, with the options of BLAST+ ('fleetblast blastp -help' prints them)
";

/// How long others wait for the first rank to tell what is wrong.
const TIME_TO_TELL: Duration = Duration::from_millis(500);

/// One command.
struct Command {
    program: Program,
    /// What it does, in a few words.
    about: &'static str,
    run: fn(&Given) -> Result<(), CliError>,
}

const COMMANDS: [Command; 7] = [
    Command { program: BLASTP, about: "Protein-Protein BLAST", run: blastp },
    Command {
        program: BLASTDBCMD,
        about: "Looks into databases: sequences, what databases there are",
        run: blastdbcmd::run,
    },
    Command {
        program: MAKEBLASTDB,
        about: "Makes databases of FASTA files",
        run: makeblastdb::run,
    },
    Command {
        program: DBCHECK,
        about: "Checks whether a database is sound (FleetBLAST's own)",
        run: dbcheck::run,
    },
    Command {
        program: DOCTOR,
        about: "Tells what bounds a search of a database here (FleetBLAST's own)",
        run: doctor::run,
    },
    Command {
        program: REPORT,
        about: "Draws what the ranks of a search did (FleetBLAST's own)",
        run: report::run,
    },
    Command {
        program: SIMULATE,
        about: "Tells how a search would scale (FleetBLAST's own)",
        run: simulate::run,
    },
];

/// Runs the program. The first argument is the name it was called by.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    memory::prepare();
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // The stack of the first thread grows as it is used: where memory is limited that may fail at any place, by a signal.
    let thread = thread::Builder::new().name("main".to_owned());
    match thread.spawn(move || ended(&arguments)).map(JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(panic)) => panic::resume_unwind(panic),
        Err(error) => {
            complain(&memory::message(format_args!("a thread cannot be started: {error}")));
            ExitCode::from(exit::MEMORY)
        }
    }
}

fn ended(arguments: &[OsString]) -> ExitCode {
    match dispatch(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !error.message.is_empty() {
                complain(&error.message);
            }
            ExitCode::from(error.exit_code)
        }
    }
}

fn dispatch(arguments: &[OsString]) -> Result<(), CliError> {
    let named = |name: &OsStr| COMMANDS.iter().find(|command| name == command.program.name);
    let called = arguments.first().map(Path::new).and_then(Path::file_name);
    if let Some(command) = called.and_then(named) {
        return run(command, Name::Blast, &arguments[1..]);
    }
    let Some(word) = arguments.get(1) else { return print(&about()) };
    if let Some(command) = named(word) {
        return run(command, Name::FleetBlast, &arguments[2..]);
    }
    match word.to_string_lossy().as_ref() {
        "-h" | "-help" => print(&about()),
        "-version" => print(&format!(
            "fleetblast: {}\n Package: FleetBLAST, reports equal blast 2.12.0\n",
            env!("CARGO_PKG_VERSION")
        )),
        other => Err(CliError::new(
            exit::INPUT,
            format!("fleetblast: there is no command '{other}'; 'fleetblast -help' lists them"),
        )),
    }
}

/// The text of `fleetblast -help`.
fn about() -> String {
    let mut text = ABOUT.to_owned();
    for Command { program, about, .. } in &COMMANDS {
        text.push_str(&format!("  {:<18}{about}\n", program.name));
    }
    text + "\nRun through a link named like one of them, the program is that command.\n"
}

fn run(command: &Command, name: Name, arguments: &[OsString]) -> Result<(), CliError> {
    match told_once(parse::parse(&command.program, name, arguments))? {
        Request::Print(text) if speaks_for_all() => print(&text),
        Request::Print(_) => Ok(()),
        Request::Run(given) => (command.run)(&given),
    }
}

fn blastp(given: &Given) -> Result<(), CliError> {
    let mut warnings = Vec::new();
    let plan = Plan::new(&BlastpOptions::new(given), &Host::current(), &mut warnings);
    if speaks_for_all() {
        warnings.iter().for_each(|warning| complain(warning));
    }
    blastp::run(told_once(plan)?)
}

/// What is wrong with options all ranks find alike; only the first tells.
fn told_once<T>(result: Result<T, CliError>) -> Result<T, CliError> {
    match speaks_for_all() {
        true => result,
        false => result.map_err(|error| {
            // Launchers end all when one ends: the first needs the time to tell.
            thread::sleep(TIME_TO_TELL);
            CliError::new(error.exit_code, "")
        }),
    }
}
