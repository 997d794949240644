//! The process that uses a directory.

use std::fmt;
use std::fs;

use serde::{Deserialize, Serialize};

/// A process that uses a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Name of its machine.
    pub host: String,
    /// Number of the process there.
    pub pid: u32,
    /// Time when it started to use the directory, in UTC.
    pub since: String,
    /// Boot id of Linux, which changes with each start of the machine. Empty if the system has
    /// none.
    pub boot: String,
}

impl Holder {
    /// This process.
    pub(crate) fn own() -> Self {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        Self {
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            pid: std::process::id(),
            since: jiff::Timestamp::now().to_string(),
            boot: boot.trim().to_owned(),
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {} since {}", self.pid, self.host, self.since)
    }
}
