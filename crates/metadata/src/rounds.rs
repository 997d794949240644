//! Searches of queries in rounds, for another site that only looks the sequences up: with what each is reported, besides its
//! alignments ([`hits`]).

use std::collections::BTreeSet;

use fleetblast_engine::hits::SubjectHit;
use fleetblast_stats::karlin::KarlinBlock;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::error::NoRoom;
use crate::hits;
use crate::values::{compress_value, decompress_value, encode};

/// What the searches of a block's queries are reported with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rounds {
    /// They were searched for one document (XML), for which subjects that are not shown do not go into matrices.
    pub is_document: bool,
    /// Searches of queries of earlier blocks.
    pub before: u64,
    /// The queries.
    pub queries: Vec<Searches>,
}

/// The searches of a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Searches {
    /// One after the other; none of a query that cannot be searched.
    pub searches: Vec<Search>,
    /// The last found nothing new.
    pub converged: bool,
}

/// A search of a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// Statistics of its matrix, without gaps and with them, if it has one.
    pub statistics: Option<[KarlinBlock; 2]>,
    /// The subjects below the threshold in the search before, if they are not just those that are shown of it.
    pub known: Option<Vec<u32>>,
    /// What BLAST+ warns of.
    pub messages: Vec<String>,
    /// Alignments of subjects that are not shown.
    pub hidden: u64,
    /// It found more subjects than are shown.
    pub exceeds: bool,
}

impl Rounds {
    /// As bytes, before those of what was found.
    ///
    /// # Errors
    /// No memory.
    pub fn encode(&self, found: &[u8]) -> Result<Vec<u8>, NoRoom> {
        let own = compress_value(self)?;
        Ok([&encode(&(own.len() as u64)), &own, found].concat())
    }

    /// Of so many queries, and the bytes of what was found; `None` for bytes that are none.
    pub fn decode(bytes: &[u8], queries: usize) -> Option<(Self, &[u8])> {
        let (length, rest): (u64, &[u8]) = postcard::take_from_bytes(bytes).ok()?;
        let (own, found) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        let rounds: Rounds = decompress_value(own)?;
        (rounds.queries.len() == queries).then_some((rounds, found))
    }
}

/// A fingerprint of what searches found, as [`hits::digest`], and of the subjects that each of them shows as known.
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

    fn rounds() -> Rounds {
        let block = KarlinBlock { lambda: 0.267, k: 0.041, log_k: 0.041f64.ln(), h: 0.14 };
        let first = Search {
            statistics: None,
            known: None,
            messages: Vec::new(),
            hidden: 0,
            exceeds: false,
        };
        let next = Search {
            statistics: Some([block; 2]),
            known: Some(vec![3, 900]),
            messages: vec!["m".to_owned()],
            hidden: 7,
            exceeds: true,
        };
        let queries = vec![
            Searches { searches: vec![first, next], converged: true },
            Searches { searches: Vec::new(), converged: false },
        ];
        Rounds { is_document: true, before: 9, queries }
    }

    #[test]
    fn rounds_come_back_with_what_is_behind_them() {
        let bytes = rounds().encode(b"found").unwrap();
        assert_eq!(Rounds::decode(&bytes, 2), Some((rounds(), &b"found"[..])));
        assert_eq!(Rounds::decode(&bytes, 3), None);
        for end in 0..bytes.len() - 5 {
            assert_eq!(Rounds::decode(&bytes[..end], 2), None);
        }
    }
}
