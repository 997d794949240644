//! What crosses to another site instead of the report.

use std::path::PathBuf;
use std::time::Duration;

use fleetblast_link::Fingerprint;
use fleetblast_metadata::Kinds;
use fleetblast_metadata::header::OptionValue;

use super::Destination;

/// Metadata that are written in place of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    /// Where they go.
    pub out: Carriage,
    /// What of the search they tell.
    pub kinds: Kinds,
    /// Where the cheapest is chosen: what has more than this share of the report's bytes is not worth it.
    pub limit: f64,
    /// The options that were given on which search or report depend, but for paths, by name.
    pub options: Vec<(String, OptionValue)>,
    /// Environment variables on which they depend.
    pub environment: Vec<(String, Vec<u8>)>,
}

/// How metadata get to the other site.
#[derive(Clone, Debug, PartialEq)]
pub enum Carriage {
    /// As a file, which somebody brings there.
    File(Destination),
    /// By a link.
    Link(Link),
    /// To the I/O ranks of the same job, of which there are so many.
    Ranks(u32),
}

/// A link to another site.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// `HOST:PORT` where it listens, or `ADDR:PORT` where this one does.
    pub address: String,
    /// The file with the key of this site.
    pub key: PathBuf,
    /// The keys of the other one.
    pub peers: Vec<Fingerprint>,
    /// A sender gives up after so long without a confirmation, a receiver after so long without a
    /// connection; never for none.
    pub give_up: Option<Duration>,
}

impl Link {
    /// A peer that says nothing for so long is given up.
    pub fn patience(&self) -> Duration {
        const LONGEST: Duration = Duration::from_secs(20);
        // There is time for other connections.
        self.give_up.map_or(LONGEST, |after| (after / 3).min(LONGEST))
    }
}
