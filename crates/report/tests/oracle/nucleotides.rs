//! Compares reports of `blastn` with those of BLAST+.

use fleetblast_oracle::{oracle, sample};
use fleetblast_report::model::{Format, HitOrder, HspOrder, OutputOptions, SamOptions};
use fleetblast_seq::dust::DustParams;
use fleetblast_stats::nucleotide::NucleotideScoring;

use crate::check_formats;
use crate::common::synth;
use crate::common::{Case, Run, Subjects, output, tabular};
use fastrand::Rng;

fn case(seed: u64, kind: Subjects) -> Case {
    let mut random = Rng::with_seed(seed);
    let queries = synth::base_queries(&mut random);
    let subjects = synth::base_subjects(&queries, &mut random);
    Case::of_bases(queries, subjects, kind)
}

/// Checks all formats, including SAM.
fn check_all(run: &Run) {
    check_formats(run);
    for words in ["", "SQ", "SR", "SQ SR"] {
        let outfmt = format!("17 {words}");
        let expected = String::from_utf8(run.blast(&["-outfmt", &outfmt])).unwrap();
        let command = expected.split("\tCL:").nth(1).unwrap().split("\tPN:").next().unwrap();
        let sam = SamOptions::parse(words, command.as_bytes());
        run.check(&["-outfmt", &outfmt], output(Format::Sam(sam)));
    }
}

#[test]
fn megablast() {
    if oracle().is_none() {
        return;
    }
    for kind in [Subjects::Plain, Subjects::Parsed, Subjects::Fasta] {
        check_all(&Run::new(&format!("mega-{kind:?}"), case(41, kind)));
    }
}

#[test]
fn parsed_definition_lines() {
    if oracle().is_none() {
        return;
    }
    for kind in [Subjects::Parsed, Subjects::Fasta] {
        let mut case = case(42, kind);
        case.parse_deflines = true;
        // BLAST+ does not use the FASTA sequence of an entry with a trace identifier, but another
        // one.
        case.subjects.retain(|(title, _)| !title.starts_with("gnl|ti|"));
        case.queries[0].0 = "gi|55|gb|AAC99999.3| of genbank".into();
        check_all(&Run::new(&format!("mega-lines-{kind:?}"), case));
    }
}

/// A task, further options, its scores and gap costs (reward, penalty, open, extend), whether it is
/// greedy, and the window that its footer prints.
type Task = (&'static str, &'static [&'static str], [i32; 4], bool, i32);

/// Tasks and scores determine which papers reports cite, the last lines, and the parameters.
#[test]
fn scores_and_gap_costs() {
    if oracle().is_none() {
        return;
    }
    let rows: [Task; 6] = [
        ("blastn", &[], [2, -3, 5, 2], false, 0),
        ("dc-megablast", &[], [2, -3, 5, 2], false, 40),
        ("blastn", &["-reward", "1", "-penalty", "-1"], [1, -1, 5, 2], false, 0),
        ("megablast", &["-gapopen", "5", "-gapextend", "2"], [1, -2, 5, 2], true, 0),
        ("megablast", &["-reward", "1", "-penalty", "-3"], [1, -3, 0, 0], true, 0),
        ("megablast", &["-reward", "2", "-penalty", "-3"], [2, -3, 0, 0], true, 0),
    ];
    for (task, options, [reward, penalty, open, extend], greedy, window) in rows {
        let mut case = case(43, Subjects::Plain);
        case.options = [&["-task", task], options].concat();
        let params = case.nucleotide();
        params.scoring = NucleotideScoring::new(reward, penalty, open, extend).unwrap();
        (params.greedy, params.window) = (greedy, window);
        let run = Run::new(&format!("{task}-{reward}{penalty}-{open}"), case);
        run.check(&["-outfmt", "0"], output(Format::Pairwise));
        run.check(&["-outfmt", "5"], output(Format::Xml));
        run.check(&["-outfmt", "6"], output(tabular("")));
    }
}

#[test]
fn masked_queries() {
    if oracle().is_none() {
        return;
    }
    let dust = |level, window, linker| Some(DustParams { level, window, linker });
    let rows: [(&[&'static str], Option<DustParams>, bool, bool); 4] = [
        (&["-dust", "no"], None, true, false),
        (&["-dust", "30 32 5", "-lcase_masking"], dust(30, 32, 5), true, true),
        (&["-soft_masking", "false", "-lcase_masking"], dust(20, 64, 1), false, true),
        (&["-dust", "no", "-soft_masking", "false"], None, false, false),
    ];
    for (i, (options, dust, soft, lower)) in rows.into_iter().enumerate() {
        let mut case = case(44, Subjects::Fasta);
        case.options = options.to_vec();
        // Subjects have lower case, too.
        for (_, letters) in &mut case.subjects {
            let (from, to) = (letters.len() / 2, letters.len() * 3 / 5);
            letters[from..to].make_ascii_lowercase();
        }
        let params = case.nucleotide();
        params.dust = dust;
        (params.common.soft_masking, params.common.lcase_masking) = (soft, lower);
        let run = Run::new(&format!("mega-masked-{i}"), case);
        check_all(&run);
        for line_length in [1, 7, 45] {
            let length = line_length.to_string();
            let options = ["-outfmt", "0", "-html", "-line_length", &length];
            let narrow = OutputOptions { html: true, line_length, ..output(Format::Pairwise) };
            run.check(&options, narrow);
        }
    }
}

#[test]
fn one_strand() {
    if oracle().is_none() {
        return;
    }
    use fleetblast_engine::params::Strands;
    for (name, strands) in [("plus", Strands::Plus), ("minus", Strands::Minus)] {
        let mut case = case(45, Subjects::Plain);
        case.options = vec!["-strand", name];
        case.nucleotide().strands = strands;
        check_all(&Run::new(&format!("mega-{name}"), case));
    }
}

#[test]
fn ungapped() {
    if oracle().is_none() {
        return;
    }
    let mut case = case(46, Subjects::Parsed);
    case.options = vec!["-ungapped"];
    case.nucleotide().common.ungapped = true;
    check_all(&Run::new("mega-ungapped", case));
}

#[test]
fn part_of_a_query() {
    if oracle().is_none() {
        return;
    }
    for kind in [Subjects::Plain, Subjects::Fasta] {
        let mut case = case(47, kind);
        case.queries.truncate(2);
        case.query_range = Some(30..330);
        check_all(&Run::new(&format!("mega-part-{kind:?}"), case));
    }
}

#[test]
fn orders() {
    if oracle().is_none() {
        return;
    }
    let run = Run::new("mega-orders", case(48, Subjects::Parsed));
    let hits = [HitOrder::BitScore, HitOrder::TotalScore, HitOrder::Identity, HitOrder::Coverage];
    for (i, hit_order) in hits.into_iter().enumerate() {
        let options = ["-outfmt", "0", "-sorthits", &(i + 1).to_string()];
        let ordered = OutputOptions { hit_order: Some(hit_order), ..output(Format::Pairwise) };
        run.check(&options, ordered);
    }
    let hsps = [HspOrder::Score, HspOrder::QueryStart, HspOrder::Identity, HspOrder::SubjectStart];
    for (i, hsp_order) in hsps.into_iter().enumerate() {
        let options = ["-outfmt", "0", "-sorthsps", &(i + 1).to_string()];
        run.check(&options, OutputOptions { hsp_order, ..output(Format::Pairwise) });
    }
}

#[test]
fn queries_without_statistics() {
    if oracle().is_none() {
        return;
    }
    let mut odd = case(49, Subjects::Plain);
    odd.queries.truncate(1);
    odd.queries.push(("nn all N".into(), "N".repeat(40)));
    odd.queries.push(("short".into(), "ACGT".into()));
    check_all(&Run::new("mega-odd", odd));
    let mut none = case(49, Subjects::Plain);
    none.queries = vec![("nn all N".into(), "N".repeat(40))];
    let run = Run::new("mega-none", none);
    run.check(&["-outfmt", "0"], output(Format::Pairwise));
    run.check(&["-outfmt", "5"], output(Format::Xml));
}

/// Checks the columns of coverage for alignments that cover the same bases of the subject more than
/// once.
#[test]
fn repeats() {
    if oracle().is_none() {
        return;
    }
    for seed in sample(2, 60..66) {
        let mut case = case(seed, Subjects::Plain);
        case.options = vec!["-task", "blastn", "-word_size", "7", "-evalue", "1000"];
        let params = case.nucleotide();
        params.scoring = NucleotideScoring::new(2, -3, 5, 2).unwrap();
        params.greedy = false;
        let run = Run::new(&format!("mega-repeats-{seed}"), case);
        let columns = "qseqid sseqid qstart qend sstart send btop qcovs qcovus qcovhsp";
        run.check(&["-outfmt", &format!("6 {columns}")], output(tabular(columns)));
    }
}
