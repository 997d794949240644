//! Command lines that start a search. BLAST+ accepts them too, and FleetBLAST prints the same
//! warnings byte for byte.

use std::collections::BTreeMap;
use std::ffi::OsString;

use crate::common::{Fixture, complaint};
use fleetblast_cli::cpus::Cpus;
use fleetblast_cli::options::blastp::{BLASTP, BlastpOptions};
use fleetblast_cli::options::parse::{self, Request};
use fleetblast_cli::options::usage::ProgramName;
use fleetblast_cli::plan::{self, ProcessEnvironment};
use fleetblast_engine::params::{CompositionMode, HspFilter, Params, ProteinParams};
use fleetblast_job::error::Error;
use fleetblast_job::plan::{BatchSize, Format, Plan, Subjects, ThreadDivision};
use fleetblast_job::threads::ThreadSource;

/// Options to add to `-query q.fa -subject s.fa`, for one search each; `|` separates words.
const ADDED: &[&str] = &[
    "",
    "-evalue=1e-3",
    "-evalue|.5",
    "-outfmt| 6",
    "-outfmt|+6",
    "-outfmt|6  qseqid",
    "-outfmt|6 delim=",
    "-outfmt|6 delim=; staxid",
    "-outfmt|7 qseqid delim=x",
    "-outfmt|5|-html",
    "-matrix|blosum62",
    "-threshold|0.5",
    "-word_size|7",
    "-word_size|+3",
    "-xdrop_gap|-5",
    "-ungapped|-comp_based_stats|F|-gapopen|3",
    "-comp_based_stats|x",
    "-comp_based_stats|",
    "-comp_based_stats|2u",
    "-seg|12 2.2 2.5|-soft_masking|Y",
    "-seg|0 2.2 2.5",
    "-seg|-1 2.2 2.5",
    "-query_loc|+1-5",
    "-query_loc|5-1000",
    "-subject_loc|5-1000",
    "-num_threads|1|-mt_mode|1",
    "-num_threads|9999",
    "-num_threads|9999|-mt_mode|1",
    "-max_target_seqs|4",
    "-max_target_seqs|1|-outfmt|6",
    "-num_descriptions|3|-num_alignments|2",
    "-num_alignments|0",
    "-num_descriptions|0|-outfmt|6",
    "-outfmt|6|-num_descriptions|3|-line_length|70|-sorthits|1|-sorthsps|1|-max_hsps|2",
    "-outfmt|6|-sorthits|0|-num_alignments|2|-num_threads|9999",
    "-line_length|30|-sorthits|1|-sorthsps|4|-html|-show_gis",
    "-searchsp|1000|-dbsize|5",
    "-searchsp|0",
    "-dbsize|0",
    "-culling_limit|0",
    "-best_hit_overhang|0.1",
    "-best_hit_score_edge|0.4|-best_hit_overhang|0.4",
    "-qcov_hsp_perc|50|-subject_besthit",
    "-task|blastp-fast|-word_size|3",
    "-task|blastp-short|-matrix|BLOSUM62",
    "-use_sw_tback|-comp_based_stats|0",
    "-lcase_masking|-parse_deflines",
];

fn plan_on(
    arguments: &[OsString],
    cores: usize,
    variables: &BTreeMap<&str, &str>,
) -> (Vec<String>, Result<Plan, Error>) {
    let variable = |name: &str| variables.get(name).map(OsString::from);
    let cpus = Cpus { machine: cores, allowed: cores, limit: ThreadSource::Machine };
    let host = ProcessEnvironment {
        cpus,
        is_rank: false,
        command: Vec::new(),
        sorts_all_reports: false,
        variable: &variable,
    };
    let mut warnings = Vec::new();
    let plan = match parse::parse(&BLASTP, ProgramName::Blast, arguments) {
        Ok(Request::Run(given)) => plan::plan(&BlastpOptions::new(&given), &host, &mut warnings),
        Ok(Request::Print(text)) => Err(Error::new(0, text)),
        Ok(Request::PrintVersion(_)) => panic!("a version"),
        Err(error) => Err(error),
    };
    (warnings, plan)
}

/// Plans a search with `-query q.fa -subject s.fa` and the words of `line`, on four cores.
fn plan(fixture: &Fixture, line: &str) -> Plan {
    let (_, plan) = plan_on(&line_of(fixture, "-subject|s.fa", line), 4, &BTreeMap::new());
    plan.unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// Returns the parameters of a search of proteins.
fn protein(plan: Plan) -> ProteinParams {
    match plan.params {
        Params::Protein(params) => params,
        Params::Nucleotide(_) => panic!("nucleotides"),
    }
}

fn line_of(fixture: &Fixture, subjects: &str, line: &str) -> Vec<OsString> {
    let mut words = Fixture::words(&format!("-query|q.fa|{subjects}"));
    for word in &mut words {
        if fixture.path().join(&word).is_file() {
            *word = fixture.path().join(&word).into();
        }
    }
    words.extend(Fixture::words(line));
    words
}

/// Checks that FleetBLAST prints the oracle's warnings for each line, and accepts the line if the
/// oracle does.
fn compare(fixture: &Fixture, subjects: &str, lines: &[&str]) {
    let Some(oracle) = fixture.oracle else { return };
    let cores = std::thread::available_parallelism().expect("a number of cores").get();
    let mut differences = Vec::new();
    for line in lines {
        let arguments = line_of(fixture, subjects, line);
        let expected = fixture.run(&oracle.program("blastp"), &arguments, &[]);
        let (warnings, plan) = plan_on(&arguments, cores, &BTreeMap::new());
        let stderr: String = warnings.iter().map(|warning| format!("{warning}\n")).collect();
        let accepted = plan.as_ref().map_or_else(|error| error.exit_code == 0, |_| true);
        if stderr.as_bytes() != expected.stderr || accepted != expected.status.success() {
            let plan = plan.err().map(|error| error.message);
            differences.push(format!("{line}\nours: {stderr}{plan:?}\n{}", complaint(&expected)));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

#[test]
fn accepts_what_the_oracle_accepts() {
    let fixture = Fixture::new();

    compare(&fixture, "-subject|s.fa", ADDED);
}

#[test]
fn ranks_on_the_same_cores_share_them_by_default() {
    let fixture = Fixture::new();
    let threads = |line: &str, ranks: usize| {
        let (_, plan) = plan_on(&line_of(&fixture, "-db|db", line), 4, &BTreeMap::new());
        plan.expect(line).threads.beside_processes(ranks).count
    };
    assert_eq!([1, 2, 3, 4, 7].map(|ranks| threads("", ranks)), [4, 2, 1, 1, 1]);
    assert_eq!([1, 2, 7].map(|ranks| threads("-num_threads|3", ranks)), [3, 3, 3]);
}

#[test]
fn warns_of_threads_as_the_oracle_with_a_database() {
    let fixture = Fixture::new();
    compare(
        &fixture,
        "-db|db",
        &["-num_threads|9999", "-num_threads|2", "-num_threads|1|-mt_mode|1"],
    );
}

#[test]
fn tasks_set_defaults() {
    let fixture = Fixture::new();
    let params = protein(plan(&fixture, ""));
    assert_eq!((params.word_size, params.threshold, params.window), (3, 11.0, 40));
    assert_eq!(
        (params.scoring.name, params.common.evalue, params.common.hitlist_size),
        ("BLOSUM62", 10.0, 500)
    );
    assert_eq!((params.composition, params.seg), (CompositionMode::Conditional, None));
    let params = protein(plan(&fixture, "-task|blastp-short"));
    assert_eq!((params.word_size, params.threshold, params.window), (2, 16.0, 15));
    assert_eq!(
        (params.scoring.name, params.scoring.gap_open, params.common.evalue),
        ("PAM30", 9, 10.0)
    );
    let params = protein(plan(&fixture, "-task|blastp-fast|-matrix|BLOSUM45"));
    assert_eq!((params.word_size, params.threshold, params.window), (6, 21.0, 60));
    assert_eq!((params.scoring.gap_open, params.scoring.gap_extend), (14, 2));
}

#[test]
fn matrix_sets_what_was_not_typed() {
    let fixture = Fixture::new();
    let made = plan(&fixture, "-matrix|blosum80|-gapextend|2|-gapopen|9|-window_size|0");
    assert_eq!(made.matrix_name, "blosum80");
    let params = protein(made);
    assert_eq!((params.threshold, params.window, params.scoring.gap_open), (12.0, 0, 9));
    let made = plan(&fixture, "-matrix|IDENTITY|-comp_based_stats|2u");
    assert!(made.identity_resets_composition);
    let params = protein(made);
    assert_eq!((params.unified_p, params.composition), (false, CompositionMode::Off));
    assert_eq!(params.threshold, 27.0);
    let params = protein(plan(&fixture, "-ungapped|-comp_based_stats|0|-gapopen|3"));
    assert_eq!((params.scoring.gap_open, params.scoring.gap_extend), (3, 1));
}

#[test]
fn filters_and_statistics() {
    let fixture = Fixture::new();
    let filter = |line| plan(&fixture, line).params.common().filter;
    assert_eq!(filter("-culling_limit|0"), HspFilter::Collect);
    assert_eq!(filter("-culling_limit|2"), HspFilter::Culling(2));
    let best = HspFilter::BestHit { overhang: 0.1, edge: 0.3 };
    assert_eq!(filter("-best_hit_score_edge|0.3"), best);
    let made = plan(&fixture, "-searchsp|0|-dbsize|-5");
    let dbsize = made.dbsize;
    let params = protein(made);
    assert_eq!((params.common.search_space, params.finite_size), (None, false));
    assert_eq!((dbsize, plan(&fixture, "-dbsize|0").dbsize), (Some(-5), None));
}

#[test]
fn shown_and_kept_subjects() {
    let fixture = Fixture::new();
    for (line, shown) in [
        ("", (500, 250, 500)),
        ("-num_descriptions|7", (7, 250, 250)),
        ("-num_alignments|700", (500, 700, 700)),
        ("-num_descriptions|7|-num_alignments|9", (7, 9, 9)),
        ("-max_target_seqs|20", (20, 20, 20)),
        ("-outfmt|6|-num_descriptions|7", (500, 500, 500)),
        ("-outfmt|6|-num_alignments|9", (9, 9, 9)),
    ] {
        let made = plan(&fixture, line);
        let report = made.report;
        let kept = made.params.common().hitlist_size;
        assert_eq!((report.num_descriptions, report.num_alignments, kept), shown, "{line}");
    }
}

#[test]
fn formats_and_columns() {
    let fixture = Fixture::new();
    let report = |line| plan(&fixture, line).report;
    let made = report("-outfmt|6 delim=X=Y qseqid sseqid");
    assert_eq!((made.format, made.columns.trim()), (Format::Tabular, "qseqid sseqid"));
    assert_eq!(made.delimiter.as_deref(), Some("X=Y"));
    let made = report("-outfmt|5 qseqid|-sorthits|2|-line_length|9");
    assert_eq!((made.format, made.columns.as_str()), (Format::Xml, ""));
    assert_eq!((made.sort_hits, made.line_length), (None, 60));
}

#[test]
fn ranges_and_threads() {
    let fixture = Fixture::new();
    let made = plan(&fixture, "-query_loc|2-9|-subject_loc|1-3");
    assert_eq!(made.query_range, Some(1..9));
    let Subjects::Fasta { range, .. } = made.subjects else { panic!("not a file") };
    assert_eq!(range, Some(0..3));
    assert_eq!((made.threads.count, made.split), (4, ThreadDivision::Database));
    // Unlike in BLAST+, the threads count with `-subject`.
    let made = plan(&fixture, "-num_threads|3|-mt_mode|1");
    assert_eq!((made.threads.count, made.split), (3, ThreadDivision::Database));
}

#[test]
fn the_environment_counts() {
    let fixture = Fixture::new();
    let arguments = line_of(&fixture, "-db|db", "-num_threads|2|-mt_mode|1");
    let under = |name, value| plan_on(&arguments, 4, &BTreeMap::from([(name, value)])).1;
    let made = under("BATCH_SIZE", "70").expect("a plan");
    assert_eq!(
        (made.batch_size, made.threads.count, made.split),
        (BatchSize::Fixed(70), 2, ThreadDivision::Queries)
    );
    assert_eq!(under("BATCH_SIZE", "-1").expect("a plan").batch_size, BatchSize::Fixed(usize::MAX));
    assert!(!protein(under("OLD_FSC", "").expect("a plan")).finite_size);
    assert!(protein(under("OTHER", "1").expect("a plan")).finite_size);
    let error = under("CHUNK_SIZE", "9").expect_err("refused");
    assert!(error.message.contains("CHUNK_SIZE"), "{error}");
    assert_eq!(error.exit_code, 1);
}
