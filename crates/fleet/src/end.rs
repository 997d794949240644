//! Ways in which a job ends.

use serde::{Deserialize, Serialize};

use crate::ids::Rank;

/// The way in which a job ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobEnd {
    /// The output is complete.
    Completed,
    /// The job ended early on request (a drain). The checkpoint, if there is one, holds the
    /// finished blocks.
    Drained,
}

/// Error that ends a job, with the rank where it occurred.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("rank {rank}: {cause}")]
pub struct Failure {
    /// The rank where the error occurred.
    pub rank: Rank,
    /// Exit code of the program.
    pub code: u8,
    /// Description of the error.
    pub cause: String,
}

impl Failure {
    /// Exit code when a rank is silent for too long. BLAST+ has no exit code for that.
    pub const SILENT_RANK_CODE: u8 = 255;
    /// Exit code if a message, or the outcome of a work, contradicts the protocol, which is a fault
    /// of the program. BLAST+ uses the same code when its engine fails.
    pub const FAULT_CODE: u8 = 3;
}
