//! Properties of a search program besides its options.

use fleetblast_db::SequenceKind;
use fleetblast_stats::program::{BlastProgram, ProgramProperties};
use fleetblast_stats::release::Release;

/// Properties of a search program of BLAST+ besides its table of options.
#[derive(Clone, Copy, Debug)]
pub struct ProgramSpec {
    /// The program.
    pub program: BlastProgram,
    /// The release of BLAST+ that the program follows.
    pub release: &'static Release,
    /// Whether `-sorthits`, `-sorthsps` and `delim=` in `-outfmt` have an effect.
    pub has_sort_options: bool,
}

impl ProgramSpec {
    /// Returns the name of the command, also in messages.
    pub const fn name(&self) -> &'static str {
        self.program.name()
    }

    /// Returns the properties that other crates need, too.
    pub const fn properties(&self) -> &'static ProgramProperties {
        self.program.properties()
    }

    /// Returns the type of the queries.
    pub fn queries(&self) -> SequenceKind {
        self.properties().queries.molecule().into()
    }

    /// Returns the type of the subjects.
    pub fn subjects(&self) -> SequenceKind {
        self.properties().subjects.molecule().into()
    }

    /// Returns the first words of the program's reports.
    pub fn banner(&self) -> String {
        self.release.banner(self.name())
    }

    /// Formats a warning like BLAST+.
    pub fn warning(&self, text: impl std::fmt::Display) -> String {
        format!("Warning: [{}] {text}", self.name())
    }
}
