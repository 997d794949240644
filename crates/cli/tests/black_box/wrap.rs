//! `fleetblast wrap`: another program on blocks of queries gives the bytes of one run of it. Failed
//! blocks are named, and the output has all others.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use crate::family::{family, queries};
use crate::volumes::{FOUR, write};
use fastrand::Rng;
use fleetblast_oracle::{oracle, sample};
use tempfile::TempDir;

const QUERIES: usize = 40;

/// A directory with a database and queries of uneven lengths.
struct Inputs {
    dir: TempDir,
}

fn inputs() -> &'static Inputs {
    static INPUTS: OnceLock<Inputs> = OnceLock::new();
    INPUTS.get_or_init(|| {
        let dir = tempfile::tempdir().expect("a temporary directory");
        write(dir.path(), "db", &FOUR, &family(5, 12));
        let all = queries(6, QUERIES + 3);
        let mut text: String = all[..QUERIES].concat();
        // The last query is long.
        let long: String = all[QUERIES..].iter().filter_map(|query| query.lines().nth(1)).collect();
        text += &format!(">long of several\n{long}\n");
        fs::write(dir.path().join("q.fa"), text).expect("queries");
        Inputs { dir }
    })
}

impl Inputs {
    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs a program in this directory.
    fn program(&self, program: &Path, arguments: &[&str]) -> Output {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.dir.path()).env_remove("BLASTDB");
        command.stdin(Stdio::null()).output().expect("the program runs")
    }

    fn wrap(&self, options: &[&str], program: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
        command.arg("wrap").args(options);
        if !options.contains(&"-query") {
            command.args(["-query", "q.fa"]);
        }
        command.arg("--").args(program);
        command.current_dir(self.dir.path()).env_remove("BLASTDB").stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run_wrapped(&self, options: &[&str], program: &[&str]) -> Output {
        self.wrap(options, program).output().expect("the program runs")
    }
}

fn stderr_text(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!text.contains("panicked"), "{text}");
    text
}

#[test]
fn programs_of_blast_give_the_bytes_of_one_run() {
    let Some(oracle) = oracle() else { return };
    let inputs = inputs();
    let mut turn = 0;
    for (name, more) in [
        ("blastp", &[][..]),
        ("blastp", &["-seg", "yes", "-evalue", "1"]),
        ("psiblast", &["-num_iterations", "3"]),
    ] {
        let program = oracle.program(name);
        let path = program.display().to_string();
        for format in sample(2, ["0", "5", "6", "7", "10"]) {
            let arguments = [&["-db", "db", "-outfmt", format], more].concat();
            let alone = inputs.program(&program, &[&["-query", "q.fa"], &arguments[..]].concat());
            assert!(alone.status.success(), "{}", stderr_text(&alone));
            turn += 1;
            let options: &[&str] = match turn % 4 {
                0 => &["-n", "3", "-block_queries", "1"],
                1 => &["-n", "4", "-block_residues", "700"],
                2 => &["-n", "1"],
                _ => &[
                    "-n",
                    "2",
                    "-block_residues",
                    "2500",
                    "-write_buffer",
                    "900",
                    "-result_memory",
                    "9000",
                ],
            };
            let options = [&["-db", "db"], options].concat();
            let command: Vec<&str> = [path.as_str()].into_iter().chain(arguments).collect();
            let wrapped = inputs.run_wrapped(&options, &command);
            assert!(wrapped.status.success(), "{}", stderr_text(&wrapped));
            let same = wrapped.stdout == alone.stdout;
            assert!(same, "{name} {more:?} -outfmt {format} with {options:?}");
        }
    }
}

#[test]
fn queries_and_output_go_where_they_are_wanted() {
    let inputs = inputs();
    let text = fs::read(inputs.path("q.fa")).expect("queries");
    for program in [
        &["cat"][..],
        &["cat", "{query}"],
        &["sh", "-c", "cat \"$1\" >\"$2\"; echo not this", "sh", "{query}", "{out}"],
        // The queries begin at the start each time they are opened.
        &["sh", "-c", "cat {query} >/dev/null; exec cat {query}"],
    ] {
        let output = inputs.run_wrapped(&["-n", "3", "-block_residues", "500"], program);
        assert_eq!(
            (stderr_text(&output), output.status.code()),
            (String::new(), Some(0)),
            "{program:?}"
        );
        assert!(output.stdout == text, "{program:?}");
    }
    let output = inputs.run_wrapped(&["-n", "2", "-db", "db"], &["sh", "-c", "echo {db}"]);
    assert!(String::from_utf8_lossy(&output.stdout).lines().all(|line| line == "db"));
}

#[test]
fn what_fails_is_tried_again_and_named_and_the_rest_is_there() {
    let inputs = inputs();
    let one_each = ["-n", "3", "-block_queries", "1"];
    let fails = "if grep -q '>q7$' /dev/fd/0; then echo no >&2; kill -SEGV $$; fi; cat /dev/fd/0";
    let output = inputs.run_wrapped(&one_each, &["sh", "-c", fails]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr_text(&output));
    for part in [
        "query block 7 (query q7)",
        "trying again",
        "tried 2 times",
        "signal 11",
        "it said: no",
        "one block of queries",
    ] {
        assert!(stderr_text(&output).contains(part), "no '{part}' in {}", stderr_text(&output));
    }
    let text = fs::read_to_string(inputs.path("q.fa")).expect("queries");
    let rest: String = text
        .split_inclusive('\n')
        .collect::<Vec<_>>()
        .chunks(2)
        .filter(|query| query[0] != ">q7\n")
        .map(|query| query.concat())
        .collect();
    assert_eq!(String::from_utf8_lossy(&output.stdout), rest);
    // Blocks that succeed at the second attempt are all in the output.
    let marks = tempfile::tempdir().expect("a directory");
    let once = format!(
        "name=$(head -n 1 /dev/fd/0 | tr -d '> '); if mkdir {}/$name 2>/dev/null; then exit 9; fi; cat /dev/fd/0",
        marks.path().display()
    );
    let output = inputs.run_wrapped(&one_each, &["sh", "-c", &once]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr_text(&output));
    assert!(
        output.stdout == text.as_bytes()
            && stderr_text(&output).contains("exit code 9; trying again")
    );
    // A run that hangs is killed; no other run is, even on a busy machine.
    let start = Instant::now();
    let hangs = "if grep -q '>q7$' /dev/fd/0; then exec sleep 600; fi; cat /dev/fd/0";
    let limited = [&one_each[..], &["-time_limit", "6", "-tries", "1"]].concat();
    let output = inputs.run_wrapped(&limited, &["sh", "-c", hangs]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr_text(&output));
    assert!(stderr_text(&output).contains("took longer than 6 s"), "{}", stderr_text(&output));
    assert!(start.elapsed() < Duration::from_secs(60));
    assert_eq!(String::from_utf8_lossy(&output.stdout), rest);
}

#[test]
fn what_cannot_be_is_refused() {
    let inputs = inputs();
    let refused = |options: &[&str], program: &[&str], code: i32, part: &str| {
        let output = inputs.run_wrapped(options, program);
        assert_eq!(output.status.code(), Some(code), "{program:?}: {}", stderr_text(&output));
        assert!(stderr_text(&output).contains(part), "{program:?}: {}", stderr_text(&output));
        assert!(output.stdout.is_empty());
    };
    refused(&[], &[], 1, "after two dashes");
    refused(&[], &["/absent/program"], 1, "/absent/program: No such file");
    refused(&["-db", "db"], &["cat"], 1, "nothing in the command names the database");
    refused(&["-db", "absent"], &["cat", "{db}"], 2, "no such database");
    refused(&[], &["psiblast", "-out_ascii_pssm", "p"], 1, "-out_ascii_pssm");
    refused(&[], &["blastp", "-outfmt", "17"], 1, "-outfmt 17");
    refused(&[], &["blastp", "-out", "f"], 1, "-out would be the same for each block");
    // Malformed output is an error in each block.
    refused(&["-join", "xml", "-tries", "1"], &["cat"], 3, "no XML of BLAST+");
    fs::write(inputs.path("unnamed.fa"), ">a\nMKV\n>\nMKV\n").expect("queries");
    let output = inputs.run_wrapped(&["-query", "unnamed.fa"], &["cat"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr_text(&output));
    assert!(stderr_text(&output).contains("query 2 has no name"), "{}", stderr_text(&output));
}

/// Starts a slow program with a checkpoint.
fn start(inputs: &Inputs, dir: &Path, ranks: &str, format: &str, records: bool) -> Child {
    let (out, kept) = (dir.join("out"), dir.join("kept"));
    let kept = if records { &out } else { &kept };
    let (out, kept) = (out.display().to_string(), kept.display().to_string());
    let mut options =
        vec!["-n", ranks, "-block_queries", "2", "-out", &out, "-checkpoint", &kept, "-resume"];
    if records {
        options.extend(["-output", "records"]);
    }
    options.extend(["-db", "db"]);
    let ours = env!("CARGO_BIN_EXE_fleetblast");
    let slow = format!("sleep 0.02; exec {ours} blastp -db {{db}} -outfmt {format} -num_threads 1");
    options.extend(["-join", if format == "5" { "xml" } else { "comments" }]);
    inputs.wrap(&options, &["sh", "-c", &slow]).spawn().expect("the program runs")
}

#[test]
fn it_is_killed_and_goes_on() {
    let inputs = inputs();
    let mut random = Rng::with_seed(3);
    let mut killed = 0;
    for (format, records) in [("5", false), ("7", true), ("7", false), ("5", true)] {
        let ours = Path::new(env!("CARGO_BIN_EXE_fleetblast"));
        let arguments = ["blastp", "-query", "q.fa", "-db", "db", "-outfmt", format];
        let expected = inputs.program(ours, &arguments).stdout;
        let dir = tempfile::tempdir().expect("a directory");
        for _ in 0..5 {
            let mut child = start(inputs, dir.path(), "3", format, records);
            thread::sleep(Duration::from_millis(random.u64(100..600)));
            let _ = child.kill();
            killed += usize::from(child.wait().expect("it ended").code().is_none());
        }
        let output = start(inputs, dir.path(), "2", format, records).wait_with_output();
        let output = output.expect("it ended");
        assert!(output.status.success(), "{}", stderr_text(&output));
        let out = dir.path().join("out");
        let report = match records {
            true => inputs.program(ours, &["cat", &out.display().to_string()]).stdout,
            false => fs::read(&out).expect("a report"),
        };
        assert!(report == expected, "-outfmt {format}, records: {records}");
        assert!(!dir.path().join("kept").exists());
    }
    assert!(killed > 5, "only {killed} were killed");
}
