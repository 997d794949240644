//! Properties of a search program besides its options.

use fleetblast_db::SequenceKind;
use fleetblast_stats::release::Release;

/// Properties of a search program of BLAST+ besides its table of options.
#[derive(Clone, Copy, Debug)]
pub struct ProgramSpec {
    /// Name of the command, also in messages.
    pub name: &'static str,
    /// The release of BLAST+ that the program follows.
    pub release: &'static Release,
    /// Type of the queries.
    pub queries: SequenceKind,
    /// Type of the subjects.
    pub subjects: SequenceKind,
    /// Whether the program has the format SAM.
    pub has_sam: bool,
    /// Whether `-sorthits`, `-sorthsps` and `delim=` in `-outfmt` have an effect.
    pub has_sort_options: bool,
}

impl ProgramSpec {
    /// Returns the first words of the program's reports.
    pub fn banner(&self) -> String {
        self.release.banner(self.name)
    }

    /// Formats a warning like BLAST+.
    pub fn warning(&self, text: impl std::fmt::Display) -> String {
        format!("Warning: [{}] {text}", self.name)
    }
}
