//! From the arguments of the process to its exit code.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::error::{CliError, exit, output_error};
use crate::options::parse::{self, Request};
use crate::options::typed::BlastpOptions;
use crate::options::usage::Name;
use crate::plan::{Host, Plan};
use crate::run;

const ABOUT: &str = "\
FleetBLAST: a drop-in parallel BLAST with the bytes of NCBI BLAST+ 2.12.0

USAGE
  fleetblast COMMAND OPTIONS...

COMMANDS
  blastp    Protein-Protein BLAST; the options are those of BLAST+
            ('fleetblast blastp -help' prints them)

Run through a link named 'blastp', the program is that command.
";

/// Runs the program. The first argument is the name it was called by.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let result = dispatch(&arguments);
    let flushed = io::stdout().flush().map_err(|error| output_error(&error));
    match result.and(flushed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !error.message.is_empty() {
                complain(&error.message);
            }
            ExitCode::from(error.exit_code)
        }
    }
}

/// One message to standard error. Nobody can be told if that fails.
fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "{message}");
}

fn dispatch(arguments: &[OsString]) -> Result<(), CliError> {
    let called = arguments.first().map(Path::new).and_then(Path::file_name);
    if called == Some(OsStr::new("blastp")) {
        return blastp(Name::Blast, &arguments[1..]);
    }
    let command = arguments.get(1).map(|argument| argument.to_string_lossy());
    match command.as_deref() {
        Some("blastp") => blastp(Name::FleetBlast, &arguments[2..]),
        None | Some("-h" | "-help") => print(ABOUT),
        Some("-version") => print(&format!(
            "fleetblast: {}\n Package: FleetBLAST, reports equal blast 2.12.0\n",
            env!("CARGO_PKG_VERSION")
        )),
        Some(other) => Err(CliError::new(
            exit::INPUT,
            format!("fleetblast: there is no command '{other}'; 'fleetblast -help' lists them"),
        )),
    }
}

fn blastp(name: Name, arguments: &[OsString]) -> Result<(), CliError> {
    let given = match parse::parse(name, arguments)? {
        Request::Print(text) => return print(&text),
        Request::Search(given) => given,
    };
    let mut warnings = Vec::new();
    let plan = Plan::new(&BlastpOptions::new(&given), &Host::current(), &mut warnings);
    for warning in &warnings {
        complain(warning);
    }
    run::blastp(plan?)
}

fn print(text: &str) -> Result<(), CliError> {
    io::stdout().write_all(text.as_bytes()).map_err(|error| output_error(&error))
}
