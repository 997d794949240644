//! Converts the results of psiblast's iterations to and from their form in metadata: final
//! alignments.

use std::collections::BTreeSet;
use std::sync::Arc;

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::pssm::Pssm;
use fleetblast_engine::query::Query;
use fleetblast_metadata::iterations::{self, BlockIterations, IterationResult, QueryIterations};
use fleetblast_metadata::{BlockResults, Encoding, hits};

use super::encoder::memory_error;
use super::statistics::BlockStatistics;
use crate::error::Error;
use crate::iteration::{
    IteratedQuery, IterationRules, IterationStart, ReportPart, ReportedIteration,
};
use crate::queries::QueryRecord;
use crate::subjects::SubjectDatabase;

/// Encodes the results of the queries of a block. `before` is the number of iterations that are
/// reported before the block.
///
/// # Errors
/// No memory.
pub fn encode_iterations(
    rules: &IterationRules,
    subjects: &SubjectDatabase,
    before: u64,
    queries: Vec<IteratedQuery>,
) -> Result<BlockResults, Error> {
    let encoded = queries.iter().map(|query| encode_query(rules, query)).collect();
    let encoded =
        BlockIterations { is_document: !rules.has_independent_parts(), before, queries: encoded };
    let searches = queries.into_iter().flat_map(|query| query.iterations);
    let parts = searches.map(
        |ReportedIteration { start: IterationStart { query, known, .. }, parts, .. }| {
            (query, (known, shown_hits(parts)))
        },
    );
    let (queries, (known, shown)): (Vec<_>, (Vec<_>, Vec<_>)) = parts.unzip();
    let bytes =
        hits::encode(&shown, &statistics(rules, &queries, subjects)).map_err(memory_error)?;
    let bytes = encoded.encode(&bytes).map_err(memory_error)?;
    let digest = iterations::digest(&shown, &known);
    Ok(BlockResults { encoding: Encoding::Hits, bytes, digest })
}

/// Returns the hits that the report shows for an iteration.
fn shown_hits(parts: Vec<ReportPart>) -> Vec<SubjectHit> {
    parts.into_iter().flat_map(|part| part.shown).collect()
}

fn statistics<'a>(
    rules: &IterationRules<'a>,
    queries: &'a [Query],
    subjects: &'a SubjectDatabase,
) -> BlockStatistics<'a> {
    BlockStatistics::with_engines(|query| rules.engine(query.pssm.is_some()), queries, subjects)
}

fn encode_query(
    rules: &IterationRules,
    IteratedQuery { iterations, converged }: &IteratedQuery,
) -> QueryIterations {
    let mut expected = BTreeSet::new();
    let search = |ReportedIteration { start, parts, .. }: &ReportedIteration| {
        let IterationStart { query, known, exceeds, messages, .. } = start;
        let shown = parts.iter().flat_map(|part| &part.shown);
        let alignments: usize = parts.iter().map(|part| part.alignments).sum();
        let result = IterationResult {
            statistics: query.pssm.as_ref().map(|pssm| [pssm.ungapped, pssm.gapped]),
            known: (*known != expected).then(|| known.iter().copied().collect()),
            messages: messages.clone(),
            hidden: (alignments - shown.clone().map(|hit| hit.alignments.len()).sum::<usize>())
                as u64,
            exceeds: *exceeds,
        };
        expected = rules.below_threshold(shown);
        result
    };
    QueryIterations { iterations: iterations.iter().map(search).collect(), converged: *converged }
}

/// Decodes the results of the queries of a block. `queries` are the queries as in their first
/// iteration. Returns the number of iterations before the block, and the results of each query.
///
/// # Errors
/// Results that cannot be decoded or differ from the encoded ones, or a report format for which the
/// results would be different.
pub fn decode_iterations(
    rules: &IterationRules,
    subjects: &SubjectDatabase,
    queries: Vec<(&QueryRecord, &Query)>,
    results: &BlockResults,
) -> Result<(u64, Vec<IteratedQuery>), DecodeError> {
    let (encoded, bytes) =
        BlockIterations::decode(&results.bytes, queries.len()).ok_or(DecodeError::Unreadable)?;
    let exceeds = |query: &QueryIterations| query.iterations.iter().any(|it| it.exceeds);
    // In a document (XML), subjects that it does not show do not go into PSSMs either.
    let is_alike = encoded.is_document != rules.has_independent_parts()
        || !encoded.is_document && rules.has_single_iteration();
    let hides = |query: &QueryIterations| query.iterations.iter().any(|it| it.hidden > 0);
    let lacks_subjects = rules.reports_all_subjects() && encoded.queries.iter().any(hides);
    if lacks_subjects || !is_alike && encoded.queries.iter().any(exceeds) {
        return Err(DecodeError::OtherFormat);
    }
    let searched: Vec<Vec<Query>> = queries
        .iter()
        .zip(&encoded.queries)
        .map(|((_, query), encoded)| with_pssms(rules, (*query).clone(), &encoded.iterations))
        .collect();
    let flat = searched.concat();
    let hits = hits::decode(bytes, flat.len(), &statistics(rules, &flat, subjects));
    let hits = hits.ok_or(DecodeError::Unreadable)?;
    let known = known_subjects(rules, &encoded.queries, &hits);
    if iterations::digest(&hits, &known) != results.digest {
        return Err(DecodeError::Different);
    }
    let before = encoded.before;
    let mut decoded = known.into_iter().zip(hits);
    let queries = queries.into_iter().zip(searched).zip(encoded.queries);
    let query = |(((record, _), searched), encoded): (((&QueryRecord, _), Vec<Query>), _)| {
        let QueryIterations { iterations, converged } = encoded;
        let searches = searched.into_iter().zip(iterations).zip(decoded.by_ref());
        let searches = searches.map(|((query, iteration), (known, hits))| {
            let IterationResult { messages, hidden, exceeds, .. } = iteration;
            let begun =
                IterationStart { kept: None, query, known, exceeds, places: Vec::new(), messages };
            let mut searched = ReportedIteration::new(rules, record, begun, vec![hits]);
            let alignments = &mut searched.parts[0].alignments;
            *alignments = alignments.saturating_add(hidden as usize);
            searched
        });
        IteratedQuery { iterations: searches.collect(), converged }
    };
    Ok((before, queries.map(query).collect()))
}

/// Returns for each iteration the subjects below the inclusion threshold in the previous iteration.
fn known_subjects(
    rules: &IterationRules,
    queries: &[QueryIterations],
    hits: &[Vec<SubjectHit>],
) -> Vec<BTreeSet<u32>> {
    let mut hits = hits.iter();
    let of_query = |query: &QueryIterations| {
        let mut below = BTreeSet::new();
        let of_iteration = |(iteration, hits): (&IterationResult, &Vec<SubjectHit>)| {
            let known = std::mem::replace(&mut below, rules.below_threshold(hits));
            iteration.known.as_ref().map_or(known, |other| other.iter().copied().collect())
        };
        query.iterations.iter().zip(hits.by_ref()).map(of_iteration).collect::<Vec<_>>()
    };
    queries.iter().flat_map(of_query).collect()
}

/// Returns the query of each iteration, with the statistics of the iteration's PSSM.
fn with_pssms(
    rules: &IterationRules,
    mut query: Query,
    iterations: &[IterationResult],
) -> Vec<Query> {
    let searched = |iteration: &IterationResult| {
        if let Some([ungapped, gapped]) = iteration.statistics {
            let pssm = Arc::new(Pssm::of_statistics(ungapped, gapped));
            query = rules.masked_again(&query).with_pssm(pssm);
        }
        query.clone()
    };
    iterations.iter().map(searched).collect()
}

/// Reason why decoded results cannot be reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// Results that cannot be decoded.
    Unreadable,
    /// Results whose fingerprint differs from that of the search site.
    Different,
    /// The report format of this site needs results that the search site did not send, because it
    /// has another format.
    OtherFormat,
}
