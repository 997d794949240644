//! All steps from queries to final alignments, compared with BLAST+.
//!
//! `tests/golden.tsv` holds commands and, below each, its output by BLAST+ 2.12.0. The commands run
//! in `tests/`. All sequences are synthetic: mutated copies, repeats, low complexity, unusual
//! letters.

use std::borrow::Cow;
use std::ops::Range;

use fleetblast_seq::alphabet;
use fleetblast_seq::nucleotide::Packed;
use fleetblast_stats::release::Release;
use fleetblast_stats::scoring::{self, ScoringSystem};

use super::*;
use crate::hits::{Adjustment, Alignment, EditOp, SubjectHit};
use crate::params::{CompositionMode, HspFilter, ProteinParams};
use crate::query::QueryInput;
use crate::subjects::Subjects;

/// Name and letters of a sequence.
type Record = (String, Vec<u8>);

struct Database(Vec<Vec<u8>>);

impl Subjects for Database {
    fn residues(&self, oid: u32) -> &[u8] {
        &self.0[oid as usize]
    }

    fn bases(&self, _: u32) -> Packed<'_> {
        unreachable!("proteins")
    }

    fn true_letters(&self, _: u32, _: &[Range<u32>]) -> Cow<'_, [u8]> {
        unreachable!("proteins")
    }
}

struct WholeSubject<'a>(&'a [u8]);

impl SubjectLetters for WholeSubject<'_> {
    fn length(&self) -> u32 {
        self.0.len() as u32
    }

    fn letters_in(&self, range: Range<u32>) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.0[range.start as usize..range.end as usize])
    }
}

fn records(fasta: &str) -> Vec<Record> {
    let record = |text: &str| {
        let (name, rest) = text.split_once('\n').expect("a defline and residues");
        (name.to_owned(), rest.bytes().filter(|b| b.is_ascii_graphic()).collect())
    };
    fasta.split('>').skip(1).map(record).collect()
}

fn encode(records: &[Record]) -> Vec<Vec<u8>> {
    let code = |&letter: &u8| alphabet::encode(letter).expect("a letter of a protein");
    records.iter().map(|r| r.1.iter().map(code).collect()).collect()
}

fn defaults() -> ProteinParams {
    ProteinParams::blastp(
        &Release::V2_12_0,
        ScoringSystem::new(&Release::V2_12_0, "BLOSUM62", None, None).expect("a known matrix"),
    )
}

/// Parses the options of a command line, which follow `-outfmt '...'`.
fn parse(options: &str) -> ProteinParams {
    let mut params = defaults();
    let mut words = options.split_whitespace();
    while let Some(option) = words.next() {
        match option {
            "-use_sw_tback" => params.smith_waterman = true,
            "-subject_besthit" => params.common.subject_besthit = true,
            "-ungapped" => params.common.ungapped = true,
            _ => set(&mut params, option, words.next().expect("a value")),
        }
    }
    params
}

fn set(params: &mut ProteinParams, option: &str, value: &str) {
    let number: f64 = value.parse().unwrap_or(f64::NAN);
    match option {
        "-comp_based_stats" => {
            params.composition = match value {
                "0" => CompositionMode::Off,
                "1" => CompositionMode::Scale,
                "2" => CompositionMode::Conditional,
                _ => CompositionMode::Always,
            }
        }
        "-evalue" => params.common.evalue = number,
        "-max_target_seqs" => params.common.hitlist_size = number as usize,
        "-max_hsps" => params.common.max_hsps = Some(number as usize),
        "-qcov_hsp_perc" => params.common.qcov_hsp_perc = number,
        "-culling_limit" => params.common.filter = HspFilter::Culling(number as u32),
        "-best_hit_overhang" => {
            params.common.filter = HspFilter::BestHit { overhang: number, edge: 0.1 };
        }
        "-best_hit_score_edge" => {
            if let HspFilter::BestHit { edge, .. } = &mut params.common.filter {
                *edge = number;
            }
        }
        "-searchsp" => {
            params.common.search_space = Some(number as i64);
            params.finite_size = false;
        }
        "-matrix" => {
            params.scoring =
                ScoringSystem::new(&Release::V2_12_0, value, None, None).expect("a known matrix");
            params.threshold = scoring::suggested_word_threshold(value);
            params.window = scoring::suggested_two_hit_window(value);
        }
        _ => panic!("unknown option {option}"),
    }
}

fn search(params: &ProteinParams, queries: &[Record], subjects: &[Record]) -> Vec<Vec<SubjectHit>> {
    let database = Database(encode(subjects));
    let residues: usize = database.0.iter().map(Vec::len).sum();
    let shortest = database.0.iter().map(Vec::len).min().expect("subjects");
    let totals = DatabaseTotals {
        residues: residues as i64,
        space_residues: residues as i64,
        is_empty: false,
        sequences: database.0.len() as i64,
        stored_residues: 0,
        mean_length: 0,
        min_length: shortest.max(10) as i32,
    };
    let search = Search::new(Params::Protein(params.clone()), totals, Kernel::detect());
    let queries: Vec<Query> = encode(queries)
        .into_iter()
        .map(|letters| QueryInput { letters, ..Default::default() })
        .map(|input| search.query(&input))
        .collect();
    let grouping = search.grouping(&queries, &[queries.len()]);
    let searcher = search
        .searchers(&queries, &grouping, GroupDivision::Few)
        .groups
        .next()
        .expect("a searcher")();
    let oids = 0..database.0.len() as u32;
    let found = searcher.search(&database, oids, &mut SearchScratch::default());
    let mut selector = search.selector(&queries);
    let chosen = searcher.merger().select_for_traceback(found);
    let aligned = |(query, hits): (usize, &Vec<PrelimHit>)| {
        let aligner = search.aligner(&queries, &grouping, query);
        let mut scratch = aligner.scratch();
        let align = |hit: &PrelimHit| {
            Some(aligner.align(&WholeSubject(database.residues(hit.oid)), hit, &mut scratch))
        };
        hits.iter().map(align).collect()
    };
    let candidates = chosen.iter().enumerate().map(aligned).collect();
    selector.replay(&chosen, candidates);
    selector.finish()
}

/// Formats the columns of an alignment like BLAST+'s `btop`.
fn btop(query: &[u8], subject: &[u8], alignment: &Alignment) -> String {
    let mut q = query[alignment.query.start as usize..].iter();
    let mut s = subject[alignment.subject.start as usize..].iter();
    let (mut text, mut same) = (String::new(), 0);
    for edit in &alignment.edits {
        for _ in 0..edit.len {
            let a = if edit.op == EditOp::GapInQuery { b'-' } else { *q.next().expect("query") };
            let b =
                if edit.op == EditOp::GapInSubject { b'-' } else { *s.next().expect("subject") };
            if a == b {
                same += 1;
                continue;
            }
            if same > 0 {
                text += &std::mem::take(&mut same).to_string();
            }
            text.extend([char::from(a), char::from(b)]);
        }
    }
    if same > 0 {
        text += &same.to_string();
    }
    text
}

/// Formats an e-value like tabular output.
fn evalue_text(evalue: f64) -> String {
    match evalue {
        e if e < 1e-180 => "0.0".to_owned(),
        e if e < 0.0009 => {
            let text = format!("{e:.2e}");
            let (mantissa, exponent) = text.split_once("e-").expect("a negative exponent");
            format!("{mantissa}e-{exponent:0>2}")
        }
        e if e < 0.1 => format!("{e:.3}"),
        e if e < 1.0 => format!("{e:.2}"),
        e if e < 10.0 => format!("{e:.1}"),
        e => format!("{e:.0}"),
    }
}

fn bits_text(bits: f64) -> String {
    if bits > 99.9 { format!("{:3}", bits as i64) } else { format!("{bits:4.1}") }
}

fn lines(options: &str) -> Vec<String> {
    let queries = records(include_str!("tests/query.fa"));
    let subjects = records(include_str!("tests/subjects.fa"));
    let mut lines = Vec::new();
    for (query, hits) in queries.iter().zip(search(&parse(options), &queries, &subjects)) {
        for hit in &hits {
            let subject = &subjects[hit.oid as usize];
            for a in &hit.alignments {
                let columns = btop(&query.1, &subject.1, a);
                lines.push(format!(
                    "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{columns}",
                    query.0,
                    subject.0,
                    a.score,
                    a.query.start + 1,
                    a.query.end,
                    a.subject.start + 1,
                    a.subject.end,
                    evalue_text(a.evalue),
                    bits_text(a.bit_score),
                ));
            }
        }
    }
    lines
}

#[test]
fn every_mode_gives_the_lines_of_blast() {
    let golden = include_str!("tests/golden.tsv");
    let mut cases = 0;
    for case in golden.split("# ").skip(1) {
        let (command, expected) = case.split_once('\n').expect("a command line and its output");
        let options = command.rsplit_once("btop'").expect("an output format").1;
        let expected: Vec<&str> = expected.lines().collect();
        let found = lines(options);
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found, expected, "line {} of{options}", i + 1);
        }
        assert_eq!(found.len(), expected.len(), "number of lines of{options}");
        cases += 1;
    }
    assert_eq!(cases, 14);
}

#[test]
fn an_adjustment_is_reported_with_each_alignment() {
    let queries = records(include_str!("tests/query.fa"));
    let subjects = records(include_str!("tests/subjects.fa"));
    let kinds = |options: &str| -> Vec<Adjustment> {
        let hits = search(&parse(options), &queries, &subjects);
        hits.iter().flatten().flat_map(|h| &h.alignments).map(|a| a.adjustment).collect()
    };
    for (mode, expected) in
        [("0", Adjustment::None), ("1", Adjustment::Scaled), ("3", Adjustment::Matrix)]
    {
        let found = kinds(&format!("-comp_based_stats {mode}"));
        assert!(!found.is_empty(), "no alignment in mode {mode}");
        assert!(found.iter().all(|&kind| kind == expected), "mode {mode}: {found:?}");
    }
}

#[test]
fn candidates_do_not_depend_on_what_was_aligned_before() {
    let params = parse("-comp_based_stats 2 -evalue 1000");
    let queries = encode(&records(include_str!("tests/query.fa")));
    let subjects = encode(&records(include_str!("tests/subjects.fa")));
    let totals = DatabaseTotals {
        residues: 4584,
        space_residues: 4584,
        is_empty: false,
        sequences: 25,
        stored_residues: 0,
        mean_length: 0,
        min_length: 64,
    };
    let search = Search::new(Params::Protein(params), totals, Kernel::detect());
    let query = search.query(&QueryInput { letters: queries[0].clone(), ..Default::default() });
    let queries = [query];
    let grouping = search.grouping(&queries, &[1]);
    let searcher = search
        .searchers(&queries, &grouping, GroupDivision::Few)
        .groups
        .next()
        .expect("a searcher")();
    let database = Database(subjects);
    let found = searcher.search(&database, 0..25, &mut SearchScratch::default());
    let aligner = search.aligner(&queries, &grouping, 0);
    let mut used = aligner.scratch();
    for hit in &searcher.merger().select_for_traceback(found)[0] {
        let subject = WholeSubject(database.residues(hit.oid));
        let fresh = aligner.align(&subject, hit, &mut aligner.scratch());
        assert_eq!(aligner.align(&subject, hit, &mut used), fresh, "oid {}", hit.oid);
    }
}
