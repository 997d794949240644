//! The memory that a record takes, from the lengths that its compressed parts state.

use crate::block::Outline;
use crate::columns::packed_columns;
use crate::records::{Record, RecordKind};
use crate::values::{Plain, stated_length};
use crate::{Kind, MetadataError};

/// Bytes of memory for each byte of values and hits, about.
const PARSED: u64 = 8;
/// The same for reports, whose parts are copied once.
const REPORTED: u64 = 2;

impl Record {
    /// Verifies that the contents of the record take no more than `available` bytes of memory,
    /// about.
    ///
    /// # Errors
    /// [`MetadataError::Memory`]. A record that cannot be read passes; decoding it fails.
    pub fn verify_memory(&self, available: u64) -> Result<(), MetadataError> {
        let needed = match self.kind {
            RecordKind::Header | RecordKind::End => {
                parsed(stated_length(&self.body, Plain::Values))
            }
            RecordKind::Block => block_memory(&self.body).unwrap_or(0),
        };
        match needed > available {
            true => Err(MetadataError::Memory { offset: self.offset, needed, available }),
            false => Ok(()),
        }
    }
}

fn parsed(length: Option<u64>) -> u64 {
    length.unwrap_or(0).saturating_mul(PARSED)
}

fn block_memory(body: &[u8]) -> Option<u64> {
    let Outline { kind, texts, letters, found, .. } = Outline::read(body)?;
    let found = match kind {
        Kind::Report => stated_length(found, Plain::Report).unwrap_or(0).saturating_mul(REPORTED),
        Kind::Oids | Kind::Hits => {
            // With iterations, their description and its length precede the columns.
            let iterations = postcard::take_from_bytes::<u64>(found).ok();
            let iterations = iterations.and_then(|(length, rest)| {
                let (own, columns) = rest.split_at_checked(usize::try_from(length).ok()?)?;
                Some(stated_length(own, Plain::Values)?.saturating_add(columns_length(columns)?))
            });
            parsed(columns_length(found).max(iterations))
        }
    };
    let texts = parsed(stated_length(texts, Plain::Values));
    Some(texts.saturating_add(stated_length(letters, Plain::Letters)?).saturating_add(found))
}

fn columns_length(bytes: &[u8]) -> Option<u64> {
    let columns = packed_columns(bytes)?;
    let lengths = columns.into_iter().map(|(column, is_packed)| match is_packed {
        true => stated_length(column, Plain::Column).unwrap_or(0),
        false => column.len() as u64,
    });
    Some(lengths.fold(0, u64::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subjects::{self, Shown};
    use crate::{Block, End, Found, Query};

    fn block(found: Found) -> Record {
        let query = Query {
            title: vec![b't'; 100],
            ids: Vec::new(),
            letters: vec![3; 5000],
            lower_case: Vec::new(),
            number: 1,
            unnamed: 1,
            range: None,
            messages: Vec::new(),
        };
        let (queries, batches) = (vec![query], vec![1]);
        let block = Block { queries, batches, course: None, searched: Vec::new(), found };
        Record { kind: RecordKind::Block, offset: 77, body: block.encode().unwrap() }
    }

    fn needed(record: &Record) -> u64 {
        match record.verify_memory(0) {
            Err(MetadataError::Memory { offset, needed, available: 0 }) => {
                assert_eq!(offset, record.offset);
                assert!(record.verify_memory(needed).is_ok());
                needed
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_a_record_takes_is_known_before_it_is_decompressed() {
        let own = 5000 + 8 * 100;
        let report = needed(&block(Found::report(&[vec![b'r'; 90_000]]).unwrap()));
        assert!((own + 180_000..own + 181_000).contains(&report), "{report}");
        let shown = [Shown { oids: (0..30_000).collect(), overflowed: false }];
        let bytes = subjects::encode(&shown).unwrap();
        let subjects = needed(&block(Found { kind: Kind::Oids, bytes, digest: 0 }));
        // A bit for each.
        assert!((own + 30_000..own + 31_000).contains(&subjects), "{subjects}");
        let closing = vec![b'c'; 10_000];
        let body = End { closing, ..End::default() }.encode().unwrap();
        let end = needed(&Record { kind: RecordKind::End, offset: 5, body });
        assert!((80_000..80_100).contains(&end), "{end}");
        let odd = Record { kind: RecordKind::Block, offset: 5, body: vec![9; 50] };
        assert_eq!(odd.verify_memory(0), Ok(()));
    }
}
