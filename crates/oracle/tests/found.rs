//! Tests how the oracle is recognised and how tests behave without it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use fleetblast_oracle::{Oracle, WITHOUT_ORACLE_VARIABLE, oracle};

const PROGRAMS: [&str; 3] = ["blastp", "makeblastdb", "blastdbcmd"];

/// Makes a directory of this test with programs that print `package` as the second line of
/// `-version`.
fn directory(name: &str, programs: &[&str], package: &str) -> std::path::PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("oracle-{name}"));
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    for program in programs {
        let path = directory.join(program);
        let script = format!("#!/bin/sh\necho '{program}: 2.12.0+'\necho ' Package: {package}'\n");
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    directory
}

fn path(directories: &[&Path]) -> OsString {
    std::env::join_paths(directories).unwrap()
}

#[test]
fn the_package_identifies_the_oracle() {
    let ours = directory("ours", &PROGRAMS, "FleetBLAST 0.1.0, reports equal blast 2.12.0");
    let later = directory("later", &PROGRAMS, "blast 2.14.1, build Jan  1 2024 00:00:00");
    let part = directory("part", &PROGRAMS[..2], "blast 2.12.0, build Feb 17 2022 10:04:48");
    let whole = directory("whole", &PROGRAMS, "blast 2.12.0, build Feb 17 2022 10:04:48");
    let missing = Oracle::search(&path(&[&ours, &later, &part])).unwrap_err().to_string();
    let named = ours.join("blastp").display().to_string();
    assert!(
        missing.contains(&format!("{named} is another program: its -version says")),
        "{missing}"
    );
    assert!(missing.contains("Package: blast 2.14.1,"), "{missing}");
    let found = Oracle::search(&path(&[&ours, &later, &part, &whole])).unwrap();
    assert_eq!(found.program("segmasker"), whole.join("segmasker"));
}

#[test]
fn programs_that_fail_or_cannot_start_are_not_the_oracle() {
    let broken = directory("broken", &PROGRAMS, "blast 2.12.0, build x");
    fs::write(
        broken.join("makeblastdb"),
        "#!/bin/sh\necho x\necho ' Package: blast 2.12.0, '\nexit 1\n",
    )
    .unwrap();
    let missing = Oracle::search(&path(&[&broken])).unwrap_err().to_string();
    assert!(missing.contains("makeblastdb is another program"), "{missing}");
    fs::set_permissions(broken.join("blastp"), fs::Permissions::from_mode(0o644)).unwrap();
    let missing = Oracle::search(&path(&[&broken])).unwrap_err().to_string();
    assert!(missing.contains("blastp cannot be started"), "{missing}");
}

/// An example of a test that needs the oracle. The test below runs it.
#[test]
#[ignore = "is run by the test of missing oracles"]
fn compares_with_the_oracle() {
    if oracle().is_some() {
        println!("compared");
    }
}

/// Runs the ignored test of this program with `directories` as `PATH`. `without` is the value of
/// the environment variable [`WITHOUT_ORACLE_VARIABLE`]. Returns the result and its text.
fn run(directories: &[&Path], without: Option<&str>) -> (Output, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--ignored", "--exact", "compares_with_the_oracle"])
        .env_remove(WITHOUT_ORACLE_VARIABLE);
    command
        .env("PATH", path(directories))
        .envs(without.map(|value| (WITHOUT_ORACLE_VARIABLE, value)));
    let output = command.output().unwrap();
    let text = [&output.stdout[..], &output.stderr].concat();
    (output, String::from_utf8(text).unwrap())
}

#[test]
fn a_missing_oracle_fails_the_test_unless_that_is_allowed() {
    let ours = directory("fails", &PROGRAMS, "FleetBLAST 0.1.0, reports equal blast 2.12.0");
    for without in [None, Some("0")] {
        let (output, text) = run(&[&ours], without);
        assert!(!output.status.success(), "{text}");
        assert!(text.contains("Install it") && text.contains("FleetBLAST 0.1.0"), "{text}");
    }
    let (output, text) = run(&[&ours], Some("1"));
    assert!(output.status.success(), "{text}");
    let said = "NOT TESTED, as BLAST+ 2.12.0 is missing: compares_with_the_oracle\n";
    assert!(text.contains(said), "{text}");
}
