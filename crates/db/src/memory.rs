//! Databases that were never files: the subjects of `-subject`.

use std::sync::Arc;

use fleetblast_seq::alphabet;
use fleetblast_seq::id::{ObjectId, SeqId};

use crate::volume::Volume;
use crate::{Database, DatabaseInfo, DbError, Defline};

/// One sequence of a database in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its definition lines.
    pub deflines: Vec<Defline>,
    /// Its residues in NCBIstdaa, codes below 28.
    pub residues: Vec<u8>,
}

impl Record {
    /// A subject whose definition line is not parsed: the title is the whole line, the identifier
    /// `lcl|Subject_n`, `number` counting from 1.
    pub fn subject(number: u32, line: &[u8], residues: Vec<u8>) -> Self {
        let name = format!("Subject_{number}").into_bytes();
        Self::identified(vec![SeqId::Local(ObjectId::Text(name))], line.to_vec(), residues)
    }

    /// A subject with identifiers of its own, as with `-parse_deflines`.
    pub fn identified(ids: Vec<SeqId>, title: Vec<u8>, residues: Vec<u8>) -> Self {
        Self { deflines: vec![Defline { title, ids, ..Defline::default() }], residues }
    }
}

/// Bytes in a volume: offsets have 32 bits.
const LARGEST_VOLUME: usize = u32::MAX as usize;

impl Database {
    /// A database of records, numbered in this order. `title` is what a report prints, e.g.
    /// `User specified sequence set (Input: s.fa).`; the date is `Unknown`.
    ///
    /// # Errors
    /// [`DbError::TooLarge`] for a sequence of 4 GiB or for more than 2^31 - 1 sequences.
    pub fn from_records(
        title: &[u8],
        records: impl IntoIterator<Item = Record>,
    ) -> Result<Self, DbError> {
        build(title, records, LARGEST_VOLUME)
    }
}

/// As [`Database::from_records`], with volumes of at most `largest` bytes.
fn build(
    title: &[u8],
    records: impl IntoIterator<Item = Record>,
    largest: usize,
) -> Result<Database, DbError> {
    let mut volumes = Vec::new();
    let mut builder = Builder::default();
    for record in records {
        // Two sentinels.
        if record.residues.len() > largest - 2 {
            return Err(DbError::TooLarge {
                what: "residues in one sequence",
                found: record.residues.len() as u64,
                maximum: largest as u64 - 2,
            });
        }
        if builder.residues.len() + record.residues.len() + 1 > largest {
            volumes.push(std::mem::take(&mut builder).finish()?);
        }
        builder.push(record);
    }
    volumes.push(builder.finish()?);
    let indexes = || volumes.iter().map(|volume| volume.index());
    let info = DatabaseInfo {
        name: Vec::new(),
        title: title.to_vec(),
        date: "Unknown".to_owned(),
        sequences: indexes().map(|index| u64::from(index.sequences)).sum(),
        residues: indexes().map(|index| index.residues).sum(),
    };
    Database::from_volumes(volumes, info)
}

/// A volume while it grows.
struct Builder {
    residues: Vec<u8>,
    /// Where each sequence begins, and the end.
    offsets: Vec<u32>,
    deflines: Vec<Vec<Defline>>,
    longest: u32,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            residues: vec![alphabet::SENTINEL],
            offsets: vec![1],
            deflines: Vec::new(),
            longest: 0,
        }
    }
}

impl Builder {
    /// Adds a record; the caller made sure that all offsets stay below 2^32.
    fn push(&mut self, record: Record) {
        self.residues.extend_from_slice(&record.residues);
        self.residues.push(alphabet::SENTINEL);
        let end = self.residues.len() as u32;
        self.offsets.push(end);
        self.deflines.push(record.deflines);
        self.longest = self.longest.max(record.residues.len() as u32);
    }

    fn finish(self) -> Result<Arc<Volume>, DbError> {
        let sequences = self.deflines.len() as u32;
        let residues = self.residues.len() as u64 - 1 - u64::from(sequences);
        let mut index = Vec::with_capacity(8 * self.offsets.len() + 40);
        // Version 4, protein, no title, no date.
        for word in [4, 1, 0, 0, sequences] {
            index.extend_from_slice(&u32::to_be_bytes(word));
        }
        index.extend_from_slice(&residues.to_le_bytes());
        index.extend_from_slice(&self.longest.to_be_bytes());
        // Header offsets are not used: the definition lines are kept as they are.
        index.resize(index.len() + 4 * self.offsets.len(), 0);
        index.extend(self.offsets.iter().flat_map(|offset| offset.to_be_bytes()));
        Volume::from_records("subjects", index, self.residues, self.deflines).map(Arc::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> Vec<Record> {
        (0..20u32)
            .map(|i| {
                let residues = (0..i % 7).map(|j| (i + j) as u8 % 28).collect();
                Record::subject(i + 1, format!("s{i} title").as_bytes(), residues)
            })
            .collect()
    }

    #[test]
    fn records_come_back_whatever_the_volume_size() {
        let records = records();
        for largest in [8, 9, 16, LARGEST_VOLUME] {
            let database = build(b"title", records.clone(), largest).unwrap();
            assert_eq!(database.oid_count(), 20);
            database.validate(0..20).unwrap();
            for (oid, record) in (0..).zip(&records) {
                assert_eq!(database.residues_of(oid), record.residues);
                assert_eq!(database.length_of(oid) as usize, record.residues.len());
                assert_eq!(database.deflines(oid).unwrap(), record.deflines);
            }
            assert_eq!((database.sequences(), database.longest()), (20, 6));
            let sum = records.iter().map(|r| r.residues.len() as u64).sum::<u64>();
            assert_eq!((database.residues(), database.stats_residues()), (sum, sum));
        }
    }

    #[test]
    fn the_report_sees_title_and_no_date() {
        let database = Database::from_records(b"User", records()).unwrap();
        assert_eq!(database.title(), b"User");
        assert_eq!(database.infos()[0].date, "Unknown");
        let id = &database.deflines(2).unwrap()[0].ids[0];
        assert_eq!(id, &SeqId::Local(ObjectId::Text(b"Subject_3".to_vec())));
        assert!(database.deflines(20).is_err());
        assert!(database.residues_of(20).is_empty());
    }

    #[test]
    fn a_sequence_too_large_for_a_volume_is_refused() {
        let record = Record::subject(1, b"x", vec![1; 7]);
        assert!(matches!(build(b"", [record], 8), Err(DbError::TooLarge { .. })));
    }

    #[test]
    fn no_records_is_an_empty_database() {
        let database = Database::from_records(b"none", []).unwrap();
        assert_eq!((database.oid_count(), database.sequences()), (0, 0));
        assert!(database.oids().is_empty() && database.partitions(3).is_empty());
        database.validate(0..0).unwrap();
    }
}
