//! One volume: index, headers, sequences, and indexes of identifiers.

use crate::column::MaskColumnWriter;
use crate::error::MakedbError;
use crate::isam::{NumericIndexWriter, StringIndexWriter};
use crate::kind::DatabaseKind;
use crate::options::{DatabaseOptions, FormatVersion};
use crate::sink::{OutputFile, StagedFiles};

/// Limit of BLAST+ for the estimated bytes of an index of identifiers. It does not depend on
/// `-max_file_sz`.
const MAX_INDEX_FILE: u64 = 999_999_999;
/// Number of bytes that BLAST+ reserves for an identifier in a string index.
const STRING_ESTIMATE: u64 = 1024;
/// Number of bytes of an identifier in a numeric index.
const NUMBER_SIZE: u64 = 8;
/// Number of bytes of the index that BLAST+ keeps free.
const INDEX_RESERVE: u64 = 12;
/// Entry of the file of GIs for a sequence without GI.
const NO_GI: u32 = u32::MAX;

/// The stored parts of a sequence.
#[derive(Debug)]
pub(crate) struct StoredSequence<'a> {
    /// Residues or packed bases, without a sentinel.
    pub(crate) sequence: &'a [u8],
    pub(crate) ambiguities: &'a [u8],
    pub(crate) header: &'a [u8],
    pub(crate) length: u32,
    /// Number of identifiers.
    pub(crate) id_count: usize,
    /// Lines of the string index of version 4.
    pub(crate) string_index_lines: &'a [Vec<u8>],
    pub(crate) gis: &'a [u32],
    /// PIG (protein identity group); 0 for none.
    pub(crate) pig: i64,
    pub(crate) hash: u32,
    /// Encoded masks, in big-endian and in little-endian byte order.
    pub(crate) masks: [&'a [u8]; 2],
}

/// The indexes of identifiers that `-parse_seqids` or `-hash_index` add to a volume.
#[derive(Debug)]
struct Indices {
    gis: NumericIndexWriter,
    pigs: NumericIndexWriter,
    gi_of: OutputFile,
    accessions: Option<StringIndexWriter>,
    hashes: Option<StringIndexWriter>,
}

/// A volume that is being written.
#[derive(Debug)]
pub(crate) struct VolumeWriter {
    number: u32,
    kind: DatabaseKind,
    limit: u64,
    /// Number of sequences so far.
    count: u32,
    residues: u64,
    longest: u32,
    /// Number of bytes of the index file without its offset tables.
    overhead: u64,
    headers: OutputFile,
    sequences: OutputFile,
    header_ends: OutputFile,
    sequence_ends: OutputFile,
    ambiguity_starts: OutputFile,
    indices: Option<Indices>,
    masks: Option<MaskColumnWriter>,
}

impl VolumeWriter {
    /// Creates an empty volume.
    pub(crate) fn create(
        sink: &mut StagedFiles,
        options: &DatabaseOptions,
        number: u32,
    ) -> Result<Self, MakedbError> {
        let file = Some(number);
        let spool = |sink: &StagedFiles| {
            Ok::<_, MakedbError>(OutputFile::new(
                sink.temporary_file()?,
                sink.directory().to_path_buf(),
            ))
        };
        let mut sequences = sink.create_file(file, "sq")?;
        sequences.write_bytes(&[0])?;
        let mut header_ends = spool(sink)?;
        header_ends.write_bytes(&0u32.to_be_bytes())?;
        let mut sequence_ends = spool(sink)?;
        sequence_ends.write_bytes(&1u32.to_be_bytes())?;
        let indices = if options.parse_ids || options.hash_index {
            Some(Indices {
                gis: NumericIndexWriter::new(sink.directory()),
                pigs: NumericIndexWriter::new(sink.directory()),
                gi_of: spool(sink)?,
                accessions: (options.version == FormatVersion::Version4)
                    .then(|| StringIndexWriter::new(sink.directory())),
                hashes: options.hash_index.then(|| StringIndexWriter::new(sink.directory())),
            })
        } else {
            None
        };
        let masks = match options.masks.algorithms() {
            [] => None,
            algorithms => Some(MaskColumnWriter::create(sink, options, algorithms, number)?),
        };
        let name = lmdb_name(sink, options);
        Ok(Self {
            number,
            kind: options.kind,
            limit: options.max_file_size,
            count: 0,
            residues: 0,
            longest: 0,
            overhead: preamble(options, &name, number, 0, 0, 0).len() as u64,
            headers: sink.create_file(file, "hr")?,
            sequences,
            header_ends,
            sequence_ends,
            ambiguity_starts: spool(sink)?,
            indices,
            masks,
        })
    }

    /// Returns the number of sequences so far.
    pub(crate) fn sequence_count(&self) -> u32 {
        self.count
    }

    /// Returns whether BLAST+ puts the sequence into this volume
    /// (`CWriteDB_Volume::WriteSequence`). An empty volume accepts any sequence.
    pub(crate) fn fits(&self, item: &StoredSequence<'_>) -> bool {
        if self.count == 0 {
            return true;
        }
        let offsets = match self.kind {
            DatabaseKind::Protein => 8,
            DatabaseKind::Nucleotide => 12,
        };
        let index = self.overhead + offsets * u64::from(self.count);
        let sequence = (item.sequence.len() + item.ambiguities.len()) as u64;
        index < self.limit.saturating_sub(INDEX_RESERVE)
            && self.headers.length() + (item.header.len() as u64) < self.limit
            && self.sequences.length() + sequence < self.limit
            && self.indices.as_ref().is_none_or(|indices| indices.fit(item.id_count as u64))
            && self.masks.as_ref().is_none_or(|masks| masks.fits(item.masks[0].len() as u64))
    }

    /// Adds a sequence.
    pub(crate) fn add(&mut self, item: &StoredSequence<'_>) -> Result<(), MakedbError> {
        self.headers.write_bytes(item.header)?;
        self.header_ends.write_bytes(&self.offset(self.headers.length())?.to_be_bytes())?;
        self.sequences.write_bytes(item.sequence)?;
        match self.kind {
            DatabaseKind::Protein => self.sequences.write_bytes(&[0])?,
            DatabaseKind::Nucleotide => {
                let start = self.offset(self.sequences.length())?;
                self.ambiguity_starts.write_bytes(&start.to_be_bytes())?;
                self.sequences.write_bytes(item.ambiguities)?;
            }
        }
        self.sequence_ends.write_bytes(&self.offset(self.sequences.length())?.to_be_bytes())?;
        if let Some(indices) = &mut self.indices {
            indices.add(self.count, item)?;
        }
        if let Some(masks) = &mut self.masks {
            masks.add(item.masks)?;
        }
        self.residues += u64::from(item.length);
        self.longest = self.longest.max(item.length);
        self.count += 1;
        Ok(())
    }

    fn offset(&self, offset: u64) -> Result<u32, MakedbError> {
        let number = u64::from(self.count);
        u32::try_from(offset).map_err(|_| MakedbError::SequenceTooLarge { number })
    }

    /// Completes the files.
    pub(crate) fn close(
        mut self,
        sink: &mut StagedFiles,
        options: &DatabaseOptions,
    ) -> Result<(), MakedbError> {
        let file = Some(self.number);
        let mut index = sink.create_file(file, "in")?;
        let (count, residues, longest) = (self.count, self.residues, self.longest);
        let name = lmdb_name(sink, options);
        index.write_bytes(&preamble(options, &name, self.number, count, residues, longest))?;
        let end = self.offset(self.sequences.length())?;
        index.append(self.header_ends)?;
        index.append(self.sequence_ends)?;
        if self.kind == DatabaseKind::Nucleotide {
            self.ambiguity_starts.write_bytes(&end.to_be_bytes())?;
            index.append(self.ambiguity_starts)?;
        }
        index.close()?;
        self.headers.close()?;
        self.sequences.close()?;
        if let Some(indices) = self.indices {
            indices.close(sink, self.number, count)?;
        }
        if let Some(masks) = self.masks {
            masks.close(sink, count)?;
        }
        Ok(())
    }
}

impl Indices {
    fn fit(&self, ids: u64) -> bool {
        let strings = |index: &StringIndexWriter, ids: u64| {
            index.byte_count() + (ids + 1) * STRING_ESTIMATE < MAX_INDEX_FILE
        };
        self.gis.byte_count() + (ids + 1) * NUMBER_SIZE < MAX_INDEX_FILE
            && self.pigs.byte_count() + 2 * NUMBER_SIZE < MAX_INDEX_FILE
            && self.accessions.as_ref().is_none_or(|index| strings(index, ids))
            && self.hashes.as_ref().is_none_or(|index| strings(index, 1))
    }

    fn add(&mut self, number: u32, item: &StoredSequence<'_>) -> Result<(), MakedbError> {
        for &gi in item.gis {
            self.gis.add(gi.into(), number)?;
        }
        if item.pig != 0 {
            self.pigs.add(item.pig, number)?;
        }
        self.gi_of.write_bytes(&item.gis.first().copied().unwrap_or(NO_GI).to_be_bytes())?;
        if let Some(accessions) = &mut self.accessions {
            for line in item.string_index_lines {
                accessions.add(line)?;
            }
        }
        if let Some(hashes) = &mut self.hashes {
            hashes.add(format!("{}\x02{number}\n", item.hash).as_bytes())?;
        }
        Ok(())
    }

    fn close(self, sink: &mut StagedFiles, volume: u32, count: u32) -> Result<(), MakedbError> {
        self.gis.write(sink, volume, ["ni", "nd"])?;
        self.pigs.write(sink, volume, ["pi", "pd"])?;
        if let Some(accessions) = self.accessions {
            accessions.write(sink, volume, ["si", "sd"])?;
        }
        if let Some(hashes) = self.hashes {
            hashes.write(sink, volume, ["hi", "hd"])?;
        }
        let mut file = sink.create_file(Some(volume), "og")?;
        for word in [1, 0, 4, count, 0, 0, 0, 0] {
            file.write_bytes(&word.to_be_bytes())?;
        }
        file.append(self.gi_of)?;
        file.close()
    }
}

/// Returns the name of the database's file of accessions, such as `n5.ndb`. The index of each
/// volume of version 5 states it.
fn lmdb_name(sink: &StagedFiles, options: &DatabaseOptions) -> Vec<u8> {
    let mut name = sink.base_name();
    name.extend(format!(".{}db", options.kind.extension_letter()).bytes());
    name
}

/// Returns the start of the index, up to its offsets. The date is padded so that the offsets start
/// at a multiple of 8.
fn preamble(
    options: &DatabaseOptions,
    lmdb_name: &[u8],
    volume: u32,
    count: u32,
    residues: u64,
    longest: u32,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let put = |bytes: &mut Vec<u8>, word: u32| bytes.extend(word.to_be_bytes());
    let text = |bytes: &mut Vec<u8>, text: &[u8]| {
        bytes.extend((text.len() as u32).to_be_bytes());
        bytes.extend(text);
    };
    let version = match options.version {
        FormatVersion::Version4 => 4,
        FormatVersion::Version5 => 5,
    };
    put(&mut bytes, version);
    put(&mut bytes, u32::from(options.kind == DatabaseKind::Protein));
    if options.version == FormatVersion::Version5 {
        put(&mut bytes, volume);
    }
    text(&mut bytes, &options.title);
    if options.version == FormatVersion::Version5 {
        text(&mut bytes, lmdb_name);
    }
    // Numbers of 4 + 8 + 4 bytes follow the date.
    let mut date = options.dates.index_date.clone().into_bytes();
    while !(bytes.len() + 4 + date.len() + 16).is_multiple_of(8) {
        date.push(0);
    }
    text(&mut bytes, &date);
    put(&mut bytes, count);
    bytes.extend(residues.to_le_bytes());
    put(&mut bytes, longest);
    bytes
}
