//! Sorts subjects and alignments of the pairwise report (`-sorthits`, `-sorthsps`), and computes
//! the values of subjects that it sorts by (align_format_util.cpp).

use std::ops::Range;

use fleetblast_engine::hits::{Alignment, SubjectHit};
use fleetblast_seq::alphabet;
use serde::{Deserialize, Serialize};

use crate::alignment_positions::AlignmentPositions;
use crate::error::ReportError;
use crate::model::{HitOrder, HspOrder, IdentityLetters, QueryResult, ReportSetup, SubjectSource};
use crate::number;
use crate::pair::residues;
use crate::program;
use crate::row_position::RowPosition;

/// The values of a subject that the description table shows and by which subjects are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubjectScores {
    /// Bit score of the best alignment.
    pub bit_score: f64,
    /// Sum of the bit scores of all alignments, added in the order of the search.
    pub total_bit_score: f64,
    /// E-value of the best alignment.
    pub evalue: f64,
    /// Number of alignments in the linked set of the first printed alignment.
    pub linked_set_size: u32,
    /// E-value of the first alignment in the order of the search, 0 if it is tiny. `-sorthits 4`
    /// sorts subjects of equal coverage by it.
    pub first_evalue: f64,
    /// Identity of the best alignment in per cent.
    pub percent_identity: f64,
    /// Number of residues or bases of the query that any alignment covers.
    pub covered_residues: usize,
}

impl SubjectScores {
    /// Computes the values from the alignments of a subject.
    ///
    /// # Errors
    /// If an alignment does not fit its sequences.
    pub(crate) fn new(
        setup: &ReportSetup,
        query: &QueryResult,
        source: &dyn SubjectSource,
        hit: &SubjectHit,
    ) -> Result<Self, ReportError> {
        let alignments = sort_alignments(setup, query, source, hit)?;
        let mut scores = Self {
            bit_score: 0.0,
            total_bit_score: hit.all_alignments().map(|(_, alignment)| alignment.bit_score).sum(),
            evalue: 0.0,
            linked_set_size: alignments.first().map_or(1, |(_, alignment)| alignment.linked),
            // BLAST+ sorts subjects before their alignments.
            first_evalue: hit.alignments.first().map_or(0.0, sorted_evalue),
            percent_identity: 100.0,
            covered_residues: covered_residues(query, source, hit)?,
        };
        for &(oid, alignment) in &alignments {
            if alignment.bit_score > scores.bit_score {
                scores.bit_score = alignment.bit_score;
                scores.evalue = alignment.evalue;
                let identities = stated_matches(setup, query, source, oid, alignment)?.identities;
                let columns = columns(alignment) * program::bases_per_column(setup.params);
                scores.percent_identity = if identities == columns {
                    100.0
                } else {
                    100.0 * identities as f64 / columns as f64
                };
            }
        }
        Ok(scores)
    }
}

/// An alignment and the OID of its subject.
pub type SubjectAlignment<'h> = (u32, &'h Alignment);

/// Returns the alignments of a subject in the order in which the report prints them.
///
/// # Errors
/// If an alignment does not fit its sequences.
pub fn sort_alignments<'h>(
    setup: &ReportSetup,
    query: &QueryResult,
    source: &dyn SubjectSource,
    hit: &'h SubjectHit,
) -> Result<Vec<SubjectAlignment<'h>>, ReportError> {
    let mut alignments: Vec<_> = hit.all_alignments().collect();
    let positions = |(oid, alignment): SubjectAlignment| {
        AlignmentPositions::from_alignment(query, source, oid, alignment)
    };
    // When BLAST+ compares subjects by score or identity, it also sorts their alignments as a side
    // effect.
    match setup.output.hit_order {
        Some(HitOrder::BitScore) if query.hit_count > 1 => by_score(&mut alignments),
        Some(HitOrder::Identity) if query.hit_count > 1 => {
            by_identity(setup, query, source, &mut alignments)?;
        }
        _ => {}
    }
    match setup.output.hsp_order {
        HspOrder::Evalue => {}
        HspOrder::Score => by_score(&mut alignments),
        HspOrder::QueryStart => {
            by_start(&mut alignments, |a| Ok(positions(a)?.query.sequence_range.start))?
        }
        HspOrder::Identity => by_identity(setup, query, source, &mut alignments)?,
        HspOrder::SubjectStart => {
            by_start(&mut alignments, |a| Ok(positions(a)?.subject.sequence_range.start))?
        }
    }
    Ok(alignments)
}

/// Returns the e-value by which alignments are sorted: 0 if it is below 1e-180, so that such
/// e-values are equal.
fn sorted_evalue(alignment: &Alignment) -> f64 {
    number::stored_evalue(alignment.evalue)
}

fn by_score(alignments: &mut [SubjectAlignment]) {
    alignments.sort_by(|(_, a), (_, b)| b.bit_score.total_cmp(&a.bit_score));
}

/// Sorts alignments by position, then by e-value. `start` returns the lowest position of an
/// alignment in the query or in the subject.
fn by_start(
    alignments: &mut Vec<SubjectAlignment>,
    start: impl Fn(SubjectAlignment) -> Result<u32, ReportError>,
) -> Result<(), ReportError> {
    let starts = alignments.iter().map(|&alignment| Ok((start(alignment)?, alignment)));
    let mut starts: Vec<_> = starts.collect::<Result<_, ReportError>>()?;
    starts.sort_by(|a, b| {
        a.0.cmp(&b.0).then_with(|| sorted_evalue(a.1.1).total_cmp(&sorted_evalue(b.1.1)))
    });
    *alignments = starts.into_iter().map(|(_, alignment)| alignment).collect();
    Ok(())
}

fn by_identity(
    setup: &ReportSetup,
    query: &QueryResult,
    source: &dyn SubjectSource,
    alignments: &mut Vec<SubjectAlignment>,
) -> Result<(), ReportError> {
    let shares = alignments.iter().map(|&(oid, alignment)| {
        let identities = stated_matches(setup, query, source, oid, alignment)?.identities;
        Ok((identities as f64 / columns(alignment) as f64, (oid, alignment)))
    });
    let mut shares: Vec<_> = shares.collect::<Result<_, ReportError>>()?;
    list_sort(&mut shares, |a, b| {
        if a.0 > 0.0 && b.0 > 0.0 && a.0 != b.0 {
            a.0 > b.0
        } else {
            sorted_evalue(a.1.1) < sorted_evalue(b.1.1)
        }
    });
    *alignments = shares.into_iter().map(|(_, alignment)| alignment).collect();
    Ok(())
}

/// Returns the order in which the report prints subjects, as indexes into `scores`.
pub fn sort_subjects(order: Option<HitOrder>, scores: &[SubjectScores]) -> Vec<usize> {
    let mut ranks: Vec<usize> = (0..scores.len()).collect();
    let precedes: fn(&SubjectScores, &SubjectScores) -> bool = match order {
        None | Some(HitOrder::Evalue) => return ranks,
        Some(HitOrder::BitScore) => |a, b| a.bit_score > b.bit_score,
        // With `>=`, subjects with equal totals precede each other, so the sort algorithm decides
        // their order.
        Some(HitOrder::TotalScore) => |a, b| a.total_bit_score >= b.total_bit_score,
        Some(HitOrder::Identity) => {
            |a, b| a.percent_identity > b.percent_identity && b.percent_identity > 0.0
        }
        Some(HitOrder::Coverage) => |a, b| {
            a.covered_residues > b.covered_residues
                || (a.covered_residues == b.covered_residues && a.first_evalue < b.first_evalue)
        },
    };
    list_sort(&mut ranks, |&a, &b| precedes(&scores[a], &scores[b]));
    ranks
}

/// Sorts as `std::list::sort` of libstdc++ does: merges runs of 1, 2, 4, ... elements. An element
/// of the earlier run goes first, unless the element of the later run precedes it. Other algorithms
/// give another result if `precedes` is not a strict order.
fn list_sort<T: Clone>(items: &mut Vec<T>, precedes: impl Fn(&T, &T) -> bool) {
    let merge = |early: Vec<T>, late: Vec<T>| -> Vec<T> {
        let mut merged = Vec::with_capacity(early.len() + late.len());
        let (mut early, mut late) = (early.into_iter().peekable(), late.into_iter().peekable());
        while let (Some(e), Some(l)) = (early.peek(), late.peek()) {
            let next = if precedes(l, e) { late.next() } else { early.next() };
            merged.extend(next);
        }
        merged.extend(early);
        merged.extend(late);
        merged
    };
    let mut runs: Vec<Vec<T>> = Vec::new();
    for item in items.drain(..) {
        let mut carry = vec![item];
        let mut level = 0;
        while level < runs.len() && !runs[level].is_empty() {
            carry = merge(std::mem::take(&mut runs[level]), carry);
            level += 1;
        }
        if level == runs.len() {
            runs.push(carry);
        } else {
            runs[level] = carry;
        }
    }
    *items = runs.into_iter().reduce(|small, large| merge(large, small)).unwrap_or_default();
}

/// Returns the number of columns of an alignment.
fn columns(alignment: &Alignment) -> usize {
    alignment.edits.iter().map(|edit| edit.len as usize).sum()
}

/// Numbers of matching columns of an alignment, as the search counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// Columns with identical letters.
    pub identities: usize,
    /// Columns with identical letters or a positive score; 0 for nucleotides.
    pub positives: usize,
}

/// Returns the numbers of matching columns of an alignment. For a report of an archive they are the
/// stored numbers, or 0 where none is stored; otherwise [`count_matches`] counts them.
///
/// # Errors
/// If the alignment does not fit its sequences.
pub fn stated_matches(
    setup: &ReportSetup,
    query: &QueryResult,
    source: &dyn SubjectSource,
    oid: u32,
    alignment: &Alignment,
) -> Result<Matches, ReportError> {
    let number = |stored: Option<u32>| stored.unwrap_or(0) as usize;
    match alignment.stored {
        Some(stored) => Ok(Matches {
            identities: number(stored.identities),
            positives: number(alignment.positives),
        }),
        None => count_matches(setup, query, source, oid, alignment),
    }
}

/// Counts the matching columns of an alignment; `O` counts as `X`. The program
/// of the search selects the masks and the genetic code of the letters.
///
/// # Errors
/// If the alignment does not fit its sequences.
pub fn count_matches(
    setup: &ReportSetup,
    query: &QueryResult,
    source: &dyn SubjectSource,
    oid: u32,
    alignment: &Alignment,
) -> Result<Matches, ReportError> {
    let misfit = || ReportError::misfit(oid, alignment);
    // Both sequences have the direction of the search, which can be the reverse of the printed one.
    let extent = source.extent(oid);
    let RowPosition { frame, frame_range: read, .. } =
        RowPosition::new(alignment.frame, &alignment.subject, &extent).ok_or_else(misfit)?;
    let counted = program::identity_count(setup.params);
    let subject = source.letters_for_identities(oid, frame, read, counted).ok_or_else(misfit)?;
    let range = alignment.query.start as usize..alignment.query.end as usize;
    let context = query.context(alignment);
    let letters = match (&query.query.pssm, counted) {
        // BLAST+'s results of searches with a PSSM have no masks, not even those of its query,
        // which the contexts have.
        (Some(_), _) => query.residues,
        (None, IdentityLetters::MaskedByReportCode) => &context.letters,
        (None, IdentityLetters::Aligned | IdentityLetters::Unmasked) => &context.unmasked,
    };
    let mut query = letters.get(range).ok_or_else(misfit)?;
    let mut subject = &subject[..];
    let scores = program::letter_scores(setup.params);
    let is_positive =
        |q: u8, s: u8| scores.is_some_and(|scores| scores[usize::from(q)][usize::from(s)] > 0);
    let mut matches = Matches::default();
    for edit in &alignment.edits {
        let (from_query, from_subject) = residues(edit);
        let queries = query.split_off(..from_query).ok_or_else(misfit)?;
        let subjects = subject.split_off(..from_subject).ok_or_else(misfit)?;
        for (&q, &s) in queries.iter().zip(subjects) {
            let q = if q == alphabet::O { alphabet::X } else { q };
            matches.identities += usize::from(q == s);
            matches.positives += usize::from(q != s && is_positive(q, s));
        }
    }
    if scores.is_some() {
        matches.positives += matches.identities;
    }
    Ok(matches)
}

/// Counts the residues or bases of the query that any alignment of a subject covers.
///
/// # Errors
/// If an alignment does not fit its sequences.
pub fn covered_residues(
    query: &QueryResult,
    source: &dyn SubjectSource,
    hit: &SubjectHit,
) -> Result<usize, ReportError> {
    let positions = hit
        .all_alignments()
        .map(|(oid, a)| AlignmentPositions::from_alignment(query, source, oid, a));
    let ranges = positions.map(|positions| Ok(positions?.query.sequence_range));
    let mut ranges: Vec<Range<u32>> = ranges.collect::<Result<_, ReportError>>()?;
    ranges.sort_by_key(|range| range.start);
    let (mut covered, mut end) = (0, 0);
    for range in ranges {
        covered += range.end.saturating_sub(range.start.max(end));
        end = end.max(range.end);
    }
    Ok(covered as usize)
}

#[cfg(test)]
mod tests {
    use fleetblast_engine::hits::{Adjustment, Edit, EditOp};
    use fleetblast_seq::frame::Frame;

    use super::*;

    fn scores(total_bits: f64, covered: usize) -> SubjectScores {
        SubjectScores {
            bit_score: 1.0,
            total_bit_score: total_bits,
            linked_set_size: 1,
            evalue: 0.0,
            first_evalue: 0.0,
            percent_identity: 50.0,
            covered_residues: covered,
        }
    }

    #[test]
    fn alignments_with_tiny_evalues_keep_their_order() {
        let of = |evalue, start| Alignment {
            score: 1000,
            bit_score: 900.0,
            evalue,
            linked: 1,
            query: start..start + 9,
            subject: 0..9,
            context: 0,
            frame: Frame::Protein,
            edits: vec![Edit { op: EditOp::Substitution, len: 9 }],
            computation_index: 0,
            pattern_occurrence: 0,
            adjustment: Adjustment::None,
            positives: None,
            stored: None,
        };
        let found = [of(1e-181, 5), of(1e-200, 5), of(1e-150, 5), of(1e-160, 5), of(1.0, 2)];
        let mut alignments: Vec<_> = found.iter().map(|alignment| (0, alignment)).collect();
        by_start(&mut alignments, |(_, a)| Ok(a.query.start)).unwrap();
        let evalues: Vec<_> = alignments.iter().map(|(_, a)| a.evalue).collect();
        assert_eq!(evalues, [1.0, 1e-181, 1e-200, 1e-160, 1e-150]);
    }

    /// Expected values: the result of libstdc++'s `std::list<int>::sort(greater_equal)` for equal
    /// elements.
    #[test]
    fn equal_totals_are_reversed_in_runs() {
        let equal = vec![scores(5.0, 1); 5];
        assert_eq!(sort_subjects(Some(HitOrder::TotalScore), &equal), [4, 3, 2, 1, 0]);
        let mixed: Vec<_> = [5.0, 7.0, 5.0, 7.0, 9.0].map(|bits| scores(bits, 1)).into();
        assert_eq!(sort_subjects(Some(HitOrder::TotalScore), &mixed), [4, 3, 1, 2, 0]);
    }

    #[test]
    fn strict_orders_are_stable() {
        let covered: Vec<_> = [3, 9, 3, 9].map(|n| scores(1.0, n)).into();
        assert_eq!(sort_subjects(Some(HitOrder::Coverage), &covered), [1, 3, 0, 2]);
        assert_eq!(sort_subjects(Some(HitOrder::Identity), &covered), [0, 1, 2, 3]);
        assert_eq!(sort_subjects(None, &covered), [0, 1, 2, 3]);
    }
}
