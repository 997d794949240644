//! Encodes the subjects that the report shows. The I/O site searches these subjects again.

use crate::bits::{BitReader, BitWriter, rice_low_bits};
use crate::columns::{Column, join, split};
use crate::error::OutOfMemory;

/// Number of joined columns.
pub(crate) const COLUMNS: usize = 3;
/// Index of the column with the number of subjects of each query. Each number is doubled, and one
/// is added if the hit list overflowed.
pub(crate) const COUNTS: usize = 0;

/// The subjects that the report shows for a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownSubjects {
    /// OIDs of the subjects, ascending.
    pub oids: Vec<u32>,
    /// Whether more subjects were aligned than the hit list holds. This changes the order of the
    /// subjects that are kept.
    pub overflowed: bool,
}

/// Encodes the subjects of each query: their number, and the gaps between their OIDs in Rice's
/// code.
///
/// # Errors
/// There is not enough memory to compress the subjects.
pub fn encode(queries: &[ShownSubjects]) -> Result<Vec<u8>, OutOfMemory> {
    let (mut counts, mut lows, mut gaps) =
        (Column::default(), Column::default(), BitWriter::default());
    for query in queries {
        counts.add((query.oids.len() as u64) << 1 | u64::from(query.overflowed));
        let Some(&last) = query.oids.last() else { continue };
        let low = rice_low_bits(last / query.oids.len() as u32);
        lows.add(u64::from(low));
        let mut next = 0;
        for &oid in &query.oids {
            gaps.add_rice(oid - next, low);
            next = oid + 1;
        }
    }
    join::<COLUMNS>([counts, lows, Column(gaps.finish())])
}

/// Decodes the subjects of `queries` queries, in a database of `sequences` sequences. Returns
/// `None` for invalid bytes.
pub fn decode(bytes: &[u8], queries: usize, sequences: u32) -> Option<Vec<ShownSubjects>> {
    let [mut counts, mut lows, gaps] = split(bytes)?;
    let mut gaps = BitReader::new(gaps.bytes());
    let mut all = Vec::new();
    for _ in 0..queries {
        let encoded = counts.read()?;
        let mut oids = Vec::new();
        let low = if encoded >> 1 > 0 { lows.read_u32().filter(|&low| low < 32)? } else { 0 };
        let mut next: u32 = 0;
        for _ in 0..encoded >> 1 {
            let oid = next.checked_add(gaps.read_rice(low)?).filter(|&oid| oid < sequences)?;
            next = oid + 1;
            oids.push(oid);
        }
        all.push(ShownSubjects { oids, overflowed: encoded & 1 == 1 });
    }
    (counts.is_done() && lows.is_done() && gaps.has_only_padding()).then_some(all)
}

#[cfg(test)]
mod tests {
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn subjects_come_back(
            queries in prop::collection::vec(
                (btree_set(0..u32::MAX, 0..40), any::<bool>()).prop_map(|(oids, overflowed)| ShownSubjects {
                    oids: oids.into_iter().collect(),
                    overflowed,
                }),
                0..6,
            )
        ) {
            let bytes = encode(&queries).unwrap();
            prop_assert_eq!(decode(&bytes, queries.len(), u32::MAX), Some(queries.clone()));
            prop_assert_eq!(decode(&bytes, queries.len() + 1, u32::MAX), None);
            let last = queries.iter().filter_map(|query| query.oids.last()).max();
            if let Some(&last) = last {
                prop_assert_eq!(decode(&bytes, queries.len(), last), None);
            }
        }

        #[test]
        fn any_bytes_are_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = decode(&bytes, 3, u32::MAX);
        }
    }

    #[test]
    fn a_subject_takes_few_bits() {
        // 500 of 176,606 sequences, evenly spread, have 9.9 bits of information each.
        let oids: Vec<u32> = (0..500).map(|i| i * 353 + i * i % 300).collect();
        let bytes = encode(&[ShownSubjects { oids, overflowed: false }]).unwrap();
        assert!(bytes.len() < 500 * 11 / 8, "{}", bytes.len());
    }
}
