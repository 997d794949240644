//! How many threads, and what they share out.

use fleetblast_job::plan::Split;

use crate::options::blastp::BlastpOptions;
use crate::options::search::program::ProgramSpec;

/// Threads and split, with BLAST+'s warnings (`CMTArgs::x_ExtractAlgorithmOptions`, blast_args.cpp).
///
/// Unlike BLAST+, which defaults to one thread, all cores are used when nothing was typed, `-subject` or not.
pub fn share(
    options: &BlastpOptions,
    program: &ProgramSpec,
    cores: usize,
    warnings: &mut Vec<String>,
) -> (usize, Split) {
    let split = if options.threads.mt_mode == 1 { Split::Queries } else { Split::Database };
    let Some(typed) = options.threads.num_threads else { return (cores, Split::Database) };
    if typed > cores {
        warnings.push(program.warning(format_args!(
            "Number of threads was reduced to {cores} to match the number of available CPUs"
        )));
    }
    let threads = typed.min(cores);
    if options.database.db.is_some() || threads == 1 {
        return (threads, split);
    }
    let ignored = match split {
        Split::Database => "num_threads",
        Split::Queries => "num_threads and mt_mode",
    };
    warnings
        .push(program.warning(format_args!(
            "'{ignored}' is currently ignored when 'subject' is specified."
        )));
    (1, Split::Database)
}
