//! Processes that were started together, but do not all search. Needs the launcher of the MPI
//! library: `MPIRUN`, else `mpirun`.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::launched::launched;
use crate::sandbox::Sandbox;

/// Longest wait for the end of all processes: more than their start takes.
const PATIENCE: Duration = Duration::from_secs(60);

const SEARCH: &[&str] =
    &["blastp", "-query", "q.fa", "-db", "db", "-outfmt", "6", "-num_threads", "1"];

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_fleetblast"))
}

/// Runs one process with the arguments `first`, and two with the arguments `others`. Returns exit
/// code, standard output and standard error.
fn run(sandbox: &Sandbox, first: &[&str], others: &[&str]) -> (Option<i32>, String, String) {
    let mut command: Command = launched(program(), 1);
    command.args(first).args([":", "-n", "2"]).arg(program()).args(others);
    command.current_dir(sandbox.path("")).env_remove("BLASTDB");
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the launcher");
    let start = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().expect("a child");
            panic!("{first:?} and {others:?} wait for each other");
        }
        thread::sleep(Duration::from_millis(20));
    }
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("text");
    child.stderr.take().expect("a pipe").read_to_string(&mut err).expect("text");
    (child.wait().expect("a child").code(), out, err)
}

/// Each rank runs a script of several commands. MPI can start only once in a rank, and the search
/// needs it.
#[test]
fn other_commands_may_come_before_a_search() {
    let sandbox = Sandbox::new();
    let script =
        "$0 blastdbcmd -db db -info && $0 blastp -version && $0 dbcheck -db db && exec $0 \"$@\"";
    let mut command: Command = launched(Path::new("sh"), 2);
    command.args(["-c", script]).arg(program()).args(SEARCH);
    command.current_dir(sandbox.path("")).env_remove("BLASTDB");
    let output = command.output().expect("the launcher");
    let [out, err] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("text"));
    assert!(output.status.success(), "{err}");
    let hits = String::from_utf8(sandbox.run(&["-outfmt", "6", "-num_threads", "1"]).stdout)
        .expect("text");
    assert!(!hits.is_empty() && out.contains(&hits), "{out}\n{err}");
}

#[test]
fn the_refusal_of_one_process_is_printed_once() {
    let sandbox = Sandbox::new();
    let refused: [(&[&str], &str); 3] = [
        (&["blastp", "-evalue", "x", "-query", "q.fa", "-db", "db"], "Error: Argument \"evalue\""),
        (&["blastp", "-query", "missing.fa", "-db", "db"], "missing.fa"),
        (&["rpsblast"], "does not have rpsblast yet"),
    ];
    for (wrong, text) in refused {
        for (first, second) in [(wrong, SEARCH), (SEARCH, wrong)] {
            let (code, out, err) = run(&sandbox, first, second);
            assert_eq!((code, &out[..]), (Some(1), ""), "{wrong:?}: {err}");
            assert_eq!(err.matches(text).count(), 1, "{wrong:?}: {err}");
        }
    }
}
