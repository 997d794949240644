//! Programs started without standard input, output or error.

use std::fs;
use std::process::Output;

use crate::sandbox::{Sandbox, message};

/// Runs the program as a shell does with these redirections.
fn run(sandbox: &Sandbox, redirections: &str, line: &str) -> Output {
    let script = format!("program=$1; exec \"$program\" {line} {redirections}");
    sandbox.shell(&script, &[]).output().expect("a shell")
}

#[test]
fn what_cannot_be_written_to_a_closed_output_is_an_error() {
    let sandbox = Sandbox::new();
    let search = "blastp -query q.fa -db db";
    let mut lines: Vec<String> =
        ["0", "5", "6", "7", "10"].iter().map(|f| format!("{search} -outfmt {f}")).collect();
    for line in [
        &format!("{search} -out -"),
        &format!("{search} -ranks 2"),
        &format!("{search} -timing - -out timed"),
        &format!("{search} -plan -ranks 2"),
        "blastp -help",
        "blastdbcmd -db db -info",
        "blastdbcmd -db db -entry all",
        "dbcheck -db db",
        "doctor -db db -seconds 1",
        "simulate -ranks 64 -queries 2",
        "-version",
        "-help",
    ] {
        lines.push(line.to_owned());
    }
    for line in lines {
        let output = run(&sandbox, ">&-", &line);
        let said = message(&output);
        assert_eq!(output.status.code(), Some(6), "{line}: {said}");
        assert!(said.starts_with("BLAST failed to write output"), "{line}: {said}");
        assert_eq!(said.lines().count(), 1, "{line}: {said}");
    }
}

#[test]
fn a_report_in_a_file_needs_no_standard_streams() {
    let sandbox = Sandbox::new();
    let expected = sandbox.run(&[]).stdout;
    assert!(!expected.is_empty());
    for ranks in ["", "-ranks 2"] {
        let line = format!("blastp -query q.fa -db db -outfmt 6 -out report {ranks}");
        let output = run(&sandbox, "<&- >&- 2>&-", &line);
        assert_eq!(output.status.code(), Some(0), "{}", message(&output));
        assert_eq!(fs::read(sandbox.path("report")).expect("a report"), expected);
        fs::remove_file(sandbox.path("report")).expect("it can be removed");
    }
}

/// BLAST+ also makes the database, and prints no message.
#[test]
fn a_database_is_made_without_its_log() {
    let sandbox = Sandbox::new();
    let made = run(&sandbox, ">&-", "makeblastdb -in q.fa -dbtype prot -out made");
    assert_eq!((made.status.code(), message(&made)), (Some(0), String::new()));
    assert_eq!(run(&sandbox, "", "dbcheck -db made").status.code(), Some(0));
}

#[test]
fn a_closed_input_is_no_empty_one() {
    let sandbox = Sandbox::new();
    for (line, says) in [
        ("blastp -db db", "BLAST query error: standard input: it is closed"),
        ("blastp -query - -db db -ranks 2", "BLAST query error: standard input: it is closed"),
        ("blastp -query q.fa -subject -", "BLAST query error: standard input: it is closed"),
        ("blastdbcmd -db db -entry_batch -", "\"entry_batch\". File is not accessible:  `-'"),
        ("makeblastdb -in - -title t -dbtype prot -out made", "standard input: cannot open"),
    ] {
        let output = run(&sandbox, "<&-", line);
        let said = message(&output);
        assert_eq!(output.status.code(), Some(1), "{line}: {said}");
        assert!(said.contains(says), "{line}: {said}");
    }
}

/// The messages are lost, and do not get into the file that was opened first.
#[test]
fn messages_without_standard_error_get_into_no_file() {
    let sandbox = Sandbox::new();
    let before: Vec<Vec<u8>> = contents(&sandbox);
    let twice = [fs::read(sandbox.path("q.fa")).expect("a query"), b">q2\nOOOOMKVLA\n".to_vec()];
    sandbox.write("warned.fa", twice.concat());
    let plain = run(&sandbox, "", "blastp -query warned.fa -db db -outfmt 6 -out plain");
    assert!(message(&plain).contains("Warning"), "there must be something to say");
    let mute = run(&sandbox, "2>&-", "blastp -query warned.fa -db db -outfmt 6 -out mute");
    assert_eq!((mute.status.code(), plain.status.code()), (Some(0), Some(0)));
    let [plain, mute] = ["plain", "mute"].map(|name| fs::read(sandbox.path(name)).expect(name));
    assert_eq!(plain, mute);
    assert_eq!(run(&sandbox, "2>&-", "blastp -query no -db db").status.code(), Some(1));
    assert_eq!(contents(&sandbox), before);
}

/// Returns the contents of the files that every sandbox has.
fn contents(sandbox: &Sandbox) -> Vec<Vec<u8>> {
    let names = ["db.pin", "db.psq", "db.phr", "q.fa"];
    names.iter().map(|name| fs::read(sandbox.path(name)).expect("a file")).collect()
}
