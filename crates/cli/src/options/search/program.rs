//! What a search program is called, and what it sets where nothing is typed.

use fleetblast_release::Release;

use super::task::Task;

/// A search program of BLAST+, beside its table of options.
#[derive(Clone, Copy, Debug)]
pub struct ProgramSpec {
    /// What is typed to run it; its messages name it so.
    pub name: &'static str,
    /// The release of BLAST+ that it follows.
    pub release: &'static Release,
    /// Its tasks, in the order in which help and errors tell them.
    pub tasks: &'static [Task],
    /// Letters of queries that BLAST+ searches together (`GetQueryBatchSize`, blast_input_aux.cpp).
    pub batch_size: usize,
}

impl ProgramSpec {
    /// The first words of its reports.
    pub fn banner(&self) -> String {
        self.release.banner(self.name)
    }

    /// The line of a warning as BLAST+ prints it.
    pub fn warning(&self, text: impl std::fmt::Display) -> String {
        format!("Warning: [{}] {text}", self.name)
    }
}
