//! Tests that all queries are finally searched in the batches that one process would form. This
//! must hold for any numbers of extensions and any order of verifications.

use std::fs;
use std::ops::Range;

use fastrand::Rng;
use fleetblast_engine::params::DatabaseTotals;

use super::*;
use crate::audience::SilentAudience;
use crate::batching::BatchSizer;
use crate::plan::Plan;
use crate::queries::QueryReader;
use crate::subjects::DatabaseFacts;
use crate::testing::megablast;
use crate::threads::pool;

/// Extensions per letter of the queries of a case, and how they vary.
#[derive(Clone, Copy, Debug)]
struct Density {
    mean: u64,
    /// Number of consecutive queries with one density.
    run_length: u64,
    /// Largest factor by which a run of queries exceeds the usual density.
    most: u64,
}

fn densities(random: &mut Rng) -> Density {
    let pick = |random: &mut Rng, of: &[u64]| of[random.usize(..of.len())];
    Density {
        mean: pick(random, &[0, 1, 40, 200, 1000]),
        run_length: pick(random, &[1, 10, 60]),
        most: pick(random, &[1, 3, 100]),
    }
}

struct Case {
    queries: Vec<String>,
    /// Extensions of each query in its true batch.
    extensions: Vec<u64>,
    block_residues: u64,
}

fn case(random: &mut Rng) -> Case {
    let (density, count) = (densities(random), random.u64(2..152));
    let mut factor = 1;
    let (mut queries, mut extensions) = (Vec::new(), Vec::new());
    for number in 0..count {
        if number % density.run_length == 0 {
            factor = if random.u64(..2) == 0 { 1 } else { 1 + random.u64(..density.most) };
        }
        let length = [0, 30, 150, 150, 400, 3000][random.usize(..6)];
        let length = if number == 0 { 150 } else { length };
        let letters = (0..length).map(|_| b"ACGT"[random.usize(..4)] as char);
        queries.push(format!(">q{number}\n{}\n", letters.collect::<String>()));
        let noise = random.u64(50..150);
        extensions.push(density.mean * factor * length * noise / 100);
    }
    let block_residues = [1, 500, 2000, 10_000, 1_000_000][random.usize(..5)];
    Case { queries, extensions, block_residues }
}

/// Returns the batches that one process forms of all queries.
fn batches(case: &Case, plan: &Plan) -> Vec<Range<usize>> {
    let lengths: Vec<usize> =
        case.queries.iter().map(|text| text.lines().nth(1).map_or(0, str::len)).collect();
    let mut batching = BatchSizer::new(plan.batch_size, 0);
    let (mut batches, mut start) = (Vec::new(), 0);
    while start < lengths.len() {
        let (mut end, mut letters) = (start, 0);
        while end < lengths.len() && letters < batching.letters() {
            letters += lengths[end];
            end += 1;
        }
        batching.record_extensions(case.extensions[start..end].iter().sum());
        batches.push(start..end);
        start = end;
    }
    batches
}

/// A case, with the true batches. All jobs of the case have the same queries.
struct Jobs<'a> {
    case: &'a Case,
    plan: &'a Plan,
    engine: &'a Search,
    batches: Vec<Range<usize>>,
    /// All queries of the case, prepared for the search.
    prepared: Vec<Query>,
}

/// A block that a master searches, and its current grouping.
struct OpenBlock {
    queries: Range<usize>,
    batch_grouping: BatchGrouping,
    passes: u32,
}

impl Jobs<'_> {
    fn predictor(&self) -> BatchPredictor<'_> {
        let queries = QueryReader::open(
            self.plan,
            self.case.block_residues,
            DatabaseFacts::default(),
            &SilentAudience,
        );
        let queries = queries.expect("a file").expect("queries");
        let course = BatchProgress::new(queries.batch_sizer());
        let threads = pool(1).expect("a thread");
        BatchPredictor::new(
            self.engine,
            QueryStream::new(queries, self.engine, &SilentAudience, threads),
            course,
        )
    }

    /// Returns how one process searches the queries of a block.
    fn truth(&self, queries: &Range<usize>, reach: usize) -> Vec<BatchPart> {
        let of = |batch: &Range<usize>| {
            let own = queries.start.max(batch.start)..queries.end.min(batch.end);
            if own.is_empty() {
                return None;
            }
            let all: Vec<&Query> = self.prepared[batch.clone()].iter().collect();
            let within = own.start - batch.start..own.end - batch.start;
            Some(BatchPart {
                queries: own,
                grouping: self.engine.grouping_of_range(
                    &self.engine.describe_batch(&all),
                    &all,
                    within,
                    reach,
                ),
                searched: all.iter().any(|query| query.is_searchable()),
            })
        };
        self.batches.iter().filter_map(of).collect()
    }

    /// Returns the statistics of a searched block. They are exact for queries that were grouped as
    /// BLAST+ groups them. Otherwise their counts of extensions can differ slightly.
    fn block_statistics(
        &self,
        predictor: &BatchPredictor,
        block: BlockId,
        random: &mut Rng,
    ) -> ExtensionStatistics {
        let PredictedBlock { queries, expectation } = &predictor.blocks[&block];
        let Expectation::Parts { parts, reach } = expectation else { panic!("it is known") };
        let truth = self.truth(queries, *reach);
        let mut extensions = Vec::new();
        for part in parts {
            let is_right = truth.contains(part);
            let of = |query: usize| match self.case.extensions[query] {
                count if is_right => count,
                count => count * random.u64(80..120) / 100 + random.u64(..3),
            };
            extensions.extend(part.queries.clone().map(of));
        }
        // Some extensions reach farther than the included letters of neighbouring queries.
        let reached_unknown_letters = *reach == REACH && random.u64(..10) == 0;
        ExtensionStatistics { extensions, reached_unknown_letters }
    }

    /// Runs a job from its beginning to its end. An earlier run has verified the blocks with
    /// `known` extensions. Returns the extensions of each block, and the number of repeated passes.
    fn run(&self, known: &[Option<Vec<u64>>], random: &mut Rng) -> (Vec<Vec<u64>>, u32) {
        let mut predictor = self.predictor();
        let (mut open, mut blocks, mut in_vain) = (BTreeMap::new(), Vec::new(), 0);
        let (mut next, mut ended, mut at) = (0u32, false, 0);
        while !ended || !open.is_empty() {
            let window = random.usize(1..=6);
            if !ended && (open.is_empty() || open.len() < window && random.u64(..3) != 0) {
                let of_earlier = known.get(next as usize).cloned().flatten();
                let skip = of_earlier.is_some();
                let read =
                    predictor.read_block(BlockId(next), of_earlier.clone()).expect("queries");
                let Some(ReadBlock { records, preparations, batch_grouping }) = read else {
                    ended = true;
                    continue;
                };
                let queries = at..at + records.records.len();
                at = queries.end;
                assert_eq!(preparations.len(), queries.len());
                assert_eq!(batch_grouping.searched.len(), queries.len());
                assert_eq!(records.batches.iter().sum::<usize>(), queries.len());
                blocks.push(of_earlier.unwrap_or_default());
                if !skip {
                    open.insert(next, OpenBlock { queries, batch_grouping, passes: 0 });
                }
                next += 1;
                continue;
            }
            let Some(mut first) = open.first_entry() else { continue };
            let block = BlockId(*first.key());
            let found = self.block_statistics(&predictor, block, random);
            match predictor.verify_prediction(block, &found).expect("batches") {
                Verification::Correct => {
                    let (number, OpenBlock { queries, batch_grouping: expectation, .. }) =
                        first.remove_entry();
                    let is_true = [REACH, usize::MAX]
                        .iter()
                        .any(|&reach| join_parts(&self.truth(&queries, reach)) == expectation);
                    assert!(is_true, "block {number} of queries {queries:?}");
                    assert_eq!(found.extensions, self.case.extensions[queries]);
                    blocks[number as usize] = found.extensions;
                }
                Verification::CorrectUntil(_) => panic!("all queries are searched"),
                Verification::SearchAgain(batch_grouping) => {
                    in_vain += 1;
                    let open = first.get_mut();
                    assert!(found.reached_unknown_letters || open.batch_grouping != batch_grouping);
                    (open.batch_grouping, open.passes) = (batch_grouping, open.passes + 1);
                    let most = self.truth(&open.queries, 0).len() as u32 + 1;
                    assert!(open.passes <= most, "{} passes of {most}", open.passes);
                }
            }
        }
        assert_eq!(at, self.case.queries.len());
        (blocks, in_vain)
    }
}

#[test]
fn all_queries_are_searched_as_in_one_process() {
    let (mut several, mut in_vain, mut passes) = (0, 0, 0);
    for seed in 1..=60u64 {
        let random = &mut Rng::with_seed(seed);
        let case = case(random);
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("q.fa");
        fs::write(&path, case.queries.concat()).expect("a file");
        let plan = megablast(&path);
        let totals = DatabaseTotals {
            residues: 1_000_000,
            space_residues: 1_000_000,
            is_empty: false,
            sequences: 10,
            min_length: 10,
            stored_residues: 0,
            mean_length: 100,
        };
        let engine = plan.engine(totals);
        let queries = QueryReader::open(&plan, u64::MAX, DatabaseFacts::default(), &SilentAudience)
            .expect("a file");
        let mut queries = queries.expect("queries");
        let mut prepared = Vec::new();
        while let Some(record) = queries.next_query(&SilentAudience).expect("a query") {
            prepared.push(record.prepare(&engine));
        }
        let batches = batches(&case, &plan);
        // A batch without letters ends the search.
        let is_empty = |batch: &Range<usize>| prepared[batch.clone()].iter().all(|q| q.length == 0);
        if batches.iter().any(is_empty) {
            continue;
        }
        several += usize::from(batches.len() > 3);
        let jobs = Jobs { case: &case, plan: &plan, engine: &engine, batches, prepared };
        let (blocks, again) = jobs.run(&[], random);
        in_vain += again;
        passes += blocks.len();
        // Resumes the job with some finished blocks. The others must be verified as in the first
        // run.
        let mut keep = |block: &Vec<u64>| (random.u64(..2) == 0).then(|| block.clone());
        let known: Vec<_> = blocks.iter().map(&mut keep).collect();
        assert_eq!(jobs.run(&known, random).0, blocks, "seed {seed}");
    }
    assert!(several > 10 && in_vain > 20, "{several} with several batches, {in_vain} in vain");
    println!("{in_vain} passes in vain of {passes} blocks");
}

#[test]
fn a_batch_without_letters_and_one_without_queries_are_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("q.fa");
    let totals = DatabaseTotals {
        residues: 1000,
        space_residues: 1000,
        is_empty: false,
        sequences: 10,
        min_length: 10,
        stored_residues: 0,
        mean_length: 100,
    };
    let verify_all = |text: &str, from: usize| {
        fs::write(&path, text).expect("a file");
        let plan = Plan { query_range: Some(from..1 << 30), ..megablast(&path) };
        let engine = plan.engine(totals);
        let queries =
            QueryReader::open(&plan, 1_000_000, DatabaseFacts::default(), &SilentAudience)
                .expect("a file");
        let queries = queries.expect("queries");
        let course = BatchProgress::new(queries.batch_sizer());
        let stream =
            QueryStream::new(queries, &engine, &SilentAudience, pool(1).expect("a thread"));
        let mut predictor = BatchPredictor::new(&engine, stream, course);
        for block in (0..).map(BlockId) {
            let Some(read) = predictor.read_block(block, None)? else { break };
            let extensions = vec![0; read.preparations.len()];
            predictor.verify_prediction(
                block,
                &ExtensionStatistics { extensions, reached_unknown_letters: false },
            )?;
        }
        predictor.failure().cloned().map_or(Ok(()), Err)
    };
    let message = |text: &str, from| verify_all(text, from).err().map(|error| error.message);
    let query = |length: usize| format!(">q\n{}\n", "ACGTTGCA".repeat(length / 8));
    let some = query(80);
    assert_eq!(message(&some, 0), None);
    let empty = "BLAST engine error: Warning: Sequence contains no data ";
    assert_eq!(message(">e\n", 0).as_deref(), Some(empty));
    assert_eq!(message(&format!("{}>e\n", query(4992)), 0), None, "they are one batch");
    assert_eq!(message(&format!("{}>e\n", query(5000)), 0).as_deref(), Some(empty));
    let none = "BLAST engine error: Empty CBlastQueryVector";
    assert_eq!(message(&some, 100).as_deref(), Some(none));
    assert_eq!(message(&format!("{}{some}", query(4992)), 100), None, "they are one batch");
    assert_eq!(message(&format!("{}{some}", query(5000)), 100).as_deref(), Some(none));
}
