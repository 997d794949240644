//! Queries and subjects that cannot be read, or are no FASTA.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::common::Fixture;
use crate::sandbox::{Sandbox, is_above_permissions, message, query};
use fastrand::Rng;

/// Builds a gzip member with `text` in one block that is not compressed; its check sum is wrong.
fn stored_gzip(text: &[u8]) -> Vec<u8> {
    let length = u16::try_from(text.len()).expect("a short text");
    let mut bytes = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x01".to_vec();
    bytes.extend(length.to_le_bytes());
    bytes.extend((!length).to_le_bytes());
    [&bytes, text, &[0; 4], &u32::from(length).to_le_bytes()].concat()
}

/// Builds a zstd frame with `text` in one raw block.
fn raw_zstd(text: &[u8]) -> Vec<u8> {
    let length = u32::try_from(text.len()).expect("a short text");
    let block = (length << 3 | 1).to_le_bytes();
    // The header describes a single segment whose size has four bytes.
    [&b"\x28\xb5\x2f\xfd\xa0"[..], &length.to_le_bytes(), &block[..3], text].concat()
}

fn junk(length: usize) -> Vec<u8> {
    let mut random = Rng::with_seed(7);
    (0..length).map(|_| random.u8(..)).collect()
}

#[test]
fn what_cannot_be_opened_is_named() {
    let sandbox = Sandbox::new();
    symlink("gone.fa", sandbox.path("link.fa")).expect("a link");
    for option in ["-query", "-subject"] {
        for name in ["nosuch.fa", "link.fa", "q.fa/x", ""] {
            let name_of_option = format!("\"{}\"", &option[1..]);
            let file = if name.is_empty() { "" } else { &format!("`{name}'") };
            sandbox.assert_refused(&[option, name], 1, &[&name_of_option, "not accessible", file]);
        }
    }
    sandbox.assert_refused(
        &["-subject", "."],
        3,
        &["Empty CBlastQueryVector", ".: ", "is a directory"],
    );
}

#[test]
fn an_unreadable_query_is_named() {
    let sandbox = Sandbox::new();
    let path = sandbox.path("secret.fa");
    sandbox.write("secret.fa", query());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("permissions");
    if !is_above_permissions(&path) {
        sandbox.assert_refused(&["-query", "secret.fa"], 1, &["`secret.fa'"]);
    }
}

#[test]
fn input_that_is_no_fasta_is_named_with_file_and_line() {
    let sandbox = Sandbox::new();
    sandbox.write("junk.fa", junk(4000));
    sandbox.write("late.fa", "; a comment\n\n%%%%####\n");
    sandbox.write("nul.fa", [0; 300]);
    // A user may name a file of a database by mistake.
    for (name, place) in
        [("junk.fa", "junk.fa, line 1"), ("late.fa", "late.fa, line 3"), ("db.psq", "db.psq, line")]
    {
        let said = "doesn't look like plausible data";
        sandbox.assert_refused(&["-query", name], 1, &[said, place, "FASTA"]);
        sandbox.assert_refused(&["-subject", name], 1, &[said, place, "FASTA"]);
    }
    sandbox.assert_refused(&["-query", "nul.fa"], 1, &["nul.fa, line 1"]);
}

#[test]
fn damaged_archives_are_named_with_file_and_format() {
    let sandbox = Sandbox::new();
    let (gzip, zstd) = (stored_gzip(&query()), raw_zstd(&query()));
    sandbox.write("whole.zst", &zstd);
    assert!(sandbox.run(&["-query", "whole.zst"]).status.success());
    sandbox.write("sum.gz", &gzip);
    sandbox.assert_refused(&["-query", "sum.gz"], 1, &["sum.gz (gzip)", "get it again"]);
    for cut in [5, 12, gzip.len() / 2, gzip.len() - 9, gzip.len() - 1] {
        sandbox.write("cut.gz", &gzip[..cut]);
        sandbox.assert_refused(&["-query", "cut.gz"], 1, &["cut.gz (gzip)", "cut short"]);
    }
    for cut in [5, 11, zstd.len() / 2, zstd.len() - 1] {
        sandbox.write("cut.zst", &zstd[..cut]);
        sandbox.assert_refused(&["-query", "cut.zst"], 1, &["cut.zst (zstd)", "get it again"]);
    }
    sandbox.write("more.zst", [&zstd[..], &junk(100)].concat());
    let output = sandbox.run(&["-query", "more.zst", "-out", "report"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(message(&output).contains("more.zst (zstd)"), "{}", message(&output));
    assert_eq!(fs::read(sandbox.path("report")).expect("an empty file"), b"");
}

/// Queries before the bad record may be on standard output already; an output file stays empty.
#[test]
fn a_bad_record_after_good_ones_ends_the_run() {
    let sandbox = Sandbox::new();
    let bad = [&query()[..], b">q2\n%%%%%%%%\n"].concat();
    let line = bad.iter().filter(|&&byte| byte == b'\n').count();
    sandbox.write("bad.fa", bad);
    sandbox.write("old", "an older report\n");
    for format in ["0", "5", "6", "7"] {
        let output = sandbox.run(&["-query", "bad.fa", "-outfmt", format]);
        assert_eq!(output.status.code(), Some(1));
        let place = format!("bad.fa, line {line}");
        assert!(message(&output).contains(&place), "{}", message(&output));
        for name in ["new", "old"] {
            let line = ["-query", "bad.fa", "-outfmt", format, "-out", name];
            assert_eq!(sandbox.run(&line).status.code(), Some(1));
        }
        assert_eq!(fs::read(sandbox.path("new")).expect("an empty file"), b"");
        assert_eq!(fs::read(sandbox.path("old")).expect("a file"), b"an older report\n");
    }
    assert!(sandbox.names().iter().all(|name| !name.contains(".part")), "{:?}", sandbox.names());
}

#[test]
fn queries_without_residues_and_no_queries() {
    let sandbox = Sandbox::new();
    sandbox.write("zero.fa", ">zero\n");
    sandbox.write("zeros.fa", ">a\n>b\n\n>c\n;\n");
    let said = "BLAST engine error: Warning: Sequence contains no data";
    sandbox.assert_refused(&["-query", "zero.fa"], 3, &[said]);
    sandbox.assert_refused(&["-query", "zeros.fa"], 3, &[said]);
    sandbox.write("empty.fa", "");
    let output = sandbox.run(&["-query", "empty.fa"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    assert_eq!(message(&output), "Warning: [blastp] Query is Empty!\n");
    for more in [&[][..], &["-ranks", "2"]] {
        for format in ["0", "5", "7"] {
            let device = ["-query", "/dev/null", "-outfmt", format];
            let output = sandbox.run(&[&device, more].concat());
            assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{format}");
            assert_eq!(message(&output), "Warning: [blastp] Query is Empty!\n");
        }
        // BLAST+ does not check a pipe beforehand, and starts an XML report with the first query.
        for (format, expected) in [("5", "\n"), ("6", ""), ("7", "# BLAST processed 0 queries\n")] {
            let arguments = format!("blastp -query - -db db -outfmt {format} {}", more.join(" "));
            let line = format!("printf '' | \"$1\" {arguments}");
            let output = sandbox.shell(&line, &[]).output().expect("a shell");
            assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
            assert_eq!((output.status.code(), message(&output)), (Some(0), String::new()));
        }
    }
    sandbox.assert_refused(&["-subject", "empty.fa"], 3, &["Empty CBlastQueryVector"]);
}

#[test]
fn closed_standard_input_is_no_query() {
    let sandbox = Sandbox::new();
    let output = sandbox.shell("exec \"$@\" <&-", &["-query", "-"]).output().expect("a shell");
    assert!(output.stdout.is_empty());
    assert!(!message(&output).is_empty());
}

#[test]
fn report_and_timing_cannot_be_one_file() {
    let sandbox = Sandbox::new();
    for timing in ["report", "./report"] {
        let line = ["-out", "report", "-timing", timing];
        sandbox.assert_refused(&line, 1, &["-out and -timing", "report"]);
    }
    assert!(sandbox.run(&["-out", "/dev/null", "-timing", "/dev/null"]).status.success());
    assert!(sandbox.run(&["-out", "report", "-timing", "t.json"]).status.success());
}

/// Command lines with errors that BLAST+ reports as well; `|` separates words.
const LIKE_THE_ORACLE: &[&str] = &[
    "-query|nosuch.fa|-db|db",
    "-query|.|-db|db",
    "-query|junk.fa|-db|db",
    "-query|empty.fa|-db|db",
    "-query|zero.fa|-db|db",
    "-query|zero.fa|-subject|s.fa",
    "-query|one.fa|-subject|zero.fa|-outfmt|6",
    "-query|one.fa|-subject|empty.fa",
    "-query|one.fa|-subject|.",
    "-query|one.fa|-subject|junk.fa",
    "-query|one.fa|-db|nosuch",
    "-query|one.fa|-db|s.fa",
    "-query|one.fa|-db|nucleotides",
    "-query|one.fa|-db|kind",
    "-query|one.fa|-db|version",
    "-query|one.fa|-db|cycle",
    "-query|one.fa|-db|lacking",
    "-query|one.fa|-db|nothing",
    "-query|one.fa|-db|db|-out|.",
    "-query|one.fa|-db|db|-out|nosuch/report",
    "-query|one.fa|-db|db|-outfmt|0|-out|/dev/full",
];

/// Exit code and standard output are the oracle's, and messages begin with the oracle's. FleetBLAST
/// may add to the messages.
#[test]
fn the_oracle_says_the_same_first() {
    let fixture = Fixture::new();
    let Some(blast) = fixture.oracle else { return };
    let write = |name: &str, contents: &[u8]| {
        fs::write(fixture.path().join(name), contents).expect("a file");
    };
    write("junk.fa", b"%%%%%%%%%%%%%%\n");
    write("empty.fa", b"");
    write("zero.fa", b">z\n");
    write(
        "kind.pin",
        b"\0\0\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    );
    write("version.pin", b"\0\0\0\x63\0\0\0\x01");
    write("cycle.pal", b"DBLIST cycle2\n");
    write("cycle2.pal", b"DBLIST cycle\n");
    write("lacking.pal", b"DBLIST db nosuch\n");
    write("nothing.pal", b"TITLE nothing\n");
    write("nucleotides.nin", b"\0\0\0\x04\0\0\0\0");
    for line in LIKE_THE_ORACLE {
        let arguments = Fixture::words(line);
        let oracle = fixture.run(&blast.program("blastp"), &arguments, &[]);
        let ours = fixture.run(&fixture.ours(), &arguments, &[]);
        let said = message(&ours);
        let expected = message(&oracle);
        assert_eq!(ours.status.code(), oracle.status.code(), "{line}: {said} ({expected})");
        assert_eq!(ours.stdout, oracle.stdout, "{line}");
        assert!(said.starts_with(expected.trim_end()), "{line}: {said} ({expected})");
    }
}

/// A warning about an input file is printed once, whatever the number of ranks.
#[test]
fn bytes_after_compressed_data_are_warned_of_once() {
    let sandbox = Sandbox::new();
    sandbox.write("plain.fa", query());
    let packed = std::process::Command::new("gzip")
        .args(["-c", "plain.fa"])
        .current_dir(sandbox.path(""))
        .output();
    let packed = packed.expect("gzip").stdout;
    sandbox.write("q.gz", [&packed[..], b"junk"].concat());
    let warnings = "Warning: [blastp] q.gz (gzip): what follows the compressed data is ignored\n";
    for files in [["-query", "q.gz", "-db", "db"], ["-query", "plain.fa", "-subject", "q.gz"]] {
        for ranks in [&[][..], &["-ranks", "3"]] {
            let output = sandbox.run(&[&files[..], ranks, &["-progress", "no"]].concat());
            assert!(output.status.success() && !output.stdout.is_empty(), "{}", message(&output));
            assert_eq!(message(&output), warnings, "{files:?} {ranks:?}");
        }
    }
}

/// The program warns of titles that it cannot show unchanged: of the first one in each volume, once
/// for all ranks.
#[test]
fn odd_titles_are_warned_of_once() {
    use crate::volumes::{FOUR, entries, volume};
    let sandbox = Sandbox::new();
    let mut odd = entries(11, 5);
    odd[1].0 = "b\u{7f}d".to_owned();
    odd[3].0 = "worse\u{7f}".to_owned();
    sandbox.database("odd", &volume(&FOUR, &odd));
    let arguments = ["-db", "odd", "-num_threads", "1", "-progress", "no"];
    let alone = sandbox.run(&arguments);
    let warnings = message(&alone);
    assert_eq!(warnings.matches("Warning: [blastp] header file (").count(), 1, "{warnings}");
    assert!(
        warnings.ends_with(
            "the title of sequence 1 has bytes that are no printable ASCII, shown as #\n"
        ),
        "{warnings}"
    );
    for ranks in ["2", "3"] {
        let output = sandbox.run(&[&arguments[..], &["-ranks", ranks]].concat());
        assert_eq!((message(&output), output.stdout), (warnings.clone(), alone.stdout.clone()));
    }
}
