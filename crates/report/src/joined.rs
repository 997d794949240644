//! Joins hits that reports show as one: neighbours of the same identifier, in several databases.
//!
//! BLAST+ compares the identifier of each alignment with that of the alignment before, and takes
//! both for the same subject if they are equal (`CShowBlastDefline::x_InitDefline`,
//! showdefline.cpp; `CAlignFormatUtil::PruneSeqalign`, align_format_util.cpp).

use std::borrow::Cow;

use fleetblast_engine::hits::SubjectHit;

use crate::error::ReportError;
use crate::model::{Format, QueryResult, ReportSetup, SubjectSource};
use crate::names::SubjectNames;

/// Whether reports of this kind may show neighbouring hits as one.
pub fn joins_hits(setup: &ReportSetup, source: &dyn SubjectSource) -> bool {
    let shows_subjects = match setup.output.format {
        Format::Pairwise | Format::Anchored(_) | Format::Xml | Format::Output2(_) => true,
        // Columns show how much of the query the alignments of a subject cover.
        Format::Tabular(_) | Format::Commented(_) => true,
        // The organism report leaves out the later ones instead. Others show alignments.
        Format::Organisms | Format::Annotation(_) | Format::Archive(_) | Format::Sam(_) => false,
    };
    shows_subjects && source.shares_identifiers()
}

/// Joins each hit to the one before it, if both have the same identifier.
///
/// # Errors
/// If the definition lines of a subject cannot be read.
pub fn join_hits(
    setup: &ReportSetup,
    source: &dyn SubjectSource,
    hits: &[SubjectHit],
) -> Result<Vec<SubjectHit>, ReportError> {
    let mut joined: Vec<SubjectHit> = Vec::with_capacity(hits.len());
    let mut previous = None;
    for hit in hits {
        let id = SubjectNames::read(setup, source, hit.oid)?.alignment_id().cloned();
        match joined.last_mut() {
            Some(first) if id.is_some() && id == previous => first.joined.push(hit.clone()),
            _ => joined.push(hit.clone()),
        }
        previous = id;
    }
    Ok(joined)
}

/// Keeps the hits of the first `count` subjects, where neighbours of the same identifier count as
/// one.
///
/// # Errors
/// If the definition lines of a subject cannot be read.
pub fn keep_first_subjects(
    setup: &ReportSetup,
    source: &dyn SubjectSource,
    hits: &mut Vec<SubjectHit>,
    count: usize,
) -> Result<(), ReportError> {
    let kept = match source.shares_identifiers() {
        true => {
            let first = join_hits(setup, source, hits)?.into_iter().take(count);
            first.map(|hit| 1 + hit.joined.len()).sum()
        }
        false => count,
    };
    hits.truncate(kept);
    Ok(())
}

/// Returns the hits of a query as its report shows them.
///
/// # Errors
/// See [`join_hits`].
pub fn shown_hits<'q>(
    setup: &ReportSetup,
    query: &QueryResult<'q>,
    source: &dyn SubjectSource,
) -> Result<Cow<'q, [SubjectHit]>, ReportError> {
    match joins_hits(setup, source) {
        true => Ok(join_hits(setup, source, query.hits)?.into()),
        false => Ok(query.hits.into()),
    }
}
