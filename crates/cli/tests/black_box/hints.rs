//! Hints for people: on a terminal (that of `script`, package bsdutils) and nowhere else, beside
//! the bytes of BLAST+.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use fleetblast_cli::cpus::Cpus;

use crate::common::{Fixture, complaint, not_tested};

/// A sequence of nucleotides.
const NUCLEOTIDES: &str = ">n\nACGTTGCAAGGCTTAACCGGTTACGATCGGATTACAGGCA\n";

/// Runs a shell command on a terminal on which nothing is typed. Returns the text on the terminal
/// and the exit code.
fn shown(fixture: &Fixture, line: &str) -> (String, Option<i32>) {
    let mut command = Command::new("timeout");
    command
        .args(["60", "script", "-qec", line, "/dev/null"])
        .current_dir(fixture.path())
        .stdin(Stdio::null());
    let bin = Path::new(env!("CARGO_BIN_EXE_fleetblast")).parent().expect("a directory");
    let path = std::env::var("PATH").expect("a path");
    let here = fixture.path().display();
    // A dumb terminal gets no progress bar.
    command.env("TERM", "dumb");
    command.env("PATH", format!("{here}:{}:{path}", bin.display())).env("SHELL", "/bin/bash");
    let output = command.output().expect("script, which Debian's bsdutils brings");
    let text = String::from_utf8_lossy(&output.stdout).replace('\r', "");
    (text, output.status.code())
}

/// Makes a fixture with nucleotides in `n.fa`, their database `ndb`, and links with the programs'
/// names.
fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fs::write(fixture.path().join("n.fa"), NUCLEOTIDES).expect("a sequence");
    for name in ["blastn", "blastx", "tblastn", "tblastx", "psiblast", "makeblastdb", "blastdbcmd"]
    {
        fixture.called(name);
    }
    let (said, code) =
        shown(&fixture, "fleetblast makeblastdb -in n.fa -dbtype nucl -out ndb >log");
    assert_eq!((said.as_str(), code), ("", Some(0)));
    fixture
}

#[test]
fn a_column_that_does_not_exist_is_named_beside_the_bytes_of_blast() {
    let fixture = fixture();
    let Some(oracle) = fixture.oracle else { return };
    let hint =
        "Hint: -outfmt leaves 'sseqidd' out: there is no such column; did you mean 'sseqid'?\n";
    for format in ["6", "7", "10"] {
        let words = format!("-query|q.fa|-db|db|-outfmt|{format} qseqid sseqidd");
        let expected = fixture.run(&oracle.program("blastp"), &Fixture::words(&words), &[]);
        let found = fixture.run(&fixture.ours(), &Fixture::words(&words), &[]);
        assert_eq!(found.stdout, expected.stdout);
        assert_eq!(complaint(&found), complaint(&expected));
        for name in ["blastp", "fleetblast blastp", "psiblast"] {
            let line = format!("{name} -query q.fa -db db -outfmt '{format} qseqid sseqidd' >r");
            assert_eq!(shown(&fixture, &line), (hint.to_owned(), Some(0)), "{line}");
        }
    }
    let line = "blastn -query n.fa -db ndb -outfmt '17 SQ XQ' >r";
    let (said, code) = shown(&fixture, line);
    assert!(said.starts_with("Hint: -outfmt leaves 'XQ' out: ") && code == Some(0), "{said}");
    let (said, _) = shown(&fixture, "blastp -query q.fa -db db -metadata_out m");
    assert_eq!(said, "");
    let (said, code) = shown(&fixture, "fleetblast expand m -db db -outfmt '6 sseqidd' >r");
    assert_eq!((said.as_str(), code), (hint, Some(0)));
}

#[test]
fn threads_that_count_with_subject_are_pointed_at() {
    let fixture = fixture();
    if Cpus::detect().allowed < 2 {
        return not_tested("the hint about threads with -subject, on one CPU");
    }
    let line = "blastp -query q.fa -subject s.fa -num_threads 2 >r";
    let (said, code) = shown(&fixture, line);
    let hint = "Hint: this program uses 2 threads with -subject, too.";
    assert_eq!((said.matches(hint).count(), code), (1, Some(0)), "{said}");
    let (said, _) = shown(&fixture, "blastp -query q.fa -subject s.fa >r");
    assert_eq!(said, "");
}

#[test]
fn a_sequence_of_the_other_kind_is_pointed_at_by_each_program() {
    let fixture = fixture();
    let cases = [
        ("blastp -query n.fa -db db", "the first query looks like nucleotides; blastp takes"),
        ("psiblast -query n.fa -db db", "the first query looks like nucleotides; psiblast takes"),
        ("blastn -query s.fa -db ndb", "the first query looks like a protein; blastn takes"),
        ("blastx -query s.fa -db db", "the first query looks like a protein; blastx takes"),
        ("blastx -query n.fa -subject n.fa", "the first subject looks like nucleotides; blastx"),
        ("tblastx -query s.fa -db ndb", "the first query looks like a protein; tblastx takes"),
        ("tblastx -query n.fa -subject s.fa", "the first subject looks like a protein; tblastx"),
        ("blastp -query q.fa -subject n.fa", "the first subject looks like nucleotides; blastp"),
        ("blastn -query n.fa -subject s.fa", "the first subject looks like a protein; blastn"),
        ("makeblastdb -in n.fa -dbtype prot -out x", "the first sequence looks like nucleotides"),
        ("makeblastdb -in s.fa -dbtype nucl -out x", "the first sequence looks like a protein"),
    ];
    for (line, hint) in cases {
        let (said, _) = shown(&fixture, &format!("{line} >r"));
        assert_eq!(said.matches(&format!("Hint: {hint}")).count(), 1, "{line}: {said}");
        // A file gets no hints.
        let (said, _) = shown(&fixture, &format!("{line} >r 2>&1; grep -c Hint r"));
        assert_eq!(said, "0\n", "{line}");
    }
    for line in [
        "blastp -query q.fa -db db",
        "blastn -query n.fa -db ndb",
        "blastx -query n.fa -db db",
        "tblastx -query n.fa -db ndb",
        "makeblastdb -in s.fa -dbtype prot -out x",
        "makeblastdb -in n.fa -dbtype nucl -out x",
    ] {
        assert_eq!(shown(&fixture, &format!("{line} >r")), (String::new(), Some(0)), "{line}");
    }
}

#[test]
fn a_mistyped_option_is_guessed_under_each_name() {
    let fixture = fixture();
    for name in ["blastp", "blastn", "blastx", "tblastn", "tblastx", "psiblast"] {
        for called in [name.to_owned(), format!("fleetblast {name}")] {
            let (said, code) = shown(&fixture, &format!("{called} -evalu 1"));
            assert!(said.ends_with("\nDid you mean -evalue?\n"), "{called}: {said}");
            assert_eq!(code, Some(1));
        }
    }
    let (said, _) = shown(&fixture, "makeblastdb -dbtyp prot");
    assert!(said.ends_with("\nDid you mean -dbtype?\n"), "{said}");
    let (said, _) = shown(&fixture, "blastdbcmd -entri all 2>r; tail -n 1 r");
    assert!(said.contains("Unknown argument: \"entri\"") && !said.contains("mean"), "{said}");
}

#[test]
fn who_reads_a_terminal_says_so() {
    let fixture = fixture();
    let hint = |what: &str, option: &str| {
        format!(
            "Hint: waiting for {what} on standard input, up to Ctrl-D; -{option} FILE reads a file.\n"
        )
    };
    for (line, what, option) in [
        ("blastp -db db", "the queries", "query"),
        ("blastn -db ndb", "the queries", "query"),
        ("blastp -query q.fa -subject -", "the subjects", "subject"),
        ("psiblast -db db -in_msa -", "the file that the search starts with", "in_msa"),
        ("makeblastdb -dbtype prot -out x -title t", "the sequences", "in"),
        ("blastdbcmd -db db -entry_batch -", "the lines", "entry_batch"),
    ] {
        let hint = hint(what, option);
        let (said, _) = shown(&fixture, &format!("{line} >r"));
        assert_eq!(said.matches(&hint).count(), 1, "{line}: {said}");
        for quiet in [
            format!("{line} >r <q.fa"),
            format!("cat q.fa | {line} >r"),
            format!("{line} >r 2>/dev/null"),
        ] {
            let (said, _) = shown(&fixture, &quiet);
            assert!(!said.contains("waiting for"), "{quiet}: {said}");
        }
    }
}

#[test]
fn variables_that_are_ignored_are_named() {
    let fixture = fixture();
    let line = "blastp -query q.fa -db db >r";
    let hint = "Hint: OMP_NUM_THREADS is ignored: 'many' is not a number of threads.\n";
    let (said, code) = shown(&fixture, &format!("OMP_NUM_THREADS=many {line}"));
    assert_eq!((said.as_str(), code), (hint, Some(0)));
    let (said, _) = shown(&fixture, &format!("OMP_NUM_THREADS=many {line} -num_threads 1"));
    let (own, _) = shown(&fixture, &format!("OMP_NUM_THREADS=many FLEETBLAST_THREADS=1 {line}"));
    assert_eq!((said.as_str(), own.as_str()), ("", ""));
}
