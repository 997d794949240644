//! Whatever is found and whenever it is judged, all queries end up in the company that they have in one process.

use std::fs;
use std::ops::Range;

use fastrand::Rng;
use fleetblast_engine::params::DatabaseTotals;

use super::*;
use crate::audience::Nobody;
use crate::batching::Batching;
use crate::plan::Plan;
use crate::queries::Queries;
use crate::testing::megablast;
use crate::threads::pool;

/// Extensions for each letter, and how much queries differ in that.
#[derive(Clone, Copy, Debug)]
struct Density {
    mean: u64,
    /// Queries one after another that are alike.
    stretch: u64,
    /// Some find so many times more.
    most: u64,
}

fn densities(random: &mut Rng) -> Density {
    let pick = |random: &mut Rng, of: &[u64]| of[random.usize(..of.len())];
    Density {
        mean: pick(random, &[0, 1, 40, 200, 1000]),
        stretch: pick(random, &[1, 10, 60]),
        most: pick(random, &[1, 3, 100]),
    }
}

struct Case {
    queries: Vec<String>,
    /// What each brings about in its true company.
    extensions: Vec<u64>,
    block_residues: u64,
}

fn case(random: &mut Rng) -> Case {
    let (density, count) = (densities(random), random.u64(2..152));
    let mut factor = 1;
    let (mut queries, mut extensions) = (Vec::new(), Vec::new());
    for number in 0..count {
        if number % density.stretch == 0 {
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

/// How all queries are searched in one process: the batches.
fn batches(case: &Case, plan: &Plan) -> Vec<Range<usize>> {
    let lengths: Vec<usize> =
        case.queries.iter().map(|text| text.lines().nth(1).map_or(0, str::len)).collect();
    let mut batching = Batching::new(plan.batch_size, 0);
    let (mut batches, mut start) = (Vec::new(), 0);
    while start < lengths.len() {
        let (mut end, mut letters) = (start, 0);
        while end < lengths.len() && letters < batching.letters() {
            letters += lengths[end];
            end += 1;
        }
        batching.found(case.extensions[start..end].iter().sum());
        batches.push(start..end);
        start = end;
    }
    batches
}

/// The jobs of a case, all with the same queries.
struct Jobs<'a> {
    case: &'a Case,
    plan: &'a Plan,
    engine: &'a Search,
    batches: Vec<Range<usize>>,
    /// All queries.
    prepared: Vec<Query>,
}

/// A block that was handed out, and how it is searched now.
struct Open {
    queries: Range<usize>,
    together: Together,
    passes: u32,
}

impl Jobs<'_> {
    fn foretelling(&self) -> Foretelling<'_> {
        let queries = Queries::open(self.plan, self.case.block_residues, 0, false, &Nobody);
        let queries = queries.expect("a file").expect("queries");
        let course = Course::new(queries.batching());
        let threads = pool(1).expect("a thread");
        Foretelling::new(self.engine, Stream::new(queries, self.engine, &Nobody, threads), course)
    }

    /// How the queries of a block are truly searched.
    fn truth(&self, queries: &Range<usize>, reach: usize) -> Vec<Part> {
        let of = |batch: &Range<usize>| {
            let own = queries.start.max(batch.start)..queries.end.min(batch.end);
            if own.is_empty() {
                return None;
            }
            let all: Vec<&Query> = self.prepared[batch.clone()].iter().collect();
            let within = own.start - batch.start..own.end - batch.start;
            Some(Part {
                queries: own,
                grouping: self.engine.part(&self.engine.batch(&all), &all, within, reach),
                searched: all.iter().any(|query| query.is_searchable()),
            })
        };
        self.batches.iter().filter_map(of).collect()
    }

    /// What a search of a block finds: what it does in truth where it is searched like that, and something else where it is not.
    fn found(&self, foretelling: &Foretelling, block: BlockId, random: &mut Rng) -> Found {
        let Foretold { queries, how } = &foretelling.blocks[&block];
        let How::Parts { parts, reach } = how else { panic!("it is known") };
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
        // Somebody looks far beyond the queries.
        let strayed = *reach == REACH && random.u64(..10) == 0;
        Found { extensions, strayed }
    }

    /// A job from its beginning to its end, in which some blocks are known. Returns the extensions of each block, and the passes that
    /// were in vain.
    fn run(&self, known: &[Option<Vec<u64>>], random: &mut Rng) -> (Vec<Vec<u64>>, u32) {
        let mut foretelling = self.foretelling();
        let (mut open, mut blocks, mut in_vain) = (BTreeMap::new(), Vec::new(), 0);
        let (mut next, mut ended, mut at) = (0u32, false, 0);
        while !ended || !open.is_empty() {
            let window = random.usize(1..=6);
            if !ended && (open.is_empty() || open.len() < window && random.u64(..3) != 0) {
                let of_earlier = known.get(next as usize).cloned().flatten();
                let skip = of_earlier.is_some();
                let read = foretelling.read(BlockId(next), of_earlier.clone()).expect("queries");
                let Some(Read { records, findings, together }) = read else {
                    ended = true;
                    continue;
                };
                let queries = at..at + records.records.len();
                at = queries.end;
                assert_eq!(findings.len(), queries.len());
                assert_eq!(together.searched.len(), queries.len());
                assert_eq!(records.batches.iter().sum::<usize>(), queries.len());
                blocks.push(of_earlier.unwrap_or_default());
                if !skip {
                    open.insert(next, Open { queries, together, passes: 0 });
                }
                next += 1;
                continue;
            }
            let Some(mut first) = open.first_entry() else { continue };
            let block = BlockId(*first.key());
            let found = self.found(&foretelling, block, random);
            match foretelling.judge(block, &found).expect("batches") {
                Verdict::Right => {
                    let (number, Open { queries, together: how, .. }) = first.remove_entry();
                    let is_true = [REACH, usize::MAX]
                        .iter()
                        .any(|&reach| together(&self.truth(&queries, reach)) == how);
                    assert!(is_true, "block {number} of queries {queries:?}");
                    assert_eq!(found.extensions, self.case.extensions[queries]);
                    blocks[number as usize] = found.extensions;
                }
                Verdict::Until(_) => panic!("all queries are searched"),
                Verdict::Again(together) => {
                    in_vain += 1;
                    let open = first.get_mut();
                    assert!(found.strayed || open.together != together);
                    (open.together, open.passes) = (together, open.passes + 1);
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
            sequences: 10,
            min_length: 10,
            mean_length: 100,
        };
        let engine = plan.engine(totals);
        let queries = Queries::open(&plan, u64::MAX, 0, false, &Nobody).expect("a file");
        let mut queries = queries.expect("queries");
        let mut prepared = Vec::new();
        while let Some(record) = queries.next_query(&Nobody).expect("a query") {
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
        // Some of the blocks are finished; whichever they are, the others are judged the same.
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
        sequences: 10,
        min_length: 10,
        mean_length: 100,
    };
    let judged = |text: &str, from: usize| {
        fs::write(&path, text).expect("a file");
        let plan = Plan { query_range: Some(from..1 << 30), ..megablast(&path) };
        let engine = plan.engine(totals);
        let queries = Queries::open(&plan, 1_000_000, 0, false, &Nobody).expect("a file");
        let queries = queries.expect("queries");
        let course = Course::new(queries.batching());
        let stream = Stream::new(queries, &engine, &Nobody, pool(1).expect("a thread"));
        let mut foretelling = Foretelling::new(&engine, stream, course);
        for block in (0..).map(BlockId) {
            let Some(read) = foretelling.read(block, None)? else { break };
            let extensions = vec![0; read.findings.len()];
            foretelling.judge(block, &Found { extensions, strayed: false })?;
        }
        foretelling.failure().cloned().map_or(Ok(()), Err)
    };
    let told = |text: &str, from| judged(text, from).err().map(|error| error.message);
    let query = |length: usize| format!(">q\n{}\n", "ACGTTGCA".repeat(length / 8));
    let some = query(80);
    assert_eq!(told(&some, 0), None);
    let empty = "BLAST engine error: Warning: Sequence contains no data ";
    assert_eq!(told(">e\n", 0).as_deref(), Some(empty));
    assert_eq!(told(&format!("{}>e\n", query(4992)), 0), None, "they are one batch");
    assert_eq!(told(&format!("{}>e\n", query(5000)), 0).as_deref(), Some(empty));
    let none = "BLAST engine error: Empty CBlastQueryVector";
    assert_eq!(told(&some, 100).as_deref(), Some(none));
    assert_eq!(told(&format!("{}{some}", query(4992)), 100), None, "they are one batch");
    assert_eq!(told(&format!("{}{some}", query(5000)), 100).as_deref(), Some(none));
}
