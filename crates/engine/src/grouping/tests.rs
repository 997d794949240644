//! Tests that consecutive queries of a batch have the same results alone as in the whole batch.

use std::borrow::Cow;

use fleetblast_seq::nucleotide::{Packed, blastna};
use fleetblast_seq::translation::GeneticCode;
use fleetblast_stats::nucleotide::NucleotideScoring;
use fleetblast_stats::release::Release;
use fleetblast_stats::scoring::ScoringSystem;

use super::*;
use crate::hits::PrelimHit;
use crate::kernel::Kernel;
use crate::nucleotide::testing::packed;
use crate::params::{NucleotideParams, ProteinParams, Strands, Template, TemplateKind};
use crate::query::QueryInput;
use crate::search::{Search, SearchScratch};
use crate::subjects::Subjects;
use crate::testing::RandomSequences;
use fastrand::Rng;

struct Database(Vec<(Vec<u8>, u32)>);

impl Subjects for Database {
    fn residues(&self, _: u32) -> &[u8] {
        unreachable!("nucleotides")
    }

    fn bases(&self, oid: u32) -> Packed<'_> {
        let (bytes, length) = &self.0[oid as usize];
        Packed::new(bytes, *length)
    }

    fn true_letters(&self, _: u32, _: &[Range<u32>]) -> Cow<'_, [u8]> {
        unreachable!("searches with gaps")
    }
}

/// Preliminary hits of each query of a block, and the number of extensions of each query.
type SearchResults = (Vec<Vec<PrelimHit>>, Vec<u64>);

/// Runs a search. Returns `None` if an extension reached neighbouring letters that the grouping
/// lacks.
fn search(
    search: &Search,
    queries: &[Query],
    grouping: &Grouping,
    database: &Database,
) -> Option<SearchResults> {
    let merger = search.merger(grouping);
    let mut lists = merger.empty_lists();
    // As many groups as possible.
    for range in grouping.searcher_ranges_within(1) {
        let searcher = search.prepare(queries, (grouping, range));
        let oids = 0..database.0.len() as u32;
        merger.absorb(&mut lists, searcher.search(database, oids, &mut SearchScratch::default()));
    }
    let extensions = merger.extensions(&lists);
    (!lists.reached_unknown_letters).then(|| (merger.select_for_traceback(lists), extensions))
}

fn params(random: &mut Rng) -> NucleotideParams {
    let release = &Release::V2_12_0;
    let scoring = |reward, penalty, open, extend| {
        NucleotideScoring::new(reward, penalty, open, extend).expect("known scores")
    };
    let mut params = match random.usize(..2) {
        0 => NucleotideParams::megablast(release, scoring(1, -2, 0, 0)),
        _ => NucleotideParams::blastn(release, scoring(2, -3, 5, 2)),
    };
    params.word_size = [7, 11, 16, 28][random.usize(..4)];
    // With one strand, the next query begins where the previous one ends.
    params.strands = [Strands::Both, Strands::Plus][random.usize(..2)];
    params.window = [0, 40, 15][random.usize(..3)];
    if params.window > 0 && random.usize(..2) == 0 {
        let kind = [TemplateKind::Coding, TemplateKind::Both][random.usize(..2)];
        params.template = Some(Template { kind, length: [16, 18, 21][random.usize(..3)] });
        params.word_size = 11;
    }
    params.chunk = [5_000_000, 1500, 700][random.usize(..3)];
    params
}

/// Draws consecutive reads of a source, at most one base apart, so that extensions continue from
/// one read into the next. Some reads are of the other strand, some are empty, some are long.
fn reads(random: &mut Rng, source: &[u8], count: usize) -> Vec<Vec<u8>> {
    let mut at = 0;
    let mut read = || {
        let length = [0, 12, 40, 90, 90, 200, 900][random.usize(..7)];
        at = if random.usize(..12) == 0 {
            random.usize(..source.len())
        } else {
            at + random.usize(..2)
        };
        let end = (at + length).min(source.len());
        let mut read = source[at.min(end)..end].to_vec();
        at = if end == source.len() { 0 } else { end };
        if random.usize(..2) == 0 {
            random.blur(&mut read, 300);
        }
        if random.usize(..5) == 0 { blastna::reverse_complement(&read) } else { read }
    };
    (0..count).map(|_| read()).collect()
}

fn subjects(random: &mut Rng, source: &[u8]) -> Database {
    let subject = |random: &mut Rng| {
        let start = random.usize(..source.len());
        let mut bases = random.mutated(&source[start..], 12);
        if random.usize(..3) == 0 {
            bases = blastna::reverse_complement(&bases);
        }
        (packed(&bases), bases.len() as u32)
    };
    Database((0..4).map(|_| subject(random)).collect())
}

#[test]
fn a_run_of_queries_is_searched_as_in_its_batch() {
    let (mut reached_unknown, mut hits, mut chunked, mut beside, mut counters) = (0, 0, 0, 0, 0);
    for seed in 0..400 {
        let random = &mut Rng::with_seed(seed);
        let params = params(random);
        let source =
            if random.usize(..3) == 0 { random.repetitive(2500) } else { random.bases(2500) };
        let database = subjects(random, &source);
        // Large enough that chance HSPs are hardly significant.
        let (residues, sequences) = (100_000_000, 1000);
        let totals = DatabaseTotals {
            residues,
            space_residues: residues,
            is_empty: false,
            sequences,
            stored_residues: 0,
            mean_length: 0,
            min_length: 10,
        };
        let engine = Search::new(Params::Nucleotide(params), totals, Kernel::detect());
        let count = random.usize(2..42);
        let queries: Vec<Query> = reads(random, &source, count)
            .into_iter()
            .map(|letters| engine.query(&QueryInput { letters, ..Default::default() }))
            .collect();
        let all: Vec<&Query> = queries.iter().collect();
        let batch = engine.describe_batch(&all);
        let whole = engine.grouping_of_range(&batch, &all, 0..count, 0);
        assert_eq!(whole, engine.grouping(&queries, &[count]));
        chunked += usize::from(batch.batch_contexts.len() > 1);
        let (expected, extensions) =
            search(&engine, &queries, &whole, &database).expect("nothing lies beside it");
        hits += expected.iter().flatten().count();
        let counted = usize::from(extensions.iter().any(|&count| count > 0));
        assert!(
            batch.batch_contexts.len() < 2 || counted == 0,
            "chunks have counters of their own"
        );
        counters += counted;
        for _ in 0..4 {
            let start = random.usize(..count);
            let run = start..start + 1 + random.usize(..count - start);
            let reach = [0, 5, 64, 150][random.usize(..4)];
            let part = engine.grouping_of_range(&batch, &all, run.clone(), reach);
            let alike =
                |grouping: &Grouping| search(&engine, &queries[run.clone()], grouping, &database);
            let found = alike(&part).or_else(|| {
                reached_unknown += 1;
                alike(&engine.grouping_of_range(&batch, &all, run.clone(), usize::MAX))
            });
            let (found, counts) = found.expect("all that lies beside it is known");
            beside += part
                .batch_contexts
                .iter()
                .filter(|batch_context| batch_context.has_neighbours())
                .count();
            assert_eq!(found, expected[run.clone()], "seed {seed}: {run:?} of {count}");
            assert_eq!(counts, extensions[run.clone()], "seed {seed}: {run:?} of {count}");
            let drop = |number| part.traceback_params(number) == whole.traceback_params(run.start);
            assert!((0..run.len()).all(drop));
        }
    }
    let events = [reached_unknown, hits, chunked, beside, counters];
    assert!(events.iter().all(|&count| count > 10), "{events:?}");
}

#[test]
fn runs_one_after_another_are_a_whole() {
    let random = &mut Rng::with_seed(3);
    let params = params(random);
    let totals = DatabaseTotals {
        residues: 9000,
        space_residues: 9000,
        is_empty: false,
        sequences: 9,
        stored_residues: 0,
        mean_length: 0,
        min_length: 10,
    };
    let engine = Search::new(Params::Nucleotide(params), totals, Kernel::detect());
    let source = random.bases(2500);
    let queries: Vec<Query> = reads(random, &source, 12)
        .into_iter()
        .map(|letters| engine.query(&QueryInput { letters, ..Default::default() }))
        .collect();
    let all: Vec<&Query> = queries.iter().collect();
    let whole = |queries: &[&Query]| {
        engine.grouping_of_range(&engine.describe_batch(queries), queries, 0..queries.len(), 0)
    };
    let mut joined = whole(&all[..5]);
    joined.append_grouping(whole(&all[5..]));
    assert_eq!(joined, engine.grouping(&queries, &[5, 7]));
    assert_ne!(joined, engine.grouping(&queries, &[12]));
    assert_eq!(joined.queries(), 12);
}

/// Checks three batches of translated queries. The first one has no statistics.
#[test]
fn each_query_has_the_least_cutoff_of_its_own_batch() {
    let release = &Release::V2_12_0;
    let scoring = ScoringSystem::new(release, "BLOSUM62", None, None).expect("a known matrix");
    let code = GeneticCode::new(1).expect("the standard code");
    let params = ProteinParams::blastx(release, scoring, code);
    let residues = 1_000_000;
    let totals = DatabaseTotals {
        residues,
        space_residues: residues,
        is_empty: false,
        sequences: 3000,
        stored_residues: 0,
        mean_length: 300,
        min_length: 10,
    };
    let engine = Search::new(Params::Protein(params), totals, Kernel::detect());
    let mut random = Rng::with_seed(7);
    let letters = [vec![blastna::N; 60], random.bases(900), random.bases(90)];
    let queries =
        letters.map(|letters| engine.query(&QueryInput { letters, ..Default::default() }));
    assert!(!queries[0].is_searchable());
    let grouping = engine.grouping(&queries, &[1, 1, 1]);
    for (number, query) in queries.iter().enumerate() {
        let alone = engine.grouping(std::slice::from_ref(query), &[1]);
        assert_eq!(grouping.least_cutoff(number), alone.least_cutoff(0));
        assert!(grouping.least_cutoff(number).is_some());
    }
}
