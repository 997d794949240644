//! Unfinished files in directories where others may write, too; and files of killed runs, and of
//! runs that wake up after others took them for dead.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, symlink};
use std::process::{Child, Command, Output, Stdio};

use crate::patience::wait_until;
use crate::sandbox::{Sandbox, message, query};

/// Number of queries of a job that takes long enough to be stopped.
const MANY: usize = 1_500;

fn parts(sandbox: &Sandbox) -> Vec<String> {
    sandbox.names().into_iter().filter(|name| name.ends_with(".part")).collect()
}

/// Counts the hidden files that the runs that made them have locked. Before a run has locked its
/// file, another run may take it for abandoned; the first run then makes another file.
fn locked_parts(sandbox: &Sandbox) -> usize {
    let locks = fs::read_to_string("/proc/locks").expect("the kernel's list of locks");
    let is_locked = |name: &String| {
        let file = fs::metadata(sandbox.path(name));
        file.is_ok_and(|file| locks.contains(&format!(":{} ", file.ino())))
    };
    parts(sandbox).iter().filter(|name| is_locked(name)).count()
}

/// A run of the program, which is killed when dropped unless the test has waited for its end.
struct Run(Option<Child>);

impl Run {
    fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        let mut command = sandbox.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Run(Some(command.spawn().expect("the program starts")))
    }

    /// Starts a run that reads queries from standard input. Returns when it has begun its report in
    /// a hidden file.
    fn waiting(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        let before = locked_parts(sandbox);
        let mut run = Self::start(sandbox, &[&["-query", "-"], arguments].concat());
        let stdin = run.child().stdin.as_mut().expect("its input");
        stdin.write_all(&query()).expect("it reads");
        wait_until("a hidden file", || locked_parts(sandbox) > before);
        run
    }

    fn child(&mut self) -> &mut Child {
        self.0.as_mut().expect("not waited for yet")
    }

    fn signal(&mut self, name: &str) {
        let number = self.child().id().to_string();
        let status = Command::new("sh").args(["-c", "kill -s $0 $1", name, &number]).status();
        assert!(status.expect("a shell").success());
    }

    fn end(mut self) -> Output {
        let child = self.0.take().expect("not waited for yet");
        child.wait_with_output().expect("the program ends")
    }

    fn kill(mut self) {
        self.child().kill().expect("it lives");
        self.child().wait().expect("it ends");
        self.0 = None;
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn assert_success(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}", message(output));
}

#[test]
fn planted_links_are_neither_followed_nor_removed() {
    let sandbox = Sandbox::new();
    let expected = sandbox.run(&[]).stdout;
    sandbox.write("victim", "precious");
    for number in 0..4 {
        for stem in ["report", "fleetblast"] {
            symlink("victim", sandbox.path(&format!(".{stem}-{number}.part"))).expect("a link");
        }
    }
    let planted = parts(&sandbox);
    assert_eq!(planted.len(), 8);
    for more in [&[][..], &["-ranks", "2"]] {
        assert_success(&sandbox.run(&[more, &["-out", "report"]].concat()));
        assert_eq!(fs::read(sandbox.path("report")).expect("a report"), expected);
        fs::remove_file(sandbox.path("report")).expect("it can be removed");
    }
    assert_eq!(sandbox.run(&["-ranks", "2"]).stdout, expected);
    assert_eq!(fs::read(sandbox.path("victim")).expect("a file"), b"precious");
    assert_eq!(parts(&sandbox), planted);
}

#[test]
fn the_next_run_removes_what_killed_runs_left_and_nothing_of_living_ones() {
    let sandbox = Sandbox::new();
    let expected = sandbox.run(&[]).stdout;
    for place in [&["-out", "report"][..], &["-out", "report", "-ranks", "2"], &["-ranks", "2"]] {
        let killed = Run::waiting(&sandbox, place);
        let living = Run::waiting(&sandbox, place);
        killed.kill();
        assert_eq!(parts(&sandbox).len(), 2, "{place:?}");
        let output = sandbox.run(place);
        assert_success(&output);
        assert_eq!(parts(&sandbox).len(), 1, "{place:?}: {:?}", sandbox.names());
        let mut living = living;
        drop(living.child().stdin.take());
        let lived = living.end();
        assert_success(&lived);
        assert!(parts(&sandbox).is_empty(), "{place:?}");
        if place.contains(&"-out") {
            assert_eq!(fs::read(sandbox.path("report")).expect("a report"), expected);
            fs::remove_file(sandbox.path("report")).expect("it can be removed");
        } else {
            assert_eq!((output.stdout, lived.stdout), (expected.clone(), expected.clone()));
        }
    }
}

/// An interrupted run removes the file in which ranks assemble a report for standard output.
#[test]
fn an_interrupted_run_removes_its_join_file() {
    let sandbox = Sandbox::new();
    let mut run = Run::waiting(&sandbox, &["-ranks", "2"]);
    run.signal("TERM");
    assert!(!run.end().status.success());
    assert!(parts(&sandbox).is_empty(), "{:?}", sandbox.names());
}

#[test]
fn a_report_with_several_names_keeps_them() {
    let sandbox = Sandbox::new();
    let expected = sandbox.run(&[]).stdout;
    let places = [&[][..], &["-ranks", "2"], &["-checkpoint", "kept"]];
    for (number, more) in places.into_iter().enumerate() {
        let (one, other) = (format!("one{number}"), format!("other{number}"));
        sandbox.write(&one, "an older report that is longer than the new one\n".repeat(100));
        fs::hard_link(sandbox.path(&one), sandbox.path(&other)).expect("a link");
        let old = fs::metadata(sandbox.path(&one)).expect("a file").ino();
        assert!(!sandbox.run(&[more, &["-out", &one, "-db", "no"]].concat()).status.success());
        assert!(fs::read(sandbox.path(&other)).expect("a file").starts_with(b"an older report"));
        assert_success(&sandbox.run(&[more, &["-out", &one]].concat()));
        for name in [&one, &other] {
            assert_eq!(fs::read(sandbox.path(name)).expect("a report"), expected, "{name}");
            assert_eq!(fs::metadata(sandbox.path(name)).expect("a file").ino(), old);
        }
    }
    assert!(parts(&sandbox).is_empty());
}

/// Starts a job of many queries with a checkpoint, and stops it while it makes its report.
fn start_and_stop(sandbox: &Sandbox) -> Run {
    let before = parts(sandbox);
    let mut run = Run::start(sandbox, &JOB);
    // This waits for the job's own file, after the job has removed that of an earlier run.
    wait_until("a hidden report", || {
        let now = parts(sandbox);
        !now.is_empty() && now.iter().all(|name| !before.contains(name))
    });
    run.signal("STOP");
    run
}

const JOB: [&str; 9] =
    ["-query", "many.fa", "-out", "report", "-checkpoint", "kept", "-resume", "-ranks", "2"];

fn many(sandbox: &Sandbox) -> Vec<u8> {
    sandbox.write("many.fa", query().repeat(MANY));
    let report = sandbox.run(&["-query", "many.fa"]).stdout;
    assert!(report.len() > 100_000);
    report
}

/// Lets another run take over, as if it ran on another host. There, locks do not show whether the
/// first run is alive, so a long silence of it suffices.
fn take_over(sandbox: &Sandbox) {
    fs::remove_file(sandbox.path("kept/lock")).expect("the lock of the first");
}

#[test]
fn a_run_that_was_taken_for_dead_does_not_publish_when_it_wakes_up() {
    let sandbox = Sandbox::new();
    let expected = many(&sandbox);
    let mut first = start_and_stop(&sandbox);
    take_over(&sandbox);
    // Another run is under way when the first one wakes up ...
    let mut second = start_and_stop(&sandbox);
    first.signal("CONT");
    let output = first.end();
    let said = message(&output);
    assert!(matches!(output.status.code(), Some(1 | 6)), "{said}");
    assert!(
        !sandbox.path("report").exists()
            || fs::read(sandbox.path("report")).expect("a file").is_empty()
    );
    second.signal("CONT");
    assert_success(&second.end());
    assert_eq!(fs::read(sandbox.path("report")).expect("a report"), expected);
    assert!(parts(&sandbox).is_empty() && !sandbox.path("kept").exists(), "{:?}", sandbox.names());
    // ... or has ended, and the report has been changed since.
    let mut first = start_and_stop(&sandbox);
    take_over(&sandbox);
    assert_success(&Run::start(&sandbox, &JOB).end());
    assert_eq!(fs::read(sandbox.path("report")).expect("a report"), expected);
    sandbox.write("report", "edited\n");
    first.signal("CONT");
    assert!(!first.end().status.success());
    assert_eq!(fs::read(sandbox.path("report")).expect("a report"), b"edited\n");
}

#[test]
fn a_resumed_job_removes_the_hidden_report_of_the_killed_run_and_follows_no_link() {
    let sandbox = Sandbox::new();
    let expected = many(&sandbox);
    start_and_stop(&sandbox).kill();
    let left = parts(&sandbox);
    let [name] = &left[..] else { panic!("{left:?}") };
    let next = name.replace("-1.part", "-2.part");
    assert_ne!(*name, next, "it has the number of the run");
    sandbox.write("victim", "precious");
    symlink("victim", sandbox.path(&next)).expect("a link");
    assert_success(&sandbox.run(&JOB));
    assert_eq!(fs::read(sandbox.path("report")).expect("a report"), expected);
    assert_eq!(fs::read(sandbox.path("victim")).expect("a file"), b"precious");
    assert_eq!(parts(&sandbox), [next]);
}

#[test]
fn parts_of_a_trace_follow_no_link_and_are_made_anew() {
    let sandbox = Sandbox::new();
    sandbox.write("victim", "precious");
    symlink("victim", sandbox.path("t.json.0.part")).expect("a link");
    // This is a part of a killed run on more ranks.
    sandbox.write("t.json.2.part", "{\"half");
    assert_success(&sandbox.run(&["-ranks", "2", "-trace", "t.json", "-out", "report"]));
    assert_eq!(fs::read(sandbox.path("victim")).expect("a file"), b"precious");
    assert!(parts(&sandbox).is_empty(), "{:?}", sandbox.names());
    let trace = fs::read(sandbox.path("t.json")).expect("a trace");
    serde_json::from_slice::<serde_json::Value>(&trace).expect("JSON");
}
