//! Searches and other commands with little memory or few threads. A process writes the right bytes,
//! or ends with one message and exit code 4. It never ends by a signal or a panic, and leaves no
//! part of a report under its name.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use crate::sandbox::{Sandbox, message};

/// Step between two limits in kilobytes. The first limit just suffices to load the program, with
/// the last one it succeeds.
const STEP: usize = 400;
/// A limit in kilobytes with which every run here succeeds.
const ENOUGH: usize = 20_000_000;
/// Start of the message of a process that lacks memory.
const OUT_OF_MEMORY: &str = "BLAST ran out of memory";
/// Exit code of a process that lacks memory, as of BLAST+.
const MEMORY: i32 = 4;

fn run_with_memory_limit(sandbox: &Sandbox, limit: &str, arguments: &str) -> Output {
    let script = format!("{limit} && program=$1 && exec \"$program\" {arguments}");
    sandbox.shell(&script, &[]).env("RUST_BACKTRACE", "0").output().expect("a shell")
}

/// Counts the lines on standard error, without warnings of other kinds.
fn messages(said: &str) -> usize {
    // The C library and Rust's print lines of their own when they run out of memory.
    let other = ["Warning: ", "Fatal glibc error: ", "memory allocation of ", "note: run with "];
    let is_other = |line: &&str| other.iter().any(|start| line.starts_with(start));
    // Two threads may run out of memory at once, and one may print amid a line of the other.
    said.lines().filter(|line| !is_other(line) || line.contains(OUT_OF_MEMORY)).count()
}

/// Returns the least memory, in kilobytes, with which the system can load the program. With less
/// the system prints an error, or kills the program.
fn loadable(sandbox: &Sandbox) -> usize {
    let loads = |kilobytes: usize| {
        let output = run_with_memory_limit(sandbox, &format!("ulimit -v {kilobytes}"), "-version");
        matches!(output.status.code(), Some(0 | MEMORY))
    };
    (1..).map(|step| step * STEP).find(|&kilobytes| loads(kilobytes)).expect("a limit")
}

/// Runs with growing limits until three runs in a row succeed. Returns the number of runs that
/// failed for lack of memory. `check` gets whether a run succeeded, and its output.
fn sweep(sandbox: &Sandbox, arguments: &str, check: impl Fn(bool, &Output)) -> usize {
    let (mut failures, mut successes) = (0, 0);
    let mut kilobytes = loadable(sandbox);
    while successes < 3 {
        assert!(kilobytes < ENOUGH, "{arguments}: no success with {kilobytes} kB");
        let output = run_with_memory_limit(sandbox, &format!("ulimit -v {kilobytes}"), arguments);
        let said = message(&output);
        let place = format!("{arguments} in {kilobytes} kB: {:?}: {said}", output.status);
        match output.status.code() {
            Some(0) => (successes, kilobytes) = (successes + 1, kilobytes + 10 * STEP),
            code => {
                // BLAST+ ends like this if it cannot map an index of version 5.
                let unmapped =
                    code == Some(1) && said.contains("mdb_env_open: Cannot allocate memory");
                let is_refused =
                    code == Some(MEMORY) && messages(&said) == 1 && said.contains("emory");
                assert!(unmapped || is_refused, "{place}");
                // A mapped table takes far more than all else, so the limit grows faster.
                let step = STEP.max(kilobytes / 25);
                (failures, successes, kilobytes) = (failures + 1, 0, kilobytes + step);
            }
        }
        check(output.status.success(), &output);
        let parts = sandbox.names().into_iter().filter(|name| name.ends_with(".part"));
        assert_eq!(parts.collect::<Vec<_>>(), [""; 0], "{place}");
    }
    failures
}

#[test]
fn searches() {
    let sandbox = Sandbox::new();
    let expected = sandbox.run(&[]).stdout;
    assert!(!expected.is_empty());
    let report = sandbox.path("report");
    for (threads, more) in [("1", ""), ("2", ""), ("1", "-ranks 2"), ("1", "-loader read")] {
        let line = format!(
            "blastp -query q.fa -db db -outfmt 6 -num_threads {threads} -out report {more}"
        );
        let failures = sweep(&sandbox, &line, |succeeded, output| {
            let found = fs::read(&report);
            match succeeded {
                true => assert_eq!(found.expect("a report"), expected, "{line}"),
                false => assert!(found.unwrap_or_default().is_empty(), "{}", message(output)),
            }
            let _ = fs::remove_file(&report);
        });
        assert!(failures > 0, "{line}: the first limits must not suffice");
    }
}

/// A window of two hits takes no more memory than the sequences need, however long it is.
#[test]
fn windows_longer_than_all_sequences() {
    let sandbox = Sandbox::new();
    let output = |window: i32| {
        let line = format!("blastp -query q.fa -db db -outfmt 6 -window_size {window}");
        let output = run_with_memory_limit(&sandbox, "ulimit -v 2000000", &line);
        assert!(output.status.success(), "{window}: {}", message(&output));
        output.stdout
    };
    let expected = output(100_000);
    assert!(!expected.is_empty());
    for window in [1_000_000_000, i32::MAX] {
        assert_eq!(output(window), expected, "{window}");
    }
}

#[test]
fn an_older_report_stays() {
    let sandbox = Sandbox::new();
    let expected = sandbox.run(&[]).stdout;
    let line = "blastp -query q.fa -db db -outfmt 6 -num_threads 2 -out report";
    sandbox.write("report", "older\n");
    let failures = sweep(&sandbox, line, |succeeded, _| {
        let wanted = if succeeded { &expected[..] } else { b"older\n" };
        assert_eq!(fs::read(sandbox.path("report")).expect("a report"), wanted);
        sandbox.write("report", "older\n");
    });
    assert!(failures > 0);
}

#[test]
fn databases() {
    let sandbox = Sandbox::new();
    let expected = run_with_memory_limit(&sandbox, "true", "blastdbcmd -db db -entry all").stdout;
    assert!(!expected.is_empty());
    let failures = sweep(&sandbox, "blastdbcmd -db db -entry all", |succeeded, output| {
        assert!(!succeeded || output.stdout == expected);
    });
    assert!(failures > 0);
    for version in ["4", "5"] {
        let line =
            format!("makeblastdb -in q.fa -dbtype prot -out made -blastdb_version {version}");
        let failures = sweep(&sandbox, &line, |succeeded, _| {
            let made = sandbox.names().into_iter().filter(|name| name.starts_with("made."));
            let made: Vec<String> = made.collect();
            assert_eq!(succeeded, made.iter().any(|name| name == "made.pin"), "{made:?}");
            assert!(succeeded || made.is_empty(), "{made:?}");
            for name in made {
                fs::remove_file(sandbox.path(&name)).expect("it can be removed");
            }
        });
        assert!(failures > 0);
    }
}

/// The system limits the threads of ordinary users only: as root, the test runs the program as a
/// user without threads.
#[test]
fn few_threads() {
    let sandbox = Sandbox::new();
    let expected = sandbox.run(&[]).stdout;
    // Ranks make a report for standard output in a file here first.
    let mode = fs::Permissions::from_mode(0o777);
    fs::set_permissions(sandbox.path(""), mode).expect("permissions");
    fs::copy(env!("CARGO_BIN_EXE_fleetblast"), sandbox.path("program")).expect("a copy");
    let (mut failures, mut successes) = (0, 0);
    for more in ["", "-ranks 2"] {
        for threads in 1..30 {
            let script = format!(
                "as_user() {{ if [ $(id -u) = 0 ]; then setpriv --reuid=64321 --clear-groups \"$@\"; \
                 else \"$@\"; fi; }}\n\
                 as_user prlimit --nproc={threads} ./program blastp -query q.fa -db db -outfmt 6 \
                 -num_threads 1 {more}"
            );
            let output = sandbox.shell(&script, &[]).output().expect("a shell");
            let said = message(&output);
            match output.status.code() {
                Some(0) => assert_eq!(output.stdout, expected),
                code => assert_eq!((code, messages(&said)), (Some(MEMORY), 1), "{said}"),
            }
            let counted = if output.status.success() { &mut successes } else { &mut failures };
            *counted += 1;
        }
    }
    assert!(failures > 5, "{failures} without enough, {successes} with");
}

/// With few open files a search writes the right report, or ends with a message about them and an
/// exit code of BLAST+.
#[test]
fn few_open_files() {
    let sandbox = Sandbox::new();
    let expected = sandbox.run(&[]).stdout;
    for more in ["", "-ranks 2", "-ranks 2 -checkpoint kept"] {
        let mut failures = 0;
        for files in 5..14 {
            let line = format!("blastp -query q.fa -db db -outfmt 6 -out report {more}");
            let output = run_with_memory_limit(&sandbox, &format!("ulimit -n {files}"), &line);
            let said = message(&output);
            let place = format!("{line} with {files} files: {:?}: {said}", output.status);
            match output.status.code() {
                Some(0) => {
                    assert_eq!(fs::read(sandbox.path("report")).expect("a report"), expected);
                }
                code => {
                    assert!(matches!(code, Some(1 | 2 | MEMORY | 6)), "{place}");
                    assert!(said.contains("open files") && !said.contains("memory"), "{place}");
                    failures += 1;
                }
            }
            let _ = fs::remove_dir_all(sandbox.path("kept"));
            let _ = fs::remove_file(sandbox.path("report"));
        }
        assert!((1..9).contains(&failures), "{more}: {failures} failures");
    }
}
