//! What a search program is called, and what it sets where nothing is typed.

use fleetblast_db::SequenceKind;
use fleetblast_stats::release::Release;

/// A search program of BLAST+, beside its table of options.
#[derive(Clone, Copy, Debug)]
pub struct ProgramSpec {
    /// What is typed to run it; its messages name it so.
    pub name: &'static str,
    /// The release of BLAST+ that it follows.
    pub release: &'static Release,
    /// What its queries are.
    pub queries: SequenceKind,
    /// What it searches.
    pub subjects: SequenceKind,
    /// Whether it has the format SAM.
    pub has_sam: bool,
    /// Whether `-sorthits`, `-sorthsps` and `delim=` in `-outfmt` do anything.
    pub tunes_format: bool,
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
