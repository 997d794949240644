//! The number of threads, and whether they split the queries or the database.

use fleetblast_job::error::Error;
use fleetblast_job::plan::ThreadDivision;
use fleetblast_job::threads::Threads;

use super::ProcessEnvironment;
use crate::options::search::program::ProgramSpec;
use crate::options::search::threads::ThreadOptions;
use crate::threads::{choose_thread_count, default_thread_count};

/// Returns the number of threads and the split between them, with BLAST+'s warnings
/// (`CMTArgs::x_ExtractAlgorithmOptions`, blast_args.cpp).
///
/// BLAST+ has one thread by default, and always with `-subject`, with a warning. FleetBLAST uses
/// all CPUs unless the options or the environment set a number, also with `-subject`; `has_db` says
/// that a database is searched.
///
/// BLAST+ compares the number in the options with the CPUs of the machine. If the process may use
/// fewer CPUs, their number is the maximum. Like BLAST+, a single process prints no warning about
/// that; ranks do, because a launcher may have bound them to fewer CPUs than intended.
///
/// # Errors
/// A bad value of `FLEETBLAST_THREADS`, unless the options set a number.
pub fn choose_threads_and_division(
    options: &ThreadOptions,
    has_db: bool,
    program: &ProgramSpec,
    environment: &ProcessEnvironment<'_>,
    warnings: &mut Vec<String>,
) -> Result<(Threads, ThreadDivision), Error> {
    let split =
        if options.mt_mode == 1 { ThreadDivision::Queries } else { ThreadDivision::Database };
    let cpus = environment.cpus;
    let Some(typed) = options.num_threads else {
        return Ok((default_thread_count(cpus, environment.variable)?, ThreadDivision::Database));
    };
    let available = if environment.is_rank { cpus.allowed } else { cpus.machine };
    if typed > available {
        warnings.push(program.warning(format_args!(
            "Number of threads was reduced to {available} to match the number of available CPUs"
        )));
    }
    let threads = choose_thread_count(Some(typed), cpus, environment.variable)?;
    if has_db || typed.min(available) == 1 {
        return Ok((threads, split));
    }
    let ignored = match split {
        ThreadDivision::Database => "num_threads",
        ThreadDivision::Queries => "num_threads and mt_mode",
    };
    // Nothing but the division is ignored here; a hint at a terminal says so.
    let text = format!("'{ignored}' is currently ignored when 'subject' is specified.");
    warnings.push(program.warning(text));
    Ok((threads, ThreadDivision::Database))
}
