//! `blast_formatter` beside the oracle's: archives from standard input, as text and in binary, and
//! archives of archives.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{Fixture, complaint};

const NAME: &str = "blast_formatter";

/// Writes the archives of a search by the oracle, in batches of a query each.
fn write_archives(fixture: &Fixture, name: &str, words: &str, variables: &[(&str, &str)]) {
    let program = fixture.oracle.expect("the oracle").program("blastp");
    let words = Fixture::words(&format!("-query|q.fa|-outfmt|11|-out|{name}|{words}"));
    let variables = [&[("BATCH_SIZE", "30")], variables].concat();
    let output = fixture.run(&program, &words, &variables);
    assert!(output.status.success(), "{}", complaint(&output));
}

/// Runs a program with a file as standard input.
fn run_with_input(fixture: &Fixture, program: &Path, words: &str, input: &str) -> Output {
    let input = File::open(fixture.path().join(input)).expect("a file");
    let mut command = Command::new(program);
    command.args(Fixture::words(words)).current_dir(fixture.path()).stdin(input);
    command.output().expect("the program runs")
}

/// Checks that both programs make the same report of archives from standard input.
fn check(fixture: &Fixture, words: &str, archives: &str) -> Vec<u8> {
    let words = format!("-archive|-|{words}");
    let theirs = fixture.oracle.expect("the oracle").program(NAME);
    let expected = run_with_input(fixture, &theirs, &words, archives);
    let ours = run_with_input(fixture, &fixture.called(NAME), &words, archives);
    assert_eq!(complaint(&ours), complaint(&expected), "{words} {archives}");
    assert!(ours.stdout == expected.stdout, "{words} {archives}");
    ours.stdout
}

#[test]
fn archives_come_from_standard_input() {
    let fixture = Fixture::new();
    if fixture.oracle.is_none() {
        return;
    }
    write_archives(&fixture, "text", "-db|db", &[]);
    write_archives(&fixture, "binary", "-db|db", &[("ARCHIVE_FORMAT", "bin")]);
    for format in ["0", "5", "6", "8", "11"] {
        let words = format!("-outfmt|{format}");
        let report = check(&fixture, &words, "text");
        assert!(report.len() > 100 && report == check(&fixture, &words, "binary"), "{format}");
    }
}

#[test]
fn archives_of_archives_are_those_of_the_oracle() {
    let fixture = Fixture::new();
    if fixture.oracle.is_none() {
        return;
    }
    let searches = [
        "-db|db",
        "-db|db|-query_loc|3-28|-seg|2 0.5 1|-max_target_seqs|6",
        "-subject|s.fa|-ungapped|-comp_based_stats|0",
        "-db|db|-evalue|1e-200",
    ];
    for search in searches {
        write_archives(&fixture, "archives", search, &[]);
        for words in ["-html", "-max_target_seqs|3|-sorthits|1", "-num_alignments|0", "-out|made"] {
            check(&fixture, &format!("-outfmt|11|{words}"), "archives");
        }
        let made = fs::read(fixture.path().join("made")).expect("an archive");
        // The effective search space of the first archive is repeated in all.
        let stored = fs::read(fixture.path().join("archives")).expect("an archive");
        assert_eq!(made.len(), check(&fixture, "-outfmt|11", "archives").len());
        assert!(made.starts_with(&stored[..100]), "{search}");
    }
}

#[test]
fn alignments_of_unknown_queries_end_an_archive_of_an_archive() {
    let fixture = Fixture::new();
    if fixture.oracle.is_none() {
        return;
    }
    write_archives(&fixture, "archives", "-db|db", &[]);
    let text = fs::read_to_string(fixture.path().join("archives")).expect("text");
    let other = text.replacen("local str \"Query_1\"", "local str \"Query_7\"", 1);
    fs::write(fixture.path().join("archives"), other).expect("a file");
    let report = check(&fixture, "-outfmt|11", "archives");
    assert!(report.len() < text.len());
}

#[test]
fn subjects_of_one_identifier_keep_their_ungapped_alignments() {
    let fixture = Fixture::new();
    let Some(oracle) = fixture.oracle else { return };
    for name in ["first", "second"] {
        let words = format!("-in|s.fa|-dbtype|prot|-parse_seqids|-out|{name}");
        let made = fixture.run(&oracle.program("makeblastdb"), &Fixture::words(&words), &[]);
        assert!(made.status.success(), "{}", complaint(&made));
    }
    let search = "-db|first second|-ungapped|-comp_based_stats|F";
    write_archives(&fixture, "archives", search, &[]);
    for format in ["0", "1", "5", "6", "7", "8", "9", "12", "15"] {
        check(&fixture, &format!("-outfmt|{format}"), "archives");
    }
}

#[test]
fn queries_have_histories_and_several_identifiers() {
    let fixture = Fixture::new();
    if fixture.oracle.is_none() {
        return;
    }
    let letters = "MKVLAADTGHIWQERTYPASDFGHKLCVNM";
    let queries =
        [">x43:3-10 t", ">gi|8|lcl|x8 title", ">loc x"].map(|line| format!("{line}\n{letters}\n"));
    fs::write(fixture.path().join("q.fa"), queries.concat()).expect("queries");
    write_archives(&fixture, "archives", "-db|db|-parse_deflines", &[("BATCH_SIZE", "1000")]);
    for format in ["0", "5", "6", "7", "8", "11", "15"] {
        for more in ["", "|-parse_deflines"] {
            check(&fixture, &format!("-outfmt|{format}{more}"), "archives");
        }
    }
}

#[test]
fn the_warning_about_few_subjects_comes_first() {
    let fixture = Fixture::new();
    if fixture.oracle.is_none() {
        return;
    }
    write_archives(&fixture, "archives", "-db|db|-max_target_seqs|2", &[]);
    for words in ["-outfmt|1|-sorthsps|0", "-outfmt|0|-sorthits|0", "-outfmt|5|-sorthits|0"] {
        check(&fixture, words, "archives");
    }
}

#[test]
fn an_empty_name_of_a_file_is_not_shown() {
    let fixture = Fixture::new();
    let output = fixture.run(&fixture.called(NAME), &Fixture::words("-archive|"), &[]);
    let expected = "Command line argument error: Argument \"archive\". File is not accessible\n";
    assert!(
        String::from_utf8_lossy(&output.stderr).starts_with(expected),
        "{}",
        complaint(&output)
    );
    assert_eq!(output.status.code(), Some(1));
}
