//! Searches of queries in rounds as they cross to another site, told as final alignments.

use std::collections::BTreeSet;
use std::sync::Arc;

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::pssm::Pssm;
use fleetblast_engine::query::Query;
use fleetblast_metadata::rounds::{self, Rounds};
use fleetblast_metadata::{Found, Kind, hits};

use super::judge::Judge;
use super::teller::no_room;
use crate::error::Error;
use crate::iteration::{Begun, InRounds, Part, Rules, Searched};
use crate::queries::QueryRecord;
use crate::subjects::Target;

/// What was found of a block's queries; so many searches of queries are reported before.
///
/// # Errors
/// No memory.
pub fn found(
    rules: &Rules,
    target: &Target,
    before: u64,
    queries: Vec<InRounds>,
) -> Result<Found, Error> {
    let told = queries.iter().map(|query| told(rules, query)).collect();
    let told = Rounds { is_document: !rules.is_plain(), before, queries: told };
    let searches = queries.into_iter().flat_map(|query| query.searches);
    let parts = searches.map(|Searched { begun: Begun { query, known, .. }, parts, .. }| {
        (query, (known, shown(parts)))
    });
    let (queries, (known, shown)): (Vec<_>, (Vec<_>, Vec<_>)) = parts.unzip();
    let bytes = hits::encode(&shown, &judge(rules, &queries, target)).map_err(no_room)?;
    let bytes = told.encode(&bytes).map_err(no_room)?;
    Ok(Found { kind: Kind::Hits, bytes, digest: rounds::digest(&shown, &known) })
}

/// The subjects that are shown of a search.
fn shown(parts: Vec<Part>) -> Vec<SubjectHit> {
    parts.into_iter().flat_map(|part| part.shown).collect()
}

fn judge<'a>(rules: &Rules<'a>, queries: &'a [Query], target: &'a Target) -> Judge<'a> {
    Judge::by(|query| rules.engine(query.pssm.is_some()), queries, target)
}

fn told(rules: &Rules, InRounds { searches, converged }: &InRounds) -> rounds::Searches {
    let mut expected = BTreeSet::new();
    let search = |Searched { begun, parts, .. }: &Searched| {
        let Begun { query, known, exceeds, messages, .. } = begun;
        let shown = parts.iter().flat_map(|part| &part.shown);
        let alignments: usize = parts.iter().map(|part| part.alignments).sum();
        let told = rounds::Search {
            statistics: query.pssm.as_ref().map(|pssm| [pssm.ungapped, pssm.gapped]),
            known: (*known != expected).then(|| known.iter().copied().collect()),
            messages: messages.clone(),
            hidden: (alignments - shown.clone().map(|hit| hit.alignments.len()).sum::<usize>())
                as u64,
            exceeds: *exceeds,
        };
        expected = rules.below_threshold(shown);
        told
    };
    rounds::Searches { searches: searches.iter().map(search).collect(), converged: *converged }
}

/// What was told of a block's queries, as they are searched at first, and how many searches are reported before; what is wrong with it,
/// if something is.
pub fn heard(
    rules: &Rules,
    target: &Target,
    queries: Vec<(&QueryRecord, &Query)>,
    found: &Found,
) -> Result<(u64, Vec<InRounds>), Wrong> {
    let (told, bytes) = Rounds::decode(&found.bytes, queries.len()).ok_or(Wrong::Unread)?;
    let exceeds = |query: &rounds::Searches| query.searches.iter().any(|search| search.exceeds);
    // What a document does not show goes nowhere else.
    let is_alike =
        told.is_document != rules.is_plain() || !told.is_document && rules.is_one_round();
    if !is_alike && told.queries.iter().any(exceeds) {
        return Err(Wrong::OtherFormat);
    }
    let searched: Vec<Vec<Query>> = queries
        .iter()
        .zip(&told.queries)
        .map(|((_, query), told)| as_searched(rules, (*query).clone(), &told.searches))
        .collect();
    let flat = searched.concat();
    let hits = hits::decode(bytes, flat.len(), &judge(rules, &flat, target));
    let hits = hits.ok_or(Wrong::Unread)?;
    let known = known(rules, &told.queries, &hits);
    if rounds::digest(&hits, &known) != found.digest {
        return Err(Wrong::Other);
    }
    let before = told.before;
    let mut found = known.into_iter().zip(hits);
    let queries = queries.into_iter().zip(searched).zip(told.queries);
    let query = |(((record, _), searched), told): (((&QueryRecord, _), Vec<Query>), _)| {
        let rounds::Searches { searches, converged } = told;
        let searches = searched.into_iter().zip(searches).zip(found.by_ref());
        let searches = searches.map(|((query, search), (known, hits))| {
            let rounds::Search { messages, hidden, exceeds, .. } = search;
            let begun = Begun { kept: None, query, known, exceeds, places: Vec::new(), messages };
            let mut searched = Searched::new(rules, record, begun, vec![hits]);
            let alignments = &mut searched.parts[0].alignments;
            *alignments = alignments.saturating_add(hidden as usize);
            searched
        });
        InRounds { searches: searches.collect(), converged }
    };
    Ok((before, queries.map(query).collect()))
}

/// Of each search the subjects below the threshold in the one before.
fn known(
    rules: &Rules,
    queries: &[rounds::Searches],
    hits: &[Vec<SubjectHit>],
) -> Vec<BTreeSet<u32>> {
    let mut hits = hits.iter();
    let of_query = |query: &rounds::Searches| {
        let mut below = BTreeSet::new();
        let of_search = |(search, hits): (&rounds::Search, &Vec<SubjectHit>)| {
            let known = std::mem::replace(&mut below, rules.below_threshold(hits));
            search.known.as_ref().map_or(known, |other| other.iter().copied().collect())
        };
        query.searches.iter().zip(hits.by_ref()).map(of_search).collect::<Vec<_>>()
    };
    queries.iter().flat_map(of_query).collect()
}

/// A query as it is in each of its searches.
fn as_searched(rules: &Rules, mut query: Query, searches: &[rounds::Search]) -> Vec<Query> {
    let search = |told: &rounds::Search| {
        if let Some([ungapped, gapped]) = told.statistics {
            let pssm = Arc::new(Pssm::of_statistics(ungapped, gapped));
            query = rules.masked_again(&query).with_pssm(pssm);
        }
        query.clone()
    };
    searches.iter().map(search).collect()
}

/// What is wrong with what was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It cannot be read.
    Unread,
    /// It is not what was found.
    Other,
    /// The report is to be one document, or is not, other than where it was searched; and that is not all the same.
    OtherFormat,
}
