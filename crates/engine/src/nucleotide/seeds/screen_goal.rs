//! The scores that decide about seeds screened together.

/// The score that a seed must reach, and the X-drop of its extension.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScreenGoal {
    /// An extension stops when its score has fallen by more than this.
    pub x_drop: i32,
    /// The least score of a useful seed.
    pub least: i32,
}

/// Number of seeds that are screened together at most.
pub(super) const SIDE_BY_SIDE: usize = 64;
