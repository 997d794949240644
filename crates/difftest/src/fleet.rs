//! Shapes of a fleet: how many ranks, and what they do how. The report must be the same with all of them.

use std::path::Path;

use crate::process::Tool;

/// How FleetBLAST's searches are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Over the threads of one process.
    None,
    /// Over ranks in one process.
    Ranks,
    /// Over processes that `mpirun` starts.
    Processes,
}

/// Ranks and options. Cases take turns, so that together they see all.
const SHAPES: [(u32, &str); 16] = [
    (1, "-partitions 1 -num_threads 1"),
    (2, "-partitions 3 -num_threads 1 -output individual"),
    (3, "-partitions 16 -num_threads 2"),
    (4, "-partitions 61 -num_threads 1 -output collective"),
    (7, "-partitions 7 -num_threads 1 -groups 2"),
    (1, "-partitions 61 -num_threads 2 -output collective"),
    (2, "-partitions 1 -num_threads 2 -replicas 2"),
    (3, "-partitions 3 -num_threads 1 -groups 3 -output individual"),
    (4, "-partitions 16 -num_threads 1 -replicas 2 -schedule length"),
    (7, "-partitions 61 -num_threads 1 -groups 2 -replicas 2 -output individual"),
    (2, "-partitions 16 -num_threads 1 -write_buffer 5000 -result_memory 30000"),
    (3, "-partitions 1 -num_threads 1 -replicas 3 -schedule weight"),
    (4, "-partitions 3 -num_threads 2 -write_buffer 700 -result_memory 9000 -output individual"),
    (7, "-partitions 3 -num_threads 1 -replicas 3 -output collective -write_buffer 3000"),
    (3, "-partitions 2 -num_threads 1 -groups 2 -segment_size 500"),
    (5, "-partitions 9 -num_threads 1 -groups 2 -write_buffer 100 -result_memory 1000"),
];

/// What starts `tested` on the ranks of shape number `number`, and the options to add to its own.
pub fn shaped(tested: &Tool, spread: Spread, number: usize) -> (Tool, Vec<String>) {
    let (ranks, options) = SHAPES[number % SHAPES.len()];
    let mut options: Vec<String> = options.split(' ').map(String::from).collect();
    match spread {
        Spread::None => (tested.clone(), Vec::new()),
        Spread::Ranks => {
            options.extend(["-ranks".to_owned(), ranks.to_string()]);
            (tested.clone(), options)
        }
        Spread::Processes => (launched(tested, ranks), options),
    }
}

/// The program started by `mpirun` on so many ranks, which may be more than there are cores.
fn launched(tested: &Tool, ranks: u32) -> Tool {
    let launcher = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n"];
    let mut prefix: Vec<String> = launcher.map(String::from).to_vec();
    prefix.push(ranks.to_string());
    prefix.push(tested.program.display().to_string());
    prefix.extend(tested.prefix.iter().cloned());
    Tool { program: Path::new("mpirun").to_owned(), prefix }
}
