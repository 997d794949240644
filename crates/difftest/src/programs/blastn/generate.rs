//! Generates random trials of blastn from pieces of real genomes.

use super::parents::{either_strand, palindrome, piece};
use crate::bases::Bases;
use crate::fasta::Record;
use crate::program::{SubjectForm, Trial};
use crate::rng::Draw;
use crate::synth::{self, BASES};
use crate::workspace::Source;
use fastrand::Rng;

/// Message of `expect` for the nucleic acids, which the tester reads before the first trial.
const NO_BASES: &str = "the tester has read its nucleic acids";

/// Draws a random trial without options.
pub fn trial(rng: &mut Rng, source: &Source) -> Trial {
    let bases = source.bases().expect(NO_BASES);
    let parents = parents(rng, bases);
    let subjects = subjects(rng, bases, &parents);
    let queries = queries(rng, bases, &parents);
    let subject_form = SubjectForm::random(rng);
    let named = rng.chance(0.5);
    let program = &super::BLASTN;
    Trial { program, queries, subjects, subject_form, options: Vec::new(), named, shape: None }
}

/// Draws a few ancestors of queries and subjects, so that searches have hits.
fn parents(rng: &mut Rng, bases: &Bases) -> Vec<Vec<u8>> {
    let count = rng.usize(1..=5);
    (0..count)
        .map(|_| {
            let length = rng.usize(30..=900);
            let part = piece(rng, bases, length);
            match rng.usize(..10) {
                0..=1 => {
                    let length = rng.usize(2..=60);
                    let unit = synth::fragment(rng, &part, length);
                    let times = rng.usize(2..=12);
                    BASES.tandem(rng, &unit, times, 0.04)
                }
                2 => palindrome(rng, &part[..part.len().min(150)]),
                _ => part,
            }
        })
        .collect()
}

fn subjects(rng: &mut Rng, bases: &Bases, parents: &[Vec<u8>]) -> Vec<Record> {
    let count = match rng.usize(..100) {
        0..=29 => rng.usize(1..=6),
        30..=79 => rng.usize(6..=40),
        80..=96 => rng.usize(40..=120),
        97..=98 => rng.usize(300..=900),
        _ => rng.usize(900..=1_800),
    };
    // If there are many subjects, they are short, and one family dominates, so that preliminary
    // lists overflow.
    let crowd = count > 250;
    let mut seqs: Vec<Vec<u8>> = Vec::with_capacity(count);
    while seqs.len() < count {
        let copy = rng.chance(0.04) && !seqs.is_empty();
        let seq = if copy { rng.pick(&seqs).clone() } else { subject(rng, bases, parents, crowd) };
        seqs.push(seq);
    }
    if rng.chance(0.04) {
        seqs.push(long_subject(rng, bases, parents));
    }
    name("s", seqs)
}

/// Draws a subject of 20,000 bases or more. Some are longer than the window that BLAST+ aligns.
fn long_subject(rng: &mut Rng, bases: &Bases, parents: &[Vec<u8>]) -> Vec<u8> {
    let length = rng.usize(20_000..=130_000);
    let mut seq = Vec::new();
    while seq.len() < length {
        let size = rng.usize(100..=9_000);
        seq.extend(piece(rng, bases, size));
        let parent = rng.pick(parents);
        let rate = rng.f64() * 0.2;
        let copy = BASES.mutate(rng, parent, rate);
        seq.extend(either_strand(rng, copy));
    }
    seq
}

fn subject(rng: &mut Rng, bases: &Bases, parents: &[Vec<u8>], crowd: bool) -> Vec<u8> {
    let parent = if crowd { &parents[0] } else { rng.pick(parents) };
    let related = if crowd { 0.9 } else { 0.7 };
    let mut seq = if rng.chance(related) {
        let rate = rng.f64() * rng.f64() * 0.4;
        let copy = BASES.mutate(rng, parent, rate);
        match rng.usize(..9) {
            0 => {
                let length = rng.usize(5..=200);
                synth::fragment(rng, &copy, length)
            }
            1 => {
                let rate = rng.f64() * 0.1;
                BASES.tandem(rng, &copy, 2, rate)
            }
            2 | 3 => {
                let length = rng.usize(20..=600);
                let host = piece(rng, bases, length);
                synth::insert(rng, &host, &copy)
            }
            4 => {
                let other = rng.pick(parents);
                let other = BASES.mutate(rng, other, 0.1);
                [copy, either_strand(rng, other)].concat()
            }
            5 => palindrome(rng, &copy),
            _ => copy,
        }
    } else {
        draw_unrelated(rng, bases, parent)
    };
    seq = either_strand(rng, seq);
    decorate(rng, &mut seq);
    seq
}

/// Draws a real piece, a shuffled parent, random bases, or low complexity.
fn draw_unrelated(rng: &mut Rng, bases: &Bases, parent: &[u8]) -> Vec<u8> {
    match rng.usize(..8) {
        0..=3 => {
            let length = rng.usize(10..=900);
            piece(rng, bases, length)
        }
        4 => synth::shuffle(rng, parent),
        5 => {
            let length = rng.usize(1..=400);
            synth::random(rng, BASES.usual, length)
        }
        6 => {
            let length = rng.usize(1..=200);
            BASES.low_complexity(rng, length)
        }
        _ => {
            let length = rng.usize(1..=14);
            synth::random(rng, BASES.usual, length)
        }
    }
}

/// Sometimes adds a low-complexity run, ambiguities, a run of N, or lower case. Never leaves an
/// empty sequence.
fn decorate(rng: &mut Rng, seq: &mut Vec<u8>) {
    if rng.chance(0.12) {
        let length = rng.usize(5..=90);
        let run = BASES.low_complexity(rng, length);
        *seq = synth::insert(rng, seq, &run);
    }
    if rng.chance(0.1) {
        let rate = rng.f64() * rng.f64() * 0.1;
        *seq = BASES.odd_letters(rng, seq, rate);
    }
    if rng.chance(0.06) {
        let run = b"N".repeat(rng.usize(1..=80));
        *seq = synth::insert(rng, seq, &run);
    }
    if seq.is_empty() {
        seq.push(b'A');
    }
    if rng.chance(0.1) {
        *seq = synth::lower_case_runs(rng, seq);
    }
}

fn queries(rng: &mut Rng, bases: &Bases, parents: &[Vec<u8>]) -> Vec<Record> {
    let count = match rng.usize(..100) {
        0..=5 => rng.usize(10..=60),
        6 => rng.usize(60..=300),
        _ => rng.usize(1..=4),
    };
    let mut seqs: Vec<Vec<u8>> = (0..count).map(|_| draw_query(rng, bases, parents)).collect();
    if rng.chance(0.05) {
        // This query is longer than BLAST+'s first batch, and than the limit of the small lookup
        // table.
        let long = long_subject(rng, bases, parents);
        let at = rng.usize(..=seqs.len());
        seqs.insert(at, long);
    }
    name("q", seqs)
}

fn draw_query(rng: &mut Rng, bases: &Bases, parents: &[Vec<u8>]) -> Vec<u8> {
    let parent = rng.pick(parents);
    let seq = match rng.usize(..12) {
        0..=4 => parent.clone(),
        5..=6 => {
            let rate = rng.f64() * 0.25;
            BASES.mutate(rng, parent, rate)
        }
        7 => {
            let length = rng.usize(1..=40);
            synth::fragment(rng, parent, length)
        }
        8..=9 => {
            let other = rng.pick(parents);
            let other = BASES.mutate(rng, other, 0.05);
            [parent.clone(), either_strand(rng, other)].concat()
        }
        10 => rng.pick(&bases.queries).seq.iter().take(2_500).copied().collect(),
        _ => draw_unrelated(rng, bases, parent),
    };
    let mut seq = either_strand(rng, seq);
    decorate(rng, &mut seq);
    seq
}

fn name(prefix: &str, seqs: Vec<Vec<u8>>) -> Vec<Record> {
    let named = |(i, seq)| Record::new(format!("{prefix}{i} made up number {i}"), seq);
    seqs.into_iter().enumerate().map(named).collect()
}
