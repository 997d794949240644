//! The alignments of an archive, as hits of its queries.

use std::collections::HashMap;
use std::ops::Range;

use fleetblast_db::lookup::Lookup;
use fleetblast_engine::hits::{Adjustment, Alignment, Edit, EditOp, StoredNumbers, SubjectHit};
use fleetblast_report::archive_reader::{Segment, SegmentPart, StoredAlignment, StoredArchive};
use fleetblast_report::model::{ReportSetup, SubjectSource};
use fleetblast_report::{ArchivedName, count_matches};
use fleetblast_seq::frame::{Frame, Strand};
use fleetblast_seq::id::{ObjectId, SeqId};

use super::queries::generated_id;
use crate::error::Error;
use crate::queries::PreparedBlock;
use crate::reports;
use crate::subjects::SubjectDatabase;

/// Converts the alignments of an archive.
pub(super) struct HitReader<'a> {
    setup: &'a ReportSetup<'a>,
    subjects: &'a SubjectDatabase,
    block: &'a PreparedBlock,
    /// For each identifier, the index of the first query that has it.
    queries: HashMap<SeqId, usize>,
    /// For each identifier of FASTA subjects, the OID of the first subject that has it.
    fasta_subjects: HashMap<SeqId, u32>,
    /// The index of the database's identifiers. It is opened for the first alignment whose subject
    /// is not identified by the number of a sequence.
    lookup: Option<Lookup>,
    /// The identifier of the last alignment's subject, and the OIDs of the sequences that have it.
    last: Option<(SeqId, Vec<u32>)>,
    /// The frames in which alignments read the subjects.
    subject_frames: Vec<Frame>,
}

impl<'a> HitReader<'a> {
    /// Creates a reader for the queries of an archive.
    pub fn new(
        setup: &'a ReportSetup<'a>,
        subjects: &'a SubjectDatabase,
        block: &'a PreparedBlock,
    ) -> Self {
        let mut queries = HashMap::new();
        for (place, record) in block.records.iter().enumerate() {
            let ids = match record.record.ids.as_slice() {
                [] => vec![generated_id(record.unnamed)],
                ids => ids.to_vec(),
            };
            for id in ids {
                queries.entry(id).or_insert(place);
            }
        }
        HitReader {
            setup,
            subjects,
            block,
            queries,
            fasta_subjects: fasta_subjects(subjects),
            lookup: None,
            last: None,
            subject_frames: subject_frames(subjects),
        }
    }

    /// Returns the hits of each query.
    pub fn read(mut self, archive: &StoredArchive) -> Result<Vec<Vec<SubjectHit>>, Error> {
        let mut hits: Vec<Vec<SubjectHit>> = vec![Vec::new(); self.block.records.len()];
        let is_restricted = archive.request.is_restricted() && !self.subjects.is_listed();
        for stored in &archive.alignments {
            let query = self.query(&stored.query)?;
            let (oid, mut alignment) = self.alignment(stored, query)?;
            if is_restricted {
                let listed = stored.listed_ids.clone();
                let name = ArchivedName { id: stored.subject.clone(), listed };
                self.subjects.set_archived_name(oid, name);
            }
            let of_query = &mut hits[query];
            // Several databases can have the identifier.
            if stored.begins_subject || of_query.last().is_none_or(|last| last.oid != oid) {
                of_query.push(SubjectHit::new(oid, Vec::new()));
            }
            if let Some(hit) = of_query.last_mut() {
                alignment.computation_index = hit.alignments.len() as u32;
                hit.alignments.push(alignment);
            }
        }
        Ok(hits)
    }

    fn query(&self, id: &SeqId) -> Result<usize, Error> {
        self.queries
            .get(id)
            .copied()
            .ok_or_else(|| misfit(format_args!("has no query {}", name(id))))
    }

    /// Returns the OIDs of the sequences that have an identifier: several databases can have it.
    fn oids(&mut self, id: &SeqId) -> Result<Vec<u32>, Error> {
        if let Some((_, oids)) = self.last.as_ref().filter(|(last, _)| last == id) {
            return Ok(oids.clone());
        }
        let database = &self.subjects.searched;
        let mut oids: Vec<u32> = match id {
            id if self.subjects.summary.is_subject => {
                self.fasta_subjects.get(id).copied().into_iter().collect()
            }
            SeqId::General { tag: ObjectId::Number(number), .. } if id.is_ordinal() => {
                let oid = u32::try_from(*number).ok().filter(|&oid| oid < database.oid_count());
                oid.into_iter().collect()
            }
            id => {
                let lookup = match self.lookup.take() {
                    Some(lookup) => lookup,
                    None => database.lookup()?,
                };
                let oids = match id {
                    SeqId::Gi(_) => {
                        lookup.oids_of_id(&id.accession(), &mut database.oid_cursor())?
                    }
                    _ => lookup.oids_of_stored_id(id)?,
                };
                self.lookup = Some(lookup);
                oids
            }
        };
        if oids.len() > 1 {
            // An alias may exclude some of them. They have no definition lines then.
            let mut cursor = database.oid_cursor();
            cursor.apply_alias_limits();
            oids.retain(|&oid| cursor.includes_oid(oid));
        }
        if oids.is_empty() {
            return Err(misfit(format_args!(
                "names a sequence that the database does not have: {}",
                name(id)
            )));
        }
        self.last = Some((id.clone(), oids.clone()));
        Ok(oids)
    }

    /// Converts an alignment, and returns it with the OID of its subject. If several sequences have
    /// the subject's identifier, the subject is the first one with which the alignment has the
    /// stored number of identical letters, or else the first one that the alignment fits.
    fn alignment(
        &mut self,
        stored: &StoredAlignment,
        query: usize,
    ) -> Result<(u32, Alignment), Error> {
        let oids = self.oids(&stored.subject)?;
        let alignment = |&oid: &u32| Ok((oid, self.alignment_with(stored, query, oid)?));
        if let [oid] = &oids[..] {
            return alignment(oid);
        }
        let mut fitting: Vec<_> = oids.iter().filter_map(|oid| alignment(oid).ok()).collect();
        let is_searched = |(oid, alignment): &(u32, Alignment)| {
            let (record, prepared) = (&self.block.records[query], &self.block.prepared[query]);
            let result = reports::empty_result(record, prepared);
            let matches = count_matches(self.setup, &result, self.subjects, *oid, alignment);
            matches.ok().map(|matches| matches.identities as u32) == stored.identities
        };
        let chosen = fitting.iter().position(is_searched).unwrap_or(0);
        match fitting.is_empty() {
            true => alignment(&oids[0]),
            false => Ok(fitting.swap_remove(chosen)),
        }
    }

    fn alignment_with(
        &self,
        stored: &StoredAlignment,
        query: usize,
        oid: u32,
    ) -> Result<Alignment, Error> {
        let failure = || misfit(format_args!("has an alignment that does not fit subject {oid}"));
        let prepared = &self.block.prepared[query];
        let record = &self.block.records[query];
        let letters = record.record.residues.len() as u32;
        let searched = record.range.clone().unwrap_or(0..letters);
        let of_query = joined(stored, |segment| segment.query.as_ref()).ok_or_else(failure)?;
        let of_subject = joined(stored, |segment| segment.subject.as_ref()).ok_or_else(failure)?;
        let (range, strand) = of_query;
        let mut contexts = prepared.contexts.iter().enumerate();
        let context = contexts.find_map(|(number, context)| {
            let letters = place_in_frame(context.frame, &range, strand, &searched)?;
            Some((number, context.frame, letters))
        });
        let (context, query_frame, query_range) = context.ok_or_else(failure)?;
        let (range, strand) = of_subject;
        let extent = self.subjects.extent(oid);
        let frame = self.subject_frames.iter().find_map(|&frame| {
            Some((frame, place_in_frame(frame, &range, strand, &extent.searched_range)?))
        });
        let (frame, subject_range) = frame.ok_or_else(failure)?;
        let units = [query_frame, frame].map(Frame::letters_per_residue);
        let edits = stored.segments.iter().map(|segment| edit(segment, units));
        let edits: Vec<Edit> = edits.collect::<Option<_>>().ok_or_else(failure)?;
        Ok(Alignment {
            score: stored.score,
            bit_score: stored.bit_score,
            evalue: stored.evalue,
            linked: stored.linked,
            query: query_range,
            subject: subject_range,
            context: context as u8,
            frame,
            edits,
            computation_index: 0,
            pattern_occurrence: 0,
            adjustment: match stored.adjustment {
                1 => Adjustment::Scaled,
                2 => Adjustment::Matrix,
                // BLAST+ names no others, either.
                _ => Adjustment::None,
            },
            positives: stored.positives,
            stored: Some(StoredNumbers {
                identities: stored.identities,
                coverage: stored.coverage,
            }),
        })
    }
}

/// Returns the OID of the first FASTA subject with each identifier; an empty map for a database.
fn fasta_subjects(subjects: &SubjectDatabase) -> HashMap<SeqId, u32> {
    let mut oids = HashMap::new();
    let count = if subjects.summary.is_subject { subjects.searched.oid_count() } else { 0 };
    for oid in 0..count {
        // Sequences in memory have definition lines that can be read.
        let lines = subjects.deflines(oid).unwrap_or_default();
        for id in lines.into_iter().flat_map(|line| line.ids) {
            oids.entry(id).or_insert(oid);
        }
    }
    oids
}

/// Returns the frames in which alignments read the subjects.
fn subject_frames(subjects: &SubjectDatabase) -> Vec<Frame> {
    let is_protein = subjects.summary.kind == fleetblast_db::SequenceKind::Protein;
    match (subjects.is_translated(), is_protein) {
        (true, _) => [Strand::Plus, Strand::Minus]
            .into_iter()
            .flat_map(|strand| (0..3).map(move |offset| Frame::Codons(strand, offset)))
            .collect(),
        (false, true) => vec![Frame::Protein],
        (false, false) => vec![Frame::Strand(Strand::Plus)],
    }
}

/// Converts a range of the whole sequence on `strand` to the letters of a frame. `whole` is the
/// searched range. Returns `None` if the frame is on the other strand, if the range exceeds
/// `whole`, or if a bound of the range lies within a codon of the frame.
fn place_in_frame(
    frame: Frame,
    range: &Range<u32>,
    strand: Strand,
    whole: &Range<u32>,
) -> Option<Range<u32>> {
    let from = range.start.checked_sub(whole.start)?;
    let to = range.end.checked_sub(whole.start).filter(|_| range.end <= whole.end)?;
    let (from, to) = match frame.strand() {
        Some(frame_strand) if frame_strand != strand => return None,
        Some(Strand::Minus) => {
            let length = whole.end - whole.start;
            (length - to, length - from)
        }
        _ => (from, to),
    };
    let Frame::Codons(_, offset) = frame else { return Some(from..to) };
    let from = from.checked_sub(offset.into())?;
    let to = to.checked_sub(offset.into())?;
    (from % 3 == 0 && to % 3 == 0).then_some(from / 3..to / 3)
}

/// Returns the range of a sequence that an alignment covers, and its strand. Returns `None` unless
/// all segments have the same strand and each begins where the one before it ended. `part` selects
/// the query or the subject of a segment.
fn joined(
    alignment: &StoredAlignment,
    part: fn(&Segment) -> Option<&SegmentPart>,
) -> Option<(Range<u32>, Strand)> {
    let mut parts = alignment.segments.iter().filter_map(part);
    let SegmentPart { mut range, strand } = parts.next()?.clone();
    for next in parts {
        let is_next = next.strand == strand
            && match strand {
                Strand::Plus => next.range.start == range.end,
                Strand::Minus => next.range.end == range.start,
            };
        if !is_next {
            return None;
        }
        range = range.start.min(next.range.start)..range.end.max(next.range.end);
    }
    Some((range, strand))
}

fn edit(segment: &Segment, units: [u32; 2]) -> Option<Edit> {
    let columns = |part: &SegmentPart, unit: u32| {
        let length = part.range.end - part.range.start;
        length.is_multiple_of(unit).then_some(length / unit)
    };
    match (&segment.query, &segment.subject) {
        (Some(query), Some(subject)) => {
            let len = columns(query, units[0])?;
            (columns(subject, units[1])? == len).then_some(Edit { op: EditOp::Substitution, len })
        }
        (Some(query), None) => {
            Some(Edit { op: EditOp::GapInSubject, len: columns(query, units[0])? })
        }
        (None, Some(subject)) => {
            Some(Edit { op: EditOp::GapInQuery, len: columns(subject, units[1])? })
        }
        (None, None) => None,
    }
}

fn name(id: &SeqId) -> String {
    String::from_utf8_lossy(&id.fasta()).into_owned()
}

/// Returns the error for an archive that does not fit its database or contradicts itself.
fn misfit(what: std::fmt::Arguments<'_>) -> Error {
    Error::database(format_args!(
        "the archive {what}; is the database still the one that was searched?"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_follow_each_other_on_their_strand() {
        let joined = |parts: &[(Range<u32>, Strand)]| {
            let part = |(range, strand): &(Range<u32>, Strand)| Segment {
                query: Some(SegmentPart { range: range.clone(), strand: *strand }),
                subject: None,
            };
            let alignment = StoredAlignment {
                query: SeqId::Gi(1),
                subject: SeqId::Gi(2),
                score: 1,
                bit_score: 1.0,
                evalue: 1.0,
                linked: 1,
                adjustment: 0,
                identities: None,
                positives: None,
                coverage: None,
                segments: parts.iter().map(part).collect(),
                listed_ids: Vec::new(),
                begins_subject: false,
            };
            super::joined(&alignment, |segment| segment.query.as_ref())
        };
        use Strand::{Minus, Plus};
        assert_eq!(joined(&[(3..5, Plus), (5..9, Plus)]), Some((3..9, Plus)));
        assert_eq!(joined(&[(5..9, Minus), (3..5, Minus)]), Some((3..9, Minus)));
        // Ungapped searches find alignments without any pair.
        assert_eq!(joined(&[(5..5, Plus)]), Some((5..5, Plus)));
        let wrong = [
            [(3..5, Plus), (6..9, Plus)],
            [(3..5, Plus), (4..9, Plus)],
            [(5..9, Plus), (3..5, Plus)],
            [(3..5, Minus), (5..9, Minus)],
            [(3..5, Plus), (5..9, Minus)],
        ];
        for parts in wrong {
            assert_eq!(joined(&parts), None, "{parts:?}");
        }
        assert_eq!(joined(&[]), None);
    }
}
