//! Builds databases in memory, from the sequences of `-subject`.

use std::sync::Arc;

use fleetblast_seq::alphabet;
use fleetblast_seq::id::{ObjectId, SeqId};
use fleetblast_seq::nucleotide::blastna;
use fleetblast_seq::nucleotide::random::Random;

use crate::volume::Volume;
use crate::{Database, DatabaseInfo, DbError, Defline, SequenceKind};

/// One sequence for a database in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubjectRecord {
    /// Definition lines of the sequence.
    pub deflines: Vec<Defline>,
    /// Residues in NCBIstdaa (codes below 28), or bases in blastna (codes below 15).
    pub residues: Vec<u8>,
}

impl SubjectRecord {
    /// Creates a subject whose definition line is not parsed. The title is the whole line. The
    /// identifier is `lcl|Subject_n`, where n is `number`, counted from 1.
    pub fn unparsed(number: u32, line: &[u8], residues: Vec<u8>) -> Self {
        let name = format!("Subject_{number}").into_bytes();
        Self::with_ids(vec![SeqId::Local(ObjectId::Text(name))], line.to_vec(), residues)
    }

    /// Creates a subject with parsed identifiers, as for `-parse_deflines`.
    pub fn with_ids(ids: Vec<SeqId>, title: Vec<u8>, residues: Vec<u8>) -> Self {
        Self { deflines: vec![Defline { title, ids, ..Defline::default() }], residues }
    }
}

/// Maximal number of bytes of a volume, because offsets have 32 bits.
const LARGEST_VOLUME: usize = u32::MAX as usize;

impl Database {
    /// Builds a database from records, whose order gives the OIDs. Reports print `title`, e.g.
    /// `User specified sequence set (Input: s.fa).`; the date is `Unknown`.
    ///
    /// # Errors
    /// [`DbError::TooLarge`] for a sequence of 4 GiB or for more than 2^31 - 1 sequences.
    pub fn from_records(
        title: &[u8],
        kind: SequenceKind,
        records: impl IntoIterator<Item = SubjectRecord>,
    ) -> Result<Self, DbError> {
        build(title, kind, records, LARGEST_VOLUME)
    }
}

/// Builds a database from records, with at most `largest` bytes in each volume.
fn build(
    title: &[u8],
    kind: SequenceKind,
    records: impl IntoIterator<Item = SubjectRecord>,
    largest: usize,
) -> Result<Database, DbError> {
    let mut volumes = Vec::new();
    let mut builder = Builder::new(kind);
    for record in records {
        let stored = StoredBytes::new(kind, record.residues);
        // A volume has a sentinel before the first sequence; each sequence ends with another one.
        if stored.bytes.len() > largest - 1 {
            return Err(DbError::TooLarge {
                what: "residues in one sequence",
                found: u64::from(stored.length),
                maximum: largest as u64 - 2,
            });
        }
        if builder.residues.len() + stored.bytes.len() > largest {
            volumes.push(std::mem::replace(&mut builder, Builder::new(kind)).finish()?);
        }
        builder.push(stored, record.deflines);
    }
    volumes.push(builder.finish()?);
    let indexes = || volumes.iter().map(|volume| volume.index());
    let info = DatabaseInfo {
        name: Vec::new(),
        title: title.to_vec(),
        date: "Unknown".to_owned(),
        sequence_count: indexes().map(|index| u64::from(index.sequence_count)).sum(),
        residue_count: indexes().map(|index| index.residue_count).sum(),
    };
    Database::from_volumes(volumes, info)
}

/// The bytes of a sequence in the format of the sequence file.
struct StoredBytes {
    bytes: Vec<u8>,
    /// Offset of the ambiguities in `bytes`; for a protein, the number of bytes.
    ambiguities: usize,
    /// Number of residues or bases.
    length: u32,
}

/// Maximal number of bases in a run of one ambiguous base.
const LONGEST_RUN: usize = 1 << 12;
/// Flag in the count of words for the long format of ambiguities.
const LONG_RUNS: u32 = 1 << 31;

impl StoredBytes {
    fn new(kind: SequenceKind, mut letters: Vec<u8>) -> Self {
        let length = letters.len() as u32;
        if kind == SequenceKind::Protein {
            letters.push(alphabet::SENTINEL);
            return Self { ambiguities: letters.len(), bytes: letters, length };
        }
        // BLAST+ stores a random possible base for each ambiguous one, as makeblastdb does.
        let mut random = Random::new(length);
        let mut bytes = vec![0; letters.len() / 4 + 1];
        for (at, &code) in letters.iter().enumerate() {
            let base =
                if code < blastna::BASES { code } else { random.base(blastna::to_ncbi4na(code)) };
            bytes[at / 4] |= base << (6 - 2 * (at % 4));
        }
        bytes[letters.len() / 4] |= (letters.len() % 4) as u8;
        let ambiguities = bytes.len();
        let runs: Vec<u8> = ambiguous_runs(&letters);
        if !runs.is_empty() {
            bytes.extend((LONG_RUNS | (runs.len() / 4) as u32).to_be_bytes());
            bytes.extend(runs);
        }
        Self { bytes, ambiguities, length }
    }
}

/// Encodes the runs of ambiguous bases in the long format.
fn ambiguous_runs(letters: &[u8]) -> Vec<u8> {
    let mut runs = Vec::new();
    let mut start = 0;
    for same in letters.chunk_by(|a, b| a == b) {
        for run in same.chunks(LONGEST_RUN) {
            if run[0] >= blastna::BASES {
                let code = u32::from(blastna::to_ncbi4na(run[0]));
                runs.extend((code << 28 | (run.len() as u32 - 1) << 16).to_be_bytes());
                runs.extend((start as u32).to_be_bytes());
            }
            start += run.len();
        }
    }
    runs
}

/// A volume under construction.
struct Builder {
    kind: SequenceKind,
    residues: Vec<u8>,
    /// Offset of each sequence; the last entry is the end of the last sequence.
    offsets: Vec<u32>,
    /// Offset of the ambiguities of each sequence.
    ambiguities: Vec<u32>,
    deflines: Vec<Vec<Defline>>,
    letters: u64,
    longest: u32,
}

impl Builder {
    fn new(kind: SequenceKind) -> Self {
        Self {
            kind,
            residues: vec![alphabet::SENTINEL],
            offsets: vec![1],
            ambiguities: Vec::new(),
            deflines: Vec::new(),
            letters: 0,
            longest: 0,
        }
    }

    /// Adds a record to the volume. The caller ensures that all offsets stay below 2^32.
    fn push(&mut self, stored: StoredBytes, deflines: Vec<Defline>) {
        self.ambiguities.push((self.residues.len() + stored.ambiguities) as u32);
        self.residues.extend_from_slice(&stored.bytes);
        self.offsets.push(self.residues.len() as u32);
        self.deflines.push(deflines);
        self.letters += u64::from(stored.length);
        self.longest = self.longest.max(stored.length);
    }

    fn finish(mut self) -> Result<Arc<Volume>, DbError> {
        let sequences = self.deflines.len() as u32;
        let mut index = Vec::with_capacity(12 * self.offsets.len() + 40);
        // Fields of the index: version 4, sequence type, empty title, empty date, number of
        // sequences.
        for word in [4, u32::from(self.kind == SequenceKind::Protein), 0, 0, sequences] {
            index.extend_from_slice(&u32::to_be_bytes(word));
        }
        index.extend_from_slice(&self.letters.to_le_bytes());
        index.extend_from_slice(&self.longest.to_be_bytes());
        // The header offsets are zeros and unused, because the definition lines are never encoded.
        index.resize(index.len() + 4 * self.offsets.len(), 0);
        index.extend(self.offsets.iter().flat_map(|offset| offset.to_be_bytes()));
        if self.kind == SequenceKind::Nucleotide {
            self.ambiguities.push(self.residues.len() as u32);
            index.extend(self.ambiguities.iter().flat_map(|offset| offset.to_be_bytes()));
        }
        Volume::from_records("subjects", index, self.residues, self.deflines).map(Arc::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> Vec<SubjectRecord> {
        (0..20u32)
            .map(|i| {
                let residues = (0..i % 7).map(|j| (i + j) as u8 % 28).collect();
                SubjectRecord::unparsed(i + 1, format!("s{i} title").as_bytes(), residues)
            })
            .collect()
    }

    #[test]
    fn records_come_back_whatever_the_volume_size() {
        let records = records();
        for largest in [8, 9, 16, LARGEST_VOLUME] {
            let database =
                build(b"title", SequenceKind::Protein, records.clone(), largest).unwrap();
            assert_eq!(database.oid_count(), 20);
            database.validate(0..20).unwrap();
            for (oid, record) in (0..).zip(&records) {
                assert_eq!(database.residues_of(oid), record.residues);
                assert_eq!(database.length_of(oid) as usize, record.residues.len());
                assert_eq!(database.deflines(oid).unwrap(), record.deflines);
            }
            assert_eq!((database.sequence_count(), database.max_sequence_length()), (20, 6));
            let sum = records.iter().map(|r| r.residues.len() as u64).sum::<u64>();
            assert_eq!((database.residue_count(), database.stats_residue_count()), (sum, sum));
        }
    }

    #[test]
    fn bases_come_back_with_their_ambiguities() {
        let letters: Vec<u8> =
            (0..9000u32).map(|i| [0, 1, 14, 14, 2, 3, 4][i as usize % 7]).collect();
        let many = [vec![blastna::N; 9000], vec![3]].concat();
        for letters in [letters, many, vec![], vec![0, 1, 2, 3]] {
            let records =
                [1, 2].map(|number| SubjectRecord::unparsed(number, b"x", letters.clone()));
            let database = build(b"", SequenceKind::Nucleotide, records, LARGEST_VOLUME).unwrap();
            database.validate(0..2).unwrap();
            for oid in 0..2 {
                assert_eq!(database.length_of(oid) as usize, letters.len());
                let bases = database.bases_of(oid).unwrap();
                let mut decoded = Vec::new();
                bases.decode_blastna(0..letters.len() as u32, &mut decoded);
                assert_eq!(decoded, letters);
            }
            assert_eq!(database.residue_count(), 2 * letters.len() as u64);
        }
    }

    #[test]
    fn the_report_sees_title_and_no_date() {
        let database = Database::from_records(b"User", SequenceKind::Protein, records()).unwrap();
        assert_eq!(database.title(), b"User");
        assert_eq!(database.database_infos()[0].date, "Unknown");
        let id = &database.deflines(2).unwrap()[0].ids[0];
        assert_eq!(id, &SeqId::Local(ObjectId::Text(b"Subject_3".to_vec())));
        assert!(database.deflines(20).is_err());
        assert!(database.residues_of(20).is_empty());
    }

    #[test]
    fn a_sequence_too_large_for_a_volume_is_refused() {
        let record = SubjectRecord::unparsed(1, b"x", vec![1; 7]);
        assert!(matches!(
            build(b"", SequenceKind::Protein, [record], 8),
            Err(DbError::TooLarge { .. })
        ));
    }

    #[test]
    fn no_records_is_an_empty_database() {
        let database = Database::from_records(b"none", SequenceKind::Protein, []).unwrap();
        assert_eq!((database.oid_count(), database.sequence_count()), (0, 0));
        assert!(database.included_oids().is_empty() && database.partitions(3).is_empty());
        database.validate(0..0).unwrap();
    }
}
