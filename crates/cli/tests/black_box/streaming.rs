//! Reports of the first queries come while the program still waits for more.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::sandbox::Sandbox;

/// More than enough for a short search on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// A query of 30 residues.
const RESIDUES: &str = "MKVLAADTGHIWQERTYPASDFGHKLCVNM";
/// Residues of the queries that BLAST+'s blastp searches together.
const BATCH: usize = 10_000;

/// Gives a program `queries` queries without closing its input, and waits for the report of the
/// first `reported` of them.
fn reports_before_the_end(program: &str, queries: usize, reported: usize) {
    let sandbox = Sandbox::new();
    let format = ["-query", "-", "-outfmt", "7 qacc sacc"];
    let mut command = sandbox.command_of(program, &format);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a start");
    let mut stdin = child.stdin.take().expect("a pipe");
    let text: String = (0..queries).map(|number| format!(">q{number}\n{RESIDUES}\n")).collect();
    stdin.write_all(text.as_bytes()).expect("it reads");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let (send, received) = mpsc::channel();
    let reader = thread::spawn(move || {
        lines.map_while(Result::ok).try_for_each(|line| send.send(line)).is_ok()
    });
    let last = format!("# Query: q{}", reported - 1);
    while received.recv_timeout(PATIENCE).expect("a report before the end of the input") != last {}
    drop(stdin);
    drop(received);
    child.wait().expect("an end");
    reader.join().expect("a reader");
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
