//! Verifies the order of records: each block occurs once, in the order of the queries.

use crate::block::BlockParts;
use crate::error::MetadataError;
use crate::header::End;
use crate::records::{Record, RecordKind, damage_error};

/// Counts blocks and queries, and verifies that no block is missing, duplicated or misplaced.
/// Checksums alone do not prove that: somebody can leave out a record and chain the others anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordOrder {
    blocks: u64,
    queries: u64,
}

impl RecordOrder {
    /// Continues after `blocks` blocks that have `queries` queries in all.
    pub fn after(blocks: u64, queries: u64) -> Self {
        RecordOrder { blocks, queries }
    }

    /// Returns the number of blocks verified so far.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Returns the number of queries in the blocks verified so far.
    pub fn queries(&self) -> u64 {
        self.queries
    }

    /// Verifies that the next record is in its place, and counts it.
    ///
    /// # Errors
    /// A block does not begin with the next query, the end states other numbers, or the record
    /// cannot be decoded.
    pub fn verify(&mut self, record: &Record) -> Result<(), MetadataError> {
        let offset = record.offset;
        match record.kind {
            RecordKind::Header => Ok(()),
            RecordKind::Block => {
                let BlockParts { first, queries, .. } = BlockParts::read(&record.body)
                    .ok_or(damage_error(offset, "a block of queries cannot be read"))?;
                let wanted = self.queries + 1;
                if queries > 0 && first != wanted {
                    return Err(MetadataError::Order { offset, found: first, wanted });
                }
                self.blocks += 1;
                self.queries = self.queries.saturating_add(queries);
                Ok(())
            }
            RecordKind::End => {
                let End { queries, blocks, has_report, .. } = End::decode(record)?;
                let counted = [queries, blocks];
                let came = [self.queries, self.blocks];
                if counted != came || !has_report && blocks > 0 {
                    return Err(MetadataError::Counts { offset, counted, came });
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, BlockResults, Query};

    fn block(numbers: std::ops::Range<u64>) -> (RecordKind, Vec<u8>) {
        let query = |number| Query {
            title: b"a title".to_vec(),
            ids: Vec::new(),
            letters: vec![3; 20],
            lower_case: Vec::new(),
            number,
            unnamed: number,
            range: None,
            messages: Vec::new(),
        };
        let queries: Vec<Query> = numbers.map(query).collect();
        let batches = vec![queries.len() as u32];
        let results = BlockResults::report(&[b"report".to_vec()]).unwrap();
        let block = Block { queries, batches, batch_state: None, searched: Vec::new(), results };
        (RecordKind::Block, block.encode().unwrap())
    }

    fn end(queries: u64, blocks: u64) -> (RecordKind, Vec<u8>) {
        let end = End { queries, blocks, has_report: true, ..End::default() };
        (RecordKind::End, end.encode().unwrap())
    }

    fn verify(records: &[&(RecordKind, Vec<u8>)]) -> Result<(), MetadataError> {
        let mut order = RecordOrder::default();
        records.iter().try_for_each(|(kind, body)| {
            order.verify(&Record { kind: *kind, offset: 12, body: body.clone() })
        })
    }

    #[test]
    fn blocks_that_are_missing_twice_there_or_elsewhere_are_refused() {
        let [one, two, three] = [block(1..4), block(4..5), block(5..9)];
        let last = end(8, 3);
        verify(&[&one, &two, &three, &last]).unwrap();
        let wrong = |found, wanted| Err(MetadataError::Order { offset: 12, found, wanted });
        assert_eq!(verify(&[&one, &three, &last]), wrong(5, 4));
        assert_eq!(verify(&[&one, &two, &two, &three, &last]), wrong(4, 5));
        assert_eq!(verify(&[&two, &one, &three, &last]), wrong(4, 1));
        let counts = |came| Err(MetadataError::Counts { offset: 12, counted: [8, 3], came });
        assert_eq!(verify(&[&one, &two, &last]), counts([4, 2]));
        assert_eq!(verify(&[&last]), counts([0, 0]));
        assert_ne!(verify(&[&one, &two, &three, &end(8, 4)]), Ok(()));
        assert_ne!(verify(&[&one, &two, &three, &end(7, 3)]), Ok(()));
        let nothing = End { queries: 8, blocks: 3, ..End::default() }.encode().unwrap();
        assert_ne!(verify(&[&one, &two, &three, &(RecordKind::End, nothing)]), Ok(()));
    }
}
