//! Seeds that are judged side by side.

/// What a seed must reach.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    /// An extension stops where its score has fallen by more than this.
    pub x_drop: i32,
    /// The least score that is worth anything.
    pub least: i32,
}

/// So many seeds are judged together at most.
pub(super) const SIDE_BY_SIDE: usize = 64;
