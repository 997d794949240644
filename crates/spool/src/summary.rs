//! The file that says that all results are there, and how much that is.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::durable::replace;
use crate::error::{Context, Error};

/// Name of the file.
const NAME: &str = "report";
/// Its name while it is written.
const ASIDE: &str = "report.new";

/// How much a whole report is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Blocks of queries.
    pub blocks: u64,
    /// Queries.
    pub queries: u64,
    /// Bytes, with what stands before the first block and after the last one.
    pub bytes: u64,
}

impl Summary {
    /// That of a directory; `None` if not all results are there.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::JobFile`] for a file that says something else.
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
