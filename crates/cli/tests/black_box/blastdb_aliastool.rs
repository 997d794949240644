//! `blastdb_aliastool`: files, messages and exit codes equal the oracle's, and a run that fails or
//! is killed leaves no part of a file under its name. `difftest aliastool` has the whole table.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::{Fixture, complaint};
use fleetblast_oracle::without_own_sections;

/// Number of runs of both programs before a difference counts: lists contain the minute.
const ATTEMPTS: usize = 3;
const NAME: &str = "blastdb_aliastool";
/// Sequences with identifiers of several kinds.
const PROTEINS: &str = ">sp|P69905.2|HBA_HUMAN a\nMKVLAADTGHIWQERTYPASDFGHKLCVNMAA\n\
     >gi|7|ref|NP_000549.1| b\nGGHIWQERTYPASDFGHKL\n>loc1 c\nMKVLAADTGHIWQERTYP\n";
/// Command lines, whose words are separated by `|`.
const LINES: [&str; 22] = [
    "-h",
    "-help",
    "",
    "-gi_file_in|gis",
    "-gi_file_in|gis|-gi_file_out|made",
    "-gi_file_in|nosuch",
    "-seqid_file_in|ids",
    "-seqid_file_in|ids|-seqid_db|x5|-seqid_title|t|-seqid_file_out|made",
    "-seqid_file_in|ids|-seqid_db|x4",
    "-seqid_file_in|gis|-seqid_db|nosuch",
    "-seqid_file_info|ids",
    "-seqid_file_out|made",
    "-db|x5|-seqidlist|ids|-out|made",
    "-db|x4|-gilist|gis|-out|made|-title|t",
    "-db|x5|-taxidlist|gis|-out|made",
    "-db|x5|-gilist|nosuch|-out|made",
    "-db|x5|-out|made",
    "-dblist|x5 x4|-dbtype|prot|-title|t|-out|made",
    "-dblist|x5  db|-dbtype|prot|-title|t|-out|made",
    "-dblist_file|ids|-dbtype|prot|-title|t|-out|made",
    "-num_volumes|2|-dbtype|prot|-title|t|-out|made",
    "-vdblist|a b|-dblist|x5|-dbtype|prot|-title|t|-out|made",
];

fn fixture() -> Option<Fixture> {
    let fixture = Fixture::new();
    let oracle = fixture.oracle?;
    let write = |name: &str, text: &str| fs::write(fixture.path().join(name), text).unwrap();
    write("p.fa", PROTEINS);
    write("gis", "7\n5\n# no\nx\n9\r\n");
    write("ids", "P69905\nNP_000549.1\n# no\nloc1 \nnone\n");
    for (name, version) in [("x4", "4"), ("x5", "5")] {
        let mut command = oracle.command("makeblastdb");
        command.args(["-in", "p.fa", "-dbtype", "prot", "-parse_seqids", "-out", name]);
        command.args(["-blastdb_version", version]).current_dir(fixture.path());
        assert!(command.output().unwrap().status.success());
    }
    Some(fixture)
}

/// Returns the files of a directory with their contents, without the digits of dates.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.is_file());
    let file = |path: std::path::PathBuf| {
        let mut bytes = fs::read(&path).unwrap();
        if let Some(date) = bytes.strip_prefix(b"#\n# Alias file created ") {
            let length = bytes.len() - date.len();
            bytes[length..length + 19].fill(b'0');
        }
        (path.file_name().unwrap().to_string_lossy().into_owned(), bytes)
    };
    files.map(file).collect()
}

#[test]
fn files_and_messages_are_those_of_the_oracle() {
    let Some(fixture) = fixture() else { return };
    let ours = fixture.called(NAME);
    let theirs = fixture.oracle.unwrap().program(NAME);
    let before = files(fixture.path());
    for line in LINES {
        let run_both = || {
            [&theirs, &ours].map(|program| {
                let output = fixture.run(program, &Fixture::words(line), &[]);
                let made = files(fixture.path());
                for name in made.keys().filter(|name| !before.contains_key(*name)) {
                    fs::remove_file(fixture.path().join(name)).unwrap();
                }
                (complaint(&output), without_own_sections(&output.stdout).to_vec(), made)
            })
        };
        let mut results = run_both();
        for _ in 1..ATTEMPTS {
            if results[0] != results[1] {
                results = run_both();
            }
        }
        let [wanted, found] = results;
        assert_eq!(wanted, found, "{line}");
    }
}

/// If the alias fails, the list of an older alias stays: the older alias would silently include the
/// sequences of a new list. Without an older alias, BLAST+'s files are left.
#[test]
fn an_alias_that_fails_leaves_the_list_of_the_older_one() {
    let Some(fixture) = fixture() else { return };
    let ours = fixture.called(NAME);
    fs::write(fixture.path().join("none"), "99\n").unwrap();
    fs::create_dir(fixture.path().join("sub")).unwrap();
    let run = |line: &str| fixture.run(&ours, &Fixture::words(line), &[]).status.code();
    let line = "-db|x4|-gilist|gis|-out|made";
    assert_eq!(run(line), Some(0));
    let older = files(fixture.path());
    for line in [
        "-db|x4|-gilist|none|-out|made",
        "-db|nosuch|-gilist|none|-out|made",
        "-dblist|x4 nosuch|-gilist|none|-out|made|-dbtype|prot|-title|t",
    ] {
        assert_eq!(run(line), Some(2), "{line}");
        assert_eq!(files(fixture.path()), older, "{line}");
    }
    assert_eq!(run("-db|x4|-gilist|none|-out|other"), Some(2));
    assert!(fixture.path().join("other.p.gil").exists());
    // The alias states a path that begins in its own directory, where there is no such list.
    let there = fixture.path().join("x4").display().to_string();
    assert_eq!(run(&format!("-db|{there}|-gilist|gis|-out|sub/made")), Some(2));
    assert_eq!(run(&format!("-db|{there}|-gilist|gis|-out|./here")), Some(0));
}

#[test]
fn an_older_file_stays_until_the_new_one_is_complete() {
    let Some(fixture) = fixture() else { return };
    let ours = fixture.called(NAME);
    let alias = fixture.path().join("made.pal");
    let run = |line: &str| fixture.run(&ours, &Fixture::words(line), &[]);
    assert!(run("-db|x5|-seqidlist|ids|-out|made").status.success());
    let older = fs::read(&alias).unwrap();
    assert_eq!(run("-db|x5|-taxidlist|gis|-out|made").status.code(), Some(2));
    assert_eq!(fs::read(&alias).unwrap(), older);
    fs::write(fixture.path().join("made"), "older").unwrap();
    assert_eq!(run("-seqid_file_in|gis|-seqid_db|x4|-seqid_file_out|made").status.code(), Some(2));
    assert_eq!(run("-seqid_file_in|ids|-seqid_file_out|nosuch/made").status.code(), Some(6));
    assert_eq!(fs::read(fixture.path().join("made")).unwrap(), b"older");
}

#[test]
fn a_killed_run_leaves_a_whole_file_or_none() {
    let Some(fixture) = fixture() else { return };
    let ours = fixture.called(NAME);
    let gis: String = (1..300_000).map(|gi| format!("{gi}\n")).collect();
    fs::write(fixture.path().join("many"), gis).unwrap();
    let made = fixture.path().join("made");
    let line = ["-gi_file_in", "many", "-gi_file_out", "made"];
    let mut killed = 0;
    for millisecond in 0..40 {
        let _ = fs::remove_file(&made);
        let mut child = Command::new(&ours)
            .args(line)
            .current_dir(fixture.path())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(millisecond));
        child.kill().unwrap();
        killed += usize::from(child.wait().unwrap().signal() == Some(9));
        let length = fs::metadata(&made).map_or(0, |made| made.len());
        assert!([0, 8 + 4 * 299_999].contains(&length), "{length} bytes");
    }
    assert!(killed > 0, "no run was killed");
    assert!(fixture.run(&ours, &line.map(Into::into), &[]).status.success());
    assert!(files(fixture.path()).keys().all(|name| !name.ends_with(".part")), "a part is left");
}
