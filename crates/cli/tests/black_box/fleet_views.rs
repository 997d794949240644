//! Ranks that are not alike: with other databases under one name, other options, another
//! environment or another build. The job ends before it writes output, with one message that names
//! ranks, hosts and files.
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::thread;

use crate::common::compile_preload;
use crate::family::{family, queries};
use crate::launched::{launched, rank_of};
use crate::patience::{wait_for_value, wait_until};
use crate::volumes::{FOUR, write};
use fleetblast_oracle::sample;
use tempfile::TempDir;

/// A script that runs the program of each rank. One rank has a program, arguments and environment
/// of its own.
const WRAPPER: &str = r#"#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$PMIX_RANK}}
[ -n "$rank" ] || { echo "the launcher does not tell the rank" >&2; exit 99; }
if [ "$rank" = "$ODD_RANK" ]; then
    exec env $ODD_ENVIRONMENT "${ODD_PROGRAM:-$PROGRAM}" "$@" $ODD_OPTIONS
fi
exec "$PROGRAM" "$@"
"#;
const RANKS: u32 = 3;
const DATABASE: i32 = 2;
const INPUT: i32 = 1;

/// The databases `usual/db` and `odd/db`, a directory to work in, and the wrapper.
struct Views {
    dir: TempDir,
}

/// The environment, options and program of the odd rank.
#[derive(Clone, Copy, Default)]
struct Odd<'a> {
    environment: &'a str,
    options: &'a str,
    program: &'a str,
}

impl Views {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let views = Views { dir };
        for name in ["usual", "odd", "work"] {
            fs::create_dir(views.path(name)).expect("a directory");
        }
        views.put("usual", 1, 40);
        fs::write(views.path("work/q.fa"), queries(2, 30).concat()).expect("queries");
        fs::write(views.path("wrapper"), WRAPPER).expect("a script");
        fs::set_permissions(views.path("wrapper"), Permissions::from_mode(0o755))
            .expect("a script");
        views
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn put(&self, name: &str, seed: u64, count: usize) {
        write(&self.path(name), "db", &FOUR, &family(seed, count));
    }

    /// Changes the bytes at `places` in a file of the odd database to `one`, or to `other` if they
    /// are `one` already.
    fn change(&self, file: &str, places: impl IntoIterator<Item = usize>, [one, other]: [u8; 2]) {
        let path = self.path("odd").join(file);
        let mut bytes = fs::read(&path).expect("a file");
        for at in places {
            bytes[at] = if bytes[at] == one { other } else { one };
        }
        fs::write(&path, bytes).expect("a file");
    }

    fn prepare(&self, mut command: Command, arguments: &[&str]) -> Command {
        command.args(["blastp", "-query", "q.fa", "-db", "db", "-num_threads", "1"]);
        command.args(arguments).current_dir(self.path("work"));
        command.env("BLASTDB", self.path("usual")).env("PROGRAM", env!("CARGO_BIN_EXE_fleetblast"));
        command
    }

    fn run(&self, rank: u32, odd: Odd, arguments: &[&str]) -> Output {
        let command = launched(&self.path("wrapper"), RANKS);
        let mut command = self.prepare(command, &[&["-out", "report"], arguments].concat());
        command.env("ODD_RANK", rank.to_string()).env("ODD_ENVIRONMENT", odd.environment);
        command.env("ODD_OPTIONS", odd.options).env("ODD_PROGRAM", odd.program);
        command.output().expect("the program runs")
    }

    /// Returns the environment of a rank that uses the odd database.
    fn environment(&self) -> String {
        format!("BLASTDB={}", self.path("odd").display())
    }

    /// Checks that the job ends with this code and one message with all these words, and leaves
    /// nothing.
    fn assert_refused(&self, rank: u32, odd: Odd, arguments: &[&str], code: i32, words: &[&str]) {
        let output = self.run(rank, odd, arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "rank {rank} {words:?}: {message}");
        assert!(!message.contains("panicked"), "{message}");
        for word in words {
            assert!(message.contains(word), "rank {rank}: no '{word}' in: {message}");
        }
        let errors = message.matches("Error: ").count() + message.matches("error: ").count();
        assert_eq!(errors, 1, "rank {rank} {words:?}: {message}");
        self.nothing_is_left();
    }

    /// Checks that nothing is left but the empty report of a search that failed.
    fn nothing_is_left(&self) {
        let report = self.path("work/report");
        if fs::metadata(&report).is_ok_and(|report| report.len() == 0) {
            fs::remove_file(report).expect("the report");
        }
        let entries = fs::read_dir(self.path("work")).expect("the directory");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["q.fa"]);
    }

    /// Checks that the job gives the report of a search without ranks.
    fn assert_accepted(&self, rank: u32, odd: Odd, arguments: &[&str]) {
        let serial = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
        let serial = self.prepare(serial, &[]).output().expect("the program runs");
        assert!(serial.stdout.len() > 10_000, "{}", String::from_utf8_lossy(&serial.stderr));
        let output = self.run(rank, odd, arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let report = self.path("work/report");
        assert!(fs::read(&report).expect("the report") == serial.stdout, "rank {rank}");
        fs::remove_file(report).expect("the report");
        self.nothing_is_left();
    }
}

#[test]
fn the_same_database_may_be_in_several_places() {
    let views = Views::new();
    views.put("odd", 1, 40);
    let environment = views.environment();
    let odd = Odd { environment: &environment, ..Odd::default() };
    views.assert_accepted(1, odd, &[]);
    views.assert_accepted(0, odd, &["-loader", "broadcast"]);
    let odd = Odd { environment: "FLEETBLAST_KERNEL=portable", ..Odd::default() };
    views.assert_accepted(2, odd, &[]);
}

#[test]
fn another_database_under_the_same_name_ends_the_job() {
    let views = Views::new();
    let environment = views.environment();
    let odd = Odd { environment: &environment, ..Odd::default() };
    for rank in sample(3, 0..RANKS) {
        let names = format!("rank {rank} on host ");
        let partitions = ["-partitions", ["1", "3", "8"][rank as usize]];
        views.put("odd", 1, 40);
        views.change("db.psq", [1000], [14, 15]);
        let words =
            [&names, "different databases", "odd/db.psq has other residues", "usual/db.psq"];
        views.assert_refused(rank, odd, &partitions, DATABASE, &words);
        views.put("odd", 1, 40);
        let title = fs::read(views.path("odd/db.phr")).expect("a file");
        let at = title.windows(6).rposition(|word| word == b"family").expect("a title");
        views.change("db.phr", [at], *b"FG");
        let words = [&names, "different databases", "odd/db.phr has other definition lines"];
        views.assert_refused(rank, odd, &partitions, DATABASE, &words);
        // Each partition is held by one rank, so that another one reads it for the comparison only.
        let alone = ["-groups", "1", "-replicas", "1", "-partitions", "3"];
        views.assert_refused(rank, odd, &alone, DATABASE, &words);
        views.assert_refused(
            rank,
            odd,
            &[&alone[..], &["-loader", "broadcast"]].concat(),
            DATABASE,
            &words,
        );
        // This database has the same sizes and date.
        views.put("odd", 5, 40);
        views.assert_refused(
            rank,
            odd,
            &partitions,
            DATABASE,
            &[&names, "odd/db.psq has other residues"],
        );
        views.put("odd", 1, 39);
        let words = [&names, "odd/db", "the number of sequences in the database is '39'", "'40'"];
        views.assert_refused(rank, odd, &partitions, DATABASE, &words);
        views.put("odd", 1, 41);
        views.assert_refused(
            rank,
            odd,
            &partitions,
            DATABASE,
            &[&names, "is '41' instead of '40'"],
        );
    }
}

#[test]
fn lengths_that_differ_end_the_job() {
    let views = Views::new();
    let mut entries = family(1, 40);
    // The number of all residues stays the same.
    let moved = entries[3].1.split_off(100);
    entries[30].1.extend(moved);
    entries[7].1.truncate(crate::family::LENGTH);
    write(&views.path("odd"), "db", &FOUR, &entries);
    let environment = views.environment();
    let odd = Odd { environment: &environment, ..Odd::default() };
    let words = ["rank 1 on host ", "odd/db", "rank 0 on host "];
    views.assert_refused(1, odd, &["-partitions", "3"], DATABASE, &words);
}

#[test]
fn other_options_or_another_environment_end_the_job() {
    let views = Views::new();
    for rank in sample(3, 0..RANKS) {
        let names = format!("rank {rank} on host ");
        for (options, words) in [
            ("-evalue 1", "the option -evalue is '1' instead of not given"),
            ("-outfmt 6", "the option -outfmt is '6' instead of '0'"),
            ("-partitions 5", "the option -partitions is '5' instead of not given"),
            ("-plan", "the option -plan"),
            ("-timing t.json", "the option -timing"),
        ] {
            let odd = Odd { options, ..Odd::default() };
            views.assert_refused(rank, odd, &[], INPUT, &[&names, words]);
        }
        for (environment, words) in [("BATCH_SIZE=500", "BATCH_SIZE"), ("OLD_FSC=1", "OLD_FSC")] {
            let odd = Odd { environment, ..Odd::default() };
            views.assert_refused(rank, odd, &[], INPUT, &[&names, words]);
        }
    }
}

#[test]
fn another_build_ends_the_job() {
    let views = Views::new();
    let other = views.path("another");
    let mut bytes = fs::read(env!("CARGO_BIN_EXE_fleetblast")).expect("the program");
    bytes.extend(b"another");
    fs::write(&other, bytes).expect("a program");
    fs::set_permissions(&other, Permissions::from_mode(0o755)).expect("a program");
    let odd = Odd { program: other.to_str().expect("a name"), ..Odd::default() };
    for rank in 0..RANKS {
        let words = [&*format!("rank {rank} on host "), "the build of FleetBLAST is"];
        views.assert_refused(rank, odd, &[], INPUT, &words);
    }
}

/// Rank 1 opens its files only after others have taken their names; the other ranks have opened
/// theirs before.
#[test]
fn a_database_that_is_replaced_while_ranks_open_it_ends_the_job() {
    let views = Views::new();
    views.put("odd", 5, 40);
    compile_preload("late_open.c", &views.path("late.so"));
    let [late, dir] = ["late.so", ""].map(|name| views.path(name).display().to_string());
    let environment = format!("LD_PRELOAD={late} LATE_FILE=usual/db.pin LATE_DIR={dir}");
    let odd = Odd { environment: &environment, ..Odd::default() };
    let replace = || {
        wait_until("rank 1 to wait", || views.path("waiting").exists());
        for rank in ["0", "2"] {
            let process = wait_for_value("a rank", || rank_of(&views.path("work"), rank));
            let maps = format!("/proc/{process}/maps");
            let read = || fs::read_to_string(&maps).unwrap_or_default();
            wait_until("a rank to open its database", || read().contains("usual/db.phr"));
        }
        for entry in fs::read_dir(views.path("odd")).expect("the directory") {
            let name = entry.expect("an entry").file_name();
            let to = views.path("usual").join(&name);
            fs::rename(views.path("odd").join(&name), to).expect("a file");
        }
        fs::write(views.path("go"), "").expect("a file");
    };
    // The ranks compare their files, or a slow rank notices that its own have changed.
    let words = ["usual/db.", "replaced while"];
    thread::scope(|scope| {
        scope.spawn(replace);
        views.assert_refused(1, odd, &["-partitions", "2"], DATABASE, &words);
    });
}
