//! A job that fails ends at once, whatever its ranks are doing. With the feature `mpi` this needs
//! the launcher of the MPI library: `MPIRUN`, else `mpirun`.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::volumes::{FOUR, protein, volume};
use fastrand::Rng;
use tempfile::TempDir;

/// Exit code for a database that cannot be read.
const DATABASE: i32 = 2;
/// Longest wait for the end of the job: a fraction of the search's time, and much more than the end
/// takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Makes a database with damage all over its second half, and a query whose comparison with the
/// first half takes minutes.
fn database() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut random = Rng::with_seed(9);
    let entries: Vec<_> =
        (0..2500).map(|number| (format!("s{number}"), protein(&mut random, 2000))).collect();
    let mut bytes = volume(&FOUR, &entries);
    let half = bytes.residues.len() / 2;
    bytes.residues[half..].iter_mut().skip(100).step_by(700).for_each(|code| *code = 0xee);
    for (extension, bytes) in
        [("pin", &bytes.index), ("psq", &bytes.residues), ("phr", &bytes.headers)]
    {
        fs::write(dir.path().join(format!("db.{extension}")), bytes).expect("a file");
    }
    let query = String::from_utf8_lossy(&protein(&mut random, 200_000)).into_owned();
    fs::write(dir.path().join("q.fa"), format!(">q\n{query}\n")).expect("queries");
    dir
}

/// Starts a job of two ranks, each with a half of the database.
fn start(mut command: Command, dir: &TempDir, arguments: &[&str]) -> Child {
    command
        .args(["blastp", "-query", "q.fa", "-db", "db", "-evalue", "1e-30", "-out", "report"])
        .args(["-num_threads", "1", "-replicas", "1", "-partitions", "2"])
        .args(arguments)
        .current_dir(dir.path())
        .env("FLEETBLAST_KERNEL", "portable")
        .env_remove("BLASTDB")
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs")
}

/// Checks that the job ends when one rank fails, while the other one searches.
fn ends_soon(dir: &TempDir, mut child: Child) {
    let start = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().expect("a child");
            panic!("the job waits for the search");
        }
        thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("a child");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(DATABASE), "{message}");
    assert!(message.contains("db.psq") && message.contains("(rank 1"), "{message}");
    let names: Vec<_> = fs::read_dir(dir.path()).expect("the directory").collect();
    assert_eq!(names.len(), 5, "nothing is left but an empty report: {names:?}");
    assert_eq!(fs::read(dir.path().join("report")).expect("a report"), b"");
}

#[test]
fn ranks_of_one_process_do_not_wait_for_a_search() {
    let dir = database();
    let command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
    let child = start(command, &dir, &["-ranks", "2"]);
    ends_soon(&dir, child);
}

#[cfg(feature = "mpi")]
#[test]
fn processes_do_not_wait_for_a_search() {
    let dir = database();
    let launcher = std::env::var_os("MPIRUN").unwrap_or_else(|| "mpirun".into());
    let mut command = Command::new(launcher);
    command.args(["-n", "2", env!("CARGO_BIN_EXE_fleetblast")]);
    // With these variables, Open MPI runs for any user, and with more ranks than cores.
    let settings = [
        "OMPI_ALLOW_RUN_AS_ROOT",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
        "OMPI_MCA_rmaps_base_oversubscribe",
    ];
    command.envs(settings.map(|name| (name, "1")));
    let child = start(command, &dir, &[]);
    ends_soon(&dir, child);
}
