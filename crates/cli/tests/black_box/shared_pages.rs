//! Processes lose no bytes of the report if their hosts do not keep pages of it in step, like
//! clients of NFS. This needs the launcher of the MPI library, `MPIRUN`, else `mpirun`. It also
//! needs `cc`, for the model of such a client (`common/pages.c`).
//!
//! `SHARED_PAGES_RUNS=50` sets the number of runs of each kind (a few by default).
use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::compile_preload;
use crate::family::mutated;
use crate::volumes::{FOUR, protein, write};
use fastrand::Rng;
use fleetblast_oracle::sample;
use tempfile::TempDir;

/// Number of runs of each kind in an ordinary test.
const RUNS: usize = 1;

/// Makes a family of proteins, and about a dozen blocks of queries from it.
fn inputs() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut random = Rng::with_seed(31);
    let parent = protein(&mut random, 400);
    let mut related = |share: u64| mutated(&mut random, &parent, share);
    let entries: Vec<_> = (0..8).map(|i| (format!("s{i} of a family"), related(30))).collect();
    write(dir.path(), "db", &FOUR, &entries);
    let mut queries = String::new();
    for number in 0..800 {
        // The reports of blocks have between some kilobytes and a megabyte.
        let share = if number / 125 % 3 == 0 { 40 } else { 90 };
        queries += &format!(">q{number}\n{}\n", String::from_utf8_lossy(&related(share)));
    }
    fs::write(dir.path().join("q.fa"), queries).expect("queries");
    compile_preload("pages.c", &dir.path().join("pages.so"));
    dir
}

fn search(mut command: Command, dir: &Path, arguments: &[&str]) -> Output {
    // With these variables, Open MPI runs for any user, and with more ranks than cores.
    let settings = [
        "OMPI_ALLOW_RUN_AS_ROOT",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
        "OMPI_MCA_rmaps_base_oversubscribe",
    ];
    let output = command
        .args(["blastp", "-query", "q.fa", "-db", "db", "-num_threads", "1", "-out", "report"])
        // Composition-based statistics would take most of the time.
        .args(["-comp_based_stats", "0"])
        .args(arguments)
        .current_dir(dir)
        .envs(settings.map(|name| (name, "1")))
        .env_remove("BLASTDB")
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Returns a command that runs the program on four processes, each with its own page cache.
fn apart(dir: &Path) -> Command {
    let launcher = env::var_os("MPIRUN").unwrap_or_else(|| "mpirun".into());
    let mut command = Command::new(launcher);
    let preload = format!("LD_PRELOAD={}", dir.join("pages.so").display());
    command.args(["-n", "4", "env", &preload, env!("CARGO_BIN_EXE_fleetblast")]);
    command
}

#[test]
fn no_byte_is_lost_between_hosts() {
    let runs = env::var("SHARED_PAGES_RUNS").map_or(RUNS, |text| text.parse().expect("a number"));
    assert!(runs > 0);
    let dir = inputs();
    let report = || fs::read(dir.path().join("report")).expect("the report");
    let kept = dir.path().join("kept");
    let kept = ["-checkpoint", kept.to_str().expect("a name")];
    for (format, more, first) in sample(2, [("0", &[][..], 0), ("6", &[], 1), ("0", &kept, 1)]) {
        let format = ["-outfmt", format];
        search(Command::new(env!("CARGO_BIN_EXE_fleetblast")), dir.path(), &format);
        let expected = report();
        assert!(expected.len() > 100_000, "{} bytes", expected.len());
        for (run, shape) in
            [["-groups", "2"], ["-groups", "4"]].iter().cycle().skip(first).take(runs).enumerate()
        {
            let arguments = [&format, &shape[..], more].concat();
            search(apart(dir.path()), dir.path(), &arguments);
            let found = report();
            let differs = expected.iter().zip(&found).position(|(a, b)| a != b);
            assert!(
                found == expected,
                "run {run}, {arguments:?}: {} bytes instead of {}, the first that differs: {differs:?}",
                found.len(),
                expected.len()
            );
        }
    }
}
