//! `blastn` on ranks writes the report of one process, whatever the numbers of hits, which decide
//! the batches of BLAST+.

mod stops;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use crate::metadata_ranks::kept;
use crate::patience::wait_until;
use fastrand::Rng;
use tempfile::TempDir;

/// Exit code of a refusal.
const INPUT: i32 = 1;

/// Growth of a checkpoint in bytes by which it has more records, and not only more headers of
/// files.
const LEAST_RECORDS: u64 = 500;

/// Options of most tests: few hits with good e-values, and many extensions that fail. The number of
/// extensions decides the size of batches, so it must be large, and each extension short.
const MANY: &str = "-query many.fa -db repeats -task megablast -word_size 16 -evalue 1e-9 -max_hsps 1 -outfmt 0 -num_descriptions 3 -num_alignments 1 -reward 1 -penalty -4 -xdrop_gap 3 -xdrop_gap_final 5";

struct Bases(Rng);

impl Bases {
    fn some(&mut self, length: u64) -> String {
        (0..length).map(|_| b"ACGT"[self.0.usize(..4)] as char).collect()
    }

    fn between(&mut self, least: u64, most: u64) -> u64 {
        self.0.u64(least..most)
    }

    fn one_of<'a>(&mut self, all: &'a [String]) -> &'a str {
        &all[self.0.usize(..all.len())]
    }

    /// Returns a copy of the bases with some of them replaced.
    fn mutant(&mut self, bases: &str) -> String {
        let change = |base| {
            if self.0.u64(..25) == 0 { b"ACGT"[self.0.usize(..4)] as char } else { base }
        };
        bases.chars().map(change).collect()
    }
}

fn opposite(bases: &str) -> String {
    let complement = |base| match base {
        'A' => 'T',
        'C' => 'G',
        'G' => 'C',
        _ => 'A',
    };
    bases.chars().rev().map(complement).collect()
}

fn fasta(name: &str, sequences: &[String]) -> String {
    sequences.iter().enumerate().map(|(i, bases)| format!(">{name}{i}\n{bases}\n")).collect()
}

/// A separate directory for a test.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().expect("a directory"))
    }

    /// Makes a directory with the database `repeats` of short units in many copies, and with
    /// `many.fa`.
    ///
    /// `many.fa` has runs of queries full of these units, of other queries, and of queries that
    /// cannot be searched. For a batch with only the last kind, the report has another text.
    fn of_repeats() -> Place {
        let place = Place::new();
        let mut bases = Bases(Rng::with_seed(5));
        let units: Vec<String> = (0..3).map(|_| bases.some(17)).collect();
        let targets: Vec<String> = (0..40).map(|_| bases.some(90)).collect();
        let repeat = |bases: &mut Bases, least, most, between: (u64, u64)| {
            let count = bases.between(least, most);
            let unit = |_| {
                let space = bases.between(between.0, between.1);
                bases.some(space) + bases.one_of(&units)
            };
            (0..count).map(unit).collect::<String>()
        };
        let mut subjects: Vec<String> =
            (0..20).map(|_| repeat(&mut bases, 900, 1000, (8, 30))).collect();
        subjects.extend(targets.iter().map(|target| format!("{target}{}", bases.some(50))));
        let mut queries = Vec::new();
        while queries.len() < 60 {
            let often = if queries.len() / 20 % 2 == 0 { 95 } else { 10 };
            let is_heavy = bases.0.u64(..100) < often;
            for _ in 0..bases.between(2, 10) {
                let more = match is_heavy {
                    true => repeat(&mut bases, 8, 20, (3, 12)),
                    false => bases.some(100),
                };
                queries.push(format!("{}{more}", bases.one_of(&targets)));
            }
            for _ in 0..bases.between(1, 8) {
                queries.push("N".repeat(bases.between(100, 700) as usize));
            }
        }
        place.write("many.fa", &fasta("q", &queries));
        place.database("repeats", &subjects);
        place
    }

    /// Returns a directory with `repeats` and `many.fa`. All tests get copies of the same files:
    /// reports contain the minute in which a database was made.
    fn with_repeats() -> Place {
        static MADE: OnceLock<Place> = OnceLock::new();
        let place = Place::new();
        for entry in fs::read_dir(MADE.get_or_init(Place::of_repeats).path("")).expect("files") {
            let entry = entry.expect("a file");
            fs::copy(entry.path(), place.0.path().join(entry.file_name())).expect("a copy");
        }
        place
    }

    /// Returns a copy of the directory of [`with_repeats`](Self::with_repeats), and the output of a
    /// search with `MANY` in one process, which runs once for all tests.
    fn with_expected() -> (Place, &'static Output) {
        static EXPECTED: OnceLock<Output> = OnceLock::new();
        let place = Place::with_repeats();
        let expected = EXPECTED.get_or_init(|| place.output(MANY));
        (place, expected)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file");
    }

    fn database(&self, name: &str, sequences: &[String]) {
        self.write("input.fa", &fasta("s", sequences));
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
        command.args(["makeblastdb", "-in", "input.fa", "-dbtype", "nucl", "-out", name]);
        let made = command.current_dir(self.path("")).output().expect("the program runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }

    fn in_place(&self, mut command: Command, arguments: &str) -> Command {
        let arguments = arguments.split_whitespace().map(|word| word.replace('~', " "));
        command.arg("blastn").args(arguments).current_dir(self.path(""));
        command.stdin(Stdio::null());
        command
    }

    fn command(&self, arguments: &str) -> Command {
        self.in_place(Command::new(env!("CARGO_BIN_EXE_fleetblast")), arguments)
    }

    /// Runs a search that must succeed. Returns its report and messages.
    fn output(&self, arguments: &str) -> Output {
        let output = self.command(arguments).output().expect("the program runs");
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments}: {messages}");
        output
    }

    /// Reads the trace of the last search. Returns the number of different tasks, and the number of
    /// searches of tasks.
    fn count_searches(&self) -> (usize, usize) {
        let trace = fs::read_to_string(self.path("trace.json")).expect("a trace");
        let names = trace.match_indices("\"name\":\"search block").map(|(at, _)| {
            let name = &trace[at..];
            &name[..name.find("\",").unwrap_or(name.len())]
        });
        let all: Vec<&str> = names.collect();
        (all.iter().collect::<BTreeSet<_>>().len(), all.len())
    }
}

/// Splits a report into lines, without the line of SAM that has the command.
fn without_command(report: &[u8]) -> Vec<&[u8]> {
    report.split(|&byte| byte == b'\n').filter(|line| !line.starts_with(b"@PG")).collect()
}

#[test]
fn wrongly_predicted_batches_are_detected() {
    let (place, expected) = Place::with_expected();
    let mut other = place.command(MANY);
    let other = other.env("BATCH_SIZE", "1000").output().expect("the program runs");
    assert!(other.stdout != expected.stdout, "the batches make no difference");
    let mut in_vain = 0;
    let shapes = [
        "-ranks 3 -block_residues 700 -output individual",
        "-ranks 4 -groups 2 -partitions 3 -block_residues 3000",
        "-ranks 1",
    ];
    // The number of blocks that ranks search before their batches are known depends on the load of
    // the machine.
    for (turn, shape) in shapes.iter().cycle().take(3 * shapes.len()).enumerate() {
        if turn >= shapes.len() && in_vain > 0 {
            break;
        }
        let output = place.output(&format!("{MANY} {shape} -trace trace.json"));
        assert!(output.stdout == expected.stdout, "{shape}");
        assert!(output.stderr == expected.stderr, "{shape}");
        let (tasks, searched) = place.count_searches();
        assert!(tasks >= 1);
        in_vain += searched - tasks;
    }
    assert!(in_vain > 0, "all predictions were right");
}

#[test]
fn a_resumed_search_verifies_predictions_as_before() {
    let (place, expected) = Place::with_expected();
    let arguments = format!("{MANY} -checkpoint kept -resume -out report -block_residues 700");
    let checkpoint = place.path("kept");
    for shape in ["-ranks 3", "-ranks 2 -partitions 2", "-ranks 4 -groups 2"] {
        let before = kept(&checkpoint);
        let mut command = place.command(&format!("{arguments} {shape}"));
        let mut child = command.stderr(Stdio::null()).spawn().expect("the program runs");
        wait_until("another record in the checkpoint", || {
            kept(&checkpoint) > before + LEAST_RECORDS || child.try_wait().unwrap().is_some()
        });
        child.kill().expect("it is a child");
        let status = child.wait().expect("it is a child");
        assert_eq!(status.signal(), Some(9), "{shape}: it ended before it was killed");
    }
    let output = place.output(&format!("{arguments} -ranks 3 -trace trace.json"));
    let message = String::from_utf8_lossy(&output.stderr);
    let resumed = message.lines().find_map(|line| {
        let (before, _) = line.split_once(" blocks of queries are finished already")?;
        before.rsplit(' ').next()?.parse::<u32>().ok()
    });
    assert!(resumed.is_some_and(|blocks| blocks > 0), "{message}");
    let report = fs::read(place.path("report")).expect("the report");
    assert!(report == expected.stdout, "{message}");
    assert!(!checkpoint.exists());
}

#[test]
fn chunks_of_long_queries_are_those_of_one_process() {
    let place = Place::new();
    let mut bases = Bases(Rng::with_seed(11));
    // `blastn` cuts queries after a million bases.
    let lengths = [800, 2_100_000, 500, 1_000_000, 900];
    let queries: Vec<String> = lengths.map(|length| bases.some(length)).into();
    let mut subjects = Vec::new();
    for query in &queries {
        // The copies are from places where chunks may begin on both strands, and from other places.
        let middle = (query.len() / 2).saturating_sub(1400);
        let places = (0..6).map(|i| (middle + 400 * i).min(query.len() - 400));
        let anywhere = (0..4).map(|_| bases.0.usize(..query.len() - 400));
        for at in places.chain(anywhere.collect::<Vec<_>>()) {
            let end = (at + 1000).min(query.len());
            let copy = bases.mutant(&query[at..end]);
            subjects.push(opposite(&copy));
            subjects.push(copy);
        }
    }
    place.write("long.fa", &fasta("q", &queries));
    place.database("parts", &subjects);
    let search = "-query long.fa -db parts -task blastn -outfmt 6";
    let expected = place.output(search).stdout;
    assert!(expected.len() > 5000);
    for shape in ["-ranks 3 -partitions 2", "-ranks 2 -groups 2 -block_residues 1"] {
        assert!(place.output(&format!("{search} {shape}")).stdout == expected, "{shape}");
    }
}

#[test]
fn all_formats_and_tasks_are_those_of_one_process() {
    let place = Place::new();
    let mut bases = Bases(Rng::with_seed(3));
    let family = bases.some(900);
    let part = |at: usize| &family[100 * at..100 * at + 400];
    let mut queries: Vec<String> = (0..6).map(|at| bases.mutant(part(at))).collect();
    // Adjacent short parts of the family: an extension of one query may run into the next one.
    queries.extend((0..12).map(|at| family[70 * at..70 * at + 69].to_owned()));
    queries.push("AC".repeat(60));
    let subjects: Vec<String> = (0..8)
        .map(|number| {
            let (lead, copy) = (bases.some(150), bases.mutant(&family));
            lead + &if number % 2 == 0 { copy } else { opposite(&copy) } + &bases.some(99)
        })
        .collect();
    place.write("q.fa", &fasta("q", &queries));
    place.database("db", &subjects);
    let lines = [
        "-task megablast -outfmt 0",
        "-task megablast -outfmt 5 -strand minus",
        "-task blastn -outfmt 7 -strand plus",
        "-task blastn -outfmt 5 -dust no -soft_masking false",
        "-task blastn-short -outfmt 6 -culling_limit 2",
        "-task megablast -word_size 11 -outfmt 10 -max_target_seqs 3 -query_loc 11-60",
        "-task dc-megablast -window_size 0 -outfmt 6",
        "-task dc-megablast -outfmt 6",
        "-task dc-megablast -template_type coding_and_optimal -template_length 21 -strand plus -outfmt 6",
        "-task blastn -window_size 40 -word_size 7 -strand plus -outfmt 6",
        "-task blastn -outfmt 6 -gilist none",
        "-task blastn -outfmt 0 -html -sorthits 2",
        "-task blastn -outfmt 6 -ungapped",
        "-task megablast -outfmt 0 -ungapped",
        "-task blastn -outfmt 17",
        "-task blastn -outfmt 17~SQ",
        "-task megablast -outfmt 17~SR -ungapped",
    ];
    place.write("none", "1\n");
    for line in lines {
        let search = format!("-query q.fa -db db {line}");
        let expected = place.command(&search).output().expect("the program runs");
        for shape in ["-ranks 3 -block_residues 300 -partitions 2", "-ranks 2 -groups 2"] {
            let output = place.command(&format!("{search} {shape}")).output().expect("it runs");
            let messages = String::from_utf8_lossy(&output.stderr);
            let is_same = without_command(&output.stdout) == without_command(&expected.stdout);
            assert!(output.status == expected.status && is_same, "{line} {shape}: {messages}");
            assert_eq!(messages, String::from_utf8_lossy(&expected.stderr), "{line} {shape}");
        }
    }
}

#[test]
fn what_depends_on_more_than_ranks_know_is_refused_by_name() {
    let place = Place::new();
    let mut bases = Bases(Rng::with_seed(3));
    let sequence = bases.some(300);
    place.write("q.fa", &fasta("q", std::slice::from_ref(&sequence)));
    place.database("db", &[sequence]);
    for (line, name) in [
        ("-window_size 40 -off_diagonal_range 5 -ranks 1", "-off_diagonal_range"),
        ("-ranks 2 -segment_size 5000", "-segment_size"),
        ("-outfmt 17 -ranks 2 -output records -out kept", "-outfmt 17 and -output records"),
        ("-ranks 2 -schedule weight", "-schedule weight"),
        ("-ranks 2 -query_order longest", "-query_order longest"),
        ("-window_size 40 -off_diagonal_range 5 -checkpoint kept", "-off_diagonal_range"),
    ] {
        let output = place.command(&format!("-query q.fa -db db {line}")).output();
        let output = output.expect("the program runs");
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_named = messages.contains(&format!("does not run blastn with {name}"));
        assert!(is_named && messages.contains("run it in one process"), "{line}: {messages}");
        assert!(
            output.status.code() == Some(INPUT) && messages.lines().count() == 1,
            "{line}: {messages}"
        );
        assert!(!place.path("kept").exists());
    }
}

#[cfg(feature = "mpi")]
#[test]
fn processes_report_what_one_does() {
    use crate::launched::launched;

    let (place, expected) = Place::with_expected();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_fleetblast"));
    let line = format!("{MANY} -groups 2 -block_residues 1000 -num_threads 1 -out report");
    let mut command = place.in_place(launched(&program, 4), &line);
    let output = command.output().expect("the launcher runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(fs::read(place.path("report")).expect("the report") == expected.stdout);
    let line = format!("{MANY} -window_size 40 -off_diagonal_range 5 -out refused");
    let refused = place.in_place(launched(&program, 3), &line).output().expect("the launcher runs");
    let messages = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(
        messages.matches("does not run blastn with -off_diagonal_range").count(),
        1,
        "{messages}"
    );
    assert!(!refused.status.success());
}
