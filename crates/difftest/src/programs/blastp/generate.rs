//! Generates random trials of blastp from fragments of real proteins.

use crate::fasta::Record;
use crate::program::{SubjectForm, Trial};
use crate::rng::Draw;
use crate::synth::{self, PROTEIN};
use crate::workspace::Source;
use fastrand::Rng;

/// Draws a random trial without options.
pub fn trial(rng: &mut Rng, source: &Source) -> Trial {
    let parents = parents(rng, source);
    let subjects = subjects(rng, source, &parents);
    let queries = queries(rng, source, &parents);
    let subject_form = SubjectForm::random(rng);
    let named = rng.chance(0.5);
    Trial {
        program: &super::BLASTP,
        queries,
        subjects,
        subject_form,
        options: Vec::new(),
        named,
        shape: None,
    }
}

/// Draws a few ancestors of queries and subjects, so that searches have hits.
fn parents(rng: &mut Rng, source: &Source) -> Vec<Vec<u8>> {
    let count = rng.usize(1..=6);
    (0..count)
        .map(|_| {
            let length = rng.usize(30..=400);
            let real = rng.pick(&source.proteins);
            let part = synth::fragment(rng, &real.seq, length);
            if rng.chance(0.2) {
                let unit_length = rng.usize(8..=60);
                let unit = synth::fragment(rng, &part, unit_length);
                let times = rng.usize(2..=10);
                return PROTEIN.tandem(rng, &unit, times, 0.15);
            }
            part
        })
        .collect()
}

fn subjects(rng: &mut Rng, source: &Source, parents: &[Vec<u8>]) -> Vec<Record> {
    let count = match rng.usize(..100) {
        0..=24 => rng.usize(1..=10),
        25..=69 => rng.usize(10..=60),
        70..=96 => rng.usize(60..=200),
        97..=98 => rng.usize(300..=1_200),
        _ => rng.usize(1_200..=3_000),
    };
    // If there are many subjects, they are short, and one family dominates, so that preliminary
    // lists overflow.
    let crowd = count > 300;
    let mut seqs: Vec<Vec<u8>> = Vec::with_capacity(count);
    while seqs.len() < count {
        let copy = rng.chance(0.03) && !seqs.is_empty();
        let seq = if copy { rng.pick(&seqs).clone() } else { subject(rng, source, parents, crowd) };
        seqs.push(seq);
    }
    if rng.chance(0.03) {
        let length = rng.usize(3_000..=60_000);
        let mut long = synth::chimera(rng, &source.proteins, length);
        long = synth::insert(rng, &long, &parents[0]);
        seqs.push(long);
    }
    name("s", seqs)
}

fn subject(rng: &mut Rng, source: &Source, parents: &[Vec<u8>], crowd: bool) -> Vec<u8> {
    let parent = if crowd { &parents[0] } else { rng.pick(parents) };
    let related = if crowd { 0.9 } else { 0.6 };
    let mut seq = if rng.chance(related) {
        let rate = rng.f64() * 0.85;
        let copy = PROTEIN.mutate(rng, parent, rate);
        match rng.usize(..8) {
            0 => {
                let length = rng.usize(5..=200);
                synth::fragment(rng, &copy, length)
            }
            1 => {
                let rate = rng.f64() * 0.3;
                PROTEIN.tandem(rng, &copy, 2, rate)
            }
            2 | 3 => {
                let real = rng.pick(&source.proteins);
                let length = rng.usize(20..=300);
                let host = synth::fragment(rng, &real.seq, length);
                synth::insert(rng, &host, &copy)
            }
            4 => {
                let other = rng.pick(parents);
                let other = PROTEIN.mutate(rng, other, 0.3);
                [copy, other].concat()
            }
            _ => copy,
        }
    } else {
        draw_unrelated(rng, source, parent)
    };
    decorate(rng, &mut seq);
    seq
}

/// Draws a real protein, a shuffled parent, random letters, or low complexity.
fn draw_unrelated(rng: &mut Rng, source: &Source, parent: &[u8]) -> Vec<u8> {
    match rng.usize(..8) {
        0..=3 => {
            let real = rng.pick(&source.proteins);
            let length = rng.usize(10..=500);
            synth::fragment(rng, &real.seq, length)
        }
        4 => synth::shuffle(rng, parent),
        5 => {
            let length = rng.usize(1..=300);
            synth::random(rng, parent, length)
        }
        6 => {
            let length = rng.usize(1..=100);
            PROTEIN.low_complexity(rng, length)
        }
        _ => {
            let length = rng.usize(1..=12);
            synth::random(rng, PROTEIN.usual, length)
        }
    }
}

/// Sometimes adds a low-complexity run, odd letters, or lower case. Never leaves an empty sequence.
fn decorate(rng: &mut Rng, seq: &mut Vec<u8>) {
    if rng.chance(0.12) {
        let length = rng.usize(5..=60);
        let run = PROTEIN.low_complexity(rng, length);
        *seq = synth::insert(rng, seq, &run);
    }
    if rng.chance(0.08) {
        let rate = rng.f64() * 0.1;
        *seq = PROTEIN.odd_letters(rng, seq, rate);
    }
    // Databases store `-` as a residue, and queries lose it. There are only a few of them, because
    // BLAST+ takes a line with many for no sequence.
    if rng.chance(0.03) && seq.len() >= 30 {
        for _ in 0..rng.usize(1..=3) {
            let at = rng.usize(..seq.len());
            seq[at] = b'-';
        }
    }
    if seq.is_empty() {
        seq.push(b'M');
    }
    if rng.chance(0.1) {
        *seq = synth::lower_case_runs(rng, seq);
    }
}

fn queries(rng: &mut Rng, source: &Source, parents: &[Vec<u8>]) -> Vec<Record> {
    let count = if rng.chance(0.04) { rng.usize(10..=40) } else { rng.usize(1..=4) };
    let mut seqs: Vec<Vec<u8>> = (0..count).map(|_| draw_query(rng, source, parents)).collect();
    if rng.chance(0.02) {
        for _ in 0..rng.usize(1..=3) {
            seqs.push(long_query(rng, source, parents));
            for _ in 0..rng.usize(..3) {
                seqs.push(draw_query(rng, source, parents));
            }
        }
    }
    name("q", seqs)
}

/// Returns a long query with relatives of the parents everywhere. BLAST+ ends a batch with the
/// query that reaches 10,000 residues, and cuts batches of 19,800 residues or more in chunks.
fn long_query(rng: &mut Rng, source: &Source, parents: &[Vec<u8>]) -> Vec<u8> {
    let lengths = [5_000, 9_000, 9_890, 9_990, 15_000, 19_700, 19_790, 25_000, 29_600, 31_000];
    let length = *rng.pick(&lengths) + rng.usize(..220);
    let mut seq = Vec::new();
    while seq.len() < length {
        if rng.chance(0.3) {
            let parent = rng.pick(parents);
            let rate = rng.f64() * 0.5;
            seq.extend(PROTEIN.mutate(rng, parent, rate));
        } else {
            seq.extend_from_slice(&rng.pick(&source.proteins).seq);
        }
    }
    seq.truncate(length);
    if rng.chance(0.3) {
        // Chunks treat masks in a way of their own.
        for _ in 0..rng.usize(1..=20) {
            seq = synth::lower_case_runs(rng, &seq);
        }
    }
    decorate(rng, &mut seq);
    seq
}

fn draw_query(rng: &mut Rng, source: &Source, parents: &[Vec<u8>]) -> Vec<u8> {
    let parent = rng.pick(parents);
    let mut seq = match rng.usize(..12) {
        0..=4 => parent.clone(),
        5..=6 => {
            let rate = rng.f64() * 0.6;
            PROTEIN.mutate(rng, parent, rate)
        }
        7 => {
            let length = rng.usize(3..=30);
            synth::fragment(rng, parent, length)
        }
        8..=9 => {
            let other = rng.pick(parents);
            let other = PROTEIN.mutate(rng, other, 0.2);
            [parent.clone(), other].concat()
        }
        10 => rng.pick(&source.queries).seq.iter().take(1_500).copied().collect(),
        _ => draw_unrelated(rng, source, parent),
    };
    decorate(rng, &mut seq);
    seq
}

fn name(prefix: &str, seqs: Vec<Vec<u8>>) -> Vec<Record> {
    let named = |(i, seq)| Record::new(format!("{prefix}{i} made up number {i}"), seq);
    seqs.into_iter().enumerate().map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;

    fn source() -> Source {
        let mut rng = Rng::with_seed(5);
        let record = |i: usize, rng: &mut Rng| {
            Record::new(format!("p{i}"), synth::random(rng, PROTEIN.usual, 60 + 10 * i))
        };
        let proteins: Vec<Record> = (0..20).map(|i| record(i, &mut rng)).collect();
        Source::from_records("made up", proteins[..3].to_vec(), proteins)
    }

    #[test]
    fn the_seed_decides_everything_and_nothing_is_empty() {
        let source = source();
        for index in 0..60 {
            let a = trial(&mut rng::for_item(9, index), &source);
            let b = trial(&mut rng::for_item(9, index), &source);
            assert_eq!((&a.queries, &a.subjects), (&b.queries, &b.subjects));
            assert!(!a.queries.is_empty() && !a.subjects.is_empty());
            assert!(a.queries.iter().chain(&a.subjects).all(|r| !r.seq.is_empty()));
        }
    }
}
