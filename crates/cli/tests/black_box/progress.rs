//! Progress on a terminal. The terminal is that of `script` (package bsdutils).

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use crate::volumes::{FOUR, protein, write};
use fastrand::Rng;
use tempfile::TempDir;

/// Number of queries. Ranks search them in one block.
const QUERIES: usize = 60;
/// The words with which all searches begin.
const SEARCH: &str = "fleetblast blastp -db db -outfmt 6 -num_threads 1";
/// A search that ends almost at once.
const SHORT: &str = "fleetblast blastp -query one.fa -db db -outfmt 6 -progress yes";

/// A directory with a database and queries whose search takes some seconds, however fast the
/// machine is.
static PLACE: LazyLock<TempDir> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let took = fill(dir.path(), SUBJECTS);
    let more = WANTED.as_secs_f64() / took.as_secs_f64().max(1e-3);
    if more > 1.0 {
        fill(dir.path(), (SUBJECTS as f64 * more.min(MOST)) as usize);
    }
    dir
});
/// Number of sequences in the first database. If a search of it takes less than the time `WANTED`,
/// a database with up to `MOST` times more sequences replaces it.
const SUBJECTS: usize = 2_500;
const WANTED: Duration = Duration::from_secs(4);
const MOST: f64 = 40.0;
/// Number of different shares that a search shows if it takes long enough.
const MANY_SHARES: usize = 10;

/// Writes a database with this number of sequences, and the queries. Returns the time of a search.
fn fill(dir: &Path, subjects: usize) -> Duration {
    let mut random = Rng::with_seed(7);
    let subject = |number| (format!("s{number}"), protein(&mut random, 350));
    let subjects: Vec<_> = (0..subjects).map(subject).collect();
    write(dir, "db", &FOUR, &subjects);
    let query = |number: usize| {
        let residues = subjects[number * 7].1.repeat(2);
        format!(">q{number}\n{}\n", String::from_utf8_lossy(&residues))
    };
    let queries: String = (0..QUERIES).map(query).collect();
    fs::write(dir.join("q.fa"), queries).expect("queries");
    fs::write(dir.join("one.fa"), query(0)).expect("a query");
    let start = Instant::now();
    let mut search = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
    search.args(SEARCH.split(' ').skip(1)).args(["-query", "q.fa", "-out", "first.txt"]);
    let output = search.current_dir(dir).env_remove("BLASTDB").output().expect("the program runs");
    assert!(output.status.success(), "{output:?}");
    start.elapsed()
}

/// Returns a command that runs `program`, with the directory of `fleetblast` in its path.
fn shell(program: &str, arguments: &[&str]) -> Command {
    let bin = Path::new(env!("CARGO_BIN_EXE_fleetblast")).parent().expect("a directory");
    let path = std::env::var("PATH").expect("a path");
    let mut command = Command::new(program);
    command.args(arguments).current_dir(PLACE.path()).env_remove("BLASTDB");
    command.env("PATH", format!("{}:{path}", bin.display())).env("TERM", "xterm");
    command.env("SHELL", "/bin/bash");
    command
}

/// Runs `script` in a shell on a terminal. Returns the text on the terminal, and the time taken.
fn on_terminal(script: &str) -> (String, Duration) {
    on_terminal_in(PLACE.path(), script)
}

/// Like [`on_terminal`], in another directory.
fn on_terminal_in(directory: &Path, script: &str) -> (String, Duration) {
    let start = Instant::now();
    let mut command = shell("script", &["-qec", script, "/dev/null"]);
    command.current_dir(directory);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script, which Debian's bsdutils brings");
    // Standard input stays open and silent until the end.
    let typed = child.stdin.take();
    let output = child.wait_with_output().expect("an end");
    drop(typed);
    let shown = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{script}: {shown}");
    (shown, start.elapsed())
}

/// Returns all percentages in a text, in their order, in tenths of a percent.
fn shares(shown: &str) -> Vec<u32> {
    let parts: Vec<&str> = shown.split(" %").collect();
    let number = |part: &&str| {
        let digits: Vec<char> =
            part.chars().rev().take_while(|c| "0123456789.".contains(*c)).collect();
        let text: String = digits.into_iter().rev().collect();
        let share: f64 = text.parse().unwrap_or_else(|_| panic!("no number before % in {part:?}"));
        (share * 10.0).round() as u32
    };
    parts[..parts.len() - 1].iter().map(number).collect()
}

/// Checks the progress of a search whose queries were counted; returns the different shares.
fn check_progress(shown: &str) -> Vec<u32> {
    let mut shares = shares(shown);
    assert!(shares.is_sorted(), "a step back: {shown:?}");
    shares.dedup();
    assert_eq!(shares.pop(), Some(1000), "{shown:?}");
    let within = shown.split("100 %").next().unwrap_or_default();
    assert!(within.contains("0/60 queries"), "{shown:?}");
    // All queries are done only at the end. A drawing just before it may show them with 99.9 %.
    let early = |line: &str| line.contains("60/60") && !line.contains(" 99.9 %");
    assert!(!within.split('\r').any(early), "{shown:?}");
    let last = shown.trim_end().lines().last().unwrap_or_default();
    assert!(last.starts_with("fleetblast: 60 queries, "), "{shown:?}");
    assert!(shares.iter().all(|&share| share < 1000) && !shares.is_empty(), "{shares:?}");
    shares
}

/// A busy or fast machine shows few shares of a short search, but enough shares of a long one.
#[test]
fn the_share_moves_within_a_block_and_ends_with_all() {
    let larger = tempfile::tempdir().expect("a directory");
    let search = format!("{SEARCH} -query q.fa -out serial.txt");
    let mut seen = String::new();
    for more in [1, 8, 64] {
        if more > 1 {
            fill(larger.path(), more * SUBJECTS);
        }
        let directory = if more > 1 { larger.path() } else { PLACE.path() };
        seen = on_terminal_in(directory, &search).0;
        let shares = check_progress(&seen);
        let is_seen_amid = shares.iter().any(|share| (200..800).contains(share));
        // The time left is shown when the search has taken some time.
        if shares.len() >= MANY_SHARES && is_seen_amid && seen.contains(" left") {
            return;
        }
    }
    panic!("the share does not move: {seen:?}");
}

#[test]
fn ranks_send_the_progress_of_their_tasks() {
    for layout in ["-ranks 2 -partitions 12", "-ranks 4 -groups 2 -partitions 12"] {
        let (shown, _) = on_terminal(&format!("{SEARCH} -query q.fa -out ranks.txt {layout}"));
        let shares = check_progress(&shown);
        let moving = shares.iter().filter(|&&share| share > 0).count();
        // With two groups, the only block may be with the remote group, which sends its progress
        // once a second.
        assert!(moving >= 2, "{layout}: {shares:?} in {shown:?}");
    }
}

#[test]
fn progress_of_queries_from_a_pipe_has_no_total() {
    let (shown, _) = on_terminal(&format!("cat q.fa | {SEARCH} -out piped.txt"));
    let seen = counts(&shown);
    // The number of queries comes first: the share is that of the block under way.
    assert!(seen.is_sorted(), "a step back: {seen:?} in {shown:?}");
    assert!(seen.iter().all(|&(done, share)| done <= 60 && share <= 1000), "{seen:?}");
    // The search takes seconds, so some drawing shows a share, but perhaps not in each block.
    assert!(seen.iter().any(|&(_, share)| share > 0), "{seen:?} in {shown:?}");
    assert!(shown.contains("100 %  60 queries"), "{shown:?}");
}

/// Returns the numbers of queries done, each with the share of those under way in tenths of a
/// percent, in their order.
fn counts(shown: &str) -> Vec<(u32, u32)> {
    let count = |line: &str| {
        let (before, after) = line.split_once(" queries done")?;
        let done = before.rsplit(|c: char| !c.is_ascii_digit()).next()?;
        // Between two blocks there is no share.
        Some((done.parse().ok()?, shares(after).first().copied().unwrap_or(0)))
    };
    shown.split('\r').filter_map(count).collect()
}

#[test]
fn counting_takes_no_query_from_the_search() {
    // The queries are more than the program reads ahead at the beginning.
    on_terminal(&format!("{SEARCH} -query q.fa -out file.txt"));
    on_terminal(&format!("bash -c '{SEARCH} -query <(cat q.fa) -out substituted.txt'"));
    let report = |name| fs::read(PLACE.path().join(name)).expect("a report");
    assert!(report("file.txt").len() > 1000);
    assert_eq!(report("substituted.txt"), report("file.txt"));
}

#[test]
fn hints_are_for_people_only() {
    let bases = format!(">n\n{}\n", "ACGTTGCATC".repeat(4));
    fs::write(PLACE.path().join("bases.fa"), bases).expect("a query");
    let (shown, _) = on_terminal(&SHORT.replace("one.fa", "bases.fa"));
    assert!(shown.starts_with("Hint: the first query looks like nucleotides"), "{shown:?}");
    let (shown, _) = on_terminal(&format!("{} || true", SHORT.replace("-db db", "-db nosuch")));
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 2, "{shown:?}");
    assert!(lines[0].starts_with("BLAST Database error: No alias or index file"), "{shown:?}");
    assert!(lines[1].starts_with("Hint: 'fleetblast blastdbcmd -list DIRECTORY'"), "{shown:?}");
    let quiet = SHORT.replace("one.fa", "bases.fa").replace("-progress yes", "");
    let output = shell("bash", &["-c", &quiet]).output().expect("the program runs");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn a_pagers_screen_is_left_alone() {
    let (shown, _) = on_terminal(&format!("{SEARCH} -query one.fa | cat >/dev/null"));
    assert_eq!(shown, "");
    let (shown, _) = on_terminal(&format!("{SEARCH} -query q.fa -progress yes | cat >/dev/null"));
    check_progress(&shown);
}

#[test]
fn another_jobs_screen_is_left_alone() {
    let background = format!("set -m; {SEARCH} -query q.fa -out background.txt & wait");
    let (shown, took) = on_terminal(&format!("bash -c '{background}'"));
    assert!(took > Duration::from_millis(500), "nothing to draw in {took:?}");
    // The terminal shows at most the shell's message that the job is done.
    assert!(shown.lines().count() <= 1 && !shown.contains(['%', '\x1b']), "{shown:?}");
}

#[test]
fn a_terminal_that_cannot_be_drawn_on_gets_a_line() {
    let (shown, _) = on_terminal(&format!("TERM=dumb {SEARCH} -query one.fa -out dumb.txt"));
    assert_eq!(shown, "");
    let (shown, _) = on_terminal(&format!("TERM=dumb {SHORT} -out dumb.txt"));
    assert!(shown.starts_with("fleetblast: 1 queries, ") && !shown.contains('\x1b'), "{shown:?}");
}

#[test]
fn nothing_of_a_terminal_gets_into_files_and_pipes() {
    let run = |line: &str| -> Output {
        let output = shell("bash", &["-c", line]).stdin(Stdio::null()).output();
        output.expect("the program runs")
    };
    let silent = run(&SHORT.replace("-progress yes", "-progress auto"));
    assert!(silent.status.success() && silent.stderr.is_empty(), "{silent:?}");
    let shown = run(SHORT);
    assert_eq!(shown.stdout, silent.stdout);
    let text = String::from_utf8(shown.stderr).expect("text");
    assert!(text.starts_with("fleetblast: 1 queries, ") && text.lines().count() == 1, "{text:?}");
    assert!(!text.contains(['\x1b', '\r']), "{text:?}");
}
