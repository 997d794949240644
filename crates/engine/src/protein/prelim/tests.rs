//! Tests that the filters lose nothing with any instructions and options, and that the results of
//! partitions merge to those of the whole database.

use std::borrow::Cow;
use std::ops::Range;

use fleetblast_seq::alphabet;
use fleetblast_seq::nucleotide::Packed;
use fleetblast_seq::seg::SegParams;
use fleetblast_stats::release::Release;
use fleetblast_stats::scoring::ScoringSystem;

use super::testing::{kernels, related_pair};
use super::*;
use crate::grouping::Grouping;
use crate::hits::PrelimHit;
use crate::kernel::Kernel;
use crate::lists::Merger;
use crate::params::{CompositionMode, DatabaseTotals, HspFilter, Params, ProteinParams};
use crate::query::{Query, QueryInput};
use crate::subjects::{Masks, Subjects};
use crate::testing::RandomSequences;
use fastrand::Rng;

/// Residues of each sequence, and hard masks of the first sequences.
struct Sequences(Vec<Vec<u8>>, Vec<Vec<Range<u32>>>);

impl Subjects for Sequences {
    fn residues(&self, oid: u32) -> &[u8] {
        &self.0[oid as usize]
    }

    fn bases(&self, _: u32) -> Packed<'_> {
        unreachable!("proteins")
    }

    fn true_letters(&self, _: u32, _: &[Range<u32>]) -> Cow<'_, [u8]> {
        unreachable!("proteins")
    }

    fn masks(&self, oid: u32) -> Masks<'_> {
        self.1.get(oid as usize).map_or(Masks::None, |stretches| Masks::Hard(stretches))
    }
}

fn merger(grouping: &Grouping, params: &Params) -> Merger {
    Merger::new(grouping.chunks(), grouping.queries(), params)
}

fn params(matrix: &str) -> ProteinParams {
    ProteinParams::blastp(
        &Release::V2_12_0,
        ScoringSystem::new(&Release::V2_12_0, matrix, None, None).unwrap(),
    )
}

/// Draws queries and subjects, some of them related. Also returns statistics of a database of
/// `db_length` residues.
fn data(seed: u64, db_length: i64) -> (Vec<QueryInput>, Sequences, DatabaseTotals) {
    let mut random = Rng::with_seed(seed);
    let (mut queries, mut subjects) = (Vec::new(), Vec::new());
    for _ in 0..8 {
        let len = random.usize(1..=250);
        let (residues, subject) = related_pair(&mut random, len);
        queries.push(QueryInput { letters: residues, ..Default::default() });
        subjects.push(subject);
        for len in [1, 2, 5, 63, 64, 65, 700] {
            let len = len + random.usize(..3);
            subjects.push(random.protein(len));
        }
    }
    let totals = DatabaseTotals {
        residues: db_length,
        space_residues: db_length,
        is_empty: false,
        sequences: subjects.len() as i64,
        stored_residues: 0,
        mean_length: 0,
        min_length: 10,
    };
    (queries, Sequences(subjects, Vec::new()), totals)
}

fn search(
    (queries, subjects, totals): &(Vec<QueryInput>, Sequences, DatabaseTotals),
    params: &ProteinParams,
    kernel: Option<Kernel>,
    parts: usize,
) -> Vec<Vec<PrelimHit>> {
    let queries: Vec<Query> = queries.iter().map(|q| Query::new(q, params, totals)).collect();
    let all = Params::Protein(params.clone());
    let merger = merger(&Grouping::of_batches(&queries, &[queries.len()], (&all, totals)), &all);
    let chunks = 0..merger.chunks().len();
    let searcher = ProteinSearcher::new(&queries, (merger, chunks), params, totals, kernel);
    let mut lists = searcher.merger().empty_lists();
    let count = subjects.0.len();
    // The last part first: the order of arrival must not matter.
    for part in (0..parts).rev() {
        let mut oids = (count * part / parts) as u32..(count * (part + 1) / parts) as u32;
        let part = searcher.search(subjects, &mut oids, &mut ProteinScratch::default());
        searcher.merger().absorb(&mut lists, part);
    }
    searcher.merger().select_for_traceback(lists)
}

#[test]
fn filters_lose_nothing() {
    let mut found = 0;
    for seed in 0..2 {
        for db_length in [20_000, 100_000_000] {
            let data = data(seed, db_length);
            for change in changes() {
                let mut params = params("BLOSUM62");
                change(&mut params);
                let unfiltered = search(&data, &params, None, 1);
                for kernel in kernels() {
                    assert_eq!(
                        search(&data, &params, Some(kernel), 1),
                        unfiltered,
                        "seed {seed} {kernel:?}"
                    );
                }
                found += unfiltered.iter().flatten().count();
            }
        }
    }
    assert!(found > 200, "{found} hits are too few to show anything");
}

#[test]
fn one_hit_extensions_from_words_of_x_alone_lose_nothing() {
    let (mut queries, mut subjects) = (Vec::new(), Vec::new());
    for len in 4..12 {
        // No word but that of X matches. The pair beyond it is left out as well.
        let sides = |side: u8, beyond: u8| {
            let letters = [&vec![side; len][..], b"XXX", &[beyond], &vec![side; len]].concat();
            letters.into_iter().filter_map(alphabet::encode).collect::<Vec<u8>>()
        };
        queries.push(QueryInput { letters: sides(b'I', b'N'), ..Default::default() });
        subjects.push(sides(b'V', b'W'));
    }
    let totals = DatabaseTotals {
        residues: 100_000,
        space_residues: 100_000,
        is_empty: false,
        sequences: subjects.len() as i64,
        stored_residues: 0,
        mean_length: 0,
        min_length: 10,
    };
    let data = (queries, Sequences(subjects, Vec::new()), totals);
    let mut found = 0;
    for evalue in [1e-3, 0.01, 0.03, 0.1, 0.3, 1.0] {
        let mut params = params("BLOSUM62");
        (params.window, params.threshold) = (0, 100.0);
        (params.common.ungapped, params.composition) = (true, CompositionMode::Off);
        params.common.evalue = evalue;
        let unfiltered = search(&data, &params, None, 1);
        for kernel in kernels() {
            assert_eq!(search(&data, &params, Some(kernel), 1), unfiltered, "{evalue}");
        }
        found += unfiltered.iter().flatten().count();
    }
    assert!(found > 20, "{found} hits are too few to show anything");
}

/// Draws up to three ranges of a sequence, in order.
fn stretches(random: &mut Rng, len: usize) -> Vec<Range<u32>> {
    let mut stretches: Vec<Range<u32>> = Vec::new();
    for _ in 0..random.u64(..4) {
        let start = stretches.last().map_or(0, |last| last.end) + random.u32(..60);
        let end = (start + random.u32(1..=40)).min(len as u32);
        if start < end {
            stretches.push(start..end);
        }
    }
    stretches
}

#[test]
fn filters_lose_nothing_between_hard_masks() {
    let (mut found, mut hidden) = (0, 0);
    for seed in 20..23 {
        let mut data = data(seed, 20_000);
        let mut random = Rng::with_seed(seed);
        data.1.1 = data.1.0.iter().map(|subject| stretches(&mut random, subject.len())).collect();
        for change in changes() {
            let mut params = params("BLOSUM62");
            change(&mut params);
            let unfiltered = search(&data, &params, None, 1);
            for kernel in kernels() {
                assert_eq!(
                    search(&data, &params, Some(kernel), 3),
                    unfiltered,
                    "{seed} {kernel:?}"
                );
            }
            for hit in unfiltered.iter().flatten() {
                let (masks, len) = (&data.1.1[hit.oid as usize], data.1.0[hit.oid as usize].len());
                // BLAST+ searches words in a single mask that reaches the end.
                let open = masks.first().is_some_and(|mask| mask.end as usize == len);
                let apart = hit.hsps.iter().all(|hsp| {
                    masks.iter().all(|mask| mask.end <= hsp.s_start || hsp.s_end <= mask.start)
                });
                assert!(!hit.hsps.is_empty() && (apart || open), "{hit:?} {masks:?}");
                found += 1;
                hidden += usize::from(!masks.is_empty() && !open);
            }
        }
    }
    assert!(
        found > 200 && hidden > 100,
        "{found} hits, {hidden} beside masks: too few to show anything"
    );
}

#[test]
fn a_choice_of_subjects_is_searched_like_each_by_itself() {
    let data = data(30, 20_000);
    let params = params("BLOSUM62");
    let queries: Vec<Query> =
        data.0.iter().map(|query| Query::new(query, &params, &data.2)).collect();
    let all = Params::Protein(params.clone());
    let merger = merger(&Grouping::of_batches(&queries, &[queries.len()], (&all, &data.2)), &all);
    let chunks = 0..merger.chunks().len();
    let kernel = Some(Kernel::detect());
    let searcher = ProteinSearcher::new(&queries, (merger, chunks), &params, &data.2, kernel);
    let mut scratch = ProteinScratch::default();
    let oids: Vec<u32> =
        (0..data.1.0.len() as u32).filter(|oid| oid % 8 == 0 || oid % 3 == 0).collect();
    let together = searcher.search(&data.1, &mut oids.iter().copied(), &mut scratch);
    let mut apart = searcher.merger().empty_lists();
    for oid in oids {
        searcher
            .merger()
            .absorb(&mut apart, searcher.search(&data.1, &mut [oid].into_iter(), &mut scratch));
    }
    let [together, apart] =
        [together, apart].map(|lists| searcher.merger().select_for_traceback(lists));
    assert!(together.iter().flatten().count() > 5, "{together:?}");
    assert_eq!(together, apart);
}

/// Returns options that change words, cut-offs and extensions.
fn changes() -> Vec<fn(&mut ProteinParams)> {
    vec![
        |_| {},
        |p| p.window = 0,
        |p| p.threshold = 14.0,
        |p| (p.word_size, p.threshold) = (2, 9.0),
        |p| (p.word_size, p.threshold) = (4, 15.0),
        |p| p.common.xdrop_ungapped_bits = 3.0,
        |p| p.common.evalue = 1e-9,
        |p| p.common.evalue = 1e4,
        |p| (p.seg, p.common.soft_masking) = (Some(SegParams::QUERY), true),
        |p| (p.common.ungapped, p.composition) = (true, CompositionMode::Off),
        |p| (p.finite_size, p.common.search_space) = (false, Some(1_000_000)),
        |p| (p.scoring, p.threshold) = (params("PAM30").scoring, 16.0),
        |p| (p.scoring, p.threshold) = (params("BLOSUM45").scoring, 14.0),
    ]
}

#[test]
fn partitions_merge_to_the_whole() {
    for seed in 10..13 {
        let data = data(seed, 1_000_000);
        for filter in [
            HspFilter::Collect,
            HspFilter::Culling(2),
            HspFilter::BestHit { overhang: 0.1, edge: 0.1 },
        ] {
            let mut params = params("BLOSUM62");
            (params.common.filter, params.common.hitlist_size) = (filter, 2);
            params.common.evalue = 1e3;
            let whole = search(&data, &params, Some(Kernel::detect()), 1);
            for parts in [2, 7, 64] {
                assert_eq!(search(&data, &params, Some(Kernel::detect()), parts), whole, "{parts}");
            }
        }
    }
}
