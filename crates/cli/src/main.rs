//! The program `fleetblast`, which is `blastp` too when run under that name.

use std::process::ExitCode;

use fleetblast_cli::memory::Telling;
use fleetblast_cli::program;

#[global_allocator]
static ALLOCATOR: Telling = Telling;

fn main() -> ExitCode {
    program::main(std::env::args_os())
}
