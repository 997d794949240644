//! How options differ between releases of BLAST+.

use fleetblast_stats::release::Release;

use super::constraint::Constraint;

/// A change of an option in a release, which later ones keep.
#[derive(Clone, Copy, Debug)]
pub struct Later {
    /// The first release with the change.
    pub since: &'static Release,
    /// The change.
    pub change: Change,
}

/// A change of an option.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// The option is new.
    Added,
    /// The option is gone.
    Removed,
    /// The option has another default, or none any more.
    Default(Option<&'static str>),
    /// The paragraphs of help.
    Help(&'static [&'static str]),
    /// The constraint.
    Constraint(Constraint),
    /// The names of excluded options.
    Excludes(&'static [&'static str]),
}

impl Change {
    /// Combines this change with the first release that has the change.
    pub const fn since(self, since: &'static Release) -> Later {
        Later { since, change: self }
    }
}
