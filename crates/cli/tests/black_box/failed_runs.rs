//! The file under the report's name after a run that fails. It is an empty file where BLAST+ leaves
//! one, since callers read the file that they named. An older report stays as it was.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use crate::common::{Fixture, complaint};

/// The state of the file that `-out` names after a run.
#[derive(Debug, PartialEq, Eq)]
enum OutputFileState {
    Nothing,
    Empty,
    Something,
}
use OutputFileState::{Empty, Nothing};

fn output_file_state(path: &Path) -> OutputFileState {
    match fs::read(path) {
        Err(_) => Nothing,
        Ok(bytes) if bytes.is_empty() => Empty,
        Ok(_) => OutputFileState::Something,
    }
}

/// Command lines that fail, and the output file that BLAST+ leaves; `|` separates words.
const FAILURES: &[(&str, OutputFileState)] = &[
    ("-query|q.fa|-db|nosuch", Empty),
    ("-query|q.fa|-db|db|-evalue|-1", Empty),
    ("-query|q.fa|-db|db|-matrix|NOSUCH", Empty),
    ("-query|q.fa|-db|db|-gapopen|3|-gapextend|7", Empty),
    ("-query|q.fa|-db|db|-query_loc|5-2", Empty),
    ("-query|empty.fa|-db|db|-outfmt|6", Empty),
    ("-query|bad.fa|-db|db|-outfmt|6", Empty),
    ("-query|nosuch|-db|db", Nothing),
    ("-query|q.fa", Nothing),
    ("-query|q.fa|-db|db|-outfmt|99", Nothing),
    ("-query|q.fa|-subject|nosuch", Nothing),
    ("-query|q.fa|-db|db|-nosuch|1", Nothing),
    ("-query|q.fa|-db|db|-evalue|x", Nothing),
];

fn prepare_fixture() -> Fixture {
    let fixture = Fixture::new();
    fs::write(fixture.path().join("bad.fa"), "MKV\x01\x02 !!\n").expect("a file");
    fs::write(fixture.path().join("empty.fa"), ">q1\n").expect("a file");
    fixture
}

fn line(line: &str, more: &[&str]) -> Vec<OsString> {
    let given = line.split('|').chain(["-out", "report"]).chain(more.iter().copied());
    given.map(OsString::from).collect()
}

#[test]
fn an_empty_file_is_left_where_blast_leaves_one() {
    let fixture = prepare_fixture();
    let report = fixture.path().join("report");
    for (given, expected) in FAILURES {
        let mut programs = vec![fixture.ours()];
        programs.extend(fixture.oracle.map(|oracle| oracle.program("blastp")));
        for program in programs {
            let output = fixture.run(&program, &line(given, &[]), &[]);
            assert!(!output.status.success(), "{program:?} {given}");
            assert_eq!(
                output_file_state(&report),
                *expected,
                "{program:?} {given}: {}",
                complaint(&output)
            );
            let _ = fs::remove_file(&report);
        }
    }
}

#[test]
fn ranks_leave_the_same() {
    let fixture = prepare_fixture();
    let report = fixture.path().join("report");
    let kept = ["-ranks", "2", "-checkpoint", "kept"];
    for (given, expected) in FAILURES.iter().filter(|(given, _)| given.contains("-db")) {
        for ranks in [&kept[..2], &kept] {
            let output = fixture.run(&fixture.ours(), &line(given, ranks), &[]);
            assert!(!output.status.success(), "{given}");
            assert_eq!(
                output_file_state(&report),
                *expected,
                "{given} {ranks:?}: {}",
                complaint(&output)
            );
            let _ = fs::remove_file(&report);
            let _ = fs::remove_dir_all(fixture.path().join("kept"));
        }
    }
    let planned = line("-query|q.fa|-db|nosuch|-plan", &["-ranks", "2"]);
    assert!(!fixture.run(&fixture.ours(), &planned, &[]).status.success());
    assert_eq!(output_file_state(&report), Nothing, "a plan makes no report");
}

#[test]
fn an_older_report_stays_as_it_was() {
    let fixture = prepare_fixture();
    let report = fixture.path().join("report");
    fs::write(&report, "an older report\n").expect("a file");
    for (given, _) in FAILURES {
        for ranks in [&[][..], &["-ranks", "2"]] {
            let output = fixture.run(&fixture.ours(), &line(given, ranks), &[]);
            assert!(!output.status.success(), "{given}");
            assert_eq!(fs::read(&report).expect("a file"), b"an older report\n", "{given}");
        }
    }
}
