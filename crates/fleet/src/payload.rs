//! What travels: bytes to a real driver, a size to the simulator.

use serde::{Deserialize, Serialize};

/// Something that the works make and take, and that messages carry. Clones must be cheap: a block's queries go to many
/// workers.
pub trait Payload: Clone {
    /// Size in bytes.
    fn bytes(&self) -> u64;
}

impl Payload for std::sync::Arc<[u8]> {
    fn bytes(&self) -> u64 {
        self.len() as u64
    }
}

/// Work that a block of queries is, as far as it shows before the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weight {
    /// Query sequences.
    pub sequences: u64,
    /// Their residues.
    pub residues: u64,
}

/// Queries that are searched together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queries<P> {
    /// The queries, as the `Read` work made them.
    pub payload: P,
    /// Their weight.
    pub weight: Weight,
}
