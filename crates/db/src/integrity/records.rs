//! Checks sequences and headers, range by range.

use std::collections::BTreeMap;
use std::ops::Range;

use fleetblast_seq::id::{ObjectId, SeqId};

use super::sum::EntrySum;
use super::zeros::{self, ZeroRun};
use crate::defline::{self, Defline, ORDINAL_DB};
use crate::index::OffsetTable;
use crate::key::trim_trailing_blanks;
use crate::load::LoadedRange;
use crate::lookup::stored_keys::{accession_keys, index_keys, ordinal_key};
use crate::volume::Volume;
use crate::{Bases, DbError, SequenceKind};

/// Maximal number of sequences with long runs of zeros that the report names.
const MOST_ZEROS: usize = 20;

/// Counts over sequences and headers, and sums of identifiers for comparison with the other files.
#[derive(Clone, Debug, Default)]
pub struct RecordTotals {
    pub(super) sequence_count: u64,
    pub(super) residue_count: u64,
    pub(super) max_length: u64,
    pub(super) defline_count: u64,
    /// Version-5 keys of identifiers with their OIDs, which `.?db` must hold.
    pub(super) version_5_keys: EntrySum,
    /// Version-4 keys of identifiers with their OIDs, which `.?sd` must hold.
    pub(super) version_4_keys: EntrySum,
    /// Identifiers with their OIDs, which `.?os` must hold.
    pub(super) listed_ids: EntrySum,
    /// Taxids with their OIDs, which `.?ot` must hold.
    pub(super) taxids: EntrySum,
    /// GIs with their OIDs, which `.?nd` must hold.
    pub(super) gis: EntrySum,
    /// First GI of each sequence, which `.?og` must hold.
    pub(super) first_gis: EntrySum,
    /// For the first OID of each volume: the volume's first sequence without identifiers of its
    /// own, and its first sequence with such identifiers.
    pub(super) first_without_and_with_ids: BTreeMap<u32, [Option<u32>; 2]>,
    /// For the first OID of each volume: the kinds of identifiers in the volume's headers.
    pub(super) id_kinds: BTreeMap<u32, IdentifierKinds>,
    /// The first [`MOST_ZEROS`] sequences with a long run of zeros, by OID.
    pub(super) zero_runs: BTreeMap<u32, ZeroRun>,
    /// Number of sequences with long runs of zeros.
    pub(super) zero_run_count: u64,
}

/// Kinds of identifiers in the headers of a volume, besides ordinal numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IdentifierKinds {
    /// Whether any sequence has an identifier of its own.
    pub(super) has_ids: bool,
    /// Whether any sequence has a GI.
    pub(super) has_gis: bool,
}

impl RecordTotals {
    pub(super) fn add(&mut self, other: &Self) {
        self.sequence_count += other.sequence_count;
        self.residue_count += other.residue_count;
        self.max_length = self.max_length.max(other.max_length);
        self.defline_count += other.defline_count;
        for (&volume, firsts) in &other.first_without_and_with_ids {
            let all = self.first_without_and_with_ids.entry(volume).or_default();
            for (first, other) in all.iter_mut().zip(firsts) {
                *first = [*first, *other].into_iter().flatten().min();
            }
        }
        for (&volume, other) in &other.id_kinds {
            let own = self.id_kinds.entry(volume).or_default();
            (own.has_ids, own.has_gis) =
                (own.has_ids || other.has_ids, own.has_gis || other.has_gis);
        }
        self.zero_run_count += other.zero_run_count;
        for (&oid, &zeros) in &other.zero_runs {
            self.name_zeros(oid, zeros);
        }
        for (sum, other) in [
            (&mut self.version_5_keys, &other.version_5_keys),
            (&mut self.version_4_keys, &other.version_4_keys),
            (&mut self.listed_ids, &other.listed_ids),
            (&mut self.taxids, &other.taxids),
            (&mut self.gis, &other.gis),
            (&mut self.first_gis, &other.first_gis),
        ] {
            sum.merge(other);
        }
    }

    /// Records a long run of zeros, if it is among the first [`MOST_ZEROS`].
    fn name_zeros(&mut self, oid: u32, zeros: ZeroRun) {
        self.zero_runs.insert(oid, zeros);
        if self.zero_runs.len() > MOST_ZEROS {
            self.zero_runs.pop_last();
        }
    }
}

/// Checks ranges of sequences and headers; each thread has one checker.
#[derive(Default)]
pub(super) struct RecordChecker {
    pub(super) totals: RecordTotals,
    /// Work space for the bytes of a header that makeblastdb would have written.
    expected: Vec<u8>,
}

impl RecordChecker {
    /// Checks the records of a range. Returns a fault with its OID.
    pub(super) fn check(&mut self, work: &LoadedRange) -> Result<(), (u32, DbError)> {
        let at_start = |error| (work.range.start, error);
        work.partition.validate_range(&work.range).map_err(at_start)?;
        for (volume, oids, first) in work.partition.pieces() {
            let range = work.range.start.max(oids.start)..work.range.end.min(oids.end);
            let mut firsts = [None; 2];
            let gis = self.totals.gis.entry_count();
            for oid in range.clone() {
                let has_own = self.record(volume, oid - first, *first).map_err(|e| (oid, e))?;
                firsts[usize::from(has_own)].get_or_insert(oid);
            }
            let own = IdentifierKinds {
                has_ids: firsts[1].is_some(),
                has_gis: self.totals.gis.entry_count() > gis,
            };
            let first_of_kind = BTreeMap::from([(*first, firsts)]);
            let own = BTreeMap::from([(*first, own)]);
            self.totals.add(&RecordTotals {
                first_without_and_with_ids: first_of_kind,
                id_kinds: own,
                ..RecordTotals::default()
            });
            self.totals.sequence_count += range.len() as u64;
        }
        Ok(())
    }

    /// Checks a sequence and its header. Returns whether the sequence has identifiers of its own.
    fn record(&mut self, volume: &Volume, i: u32, first: u32) -> Result<bool, DbError> {
        let (length, zeros) = match volume.index().kind {
            SequenceKind::Protein => {
                (volume.length(i), zeros::find_in_residues(volume.residues(i)))
            }
            SequenceKind::Nucleotide => {
                let bases = volume.bases(i, first)?;
                if let Some(problem) = fault_in_bases(&bases) {
                    return Err(volume.sequence_error(i, first, problem));
                }
                (bases.length(), zeros::find_in_bases(&bases))
            }
        };
        if let Some(zeros) = zeros {
            self.totals.zero_run_count += 1;
            self.totals.name_zeros(first + i, zeros);
        }
        self.totals.residue_count += u64::from(length);
        self.totals.max_length = self.totals.max_length.max(length.into());
        let Some((start, header)) = volume.header(i) else {
            return Err(volume.offset_error(OffsetTable::Headers, i, first));
        };
        self.header(volume, i, first, start, header)
    }

    /// Checks a header, which begins at byte `start` of its file. Returns whether the sequence has
    /// identifiers of its own.
    fn header(
        &mut self,
        volume: &Volume,
        i: u32,
        first: u32,
        start: usize,
        header: &[u8],
    ) -> Result<bool, DbError> {
        // Most databases are made without -parse_seqids. Their headers have one form and differ
        // only in titles and taxids, which is fast to check.
        if let Some((title, taxid)) = without_identifiers(header, i, &mut self.expected)
            && is_text(title)
        {
            self.totals.defline_count += 1;
            self.totals.taxids.add((taxid, first + i));
            if volume.lmdb_path().is_none() {
                self.totals.version_4_keys.add((&ordinal_key(i)[..], first + i));
            }
            return Ok(false);
        }
        let wrong = |at: usize, problem| volume.header_error(start + at, first + i, problem);
        let lines =
            defline::parse_deflines_strictly(header).map_err(|e| wrong(e.offset, e.problem))?;
        if lines.is_empty() {
            return Err(wrong(0, "no definition line"));
        }
        for line in &lines {
            if let Some(problem) = fault_in_line(line, i) {
                return Err(wrong(0, problem));
            }
        }
        self.totals.defline_count += lines.len() as u64;
        Ok(self.count_identifiers(&lines, first + i))
    }

    /// Adds to the totals the entries that the lookup files must have for a sequence. Returns
    /// whether the sequence has identifiers of its own.
    fn count_identifiers(&mut self, lines: &[Defline], oid: u32) -> bool {
        let (mut has_own, mut has_gi) = (false, false);
        let (mut keys, mut names) = (Vec::<Vec<u8>>::new(), Vec::<Vec<u8>>::new());
        for id in lines.iter().flat_map(|line| &line.ids) {
            let is_ordinal = matches!(id, SeqId::General { db, .. } if db == ORDINAL_DB);
            has_own |= !is_ordinal;
            match id {
                // A version-4 database with hashes has keys for ordinals, too.
                id if is_ordinal => names.extend(index_keys(id)),
                SeqId::Gi(gi) => {
                    self.totals.gis.add((*gi, oid));
                    if !has_gi {
                        self.totals.first_gis.add((*gi, oid));
                    }
                    has_gi = true;
                }
                id => {
                    names.extend(index_keys(id));
                    accession_keys(id, |key, listed| {
                        if listed {
                            self.totals.listed_ids.add((&key[..], oid));
                        }
                        keys.push(key);
                    });
                }
            }
        }
        // Several identifiers can give the same key; the files have one entry for it.
        for keys in [&mut keys, &mut names] {
            keys.sort_unstable();
            keys.dedup();
        }
        keys.iter().for_each(|key| self.totals.version_5_keys.add((&key[..], oid)));
        names
            .iter()
            .for_each(|name| self.totals.version_4_keys.add((trim_trailing_blanks(name), oid)));
        let mut taxids: Vec<i64> = lines.iter().flat_map(taxids_of).collect();
        taxids.sort_unstable();
        taxids.dedup();
        taxids.iter().for_each(|&taxid| self.totals.taxids.add((taxid, oid)));
        has_own
    }
}

/// Returns the taxids of a definition line.
fn taxids_of(line: &Defline) -> impl Iterator<Item = i64> {
    [line.taxid].into_iter().chain(line.links.iter().copied())
}

fn fault_in_line(line: &Defline, i: u32) -> Option<&'static str> {
    if !is_text(&line.title) {
        return Some("a title with bytes that are no printable ASCII");
    }
    if !(0..=i64::from(i32::MAX)).contains(&line.taxid) {
        return Some("a taxid out of range");
    }
    if line.ids.is_empty() {
        return Some("a definition line without an identifier");
    }
    for id in &line.ids {
        match id {
            SeqId::General { db, tag: ObjectId::Number(ordinal) }
                if db == ORDINAL_DB && *ordinal != i64::from(i) =>
            {
                return Some("the ordinal number of another sequence");
            }
            SeqId::Gi(gi) if *gi <= 0 => return Some("a GI that is not positive"),
            id if !is_text(&id.fasta()) => {
                return Some("an identifier with bytes that are no printable ASCII");
            }
            _ => {}
        }
    }
    None
}

/// Returns whether a text is printable ASCII, as ASN.1 requires. BLAST+ replaces any other byte by
/// `#` and prints an error.
fn is_text(text: &[u8]) -> bool {
    text.iter().all(|byte| (b' '..=b'~').contains(byte))
}

/// Parses a header that makeblastdb wrote without `-parse_seqids` for sequence `i` of a volume.
/// Returns title and taxid; `None` for any other header. `expected` is work space.
fn without_identifiers<'a>(
    header: &'a [u8],
    i: u32,
    expected: &mut Vec<u8>,
) -> Option<(&'a [u8], i64)> {
    const BEFORE: &[u8] = b"\x30\x80\x30\x80\xa0\x80\x1a";
    const ID: &[u8] =
        b"\0\0\xa1\x80\x30\x80\xaa\x80\x30\x80\xa0\x80\x1a\x09BL_ORD_ID\0\0\xa1\x80\xa0\x80\x02";
    const TAXID: &[u8] = b"\0\0\0\0\0\0\0\0\0\0\0\0\xa2\x80\x02";
    const AFTER: &[u8] = b"\0\0\0\0\0\0";
    let rest = header.strip_prefix(BEFORE)?;
    let (&short, rest) = rest.split_first()?;
    let (length, rest) = match short {
        0..=0x7f => (usize::from(short), rest),
        0x81 => (usize::from(*rest.first()?), &rest[1..]),
        0x82 => (usize::from(u16::from_be_bytes([*rest.first()?, *rest.get(1)?])), &rest[2..]),
        _ => return None,
    };
    let (title, rest) = rest.split_at_checked(length)?;
    expected.clear();
    expected.extend_from_slice(ID);
    put_integer(expected, i.into());
    expected.extend_from_slice(TAXID);
    let rest = rest.strip_prefix(&expected[..])?.strip_suffix(AFTER)?;
    let (&size, bytes) = rest.split_first()?;
    if bytes.len() != usize::from(size) || !(1..=4).contains(&bytes.len()) || bytes[0] >= 0x80 {
        return None;
    }
    Some((title, bytes.iter().fold(0, |value, &byte| value << 8 | i64::from(byte))))
}

/// Appends length and contents of a non-negative ASN.1 INTEGER.
fn put_integer(out: &mut Vec<u8>, value: u64) {
    let bytes = value.to_be_bytes();
    // A leading zero byte keeps the sign positive.
    let start = (0..7).find(|&at| bytes[at] != 0 || bytes[at + 1] >= 0x80).unwrap_or(7);
    out.push((8 - start) as u8);
    out.extend_from_slice(&bytes[start..]);
}

/// Finds a contradiction between packed bases and ambiguities. All runs must lie within the
/// sequence.
fn fault_in_bases(bases: &Bases<'_>) -> Option<&'static str> {
    let packed = bases.packed();
    let (last, _) = packed.split_last()?;
    let unused: Range<u32> = 2..8 - 2 * u32::from(last & 3);
    if unused.clone().any(|bit| last >> bit & 1 != 0) {
        return Some("bits after the last base");
    }
    let mut end = 0;
    for run in bases.ambiguities() {
        if run.start < end {
            return Some("runs of ambiguous bases out of order");
        }
        end = run.start.saturating_add(run.length);
        if run.code.count_ones() < 2 {
            return Some("a run of ambiguous bases that are not ambiguous");
        }
        let base =
            |at: u32| packed.get(at as usize / 4).map_or(0, |byte| byte >> (6 - 2 * (at % 4)) & 3);
        if (run.start..end).any(|at| run.code >> base(at) & 1 == 0) {
            return Some("a base that its ambiguity does not allow");
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_minimal_and_not_negative() {
        let known: [(u64, &[u8]); 6] = [
            (0, &[1, 0]),
            (127, &[1, 127]),
            (128, &[2, 0, 128]),
            (255, &[2, 0, 255]),
            (256, &[2, 1, 0]),
            (1 << 31, &[5, 0, 128, 0, 0, 0]),
        ];
        for (value, bytes) in known {
            let mut out = Vec::new();
            put_integer(&mut out, value);
            assert_eq!(out, bytes);
        }
    }

    #[test]
    fn the_first_zeros_are_named_and_all_are_counted() {
        let of = |oids: std::ops::Range<u32>| {
            let mut totals =
                RecordTotals { zero_run_count: oids.len() as u64, ..RecordTotals::default() };
            oids.for_each(|oid| totals.name_zeros(oid, ZeroRun { start: 0, length: 99 }));
            totals
        };
        let mut totals = of(30..70);
        totals.add(&of(0..15));
        assert_eq!(totals.zero_run_count, 55);
        assert!(totals.zero_runs.into_keys().eq((0..15).chain(30..35)));
    }

    #[test]
    fn bases_and_ambiguities_must_agree() {
        let fault = |packed: &[u8], runs: &[u8]| fault_in_bases(&Bases::new(packed, runs));
        assert_eq!(fault(&[0x1b, 0x01], &[]), None);
        assert_eq!(fault(&[0x1b, 0x05], &[]), Some("bits after the last base"));
        // Y (C or T) at base 1, stored as C.
        assert_eq!(fault(&[0x1b, 0x00], &[0, 0, 0, 1, 0xa0, 0, 0, 1]), None);
        let wrong = fault(&[0x2b, 0x00], &[0, 0, 0, 1, 0xa0, 0, 0, 1]);
        assert_eq!(wrong, Some("a base that its ambiguity does not allow"));
        let plain = fault(&[0x1b, 0x00], &[0, 0, 0, 1, 0x20, 0, 0, 1]);
        assert_eq!(plain, Some("a run of ambiguous bases that are not ambiguous"));
        let order = fault(&[0x1b, 0x00], &[0, 0, 0, 2, 0xf0, 0, 0, 1, 0xf0, 0, 0, 1]);
        assert_eq!(order, Some("runs of ambiguous bases out of order"));
    }
}
