//! One volume: an index, the residues, the headers.

use std::ops::Range;
use std::path::{Path, PathBuf};

use fleetblast_seq::alphabet;
use fleetblast_seq::id::{ObjectId, SeqId};

use crate::bytes::Bytes;
use crate::defline::{self, Defline, ORDINAL_DB};
use crate::index::{Index, Table};
use crate::{DbError, path};

/// The three files of a volume, already in memory.
#[derive(Clone, Debug, Default)]
pub struct VolumeBytes {
    /// Contents of the `.pin` file.
    pub index: Vec<u8>,
    /// Contents of the `.psq` file.
    pub residues: Vec<u8>,
    /// Contents of the `.phr` file.
    pub headers: Vec<u8>,
}

/// Where definition lines come from.
#[derive(Debug)]
enum Headers {
    /// A header file.
    File(Bytes),
    /// Records that were never written.
    Parsed(Vec<Vec<Defline>>),
}

/// An opened volume. OIDs count from 0 here; `first` arguments give the OID of the volume's first
/// sequence in the whole database, for messages and for stored ordinals.
#[derive(Debug)]
pub(crate) struct Volume {
    /// Path without extension; a label for volumes in memory.
    name: PathBuf,
    index: Index,
    index_bytes: Bytes,
    residues: Bytes,
    headers: Headers,
}

impl Volume {
    /// Opens the files `base.pin`, `base.psq`, `base.phr`. A volume without sequences needs only
    /// the first.
    pub(crate) fn open(base: &[u8]) -> Result<Self, DbError> {
        let index_path = path::with_extension(base, "pin");
        let index_bytes = Bytes::map(&index_path)?;
        let index = Index::parse(&index_bytes, &index_path)?;
        let file = |extension| match index.sequences {
            0 => Ok(Bytes::Held(Vec::new())),
            _ => Bytes::map(&path::with_extension(base, extension)),
        };
        let (residues, headers) = (file("psq")?, Headers::File(file("phr")?));
        let name = PathBuf::from(path::os(base));
        let volume = Self { name, index, index_bytes, residues, headers };
        volume.check_ends()?;
        Ok(volume)
    }

    /// A volume of bytes in memory; `name` stands for its path in messages.
    pub(crate) fn from_bytes(name: &str, bytes: VolumeBytes) -> Result<Self, DbError> {
        let index = Index::parse(&bytes.index, &PathBuf::from(format!("{name}.pin")))?;
        let volume = Self {
            name: name.into(),
            index,
            index_bytes: Bytes::Held(bytes.index),
            residues: Bytes::Held(bytes.residues),
            headers: Headers::File(Bytes::Held(bytes.headers)),
        };
        volume.check_ends()?;
        Ok(volume)
    }

    /// A volume of bytes in memory whose definition lines were never encoded.
    pub(crate) fn from_records(
        name: &str,
        index: Vec<u8>,
        residues: Vec<u8>,
        deflines: Vec<Vec<Defline>>,
    ) -> Result<Self, DbError> {
        let parsed = Index::parse(&index, &PathBuf::from(format!("{name}.pin")))?;
        Ok(Self {
            name: name.into(),
            index: parsed,
            index_bytes: Bytes::Held(index),
            residues: Bytes::Held(residues),
            headers: Headers::Parsed(deflines),
        })
    }

    pub(crate) fn index(&self) -> &Index {
        &self.index
    }

    /// Path of one of the volume's files, for messages.
    fn file(&self, extension: &str) -> PathBuf {
        let mut name = self.name.clone().into_os_string();
        name.push(".");
        name.push(extension);
        name.into()
    }

    /// The LMDB file that a version-5 volume names, beside the volume.
    pub(crate) fn lmdb(&self) -> Option<PathBuf> {
        let name = Path::new(path::os(&self.index.lmdb));
        (!self.index.lmdb.is_empty()).then(|| self.name.with_file_name(name))
    }

    /// Checks that the first and the last entry of both tables lie in their files, and that so many residues are stated
    /// as lie between them.
    fn check_ends(&self) -> Result<(), DbError> {
        let count = self.index.sequences;
        if count == 0 {
            return Ok(());
        }
        self.check_end(Table::Sequences, "psq", &self.residues)?;
        if let Headers::File(headers) = &self.headers {
            self.check_end(Table::Headers, "phr", headers)?;
        }
        let (first, last) =
            (self.offset(Table::Sequences, 0), self.offset(Table::Sequences, count));
        // The byte before the first residue is a sentinel.
        if first < 1 || last < first {
            return Err(self.bad_offset(Table::Sequences, 0, 0));
        }
        let (stated, found) = (self.index.residues, self.residues_before(count));
        if stated != found {
            return Err(DbError::Residues { path: self.file("pin"), stated, found });
        }
        Ok(())
    }

    fn check_end(&self, table: Table, extension: &str, file: &[u8]) -> Result<(), DbError> {
        let end = u64::from(self.offset(table, self.index.sequences));
        if end > file.len() as u64 {
            return Err(DbError::Truncated {
                path: self.file(extension),
                what: match table {
                    Table::Headers => "the headers",
                    Table::Sequences => "the sequences",
                },
                offset: u64::from(self.offset(table, 0)),
                needed: end,
                length: file.len() as u64,
            });
        }
        Ok(())
    }

    fn offset(&self, table: Table, i: u32) -> u32 {
        self.index.offset(&self.index_bytes, table, i).unwrap_or(0)
    }

    fn bad_offset(&self, table: Table, i: u32, first: u32) -> DbError {
        DbError::Offset {
            path: self.file("pin"),
            offset: self.index.position(table, i) as u64,
            what: table.name(),
            oid: first + i,
        }
    }

    /// Residues before sequence `i` in this volume, from the index; 0 for a table out of order.
    #[inline]
    pub(crate) fn residues_before(&self, i: u32) -> u64 {
        let start = self.offset(Table::Sequences, 0);
        let here = self.offset(Table::Sequences, i);
        u64::from(here.saturating_sub(start).saturating_sub(i))
    }

    /// The residues of sequence `i`, without sentinel; empty if there is no such sequence or its
    /// offsets are wrong.
    #[inline]
    pub(crate) fn residues(&self, i: u32) -> &[u8] {
        self.index
            .span(&self.index_bytes, Table::Sequences, i)
            .and_then(|span| self.residues.get(span.start..span.end.checked_sub(1)?))
            .unwrap_or(&[])
    }

    /// Length of sequence `i` from the index alone; 0 if there is none.
    #[inline]
    pub(crate) fn length(&self, i: u32) -> u32 {
        let span = self.index.span(&self.index_bytes, Table::Sequences, i).unwrap_or(0..0);
        // Both offsets have 32 bits, and so has their difference.
        u32::try_from(span.len()).unwrap_or(u32::MAX).saturating_sub(1)
    }

    /// The definition lines of sequence `i`.
    ///
    /// The stored `BL_ORD_ID` ordinals count from 0 in each volume; `first` is added, as
    /// `CSeqDBVol::x_GetHdrAsn1` does (seqdbvol.cpp).
    pub(crate) fn deflines(&self, i: u32, first: u32) -> Result<Vec<Defline>, DbError> {
        let file = match &self.headers {
            Headers::Parsed(lines) => {
                return Ok(lines.get(i as usize).cloned().unwrap_or_default());
            }
            Headers::File(file) => file,
        };
        let span = self.index.span(&self.index_bytes, Table::Headers, i);
        let Some((start, header)) = span.and_then(|s| Some((s.start, file.get(s)?))) else {
            return Err(self.bad_offset(Table::Headers, i, first));
        };
        let mut lines = defline::parse(header).map_err(|error| DbError::Header {
            path: self.file("phr"),
            offset: (start + error.at) as u64,
            oid: first + i,
            problem: error.problem,
        })?;
        for id in lines.iter_mut().flat_map(|line| &mut line.ids) {
            if let SeqId::General { db, tag: ObjectId::Number(ordinal) } = id
                && db == ORDINAL_DB
            {
                *ordinal = ordinal.saturating_add(i64::from(first));
            }
        }
        Ok(lines)
    }

    /// Checks offsets, sentinels and residue codes of the sequences in `range`.
    pub(crate) fn validate(&self, range: Range<u32>, first: u32) -> Result<(), DbError> {
        if range.is_empty() {
            return Ok(());
        }
        let mut start = self.offset(Table::Sequences, range.start);
        let begin = start as usize;
        for i in range.clone() {
            let end = self.offset(Table::Sequences, i + 1);
            if start == 0 || end <= start || end as usize > self.residues.len() {
                return Err(self.bad_offset(Table::Sequences, i + 1, first));
            }
            if self.residues[end as usize - 1] != alphabet::SENTINEL {
                return Err(self.bad_byte(end as usize - 1, first + i, "a sentinel"));
            }
            start = end;
        }
        if self.residues[begin - 1] != alphabet::SENTINEL {
            return Err(self.bad_byte(begin - 1, first + range.start, "a sentinel"));
        }
        let block = &self.residues[begin..start as usize];
        // One pass without branches, so that the compiler can use vectors.
        if block.iter().fold(0, |most, &code| most.max(code)) < alphabet::SIZE as u8 {
            return Ok(());
        }
        let bad = block.iter().position(|&code| usize::from(code) >= alphabet::SIZE).unwrap_or(0);
        let oid = self.sequence_at(begin + bad, &range);
        Err(self.bad_byte(begin + bad, first + oid, "a residue"))
    }

    /// The sequence in `range` whose bytes include position `at`; the offsets are in order.
    fn sequence_at(&self, at: usize, range: &Range<u32>) -> u32 {
        let (mut low, mut high) = (range.start, range.end);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.offset(Table::Sequences, middle) as usize <= at {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    fn bad_byte(&self, at: usize, oid: u32, expected: &'static str) -> DbError {
        let code = self.residues[at];
        DbError::Residue { path: self.file("psq"), offset: at as u64, oid, code, expected }
    }
}
