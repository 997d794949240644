//! The plan of metadata, which go to another site instead of a report.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

use fleetblast_link::Fingerprint;
use fleetblast_metadata::EncodingChoice;
use fleetblast_metadata::header::OptionValue;

use super::Destination;

/// Metadata that are written instead of a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    /// Their destination.
    pub out: MetadataDestination,
    /// The encoding of the results.
    pub encodings: EncodingChoice,
    /// With the cheapest encoding: an encoding with more than this share of the report's bytes is
    /// not used.
    pub limit: f64,
    /// The given options on which search or report depend, without paths: names and values.
    pub options: Vec<(String, OptionValue)>,
    /// Environment variables on which search or report depend: names and values.
    pub environment: Vec<(String, Vec<u8>)>,
}

/// How metadata reach the other site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum MetadataDestination {
    /// In a file, which somebody copies there.
    File(Destination),
    /// Over a link.
    Link(Link),
    /// To the I/O ranks of the same job, given their number.
    Ranks(u32),
}

/// A link to another site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// `HOST:PORT` of the other site if this one sends; `ADDR:PORT` at which this one listens.
    pub address: String,
    /// The file with the key of this site.
    pub key: PathBuf,
    /// Fingerprints of the other site's keys.
    pub peers: Vec<Fingerprint>,
    /// Time after which a sender without a confirmation gives up, and a receiver without a
    /// connection; `None` for never.
    pub give_up: Option<Duration>,
}

impl Link {
    /// Time after which a connection to a silent peer is given up.
    pub fn patience(&self) -> Duration {
        const LONGEST: Duration = Duration::from_secs(20);
        // Leaves time for other connections.
        self.give_up.map_or(LONGEST, |after| (after / 3).min(LONGEST))
    }
}
