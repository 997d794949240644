//! The default of `-num_threads`, and its source in the file of `-timing`.

use std::fs;
use std::process::{Command, Output};

use fleetblast_cli::cpus::Cpus;
use serde_json::Value;

use crate::common::{Fixture, complaint};

/// Environment variables for the number of threads.
const VARIABLES: [&str; 3] = ["FLEETBLAST_THREADS", "OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK"];

/// Runs a command line of words separated by blanks. Of [`VARIABLES`], only those in `variables`
/// are set.
fn run(fixture: &Fixture, command: &mut Command, line: &str, variables: &[(&str, &str)]) -> Output {
    for name in VARIABLES {
        command.env_remove(name);
    }
    command.args(line.split(' ')).envs(variables.iter().copied()).current_dir(fixture.path());
    command.stdin(std::process::Stdio::null()).output().expect("the program runs")
}

fn fleetblast() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fleetblast"))
}

/// Runs a search with further options. Returns the number of threads, and the source of that
/// number.
fn run_timed(
    fixture: &Fixture,
    command: &mut Command,
    more: &str,
    variables: &[(&str, &str)],
) -> (u64, String) {
    let line = format!("blastp -query q.fa -subject s.fa -outfmt 6 -out r -timing t.json{more}");
    let output = run(fixture, command, &line, variables);
    assert!(output.status.success(), "{line}: {}", complaint(&output));
    let text = fs::read(fixture.path().join("t.json")).expect("a timing");
    let timing: Value = serde_json::from_slice(&text).expect("JSON");
    let source = timing["threads_source"].as_str().expect("a source").to_owned();
    (timing["threads"].as_u64().expect("a number"), source)
}

#[test]
fn timing_says_what_decides_the_threads() {
    let fixture = Fixture::new();
    let timed = |more: &str, variables: &[(&str, &str)]| {
        run_timed(&fixture, &mut fleetblast(), more, variables)
    };
    let cpus = Cpus::detect();
    let all = (cpus.allowed as u64, cpus.limit.name().to_owned());
    assert_eq!(timed("", &[]), all);
    for name in VARIABLES {
        assert_eq!(timed("", &[(name, "1")]), (1, name.to_owned()));
        assert_eq!(timed(" -num_threads 1", &[(name, "2")]), (1, "-num_threads".to_owned()));
        let most = (all.0, name.to_owned());
        assert_eq!(timed("", &[(name, "100000")]), most, "never more than there are CPUs for");
    }
    assert_eq!(timed("", &[("OMP_NUM_THREADS", "1,4")]), (1, "OMP_NUM_THREADS".to_owned()));
    assert_eq!(timed("", &[("OMP_NUM_THREADS", "many")]), all);
    // The ranks of a process share its threads.
    let (threads, source) = timed(" -ranks 2", &[("FLEETBLAST_THREADS", "2")]);
    assert_eq!((threads, cpus.allowed < 2 || source == "FLEETBLAST_THREADS"), (2, true));
}

#[test]
fn a_mask_of_cpus_counts_and_makes_no_warning() {
    let fixture = Fixture::new();
    let bound = || {
        let mut command = Command::new("taskset");
        command.args(["-c", &first_cpu().to_string(), env!("CARGO_BIN_EXE_fleetblast")]);
        command
    };
    let (threads, source) = run_timed(&fixture, &mut bound(), "", &[]);
    assert_eq!(threads, 1);
    let machine = Cpus::detect().machine;
    assert!(machine == 1 || source != "CPUs of the machine", "{source}");
    let Some(oracle) = fixture.oracle else { return };
    // BLAST+ compares the number with the CPUs of the machine.
    for (subjects, threads) in [("-db db", 2), ("-db db", 9999), ("-subject s.fa", 2)] {
        let line = format!("-query q.fa {subjects} -outfmt 6 -num_threads {threads}");
        let mut blast = Command::new("taskset");
        blast.args(["-c", &first_cpu().to_string()]).arg(oracle.program("blastp"));
        let expected = run(&fixture, &mut blast, &line, &[]);
        let mut ours = bound();
        let found = run(&fixture, ours.arg("blastp"), &line, &[]);
        assert_eq!(found.stdout, expected.stdout, "{line}");
        assert_eq!(complaint(&found), complaint(&expected), "{line}");
    }
}

/// Returns a CPU that this process may run on.
fn first_cpu() -> u32 {
    let status = fs::read_to_string("/proc/self/status").expect("a status");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let list = list.expect("a list of CPUs").trim();
    list.split([',', '-']).next().and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
fn a_bad_number_in_the_own_variable_is_an_error_of_every_command() {
    let fixture = Fixture::new();
    let Some(oracle) = fixture.oracle else { return };
    let lines = [
        "blastp -query q.fa -subject s.fa",
        "blastp -query q.fa -db db -metadata_out m",
        "makeblastdb -in s.fa -dbtype prot -out new",
        "dbcheck -db db",
        "expand -metadata good -db db",
    ];
    let line = "blastp -query q.fa -db db -metadata_out good";
    assert!(run(&fixture, &mut fleetblast(), line, &[]).status.success());
    for line in lines {
        let output = run(&fixture, &mut fleetblast(), line, &[("FLEETBLAST_THREADS", "0x4")]);
        let said = complaint(&output);
        assert_eq!((output.status.code(), &*output.stdout), (Some(1), &b""[..]), "{line}: {said}");
        let text = String::from_utf8_lossy(&output.stderr);
        let wanted = "FLEETBLAST_THREADS: '0x4' is not a number of threads";
        assert!(text.contains(wanted), "{said}");
        let typed = format!("{line} -num_threads 1");
        let output = run(&fixture, &mut fleetblast(), &typed, &[("FLEETBLAST_THREADS", "0x4")]);
        assert!(output.status.success(), "{typed}: {}", complaint(&output));
    }
    // Bad variables of other programs change neither output nor messages.
    let line = "blastp -query q.fa -db db -outfmt 6";
    let plain = run(&fixture, &mut Command::new(oracle.program("blastp")), &line[7..], &[]);
    for bad in ["", "-1", "x", "2,2"] {
        let output = run(&fixture, &mut fleetblast(), line, &[("OMP_NUM_THREADS", bad)]);
        assert_eq!((output.stdout, output.stderr), (plain.stdout.clone(), plain.stderr.clone()));
    }
}

#[cfg(feature = "mpi")]
#[test]
fn processes_of_a_host_share_its_cpus() {
    let fixture = Fixture::new();
    let timed = |variables: &[(&str, &str)]| {
        let program = env!("CARGO_BIN_EXE_fleetblast").as_ref();
        let mut command = crate::launched::launched(program, 2);
        // Otherwise Open MPI binds each rank to one core.
        command.env("OMPI_MCA_hwloc_base_binding_policy", "none");
        run_timed(&fixture, &mut command, "", variables)
    };
    // There are two processes on the CPUs of this host. The timing has the sum of their threads.
    let cpus = Cpus::detect();
    let share = (cpus.allowed / 2).max(1) as u64;
    let (threads, source) = timed(&[]);
    let shared = if cpus.allowed > 1 { "CPUs shared with other ranks" } else { cpus.limit.name() };
    assert_eq!((threads, &*source), (2 * share, shared));
    assert_eq!(timed(&[("OMP_NUM_THREADS", "1")]), (2, "OMP_NUM_THREADS".to_owned()));
    assert_eq!(timed(&[("OMP_NUM_THREADS", "1000")]).0, 2 * share);
    // FleetBLAST's own variable sets the number for each process.
    let each = cpus.allowed;
    let (threads, source) = timed(&[("FLEETBLAST_THREADS", &each.to_string())]);
    assert_eq!((threads, &*source), (2 * each as u64, "FLEETBLAST_THREADS"));
}
