//! Counts of sent messages, for drivers and the simulator.

use serde::{Deserialize, Serialize};

/// Number and size of the messages that a role or a rank sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Number of messages.
    pub messages: u64,
    /// Bytes of all messages.
    pub bytes: u64,
}

impl Traffic {
    /// Counts one more message of `bytes` bytes.
    pub fn add(&mut self, bytes: u64) {
        self.messages += 1;
        self.bytes += bytes;
    }
}
