//! What crosses to another site instead of the report.

use fleetblast_metadata::Kind;
use fleetblast_metadata::header::OptionValue;

use super::Destination;

/// Metadata that are written in place of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    /// Where they go.
    pub out: Destination,
    /// What of the search they tell.
    pub kind: Kind,
    /// The options that were given on which search or report depend, but for paths, by name.
    pub options: Vec<(String, OptionValue)>,
    /// Environment variables on which they depend.
    pub environment: Vec<(String, Vec<u8>)>,
}
