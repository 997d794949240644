//! The subjects that the report shows, for another site that searches just these again.

use crate::bits::{BitReader, BitWriter, rice_low};
use crate::columns::{Column, join, part};
use crate::error::NoRoom;

/// How many columns there are.
pub(crate) const COLUMNS: usize = 3;
/// The column with twice the number of each query's subjects.
pub(crate) const COUNTS: usize = 0;

/// What the report shows of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// The subjects, ascending.
    pub oids: Vec<u32>,
    /// More subjects were aligned than the list of hits takes, which changes the order among those that stay.
    pub overflowed: bool,
}

/// The subjects of each query as bytes: how many, and the gaps between them in Rice's code.
///
/// # Errors
/// No memory.
pub fn encode(queries: &[Shown]) -> Result<Vec<u8>, NoRoom> {
    let (mut counts, mut lows, mut gaps) =
        (Column::default(), Column::default(), BitWriter::default());
    for query in queries {
        counts.add((query.oids.len() as u64) << 1 | u64::from(query.overflowed));
        let Some(&last) = query.oids.last() else { continue };
        let low = rice_low(last / query.oids.len() as u32);
        lows.add(u64::from(low));
        let mut next = 0;
        for &oid in &query.oids {
            gaps.add_rice(oid - next, low);
            next = oid + 1;
        }
    }
    join::<COLUMNS>([counts, lows, Column(gaps.finish())])
}

/// The subjects of so many queries, of so many sequences; `None` for bytes that are not those of so many.
pub fn decode(bytes: &[u8], queries: usize, sequences: u32) -> Option<Vec<Shown>> {
    let [mut counts, mut lows, gaps] = part(bytes)?;
    let mut gaps = BitReader::new(gaps.bytes());
    let mut all = Vec::new();
    for _ in 0..queries {
        let told = counts.take()?;
        let mut oids = Vec::new();
        let low = if told >> 1 > 0 { lows.take_u32().filter(|&low| low < 32)? } else { 0 };
        let mut next: u32 = 0;
        for _ in 0..told >> 1 {
            let oid = next.checked_add(gaps.take_rice(low)?).filter(|&oid| oid < sequences)?;
            next = oid + 1;
            oids.push(oid);
        }
        all.push(Shown { oids, overflowed: told & 1 == 1 });
    }
    (counts.is_done() && lows.is_done() && gaps.ends()).then_some(all)
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
                (btree_set(0..u32::MAX, 0..40), any::<bool>()).prop_map(|(oids, overflowed)| Shown {
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
    fn a_subject_takes_little_more_than_what_tells_it() {
        // 500 of 176,606 sequences, evenly: 9.9 bits each tell them.
        let oids: Vec<u32> = (0..500).map(|i| i * 353 + i * i % 300).collect();
        let bytes = encode(&[Shown { oids, overflowed: false }]).unwrap();
        assert!(bytes.len() < 500 * 11 / 8, "{}", bytes.len());
    }
}
