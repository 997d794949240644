//! The program `fleetblast`, which is `blastp` too when run under that name.

use std::process::ExitCode;

fn main() -> ExitCode {
    fleetblast_cli::program::main(std::env::args_os())
}
