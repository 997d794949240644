//! Tests that the fast search finds the same segments as the search by BLAST+'s literal rules.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Instant;

use super::choice::TableChoice;
use super::divided::Division;
use super::reference::{Memory, Reference};
use super::*;
use crate::testing;
use fastrand::Rng;

/// A test case: queries, their masks, and the rules.
struct Case {
    contexts: Contexts,
    /// Number of contexts.
    count: usize,
    regions: Vec<Range<u32>>,
    rules: SeedRules,
}

impl Case {
    fn indexing(&self) -> Indexing {
        indexing(&self.contexts, self.count, &self.regions, &self.rules)
    }

    fn seeds(&self, kernel: Kernel) -> Seeds {
        Seeds::new(&self.contexts, &self.regions, &self.rules, self.indexing(), kernel)
    }
}

/// Derives how these contexts are indexed.
fn indexing(
    contexts: &Contexts,
    count: usize,
    regions: &[Range<u32>],
    rules: &SeedRules,
) -> Indexing {
    let of = |context: usize| {
        let start = contexts.start(context);
        let own = regions.iter().filter(|region| contexts.context_at(region.start) == context);
        let moved = own.map(|region| region.start - start..region.end - start);
        let letters = &contexts.letters()[start as usize..contexts.end(context) as usize];
        (letters, moved.collect::<Vec<_>>())
    };
    let all: Vec<_> = (0..count).map(of).collect();
    Indexing::new(all.iter().map(|(letters, regions)| (*letters, &regions[..])), rules)
}

/// Style of random sequences.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SequenceStyle {
    Plain,
    /// Few letters, so that many diagonals are hit.
    Repetitive,
    /// Repeats a multiple of 512 apart.
    Copies,
}

fn bases(random: &mut Rng, length: usize, look: SequenceStyle) -> Vec<u8> {
    let unit = match look {
        SequenceStyle::Plain => return (0..length).map(|_| random.u8(..4)).collect(),
        SequenceStyle::Repetitive => random.usize(1..=7),
        SequenceStyle::Copies => 512,
    };
    let unit: Vec<u8> = (0..unit).map(|_| random.u8(..4)).collect();
    let mut all: Vec<u8> = unit.iter().cycle().take(length).copied().collect();
    mutate(random, &mut all, 30);
    all
}

/// Replaces about one in `one_of` bases by a random base.
fn mutate(random: &mut Rng, bases: &mut [u8], one_of: u64) {
    for base in bases {
        if random.u64(..one_of) == 0 {
            *base = random.u8(..4);
        }
    }
}

fn matrix(reward: i32, penalty: i32) -> [[i32; 16]; 16] {
    let sets = |code: usize| fleetblast_seq::nucleotide::blastna::to_ncbi4na(code as u8);
    let score = |a: usize, b: usize| {
        if a == 15 || b == 15 {
            return i32::MIN / 2;
        }
        if sets(a) & sets(b) == 0 {
            return penalty;
        }
        let degeneracy = sets(a.max(b)).count_ones() as i32;
        let mean = f64::from((degeneracy - 1) * penalty + reward) / f64::from(degeneracy);
        mean.round() as i32
    };
    std::array::from_fn(|a| std::array::from_fn(|b| score(a, b)))
}

fn rules(random: &mut Rng) -> SeedRules {
    let pick = |random: &mut Rng, of: &[i32]| of[random.usize(..of.len())];
    let template = (random.u64(..4) == 0).then(|| Template {
        weight: pick(random, &[11, 12]) as u32,
        length: pick(random, &[16, 18, 21]) as u32,
        kind: [TemplateKind::Coding, TemplateKind::Optimal, TemplateKind::CodingAndOptimal]
            [random.usize(..3)],
    });
    let word_size = match random.u64(..3) {
        0 => random.u32(4..65),
        1 => random.u32(4..13),
        _ => random.u32(11..29),
    };
    let (reward, penalty) = [(1, -2), (2, -3), (1, -3), (1, -1)][random.usize(..4)];
    SeedRules {
        word_size: template.map_or(word_size, |template| template.weight),
        template,
        window: pick(random, &[0, 0, 40, 10, 1_000_000_000]),
        off_diagonal_range: pick(random, &[0, 0, 5, 30]),
        checks_masks: random.u64(..4) != 0,
        reward,
        penalty,
        matrix: matrix(reward, penalty),
    }
}

/// Creates contexts of about `length` letters, and the subject that they resemble.
fn case(random: &mut Rng, length: usize, look: SequenceStyle) -> (Case, Vec<u8>) {
    let rules = rules(random);
    case_of(random, length, length, look, rules)
}

/// Creates contexts of at most `longest` letters each, with about `length` letters together.
fn case_of(
    random: &mut Rng,
    length: usize,
    longest: usize,
    look: SequenceStyle,
    rules: SeedRules,
) -> (Case, Vec<u8>) {
    let source = bases(random, length, look);
    let mut strands: Vec<Vec<u8>> = Vec::new();
    let mut taken = 0;
    while taken < length {
        let size = 1 + random.usize(..longest);
        let mut strand = source[..size.min(length - taken)].to_vec();
        mutate(random, &mut strand, 25);
        taken += strand.len();
        for _ in 0..random.u64(..1 + size as u64 / 40) {
            let at = random.usize(..strand.len());
            strand[at] = random.u8(4..15);
        }
        strands.push(strand);
        if random.u64(..3) == 0 {
            strands.push(Vec::new());
        }
    }
    let limits = UngappedLimits { x_drop: random.i32(5..25), cutoff: random.i32(8..33) };
    let contexts =
        Contexts::new(strands.iter().map(|s| (&s[..], (!s.is_empty()).then_some(limits))));
    let mut regions = Vec::new();
    for (context, strand) in strands.iter().enumerate() {
        let (mut start, end) = (contexts.start(context), contexts.end(context));
        let most = 20 + random.u64(..u64::from(end - start) + 1);
        while start < end && random.u64(..20) != 0 && most < u64::from(end - start) {
            let stop = start + random.u64(..most.min(u64::from(end - start))) as u32;
            regions.push(start..stop);
            start = (stop + random.u32(1..=20)).min(end);
        }
        if !strand.is_empty() {
            regions.push(start..end);
        }
    }
    (Case { contexts, count: strands.len(), regions, rules }, source)
}

fn pack(bases: &[u8]) -> Vec<u8> {
    let byte = |four: &[u8]| {
        four.iter().enumerate().fold(0, |byte, (i, &base)| byte | base << (6 - 2 * i))
    };
    bases.chunks(4).map(byte).collect()
}

fn unmasked(random: &mut Rng, length: usize) -> Option<Vec<Range<u32>>> {
    if random.u64(..3) != 0 {
        return None;
    }
    let mut cuts: Vec<u32> = (0..4).map(|_| random.u64(..=length as u64) as u32).collect();
    cuts.sort();
    Some(vec![cuts[0]..cuts[1], cuts[2]..cuts[3]])
}

/// Number of times that each of the rarer cases occurred in a test.
type Events = BTreeMap<&'static str, usize>;

/// Creates a subject that resembles a source.
fn subject(random: &mut Rng, source: &[u8]) -> Vec<u8> {
    let mut subject = source[random.usize(..source.len())..].to_vec();
    mutate(random, &mut subject, 20);
    let lead = random.usize(..50);
    subject.splice(0..0, bases(random, lead, SequenceStyle::Plain));
    subject
}

/// Searches some subjects of a case with each kernel and by the literal rules, and compares
/// results.
fn compare(
    random: &mut Rng,
    case: &Case,
    source: &[u8],
    scratch: &mut Scratch,
    events: &mut Events,
) {
    let seeds: Vec<Seeds> = Kernel::available().map(|kernel| case.seeds(kernel)).collect();
    let reference = Reference::new(&case.contexts, &case.regions, &case.rules);
    let mut out = Vec::new();
    for _ in 0..3 {
        let subject = subject(random, source);
        let regions = unmasked(random, subject.len());
        let packed = pack(&subject);
        let whole = Packed::new(&packed, subject.len() as u32);
        let mut memory = Memory::new(seeds[0].long, case.rules.window);
        let expected = reference.search(&subject, regions.as_deref(), &mut memory);
        for seeds in &seeds {
            seeds.search(&case.contexts, whole, regions.as_deref(), scratch, &mut out);
            assert_eq!(out, expected, "{:?} {:?} {:?}", case.rules, reference.kind, seeds.kernel);
            if seeds.long && case.rules.off_diagonal_range <= 0 {
                let scan = SubjectScan { seeds, contexts: &case.contexts, subject: whole };
                let found = find_divided(random, scan, regions.as_deref());
                assert_eq!(found, expected, "{:?} {:?}", case.rules, seeds.kernel);
                *events.entry("divided").or_default() += 1;
            }
        }
        *events.entry("segment").or_default() += out.len();
    }
    *events.entry(["small", "standard", "megablast"][reference.kind as usize]).or_default() += 1;
    for (event, count) in reference.events.into_inner() {
        *events.entry(event).or_default() += count;
    }
}

/// Three threads for all divided searches.
static THREADS: LazyLock<rayon::ThreadPool> = LazyLock::new(|| testing::pool(3));

/// Searches a subject with three threads, in small pieces.
fn find_divided(
    random: &mut Rng,
    scan: SubjectScan<'_>,
    regions: Option<&[Range<u32>]>,
) -> Vec<Segment> {
    let division = Division {
        pieces: random.usize(1..5),
        classes: 1 << random.u32(0..10),
        positions: 4 * random.u32(1..200),
        seeds: random.usize(1..200),
    };
    let window = scan.seeds.window_within(scan.subject.length());
    let mut found = Vec::new();
    THREADS.install(|| scan.seeds.find_divided(scan, window, regions, division, &mut found));
    found.sort_by_key(Segment::order);
    found
}

fn assert_happened(events: &Events, expected: &[&str]) {
    println!("{events:?}");
    for event in expected {
        assert!(events.get(event).is_some_and(|&count| count > 20), "{event}: {events:?}");
    }
}

#[test]
fn short_queries_agree() {
    let mut random = Rng::with_seed(1);
    let mut scratch = Scratch::default();
    let mut events = Events::new();
    for round in 0..1000 {
        let look = [SequenceStyle::Plain, SequenceStyle::Repetitive][round % 2];
        let length = 20 + random.u64(..if round % 2 == 0 { 900 } else { 250 }) as usize;
        let (case, source) = case(&mut random, length, look);
        compare(&mut random, &case, &source, &mut scratch, &mut events);
    }
    let common = ["segment", "small", "megablast", "masked", "moved", "approximate extension"];
    let two_hits = ["single word", "double word", "second hit", "hit beside", "masked first hit"];
    assert_happened(&events, &common);
    assert_happened(&events, &two_hits);
    assert_happened(&events, &["single word, extended", "ambiguous group"]);
}

#[test]
fn primers_agree() {
    let mut random = Rng::with_seed(8);
    let mut scratch = Scratch::default();
    let mut events = Events::new();
    for round in 0..120 {
        let word_size = random.u32(4..9);
        let rules = SeedRules { word_size, template: None, window: 0, ..rules(&mut random) };
        // The diagonals of the longer queries are kept in a hash.
        let length = [400, 9000][usize::from(round % 12 == 0)];
        let (case, source) = case_of(&mut random, length, 45, SequenceStyle::Plain, rules);
        let source = &source[..1500.min(source.len())];
        compare(&mut random, &case, source, &mut scratch, &mut events);
    }
    assert_happened(&events, &["segment", "small"]);
}

#[test]
fn long_queries_agree() {
    let mut random = Rng::with_seed(2);
    let mut scratch = Scratch::default();
    let mut events = Events::new();
    for round in 0..60 {
        let length = [9000, 14_000, 40_000][round % 3];
        let (mut case, source) = case(&mut random, length, SequenceStyle::Plain);
        case.rules.word_size = case.rules.word_size.max(7);
        if round % 6 == 2 {
            (case.rules.word_size, case.rules.template) = (7 + round as u32 % 2, None);
        }
        compare(&mut random, &case, &source, &mut scratch, &mut events);
    }
    assert_happened(&events, &["segment", "megablast", "hit beside", "lost cell", "divided"]);
    // Each kernel draws random numbers, so that cases and counts vary with the number of kernels.
    assert!(events["standard"] >= 5 && events["small"] >= 5, "{events:?}");
}

#[test]
fn colliding_diagonals_agree() {
    let mut random = Rng::with_seed(3);
    let mut scratch = Scratch::default();
    let mut events = Events::new();
    for _ in 0..60 {
        let (mut case, source) = case(&mut random, 8300, SequenceStyle::Copies);
        case.rules.word_size = case.rules.word_size.max(11);
        compare(&mut random, &case, &source[..1500.min(source.len())], &mut scratch, &mut events);
    }
    assert_happened(&events, &["segment", "lost cell", "divided"]);
}

/// Searches subjects with and without the state that earlier subjects left. Returns the number of
/// subjects, and the number of those with different results.
fn history(
    random: &mut Rng,
    rounds: usize,
    look: SequenceStyle,
    window: i32,
    (word_size, length): (u32, usize),
) -> (usize, usize) {
    let (mut subjects, mut differ) = (0, 0);
    let mut reference_events = Events::new();
    for _ in 0..rounds {
        let (mut case, source) = case(random, length, look);
        (case.rules.word_size, case.rules.template) = (word_size, None);
        case.rules.window = window;
        let reference = Reference::new(&case.contexts, &case.regions, &case.rules);
        let mut carried = Memory::new(case.indexing().hashes_diagonals, window);
        for _ in 0..6 {
            let subject = subject(random, &source[..1500.min(source.len())]);
            let mut fresh = Memory::new(case.indexing().hashes_diagonals, window);
            let with = reference.search(&subject, None, &mut carried);
            subjects += 1;
            differ += usize::from(with != reference.search(&subject, None, &mut fresh));
        }
        for (event, count) in reference.events.into_inner() {
            *reference_events.entry(event).or_default() += count;
        }
    }
    let lost = reference_events.get("lost cell").copied().unwrap_or_default();
    println!("{look:?}, window {window}, {word_size}: {differ} of {subjects} differ, {lost} lost");
    (subjects, differ)
}

#[test]
fn subjects_before_matter_only_where_diagonals_collide() {
    let mut random = Rng::with_seed(4);
    assert_eq!(history(&mut random, 10, SequenceStyle::Plain, 40, (11, 8300)).1, 0);
    assert_eq!(history(&mut random, 20, SequenceStyle::Copies, 40, (11, 8300)).1, 0);
    // With a window of 0 cells are lost, but random sequences do not show it.
    for cells_are_lost in [(7, 20_000), (8, 40_000)] {
        assert_eq!(history(&mut random, 10, SequenceStyle::Plain, 0, cells_are_lost).1, 0);
    }
    assert_eq!(history(&mut random, 10, SequenceStyle::Copies, 0, (11, 40_000)).1, 0);
}

#[test]
fn tables_are_chosen_by_words_and_places() {
    let mut random = Rng::with_seed(6);
    let choose = |word_size, regions: &[(u32, u32)]| {
        let regions: Vec<_> = regions.iter().map(|&(start, end)| start..end).collect();
        let rules = SeedRules { word_size, template: None, ..rules(&mut Rng::with_seed(7)) };
        let TableChoice { kind, span, .. } = TableChoice::new(&rules, &regions);
        (kind, span)
    };
    assert_eq!(choose(11, &[(0, 12_000)]), (TableKind::Small, 8));
    assert_eq!(choose(11, &[(0, 12_001)]), (TableKind::Megablast, 10));
    // A completely masked context counts by -1.
    assert_eq!(choose(11, &[(0, 12_001), (14_000, 14_000)]), (TableKind::Small, 8));
    assert_eq!(choose(28, &[(0, 300_000)]), (TableKind::Megablast, 11));
    assert_eq!(choose(28, &[(0, 300_001)]), (TableKind::Megablast, 12));
    assert_eq!(choose(7, &[(0, 250)]), (TableKind::Small, 6));
    assert_eq!(choose(7, &[(0, 32_767)]), (TableKind::Small, 7));
    assert_eq!(choose(7, &[(0, 32_768)]), (TableKind::Standard, 7));
    assert_eq!(choose(8, &[(32_000, 32_769)]), (TableKind::Standard, 7));

    // Words with two positions need three cells.
    let limits = Some(UngappedLimits { x_drop: 10, cutoff: 14 });
    let half = bases(&mut random, 13_000, SequenceStyle::Plain);
    let contexts = Contexts::new([(&half[..], limits), (&half[..], limits)]);
    let regions = [0..13_000, 13_001..26_001];
    let rules = SeedRules { word_size: 7, template: None, ..rules(&mut random) };
    assert_eq!(TableChoice::new(&rules, &regions).kind, TableKind::Small);
    assert_eq!(Reference::new(&contexts, &regions, &rules).kind, TableKind::Standard);
    assert_eq!(indexing(&contexts, 2, &regions, &rules).kind, TableKind::Standard);
}

#[test]
#[ignore = "takes its time, and means something only on a machine that does nothing else"]
fn nanoseconds_for_a_base() {
    let mut random = Rng::with_seed(5);
    let template = Template { weight: 11, length: 18, kind: TemplateKind::Coding };
    let tasks = [
        ("megablast", 28, None, 1, -2, 0, UngappedLimits { x_drop: 11, cutoff: 13 }),
        ("blastn", 11, None, 2, -3, 0, UngappedLimits { x_drop: 22, cutoff: 28 }),
        ("dc-megablast", 11, Some(template), 2, -3, 40, UngappedLimits { x_drop: 22, cutoff: 28 }),
        ("blastn-short", 7, None, 1, -3, 0, UngappedLimits { x_drop: 10, cutoff: 14 }),
    ];
    let subject = bases(&mut random, 8_000_000, SequenceStyle::Plain);
    let packed = pack(&subject);
    for (name, word_size, template, reward, penalty, window, limits) in tasks {
        for length in [50, 1000, 5000, 50_000] {
            let query = bases(&mut random, length, SequenceStyle::Plain);
            let other = fleetblast_seq::nucleotide::blastna::reverse_complement(&query);
            let strands = [(&query[..], Some(limits)), (&other[..], Some(limits))];
            let contexts = Contexts::new(strands);
            let regions = [0..contexts.end(0), contexts.start(1)..contexts.end(1)];
            let matrix = matrix(reward, penalty);
            let rules = SeedRules {
                word_size,
                template,
                window,
                off_diagonal_range: 0,
                checks_masks: true,
                reward,
                penalty,
                matrix,
            };
            let start = Instant::now();
            let indexing = indexing(&contexts, 2, &regions, &rules);
            let seeds = Seeds::new(&contexts, &regions, &rules, indexing, Kernel::detect());
            let made = start.elapsed();
            let (mut scratch, mut out) = (Scratch::default(), Vec::new());
            let best = (0..5).map(|_| {
                let start = Instant::now();
                for chunk in packed.chunks(1_000_000) {
                    let chunk = Packed::new(chunk, 4 * chunk.len() as u32);
                    seeds.search(&contexts, chunk, None, &mut scratch, &mut out);
                }
                start.elapsed()
            });
            let nanoseconds = best.min().unwrap().as_nanos() as f64 / subject.len() as f64;
            println!("{name} {length}: {nanoseconds:.3} ns a base, index {made:?}");
        }
    }
}
