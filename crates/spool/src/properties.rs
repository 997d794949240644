//! The properties of a job that the bytes of its output depend on.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

/// All properties that the results of a job depend on. (Numbers of ranks and threads are not among
/// them.)
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobProperties {
    /// The command, such as `blastp`.
    pub program: String,
    /// Version of FleetBLAST.
    pub version: String,
    /// Text that distinguishes this build of FleetBLAST from others of the same version.
    pub build: String,
    /// Digest of the queries.
    pub query: QueryDigest,
    /// Digests of the database.
    pub database: DatabaseProperties,
    /// All options that the output depends on: their names with dashes, and their values.
    pub options: BTreeMap<String, String>,
    /// The rule that divides queries into blocks. It determines the blocks that block numbers mean.
    pub blocks: String,
}

/// Digest of a query input, to distinguish different inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryDigest {
    /// Length of the input in bytes.
    pub bytes: u64,
    /// XXH3 (128 bits) of the input's bytes, in hexadecimal digits.
    pub xxh3: String,
}

/// Numbers and digests of a database, to distinguish different databases.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseProperties {
    /// Name or names of the database, as in the output.
    pub name: String,
    /// Number of sequences in the database.
    pub sequences: u64,
    /// Number of residues or bases in the database.
    pub residues: u64,
    /// The volumes in OID order.
    pub volumes: Vec<VolumeProperties>,
    /// Checksum of the effect of aliases, lists and masks, and of titles and statistics.
    pub selection: String,
}

/// Numbers and digests of a volume, to distinguish volumes with the same name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VolumeProperties {
    /// File name of the volume without directory and extension.
    pub name: String,
    /// Date of creation, from the index of the volume.
    pub date: String,
    /// Number of sequences in the volume.
    pub sequences: u32,
    /// Checksum of the part of the volume's index that precedes the offset tables.
    pub index: String,
    /// Checksum of the residues that are searched.
    pub residues: String,
    /// Checksum of the definition lines of sequences that are searched.
    pub headers: String,
}

/// Computes a [`QueryDigest`] while the input is being read.
#[derive(Clone, Default)]
pub struct QueryHasher {
    bytes: u64,
    state: Box<Xxh3>,
}

impl QueryHasher {
    /// Adds the next bytes of the input.
    pub fn update(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.state.update(bytes);
    }

    /// Returns the digest of all bytes so far.
    pub fn finish(&self) -> QueryDigest {
        QueryDigest { bytes: self.bytes, xxh3: format!("{:032x}", self.state.digest128()) }
    }
}

/// A difference between the properties of two jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Description of the property that differs.
    pub what: String,
    /// Value of the property when the job began; `None` if the job did not have it.
    pub old_value: Option<String>,
    /// Value of the property now; `None` if the job does not have it any more.
    pub new_value: Option<String>,
}

/// All differences between the properties of two jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differences(pub Vec<Difference>);

/// Description of [`DatabaseProperties::selection`] in messages.
const SELECTION: &str = "the checksum of what aliases, lists and masks make of the database";

impl JobProperties {
    /// Compares these properties with later ones. The result is empty if the jobs are the same.
    pub fn differences(&self, now: &Self) -> Differences {
        let mut found = Collector::default();
        found.compare("the program", &self.program, &now.program);
        found.compare("the version of FleetBLAST", &self.version, &now.version);
        found.compare("the build of FleetBLAST", &self.build, &now.build);
        found.compare("the query", &self.query, &now.query);
        found.compare("the name of the database", &self.database.name, &now.database.name);
        let (was, is) = (&self.database, &now.database);
        let before = found.0.len();
        found.compare("the number of sequences in the database", &was.sequences, &is.sequences);
        found.compare("the number of letters in the database", &was.residues, &is.residues);
        for number in 0..was.volumes.len().max(is.volumes.len()) {
            found.compare_volumes(number, was.volumes.get(number), is.volumes.get(number));
        }
        // The checksum of the selection also covers the numbers above.
        if found.0.len() == before {
            found.compare(SELECTION, &was.selection, &is.selection);
        }
        let mut names: Vec<&String> = self.options.keys().chain(now.options.keys()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let what = || format!("the option {name}");
            found.compare_optional(what, self.options.get(name), now.options.get(name));
        }
        found.compare("the rule for query blocks", &self.blocks, &now.blocks);
        Differences(found.0)
    }
}

#[derive(Default)]
struct Collector(Vec<Difference>);

impl Collector {
    fn compare<T: PartialEq + fmt::Display>(&mut self, what: &str, was: &T, is: &T) {
        self.compare_optional(|| what.to_owned(), Some(was), Some(is));
    }

    /// Compares two volumes: first their descriptions, and if these are equal, their checksums.
    fn compare_volumes(
        &mut self,
        number: usize,
        was: Option<&VolumeProperties>,
        is: Option<&VolumeProperties>,
    ) {
        let found = self.0.len();
        let describe = |volume: &VolumeProperties| volume.to_string();
        let what = || format!("volume {} of the database", number + 1);
        self.compare_optional(what, was.map(describe).as_ref(), is.map(describe).as_ref());
        if let (Some(was), Some(is), true) = (was, is, self.0.len() == found) {
            let of = |what: &str| format!("the checksum of the {what} in {}", was.name);
            self.compare(&of("index"), &was.index, &is.index);
            self.compare(&of("sequences"), &was.residues, &is.residues);
            self.compare(&of("headers"), &was.headers, &is.headers);
        }
    }

    fn compare_optional<T: PartialEq + fmt::Display>(
        &mut self,
        what: impl FnOnce() -> String,
        was: Option<&T>,
        is: Option<&T>,
    ) {
        if was != is {
            let (old_value, new_value) = (was.map(T::to_string), is.map(T::to_string));
            self.0.push(Difference { what: what(), old_value, new_value });
        }
    }
}

impl fmt::Display for QueryDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes with the checksum {}", self.bytes, self.xxh3)
    }
}

impl fmt::Display for VolumeProperties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}, {} sequences", self.name, self.date, self.sequences)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.old_value, &self.new_value) {
            (Some(was), Some(is)) => write!(f, "{} was '{was}' and is '{is}'", self.what),
            (Some(was), None) => write!(f, "{} was '{was}' and is not there", self.what),
            (None, Some(is)) => write!(f, "{} was not there and is '{is}'", self.what),
            (None, None) => write!(f, "{} is as it was", self.what),
        }
    }
}

/// Maximal number of differences in a message. A database of many volumes can have hundreds.
const SHOWN: usize = 4;

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, difference) in self.0.iter().take(SHOWN).enumerate() {
            let separator = if number == 0 { "" } else { "; " };
            write!(f, "{separator}{difference}")?;
        }
        match self.0.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

#[cfg(test)]
mod tests;
