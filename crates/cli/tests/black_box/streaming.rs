//! Reports of the first queries come while the program still waits for more.

use std::fs::{self, File};
use std::io::{self, Write};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::patience::until_within;
use crate::sandbox::Sandbox;

/// Longest wait: more than enough for a short search on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// A query of 30 residues.
const RESIDUES: &str = "MKVLAADTGHIWQERTYPASDFGHKLCVNM";
/// Residues of queries in a batch of BLAST+'s `blastp`.
const BATCH: usize = 10_000;

/// Gives a program `queries` queries without closing its input, and waits for the report of the
/// first `reported` of them.
fn reports_before_the_end(program: &str, queries: usize, reported: usize) {
    let sandbox = Sandbox::new();
    let format = ["-query", "-", "-outfmt", "7 qacc sacc"];
    let mut command = sandbox.command_of(program, &format);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("a start");
    let mut stdin = child.stdin.take().expect("a pipe");
    let text: String = (0..queries).map(|number| format!(">q{number}\n{RESIDUES}\n")).collect();
    stdin.write_all(text.as_bytes()).expect("it reads");
    let mut report = File::create(sandbox.path("report")).expect("a file");
    let mut stdout = child.stdout.take().expect("a pipe");
    let reader = thread::spawn(move || io::copy(&mut stdout, &mut report));
    let last = format!("# Query: q{}\n", reported - 1);
    until_within(PATIENCE, "a report before the end of the input", || {
        fs::read_to_string(sandbox.path("report")).expect("a report").contains(&last)
    });
    drop(stdin);
    child.wait().expect("an end");
    reader.join().expect("a reader").expect("all of the report");
}

#[test]
fn blastp_reports_a_batch_when_it_has_read_the_next_query() {
    let batch = BATCH.div_ceil(RESIDUES.len());
    reports_before_the_end("blastp", batch + 2, batch);
}

#[test]
fn psiblast_reports_a_query_when_it_has_read_the_next_one() {
    reports_before_the_end("psiblast", 3, 1);
}
