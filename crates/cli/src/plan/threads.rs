//! How many threads, and what they share out.

use fleetblast_job::plan::Split;

use crate::options::search::program::ProgramSpec;
use crate::options::search::threads::ThreadOptions;

/// Threads and split, with BLAST+'s warnings (`CMTArgs::x_ExtractAlgorithmOptions`, blast_args.cpp).
///
/// Unlike BLAST+, which defaults to one thread, all cores are used when nothing was typed, `-subject` or not; `has_db`
/// says that a database is searched.
pub fn share(
    options: &ThreadOptions,
    has_db: bool,
    program: &ProgramSpec,
    cores: usize,
    warnings: &mut Vec<String>,
) -> (usize, Split) {
    let split = if options.mt_mode == 1 { Split::Queries } else { Split::Database };
    let Some(typed) = options.num_threads else { return (cores, Split::Database) };
    if typed > cores {
        warnings.push(program.warning(format_args!(
            "Number of threads was reduced to {cores} to match the number of available CPUs"
        )));
    }
    let threads = typed.min(cores);
    if has_db || threads == 1 {
        return (threads, split);
    }
    let ignored = match split {
        Split::Database => "num_threads",
        Split::Queries => "num_threads and mt_mode",
    };
    let text = format!("'{ignored}' is currently ignored when 'subject' is specified.");
    warnings.push(program.warning(text));
    (1, Split::Database)
}
