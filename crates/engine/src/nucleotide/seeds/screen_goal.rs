//! The limits by which seeds are screened together.

/// The score that a seed must reach, and the X-drop of its extension.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(any(target_arch = "x86_64", test)), expect(dead_code, reason = "no screen"))]
pub(super) struct ScreenGoal {
    /// Greatest drop of the score that does not stop an extension.
    pub x_drop: i32,
    /// The least score of a seed that is not rejected.
    pub least: i32,
}

/// Greatest number of seeds that are screened together.
pub(super) const SIDE_BY_SIDE: usize = 64;
