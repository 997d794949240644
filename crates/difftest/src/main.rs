//! A tester for developers that compares FleetBLAST with BLAST+ byte for byte, and times both.
//!
//! It is never installed for users. See [`cli::USAGE`] or `difftest --help`.

mod bases;
mod bench;
mod cache;
mod cases;
mod cli;
mod compare;
mod dbcmd;
mod error;
mod fasta;
mod fixtures;
mod fleet;
mod formatter;
mod full;
mod fuzz;
mod kills;
mod kind;
mod listener;
mod load;
mod makedb;
mod process;
mod program;
mod programs;
mod resume;
mod rng;
mod sample;
mod synth;
mod table;
mod through;
mod tools;
mod usage;
mod victims;
mod workspace;
mod written;

use std::env;
use std::process::ExitCode;

use cli::{Command, USAGE};
use error::{Error, Result};
use workspace::{Workspace, load_source};

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("difftest: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs the subcommand. Returns true if it found no difference.
fn run() -> Result<bool> {
    let workspace = Workspace::find()?;
    let parsed = match cli::parse(lexopt::Parser::from_env(), &workspace) {
        Err(Error::NoOracle(missing)) if fleetblast_oracle::may_be_missing() => {
            let words: Vec<String> = env::args().skip(1).collect();
            eprintln!("NOT TESTED: difftest {}: {missing}", process::shell(&words));
            return Ok(true);
        }
        parsed => parsed?,
    };
    let source = || load_source(&workspace, parsed.data.as_deref());
    match &parsed.command {
        Command::Help => {
            print!("{USAGE}");
            Ok(true)
        }
        Command::Table(options) => table::run(&workspace, &source()?, options),
        Command::Tools(options) => tools::run(&workspace, &source()?, options),
        Command::Usage(options) => usage::run(&workspace, options),
        Command::Dbcmd(options) => dbcmd::run(&workspace, &source()?, options),
        Command::Fuzz(options) => fuzz::run(&workspace, &source()?, options),
        Command::Full(options) => full::run(&workspace, &source()?, options),
        Command::Bench(options) => bench::run(&workspace, &source()?, options),
        Command::Kills(options) => kills::run(&workspace, &source()?, options),
        Command::Load(options) => load::run(&workspace, &source()?, options),
        Command::Makedb(options) => makedb::run(&workspace, &source()?, options),
    }
}
