//! Queries without letters. They never fill a batch, so one batch may have millions of them.

use fleetblast_seq::fasta::{Options, Reader};

use super::record::QueryRecord;
use crate::error::Error;

/// Number of queries of a batch that are always kept unpacked.
const MAX_UNPACKED: usize = 10_000;

/// The queries of a batch while it is read. If no query of the batch has letters, BLAST+ reports an
/// error and none of the queries. So most of them are packed as definition lines until a query with
/// letters comes.
pub(super) struct BatchRecords {
    records: Vec<QueryRecord>,
    /// Whether no record has letters.
    is_without_letters: bool,
    /// Definition lines of the packed queries, each with its `>` and a line end. The packed queries
    /// follow `records` in the batch.
    packed: Vec<u8>,
    /// Number of packed queries.
    packed_count: usize,
    /// Options of the FASTA reader that unpacks the packed queries.
    options: Options,
}

impl BatchRecords {
    /// Creates an empty batch. `options` are those of the FASTA reader of the queries.
    pub(super) fn new(options: Options) -> Self {
        let (records, packed) = Default::default();
        BatchRecords { records, is_without_letters: true, packed, packed_count: 0, options }
    }

    /// Returns the number of queries, packed or not.
    pub(super) fn len(&self) -> usize {
        self.records.len() + self.packed_count
    }

    /// Returns whether the batch has queries, and none of them has letters.
    pub(super) fn is_all_empty(&self) -> bool {
        self.is_without_letters && !self.records.is_empty()
    }

    /// Adds a query.
    ///
    /// # Errors
    /// Packed queries that cannot be read again.
    pub(super) fn push(&mut self, record: QueryRecord) -> Result<(), Error> {
        if self.records.len() >= MAX_UNPACKED && self.is_without_letters && is_packable(&record) {
            self.packed.push(b'>');
            self.packed.extend_from_slice(&record.record.defline);
            self.packed.push(b'\n');
            self.packed_count += 1;
            return Ok(());
        }
        self.unpack()?;
        self.is_without_letters &= record.length() == 0;
        self.records.push(record);
        Ok(())
    }

    /// Returns all queries, unpacked.
    ///
    /// # Errors
    /// Packed queries that cannot be read again.
    pub(super) fn into_records(mut self) -> Result<Vec<QueryRecord>, Error> {
        self.unpack()?;
        Ok(self.records)
    }

    fn unpack(&mut self) -> Result<(), Error> {
        let Some(last) = self.records.last().filter(|_| self.packed_count > 0) else {
            return Ok(());
        };
        let packed = std::mem::take(&mut self.packed);
        self.packed_count = 0;
        // Packed queries follow the last record without a gap, and BLAST+ gives all of them the
        // same warnings.
        let (mut number, mut unnamed, messages) =
            (last.number, last.unnamed, last.messages.clone());
        let mut reader = Reader::new(&packed[..], "packed queries", self.options);
        while let Some(record) = reader.next_record().map_err(Error::engine)? {
            number += 1;
            unnamed += usize::from(record.ids.is_empty());
            let messages = messages.clone();
            self.records
                .push(QueryRecord { messages, ..QueryRecord::new(record, number, unnamed) });
        }
        Ok(())
    }
}

/// Returns whether the definition line and the position of a query determine all its properties, so
/// that it can be packed.
fn is_packable(query: &QueryRecord) -> bool {
    let record = &query.record;
    record.residues.is_empty()
        && record.has_defline
        && record.warnings.is_empty()
        && query.range.is_none()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fleetblast_seq::fasta::Rules;
    use fleetblast_seq::id::Molecule;

    use super::*;

    /// Reads the queries of a text.
    fn queries(options: Options, text: &str) -> Vec<QueryRecord> {
        let mut reader = Reader::new(text.as_bytes(), Path::new("q.fa"), options);
        let (mut all, mut unnamed) = (Vec::new(), 0);
        while let Some(record) = reader.next_record().unwrap() {
            unnamed += usize::from(record.ids.is_empty());
            all.push(QueryRecord::new(record, all.len() + 1, unnamed));
        }
        all
    }

    #[test]
    fn packed_queries_that_cannot_be_read_are_an_error() {
        let mut batch = BatchRecords::new(Options::default());
        for query in queries(Options::default(), ">a\n") {
            batch.push(query).unwrap();
        }
        batch.packed.extend_from_slice(b"%%%%\n");
        batch.packed_count = 1;
        let error = batch.into_records().err().expect("a query is lost");
        assert!(error.message.contains("packed queries, line 1"), "{error:?}");
    }

    #[test]
    fn packed_queries_are_unpacked_unchanged() {
        for parse_deflines in [false, true] {
            let options = Options {
                parse_deflines,
                rules: Rules::Query(Molecule::Protein),
                ..Options::default()
            };
            let empties: String = (0..2 * MAX_UNPACKED)
                .map(|number| match number % 4 {
                    0 => ">\n".to_owned(),
                    1 => format!("> lcl|a{number}  b\tc\n"),
                    2 => format!(">gb|AB{number}.1| t >c d\r\n"),
                    _ => format!(">a{number} t\u{1}e\n"),
                })
                .collect();
            for (tail, is_all_empty) in [("", true), (">q\nMKV\n>z\n", false)] {
                let wanted = queries(options, &(empties.clone() + tail));
                let mut batch = BatchRecords::new(options);
                wanted.iter().for_each(|query| batch.push(query.clone()).unwrap());
                assert_eq!((batch.len(), batch.is_all_empty()), (wanted.len(), is_all_empty));
                assert_eq!(batch.packed_count > 0, is_all_empty);
                let records = batch.into_records().unwrap();
                assert_eq!(records.len(), wanted.len());
                for (record, wanted) in records.iter().zip(&wanted) {
                    let line = wanted.record.line;
                    let record = &mut record.clone();
                    record.record.line = line;
                    assert_eq!(record.record, wanted.record);
                    assert_eq!(record.number, wanted.number);
                    assert_eq!(record.unnamed, wanted.unnamed);
                }
            }
        }
    }
}
