//! The file that describes a job.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::codec::Codec;
use crate::durable::{open_own, replace};
use crate::error::{Context, Error};
use crate::properties::JobProperties;

/// Name of the job file.
pub(crate) const NAME: &str = "job";
/// Name of the job file's next version while it is being written.
pub(crate) const ASIDE: &str = "job.new";
/// Version of the format of the job file.
const FORMAT: u32 = 3;
/// Maximal length of a job file in bytes: enough for a database of 50,000 volumes.
const MAX_BYTES: u64 = 16 << 20;

/// The contents of the job file: the job, and the number of its starts.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Job {
    /// Version of the format of the job file.
    format: u32,
    /// The mark of the job, which all its records have.
    pub(crate) mark: u64,
    /// Number of times that the job was started.
    pub(crate) runs: u32,
    /// The compression of the records.
    pub(crate) codec: Codec,
    /// Properties that the results depend on. `None` for a job that cannot be resumed: its inputs
    /// were not examined.
    pub(crate) properties: Option<JobProperties>,
}

/// The field that all versions of the format have.
#[derive(Deserialize)]
struct Format {
    format: u32,
}

impl Job {
    /// Creates a job that has not been started.
    pub(crate) fn new(
        root: &Path,
        properties: Option<&JobProperties>,
        codec: Codec,
    ) -> Result<Self, Error> {
        let mark = match properties {
            Some(properties) => {
                xxh3_64(&serde_json::to_vec(properties).map_err(|error| malformed(root, error))?)
            }
            // This mark differs from that of any other job.
            None => RandomState::new().hash_one((root, std::process::id(), SystemTime::now())),
        };
        Ok(Self { format: FORMAT, mark, runs: 0, codec, properties: properties.cloned() })
    }

    /// Reads the job file of a directory; `None` if there is none. The file must belong to `owner`.
    pub(crate) fn read(root: &Path, owner: u32) -> Result<Option<Self>, Error> {
        let path = root.join(NAME);
        let file = match open_own(File::options().read(true), &path, owner) {
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                return Ok(None);
            }
            result => result?,
        };
        let mut text = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut text).during("read", &path)?;
        let Format { format } =
            serde_json::from_slice(&text).map_err(|error| malformed(root, error))?;
        if format != FORMAT {
            let what = format!("its format is {format}, and this version knows {FORMAT}");
            return Err(malformed(root, what));
        }
        serde_json::from_slice(&text).map(Some).map_err(|error| malformed(root, error))
    }

    /// Writes the job file to the directory, durably.
    pub(crate) fn write(&self, root: &Path) -> Result<(), Error> {
        let mut text = serde_json::to_vec_pretty(self).map_err(|error| malformed(root, error))?;
        text.push(b'\n');
        replace(&root.join(NAME), &root.join(ASIDE), &text)
    }
}

fn malformed(root: &Path, what: impl ToString) -> Error {
    Error::JobFile { path: root.join(NAME), what: what.to_string() }
}
