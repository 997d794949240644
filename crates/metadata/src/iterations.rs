//! Results of psiblast's iterations, for an I/O site that only looks up the sequences: all that
//! reports show besides the alignments ([`hits`]).

use std::collections::BTreeSet;

use fleetblast_engine::hits::SubjectHit;
use fleetblast_stats::karlin::KarlinParameters;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::error::OutOfMemory;
use crate::hits;
use crate::values::{compress_value, decompress_value, encode};

/// The iterations of all queries of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockIterations {
    /// Whether the report is one document (XML): then only subjects that it shows go into PSSMs.
    pub is_document: bool,
    /// Number of iterations of the queries of earlier blocks.
    pub before: u64,
    /// The queries.
    pub queries: Vec<QueryIterations>,
}

/// The iterations of a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueryIterations {
    /// The iterations in their order; none for a query that cannot be searched.
    pub iterations: Vec<IterationResult>,
    /// Whether the last iteration found no new subject.
    pub converged: bool,
}

/// An iteration of a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IterationResult {
    /// Statistics of its PSSM, without gaps and with them; `None` in an iteration without PSSM.
    pub statistics: Option<[KarlinParameters; 2]>,
    /// Subjects below the threshold in the iteration before; `None` if these are the shown ones.
    pub known: Option<Vec<u32>>,
    /// Warnings of BLAST+.
    pub messages: Vec<String>,
    /// Number of alignments of subjects that the report does not show.
    pub hidden: u64,
    /// Whether the iteration found more subjects than the report shows.
    pub exceeds: bool,
}

impl BlockIterations {
    /// Encodes the iterations, followed by the encoded `hits`.
    ///
    /// # Errors
    /// No memory.
    pub fn encode(&self, hits: &[u8]) -> Result<Vec<u8>, OutOfMemory> {
        let own = compress_value(self)?;
        Ok([&encode(&(own.len() as u64)), &own, hits].concat())
    }

    /// Decodes the iterations of `queries` queries; returns them and the encoded hits. `None` for
    /// other bytes.
    pub fn decode(bytes: &[u8], queries: usize) -> Option<(Self, &[u8])> {
        let (length, rest): (u64, &[u8]) = postcard::take_from_bytes(bytes).ok()?;
        let (own, hits) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        let iterations: BlockIterations = decompress_value(own)?;
        (iterations.queries.len() == queries).then_some((iterations, hits))
    }
}

/// Returns the fingerprint of the hits of all iterations, as [`hits::digest`], and of the subjects
/// that each shows as known.
pub fn digest(hits: &[Vec<SubjectHit>], known: &[BTreeSet<u32>]) -> u64 {
    let mut state = Xxh3::new();
    let mut add = |value: u64| state.update(&value.to_le_bytes());
    add(hits::digest(hits));
    for known in known {
        add(known.len() as u64);
        known.iter().for_each(|&oid| add(u64::from(oid)));
    }
    state.digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iterations() -> BlockIterations {
        let block = KarlinParameters { lambda: 0.267, k: 0.041, log_k: 0.041f64.ln(), h: 0.14 };
        let first = IterationResult {
            statistics: None,
            known: None,
            messages: Vec::new(),
            hidden: 0,
            exceeds: false,
        };
        let next = IterationResult {
            statistics: Some([block; 2]),
            known: Some(vec![3, 900]),
            messages: vec!["m".to_owned()],
            hidden: 7,
            exceeds: true,
        };
        let queries = vec![
            QueryIterations { iterations: vec![first, next], converged: true },
            QueryIterations { iterations: Vec::new(), converged: false },
        ];
        BlockIterations { is_document: true, before: 9, queries }
    }

    #[test]
    fn iterations_come_back_with_the_bytes_after_them() {
        let bytes = iterations().encode(b"hits").unwrap();
        assert_eq!(BlockIterations::decode(&bytes, 2), Some((iterations(), &b"hits"[..])));
        assert_eq!(BlockIterations::decode(&bytes, 3), None);
        for end in 0..bytes.len() - 4 {
            assert_eq!(BlockIterations::decode(&bytes[..end], 2), None);
        }
    }
}
