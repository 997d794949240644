//! `psiblast` on ranks. The report, the messages and the files of PSSMs are those of one process,
//! whatever the layout of ranks, and however often the search is stopped or killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

#[cfg(feature = "mpi")]
use fleetblast_oracle::sample;
use fleetblast_oracle::sample_from;
use tempfile::TempDir;

use crate::family::{family, queries};
use crate::volumes::{FOUR, write};

/// Number of queries: enough that some need many iterations while others are done.
const QUERIES: usize = 12;
/// Number of sequences in the database.
const SUBJECTS: usize = 60;

/// Options for ranks that share a search.
const SHAPES: &[&str] = &[
    "-ranks 1",
    "-ranks 2 -block_residues 1 -query_order longest",
    "-ranks 3 -block_residues 1000 -partitions 5 -output individual",
    "-ranks 4 -groups 2 -block_residues 1 -partitions 3",
    "-ranks 7 -groups 3 -block_residues 400 -output collective",
    "-ranks 4 -groups 2 -block_residues 300 -schedule length",
    "-ranks 3 -block_residues 1 -write_buffer 4096 -result_memory 20480",
];

pub(crate) const SEARCHES: &[&str] = &[
    "-num_iterations 4 -outfmt 0 -out_pssm kept/p -out_ascii_pssm kept/a",
    "-num_iterations 3 -outfmt 5 -out_pssm kept/p -save_each_pssm",
    "-num_iterations 0 -outfmt 7 -out_ascii_pssm kept/a -save_each_pssm -seg yes",
    "-num_iterations 2 -outfmt 6 -save_pssm_after_last_round -out_pssm kept/p -max_target_seqs 7",
    "-num_iterations 3 -outfmt 0 -html -sorthits 3 -inclusion_ethresh 1e-9 -evalue 100",
    "-num_iterations 3 -outfmt 5 -max_target_seqs 5 -inclusion_ethresh 1",
];

/// Returns three of [`SHAPES`]; which three depends on `number`.
fn shapes(number: usize) -> impl Iterator<Item = &'static str> {
    (0..3).map(move |more| SHAPES[(3 * number + more) % SHAPES.len()])
}

/// The results of a run.
#[derive(PartialEq)]
pub(crate) struct RunResults {
    pub(crate) code: Option<i32>,
    pub(crate) report: Vec<u8>,
    pub(crate) messages: String,
    /// Names and contents of the files of PSSMs.
    pub(crate) files: Vec<(String, Vec<u8>)>,
}

impl RunResults {
    #[track_caller]
    pub(crate) fn assert_is(&self, expected: &RunResults, what: &str) {
        assert_eq!(self.messages, expected.messages, "{what}");
        assert_eq!(self.code, expected.code, "{what}");
        assert!(self.report == expected.report, "{what}: reports differ");
        let names = |results: &RunResults| -> Vec<String> {
            results.files.iter().map(|(name, _)| name.clone()).collect()
        };
        assert_eq!(names(self), names(expected), "{what}");
        assert!(self.files == expected.files, "{what}: matrices differ");
    }
}

/// A directory with a database and queries, in which searches run.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Place {
        let place = Place(tempfile::tempdir().expect("a directory"));
        write(place.0.path(), "db", &FOUR, &family(5, SUBJECTS));
        fs::create_dir(place.path("kept")).expect("a directory");
        place.write("q.fa", &queries(6, QUERIES).concat());
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file");
    }

    /// Writes the queries to the file `name`, with the text `what` before query `at`.
    pub(crate) fn with(&self, name: &str, at: usize, what: &str) {
        let mut all = queries(6, QUERIES);
        all.insert(at, what.to_owned());
        self.write(name, &all.concat());
    }

    pub(crate) fn prepare(&self, mut command: Command, arguments: &str) -> Command {
        command.args(["psiblast", "-num_threads", "1"]).args(arguments.split_whitespace());
        command.current_dir(self.0.path()).env_remove("BLASTDB").stdin(Stdio::null());
        command
    }

    pub(crate) fn command(&self, arguments: &str) -> Command {
        self.prepare(Command::new(env!("CARGO_BIN_EXE_fleetblast")), arguments)
    }

    pub(crate) fn run_command(&self, mut command: Command) -> RunResults {
        let Output { status, stdout, stderr } = command.output().expect("the program runs");
        let mut files: Vec<_> = fs::read_dir(self.path("kept"))
            .expect("a directory")
            .map(|entry| entry.expect("a file"))
            .map(|entry| {
                let bytes = fs::read(entry.path()).expect("a file");
                fs::remove_file(entry.path()).expect("a file");
                (entry.file_name().to_string_lossy().into_owned(), bytes)
            })
            .collect();
        files.sort_unstable();
        let messages = String::from_utf8_lossy(&stderr).into_owned();
        RunResults { code: status.code(), report: stdout, messages, files }
    }

    pub(crate) fn run(&self, arguments: &str) -> RunResults {
        self.run_command(self.command(arguments))
    }

    /// Starts a search, and kills it when the time `later` has passed since its first finished
    /// record.
    fn kill(&self, arguments: &str, later: Duration) {
        let mut command = self.command(arguments);
        let mut child = command.stderr(Stdio::null()).spawn().expect("the program runs");
        while !has_records(&self.path("c")) && child.try_wait().expect("a child").is_none() {
            thread::sleep(Duration::from_micros(200));
        }
        thread::sleep(later);
        child.kill().expect("a child");
        child.wait().expect("a child");
        fs::read_dir(self.path("kept")).expect("a directory").flatten().for_each(|entry| {
            fs::remove_file(entry.path()).expect("a file");
        });
    }
}

/// Returns whether a checkpoint has bytes of any result.
fn has_records(directory: &Path) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return false };
    entries.flatten().any(|entry| {
        let path = entry.path();
        let is_records = path.extension().is_some_and(|extension| extension == "zst");
        let some = || fs::metadata(&path).is_ok_and(|meta| meta.len() > 0);
        if path.is_dir() { has_records(&path) } else { is_records && some() }
    })
}

#[test]
fn any_ranks_leave_what_one_process_leaves() {
    let place = Place::new();
    for (number, search) in sample_from(1, 2, SEARCHES.iter().enumerate()) {
        let search = format!("-query q.fa -db db {search}");
        let expected = place.run(&search);
        assert_eq!(expected.code, Some(0), "{search}: {}", expected.messages);
        assert!(expected.report.len() > 5_000, "{search}");
        for shape in shapes(number) {
            place
                .run(&format!("{search} {shape}"))
                .assert_is(&expected, &format!("{search} {shape}"));
        }
    }
}

#[test]
fn queries_that_cannot_be_searched_end_the_job_where_they_stand() {
    let place = Place::new();
    let unknown = format!(">x\n{}\n", "X".repeat(30));
    let mut sizes = Vec::new();
    let cases = [(0, 0), (1, 7), (9, 5), (QUERIES, 6), (11, 0)];
    for (number, (at, format)) in cases.into_iter().enumerate() {
        place.with("bad.fa", at, &unknown);
        let search = format!(
            "-query bad.fa -db db -num_iterations 3 -outfmt {format} -out_pssm kept/p -save_each_pssm"
        );
        let expected = place.run(&search);
        assert_eq!(expected.code, Some(3), "{search}: {}", expected.messages);
        sizes.push(expected.files.len());
        for shape in shapes(number) {
            place
                .run(&format!("{search} {shape}"))
                .assert_is(&expected, &format!("{search} {shape}"));
        }
        // A resumed search ends at the same query.
        let kept = format!("{search} -ranks 2 -block_residues 1 -checkpoint c -resume");
        for _ in 0..2 {
            let results = place.run(&kept);
            let last = |results: &RunResults| results.messages.lines().last().map(str::to_owned);
            assert_eq!((results.code, last(&results)), (expected.code, last(&expected)), "{kept}");
            assert!(results.files == expected.files, "{kept}: matrices differ");
        }
        fs::remove_dir_all(place.path("c")).expect("the checkpoint");
    }
    assert!(sizes[0] == 0 && sizes[4] > sizes[2] && sizes[2] > sizes[1], "{sizes:?}");
}

#[test]
fn warnings_of_a_query_come_before_its_searches() {
    let place = Place::new();
    place.with("odd.fa", 5, ">odd\nMKV1LAWGD2EFHIRNPQSTYC\n");
    let search = "-query odd.fa -db db -num_iterations 2 -outfmt 6";
    let expected = place.run(search);
    assert!(expected.messages.contains("Ignoring invalid residues"), "{}", expected.messages);
    for shape in shapes(1) {
        place.run(&format!("{search} {shape}")).assert_is(&expected, shape);
    }
}

#[test]
fn queries_that_cannot_be_read_end_the_job_behind_those_before() {
    let place = Place::new();
    place.with("bad.fa", 7, ">bad\n%%%%%%%%%%%%%%\n");
    let search = "-query bad.fa -db db -num_iterations 2 -outfmt 7 -out_pssm kept/p";
    let expected = place.run(search);
    assert!(expected.code != Some(0) && expected.report.len() > 1000, "{}", expected.messages);
    for shape in shapes(0) {
        place.run(&format!("{search} {shape}")).assert_is(&expected, shape);
    }
}

#[test]
fn a_search_that_is_killed_goes_on_to_the_same_bytes() {
    let place = Place::new();
    place.write("many.fa", &(6..9).flat_map(|seed| queries(seed, QUERIES)).collect::<String>());
    let (mut interrupted, milliseconds) = (0, [0, 30, 120]);
    for (search, later) in SEARCHES.iter().zip(milliseconds) {
        let search = format!("-query many.fa -db db {search}");
        let expected = place.run(&search);
        let kept = format!("{search} -out report -checkpoint c -resume");
        for shape in [SHAPES[3], SHAPES[1]] {
            let later = Duration::from_millis(later);
            place.kill(&format!("{kept} {shape}"), later);
        }
        interrupted += usize::from(place.path("c").exists());
        let mut results = place.run(&format!("{kept} -ranks 3"));
        assert_eq!(results.code, Some(0), "{search}: {}", results.messages);
        let report = fs::read(place.path("report")).expect("a report");
        fs::remove_file(place.path("report")).expect("a report");
        // Messages about the checkpoint come first.
        assert!(results.messages.ends_with(&expected.messages), "{search}: {}", results.messages);
        results.messages.clone_from(&expected.messages);
        results.report = report;
        results.assert_is(&expected, &search);
        assert!(!place.path("c").exists(), "{search}");
    }
    assert!(interrupted > 0, "only {interrupted} searches were killed");
}

#[test]
fn a_search_does_not_go_on_with_other_matrices() {
    let place = Place::new();
    let search = "-db db -num_iterations 3 -outfmt 0 -ranks 2 -block_residues 1 -out report";
    let bad = format!("{search} -query bad.fa -out_pssm kept/p -checkpoint c");
    place.with("bad.fa", 10, &format!(">x\n{}\n", "X".repeat(30)));
    assert_eq!(place.run(&bad).code, Some(3));
    for other in [
        bad.replace("-out_pssm kept/p", ""),
        format!("{bad} -save_each_pssm"),
        format!("{bad} -save_pssm_after_last_round"),
        format!("{bad} -out_ascii_pssm kept/a"),
        bad.replace("-num_iterations 3", "-num_iterations 2"),
        format!("{bad} -inclusion_ethresh 0.1"),
    ] {
        let results = place.run(&format!("{other} -resume"));
        assert_eq!(results.code, Some(1), "{other}: {}", results.messages);
        assert!(results.messages.contains("-checkpoint"), "{other}: {}", results.messages);
        assert!(results.files.is_empty(), "{other}");
    }
    // The names of these files do not matter to the search.
    let results = place.run(&format!("{} -resume", bad.replace("kept/p", "kept/q")));
    assert_eq!(results.code, Some(3), "{}", results.messages);
    assert!(results.files.iter().any(|(name, _)| name == "q"), "{}", results.messages);
}

#[test]
fn a_matrix_to_begin_with_reaches_all_ranks() {
    let place = Place::new();
    place.write("one.fa", &queries(6, 1).concat());
    place.write("two.fa", &queries(9, 1).concat());
    for name in ["one", "two"] {
        let made = place.run(&format!(
            "-query {name}.fa -db db -num_iterations 2 -out_pssm {name}.pssm -out made"
        ));
        assert_eq!(made.code, Some(0), "{}", made.messages);
    }
    for search in ["-num_iterations 1 -outfmt 6", "-num_iterations 3 -outfmt 0 -out_pssm kept/p"] {
        let search = format!("-in_pssm one.pssm -db db {search}");
        let expected = place.run(&search);
        assert!(expected.report.len() > 300, "{search}: {}", expected.messages);
        for shape in shapes(search.len()) {
            place
                .run(&format!("{search} {shape}"))
                .assert_is(&expected, &format!("{search} {shape}"));
        }
    }
    let kept = "-in_pssm one.pssm -db db -num_iterations 3 -out /dev/full -checkpoint c -ranks 2";
    assert_eq!(place.run(kept).code, Some(6));
    fs::copy(place.path("two.pssm"), place.path("one.pssm")).expect("a copy");
    let other = place.run(&format!("{kept} -resume"));
    assert_eq!(other.code, Some(1), "{}", other.messages);
    assert!(other.messages.contains("-checkpoint"), "{}", other.messages);
}

#[test]
fn records_hold_all_searches_of_a_query() {
    let place = Place::new();
    let search = "-query q.fa -db db -num_iterations 3 -outfmt 7";
    let expected = place.run(search);
    let made = place.run(&format!("{search} -ranks 3 -block_residues 500 -output records -out r"));
    assert_eq!((made.code, &made.messages), (Some(0), &expected.messages));
    let cat = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
        command.arg("cat").args(more).arg("r").current_dir(place.0.path());
        command.output().expect("the program runs").stdout
    };
    assert!(cat(&[]) == expected.report, "records differ");
    let one = String::from_utf8(cat(&["-query", "q5"])).expect("text");
    assert_eq!(one.matches("# Query: q5\n").count(), one.matches("# Iteration:").count(), "{one}");
    assert!(one.contains("# Iteration: 2\n"), "{one}");
}

#[cfg(feature = "mpi")]
#[test]
fn processes_leave_what_one_process_leaves() {
    use crate::launched::launched;
    let place = Place::new();
    let program = Path::new(env!("CARGO_BIN_EXE_fleetblast"));
    for (search, processes) in sample(2, SEARCHES.iter().zip([2, 3, 4].iter().cycle())) {
        let search = format!("-query q.fa -db db {search}");
        let expected = place.run(&search);
        for shape in ["-block_residues 1", "-block_residues 700 -groups 2 -output collective"] {
            let command =
                place.prepare(launched(program, *processes), &format!("{search} {shape}"));
            place
                .run_command(command)
                .assert_is(&expected, &format!("{processes}: {search} {shape}"));
        }
    }
    let begun = place.run("-query q.fa -db db -num_iterations 2 -out_pssm kept/p");
    fs::write(place.path("p"), &begun.files[0].1).expect("a file");
    let command = place.prepare(launched(program, 2), "-in_pssm - -db db");
    let refused = place.run_command(command);
    assert!(refused.messages.contains("from standard input"), "{}", refused.messages);
}
