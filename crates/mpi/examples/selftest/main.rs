//! Checks this crate on several ranks: `mpirun -n 4 selftest CASE PIECE [DIRECTORY]`. See
//! `tests/run.sh`.
//!
//! Each case checks itself by assertions. A panic of one rank ends all ranks with status 101.
//! Messages and file accesses of more than `PIECE` bytes are split; a small number tests the
//! splitting. Some cases take an exit status in place of `PIECE`.

mod ends;
mod files;
mod groups;
mod large;
mod memory;
mod messages;

use std::path::PathBuf;
use std::process::ExitCode;

use fleetblast_mpi::{World, launched};

/// Exit status if MPI cannot be initialized.
const NO_WORLD: u8 = 3;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let case = arguments.first().map_or("", String::as_str);
    let number = arguments.get(1).and_then(|text| text.parse().ok()).unwrap_or(usize::MAX);
    let directory = arguments.get(2).map(PathBuf::from).unwrap_or_default();
    if case == "launch" {
        println!("launch: {:?}", launched().map(|launch| launch.ranks));
        return ExitCode::SUCCESS;
    }
    let _waiting = (case == "threads").then(ends::idle_thread);
    let world = match World::init_with_pieces(number) {
        Ok(world) => world,
        Err(error) => {
            eprintln!("selftest: {error}");
            return ExitCode::from(NO_WORLD);
        }
    };
    match case {
        "world" => println!(
            "rank {} of {} on {}, {}",
            world.rank(),
            world.size(),
            world.host(),
            world.library()
        ),
        "messages" => messages::check(&world, number),
        "groups" => groups::check(&world, number),
        "memory" => memory::check(&world),
        "files" => files::check(&world, &directory),
        "full" => files::check_full(&world, &directory),
        "large" => large::check(&world, &directory),
        "exit" => return ExitCode::from(number as u8),
        "abort" => ends::abort(&world, number as i32),
        "panic" => ends::panic(&world),
        "leave" => return ends::leave(world, number as u8),
        other => panic!("no case {other:?}"),
    }
    world.comm().barrier().unwrap();
    if world.rank() == 0 {
        println!("{case}: all ranks at the end");
    }
    ExitCode::SUCCESS
}
