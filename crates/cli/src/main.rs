//! The program `fleetblast`. Run under the name of a BLAST+ program, it is that program.

use std::process::ExitCode;

use fleetblast_cli::memory::ExitingAllocator;
use fleetblast_cli::program;

#[global_allocator]
static ALLOCATOR: ExitingAllocator = ExitingAllocator;

fn main() -> ExitCode {
    program::main(std::env::args_os())
}
