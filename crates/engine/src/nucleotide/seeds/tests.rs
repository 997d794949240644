//! The fast search and the literal one agree.

use super::reference::{Memory, Reference};
use super::*;
use crate::protein::prelim::testing::Random;

/// A case: queries, what is masked of them, rules.
struct Case {
    contexts: Contexts,
    regions: Vec<Range<u32>>,
    rules: SeedRules,
}

/// How sequences look.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Look {
    Plain,
    /// Few letters, so that many diagonals are hit.
    Repetitive,
    /// Copies of the same thing a multiple of 512 apart.
    Copies,
}

fn bases(random: &mut Random, length: usize, look: Look) -> Vec<u8> {
    let unit = match look {
        Look::Plain => return (0..length).map(|_| random.below(4) as u8).collect(),
        Look::Repetitive => 1 + random.below(7) as usize,
        Look::Copies => 512,
    };
    let unit: Vec<u8> = (0..unit).map(|_| random.below(4) as u8).collect();
    let mut all: Vec<u8> = unit.iter().cycle().take(length).copied().collect();
    mutate(random, &mut all, 30);
    all
}

/// Changes one base of so many.
fn mutate(random: &mut Random, bases: &mut [u8], one_of: u64) {
    for base in bases {
        if random.below(one_of) == 0 {
            *base = random.below(4) as u8;
        }
    }
}

fn matrix(reward: i32, penalty: i32) -> [[i32; 16]; 16] {
    let sets = |code: usize| fleetblast_seq::nucleotide::blastna::ncbi4na(code as u8);
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

fn rules(random: &mut Random) -> SeedRules {
    let pick = |random: &mut Random, of: &[i32]| of[random.below(of.len() as u64) as usize];
    let template = (random.below(4) == 0).then(|| Template {
        weight: pick(random, &[11, 12]) as u32,
        length: pick(random, &[16, 18, 21]) as u32,
        kind: [TemplateKind::Coding, TemplateKind::Optimal, TemplateKind::CodingAndOptimal]
            [random.below(3) as usize],
    });
    let word_size = match random.below(3) {
        0 => 4 + random.below(61) as u32,
        1 => 4 + random.below(9) as u32,
        _ => 11 + random.below(18) as u32,
    };
    let (reward, penalty) = [(1, -2), (2, -3), (1, -3), (1, -1)][random.below(4) as usize];
    SeedRules {
        word_size: template.map_or(word_size, |template| template.weight),
        template,
        window: pick(random, &[0, 0, 40, 10]),
        off_diagonal_range: pick(random, &[0, 0, 5, 30]),
        checks_masks: random.below(4) != 0,
        reward,
        penalty,
        matrix: matrix(reward, penalty),
    }
}

/// Contexts of about `length` letters, and the subject that they are like.
fn case(random: &mut Random, length: usize, look: Look) -> (Case, Vec<u8>) {
    let rules = rules(random);
    let source = bases(random, length, look);
    let mut strands: Vec<Vec<u8>> = Vec::new();
    let mut taken = 0;
    while taken < length {
        let size = 1 + random.below(length as u64) as usize;
        let mut strand = source[..size.min(length - taken)].to_vec();
        mutate(random, &mut strand, 25);
        taken += strand.len();
        for _ in 0..random.below(1 + size as u64 / 40) {
            let at = random.below(strand.len() as u64) as usize;
            strand[at] = 4 + random.below(11) as u8;
        }
        strands.push(strand);
        if random.below(3) == 0 {
            strands.push(Vec::new());
        }
    }
    let limits =
        Limits { x_drop: 5 + random.below(20) as i32, cutoff: 8 + random.below(25) as i32 };
    let contexts =
        Contexts::new(strands.iter().map(|s| (&s[..], (!s.is_empty()).then_some(limits))));
    let mut regions = Vec::new();
    for context in 0..strands.len() {
        let (mut start, end) = (contexts.start(context), contexts.end(context));
        while start < end && random.below(3) == 0 {
            let stop = start + random.below(u64::from(end - start)) as u32;
            regions.push(start..stop);
            start = (stop + 1 + random.below(20) as u32).min(end);
        }
        if !strands[context].is_empty() {
            regions.push(start..end);
        }
    }
    (Case { contexts, regions, rules }, source)
}

fn pack(bases: &[u8]) -> Vec<u8> {
    let byte = |four: &[u8]| {
        four.iter().enumerate().fold(0, |byte, (i, &base)| byte | base << (6 - 2 * i))
    };
    bases.chunks(4).map(byte).collect()
}

fn unmasked(random: &mut Random, length: usize) -> Option<Vec<Range<u32>>> {
    if random.below(3) != 0 {
        return None;
    }
    let mut cuts: Vec<u32> = (0..4).map(|_| random.below(length as u64 + 1) as u32).collect();
    cuts.sort();
    Some(vec![cuts[0]..cuts[1], cuts[2]..cuts[3]])
}

/// Searches so many subjects of a case both ways, and returns the number of segments.
fn compare(random: &mut Random, case: &Case, source: &[u8], scratch: &mut Scratch) -> usize {
    let seeds = Seeds::new(&case.contexts, &case.regions, &case.rules);
    let reference = Reference::new(&case.contexts, &case.regions, &case.rules);
    let (mut out, mut total) = (Vec::new(), 0);
    for _ in 0..3 {
        let mut subject = source[random.below(source.len() as u64) as usize..].to_vec();
        mutate(random, &mut subject, 20);
        let lead = random.below(50) as usize;
        subject.splice(0..0, bases(random, lead, Look::Plain));
        let regions = unmasked(random, subject.len());
        let packed = pack(&subject);
        let whole = Packed::new(&packed, subject.len() as u32);
        seeds.search(&case.contexts, whole, regions.as_deref(), scratch, &mut out);
        let mut memory = Memory::new(&case.contexts, case.rules.window);
        let expected = reference.search(&subject, regions.as_deref(), &mut memory);
        assert_eq!(out, expected, "{:?} {:?}", case.rules, reference.kind);
        total += out.len();
    }
    total
}

#[test]
fn short_queries_agree() {
    let mut random = Random::new(1);
    let mut scratch = Scratch::default();
    let mut total = 0;
    for round in 0..1500 {
        let look = [Look::Plain, Look::Repetitive][round % 2];
        let length = 20 + random.below(if round % 2 == 0 { 900 } else { 250 }) as usize;
        let (case, source) = case(&mut random, length, look);
        total += compare(&mut random, &case, &source, &mut scratch);
    }
    assert!(total > 5000, "only {total} segments");
}

#[test]
fn long_queries_agree() {
    let mut random = Random::new(2);
    let mut scratch = Scratch::default();
    let mut total = 0;
    for round in 0..60 {
        let length = [9000, 14_000, 40_000][round % 3];
        let (mut case, source) = case(&mut random, length, Look::Plain);
        case.rules.word_size = case.rules.word_size.max(8);
        total += compare(&mut random, &case, &source, &mut scratch);
    }
    assert!(total > 1000, "only {total} segments");
}

#[test]
fn colliding_diagonals_agree() {
    let mut random = Random::new(3);
    let mut scratch = Scratch::default();
    let mut total = 0;
    for _ in 0..40 {
        let (mut case, source) = case(&mut random, 8300, Look::Copies);
        case.rules.word_size = case.rules.word_size.max(11);
        total += compare(&mut random, &case, &source[..1500], &mut scratch);
    }
    assert!(total > 1000, "only {total} segments");
}
