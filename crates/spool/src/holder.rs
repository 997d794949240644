//! The process that uses the directory of a job.

use std::fmt;
use std::fs;

use serde::{Deserialize, Serialize};

/// A process that uses the directory of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockHolder {
    /// Name of the process's host.
    pub host: String,
    /// Number of the process on its host.
    pub pid: u32,
    /// Time in UTC when the process started to use the directory.
    pub since: String,
    /// Boot id of Linux, which changes at each start of the host. Empty if the system has none.
    pub boot: String,
}

impl LockHolder {
    /// Returns the description of this process.
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

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {} since {}", self.pid, self.host, self.since)
    }
}
