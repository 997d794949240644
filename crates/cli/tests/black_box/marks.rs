//! Every option and value in the help is accepted, or it is refused by name and marked as refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use fleetblast_cli::options::blast_formatter::BLAST_FORMATTER;
use fleetblast_cli::options::blastdbcheck::BLASTDBCHECK;
use fleetblast_cli::options::blastdbcmd::BLASTDBCMD;
use fleetblast_cli::options::blastn::BLASTN;
use fleetblast_cli::options::blastp::BLASTP;
use fleetblast_cli::options::blastx::BLASTX;
use fleetblast_cli::options::constraint::{Constraint, Kind};
use fleetblast_cli::options::dustmasker::DUSTMASKER;
use fleetblast_cli::options::expand::EXPAND;
use fleetblast_cli::options::makeblastdb::MAKEBLASTDB;
use fleetblast_cli::options::psiblast::PSIBLAST;
use fleetblast_cli::options::receive::RECEIVE;
use fleetblast_cli::options::refused::{Refused, described};
use fleetblast_cli::options::search::fleet;
use fleetblast_cli::options::segmasker::SEGMASKER;
use fleetblast_cli::options::spec::{OptionSpec, Program};
use fleetblast_cli::options::tblastn::TBLASTN;
use fleetblast_cli::options::tblastx::TBLASTX;
use fleetblast_cli::options::usage::{self, ProgramName};
use fleetblast_cli::program::PROGRAMS;
use tempfile::TempDir;

use crate::volumes::protein;
use fastrand::Rng;

/// The options of a command line, with their values if they have some.
type Line = BTreeMap<&'static str, Option<String>>;

/// Values for options whose type does not determine a valid value.
const SAMPLES: &[(&str, &str)] = &[
    ("query", "q.fa"),
    ("subject", "s.fa"),
    ("db", "db"),
    ("out", "r"),
    ("in", "s.fa"),
    ("query_loc", "1-5"),
    ("subject_loc", "1-5"),
    ("range", "1-5"),
    ("entry", "all"),
    ("list", "."),
    ("metadata", "m"),
    ("archive", "archive"),
    ("matrix", "BLOSUM62"),
    ("memory", "1G"),
    ("write_buffer", "4MiB"),
    ("result_memory", "256MiB"),
    ("checkpoint", "kept"),
    ("max_file_sz", "1GB"),
    ("dust", "no"),
    ("seg", "no"),
];

/// Makes a directory with sequences and a database of proteins or of bases; for proteins also with
/// metadata and an archive. The queries of blastx and tblastn are of another kind than the
/// subjects.
fn make_directory(program: &str) -> TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let is_dna = ["blastn", "tblastn", "tblastx"].contains(&program);
    let residues = protein(&mut Rng::with_seed(3), 60);
    let has_dna_queries = ["blastn", "blastx", "tblastx"].contains(&program);
    for (name, is_dna) in [("q.fa", has_dna_queries), ("s.fa", is_dna)] {
        let letters = match is_dna {
            true => residues.iter().map(|letter| b"ACGT"[usize::from(letter % 4)]).collect(),
            false => residues.clone(),
        };
        let sequence = String::from_utf8(letters).expect("letters");
        fs::write(dir.path().join(name), format!(">{name}\n{sequence}\n")).expect("a sequence");
    }
    let kind = if is_dna { "nucl" } else { "prot" };
    let lines: [&[&str]; 3] = [
        &["makeblastdb", "-in", "s.fa", "-dbtype", kind, "-out", "db"],
        &["blastp", "-query", "q.fa", "-db", "db", "-metadata_out", "m"],
        &["blastp", "-query", "q.fa", "-db", "db", "-outfmt", "11", "-out", "archive"],
    ];
    for line in if is_dna { &lines[..1] } else { &lines } {
        let said = stderr_text(dir.path(), line.iter().map(|word| (*word).to_owned()));
        assert_eq!(said, "", "{line:?}");
    }
    dir
}

/// Runs the program. Returns its standard error.
fn stderr_text(dir: &Path, words: impl Iterator<Item = String>) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
    command.args(words).current_dir(dir).stdin(Stdio::null()).env_remove("BLASTDB");
    let output = command.output().expect("the program runs");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns a valid value of an option; `None` for a flag.
fn sample(option: &OptionSpec) -> Option<String> {
    let known = SAMPLES.iter().find(|(name, _)| *name == option.name);
    let whole = matches!(option.kind, Kind::Integer | Kind::Long);
    let text = match option.constraint {
        Constraint::OneOf(words) | Constraint::Word(words) => words[0].to_owned(),
        Constraint::OneNumber(numbers) => numbers[0].to_string(),
        Constraint::Ranges(ranges) => ranges[0].1.to_string(),
        Constraint::AtLeast(least) if whole => least.max(1).to_string(),
        Constraint::AtMost(most) => (most - 1).to_string(),
        Constraint::UpTo(most) => most.to_string(),
        Constraint::Between(_, to) => to.to_string(),
        Constraint::Percent | Constraint::BelowHalf | Constraint::AtLeast(_) => "0.1".to_owned(),
        Constraint::Any | Constraint::FileNameBelow(_) => match option.kind {
            Kind::Flag => return None,
            Kind::Boolean => "false".to_owned(),
            Kind::Integer | Kind::Long => "5".to_owned(),
            Kind::Real => "0.1".to_owned(),
            Kind::InputFile => "q.fa".to_owned(),
            Kind::Text | Kind::OutputFile => option.name.to_owned(),
        },
    };
    let known = known.filter(|_| option.words().is_empty());
    Some(known.map_or(text, |(_, value)| (*value).to_owned()))
}

/// Returns the values that an option's help lists, as shown and as given on a command line; a
/// sample value if it lists none.
fn listed_values(option: &OptionSpec) -> Vec<(String, Option<String>)> {
    let words = option.words().iter().copied();
    let truths = ["false", "true"].into_iter().filter(|_| option.kind == Kind::Boolean);
    let has_values = option.kind != Kind::Flag;
    let in_help = option.help.iter().filter(|_| has_values);
    let in_help = in_help.filter_map(|&line| Some((described(line)?, line)));
    let typed = |(value, line): (&str, &str)| match (option.name, line.contains(" means ")) {
        ("outfmt", true) if ["SQ", "SR"].contains(&value) => format!("17 {value}"),
        ("outfmt", true) if value == "%m" => "%m1".to_owned(),
        ("outfmt", true) if !value.starts_with('%') => format!("6 {value}"),
        _ => value.to_owned(),
    };
    let in_help = in_help.map(|found| (found.0.to_owned(), Some(typed(found))));
    let words = words.chain(truths).map(|word| (word.to_owned(), Some(word.to_owned())));
    let mut all: Vec<_> = words.chain(in_help).collect();
    if all.is_empty() {
        all.push((String::new(), sample(option)));
    }
    all
}

/// Adds an option and its required options, and removes options that it excludes.
fn add(program: &Program, line: &mut Line, option: &OptionSpec, value: Option<String>) {
    let ties = |other: &str| program.find(other).map_or(&[][..], |other| other.excludes);
    line.retain(|other, _| !option.excludes.contains(other) && !ties(other).contains(&option.name));
    line.insert(option.name, value);
    for needed in option.requires.iter().filter_map(|name| program.find(name)) {
        if !line.contains_key(needed.name) {
            add(program, line, &needed, sample(&needed));
        }
    }
}

/// Returns a command line that tries an option with a value, together with options without which it
/// would have no effect.
fn line_of(program: &Program, base: &[&str], option: &OptionSpec, value: Option<String>) -> Line {
    let mut line = Line::new();
    let is_of_ranks = fleet::OPTIONS.iter().any(|other| other.name == option.name);
    let context: &[&str] = match option.name {
        "metadata" | "metadata_limit" if program.is_of_blast() => &["metadata_out"],
        "io_ranks" => &["ranks"],
        _ if is_of_ranks && option.name != "ranks" => &["ranks"],
        _ => &[],
    };
    for name in base.iter().chain(context).filter(|name| **name != option.name) {
        let known = program.find(name).expect("an option");
        let value = if *name == "ranks" { Some("2".to_owned()) } else { sample(&known) };
        add(program, &mut line, &known, value);
    }
    add(program, &mut line, option, value);
    let searches = program.find("subject").is_some();
    if searches && !["db", "subject"].iter().any(|name| line.contains_key(name)) {
        line.insert("subject", Some("s.fa".to_owned()));
    }
    line
}

/// Tries the options and values of a program that are marked, and a share of the others. Fails for
/// those that contradict their marks.
fn try_options(program: &Program, base: &[&str]) {
    let dir = make_directory(program.name);
    let general = ["h", "help", "version"];
    let options = program.all().filter(|option| !general.contains(&option.name));
    let all =
        options.flat_map(|option| listed_values(&option).into_iter().map(move |it| (option, it)));
    let is_marked = |option: &OptionSpec, shown: &str| {
        option.refused.is_whole() || option.refused.values().contains(&shown)
    };
    let (marked, other): (Vec<_>, Vec<_>) =
        all.partition(|(option, (shown, _))| is_marked(option, shown));
    let mut wrong = Vec::new();
    for (option, (shown, value)) in marked.into_iter().chain(fleetblast_oracle::sample(2, other)) {
        let is_marked = is_marked(&option, &shown);
        let line = line_of(program, base, &option, value);
        let words = line
            .into_iter()
            .flat_map(|(name, value)| [Some(format!("-{name}")), value].into_iter().flatten());
        let words: Vec<String> = [program.name.to_owned()].into_iter().chain(words).collect();
        let said = stderr_text(dir.path(), words.iter().cloned());
        let refuses = ["does not support", "does not run"].iter().any(|it| said.contains(it));
        let mut names = [option.name].into_iter().chain(option.requires.iter().copied());
        let names_it = names.any(|name| said.contains(&format!("-{name}")));
        let is_typing_error = said.contains("(CArgException::");
        if (refuses && names_it) != is_marked || refuses && !names_it || is_typing_error {
            wrong.push(format!("marked: {is_marked}; {}\n{said}", words.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn blastp_refuses_what_is_marked() {
    try_options(&BLASTP, &["query", "db", "out"]);
}

#[test]
fn blastn_refuses_what_is_marked() {
    try_options(&BLASTN, &["query", "db", "out"]);
}

#[test]
fn blastx_refuses_what_is_marked() {
    try_options(&BLASTX, &["query", "db", "out"]);
}

#[test]
fn tblastn_refuses_what_is_marked() {
    try_options(&TBLASTN, &["query", "db", "out"]);
}

#[test]
fn tblastx_refuses_what_is_marked() {
    try_options(&TBLASTX, &["query", "db", "out"]);
}

#[test]
fn psiblast_refuses_what_is_marked() {
    try_options(&PSIBLAST, &["query", "db", "out"]);
}

#[test]
fn database_programs_and_expand_refuse_what_is_marked() {
    try_options(&BLASTDBCMD, &["db", "entry"]);
    try_options(&BLASTDBCHECK, &["db"]);
    try_options(&MAKEBLASTDB, &["in", "dbtype", "out"]);
    try_options(&EXPAND, &["metadata", "db", "out"]);
    try_options(&BLAST_FORMATTER, &["archive", "out"]);
    try_options(&SEGMASKER, &["in", "out"]);
    try_options(&DUSTMASKER, &["in", "out"]);
    // The other commands refuse nothing by name; `receive` has the format options of `expand`.
    let tried = [
        BLASTP,
        BLASTN,
        BLASTX,
        TBLASTN,
        TBLASTX,
        PSIBLAST,
        BLASTDBCMD,
        BLASTDBCHECK,
        MAKEBLASTDB,
        BLAST_FORMATTER,
        SEGMASKER,
        DUSTMASKER,
        EXPAND,
        RECEIVE,
    ];
    let tried = tried.map(|program| program.name);
    for program in PROGRAMS.iter().filter(|program| !tried.contains(&program.name)) {
        let marked = program.all().find(|option| option.refused != Refused::Nothing);
        assert!(marked.is_none(), "{}: {marked:?}", program.name);
    }
}

#[test]
fn help_and_usage_show_the_marks() {
    for program in PROGRAMS {
        let full = usage::full(&program, ProgramName::FleetBlast);
        let brief = usage::brief(&program, ProgramName::FleetBlast);
        let as_blast = usage::full(&program, ProgramName::Blast);
        let refusals = as_blast.split_once(" *** Not supported by FleetBLAST\n").map(|it| it.1);
        for option in program.all().filter(|option| option.refused != Refused::Nothing) {
            let (name, mark) = (option.name, option.refused.mark());
            let ends = ["\n", " <", " ("].map(|end| format!("\n -{name}{end}"));
            let at = ends.iter().find_map(|start| full.find(start)).expect("a description");
            let text = &full[at + 1..];
            let text = text.split_once("\n -").map_or(text, |(text, _)| text);
            let marks = text.to_lowercase().matches(&mark).count();
            assert!(marks > 0, "{} -{name}: {text}", program.name);
            assert!(
                !option.refused.is_whole() || !brief.contains(&format!("[-{name} ")),
                "{brief}"
            );
            if let Some(refusals) = refusals {
                let is_own = option.group.0 == "FleetBLAST options";
                assert!(is_own || refusals.contains(&format!(" -{name}")), "{refusals}");
            }
        }
    }
}
