//! Measures and prints rows of tables that compare FleetBLAST with BLAST+. A row is for a kind of
//! search and has a requirement.

use std::path::Path;

use super::{Sample, measure, median, words};
use crate::error::Result;
use crate::process::Tool;

/// The requirement on FleetBLAST's speed and memory in a kind of search.
pub(super) struct Requirement {
    pub(super) name: &'static str,
    /// Required speed relative to BLAST+ (`must`), and the speed to aim for (`goal`).
    pub(super) must: f64,
    pub(super) goal: f64,
    /// Maximal memory relative to BLAST+.
    pub(super) memory: f64,
}

/// Prints the headings of the table.
pub(super) fn print_head() {
    println!(
        "\n{:<34}{:>10}{:>13}{:>8}{:>7}{:>7}{:>18}",
        "", "BLAST+ s", "FleetBLAST s", "ratio", "must", "goal", "peak MB (ratio)"
    );
}

impl Requirement {
    /// Prints the row of the search, with a mark if it misses the requirement. Returns true if the
    /// outputs of all runs were the same.
    pub(super) fn print(&self, theirs: &[Sample], ours: &[Sample]) -> bool {
        let mut outputs = theirs.iter().chain(ours).map(|sample| sample.output);
        let first = outputs.next();
        let is_equal = outputs.all(|output| Some(output) == first);
        let ratio = wall(theirs) / wall(ours);
        let (their_memory, our_memory) = (memory(theirs), memory(ours));
        let share = our_memory / their_memory;
        println!(
            "{:<34}{:>10.2}{:>13.2}{ratio:>8.2}{:>7}{:>7}{their_memory:>7.0} {our_memory:>5.0} {share:>5.2}{}{}{}",
            self.name,
            wall(theirs),
            wall(ours),
            self.must,
            self.goal,
            if ratio < self.must { "  TOO SLOW" } else { "" },
            if their_memory > 0.0 && share > self.memory { "  TOO MUCH MEMORY" } else { "" },
            if is_equal { "" } else { "  DIFFERENT OUTPUT" },
        );
        is_equal
    }
}

/// Measures a search in rounds. Each round runs FleetBLAST and BLAST+. With several threads it runs
/// BLAST+ in both of its modes. Returns the samples of BLAST+'s faster mode, and FleetBLAST's.
pub(super) fn measure_interleaved(
    name: &str,
    (oracle, tested): (&Tool, &Tool),
    args: &[&str],
    (threads, rounds): (u32, usize),
    dir: &Path,
) -> Result<(Vec<Sample>, Vec<Sample>)> {
    let threads_word = threads.to_string();
    let sample = |tool: &Tool, more: &[&str]| {
        let args = words(&[args, &["-num_threads", &threads_word], more].concat());
        measure(name, tool, &args, dir)
    };
    let (mut by_query, mut by_subject, mut ours) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        by_subject.push(sample(oracle, &[])?);
        if threads > 1 {
            by_query.push(sample(oracle, &["-mt_mode", "1"])?);
        }
        ours.push(sample(tested, &[])?);
    }
    Ok((fastest(vec![by_subject, by_query]), ours))
}

/// Returns the samples of the fastest of several ways to run a search.
pub(super) fn fastest(ways: Vec<Vec<Sample>>) -> Vec<Sample> {
    let tried = ways.into_iter().filter(|samples| !samples.is_empty());
    tried.min_by(|a, b| wall(a).total_cmp(&wall(b))).unwrap_or_default()
}

fn wall(samples: &[Sample]) -> f64 {
    median(samples.iter().map(|sample| sample.wall).collect())
}

/// Returns the largest peak memory of the samples, in megabytes.
fn memory(samples: &[Sample]) -> f64 {
    samples.iter().map(|sample| sample.memory).max().unwrap_or(0) as f64 / 1e6
}
