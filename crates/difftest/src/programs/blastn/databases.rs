//! Makes the recipes of the databases that the tables of blastn name.

use super::LISTING;
use super::parents::{Parents, either_strand, palindrome, piece};
use super::queries::{PIECE, ordinary};
use crate::bases::Bases;
use crate::fasta::{self, Record};
use crate::fixtures::{Recipe, listed, numbered, rng_for, shared, titled};
use crate::synth::{self, BASES};
use fastrand::Rng;

/// Returns the recipes of all databases. The databases that an alias names come before it.
pub fn all(bases: &Bases, parents: &Parents) -> Vec<Recipe> {
    let mut all = real(bases, parents);
    all.extend(families(parents));
    all.extend(small(bases, parents));
    all.extend(long(bases, parents));
    let mut all: Vec<Recipe> = all.into_iter().map(Recipe::nucleotide).collect();
    all.extend(listed::recipes(&part(bases, parents), &LISTING));
    all.extend(titled::recipes(&part(bases, parents), LISTING.molecule));
    all.extend(shared::recipes(&part(bases, parents), LISTING.molecule));
    all.push(counts());
    let aliases = [
        ("alias", "#\nTITLE A hand-made alias\nDBLIST part mutants\n"),
        ("alias_untitled", "DBLIST part tiny\n"),
        ("alias_nested", "TITLE Nested\nDBLIST alias_untitled lowcomplex\n"),
    ];
    all.extend(aliases.map(|(name, text)| Recipe::alias(name, text).nucleotide()));
    all
}

/// Returns the recipe of a small database beside which `windowmasker` writes word counts of a
/// database full of repeats, in all its formats.
fn counts() -> Recipe {
    let mut recipe =
        Recipe::new("counts", b">nothing much\nACGTACGTTGCA\n".to_vec(), &[]).nucleotide();
    let formats = [
        ("ascii", "db/counts.ascii"),
        ("oascii", "db/counts.oascii"),
        ("binary", "db/counts.binary"),
        ("obinary", "db/counts.obinary"),
    ];
    let counted = |(format, file)| {
        let fixed = ["-in", "db/repeats", "-infmt", "blastdb", "-mk_counts"];
        ("windowmasker", [&fixed[..], &["-sformat", format, "-out", file]].concat())
    };
    recipe.before = formats.map(counted).to_vec();
    recipe
}

/// Returns recipes of databases of real pieces: of versions 4 and 5, with and without parsed
/// identifiers, and in several volumes.
fn real(bases: &Bases, parents: &Parents) -> Vec<Recipe> {
    let part = fasta::to_bytes(&part(bases, parents));
    vec![
        Recipe::new("part", part.clone(), &["-title", "Real pieces and relatives"]),
        Recipe::new("partp", part.clone(), &["-parse_seqids"]),
        Recipe::new("partv4", part.clone(), &["-parse_seqids", "-blastdb_version", "4"]),
        Recipe::new("plainv4", part.clone(), &["-blastdb_version", "4"]),
        Recipe::new("volumes", part.clone(), &["-max_file_sz", "25KB"]),
        Recipe::new("volumesp", part, &["-max_file_sz", "25KB", "-parse_seqids"]),
    ]
}

/// Returns 200 pieces of genomes, and six relatives of each of 12 queries and of the parents. The
/// relatives range from close to unrecognisable, on both strands. Some have ambiguities, and some
/// lie within an unrelated piece. A small database of them therefore has hits of all strengths.
pub(super) fn part(bases: &Bases, parents: &Parents) -> Vec<Record> {
    let mut rng = rng_for("part of bases");
    let mut records: Vec<Record> = (0..200)
        .map(|i| {
            let length = rng.usize(60..=1_500);
            Record::new(format!("piece{i} of a genome"), piece(&mut rng, bases, length))
        })
        .collect();
    let ordinary = ordinary(bases);
    let roots = ordinary.iter().take(12).chain(&parents.plain);
    for (i, root) in roots.enumerate() {
        for step in 0..6 {
            let mut seq = BASES.mutate(&mut rng, &root.seq, 0.01 + 0.055 * step as f64);
            if step % 3 == 2 {
                let host = piece(&mut rng, bases, 600);
                seq = synth::insert(&mut rng, &host, &seq);
            }
            if step % 4 == 1 {
                seq = BASES.odd_letters(&mut rng, &seq, 0.01);
            }
            let seq = either_strand(&mut rng, seq);
            records.push(Record::new(format!("relative_{i}_{step} of query {i}"), seq));
        }
    }
    records
}

/// Returns databases of descendants of known parents.
fn families(parents: &Parents) -> Vec<Recipe> {
    vec![
        Recipe::new("mutants", mutants(parents), &[]),
        Recipe::new("repeats", repeats(parents), &[]),
        Recipe::new("palindromes", palindromes(parents), &[]),
        Recipe::new("lowcomplex", low_complexity(parents), &[]),
        Recipe::new("duplicates", duplicates(parents), &[]),
        Recipe::new("ambiguous", ambiguous(parents), &[]),
    ]
}

/// Returns 1,300 mutated copies of one piece: more than the preliminary list holds for any small
/// `-max_target_seqs`.
fn mutants(parents: &Parents) -> Vec<u8> {
    let mut rng = rng_for("mutants of bases");
    let parent = synth::fragment(&mut rng, &parents.plain[0].seq, 250);
    let copy = |i: usize| {
        let copy = BASES.mutate(&mut rng, &parent, 0.01 + 0.25 * (i % 100) as f64 / 100.0);
        let copy = if i.is_multiple_of(7) { synth::fragment(&mut rng, &copy, 90) } else { copy };
        either_strand(&mut rng, copy)
    };
    numbered("mutant", (0..1_300).map(copy))
}

/// Returns 150 pieces with repeats, mutated and rearranged.
fn repeats(parents: &Parents) -> Vec<u8> {
    let mut rng = rng_for("repeats of bases");
    let made = |i: usize| {
        let parent = &parents.repeats[i % parents.repeats.len()].seq;
        let rate = rng.f64() * 0.2;
        let copy = BASES.mutate(&mut rng, parent, rate);
        let seq = match i % 5 {
            0 => BASES.tandem(&mut rng, &copy, 2, 0.05),
            1 => {
                let other = synth::fragment(&mut rng, &parents.plain[1].seq, 100);
                synth::insert(&mut rng, &copy, &other)
            }
            _ => copy,
        };
        either_strand(&mut rng, seq)
    };
    numbered("repeat", (0..150).map(made))
}

/// Returns sequences that equal their reverse complement, or nearly.
fn palindromes(parents: &Parents) -> Vec<u8> {
    let mut rng = rng_for("palindromes");
    let made = |i: usize| {
        let parent = &parents.plain[i % parents.plain.len()].seq;
        let half = BASES.mutate(&mut rng, &parent[..120], [0.0, 0.03][i % 2]);
        palindrome(&mut rng, &half)
    };
    numbered("palindrome", (0..40).map(made))
}

/// Returns mutated copies of pieces with low-complexity runs, and such runs alone.
fn low_complexity(parents: &Parents) -> Vec<u8> {
    let mut rng = rng_for("low bases");
    let made = |i: usize| match i % 10 {
        9 => {
            let length = rng.usize(20..=400);
            BASES.low_complexity(&mut rng, length)
        }
        k => BASES.mutate(&mut rng, &parents.low[i % parents.low.len()].seq, 0.02 * k as f64),
    };
    numbered("low", (0..120).map(made))
}

/// Returns twelve copies each of three pieces, every other one on the other strand. Only the order
/// by OID distinguishes them.
fn duplicates(parents: &Parents) -> Vec<u8> {
    let three = parents.plain.iter().take(3);
    let copies = (0..12).flat_map(|i| {
        let copy = move |p: &Record| {
            if i % 2 == 1 { synth::reverse_complement(&p.seq) } else { p.seq.clone() }
        };
        three.clone().map(copy)
    });
    numbered("copy", copies)
}

/// Returns sequences with ambiguities of all kinds: single ones, runs, at both ends, and sequences
/// of nothing else.
fn ambiguous(parents: &Parents) -> Vec<u8> {
    let mut rng = rng_for("ambiguous bases");
    let made = |i: usize| {
        let parent = &parents.plain[i % parents.plain.len()].seq;
        let copy = BASES.mutate(&mut rng, parent, 0.03);
        let run = b"N".repeat(rng.usize(1..=60));
        match i % 6 {
            0 => BASES.odd_letters(&mut rng, &copy, 0.002),
            1 => BASES.odd_letters(&mut rng, &copy, 0.05),
            2 => synth::insert(&mut rng, &copy, &run),
            3 => [&run[..], &copy, &run].concat(),
            4 => BASES.odd_letters(&mut rng, &copy, 0.3).to_ascii_lowercase(),
            _ => run,
        }
    };
    numbered("odd", (0..60).map(made))
}

/// Returns databases of a few, one, very short, and oddly named sequences.
fn small(bases: &Bases, parents: &Parents) -> Vec<Recipe> {
    let mut rng = rng_for("small bases");
    let plain = &parents.plain;
    let micro: Vec<_> = (1..=40).map(|n| synth::fragment(&mut rng, &plain[0].seq, n)).collect();
    let headers = headers(parents);
    let unrelated = Record::new("unrelated", piece(&mut rng, bases, 900));
    vec![
        Recipe::new("tiny", fasta::to_bytes(&plain[..3]), &["-title", "Three pieces"]),
        Recipe::new("single", fasta::to_bytes(&plain[..1]), &[]),
        Recipe::new("unrelated", fasta::to_bytes(&[unrelated]), &[]),
        Recipe::new("micro", numbered("micro", micro), &[]),
        Recipe::new("headers", headers.clone(), &[]),
        Recipe::new("headersp", headers, &["-parse_seqids"]),
    ]
}

/// Returns sequences with identifiers of all kinds, merged entries (joined by Control-A), long and
/// missing titles.
fn headers(parents: &Parents) -> Vec<u8> {
    let long = "words of a title that does not fit on one line ".repeat(6);
    let headers = [
        "gb|AF012345.2| a gene".to_string(),
        "gi|129295|gb|AF012346.1| with a GI".to_string(),
        "ref|NC_000002.1| reference".to_string(),
        "lcl|mine a local one".to_string(),
        "gnl|thedb|tag general".to_string(),
        "plainword title".to_string(),
        format!("longtitle {long}"),
        "notitle".to_string(),
        "first one\u{1}gb|AF099999.1| second\u{1}lcl|third third".to_string(),
        "specials <b> & \"quoted\" 'single' [Organism name]".to_string(),
        "emb|X00001.1| embl".to_string(),
        "pdb|1ABC|A a chain".to_string(),
    ];
    let mut rng = rng_for("headers of bases");
    let records = headers.into_iter().enumerate().map(|(i, header)| {
        let parent = &parents.plain[i % 3].seq;
        Record::new(header, BASES.mutate(&mut rng, parent, 0.015 * i as f64))
    });
    fasta::to_bytes(&records.collect::<Vec<_>>())
}

/// Returns two databases. One has a subject longer than 90,000 bases; BLAST+ aligns only windows of
/// it. The other has one longer than a segment, with parents across the border.
fn long(bases: &Bases, parents: &Parents) -> Vec<Recipe> {
    let mut rng = rng_for("long subjects");
    let mut like = |length: usize| synth::random(&mut rng, BASES.usual, length);
    let (start, end) = (like(60_000), like(70_000));
    let mut seams = like(PIECE + 40_000);
    let mut rng = rng_for("seams");
    let mut seq = start;
    for parent in &parents.plain {
        let copy = BASES.mutate(&mut rng, &parent.seq, 0.05);
        seq.extend(BASES.odd_letters(&mut rng, &copy, 0.01));
        let length = rng.usize(0..=4_000);
        seq.extend(piece(&mut rng, bases, length));
    }
    seq.extend(end);
    for (at, parent) in [PIECE - 900, PIECE - 60, PIECE + 5_000].into_iter().zip(&parents.plain) {
        put(&mut rng, &mut seams, at, &parent.seq);
    }
    vec![
        Recipe::new("windows", numbered("window", [parents.plain[0].seq.clone(), seq]), &[]),
        Recipe::new("seams", numbered("seam", [seams, parents.plain[1].seq.clone()]), &[]),
    ]
}

/// Overwrites the range of `seq` at `at` with a near copy of `copy`.
fn put(rng: &mut Rng, seq: &mut [u8], at: usize, copy: &[u8]) {
    let copy = BASES.mutate(rng, copy, 0.04);
    seq[at..at + copy.len()].copy_from_slice(&copy);
}
