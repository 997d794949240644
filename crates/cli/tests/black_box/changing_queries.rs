//! Query files that are written to while a program reads them. The output is that of the queries
//! before the change, or an error names the file and there is no file under the report's name.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::patience::until_within;
use crate::sandbox::{Sandbox, message, query};

/// Longest wait: more than enough for a short search on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Exit code of queries that cannot be used.
const INPUT: i32 = 1;
/// Number of queries. With titles of `TITLE` bytes they are several times larger than the program's
/// buffers for reading and writing.
const QUERIES: usize = 1500;
const TITLE: usize = 4000;

/// Returns queries with these letters. Other letters of the same number make a file of the same
/// length.
fn queries(letters: &str) -> Vec<u8> {
    let title = "no-1 ".repeat(TITLE / 5);
    let one = |number| format!(">q{number:04} {title}\n{letters}\n");
    let mut text = query();
    (0..QUERIES).for_each(|number| text.extend(one(number).into_bytes()));
    text
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("q.fa", queries("MKVLAAGIV"));
    sandbox
}

/// Overwrites the query file from its start.
fn overwrite(sandbox: &Sandbox, queries: &[u8]) {
    let mut file = File::options().write(true).open(sandbox.path("q.fa")).expect("the queries");
    file.write_all(queries).expect("room");
}

#[test]
fn what_was_printed_is_of_the_queries_as_they_were() {
    let format = ["-outfmt", "7"];
    let right = sandbox().run(&format);
    assert!(right.status.success(), "{}", message(&right));
    let others = queries("AAGIVMKVL");
    for more in [&b""[..], b">more\nMKV\n"] {
        let sandbox = sandbox();
        let mut command = sandbox.command(&format);
        // There are warnings of queries, which must not fill a pipe.
        let warnings = File::create(sandbox.path("warnings")).expect("a file");
        let mut child = command.stdout(Stdio::piped()).stderr(warnings).spawn().expect("a start");
        let mut first = [0; 1];
        child.stdout.as_mut().expect("a pipe").read_exact(&mut first).expect("its first byte");
        // The program waits until the test reads more of the report.
        overwrite(&sandbox, &[&others, more].concat());
        let output = child.wait_with_output().expect("an end");
        let said = fs::read_to_string(sandbox.path("warnings")).expect("warnings");
        assert_eq!(output.status.code(), Some(INPUT), "{said}");
        assert!(said.contains("q.fa") && said.contains("the file has changed"), "{said}");
        let printed = [&first[..], &output.stdout].concat();
        assert!(printed.len() < right.stdout.len() && right.stdout.starts_with(&printed));
    }
}

/// Runs a search whose queries are overwritten as soon as it begins its report.
fn attack(options: &[&str]) {
    let (sandbox, others) = (sandbox(), queries("AAGIVMKVL"));
    sandbox.write("report", "an older report\n");
    let options = [options, &["-outfmt", "7", "-out", "report"]].concat();
    let mut command: Command = sandbox.command(&options);
    let warnings = File::create(sandbox.path("warnings")).expect("a file");
    let mut child = command.stderr(warnings).spawn().expect("a start");
    until_within(PATIENCE, "the beginning of a report", || {
        sandbox.names().iter().any(|name| name.ends_with(".part"))
            || child.try_wait().expect("a child").is_some()
    });
    overwrite(&sandbox, &others);
    let output = child.wait_with_output().expect("an end");
    let said = fs::read_to_string(sandbox.path("warnings")).expect("warnings");
    if output.status.code() == Some(0) && options.contains(&"-io_ranks") {
        // The I/O ranks may begin the report only when all queries are read, too late for an
        // effect.
        let report = fs::read(sandbox.path("report")).expect("a report");
        sandbox.write("q.fa", queries("MKVLAAGIV"));
        assert!(report == sandbox.run(&["-outfmt", "7"]).stdout, "{options:?}");
        return;
    }
    assert_eq!(output.status.code(), Some(INPUT), "{options:?}: {said}");
    assert!(said.contains("q.fa") && said.contains("the file has changed"), "{said}");
    assert_eq!(fs::read(sandbox.path("report")).expect("a report"), b"an older report\n");
    if options.contains(&"-checkpoint") {
        let again = sandbox.run(&[&options[..], &["-resume"]].concat());
        assert!(!again.status.success() && message(&again).contains("quer"), "{}", message(&again));
    }
}

#[test]
fn nothing_is_published_of_queries_that_have_changed() {
    attack(&[]);
    attack(&["-ranks", "3"]);
    attack(&["-ranks", "3", "-checkpoint", "kept"]);
    attack(&["-ranks", "3", "-io_ranks", "1", "-metadata", "hits"]);
}
