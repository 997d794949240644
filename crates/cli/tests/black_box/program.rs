//! Behaviour of the program that differs from BLAST+'s.

use std::ffi::OsStr;
use std::process::{Command, Output, Stdio};

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
    command.args(arguments).stdin(Stdio::null()).output().expect("the program runs")
}

fn to_text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

#[test]
fn top_level_says_what_it_is() {
    let all = run(&["help"]);
    assert!(to_text(&all.stdout).contains("the bytes of NCBI BLAST+ 2.12.0"));
    for command in ["blastp", "makeblastdb", "blastdbcmd", "doctor", "generate"] {
        assert!(to_text(&all.stdout).contains(&format!("\n  {command} ")), "{command}");
    }
    for asked in ["-h", "-help", "--help"] {
        let output = run(&[asked]);
        assert!(output.status.success() && output.stderr.is_empty(), "{asked}");
        assert_eq!(to_text(&output.stdout), to_text(&all.stdout));
    }
    // Without a command the text is the same, but it is an error.
    let nothing = run(&[]);
    assert_eq!((nothing.status.code(), to_text(&nothing.stdout)), (Some(1), ""));
    assert_eq!(to_text(&nothing.stderr), to_text(&all.stdout));
    for asked in ["-version", "--version"] {
        let output = run(&[asked]);
        let expected = concat!("fleetblast: ", env!("CARGO_PKG_VERSION"), "\n Package: FleetBLAST");
        assert!(
            output.status.success() && to_text(&output.stdout).starts_with(expected),
            "{asked}"
        );
    }
}

#[test]
fn help_on_a_command_has_its_options() {
    for (command, option) in [("blastp", "\n -evalue <Real>"), ("doctor", "\n -sample <String>")] {
        let output = run(&["help", command]);
        assert!(output.status.success() && output.stderr.is_empty());
        assert!(to_text(&output.stdout).contains(option), "{command}");
        for asked in ["-help", "--help"] {
            assert_eq!(to_text(&run(&[command, asked]).stdout), to_text(&output.stdout), "{asked}");
        }
        let version = run(&[command, "--version"]);
        assert!(to_text(&version.stdout).contains(" Package: FleetBLAST"), "{command}");
    }
    let output = run(&["help", "blastq"]);
    assert_eq!((output.status.code(), to_text(&output.stdout)), (Some(1), ""));
    assert!(to_text(&output.stderr).contains("'blastq'; did you mean 'blastp'?"));
    assert_eq!(run(&["help", "blastp", "doctor"]).status.code(), Some(1));
    // A command that BLAST+ does not have shows no version of BLAST+.
    assert!(to_text(&run(&["doctor", "-version"]).stdout).starts_with("fleetblast doctor: 0."));
}

#[test]
fn an_unknown_command_is_refused_with_the_nearest_one() {
    let cases = [
        ("blastq", "there is no command 'blastq'; did you mean 'blastp'?\n"),
        ("zzz", "there is no command 'zzz'\n"),
        ("rpsblast", "does not have rpsblast yet; run NCBI rpsblast instead\n"),
        ("-query", "name a command before '-query', such as 'fleetblast blastp'\n"),
    ];
    for (word, expected) in cases {
        let output = run(&[word]);
        assert_eq!((output.status.code(), to_text(&output.stdout)), (Some(1), ""), "{word}");
        assert!(to_text(&output.stderr).contains(expected), "{}", to_text(&output.stderr));
    }
}

#[test]
fn links_are_known_by_their_names() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let called = |name: &str, arguments: &[&str]| {
        let link = directory.path().join(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fleetblast"), &link).expect("a link");
        Command::new(&link).args(arguments).output().expect("the program runs")
    };
    let output = called("makeblastdb", &["-version"]);
    assert!(to_text(&output.stdout).starts_with("makeblastdb: 2.12.0+\n"));
    // As in BLAST+, two dashes do not ask for help.
    let output = called("blastp", &["--help"]);
    assert_eq!((output.status.code(), to_text(&output.stdout)), (Some(1), ""));
    let output = called("rpsblast", &["-query", "q.fa"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(to_text(&output.stderr).contains("does not have rpsblast yet"));
    // Under any other name the program is `fleetblast`.
    assert!(called("fb", &["--version"]).status.success());
}

#[test]
fn an_option_that_is_a_typing_error_is_guessed_after_blasts_message() {
    let output = run(&["blastp", "-evalu", "1"]);
    assert_eq!(output.status.code(), Some(1));
    // Programs that read the message see only BLAST+'s text.
    let message = "(CArgException::eInvalidArg) Unknown argument: \"evalu\"";
    assert!(
        to_text(&output.stderr).ends_with(&format!("{message}\n")),
        "{}",
        to_text(&output.stderr)
    );
    let on_terminal = |option: &str| {
        let line = format!("{} blastp {option} 1", env!("CARGO_BIN_EXE_fleetblast"));
        let output = Command::new("script").args(["-qec", &line, "/dev/null"]).output();
        let shown = output.expect("script, which Debian's bsdutils brings").stdout;
        String::from_utf8_lossy(&shown).replace('\r', "")
    };
    let shown = on_terminal("-evalu");
    assert!(shown.ends_with(&format!("{message}\nDid you mean -evalue?\n")), "{shown}");
    assert!(on_terminal("-zzz").ends_with("Unknown argument: \"zzz\"\n"));
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
    let usage = to_text(&output.stdout);
    assert!(usage.starts_with("USAGE\n  fleetblast blastp [-h] [-help] "), "{usage}");
    assert!(usage.contains(" [-timing output_file]"), "{usage}");
    assert!(usage.lines().all(|line| line.len() <= 78), "{usage}");
}

#[test]
fn full_versions_are_printed_whatever_the_other_arguments_are() {
    let version = env!("CARGO_PKG_VERSION");
    let text = |arguments: &[&str]| {
        let output = run(arguments);
        assert!(output.status.success() && output.stderr.is_empty(), "{arguments:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let full = text(&["blastp", "-foo", "-version-full", "-version-full-xml"]);
    let lines = [
        "blastp: 2.12.0+".to_owned(),
        format!(
            " Package: FleetBLAST {version}, reports equal blast 2.12.0 (by FLEETBLAST_COMPAT)"
        ),
        " Package-Config:  ".to_owned(),
        format!(" Build-Signature:  FleetBLAST-{version}"),
        " GI-64bit:  TRUE".to_owned(),
        " Built-As:  blastp\n".to_owned(),
    ];
    assert_eq!(full, lines.join("\n"));
    let json = text(&["psiblast", "-version-full-json", "-version-full"]);
    assert!(json.contains("\"version_info\": {\"major\": 2, \"minor\": 12, \"patch_level\": 0},"));
    let xml = text(&["makeblastdb", "-version-full-xml"]);
    assert!(xml.contains("<appname>makeblastdb</appname>\n<version_info major=\"2\""), "{xml}");
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    let lines: [&[&str]; 3] = [&["-ipglist", "x"], &["-negative_ipglist", "x"], &["-remote"]];
    for line in lines {
        let output = run(&[&["blastp", "-db", "x"], line].concat());
        let version = env!("CARGO_PKG_VERSION");
        let name = line[0];
        let expected =
            format!("FleetBLAST {version} does not support {name} yet; run NCBI blastp instead\n");
        assert_eq!((output.status.code(), to_text(&output.stderr)), (Some(1), &*expected));
    }
    let output = run(&["blastp", "-db", "x", "-outfmt", "13", "-metadata_out", "m"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(to_text(&output.stderr).contains("does not support -outfmt 13 with -metadata_out yet"));
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
    assert_eq!((output.status.code(), to_text(&output.stderr)), (Some(141), ""));
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
    // BLAST+ ends like this with `blastp -query q.fa -subject s.fa > /dev/full`.
    let expected = (Some(6), "BLAST failed to write output\n");
    assert_eq!((output.status.code(), to_text(&output.stderr)), expected);
}

#[test]
fn a_timing_file_is_looked_at_before_the_search() {
    let output = run(&["blastp", "-db", "x", "-query", "/dev/null", "-timing", "/nosuch/t.json"]);
    let message = "Command line argument error: Argument \"timing\". File is not accessible:  `/nosuch/t.json'\n";
    assert_eq!((output.status.code(), to_text(&output.stderr)), (Some(1), message));
}

#[test]
fn arguments_need_not_be_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let output = Command::new(env!("CARGO_BIN_EXE_fleetblast"))
        .args([OsStr::new("blastp"), OsStr::new("-evalue"), OsStr::from_bytes(b"\xff")])
        .output()
        .expect("the program runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        to_text(&output.stderr).contains("Cannot convert string '\\377' to double (m_Pos = 0)")
    );
}
