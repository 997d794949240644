//! Reports that cannot be written to their end.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::sandbox::{Sandbox, message, query};

/// Longest wait for the start of a report: more than enough on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn complete_report(sandbox: &Sandbox) -> Vec<u8> {
    let output = sandbox.run(&[]);
    assert!(output.status.success() && output.stdout.len() > 50, "{}", message(&output));
    output.stdout
}

fn parts(sandbox: &Sandbox) -> Vec<String> {
    sandbox.names().into_iter().filter(|name| name.contains(".part")).collect()
}

#[test]
fn places_that_cannot_be_written_are_refused_before_the_search() {
    let sandbox = Sandbox::new();
    for place in [".", "nosuch/report", "q.fa/report", ""] {
        let file = if place.is_empty() { "" } else { &format!("`{place}'") };
        sandbox.assert_refused(&["-out", place], 1, &["\"out\"", "not accessible", file]);
    }
}

#[test]
fn a_full_disk_is_named_with_file_and_byte() {
    let sandbox = Sandbox::new();
    for format in ["0", "5", "6", "7"] {
        let line = ["-outfmt", format, "-out", "/dev/full"];
        let said = sandbox.assert_refused(&line, 6, &["BLAST failed to write output", "/dev/full"]);
        assert!(said.contains("after 0 bytes") && said.contains("No space left"), "{said}");
        let full = File::options().write(true).open("/dev/full").expect("/dev/full");
        let output = sandbox.command(&["-outfmt", format]).stdout(full).output().expect("a run");
        assert_eq!(output.status.code(), Some(6));
        assert!(message(&output).contains("standard output after 0 bytes"), "{}", message(&output));
    }
}

#[test]
fn a_report_larger_than_allowed_leaves_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("many.fa", query().repeat(400));
    sandbox.write("old", "an older report\n");
    for out in ["new", "old"] {
        let line = ["-query", "many.fa", "-outfmt", "0", "-out", out];
        let output = sandbox.shell("ulimit -f 8 && exec \"$@\"", &line).output().expect("a shell");
        let said = message(&output);
        assert_eq!(output.status.code(), Some(6), "{said}");
        assert!(said.contains(out) && said.contains("bytes: File too large"), "{said}");
    }
    assert_eq!(fs::read(sandbox.path("new")).expect("an empty file"), b"");
    assert!(parts(&sandbox).is_empty(), "{:?}", sandbox.names());
    assert_eq!(fs::read(sandbox.path("old")).expect("a file"), b"an older report\n");
}

/// The system sends a signal to a process that writes beyond the limit. This signal must end no
/// command.
#[test]
fn files_larger_than_allowed_are_errors_of_every_command() {
    let sandbox = Sandbox::new();
    for line in [
        "keygen -key key",
        "doctor -db db -json doctor.json",
        "blastp -db db -query q.fa -output records -out records",
    ] {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -f 0; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_fleetblast")]);
        command.args(line.split(' ')).current_dir(sandbox.path(""));
        let output = command.output().expect("a shell");
        assert!(output.status.code().is_some_and(|code| code > 0), "{line}: {}", output.status);
        assert!(!message(&output).is_empty(), "{line}");
    }
    assert!(!sandbox.path("key").exists());
}

/// A program that can open no more files removes the files that it has made.
#[test]
fn makeblastdb_without_open_files_leaves_nothing() {
    let sandbox = Sandbox::new();
    let before = sandbox.names();
    let mut refused = 0;
    for limit in 4..16 {
        let script = format!(
            "ulimit -n {limit}; exec \"$0\" makeblastdb -in q.fa -dbtype prot -parse_seqids -out new"
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_fleetblast")]).stderr(Stdio::null());
        let output = command.current_dir(sandbox.path("")).output().expect("a shell");
        if output.status.success() {
            break;
        }
        refused += 1;
        assert_eq!(sandbox.names(), before, "with {limit} files: {}", output.status);
    }
    assert!(refused > 4, "{refused}");
}

#[test]
fn a_closed_pipe_ends_the_run_quietly() {
    let sandbox = Sandbox::new();
    for format in ["0", "5"] {
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let mut command = sandbox.command(&["-query", "-", "-outfmt", format]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(command);
        let mut stdin = child.stdin.take().expect("its input");
        // There are several blocks of queries, so a part of the report is written before the end.
        let feeder = std::thread::spawn(move || {
            let queries = query().repeat(100);
            while stdin.write_all(&queries).is_ok() {}
        });
        reader.read_exact(&mut [0; 10]).expect("the start of the report");
        drop(reader);
        let output = child.wait_with_output().expect("the program ends");
        feeder.join().expect("the feeder ends");
        assert_eq!((output.status.code(), message(&output)), (Some(141), String::new()));
    }
}

#[test]
fn standard_output_that_is_not_for_writing_is_an_error() {
    let sandbox = Sandbox::new();
    let readable = File::open(sandbox.path("q.fa")).expect("a file");
    let output = sandbox.command(&[]).stdout(readable).output().expect("a run");
    assert_eq!(output.status.code(), Some(6));
    assert!(message(&output).contains("standard output"), "{}", message(&output));
}

/// A run that has begun its report and waits for more queries.
struct WaitingRun {
    child: Child,
    stdin: ChildStdin,
}

impl WaitingRun {
    fn start(sandbox: &Sandbox, mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut stdin = child.stdin.take().expect("its input");
        stdin.write_all(&query()).expect("it reads");
        let start = Instant::now();
        while parts(sandbox).is_empty() {
            assert!(start.elapsed() < PATIENCE, "no report was begun: {:?}", sandbox.names());
            sleep(Duration::from_millis(5));
        }
        Self { child, stdin }
    }

    fn signal(&self, name: &str) {
        let number = self.child.id().to_string();
        let status = Command::new("sh").args(["-c", "kill -s $0 $1", name, &number]).status();
        assert!(status.expect("a shell").success());
    }

    fn end(self) -> Output {
        drop(self.stdin);
        self.child.wait_with_output().expect("the program ends")
    }
}

#[test]
fn an_interrupted_run_leaves_nothing_and_dies_by_the_signal() {
    let sandbox = Sandbox::new();
    sandbox.write("old", "an older report\n");
    let signals = [("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3), ("USR1", 10), ("USR2", 12)];
    for (name, number) in signals {
        for out in ["new", "old"] {
            // Signals may be ignored in the tests themselves: shells do that for background jobs.
            let script = "ulimit -c 0; exec env --default-signal=INT,TERM,HUP,QUIT \"$@\"";
            let command = sandbox.shell(script, &["-query", "-", "-out", out]);
            let waiting = WaitingRun::start(&sandbox, command);
            waiting.signal(name);
            let output = waiting.child.wait_with_output().expect("the program ends");
            drop(waiting.stdin);
            assert_eq!(output.status.signal(), Some(number), "{}", message(&output));
            assert!(parts(&sandbox).is_empty() && !sandbox.path("new").exists());
        }
    }
    assert_eq!(fs::read(sandbox.path("old")).expect("a file"), b"an older report\n");
}

/// The shell ignores signals for its child, like `nohup`.
#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    let sandbox = Sandbox::new();
    let expected = complete_report(&sandbox);
    let script = "trap '' HUP INT && exec \"$@\"";
    let waiting =
        WaitingRun::start(&sandbox, sandbox.shell(script, &["-query", "-", "-out", "new"]));
    waiting.signal("HUP");
    waiting.signal("INT");
    let output = waiting.end();
    assert_eq!(output.status.code(), Some(0), "{}", message(&output));
    assert_eq!(fs::read(sandbox.path("new")).expect("a report"), expected);
}

#[test]
fn links_stay_links_and_files_keep_their_permissions() {
    let sandbox = Sandbox::new();
    let expected = complete_report(&sandbox);
    sandbox.write("real", [b'x'; 1000]);
    let mode = fs::Permissions::from_mode(0o640);
    fs::set_permissions(sandbox.path("real"), mode.clone()).expect("permissions");
    symlink("real", sandbox.path("link")).expect("a link");
    assert!(sandbox.run(&["-out", "link"]).status.success());
    assert!(fs::symlink_metadata(sandbox.path("link")).expect("a link").is_symlink());
    assert_eq!(fs::read(sandbox.path("real")).expect("a report"), expected);
    let found = fs::metadata(sandbox.path("real")).expect("a file").permissions().mode();
    assert_eq!(found & 0o777, 0o640);
    symlink("made", sandbox.path("dangling")).expect("a link");
    assert!(sandbox.run(&["-out", "dangling"]).status.success());
    assert_eq!(fs::read(sandbox.path("made")).expect("a report"), expected);
}

#[test]
fn names_of_any_length_pipes_and_open_files_are_written_to() {
    let sandbox = Sandbox::new();
    let expected = complete_report(&sandbox);
    let name = "n".repeat(255);
    assert!(sandbox.run(&["-out", &name]).status.success());
    assert_eq!(fs::read(sandbox.path(&name)).expect("a report"), expected);
    let script = "mkfifo pipe && { cat pipe > copy & \"$@\" && wait; }";
    let output = sandbox.shell(script, &["-out", "pipe"]).output().expect("a shell");
    assert!(output.status.success(), "{}", message(&output));
    assert_eq!(fs::read(sandbox.path("copy")).expect("a report"), expected);
    let open = File::create(sandbox.path("open")).expect("a file");
    let mut command = sandbox.command(&["-out", "/dev/stdout"]);
    assert!(command.stdout(open).status().expect("a run").success());
    assert_eq!(fs::read(sandbox.path("open")).expect("a report"), expected);
    assert!(parts(&sandbox).is_empty());
}

/// Queries from a named pipe are read once, from its start.
#[test]
fn a_named_pipe_is_a_query() {
    let sandbox = Sandbox::new();
    let expected = complete_report(&sandbox);
    let script = "mkfifo pipe && { cat q.fa > pipe & \"$@\"; }";
    let output = sandbox.shell(script, &["-query", "pipe"]).output().expect("a shell");
    assert!(output.status.success(), "{}", message(&output));
    assert_eq!(output.stdout, expected);
}
