//! Parts of databases: lists of identifiers, GIs and taxids, stored masks, several databases.
//!
//! `restrictions/golden` holds commands and the output of BLAST+ 2.12.0 on databases of made-up
//! sequences:
//!
//! ```text
//! makeblastdb -in s.fa -dbtype prot -parse_seqids -taxid_map taxids -mask_data masks.asn \
//! -title 'Made up' -out db
//! makeblastdb -in t.fa -dbtype prot -parse_seqids -title 'The other' -out other
//! ```

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::common::{Fixture, complaint};

const GOLDEN: &str = include_str!("restrictions/golden");

/// Arguments of `makeblastdb` for the databases; `|` separates words.
const DATABASES: [&str; 2] = [
    "-in|s.fa|-dbtype|prot|-parse_seqids|-taxid_map|taxids|-mask_data|masks.asn|-title|Made up|-out|db",
    "-in|t.fa|-dbtype|prot|-parse_seqids|-title|The other|-out|other",
];

/// Makes a directory with the files in `restrictions`, and with both databases, made by FleetBLAST.
fn directory() -> Fixture {
    let fixture = Fixture::new();
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/black_box/restrictions");
    for entry in fs::read_dir(files).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, fixture.path().join(path.file_name().unwrap())).unwrap();
    }
    for database in DATABASES {
        let words = Fixture::words(database);
        let made = run(&fixture, &ours(), &[&["makeblastdb".into()], &words[..]].concat());
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }
    fixture
}

fn ours() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_fleetblast"))
}

fn run(fixture: &Fixture, program: &Path, arguments: &[std::ffi::OsString]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(fixture.path()).env_remove("BLASTDB").stdin(Stdio::null());
    command.output().expect("the program runs")
}

/// Returns the commands with their expected output.
fn sections() -> impl Iterator<Item = (&'static str, &'static str)> {
    GOLDEN.split("$ blastp ").skip(1).map(|section| section.split_once('\n').expect("a command"))
}

/// Removes the line with the minute in which the database was made from a report.
fn remove_date(report: &str) -> String {
    report
        .lines()
        .filter(|line| !line.contains("Posted date:"))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// Splits a command into words; `"` encloses a word with blanks.
fn split_words(line: &str) -> Vec<std::ffi::OsString> {
    let parts = line.split('"').enumerate();
    let words = parts.flat_map(|(i, part)| match i % 2 {
        0 => part.split_whitespace().collect(),
        _ => vec![part],
    });
    words.map(Into::into).collect()
}

#[test]
fn parts_of_databases_are_searched_as_by_the_oracle() {
    let fixture = directory();
    let (mut options, mut count) = (String::new(), 0);
    for (line, expected) in sections() {
        let output = run(&fixture, &ours(), &[&["blastp".into()], &split_words(line)[..]].concat());
        assert_eq!(
            remove_date(&String::from_utf8_lossy(&output.stdout)),
            remove_date(expected),
            "blastp {line}"
        );
        assert_eq!(output.status.code(), Some(0), "blastp {line}");
        options.push_str(line);
        count += 1;
    }
    assert_eq!(count, 23);
    for list in ["gilist", "seqidlist", "taxids", "taxidlist"] {
        assert!(options.contains(&format!(" -{list} ")), "{list} is not tested");
        assert!(options.contains(&format!(" -negative_{list} ")), "-negative_{list} is not tested");
    }
}

#[test]
fn the_golden_is_what_the_oracle_says() {
    let fixture = directory();
    let Some(oracle) = fixture.oracle else { return };
    for (line, expected) in sections() {
        let output = run(&fixture, &oracle.program("blastp"), &split_words(line));
        assert_eq!(
            remove_date(&String::from_utf8_lossy(&output.stdout)),
            remove_date(expected),
            "blastp {line}"
        );
    }
}

/// Lists whose words archives store in their order, or about which they have messages.
const ARCHIVED: [(&str, &str); 2] =
    [("gilist", "1007\n1001\n1007\n77\n"), ("seqidlist", "gi|1001|gb|AAA00001.1|\nlcl|a|b||c\n")];

#[test]
fn archives_store_lists_and_their_warnings_as_the_oracle_does() {
    let fixture = directory();
    let Some(oracle) = fixture.oracle else { return };
    for (option, list) in ARCHIVED {
        fs::write(fixture.path().join("list"), list).unwrap();
        for sign in ["", "negative_"] {
            let line = format!("-query|q.fa|-db|db|-outfmt|11|-{sign}{option}|list");
            let words = Fixture::words(&line);
            let expected = run(&fixture, &oracle.program("blastp"), &words);
            let output = run(&fixture, &ours(), &[&["blastp".into()], &words[..]].concat());
            assert_eq!(complaint(&output), complaint(&expected), "{line}");
            assert!(output.stdout == expected.stdout, "{line}");
        }
    }
}

/// Options with unusable lists and masks, BLAST+'s exit code, and a part of the message.
const UNUSABLE: [(&str, i32, &str); 16] = [
    ("-seqidlist|nosuch", 255, "nosuch"),
    ("-negative_seqidlist|nosuch", 255, "nosuch"),
    ("-gilist|nosuch", 255, "nosuch"),
    ("-negative_gilist|nosuch", 255, "nosuch"),
    ("-taxidlist|nosuch", 1, "File is not acessible: nosuch"),
    ("-negative_taxidlist|nosuch", 1, "File is not acessible: nosuch"),
    ("-seqidlist|empty", 2, "empty"),
    ("-gilist|empty", 2, "empty"),
    ("-gilist|words", 2, "words"),
    ("-negative_gilist|cut", 2, "cut"),
    ("-taxids|9606,abc", 1, "Invalid taxidlist file"),
    ("-taxidlist|words", 1, "Invalid taxidlist file"),
    ("-taxids|12345", 2, "axonomy"),
    (
        "-db_hard_mask|99",
        1,
        "Masking algorithm ID 99 is not supported in protein 'db' BLAST database",
    ),
    (
        "-db_soft_mask|99",
        1,
        "Masking algorithm ID 99 is not supported in protein 'db' BLAST database",
    ),
    ("-db_hard_mask|0", 2, "Filtering algorithm ID 0 is not supported"),
];

#[test]
fn unusable_lists_and_masks_are_named() {
    let fixture = directory();
    let write = |name: &str, bytes: &[u8]| fs::write(fixture.path().join(name), bytes).unwrap();
    write("empty", b"");
    write("words", b"one\ntwo\n");
    // A binary list that promises three GIs and holds one.
    write("cut", &[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 3, 0, 0, 3, 0xe9]);
    for (line, code, part) in UNUSABLE {
        let mut arguments = Fixture::words("-query|q.fa|-db|db|-outfmt|6");
        arguments.extend(Fixture::words(line));
        let output = run(&fixture, &ours(), &[&["blastp".into()], &arguments[..]].concat());
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line}: {message}");
        assert!(message.contains(part) && !message.contains("panicked"), "{line}: {message}");
        assert!(output.stdout.is_empty(), "{line}");
        if let Some(oracle) = fixture.oracle {
            let expected = run(&fixture, &oracle.program("blastp"), &arguments);
            assert_eq!(expected.status.code(), Some(code), "{line}, the oracle");
            assert!(expected.stdout.is_empty(), "{line}, the oracle");
        }
    }
}

/// The report is the same with any number of partitions and threads, whatever sequences are
/// included.
#[test]
fn restrictions_do_not_depend_on_partitions() {
    let fixture = directory();
    for line in [
        "-db_hard_mask|21",
        "-gilist|gis",
        "-negative_seqidlist|ids",
        "-taxids|562|-db_hard_mask|21",
    ] {
        let report = |more: &str| {
            let mut arguments = Fixture::words("blastp|-query|q.fa|-db|db|-outfmt|6");
            arguments.extend(Fixture::words(line));
            arguments.extend(Fixture::words(more));
            run(&fixture, &ours(), &arguments).stdout
        };
        let whole = report("-partitions|1|-num_threads|1");
        assert!(!whole.is_empty(), "{line}");
        for more in ["-partitions|3", "-partitions|10|-num_threads|2"] {
            assert!(report(more) == whole, "{line} {more}");
        }
    }
}
