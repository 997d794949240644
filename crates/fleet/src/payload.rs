//! Data of works and messages: real bytes for a real driver, only a size for the simulator.

use serde::{Deserialize, Serialize};

/// Data that works produce and read, and that messages carry. Clones must be cheap, because the
/// queries of a block go to many workers.
pub trait Payload: Clone {
    /// Returns the size in bytes.
    fn bytes(&self) -> u64;
}

impl Payload for std::sync::Arc<[u8]> {
    fn bytes(&self) -> u64 {
        self.len() as u64
    }
}

/// Amount of work in a block of queries, as far as it is known before the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weight {
    /// Number of query sequences.
    pub sequences: u64,
    /// Residues of these sequences.
    pub residues: u64,
}

/// Queries that are scheduled together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queries<P> {
    /// The queries, as the supermaster's `Read` work returned them.
    pub payload: P,
    /// Weight of the queries.
    pub weight: Weight,
}
