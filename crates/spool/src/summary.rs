//! The file that marks a report as complete, and states its size.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::durable::replace;
use crate::error::{Context, Error};

/// Name of the summary file.
const NAME: &str = "report";
/// Name of the summary file while it is being written.
const ASIDE: &str = "report.new";

/// The size of a complete report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Number of query blocks.
    pub blocks: u64,
    /// Number of queries.
    pub queries: u64,
    /// Length of the report in bytes, including the output before the first block and after the
    /// last one.
    pub bytes: u64,
}

impl Summary {
    /// Reads the summary of a report; `None` if the report is not complete.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read; [`Error::JobFile`] if it cannot be parsed.
    pub fn read(root: &Path) -> Result<Option<Self>, Error> {
        let path = root.join(NAME);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            result => result.during("read", &path)?,
        };
        let wrong = |error: serde_json::Error| Error::JobFile { path, what: error.to_string() };
        serde_json::from_slice(&text).map(Some).map_err(wrong)
    }

    pub(crate) fn write(&self, root: &Path) -> Result<(), Error> {
        let wrong = |error: serde_json::Error| Error::JobFile {
            path: root.join(NAME),
            what: error.to_string(),
        };
        let mut text = serde_json::to_vec_pretty(self).map_err(wrong)?;
        text.push(b'\n');
        replace(&root.join(NAME), &root.join(ASIDE), &text)
    }
}
