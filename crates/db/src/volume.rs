//! A volume of a database: index, sequence and header file.

mod check;
mod nucleotide;
mod piece;

use std::fs::{File, Metadata};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fleetblast_seq::alphabet;
use fleetblast_seq::id::{ObjectId, SeqId};

use crate::bytes::FileBytes;
use crate::defline::{self, Defline, ORDINAL_DB};
use crate::defline_filter::DeflineFilter;
use crate::index::{OffsetTable, VolumeIndex};
use crate::parts::VolumeFile;
use crate::stamp::FileStamp;
use crate::unprintable::{FirstUnprintable, UnprintableHeader, UnprintableText, make_printable};
use crate::{DbError, SequenceKind, path};

/// Contents of the three files of a volume, in memory.
#[derive(Clone, Debug, Default)]
pub struct VolumeBytes {
    /// Contents of the `.pin` or `.nin` file.
    pub index: Vec<u8>,
    /// Contents of the `.psq` or `.nsq` file.
    pub residues: Vec<u8>,
    /// Contents of the `.phr` or `.nhr` file.
    pub headers: Vec<u8>,
}

/// The source of a volume's definition lines.
#[derive(Clone, Debug)]
enum Headers {
    /// A header file.
    File(FileBytes),
    /// Definition lines in memory that were never encoded.
    Parsed(Arc<[Vec<Defline>]>),
}

/// An opened volume. Its sequences count from 0. Arguments `first` are the OID of its first
/// sequence in the whole database, for messages and for stored ordinals.
#[derive(Clone, Debug)]
pub(crate) struct Volume {
    /// Path without extension; a label for volumes in memory.
    name: PathBuf,
    /// Whether the name is a path by which the files can be opened again.
    on_disk: bool,
    /// Paths of the files, and their attributes when they were opened.
    stamps: Arc<[FileStamp]>,
    index: VolumeIndex,
    /// Bytes of the index file for each of its offset tables: the whole file, or the part with that
    /// table.
    tables: [FileBytes; OffsetTable::COUNT],
    residues: FileBytes,
    headers: Headers,
    /// Filter of the shown definition lines, and the number of this volume in the filter.
    filter: Option<(Arc<DeflineFilter>, usize)>,
    /// First sequence read so far whose definition lines have unprintable bytes.
    odd: Arc<FirstUnprintable>,
}

impl Volume {
    /// Opens the files `base.pin`, `base.psq` and `base.phr`, or for nucleotides `base.nin` and so
    /// on. A volume without sequences needs only the index.
    pub(crate) fn open(base: &[u8], kind: SequenceKind) -> Result<Self, DbError> {
        let index_path = path::with_extension(base, &kind.extension("in"));
        let (index_bytes, stamp) = FileBytes::map_volume_file(&index_path)?;
        let mut stamps = vec![stamp];
        let index = VolumeIndex::parse(&index_bytes, &index_path, Some(kind))?;
        let mut file = |extension| -> Result<FileBytes, DbError> {
            if index.sequence_count == 0 {
                return Ok(FileBytes::from_vec(Vec::new()));
            }
            let path = path::with_extension(base, &kind.extension(extension));
            let (bytes, stamp) = FileBytes::map_volume_file(&path)?;
            stamps.push(stamp);
            Ok(bytes)
        };
        let (residues, headers) = (file("sq")?, Headers::File(file("hr")?));
        let name = PathBuf::from(path::os_str(base));
        let tables = std::array::from_fn(|_| index_bytes.clone());
        let (filter, odd) = (None, Arc::default());
        let stamps = stamps.into();
        let volume =
            Self { name, on_disk: true, stamps, index, tables, residues, headers, filter, odd };
        volume.check_ends()?;
        Ok(volume)
    }

    /// Creates a volume of bytes in memory. Messages use `name` as its path.
    pub(crate) fn from_bytes(name: &str, bytes: VolumeBytes) -> Result<Self, DbError> {
        let index = VolumeIndex::parse(&bytes.index, &PathBuf::from(format!("{name}.pin")), None)?;
        let index_bytes = FileBytes::from_vec(bytes.index);
        let volume = Self {
            name: name.into(),
            on_disk: false,
            stamps: Arc::default(),
            index,
            tables: std::array::from_fn(|_| index_bytes.clone()),
            residues: FileBytes::from_vec(bytes.residues),
            headers: Headers::File(FileBytes::from_vec(bytes.headers)),
            filter: None,
            odd: Arc::default(),
        };
        volume.check_ends()?;
        Ok(volume)
    }

    /// Creates a volume of bytes in memory, with definition lines that were never encoded.
    pub(crate) fn from_records(
        name: &str,
        index: Vec<u8>,
        residues: Vec<u8>,
        deflines: Vec<Vec<Defline>>,
    ) -> Result<Self, DbError> {
        let parsed = VolumeIndex::parse(&index, &PathBuf::from(format!("{name}.pin")), None)?;
        let index = FileBytes::from_vec(index);
        Ok(Self {
            name: name.into(),
            on_disk: false,
            stamps: Arc::default(),
            index: parsed,
            tables: std::array::from_fn(|_| index.clone()),
            residues: FileBytes::from_vec(residues),
            headers: Headers::Parsed(deflines.into()),
            filter: None,
            odd: Arc::default(),
        })
    }

    /// Copies the volume and restricts its definition lines to those that `filter` shows for the
    /// volume with this number.
    pub(crate) fn with_filter(&self, filter: Arc<DeflineFilter>, number: usize) -> Self {
        Self { filter: Some((filter, number)), ..self.clone() }
    }

    /// Returns the filter of the shown definition lines; `None` if all are shown.
    pub(crate) fn filter(&self) -> Option<&DeflineFilter> {
        self.filter.as_ref().map(|(filter, _)| filter.as_ref())
    }

    pub(crate) fn index(&self) -> &VolumeIndex {
        &self.index
    }

    /// Returns the path of one of the volume's files. Its extension is the letter of the sequence
    /// type and `letters`.
    fn file(&self, letters: &str) -> PathBuf {
        let mut name = self.name.clone().into_os_string();
        name.push(".");
        name.push(self.index.kind.extension(letters));
        name.into()
    }

    /// Returns the attributes of the files when they were opened.
    pub(crate) fn file_metadata(&self) -> impl Iterator<Item = &Metadata> {
        self.stamps.iter().map(FileStamp::metadata)
    }

    /// Checks that the files have not changed since they were opened.
    ///
    /// # Errors
    /// [`DbError::FileChanged`] if a file has changed.
    pub(crate) fn check_unchanged(&self) -> Result<(), DbError> {
        self.stamps.iter().try_for_each(|stamp| stamp.verify_unchanged().map(drop))
    }

    /// Checks that the paths still name the opened files.
    ///
    /// # Errors
    /// [`DbError::FileReplacedWhileOpened`] if a path names another file or none.
    pub(crate) fn verify_paths(&self) -> Result<(), DbError> {
        self.stamps.iter().try_for_each(FileStamp::verify_path)
    }

    /// Checks that `file`, which was opened again at `path`, is still the same file of this volume.
    ///
    /// # Errors
    /// [`DbError::FileReplaced`] if it is another file.
    pub(crate) fn verify_same_file(&self, path: &Path, file: &File) -> Result<(), DbError> {
        for stamp in self.stamps.iter().filter(|stamp| stamp.path() == path) {
            if !stamp.matches_file(file).map_err(|source| DbError::open_error(path, source))? {
                return Err(DbError::FileReplaced { path: path.to_owned() });
            }
        }
        Ok(())
    }

    /// Returns the path without extension, or a label for a volume in memory.
    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    /// Returns the path of a file with the name of the volume. Its extension is the letter of the
    /// sequence type and `letters`.
    pub(crate) fn auxiliary_path(&self, letters: &str) -> PathBuf {
        self.file(letters)
    }

    /// Returns the name of the volume's files without directory and extension.
    pub(crate) fn base_name(&self) -> Vec<u8> {
        let name = self.name.file_name().unwrap_or_default();
        std::os::unix::ffi::OsStrExt::as_bytes(name).to_vec()
    }

    /// Returns the path of the LMDB file that a version-5 volume names, in the directory of the
    /// volume.
    pub(crate) fn lmdb_path(&self) -> Option<PathBuf> {
        let name = Path::new(path::os_str(&self.index.lmdb_name));
        (!self.index.lmdb_name.is_empty()).then(|| self.name.with_file_name(name))
    }

    /// Checks the first and the last sequence offset and the last header offset. Also checks that
    /// the stated number of residues agrees with the offsets.
    fn check_ends(&self) -> Result<(), DbError> {
        let count = self.index.sequence_count;
        if count == 0 {
            return self.check_empty();
        }
        self.check_end(OffsetTable::Sequences, "sq", &self.residues)?;
        if let Headers::File(headers) = &self.headers {
            self.check_end(OffsetTable::Headers, "hr", headers)?;
        }
        let (first, last) =
            (self.offset(OffsetTable::Sequences, 0), self.offset(OffsetTable::Sequences, count));
        // A sentinel stands before the first residue.
        if first < 1 || last < first {
            return Err(self.offset_error(OffsetTable::Sequences, 0, 0));
        }
        if self.index.kind == SequenceKind::Nucleotide {
            return self.check_nucleotide_end();
        }
        let (stated, found) = (self.index.residue_count, self.residues_before(count));
        if stated != found {
            return Err(DbError::ResidueCountMismatch { path: self.file("in"), stated, found });
        }
        Ok(())
    }

    fn check_end(
        &self,
        table: OffsetTable,
        extension: &str,
        file: &FileBytes,
    ) -> Result<(), DbError> {
        let end = u64::from(self.offset(table, self.index.sequence_count));
        if end > file.end_position() as u64 {
            return Err(DbError::FileTruncated {
                path: self.file(extension),
                what: match table {
                    OffsetTable::Headers => "the headers",
                    OffsetTable::Sequences | OffsetTable::Ambiguities => "the sequences",
                },
                offset: u64::from(self.offset(table, 0)),
                needed: end,
                length: file.end_position() as u64,
            });
        }
        Ok(())
    }

    fn offset(&self, table: OffsetTable, i: u32) -> u32 {
        self.index.offset(&self.tables[table as usize], table, i).unwrap_or(0)
    }

    /// Returns the range of item `i` in the file that a table points into.
    #[inline]
    fn span(&self, table: OffsetTable, i: u32) -> Option<Range<usize>> {
        self.index.entry_range(&self.tables[table as usize], table, i)
    }

    pub(crate) fn offset_error(&self, table: OffsetTable, i: u32, first: u32) -> DbError {
        DbError::InvalidOffset {
            path: self.file("in"),
            offset: self.index.entry_position(table, i) as u64,
            what: table.name(),
            oid: first + i,
        }
    }

    /// Returns the number of residues before sequence `i` in this volume, computed from the index.
    /// It is an upper limit for nucleotides, and 0 for offsets out of order.
    #[inline]
    pub(crate) fn residues_before(&self, i: u32) -> u64 {
        let start = self.offset(OffsetTable::Sequences, 0);
        let here = self.offset(OffsetTable::Sequences, i);
        let bytes = u64::from(here.saturating_sub(start));
        match self.index.kind {
            // A sentinel follows each sequence.
            SequenceKind::Protein => bytes.saturating_sub(i.into()),
            // The last byte of a sequence has at most three bases.
            SequenceKind::Nucleotide => {
                (nucleotide::BASES_IN_BYTE * bytes).saturating_sub(i.into())
            }
        }
    }

    /// Returns the residues of sequence `i` without sentinel. They are empty if the sequence does
    /// not exist or has wrong offsets.
    #[inline]
    pub(crate) fn residues(&self, i: u32) -> &[u8] {
        self.span(OffsetTable::Sequences, i)
            .and_then(|span| self.residues.file_range(span.start..span.end.checked_sub(1)?))
            .unwrap_or(&[])
    }

    /// Returns all bytes of sequence `i` in a file: residues or bases with all bytes up to the next
    /// sequence, or the header. They are empty for wrong offsets and for definition lines in
    /// memory.
    pub(crate) fn stored_bytes(&self, file: VolumeFile, i: u32) -> &[u8] {
        let bytes = match (file, &self.headers) {
            (VolumeFile::Sequences, _) => Some((OffsetTable::Sequences, &self.residues)),
            (VolumeFile::Headers, Headers::File(headers)) => Some((OffsetTable::Headers, headers)),
            (VolumeFile::Index, _) | (VolumeFile::Headers, Headers::Parsed(_)) => None,
        };
        let found = bytes.and_then(|(table, bytes)| bytes.file_range(self.span(table, i)?));
        found.unwrap_or_default()
    }

    /// Returns the definition lines of sequence `i`, if they are in memory and were never encoded.
    pub(crate) fn parsed_deflines(&self, i: u32) -> Option<&[Defline]> {
        let Headers::Parsed(lines) = &self.headers else { return None };
        Some(lines.get(i as usize).map_or(&[], Vec::as_slice))
    }

    /// Returns the length of sequence `i`; 0 if it does not exist. For a protein it reads only the
    /// index.
    #[inline]
    pub(crate) fn length(&self, i: u32) -> u32 {
        if self.index.kind == SequenceKind::Nucleotide {
            return self.bases(i, 0).map_or(0, |bases| bases.length());
        }
        let span = self.span(OffsetTable::Sequences, i).unwrap_or(0..0);
        // Both offsets have 32 bits, so their difference fits.
        u32::try_from(span.len()).unwrap_or(u32::MAX).saturating_sub(1)
    }

    /// Returns the shown definition lines of sequence `i`.
    ///
    /// The stored `BL_ORD_ID` ordinals count from 0 in each volume. The result has `first` added to
    /// them, as in `CSeqDBVol::x_GetHdrAsn1` (seqdbvol.cpp).
    pub(crate) fn deflines(&self, i: u32, first: u32) -> Result<Vec<Defline>, DbError> {
        let mut lines = self.stored_deflines(i, first)?;
        if let Some((filter, volume)) = &self.filter {
            lines.retain(|line| filter.is_shown(*volume, line));
        }
        Ok(lines)
    }

    /// Returns the header of sequence `i` if all its definition lines are shown as they are stored.
    pub(crate) fn unchanged_header(&self, i: u32, first: u32) -> Result<Option<&[u8]>, DbError> {
        let lines = self.stored_deflines(i, first)?;
        let is_shown = |line| {
            self.filter.as_ref().is_none_or(|(filter, volume)| filter.is_shown(*volume, line))
        };
        let mut ids = lines.iter().flat_map(|line| &line.ids);
        let is_changed = first > 0 && ids.any(SeqId::is_ordinal) || !lines.iter().all(is_shown);
        let header = self.stored_bytes(VolumeFile::Headers, i);
        Ok((!is_changed && !header.is_empty()).then_some(header))
    }

    /// Returns all definition lines of sequence `i`, including those that are not shown.
    pub(crate) fn stored_deflines(&self, i: u32, first: u32) -> Result<Vec<Defline>, DbError> {
        let file = match &self.headers {
            Headers::Parsed(_) => {
                return Ok(self.parsed_deflines(i).map(<[_]>::to_vec).unwrap_or_default());
            }
            Headers::File(file) => file,
        };
        let span = self.span(OffsetTable::Headers, i);
        let Some((start, header)) = span.and_then(|s| Some((s.start, file.file_range(s)?))) else {
            return Err(self.offset_error(OffsetTable::Headers, i, first));
        };
        let mut lines =
            defline::parse_deflines(header).map_err(|error| DbError::InvalidHeader {
                path: self.file("hr"),
                offset: (start + error.offset) as u64,
                oid: first + i,
                problem: error.problem,
            })?;
        for line in &mut lines {
            if make_printable(&mut line.title) {
                self.odd.record_first(i, UnprintableText::Title);
            }
        }
        for id in lines.iter_mut().flat_map(|line| &mut line.ids) {
            for text in id.texts_mut() {
                if make_printable(text) {
                    self.odd.record_first(i, UnprintableText::Identifier);
                }
            }
            if let SeqId::General { db, tag: ObjectId::Number(ordinal) } = id
                && db == ORDINAL_DB
            {
                *ordinal = ordinal.saturating_add(i64::from(first));
            }
        }
        Ok(lines)
    }

    /// Returns the first sequence read so far whose definition lines have unprintable bytes.
    /// `first` is the OID of the volume's first sequence.
    pub(crate) fn unprintable_header(&self, first: u32) -> Option<UnprintableHeader> {
        let (i, text) = self.odd.get()?;
        Some(UnprintableHeader { file: self.file("hr"), oid: first + i, text })
    }

    /// Checks offsets, sentinels and residue codes of the sequences in `range`.
    pub(crate) fn validate(&self, range: Range<u32>, first: u32) -> Result<(), DbError> {
        if range.is_empty() {
            return Ok(());
        }
        if self.index.kind == SequenceKind::Nucleotide {
            return self.validate_bases(range, first);
        }
        let begin = self.offset(OffsetTable::Sequences, range.start);
        let mut start = begin;
        for i in range.clone() {
            let end = self.offset(OffsetTable::Sequences, i + 1);
            if start == 0 || end <= start || end as usize > self.residues.end_position() {
                return Err(self.offset_error(OffsetTable::Sequences, i + 1, first));
            }
            start = end;
        }
        let (begin, end) = (begin as usize, start as usize);
        // The range includes the sentinel before the first sequence.
        let Some(block) = self.residues.file_range(begin - 1..end) else {
            return Err(self.offset_error(OffsetTable::Sequences, range.start, first));
        };
        for i in range.start..=range.end {
            let at = (self.offset(OffsetTable::Sequences, i) as usize).saturating_sub(1);
            if self.residues.file_range(at..at + 1) != Some(&[alphabet::SENTINEL]) {
                let oid = first + i.saturating_sub(1).max(range.start);
                return Err(self.bad_byte(at, oid, "a sentinel"));
            }
        }
        // This is a single pass without branches, so that the compiler can use vector instructions.
        if block.iter().fold(0, |most, &code| most.max(code)) < alphabet::SIZE as u8 {
            return Ok(());
        }
        let bad = block.iter().position(|&code| usize::from(code) >= alphabet::SIZE).unwrap_or(0);
        let at = begin - 1 + bad;
        Err(self.bad_byte(at, first + self.sequence_at(at, &range), "a residue"))
    }

    /// Finds the sequence in `range` whose bytes include offset `at`. The offsets must be in order.
    fn sequence_at(&self, at: usize, range: &Range<u32>) -> u32 {
        let (mut low, mut high) = (range.start, range.end);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.offset(OffsetTable::Sequences, middle) as usize <= at {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    fn bad_byte(&self, at: usize, oid: u32, expected: &'static str) -> DbError {
        let code = self.residues.file_range(at..at + 1).map_or(0, |byte| byte[0]);
        DbError::InvalidResidue { path: self.file("sq"), offset: at as u64, oid, code, expected }
    }
}
