//! Compares reports of synthetic searches with those of BLAST+ 2.12.0, byte for byte. The hits of
//! the searches are read from BLAST+'s output.

mod common;
mod nucleotides;

use common::bases::{LetterKind, Program, Search};
use common::synth::{self, RandomSequences};
use common::{Case, Entry, Run, Subjects, output, seg_yes, tabular};
use fastrand::Rng;
use fleetblast_oracle::{oracle, sample};
use fleetblast_report::columns::Columns;
use fleetblast_report::model::{Format, HitOrder, HspOrder, OutputOptions};
use fleetblast_report::model::{Notation, Output2};

const ALL: &str = "qseqid qgi qacc qaccver qlen sseqid sallseqid sgi sallgi sacc saccver sallacc slen \
    qstart qend sstart send qseq sseq evalue bitscore score length pident nident mismatch positive \
    gapopen gaps ppos frames qframe sframe btop staxid staxids stitle salltitles sstrand qcovs \
    qcovhsp qcovus";

fn inputs(seed: u64) -> (Vec<Entry>, Vec<Entry>) {
    let mut random = Rng::with_seed(seed);
    let queries = synth::queries(&mut random);
    let subjects = synth::subjects(&queries, &mut random);
    (queries, subjects)
}

fn case(seed: u64, kind: Subjects) -> Case {
    let (queries, subjects) = inputs(seed);
    Case::new(queries, subjects, kind)
}

/// Checks the formats whose bytes do not depend on details of the options. A test run checks a
/// quarter of them, which `FLEETBLAST_SAMPLE` selects.
fn check_formats(run: &Run) {
    let pairwise = || output(Format::Pairwise);
    let html = OutputOptions { html: true, ..pairwise() };
    let gis = OutputOptions { show_gis: true, ..pairwise() };
    let all = OutputOptions { show_gis: true, hit_order: Some(HitOrder::Evalue), ..html.clone() };
    let columns = format!("6 {ALL}");
    let commented = Format::Commented(Columns::parse("std qcovs sscinames staxids", b"\t"));
    let commas = Format::Tabular(Columns::parse("sseqid std", b","));
    let formats = [
        (vec!["0"], pairwise()),
        (vec!["0", "-html"], html),
        (vec!["0", "-show_gis"], gis),
        (vec!["0", "-html", "-show_gis", "-sorthits", "0"], all),
        (vec!["5"], output(Format::Xml)),
        (vec!["15"], output(Format::Output2(Output2::new(Notation::Json)))),
        (vec!["16"], output(Format::Output2(Output2::new(Notation::Xml)))),
        (vec!["6"], output(tabular(""))),
        (vec![&columns], output(tabular(ALL))),
        (vec!["7 std qcovs sscinames staxids"], output(commented)),
        (vec!["10 sseqid std"], output(commas)),
    ];
    for (options, output) in sample(4, formats) {
        run.check(&[&["-outfmt"], &options[..]].concat(), output);
    }
}

#[test]
fn plain_database() {
    if oracle().is_some() {
        check_formats(&Run::new("plain", case(1, Subjects::Plain)));
    }
}

#[test]
fn parsed_database() {
    if oracle().is_some() {
        check_formats(&Run::new("parsed", case(2, Subjects::Parsed)));
    }
}

#[test]
fn fasta_subjects() {
    if oracle().is_some() {
        check_formats(&Run::new("fasta", case(3, Subjects::Fasta)));
    }
}

#[test]
fn parsed_definition_lines() {
    if oracle().is_none() {
        return;
    }
    for (name, kind) in [("lines-db", Subjects::Parsed), ("lines-fasta", Subjects::Fasta)] {
        let mut case = case(4, kind);
        case.parse_deflines = true;
        case.queries.truncate(4);
        // BLAST+ does not use the FASTA sequence of an entry with a trace identifier, but another
        // one.
        case.subjects.retain(|(title, _)| !title.starts_with("gnl|ti|"));
        case.queries[0].0 = "gi|55|gb|AAC99999.3| of genbank".into();
        check_formats(&Run::new(name, case));
    }
}

#[test]
fn masked_queries() {
    if oracle().is_none() {
        return;
    }
    for (name, soft, lower) in [("hard", false, true), ("soft", true, false)] {
        let mut case = case(5, Subjects::Plain);
        case.options = vec!["-seg", "yes"];
        case.protein().seg = seg_yes();
        if soft {
            case.options.extend(["-soft_masking", "true"]);
            case.protein().common.soft_masking = true;
        }
        if lower {
            case.options.push("-lcase_masking");
            case.protein().common.lcase_masking = true;
        }
        let run = Run::new(name, case);
        check_formats(&run);
        for line_length in [1, 7, 45] {
            let length = line_length.to_string();
            let options = ["-outfmt", "0", "-html", "-line_length", &length];
            run.check(
                &options,
                OutputOptions { html: true, line_length, ..output(Format::Pairwise) },
            );
        }
    }
}

#[test]
fn masked_subjects() {
    if oracle().is_none() {
        return;
    }
    for (name, masking) in [("lower", true), ("lower-unmasked", false)] {
        let mut case = case(13, Subjects::Fasta);
        for (_, letters) in &mut case.subjects {
            let (from, to) = (letters.len() / 2, letters.len() * 3 / 5);
            letters[from..to].make_ascii_lowercase();
        }
        if masking {
            case.options = vec!["-lcase_masking"];
            case.protein().common.lcase_masking = true;
        }
        let run = Run::new(name, case);
        let shown = String::from_utf8_lossy(&run.blast(&["-outfmt", "0"]))
            .lines()
            .any(|line| line.starts_with("Sbjct") && line[5..].contains(char::is_lowercase));
        assert_eq!(shown, masking);
        check_formats(&run);
        let options = ["-outfmt", "0", "-html", "-line_length", "7"];
        let narrow = OutputOptions { html: true, line_length: 7, ..output(Format::Pairwise) };
        run.check(&options, narrow);
    }
}

#[test]
fn given_search_space() {
    if oracle().is_none() {
        return;
    }
    let mut case = case(14, Subjects::Plain);
    case.options = vec!["-searchsp", "1000000"];
    case.protein().common.search_space = Some(1_000_000);
    case.protein().finite_size = false;
    let run = Run::new("space", case);
    run.check(&["-outfmt", "0"], output(Format::Pairwise));
    run.check(&["-outfmt", "5"], output(Format::Xml));
}

#[test]
fn line_lengths() {
    if oracle().is_none() {
        return;
    }
    let run = Run::new("lines", case(6, Subjects::Plain));
    for line_length in [1, 2, 3, 10, 59, 61, 100, 200] {
        let length = line_length.to_string();
        run.check(
            &["-outfmt", "0", "-line_length", &length],
            OutputOptions { line_length, ..output(Format::Pairwise) },
        );
    }
}

#[test]
fn orders() {
    if oracle().is_none() {
        return;
    }
    let run = Run::new("orders", case(7, Subjects::Parsed));
    let hits = [
        HitOrder::Evalue,
        HitOrder::BitScore,
        HitOrder::TotalScore,
        HitOrder::Identity,
        HitOrder::Coverage,
    ];
    for (i, hit_order) in hits.into_iter().enumerate() {
        run.check(
            &["-outfmt", "0", "-sorthits", &i.to_string()],
            OutputOptions { hit_order: Some(hit_order), ..output(Format::Pairwise) },
        );
    }
    // BLAST+ sorts subjects before their alignments.
    for (i, hsp_order) in [(1, HspOrder::Score), (2, HspOrder::QueryStart)] {
        run.check(
            &["-outfmt", "0", "-sorthits", "4", "-sorthsps", &i.to_string()],
            OutputOptions {
                hit_order: Some(HitOrder::Coverage),
                hsp_order,
                ..output(Format::Pairwise)
            },
        );
    }
    let hsps = [
        HspOrder::Evalue,
        HspOrder::Score,
        HspOrder::QueryStart,
        HspOrder::Identity,
        HspOrder::SubjectStart,
    ];
    for (i, hsp_order) in hsps.into_iter().enumerate() {
        run.check(
            &["-outfmt", "0", "-sorthsps", &i.to_string()],
            OutputOptions { hsp_order, ..output(Format::Pairwise) },
        );
    }
}

#[test]
fn numbers_of_descriptions_and_alignments() {
    if oracle().is_none() {
        return;
    }
    let run = Run::new("numbers", case(8, Subjects::Plain));
    for (num_descriptions, num_alignments) in [(0, 500), (3, 500), (500, 0), (500, 2), (0, 500)] {
        let (d, a) = (num_descriptions.to_string(), num_alignments.to_string());
        run.check(
            &["-outfmt", "0", "-num_descriptions", &d, "-num_alignments", &a],
            OutputOptions { num_descriptions, num_alignments, ..output(Format::Pairwise) },
        );
    }
}

#[test]
fn part_of_a_query() {
    if oracle().is_none() {
        return;
    }
    for kind in [Subjects::Plain, Subjects::Fasta] {
        let mut case = case(9, kind);
        case.queries.truncate(1);
        case.query_range = Some(20..150);
        case.options = vec!["-seg", "yes"];
        case.protein().seg = seg_yes();
        check_formats(&Run::new(&format!("part-{kind:?}"), case));
    }
}

#[test]
fn ungapped() {
    if oracle().is_none() {
        return;
    }
    let mut case = case(10, Subjects::Plain);
    case.options = vec!["-ungapped", "-comp_based_stats", "F"];
    case.protein().common.ungapped = true;
    let run = Run::new("ungapped", case);
    run.check(&["-outfmt", "0"], output(Format::Pairwise));
    run.check(&["-outfmt", "6"], output(tabular("")));
}

#[test]
fn many_definition_lines() {
    if oracle().is_none() {
        return;
    }
    let letters = Rng::with_seed(12).protein(80);
    let lines: Vec<_> = (0..10).map(|i| format!("lcl|line{i} title {i} <of> ten")).collect();
    let subjects = vec![(lines.join("\u{1}"), letters.clone())];
    let queries = vec![("&lt; (a query)  with,marks;".to_string(), letters)];
    check_formats(&Run::new("ten", Case::new(queries, subjects, Subjects::Parsed)));
}

#[test]
fn queries_without_statistics() {
    if oracle().is_none() {
        return;
    }
    let mut case = case(11, Subjects::Plain);
    let odd = [("xx all X", "XXXXXXXXXXXXXXXX"), ("none at all", ""), ("one", "M"), ("", "MKVLA")];
    case.queries.truncate(1);
    case.queries.extend(odd.map(|(title, letters)| (title.to_string(), letters.to_string())));
    check_formats(&Run::new("odd", case));
}

#[test]
fn batches_without_statistics() {
    if oracle().is_none() {
        return;
    }
    for (name, options) in
        [("gapped", &[][..]), ("ungapped", &["-ungapped", "-comp_based_stats", "F"])]
    {
        // Alone, this query of `X` cannot be searched. With a searchable query before or after it,
        // the batch can be searched.
        for good in [None, Some(0), Some(1)] {
            let mut case = case(15, Subjects::Plain);
            let searchable = case.queries.swap_remove(0);
            case.queries = vec![("all X".into(), "X".repeat(20))];
            if let Some(at) = good {
                case.queries.insert(at, searchable);
            }
            case.options = options.to_vec();
            case.protein().common.ungapped = !options.is_empty();
            let run = Run::new(&format!("batch-{name}-{good:?}"), case);
            run.check(&["-outfmt", "0"], output(Format::Pairwise));
            run.check(&["-outfmt", "5"], output(Format::Xml));
            run.check(&["-outfmt", "7"], output(Format::Commented(Columns::parse("", b"\t"))));
        }
    }
}

#[test]
fn many_seeds() {
    if oracle().is_none() {
        return;
    }
    for seed in sample(2, 20..24) {
        let run = Run::new(&format!("seed-{seed}"), case(seed, Subjects::Parsed));
        run.check(&["-outfmt", "0"], output(Format::Pairwise));
        run.check(&["-outfmt", "5"], output(Format::Xml));
        run.check(&["-outfmt", &format!("6 {ALL}")], output(tabular(ALL)));
    }
}

/// Columns that show the effects of strands and frames. A report can print them without the scoring
/// parameters of the search.
const PLACES: &str = "qseqid sseqid qlen slen qstart qend sstart send qframe sframe frames sstrand qseq sseq btop \
    length nident pident mismatch gapopen gaps qcovs qcovhsp evalue bitscore score";

const BLASTN: Program = Program {
    name: "blastn",
    options: &["-dust", "no"],
    query: LetterKind::Bases,
    subject: LetterKind::Bases,
};
const BLASTX: Program = Program {
    name: "blastx",
    options: &["-seg", "no"],
    query: LetterKind::Codons,
    subject: LetterKind::Residues,
};
const TBLASTN: Program = Program {
    name: "tblastn",
    options: &["-seg", "no"],
    query: LetterKind::Residues,
    subject: LetterKind::Codons,
};
const TBLASTX: Program = Program {
    name: "tblastx",
    options: &["-seg", "no"],
    query: LetterKind::Codons,
    subject: LetterKind::Codons,
};

/// Compares the lines that depend on strands and frames: rows of tables, rows of alignments, and
/// XML elements.
fn check_places(search: &Search) {
    search.check(&["-outfmt", &format!("6 {PLACES}")], output(tabular(PLACES)), |_| true);
    let is_row = |line: &str| line.starts_with("Query  ") || line.starts_with("Sbjct  ");
    search.check(&["-outfmt", "0"], output(Format::Pairwise), is_row);
    let is_place = |line: &str| {
        let ends = ["-from>", "-to>", "-frame>", "Hsp_qseq>", "Hsp_hseq>", "-len>", "gaps>"];
        ends.iter().any(|end| line.ends_with(end) && line.contains("Hsp_"))
    };
    search.check(&["-outfmt", "5"], output(Format::Xml), is_place);
    for (i, hsp_order) in [(2, HspOrder::QueryStart), (4, HspOrder::SubjectStart)] {
        let ordered = OutputOptions { hsp_order, line_length: 7, ..output(Format::Pairwise) };
        let options = ["-outfmt", "0", "-line_length", "7", "-sorthsps", &i.to_string()];
        search.check(&options, ordered, is_row);
    }
}

#[test]
fn strands_and_frames() {
    if oracle().is_none() {
        return;
    }
    for (program, least) in [(BLASTN, 2), (BLASTX, 6), (TBLASTN, 6), (TBLASTX, 30)] {
        let search = Search::new(program, [None, None]);
        let frames = search.frames();
        assert!(frames.len() >= least, "{}: {frames:?}", program.name);
        check_places(&search);
    }
}

#[test]
fn strands_and_frames_of_parts() {
    if oracle().is_none() {
        return;
    }
    for (program, query, subject) in [
        (BLASTN, 2..260, 4..290),
        (BLASTX, 2..260, 1..81),
        (TBLASTN, 3..85, 4..290),
        (TBLASTX, 2..260, 4..290),
    ] {
        check_places(&Search::new(program, [Some(query), Some(subject)]));
    }
}
