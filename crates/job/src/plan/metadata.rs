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
    /// Destination of the metadata.
    pub out: MetadataDestination,
    /// Choice of the encoding of the results.
    pub encodings: EncodingChoice,
    /// Maximum size of an encoding, as a share of the report's bytes. It applies if the job chooses
    /// the cheapest encoding of each block.
    pub limit: f64,
    /// The options given by the user on which search or report depend, without paths: names and
    /// values.
    pub options: Vec<(String, OptionValue)>,
    /// Environment variables on which search or report depend: names and values.
    pub environment: Vec<(String, Vec<u8>)>,
}

/// The way in which metadata reach the other site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum MetadataDestination {
    /// A file, which a user copies to the other site.
    File(Destination),
    /// A link to the other site.
    Link(Link),
    /// The I/O ranks of the same job. The value is their number.
    Ranks(u32),
}

/// A link to another site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// `HOST:PORT` of the other site if this site sends, or `ADDR:PORT` at which this site listens.
    pub address: String,
    /// The file with the key of this site.
    pub key: PathBuf,
    /// Fingerprints of the other site's keys.
    pub peers: Vec<Fingerprint>,
    /// Time after which a sender without a confirmation, or a receiver without a connection, gives
    /// up; `None` for never.
    pub give_up: Option<Duration>,
}

impl Link {
    /// Returns the time after which a site gives up a connection to a silent peer.
    pub fn silence_limit(&self) -> Duration {
        const LONGEST: Duration = Duration::from_secs(20);
        // A part of the limit, so that time is left for other connections.
        self.give_up.map_or(LONGEST, |after| (after / 3).min(LONGEST))
    }
}
