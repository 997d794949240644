//! What FleetBLAST does its own way.

use std::ffi::OsStr;
use std::process::{Command, Output, Stdio};

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
    command.args(arguments).stdin(Stdio::null()).output().expect("the program runs")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

#[test]
fn top_level_says_what_it_is() {
    for arguments in [&[][..], &["-h"], &["-help"]] {
        let output = run(arguments);
        assert!(output.status.success());
        assert!(text(&output.stdout).contains("the bytes of NCBI BLAST+ 2.12.0"));
    }
    let output = run(&["-version"]);
    assert!(text(&output.stdout).starts_with("fleetblast: "));
    let output = run(&["blastq"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("'blastq'"));
}

#[test]
fn version_is_blasts_on_its_first_line() {
    for arguments in [["blastp", "-version"], ["blastp", "-db=-version"]] {
        let output = run(&arguments);
        assert_eq!(output.stdout.starts_with(b"blastp: 2.12.0+\n"), arguments[1] == "-version");
    }
    let output = run(&["blastp", "-nosuch", "-evalue", "-version"]);
    assert!(output.stdout.starts_with(b"blastp: 2.12.0+\n Package: FleetBLAST "));
}

#[test]
fn usage_names_the_command_and_own_options() {
    let output = run(&["blastp", "-h"]);
    let usage = text(&output.stdout);
    assert!(usage.starts_with("USAGE\n  fleetblast blastp [-h] [-help] "), "{usage}");
    assert!(usage.contains(" [-timing output_file]"), "{usage}");
    assert!(usage.lines().all(|line| line.len() <= 78), "{usage}");
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    let lines: [&[&str]; 9] = [
        &["-ipglist", "x"],
        &["-negative_ipglist", "x"],
        &["-import_search_strategy", "x"],
        &["-export_search_strategy", "x"],
        &["-remote"],
        &["-logfile", "x"],
        &["-conffile", "x"],
        &["-dryrun"],
        &["-version-full"],
    ];
    for line in lines {
        let output = run(&[&["blastp", "-db", "x"], line].concat());
        let version = env!("CARGO_PKG_VERSION");
        let name = line[0];
        let expected =
            format!("FleetBLAST {version} does not support {name} yet; run NCBI blastp instead\n");
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(1), &*expected));
    }
    let output = run(&["blastp", "-db", "x", "-outfmt", "11"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("does not support -outfmt 11 yet"));
}

#[test]
fn a_closed_pipe_is_no_news() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_fleetblast"))
        .args(["blastp", "-help"])
        .stdout(writer)
        .stderr(Stdio::piped())
        .spawn()
        .and_then(std::process::Child::wait_with_output)
        .expect("the program ends");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(141), ""));
}

#[test]
fn a_full_disk_is_an_output_error() {
    let full = std::fs::File::options().write(true).open("/dev/full").expect("/dev/full");
    let output = Command::new(env!("CARGO_BIN_EXE_fleetblast"))
        .args(["blastp", "-help"])
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .and_then(std::process::Child::wait_with_output)
        .expect("the program ends");
    // As `blastp -query q.fa -subject s.fa > /dev/full` has it.
    let expected = (Some(6), "BLAST failed to write output\n");
    assert_eq!((output.status.code(), text(&output.stderr)), expected);
}

#[test]
fn a_timing_file_is_looked_at_before_the_search() {
    let output = run(&["blastp", "-db", "x", "-query", "/dev/null", "-timing", "/nosuch/t.json"]);
    let message = "Command line argument error: Argument \"timing\". File is not accessible:  `/nosuch/t.json'\n";
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(1), message));
}

#[test]
fn arguments_need_not_be_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let output = Command::new(env!("CARGO_BIN_EXE_fleetblast"))
        .args([OsStr::new("blastp"), OsStr::new("-evalue"), OsStr::from_bytes(b"\xff")])
        .output()
        .expect("the program runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("Cannot convert string '\\377' to double (m_Pos = 0)"));
}
