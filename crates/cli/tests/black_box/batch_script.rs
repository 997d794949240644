//! The batch script for Slurm, run as Slurm runs it, but on this host.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::{Fixture, complaint};

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fleetblast.sbatch")
}

/// Runs the script with these environment variables and arguments.
fn batch(fixture: &Fixture, variables: &[(&str, &str)], words: &str) -> Output {
    let mut command = Command::new("bash");
    command.arg(script()).args(words.split_whitespace()).current_dir(fixture.path());
    for name in ["QUERY", "DB", "OUT", "FLEETBLAST_THREADS", "SLURM_CPUS_PER_TASK"] {
        command.env_remove(name);
    }
    command.env("FLEETBLAST", env!("CARGO_BIN_EXE_fleetblast")).envs(variables.iter().copied());
    for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
        command.env(name, "1");
    }
    command.env("OMPI_MCA_rmaps_base_oversubscribe", "1").output().expect("bash runs")
}

#[test]
fn it_runs_any_search_program() {
    let fixture = Fixture::new();
    let direct = |line: &str| {
        let words: Vec<_> = line.split(' ').map(Into::into).collect();
        let program = env!("CARGO_BIN_EXE_fleetblast").as_ref();
        let output = fixture.run(program, &words, &[]);
        assert!(output.status.success(), "{line}: {}", complaint(&output));
        output.stdout
    };
    fs::write(fixture.path().join("n.fa"), ">n\nACGTTGCAAGGCTTAACCGGTTACGATCGGATTACAGGCA\n")
        .expect("a sequence");
    let row = "MKVLAADTGHIWQERTYPASDFGHKLCVNM";
    fs::write(fixture.path().join("msa.fa"), format!(">a\n{row}\n>b\n{row}\n")).expect("rows");
    direct("makeblastdb -in s.fa -dbtype prot -out db");
    direct("makeblastdb -in n.fa -dbtype nucl -out ndb");
    for (query, db, words, line) in [
        ("q.fa", "db", "-outfmt 6", "blastp -query q.fa -db db -outfmt 6"),
        ("q.fa", "db", "", "blastp -query q.fa -db db"),
        ("n.fa", "ndb", "blastn -outfmt 7", "blastn -query n.fa -db ndb -outfmt 7"),
        (
            "q.fa",
            "db",
            "psiblast -num_iterations 2",
            "psiblast -query q.fa -db db -num_iterations 2",
        ),
        ("", "db", "psiblast -in_msa msa.fa", "psiblast -db db -in_msa msa.fa"),
        ("n.fa", "", "blastn -subject n.fa", "blastn -query n.fa -subject n.fa"),
    ] {
        let out = fixture.path().join("report.txt");
        let variables = [("QUERY", query), ("DB", db), ("OUT", "report.txt")];
        let output = batch(&fixture, &variables, words);
        assert!(output.status.success(), "{words}: {}", complaint(&output));
        assert!(fs::read(&out).expect("the report") == direct(line), "{words}");
        assert!(!fixture.path().join("report.txt.checkpoint").exists(), "{words}");
        fs::remove_file(out).expect("the report");
    }
    let output = batch(&fixture, &[("QUERY", "q.fa"), ("DB", "db")], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("name the report"));
}

#[test]
fn each_rank_has_the_threads_of_its_task() {
    let fixture = Fixture::new();
    let threads = |variables: &[(&str, &str)], more: &str| {
        let files = [("QUERY", "q.fa"), ("OUT", "r")];
        let words = format!("blastp -subject s.fa -timing t {more}");
        let output = batch(&fixture, &[&files, variables].concat(), &words);
        assert!(output.status.success(), "{}", complaint(&output));
        let timing = fs::read(fixture.path().join("t")).expect("a timing");
        let timing: serde_json::Value = serde_json::from_slice(&timing).expect("JSON");
        let ranks = timing["fleet"]["ranks"].as_u64().expect("ranks");
        (timing["threads"].as_u64().expect("threads") / ranks, timing["threads_source"].clone())
    };
    // Without a number Slurm gives a task one CPU.
    assert_eq!(threads(&[], ""), (1, "FLEETBLAST_THREADS".into()));
    assert_eq!(threads(&[("SLURM_CPUS_PER_TASK", "1")], ""), (1, "FLEETBLAST_THREADS".into()));
    assert_eq!(threads(&[("SLURM_CPUS_PER_TASK", "9")], "-num_threads 1").1, "-num_threads");
}
