//! How many threads, and what they share out.

use fleetblast_job::plan::Split;

use crate::options::typed::BlastpOptions;

/// Threads and split, with BLAST+'s warnings (`CMTArgs::x_ExtractAlgorithmOptions`, blast_args.cpp).
///
/// Unlike BLAST+, which defaults to one thread, all cores are used when nothing was typed, `-subject` or not.
pub fn share(options: &BlastpOptions, cores: usize, warnings: &mut Vec<String>) -> (usize, Split) {
    let split = if options.mt_mode == 1 { Split::Queries } else { Split::Database };
    let Some(typed) = options.num_threads else { return (cores, Split::Database) };
    if typed > cores {
        warnings.push(format!(
            "Warning: [blastp] Number of threads was reduced to {cores} to match the number of available CPUs"
        ));
    }
    let threads = typed.min(cores);
    if options.db.is_some() || threads == 1 {
        return (threads, split);
    }
    let ignored = match split {
        Split::Database => "num_threads",
        Split::Queries => "num_threads and mt_mode",
    };
    warnings.push(format!(
        "Warning: [blastp] '{ignored}' is currently ignored when 'subject' is specified."
    ));
    (1, Split::Database)
}
