//! How a job ends.

use serde::{Deserialize, Serialize};

use crate::ids::Rank;

/// How a job ended in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    /// The output is whole.
    Completed,
    /// It was told to end early; what was finished is in the checkpoint, if there is one.
    Drained,
}

/// Why a job cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("rank {rank}: {cause}")]
pub struct Failure {
    /// The rank where it happened.
    pub rank: Rank,
    /// With which code the program is to exit.
    pub code: u8,
    /// What happened.
    pub cause: String,
}

impl Failure {
    /// Exit code when a rank is not heard of any more: no exit code of BLAST+ says that.
    pub const SILENCE: u8 = 255;
    /// Exit code when works or messages tell what cannot be, a fault of the program: that of an engine that fails.
    pub const FAULT: u8 = 3;
}
