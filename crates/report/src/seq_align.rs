//! Alignments in ASN.1 (`Seq-align`, seqalign.asn), as BLAST+ makes them from HSPs
//! (blast_seqalign.cpp).

use std::ops::Range;

use fleetblast_engine::hits::{Adjustment, Alignment, Edit, EditOp, SubjectHit};
use fleetblast_seq::frame::{Frame, Strand};

use crate::asn::{AsnValue, seq_id};
use crate::error::ReportError;
use crate::model::{QueryResult, ReportSetup, SubjectSource};
use crate::names::{self, SubjectNames};
use crate::number;
use crate::order;
use crate::program;
use crate::row_position::{RowPosition, SearchedExtent};

/// Start of a gap in `Dense-seg`.
const GAP: i64 = -1;

/// Makes the alignments of a subject: one for each HSP, or a single one of all HSPs if the search
/// is ungapped.
///
/// # Errors
/// If the subject cannot be read or does not fit its alignments.
pub fn subject_alignments(
    setup: &ReportSetup,
    query: &QueryResult,
    source: &dyn SubjectSource,
    hit: &SubjectHit,
) -> Result<Vec<AsnValue>, ReportError> {
    let oid = hit.oid;
    let names = SubjectNames::read(setup, source, oid)?;
    let subject_id = names.alignment_id().ok_or(ReportError::NoDefline { oid })?;
    let pair = Pair {
        setup,
        query,
        source,
        oid,
        ids: [&names::sequence_id(query), subject_id].map(seq_id::value),
    };
    let shown = names.listed_ids();
    if !setup.params.common().ungapped {
        let aligned = hit.alignments.iter().map(|alignment| pair.gapped(alignment, &shown));
        return aligned.collect();
    }
    let diagonals = hit.alignments.iter().map(|alignment| pair.ungapped(alignment));
    let diagonals = AsnValue::List(diagonals.collect::<Result<_, _>>()?);
    let kind = if program::is_translated(setup.params) { "std" } else { "dendiag" };
    let mut fields =
        vec![("type", AsnValue::Word("diags")), ("segs", AsnValue::choice(kind, diagonals))];
    fields.extend(extension(&shown));
    Ok(vec![AsnValue::Fields(fields)])
}

/// Returns the list of the identifiers that a restricted search shows of a subject, if it shows
/// only some.
fn extension(shown: &[Vec<u8>]) -> Option<(&'static str, AsnValue)> {
    if shown.is_empty() {
        return None;
    }
    let texts = shown.iter().map(AsnValue::text).collect();
    let field = AsnValue::Fields(vec![
        ("label", AsnValue::choice("str", AsnValue::text("SEQIDS"))),
        ("num", AsnValue::integer(shown.len() as i64)),
        ("data", AsnValue::choice("strs", AsnValue::List(texts))),
    ]);
    let object = AsnValue::Fields(vec![
        ("type", AsnValue::choice("str", AsnValue::text("use_this_seqid"))),
        ("data", AsnValue::List(vec![field])),
    ]);
    Some(("ext", AsnValue::List(vec![object])))
}

/// A query and a subject.
struct Pair<'a> {
    setup: &'a ReportSetup<'a>,
    query: &'a QueryResult<'a>,
    source: &'a dyn SubjectSource,
    oid: u32,
    /// Identifiers of the query and of the subject.
    ids: [AsnValue; 2],
}

/// The part of a sequence that a run of columns covers.
struct CoveredPart {
    /// First base or residue of the whole sequence, 0-based; `None` for a gap.
    start: Option<u32>,
    /// Number of bases or residues.
    length: u32,
    strand: &'static str,
}

impl Pair<'_> {
    fn gapped(&self, alignment: &Alignment, shown: &[Vec<u8>]) -> Result<AsnValue, ReportError> {
        let mut fields = vec![
            ("type", AsnValue::Word("partial")),
            ("dim", AsnValue::integer(2)),
            ("score", self.scores(alignment)?),
        ];
        let runs = self.runs(alignment)?;
        let segments = if program::is_translated(self.setup.params) {
            let segments =
                runs.iter().map(|(_, covered)| AsnValue::Fields(self.standard_segment(covered)));
            AsnValue::choice("std", AsnValue::List(segments.collect()))
        } else {
            AsnValue::choice("denseg", self.dense_segments(&runs))
        };
        fields.push(("segs", segments));
        fields.extend(extension(shown));
        Ok(AsnValue::Fields(fields))
    }

    fn ungapped(&self, alignment: &Alignment) -> Result<AsnValue, ReportError> {
        let runs = self.runs(alignment)?;
        let (length, covered) = runs.first().ok_or_else(|| self.misfit(alignment))?;
        let mut fields = if program::is_translated(self.setup.params) {
            self.standard_segment(covered)
        } else {
            let starts = covered.iter().map(CoveredPart::dense_start).collect();
            vec![
                ("dim", AsnValue::integer(2)),
                ("ids", self.ids()),
                ("starts", AsnValue::List(starts)),
                ("len", AsnValue::integer(*length)),
                ("strands", strands(covered)),
            ]
        };
        fields.push(("scores", self.scores(alignment)?));
        Ok(AsnValue::Fields(fields))
    }

    fn ids(&self) -> AsnValue {
        AsnValue::List(self.ids.to_vec())
    }

    fn misfit(&self, alignment: &Alignment) -> ReportError {
        ReportError::misfit(self.oid, alignment)
    }

    /// Returns the runs of columns: for each run, its number of columns and the parts of query and
    /// subject that it covers.
    fn runs(&self, alignment: &Alignment) -> Result<Vec<(u32, [CoveredPart; 2])>, ReportError> {
        let misfit = || self.misfit(alignment);
        let extents = [self.query.extent(), self.source.extent(self.oid)];
        let frames = [self.query.context(alignment).frame, alignment.frame];
        // The mapping of alignments to FASTA subjects adds strands (`s_RemapToSubjectLoc`).
        let is_mapped = self.setup.database.is_subject && !self.setup.params.common().ungapped;
        let frames_shown = match frames {
            [Frame::Protein, Frame::Protein] if is_mapped => [Frame::Strand(Strand::Plus); 2],
            frames => frames,
        };
        let mut at = [alignment.query.start, alignment.subject.start];
        let mut runs = Vec::with_capacity(alignment.edits.len());
        for (number, &Edit { op, len }) in alignment.edits.iter().enumerate() {
            let mut cover = |row: usize, gap: EditOp| {
                if op == gap {
                    // BLAST+ knows no strand for a gap at the start.
                    let frame =
                        if number == 0 && !is_mapped { Frame::Protein } else { frames_shown[row] };
                    return Some(CoveredPart { start: None, length: 0, strand: strand(frame) });
                }
                let letters = at[row]..at[row] + len;
                at[row] += len;
                let covered = CoveredPart::new(frames[row], &letters, &extents[row])?;
                Some(CoveredPart { strand: strand(frames_shown[row]), ..covered })
            };
            let query = cover(0, EditOp::GapInQuery).ok_or_else(misfit)?;
            let subject = cover(1, EditOp::GapInSubject).ok_or_else(misfit)?;
            runs.push((len, [query, subject]));
        }
        Ok(runs)
    }

    fn dense_segments(&self, runs: &[(u32, [CoveredPart; 2])]) -> AsnValue {
        let covered = || runs.iter().flat_map(|(_, covered)| covered);
        AsnValue::Fields(vec![
            ("dim", AsnValue::integer(2)),
            ("numseg", AsnValue::integer(runs.len() as i64)),
            ("ids", self.ids()),
            ("starts", AsnValue::List(covered().map(CoveredPart::dense_start).collect())),
            ("lens", AsnValue::List(runs.iter().map(|(len, _)| AsnValue::integer(*len)).collect())),
            ("strands", strands(covered())),
        ])
    }

    fn standard_segment(&self, covered: &[CoveredPart; 2]) -> Vec<(&'static str, AsnValue)> {
        let location = |(covered, id): (&CoveredPart, &AsnValue)| match covered.start {
            Some(start) => AsnValue::choice(
                "int",
                AsnValue::Fields(vec![
                    ("from", AsnValue::integer(start)),
                    ("to", AsnValue::integer(i64::from(start + covered.length) - 1)),
                    ("strand", AsnValue::Word(covered.strand)),
                    ("id", id.clone()),
                ]),
            ),
            None => AsnValue::choice("empty", id.clone()),
        };
        let locations = covered.iter().zip(&self.ids).map(location).collect();
        vec![("dim", AsnValue::integer(2)), ("ids", self.ids()), ("loc", AsnValue::List(locations))]
    }

    /// Makes the list of scores of an alignment (`s_BuildScoreList`).
    fn scores(&self, alignment: &Alignment) -> Result<AsnValue, ReportError> {
        let &Alignment { score, bit_score, evalue, linked, adjustment, .. } = alignment;
        let matches =
            order::stated_matches(self.setup, self.query, self.source, self.oid, alignment)?;
        let integer = |number: i64| AsnValue::Integer(number);
        let mut scores = Vec::with_capacity(8);
        if score != 0 {
            scores
                .extend([("score", integer(score.into())), ("blast_score", integer(score.into()))]);
        }
        let is_linked = linked > 1;
        if is_linked {
            scores.push(("sum_n", integer(linked.into())));
        }
        let evalue_name = if is_linked { "sum_e" } else { "e_value" };
        scores.push((evalue_name, AsnValue::Real(number::stored_evalue(evalue))));
        scores.push(("bit_score", AsnValue::Real(bit_score)));
        let omits_identities = match alignment.stored {
            Some(stored) => stored.identities.is_none(),
            None => {
                matches.identities == 0 && program::omits_zero_identities(self.setup, self.query)
            }
        };
        if !omits_identities {
            scores.push(("num_ident", integer(matches.identities as i64)));
        }
        match adjustment {
            Adjustment::None => {}
            Adjustment::Scaled => scores.push(("comp_adjustment_method", integer(1))),
            Adjustment::Matrix => scores.push(("comp_adjustment_method", integer(2))),
        }
        let positives = alignment.positives.map_or(matches.positives as i64, i64::from);
        if positives > 0 {
            scores.push(("num_positives", integer(positives)));
        }
        let coverage = match alignment.stored {
            Some(stored) => stored.coverage,
            None => Some(self.coverage(alignment)),
        };
        scores.extend(coverage.map(|share| ("hsp_percent_coverage", AsnValue::Real(share))));
        let named = |(name, value): (&'static str, AsnValue)| {
            let kind = if matches!(value, AsnValue::Real(_)) { "real" } else { "int" };
            AsnValue::Fields(vec![
                ("id", AsnValue::choice("str", AsnValue::text(name))),
                ("value", AsnValue::choice(kind, value)),
            ])
        };
        Ok(AsnValue::List(scores.into_iter().map(named).collect()))
    }

    /// Returns the coverage of the query in per cent. BLAST+ adds a half, to truncate it later. It
    /// divides residues of a translated query by bases or by codons, which depends on the release
    /// (`Blast_HSPGetQueryCoverage`, blast_hits.c).
    fn coverage(&self, alignment: &Alignment) -> f64 {
        let length = match program::gapped_coverage_counts_codons(self.setup.params) {
            true => self.query.covered_length() / 3,
            false => self.query.covered_length(),
        };
        let share = 100.0 * alignment.query.len() as f64 / length as f64;
        if share < 99.0 { share + 0.5 } else { share }
    }
}

impl CoveredPart {
    /// Returns the part of a sequence that the range `letters` of a frame covers; `None` if it
    /// reaches beyond the sequence.
    fn new(frame: Frame, letters: &Range<u32>, extent: &SearchedExtent) -> Option<CoveredPart> {
        let covered = RowPosition::new(frame, letters, extent)?.sequence_range;
        Some(CoveredPart {
            start: Some(covered.start),
            length: covered.end - covered.start,
            strand: strand(frame),
        })
    }

    fn dense_start(&self) -> AsnValue {
        AsnValue::Integer(self.start.map_or(GAP, i64::from))
    }
}

fn strands<'a>(covered: impl IntoIterator<Item = &'a CoveredPart>) -> AsnValue {
    AsnValue::List(covered.into_iter().map(|it| AsnValue::Word(it.strand)).collect())
}

fn strand(frame: Frame) -> &'static str {
    match frame.strand() {
        Some(Strand::Plus) => "plus",
        Some(Strand::Minus) => "minus",
        None => "unknown",
    }
}
