//! Puts sequences into volumes, and completes a database.

use fleetblast_seq::id::SeqId;

use crate::accessions::{self, AccessionTables};
use crate::duplicates::DuplicateFinder;
use crate::error::{ErrorContext, MakedbError};
use crate::header;
use crate::ids;
use crate::masks::{self, AlgorithmRanges};
use crate::options::{DatabaseOptions, FormatVersion};
use crate::sink::StagedFiles;
use crate::taxids::{TaxidSource, TaxidTables};
use crate::volume::{StoredSequence, VolumeWriter};

/// Maximal number of sequences of a database.
const MAX_SEQUENCES: u64 = i32::MAX as u64;

/// A database under construction, to which [`add_fasta`](crate::add_fasta) adds sequences.
#[derive(Debug)]
pub struct DatabaseBuilder {
    options: DatabaseOptions,
    sink: StagedFiles,
    volume: Option<VolumeWriter>,
    /// Number of sequences of each full volume.
    full: Vec<u32>,
    /// Number of sequences so far.
    count: u64,
    accessions: Option<AccessionTables>,
    taxids: Option<TaxidTables>,
    duplicates: Option<DuplicateFinder>,
    found_taxid: bool,
    found_mask: bool,
    header: Vec<u8>,
    /// Error of the last sequence, if that sequence cannot be stored.
    refused: Option<MakedbError>,
}

/// A sequence to add, encoded except for its number.
#[derive(Debug)]
pub(crate) struct NewSequence<'a> {
    /// Residues or packed bases, without a sentinel.
    pub(crate) letters: &'a [u8],
    /// Encoded list of ambiguous bases.
    pub(crate) ambiguities: &'a [u8],
    pub(crate) header: &'a [u8],
    /// Offset in the header at which the number of the sequence is inserted; `None` if the header
    /// has no number.
    pub(crate) ordinal_offset: Option<usize>,
    pub(crate) length: u32,
    /// All identifiers of all definition lines.
    pub(crate) ids: &'a [SeqId],
    /// Taxonomy ids, ascending and without duplicates.
    pub(crate) taxids: &'a [i32],
    /// PIG (protein identity group); 0 for none.
    pub(crate) pig: i64,
    pub(crate) hash: u32,
    pub(crate) masks: Vec<AlgorithmRanges>,
    /// Whether a taxonomy id was found for the sequence.
    pub(crate) has_taxid: bool,
    /// Whether masks were found for the sequence.
    pub(crate) has_found_mask: bool,
}

/// The size of the finished database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabaseSize {
    /// Number of volumes.
    pub volume_count: u32,
    /// Number of sequences.
    pub sequence_count: u64,
}

/// Flags for kinds of inputs whose identifiers match no sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnmatchedInputs {
    /// Whether a file of taxonomy ids was given, and none of its identifiers matched a sequence.
    pub no_taxid_matched: bool,
    /// Whether masks were given, and none of their identifiers matched a sequence.
    pub no_mask_matched: bool,
}

impl DatabaseBuilder {
    /// Starts a database without sequences.
    ///
    /// # Errors
    /// If files cannot be made.
    pub fn new(options: DatabaseOptions, sink: StagedFiles) -> Result<Self, MakedbError> {
        let five = options.version == FormatVersion::Version5;
        let accessions =
            (five && options.parse_ids).then(|| AccessionTables::new(&sink)).transpose()?;
        let taxids = five.then(|| TaxidTables::new(&sink)).transpose()?;
        let duplicates = options.parse_ids.then(|| DuplicateFinder::new(sink.directory()));
        Ok(Self {
            options,
            sink,
            volume: None,
            full: Vec::new(),
            count: 0,
            accessions,
            taxids,
            duplicates,
            found_taxid: false,
            found_mask: false,
            header: Vec::new(),
            refused: None,
        })
    }

    /// Returns the options of the database.
    pub fn options(&self) -> &DatabaseOptions {
        &self.options
    }

    /// Returns the number of sequences so far, stored or refused.
    pub fn sequence_count(&self) -> u64 {
        self.count + u64::from(self.refused.is_some())
    }

    /// Returns the number of sequences stored so far.
    pub fn stored_count(&self) -> u64 {
        self.count
    }

    /// Records that the last sequence is refused, with the error. BLAST+ stores each sequence when
    /// the next one arrives, or at the end, and reports the error only then. So an error of an
    /// earlier sequence is returned now.
    pub(crate) fn reject_sequence(&mut self, why: MakedbError) -> Result<(), MakedbError> {
        match self.refused.replace(why) {
            Some(earlier) => Err(earlier),
            None => Ok(()),
        }
    }

    /// Returns which kinds of inputs have identifiers that match no sequence so far.
    pub fn unmatched_inputs(&self) -> UnmatchedInputs {
        let by_id = matches!(self.options.taxids, TaxidSource::ByIdentifier(_));
        UnmatchedInputs {
            no_taxid_matched: by_id && !self.found_taxid,
            no_mask_matched: !self.options.masks.is_empty() && !self.found_mask,
        }
    }

    /// Adds a sequence. Its number in the volume completes the header and the string index. Returns
    /// whether it begins a volume.
    pub(crate) fn add(&mut self, new: &NewSequence<'_>) -> Result<bool, MakedbError> {
        if let Some(why) = self.refused.take() {
            return Err(why);
        }
        if self.count == MAX_SEQUENCES {
            return Err(MakedbError::TooManySequences);
        }
        let number = self.count as u32;
        let blobs = masks::encode_masks(&new.masks, new.length);
        let blobs = blobs.ok_or(MakedbError::MaskOutOfBounds { number: self.count })?;
        self.found_mask |= new.has_found_mask;
        self.found_taxid |= new.has_taxid;
        let gis: Vec<u32> = new
            .ids
            .iter()
            .filter_map(|id| if let SeqId::Gi(gi) = id { u32::try_from(*gi).ok() } else { None })
            .collect();
        let mut header = std::mem::take(&mut self.header);
        let mut lines = Vec::new();
        let mut fresh = false;
        loop {
            let in_volume = self.volume.as_ref().map_or(0, VolumeWriter::sequence_count);
            self.prepare(new, in_volume, &mut header, &mut lines);
            let item = StoredSequence {
                sequence: new.letters,
                ambiguities: new.ambiguities,
                header: &header,
                length: new.length,
                id_count: new.ids.len().max(1),
                string_index_lines: &lines,
                gis: &gis,
                pig: new.pig,
                hash: new.hash,
                masks: [&blobs[0], &blobs[1]],
            };
            match &mut self.volume {
                Some(volume) if fresh || volume.fits(&item) => {
                    volume.add(&item)?;
                    break;
                }
                _ => {
                    self.next_volume()?;
                    fresh = true;
                }
            }
        }
        self.header = header;
        if let Some(duplicates) = &mut self.duplicates {
            duplicates.add(new.ids, self.full.len() as u32, self.count)?;
        }
        if let Some(accessions) = &mut self.accessions {
            accessions.add(new.ids, number)?;
        }
        if let Some(taxids) = &mut self.taxids {
            taxids.add(new.taxids, number)?;
        }
        self.count += 1;
        Ok(fresh)
    }

    /// Completes the header and the lines of the string index with the number of the sequence in
    /// the volume.
    fn prepare(
        &self,
        new: &NewSequence<'_>,
        number: u32,
        header: &mut Vec<u8>,
        lines: &mut Vec<Vec<u8>>,
    ) {
        header.clear();
        let (before, after) = new.header.split_at(new.ordinal_offset.unwrap_or(new.header.len()));
        header.extend_from_slice(before);
        if new.ordinal_offset.is_some() {
            header::write_ordinal(number, header);
        }
        header.extend_from_slice(after);
        lines.clear();
        let indexed = self.options.parse_ids || self.options.hash_index;
        if indexed && self.options.version == FormatVersion::Version4 {
            for id in new.ids {
                ids::string_index_lines(id, number, lines);
            }
            if new.ids.is_empty() {
                // For a sequence that starts a volume, BLAST+ uses the number that it would have in
                // the previous volume.
                let id = match (number, self.full.last()) {
                    (0, Some(&count)) => count,
                    _ => number,
                };
                lines.push(format!("gnl|bl_ord_id|{id}\x02{number}\n").into_bytes());
            }
        }
    }

    fn next_volume(&mut self) -> Result<(), MakedbError> {
        if let Some(volume) = self.volume.take() {
            self.full.push(volume.sequence_count());
            volume.close(&mut self.sink, &self.options)?;
        }
        let number = self.full.len() as u32;
        self.volume = Some(VolumeWriter::create(&mut self.sink, &self.options, number)?);
        Ok(())
    }

    /// Returns the error of the last sequence, if it was refused, and checks that identifiers are
    /// unique in each volume. Call it after the last sequence; otherwise [`finish`](Self::finish)
    /// does it.
    ///
    /// # Errors
    /// The error of the last sequence; [`MakedbError::DuplicateIdentifier`] for the first sequence
    /// with an identifier of an earlier one.
    pub fn check_duplicates(&mut self) -> Result<(), MakedbError> {
        if let Some(why) = self.refused.take() {
            return Err(why);
        }
        match self.duplicates.take() {
            Some(duplicates) => duplicates.check_unique(),
            None => Ok(()),
        }
    }

    /// Completes the files, and moves the database to its final path. Calls `before` between these
    /// two steps, and drops the result of `before` when all files have their final names.
    ///
    /// # Errors
    /// If identifiers are not unique, or files cannot be written.
    pub fn finish<T>(mut self, before: impl FnOnce() -> T) -> Result<DatabaseSize, MakedbError> {
        self.check_duplicates()?;
        if let Some(volume) = self.volume.take() {
            self.full.push(volume.sequence_count());
            volume.close(&mut self.sink, &self.options)?;
        }
        let volumes = self.full.len() as u32;
        let numbered = |n: u32| (volumes > 1).then_some(n);
        let (base, map_size) = (self.sink.base_path().to_path_buf(), self.options.lmdb_map_size);
        if volumes > 1 {
            self.write_alias(volumes)?;
        }
        if self.options.version == FormatVersion::Version5 {
            let counts = (0u32..).zip(&self.full);
            let table: Vec<(Vec<u8>, u32)> = counts
                .map(|(n, &count)| (accessions::volume_name(&base, numbered(n)), count))
                .collect();
            match self.accessions.take() {
                Some(accessions) => accessions.write(&mut self.sink, &table, map_size)?,
                None => accessions::write_volumes(&mut self.sink, &table, map_size)?,
            }
        }
        if let Some(taxids) = self.taxids.take() {
            taxids.write(&mut self.sink, map_size)?;
        }
        let summary = DatabaseSize { volume_count: volumes, sequence_count: self.count };
        let _guard = before();
        self.sink.commit(volumes)?;
        Ok(summary)
    }

    fn write_alias(&mut self, volumes: u32) -> Result<(), MakedbError> {
        let base = self.sink.base_path().to_path_buf();
        let names: Vec<Vec<u8>> =
            (0..volumes).map(|n| accessions::volume_name(&base, Some(n))).collect();
        let date = &self.options.dates.index_date;
        let text = [
            format!("#\n# Alias file created: {date}\n#\nTITLE ").as_bytes(),
            &self.options.title,
            b"\nDBLIST ",
            &names.join(&b' '),
            b"\n",
        ]
        .concat();
        let path = self.sink.staged_path(None, "al");
        std::fs::write(&path, text).with_context("write", &path)
    }
}
