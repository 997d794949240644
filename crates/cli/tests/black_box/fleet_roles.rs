//! Processes that were started together and do not all search: all end, soon, and one tells why. Needs the launcher of the MPI
//! library: `MPIRUN`, else `mpirun`.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::launched::launched;
use crate::sandbox::Sandbox;

/// More than it takes to start.
const PATIENCE: Duration = Duration::from_secs(60);

const SEARCH: &[&str] =
    &["blastp", "-query", "q.fa", "-db", "db", "-outfmt", "6", "-num_threads", "1"];

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_fleetblast"))
}

/// One process with the first arguments and two with the second; exit code, standard output and standard error.
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

#[test]
fn all_search_or_none_does() {
    let sandbox = Sandbox::new();
    let others: [&[&str]; 5] = [
        &["blastp", "-version"],
        &["blastp", "-help"],
        &["help"],
        &["blastdbcmd", "-db", "db", "-info"],
        &["dbcheck", "-db", "db"],
    ];
    for other in others {
        for (first, second, rank) in [(other, SEARCH, 0), (SEARCH, other, 1)] {
            let (code, _, err) = run(&sandbox, first, second);
            assert_eq!(code, Some(1), "{other:?}: {err}");
            let wanted = format!("Error: rank {rank} runs '{}' while rank ", other.join(" "));
            assert_eq!(err.matches(&wanted).count(), 1, "{other:?}: {err}");
        }
    }
    let (code, out, err) = run(&sandbox, &["blastp", "-version"], &["blastp", "-version"]);
    assert_eq!((code, out.matches("blastp: ").count()), (Some(0), 1), "{err}");
}

#[test]
fn what_one_process_refuses_is_told_once() {
    let sandbox = Sandbox::new();
    let refused: [(&[&str], &str); 3] = [
        (&["blastp", "-evalue", "x", "-query", "q.fa", "-db", "db"], "Error: Argument \"evalue\""),
        (&["blastp", "-query", "missing.fa", "-db", "db"], "missing.fa"),
        (&["blastn"], "does not have blastn yet"),
    ];
    for (wrong, text) in refused {
        for (first, second) in [(wrong, SEARCH), (SEARCH, wrong)] {
            let (code, out, err) = run(&sandbox, first, second);
            assert_eq!((code, &out[..]), (Some(1), ""), "{wrong:?}: {err}");
            assert_eq!(err.matches(text).count(), 1, "{wrong:?}: {err}");
        }
    }
}
