//! Makes the query sets that the tables of blastn name.

use std::iter;

use super::LISTING;
use super::parents::{Parents, either_strand, palindrome, piece};
use crate::bases::Bases;
use crate::fasta::{self, Record};
use crate::fixtures::{numbered, rng_for, titled};
use crate::rng::Draw;
use crate::synth::{self, BASES};
use fastrand::Rng;

/// Number of bases of a segment, into which BLAST+ cuts a long subject.
pub(super) const PIECE: usize = 5_000_000;

/// Returns the name and the file contents of every query set.
pub fn all(bases: &Bases, parents: &Parents) -> Vec<(&'static str, Vec<u8>)> {
    let mut sets = real(bases);
    sets.extend(short(bases));
    sets.extend(long(bases, parents));
    sets.extend(seam());
    sets.extend(special(bases, parents));
    sets.extend(lower_case_sets(bases, parents));
    sets.extend(odd_files(parents));
    sets.push(("titled", titled::rename_records(&ordinary(bases), LISTING.molecule)));
    sets
}

/// Returns up to 40 queries of at least 100 bases. Long ones are cut to 2,500.
pub fn ordinary(bases: &Bases) -> Vec<Record> {
    let usual = bases.queries.iter().filter(|query| query.seq.len() >= 100);
    let cut = |query: &Record| {
        Record::new(query.header.clone(), &query.seq[..query.seq.len().min(2_500)])
    };
    usual.take(40).map(cut).collect()
}

fn real(bases: &Bases) -> Vec<(&'static str, Vec<u8>)> {
    let ordinary = ordinary(bases);
    let is_odd = |query: &&Record| query.seq.iter().any(|base| !b"ACGT".contains(base));
    let strange: Vec<Record> = ordinary.iter().filter(is_odd).take(8).cloned().collect();
    let mut rng = rng_for("members of genomes");
    let members = (0..5).map(|_| piece(&mut rng, bases, 700));
    let hundred = bases.queries.iter().filter(|query| query.seq.len() <= 6_000).take(100);
    vec![
        ("one", fasta::to_bytes(&ordinary[..1])),
        ("few", fasta::to_bytes(&ordinary[1..ordinary.len().min(5)])),
        ("ordinary", fasta::to_bytes(&ordinary[..ordinary.len().min(15)])),
        ("hundred", fasta::to_bytes(&hundred.cloned().collect::<Vec<_>>())),
        ("strange", fasta::to_bytes(&strange)),
        ("members", numbered("member", members)),
    ]
}

/// Makes sets of primers, reads, and very short queries.
fn short(bases: &Bases) -> Vec<(&'static str, Vec<u8>)> {
    let mut rng = rng_for("primers");
    let rate = |i: usize| if i.is_multiple_of(2) { 0.0 } else { 0.05 };
    let mut part = |length: usize, rate: f64| {
        let part = piece(&mut rng, bases, length);
        BASES.mutate(&mut rng, &part, rate)
    };
    let primers: Vec<_> = (0..14).map(|i| part(14 + i, rate(i))).collect();
    let reads: Vec<_> = (0..60).map(|i| part(150, rate(i))).collect();
    // BLAST+ derives the size of a batch from the hits of the previous one. This set makes many
    // batches.
    let batches: Vec<_> = (0..240).map(|i| part(100, rate(i))).collect();
    let micro = (1..=16).map(|length| part(length, 0.0)).collect::<Vec<_>>();
    vec![
        ("short", numbered("primer", primers)),
        ("reads", numbered("read", reads)),
        ("batches", numbered("read", batches)),
        ("micro", numbered("micro", micro)),
    ]
}

/// Makes sets of queries of thousands of bases with relatives of the parents, and of over a million
/// bases, which BLAST+ cuts in chunks.
fn long(bases: &Bases, parents: &Parents) -> Vec<(&'static str, Vec<u8>)> {
    let mut rng = rng_for("long queries");
    let mut made = |length: usize| {
        let mut seq = Vec::new();
        while seq.len() < length {
            let size = rng.usize(100..=3_000);
            seq.extend(piece(&mut rng, bases, size));
            let parent = rng.pick(&parents.plain);
            let copy = BASES.mutate(&mut rng, &parent.seq, 0.08);
            seq.extend(either_strand(&mut rng, copy));
        }
        seq.truncate(length);
        seq
    };
    let (genomic, middle, neighbour) = (made(30_000), made(9_000), made(400));
    let pieces = made(2_100_000);
    // The reports of short queries reveal which other queries are in their batch.
    let lengths = [1_500; 5].into_iter().chain([30]);
    let lowered: Vec<_> = lengths.cycle().take(16).map(&mut made).collect();
    vec![
        ("lowered", numbered("lowered", lowered)),
        ("long", numbered("long", [genomic])),
        (
            "long_mixed",
            numbered("mixed", [neighbour, middle.clone(), parents.plain[0].seq.clone()]),
        ),
        ("pieces_masked", numbered("pieces", [masked_pieces(pieces.clone(), parents)])),
        ("pieces", numbered("pieces", [parents.plain[0].seq.clone(), pieces, middle])),
    ]
}

/// Puts masks everywhere in a sequence of over a million bases: lower case, and low complexity
/// around ambiguous letters.
fn masked_pieces(mut seq: Vec<u8>, parents: &Parents) -> Vec<u8> {
    let mut rng = rng_for("masked pieces");
    for at in (500..seq.len() - 2_000).step_by(1_500) {
        let run = rng.usize(1..=90);
        seq[at..at + run].make_ascii_lowercase();
        if rng.chance(0.2) {
            let low = rng.pick(&parents.low);
            let low = BASES.odd_letters(&mut rng, &low.seq[..low.seq.len().min(300)], 0.1);
            seq[at + 100..at + 100 + low.len()].copy_from_slice(&low);
        }
    }
    seq
}

/// Makes a set with a long subject that has soft masks where BLAST+ cuts it, and a set of queries
/// from that range.
fn seam() -> Vec<(&'static str, Vec<u8>)> {
    let mut rng = rng_for("masked seam");
    let mut seam = synth::random(&mut rng, BASES.usual, PIECE + 300);
    let across = seam[PIECE - 120..].to_vec();
    let other = synth::reverse_complement(&across);
    for masked in [PIECE - 80..PIECE - 70, PIECE - 60..seam.len()] {
        seam[masked].make_ascii_lowercase();
    }
    vec![("seam_lower", numbered("seam", [seam])), ("across", numbered("across", [across, other]))]
}

/// Makes sets with low complexity, repeats, palindromes, ambiguity letters, lower case, no hits,
/// and duplicates.
fn special(bases: &Bases, parents: &Parents) -> Vec<(&'static str, Vec<u8>)> {
    let mut rng = rng_for("special queries");
    let plain = &parents.plain;
    let mut low: Vec<Vec<u8>> = parents.low.iter().map(|p| p.seq.clone()).collect();
    low.extend([b"AT".repeat(40), b"N".repeat(60), [&b"N".repeat(40)[..], &plain[0].seq].concat()]);
    low.extend([b"A".repeat(70), [&b"ACACACAC".repeat(9)[..], &plain[1].seq].concat()]);
    let mut odd = |rate| {
        let of = |p: &Record| BASES.odd_letters(&mut rng, &p.seq, rate);
        plain.iter().take(5).map(of).collect::<Vec<_>>()
    };
    let (ambiguous, very) = (odd(0.02), odd(0.15));
    let rich = plain.iter().take(4).map(|p| {
        let run = b"N".repeat(20);
        (0..4).fold(p.seq.clone(), |seq, _| synth::insert(&mut rng, &seq, &run))
    });
    let rich: Vec<_> = rich.collect();
    let lower: Vec<_> =
        plain.iter().take(5).map(|p| synth::lower_case_runs(&mut rng, &p.seq)).collect();
    let palindromes: Vec<_> =
        plain.iter().take(4).map(|p| palindrome(&mut rng, &p.seq[..120])).collect();
    let nothing: Vec<_> = [40, 90, 200].map(|n| synth::random(&mut rng, BASES.usual, n)).to_vec();
    let relatives: Vec<_> = (0..6)
        .map(|i| {
            let copy = BASES.mutate(&mut rng, &plain[i % plain.len()].seq, 0.12);
            either_strand(&mut rng, copy)
        })
        .collect();
    let query = ordinary(bases)[0].clone();
    let other = Record::new("other strand", synth::reverse_complement(&plain[0].seq));
    vec![
        ("lowcomplex", numbered("low", low)),
        ("repeats", fasta::to_bytes(&parents.repeats)),
        ("plain", fasta::to_bytes(&plain[..3])),
        ("parent", fasta::to_bytes(&plain[..1])),
        ("ambiguous", numbered("ambiguous", ambiguous)),
        ("very_ambiguous", numbered("ambiguous", very)),
        ("n_rich", numbered("rich", rich)),
        ("lower", numbered("lower", lower)),
        ("palindromes", numbered("palindrome", palindromes)),
        ("nothing", numbered("nothing", nothing)),
        ("relatives", numbered("relative", relatives)),
        ("duplicates", fasta::to_bytes(&[query.clone(), query, plain[0].clone(), other])),
        ("unknown_first", numbered("unknown", unknown_first(plain))),
    ]
}

/// Returns a query of `N` only, and then short queries. The first has no statistics, but counts
/// when a lookup table is chosen.
fn unknown_first(plain: &[Record]) -> Vec<Vec<u8>> {
    let short = plain.iter().take(3).map(|p| p.seq[..30].to_vec());
    iter::once(b"N".repeat(100)).chain(short).collect()
}

/// Makes sets with queries in lower case only. If lower case is masked, such a query leaves nothing
/// to search.
fn lower_case_sets(bases: &Bases, parents: &Parents) -> Vec<(&'static str, Vec<u8>)> {
    let plain = &parents.plain;
    let masked = plain[0].seq.to_ascii_lowercase();
    let other = plain[1].seq.clone();
    let long = piece(&mut rng_for("masked batch"), bases, 7_000);
    let batches =
        [masked.clone(), other.clone(), long.clone(), masked.clone(), long.to_ascii_lowercase()];
    vec![
        ("masked", numbered("masked", [masked.clone()])),
        ("masked_first", numbered("masked", [masked.clone(), Vec::new(), other.clone()])),
        ("masked_last", numbered("masked", [other, Vec::new(), masked])),
        ("masked_batches", numbered("masked", batches)),
    ]
}

/// Makes sets whose files have unusual formatting.
fn odd_files(parents: &Parents) -> Vec<(&'static str, Vec<u8>)> {
    let text = |rng: &mut Rng, at: usize| {
        let part = synth::fragment(rng, &parents.plain[at].seq, 300);
        String::from_utf8_lossy(&part).into_owned()
    };
    let mut rng = rng_for("odd files");
    let (seq, other) = (text(&mut rng, 0), text(&mut rng, 1));
    let words = "a very long title that goes on and on ".repeat(12);
    let long_word = "unbroken".repeat(30);
    let ids = format!(
        ">gi|129296|gb|AF054321.1| a gene\n{seq}\n>lcl|local1 mine\n{other}\n\
         >gnl|thedb|tag7 general\n{seq}\n>ref|NC_000001.1| reference\n{other}\n"
    );
    let rna = seq.replace('T', "U");
    vec![
        ("bare", format!("{seq}\n").into_bytes()),
        ("empty", Vec::new()),
        ("empty_record", format!(">nothing\n>full\n{seq}\n>\n{other}\n").into_bytes()),
        ("only_empty", b">nothing\n>again\n".to_vec()),
        ("nine", format!(">nine\n{}\n>full\n{seq}\n", &seq[..9]).into_bytes()),
        ("not_fasta", b"{ \"this\": 1, \"is\": [\"not\", \"a\", \"sequence\"] }\n".to_vec()),
        ("crlf", format!(">q1 dos\r\n{seq}\r\n>q2\r\n\r\n{other}\r\n").into_bytes()),
        ("titles", format!(">q {words}\n{seq}\n>{long_word} {words}\n{other}\n").into_bytes()),
        ("specials", format!(">a<b> & \"c\" 'd'\te\n{seq}\n>x|y|z end  \n{other}\n").into_bytes()),
        ("no_end", format!(">q no line end at the end\n{seq}").into_bytes()),
        ("ids", ids.into_bytes()),
        ("digits", format!(">q numbered\n1 {seq} 60\n61 {other}\n").into_bytes()),
        ("invalid", format!(">q\nACG1T@TIA!G{seq}\n>r\n{other}-{seq}\n").into_bytes()),
        ("rna", format!(">u\n{rna}\n>x\n{}XX{other}\n", &seq[..40]).into_bytes()),
        ("protein", format!(">p\n{}\n", "MKVLAATREWQHGFDSPINYC".repeat(9)).into_bytes()),
        ("untitled", format!(">\n{seq}\n>\n{other}\n").into_bytes()),
    ]
}
