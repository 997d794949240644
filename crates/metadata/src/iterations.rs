//! Results of psiblast's iterations. They have all that a report shows of an iteration besides the
//! alignments ([`hits`]), so the I/O site only looks up the sequences.

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
    /// Whether the report is one document (XML). If so, only subjects that the report shows go into
    /// PSSMs.
    pub is_document: bool,
    /// Number of iterations of all queries in earlier blocks.
    pub before: u64,
    /// The iterations of each query.
    pub queries: Vec<QueryIterations>,
}

/// The iterations of a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueryIterations {
    /// The iterations in their order. A query that cannot be searched has none.
    pub iterations: Vec<IterationResult>,
    /// Whether the last iteration found no new subject.
    pub converged: bool,
}

/// The results of one iteration of a query, without its alignments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IterationResult {
    /// Statistics of the PSSM without gaps and with gaps; `None` in an iteration without a PSSM.
    pub statistics: Option<[KarlinParameters; 2]>,
    /// OIDs of the subjects below the inclusion threshold in the iteration before; `None` if they
    /// follow from the subjects that the report shows of that iteration.
    pub known: Option<Vec<u32>>,
    /// Warnings of BLAST+ about the iteration.
    pub messages: Vec<String>,
    /// Number of alignments of those subjects that the report does not show.
    pub hidden: u64,
    /// Whether the iteration found more subjects than the report shows.
    pub exceeds: bool,
}

impl BlockIterations {
    /// Encodes the iterations, followed by `hits`, the encoded hits.
    ///
    /// # Errors
    /// There is not enough memory to compress the iterations.
    pub fn encode(&self, hits: &[u8]) -> Result<Vec<u8>, OutOfMemory> {
        let own = compress_value(self)?;
        Ok([&encode(&(own.len() as u64)), &own, hits].concat())
    }

    /// Decodes the iterations of `queries` queries. Returns them and the encoded hits after them,
    /// or `None` for invalid bytes.
    pub fn decode(bytes: &[u8], queries: usize) -> Option<(Self, &[u8])> {
        let (length, rest): (u64, &[u8]) = postcard::take_from_bytes(bytes).ok()?;
        let (own, hits) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        let iterations: BlockIterations = decompress_value(own)?;
        (iterations.queries.len() == queries).then_some((iterations, hits))
    }
}

/// Returns the fingerprint of the hits of all iterations, as [`hits::digest`], and of the known
/// subjects. `known` has the OIDs that each iteration shows as known.
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
