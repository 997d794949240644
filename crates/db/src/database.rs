//! The public interface of a database.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fleetblast_seq::id::Molecule;
use serde::{Deserialize, Serialize};

use crate::cursor::{OidCursor, RetrievableOids};
use crate::defline::Defline;
use crate::mapped::check_auxiliary_files;
use crate::partition::{self, ResidueCounts, VolumeFile};
use crate::restrict::HitVisibility;
use crate::unprintable::UnprintableHeader;
use crate::volume::Volume;
use crate::{Bases, DbError, date, range, totals};

/// The type of a database's sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SequenceKind {
    /// Proteins, in NCBIstdaa.
    Protein,
    /// DNA or RNA: two bits per base, and separate runs of ambiguous bases.
    Nucleotide,
}

impl SequenceKind {
    /// Returns the name of the type in messages: `protein` or `nucleotide`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Protein => "protein",
            Self::Nucleotide => "nucleotide",
        }
    }

    /// Returns the value of `-dbtype` for this type: `prot` or `nucl`.
    pub fn dbtype(self) -> &'static str {
        match self {
            Self::Protein => "prot",
            Self::Nucleotide => "nucl",
        }
    }

    /// Returns the first letter of the extensions of the files: `p` or `n`.
    pub fn extension_letter(self) -> char {
        match self {
            Self::Protein => 'p',
            Self::Nucleotide => 'n',
        }
    }

    /// Returns the extension of a file of the database: `extension("in")` is `pin` or `nin`.
    pub fn extension(self, rest: &str) -> String {
        format!("{}{rest}", self.extension_letter())
    }
}

impl From<Molecule> for SequenceKind {
    fn from(molecule: Molecule) -> Self {
        match molecule {
            Molecule::Protein => Self::Protein,
            Molecule::Nucleotide => Self::Nucleotide,
        }
    }
}

/// Name, title, date and totals of one of the databases named by `-db`, for reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DatabaseInfo {
    /// The name as given, quotes included.
    pub name: Vec<u8>,
    /// The title, or the name if there is no title.
    pub title: Vec<u8>,
    /// The `Posted date` of reports, e.g. `Nov 20, 2026  11:10 PM`: the latest date of the volumes.
    pub date: String,
    /// Number of sequences, as stated by the aliases or else counted.
    pub sequence_count: u64,
    /// Number of residues, as stated by the aliases or else counted.
    pub residue_count: u64,
}

/// Title and totals of all databases named by `-db` together, as `blastdbcmd -info` prints them. A
/// database named twice counts once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CombinedInfo {
    /// The titles, joined by `; `; empty if there are none.
    pub title: Vec<u8>,
    /// Number of sequences, as stated by the aliases or else counted.
    pub sequence_count: u64,
    /// Number of residues, as stated by the aliases or else counted.
    pub residue_count: u64,
    /// Paths of the volumes that `-db` names, of the volumes that the named aliases list, and of
    /// the alias *files*, not their volumes, that the named aliases list
    /// (`CSeqDBAliasNode::FindVolumePaths`, seqdbalias.cpp). Empty for a database in memory.
    pub volumes: Vec<Vec<u8>>,
    /// Paths of all alias files, in any depth, without duplicates.
    pub aliases: Vec<PathBuf>,
}

/// An opened database: immutable, shared by cloning.
///
/// OIDs number the sequences of all volumes from 0. The volumes are sorted by file name.
#[derive(Clone, Debug)]
pub struct Database {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    parts: DatabaseParts,
    /// First OID of each volume; the last entry is the number of all sequences.
    starts: Vec<u32>,
    /// Number of residues before each volume, computed from the offsets; the last entry is the
    /// total.
    residues_before: Vec<u64>,
    /// Titles of all databases, joined by `; `.
    title: Vec<u8>,
}

/// Volumes, restrictions and totals from which a database is assembled.
#[derive(Debug)]
pub(crate) struct DatabaseParts {
    /// Volumes in OID order.
    pub(crate) volumes: Vec<Arc<Volume>>,
    /// Included OIDs as sorted ranges that neither touch nor overlap.
    pub(crate) included_oids: Vec<Range<u32>>,
    /// Titles and totals of the databases named by `-db`, in that order.
    pub(crate) database_infos: Vec<DatabaseInfo>,
    /// Title and totals of all databases together.
    pub(crate) combined_info: CombinedInfo,
    /// The latest date of all volumes.
    pub(crate) date: String,
    /// Number of sequences for length adjustment and search space.
    pub(crate) stats_sequence_count: u64,
    /// Number of residues for length adjustment and search space.
    pub(crate) stats_residue_count: u64,
    /// OIDs that an [`OidCursor`] finds.
    pub(crate) retrievable: RetrievableOids,
    /// Lengths of the shortest and the longest included sequence, if BLAST+ counts the sequences.
    pub(crate) counted_length_bounds: Option<(u32, u32)>,
}

/// Returns the first OID of each volume. The last entry is the number of all sequences.
pub(crate) fn first_oids<'a>(
    volumes: impl Iterator<Item = &'a Volume>,
) -> Result<Vec<u32>, DbError> {
    let mut starts = vec![0u32];
    let mut total = 0u64;
    for volume in volumes {
        total += u64::from(volume.index().sequence_count);
        let total = totals::check_limit("sequences", total, crate::MOST_SEQUENCES)?;
        starts.push(u32::try_from(total).unwrap_or(u32::MAX));
    }
    Ok(starts)
}

impl Database {
    /// Assembles a database. Fails if there are more sequences than OIDs can number.
    pub(crate) fn assemble(parts: DatabaseParts) -> Result<Self, DbError> {
        let starts = first_oids(parts.volumes.iter().map(Arc::as_ref))?;
        let mut residues_before = vec![0u64];
        for volume in &parts.volumes {
            let before = residues_before[residues_before.len() - 1];
            residues_before.push(before + volume.residues_before(volume.index().sequence_count));
        }
        let title = totals::join_titles(parts.database_infos.iter().map(|info| info.title.clone()));
        Ok(Self { inner: Arc::new(Inner { parts, starts, residues_before, title }) })
    }

    /// Returns the number of OIDs in all volumes, whether included or not.
    pub fn oid_count(&self) -> u32 {
        self.inner.starts[self.inner.starts.len() - 1]
    }

    /// Returns titles and totals of the databases named by `-db`, in that order. A report ends with
    /// a paragraph for each.
    pub fn database_infos(&self) -> &[DatabaseInfo] {
        &self.inner.parts.database_infos
    }

    /// Returns the number of sequences as the head of a report states it. It is the sum over
    /// [`Database::database_infos`], in which a database named twice counts twice.
    pub fn sequence_count(&self) -> u64 {
        self.database_infos().iter().map(|info| info.sequence_count).sum()
    }

    /// Returns the number of residues as the head of a report states it. A database named twice
    /// counts twice.
    pub fn residue_count(&self) -> u64 {
        self.database_infos().iter().fold(0, |sum, info| sum.saturating_add(info.residue_count))
    }

    /// Returns the number of sequences for length adjustment and search space (blast_setup.c). It
    /// is STATS_NSEQ if an alias gives it, else NSEQ, else the count. A volume named twice counts
    /// once.
    pub fn stats_sequence_count(&self) -> u64 {
        self.inner.parts.stats_sequence_count
    }

    /// Returns the number of residues for length adjustment and search space. It is STATS_TOTLEN if
    /// an alias gives it, else LENGTH, else the sum over the sequences.
    pub fn stats_residue_count(&self) -> u64 {
        self.inner.parts.stats_residue_count
    }

    /// Checks that no file of the database has changed since it was opened. Of the volumes, only
    /// those with the sequences `oids` are checked. Call it after the sequences were read, and
    /// before the results are used.
    ///
    /// # Errors
    /// [`DbError::FileChanged`] if a file was written to; those of
    /// [`check_lost_pages`](crate::check_lost_pages) for any file.
    pub fn check_unchanged(&self, oids: &Range<u32>) -> Result<(), DbError> {
        check_auxiliary_files()?;
        let concerned = |all: &Range<u32>| all.start < oids.end && oids.start < all.end;
        let volumes = self.volumes().filter(|(_, all)| concerned(all));
        volumes.into_iter().try_for_each(|(volume, _)| volume.check_unchanged())
    }

    /// Returns the paths of the volumes without extension, in OID order; labels for volumes in
    /// memory.
    pub fn volume_paths(&self) -> impl Iterator<Item = &Path> {
        self.volumes().map(|(volume, _)| volume.name())
    }

    /// Returns title and totals of all databases named by `-db` together.
    pub fn combined_info(&self) -> &CombinedInfo {
        &self.inner.parts.combined_info
    }

    /// Returns the titles of all databases, joined by `; `.
    pub fn title(&self) -> &[u8] {
        &self.inner.title
    }

    /// Returns the latest date of all volumes.
    pub fn date(&self) -> &str {
        &self.inner.parts.date
    }

    /// Returns the latest date of all volumes in the format `2026-11-29T15:56:00`; `None` if that
    /// date is invalid.
    pub fn iso_date(&self) -> Option<String> {
        date::format_iso(self.date())
    }

    /// Returns the length of the longest sequence, as the volumes state it. The number is not
    /// verified, so do not allocate memory by it: use [`Database::length_of`].
    pub fn max_sequence_length(&self) -> u32 {
        self.volumes().map(|(volume, _)| volume.index().max_sequence_length).max().unwrap_or(0)
    }

    /// Returns the lengths of the shortest and the longest included sequence; `None` unless BLAST+
    /// computes them. BLAST+ computes them if the user gives a list, or if an alias has a list
    /// without stating its totals. The lengths are 2^31 - 1 and 0 if no sequence is included.
    pub fn counted_length_bounds(&self) -> Option<(u32, u32)> {
        self.inner.parts.counted_length_bounds
    }

    /// Returns the number of residues that the volumes state, for included and excluded sequences.
    pub fn volume_residue_count(&self) -> u64 {
        self.volumes().fold(0, |sum, (volume, _)| sum.saturating_add(volume.index().residue_count))
    }

    /// Returns the version of the format, 4 or 5. All volumes have the same one. A database without
    /// volumes has 5.
    pub fn version(&self) -> u32 {
        self.volumes().next().map_or(5, |(volume, _)| volume.index().version)
    }

    /// Returns the type of the sequences: protein for a database without volumes.
    pub fn kind(&self) -> SequenceKind {
        self.volumes().next().map_or(SequenceKind::Protein, |(volume, _)| volume.index().kind)
    }

    /// Returns the bases of a sequence of a nucleotide database.
    ///
    /// # Errors
    /// [`DbError::NoSuchOid`] if there is no such sequence; [`DbError::InvalidOffset`] for a
    /// damaged database, and for a database of proteins.
    pub fn bases_of(&self, oid: u32) -> Result<Bases<'_>, DbError> {
        match self.volume_of(oid) {
            Some((volume, first)) => volume.bases(oid - first, first),
            None => Err(self.no_such_oid_error(oid)),
        }
    }

    /// Returns the residues of a sequence in NCBIstdaa, without sentinels, in constant time and
    /// without copying. (The bytes of a nucleotide database have no meaning: see
    /// [`Database::bases_of`].)
    ///
    /// Before [`Database::validate`] has succeeded, codes can be 28 or above and the bounds of the
    /// slice can be wrong. The slice is empty for an OID that does not exist or has wrong offsets.
    #[inline]
    pub fn residues_of(&self, oid: u32) -> &[u8] {
        self.volume_of(oid).map_or(&[], |(volume, first)| volume.residues(oid - first))
    }

    /// Returns all stored bytes of a sequence: residues and sentinel, or packed bases and
    /// ambiguities. They are empty for an OID that does not exist or has wrong offsets.
    pub fn stored_bytes_of(&self, oid: u32) -> &[u8] {
        let Some((volume, first)) = self.volume_of(oid) else { return &[] };
        volume.stored_bytes(VolumeFile::Sequences, oid - first)
    }

    /// Returns the length of a sequence. A protein needs only the index; nucleotides also need the
    /// last byte of the packed bases. It is 0 for an OID that does not exist or has wrong offsets.
    #[inline]
    pub fn length_of(&self, oid: u32) -> u32 {
        self.volume_of(oid).map_or(0, |(volume, first)| volume.length(oid - first))
    }

    /// Returns the treatment of hits to a sequence. A report cannot show them if a list includes
    /// the sequence but excludes all of its definition lines.
    ///
    /// # Errors
    /// Those of [`Database::deflines`]; none for a database without restrictions.
    pub fn hit_visibility(&self, oid: u32) -> Result<HitVisibility, DbError> {
        let filter = self.volume_of(oid).and_then(|(volume, _)| volume.filter());
        let Some(filter) = filter else { return Ok(HitVisibility::Shown) };
        Ok(match self.deflines(oid)?.is_empty() {
            false => HitVisibility::Shown,
            true if filter.excludes_hidden() => HitVisibility::Excluded,
            true => HitVisibility::Unreported,
        })
    }

    /// Returns the definition lines of a sequence; in a restricted database, only the included
    /// lines.
    ///
    /// # Errors
    /// [`DbError::NoSuchOid`]; [`DbError::InvalidOffset`] or [`DbError::InvalidHeader`] for a
    /// damaged database.
    pub fn deflines(&self, oid: u32) -> Result<Vec<Defline>, DbError> {
        match self.volume_of(oid) {
            Some((volume, first)) => volume.deflines(oid - first, first),
            None => Err(self.no_such_oid_error(oid)),
        }
    }

    /// Returns the stored bytes of a header if all its definition lines are shown unchanged.
    /// Returns `None` if a restriction hides lines, if their ordinals change because they count
    /// from 0 in each volume, or if the lines were never encoded.
    ///
    /// # Errors
    /// Those of [`Database::deflines`].
    pub fn unchanged_header(&self, oid: u32) -> Result<Option<&[u8]>, DbError> {
        match self.volume_of(oid) {
            Some((volume, first)) => volume.unchanged_header(oid - first, first),
            None => Err(self.no_such_oid_error(oid)),
        }
    }

    /// Returns all definition lines of a sequence, including excluded ones.
    pub(crate) fn stored_deflines(&self, oid: u32) -> Result<Vec<Defline>, DbError> {
        match self.volume_of(oid) {
            Some((volume, first)) => volume.stored_deflines(oid - first, first),
            None => Err(self.no_such_oid_error(oid)),
        }
    }

    /// Checks that the sequences of `range` follow each other in their files, are separated by
    /// sentinels and consist of codes below 28. Reads every byte once, at memory speed.
    ///
    /// # Errors
    /// [`DbError::InvalidOffset`] or [`DbError::InvalidResidue`], naming file, byte and OID;
    /// [`DbError::NoSuchOid`] if the range exceeds the database.
    pub fn validate(&self, range: Range<u32>) -> Result<(), DbError> {
        if range.end > self.oid_count() {
            return Err(self.no_such_oid_error(range.end - 1));
        }
        for (volume, oids) in self.volumes() {
            let (from, to) = (range.start.max(oids.start), range.end.min(oids.end));
            if from < to {
                volume.validate(from - oids.start..to - oids.start, oids.start)?;
            }
        }
        Ok(())
    }

    /// Returns the included OIDs as sorted ranges that neither touch nor overlap. All OIDs are
    /// included unless an alias or a list of the user restricts them.
    pub fn included_oids(&self) -> &[Range<u32>] {
        &self.inner.parts.included_oids
    }

    /// Makes a cursor that finds sequences by the rules of `blastdbcmd`.
    pub fn oid_cursor(&self) -> OidCursor {
        let window = match &self.inner.parts.retrievable {
            RetrievableOids::Limited { window, .. } => Some(window.clone()),
            RetrievableOids::All | RetrievableOids::Included => None,
        };
        OidCursor::new(self.clone(), window)
    }

    /// Returns the OIDs that aliases and lists include; `None` without restrictions.
    pub(crate) fn listed_oids(&self) -> Option<&[Range<u32>]> {
        match &self.inner.parts.retrievable {
            RetrievableOids::All => None,
            RetrievableOids::Included => Some(self.included_oids()),
            RetrievableOids::Limited { listed, .. } => Some(listed),
        }
    }

    /// Returns the included OIDs within `range`, as sorted ranges.
    pub fn included_oids_in(&self, range: Range<u32>) -> Vec<Range<u32>> {
        range::clip(self.included_oids(), &range)
    }

    /// Cuts the included OIDs into at most `n` consecutive ranges of nearly equal numbers of
    /// residues. Each range differs from the ideal by at most the length of its longest sequence.
    /// Reads only a few offsets of the index. The ranges can contain excluded OIDs: see
    /// [`Database::included_oids_in`].
    pub fn partitions(&self, n: usize) -> Vec<Range<u32>> {
        partition::cut_into_ranges(self, self.included_oids(), n)
    }

    /// Cuts the included OIDs within `range` as [`Database::partitions`] does.
    pub fn partitions_within(&self, range: Range<u32>, n: usize) -> Vec<Range<u32>> {
        partition::cut_into_ranges(self, &self.included_oids_in(range), n)
    }

    /// Cuts all OIDs, included or not, as [`Database::partitions`] does.
    pub fn partitions_of_all(&self, n: usize) -> Vec<Range<u32>> {
        let all = 0..self.oid_count();
        partition::cut_into_ranges(
            self,
            if all.is_empty() { &[] } else { std::slice::from_ref(&all) },
            n,
        )
    }

    /// Returns the path of a file of the volume with this sequence; `None` for a database in
    /// memory.
    pub fn file_of(&self, oid: u32, file: VolumeFile) -> Option<PathBuf> {
        self.volume_of(oid).and_then(|(volume, _)| volume.path_of(file))
    }

    /// Returns for each volume, in order, the first sequence read so far whose definition lines
    /// have bytes that are not printable ASCII.
    pub fn unprintable_headers(&self) -> Vec<UnprintableHeader> {
        self.volumes().filter_map(|(volume, oids)| volume.unprintable_header(oids.start)).collect()
    }

    pub(crate) fn no_such_oid_error(&self, oid: u32) -> DbError {
        DbError::NoSuchOid { oid, count: self.oid_count() }
    }

    /// Returns the volumes, each with its OIDs.
    pub(crate) fn volumes(&self) -> impl Iterator<Item = (&Volume, Range<u32>)> {
        let starts = self.inner.starts.windows(2).map(|pair| pair[0]..pair[1]);
        self.inner.parts.volumes.iter().map(Arc::as_ref).zip(starts)
    }

    /// Returns the volume with this number, counted from 0 in OID order.
    pub(crate) fn volume(&self, number: usize) -> Option<&Volume> {
        self.inner.parts.volumes.get(number).map(Arc::as_ref)
    }

    /// Returns the volume that contains an OID, and the volume's first OID.
    #[inline]
    pub(crate) fn volume_of(&self, oid: u32) -> Option<(&Volume, u32)> {
        let (at, volume) = self.position(oid)?;
        Some((volume, self.inner.starts[at]))
    }

    #[inline]
    fn position(&self, oid: u32) -> Option<(usize, &Volume)> {
        // Of volumes with the same start, all but the last are empty.
        let at = self.inner.starts.partition_point(|&start| start <= oid).checked_sub(1)?;
        Some((at, self.inner.parts.volumes.get(at)?))
    }
}

impl ResidueCounts for Database {
    fn residues_before(&self, oid: u32) -> u64 {
        match self.position(oid) {
            Some((at, volume)) => {
                let before = self.inner.residues_before[at];
                before + volume.residues_before(oid - self.inner.starts[at])
            }
            None => self.inner.residues_before[self.inner.residues_before.len() - 1],
        }
    }
}
