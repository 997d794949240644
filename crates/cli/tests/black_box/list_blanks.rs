//! White space in lists of identifiers and taxids, and lists without entries.

use std::fs;
use std::process::Output;

use crate::common::Fixture;

const LETTERS: &str = "MKVLAADTGHIWQERTYPASDFGHKLCVNM";

/// Options of a search, contents of the file `list`, the exit code, and the subjects that are
/// found.
const SEARCHES: [(&str, &[u8], i32, &str); 11] = [
    ("-db|d4|-seqidlist|list", b"\x0bAAA00001.1\n", 0, "AAA00001.1"),
    ("-db|d5|-seqidlist|list", b"\x0bgb|AAA00001.1|\x0b\n", 0, "AAA00001.1"),
    ("-db|d5|-seqidlist|list", b"AAA00001.1\x0bAAA00002.1\n", 0, ""),
    ("-db|d4|-negative_seqidlist|list", b">\x0cAAA00001.1\x0b\n", 0, "AAA00002.1"),
    ("-db|al", b"\x0bAAA00002.1\x0c\n", 0, "AAA00002.1"),
    ("-db|d5|-taxidlist|list", b"\x0b9606\x0b\n", 0, "AAA00001.1"),
    ("-db|d5|-negative_taxidlist|list", b"9606\0 7\n", 0, "AAA00002.1"),
    ("-db|d5|-taxidlist|list", b"9606\r562\r", 0, "AAA00002.1 AAA00001.1"),
    ("-db|d5|-taxidlist|list", b"96\x0b06\n", 1, ""),
    ("-db|d5|-taxidlist|list", b"\x009606\n", 1, ""),
    ("-db|none", b"\xff\xff\xff\xff\0\0\0\0", 0, ""),
];

/// Options of `blastdbcmd`, contents of the file `list`, the exit code, and the sequences that are
/// shown.
const RETRIEVALS: [(&str, &[u8], i32, &str); 9] = [
    (
        "-db|d5|-entry_batch|list",
        b"\x0bgb|AAA00001.1|\ngb|AAA00002.1|\x0b\n",
        0,
        "AAA00001.1 AAA00002.1",
    ),
    ("-db|d5|-entry_batch|list|-get_dups", b"\x0bgb|AAA00002|\x0b\n", 0, "AAA00002.1"),
    ("-db|d4|-entry_batch|list", b"\x0bgb|AAA00001.1|\n", 1, ""),
    ("-db|d4|-entry_batch|list", b"5\0\n", 0, "AAA00001.1"),
    ("-db|d5|-taxidlist|list", b"\x0b9606\x0b\n", 0, "AAA00001.1"),
    ("-db|d5|-taxidlist|list", b"562\0x\n", 0, "AAA00002.1"),
    ("-db|d5|-taxidlist|list", b"9606\r562\r", 255, ""),
    ("-db|none|-entry|all", b"0\n", 0, ""),
    ("-db|none|-entry|all", b"7\n", 2, ""),
];

fn directory() -> Fixture {
    let fixture = Fixture::new();
    let write = |name: &str, text: &str| fs::write(fixture.path().join(name), text).unwrap();
    write("d.fa", &format!(">gi|5|gb|AAA00001.1|\n{LETTERS}\n>gi|6|gb|AAA00002.1|\n{LETTERS}\n"));
    write("map", "AAA00001.1 9606\nAAA00002.1 562\n");
    write("q.fa", &format!(">q\n{LETTERS}\n"));
    write("al.pal", "DBLIST d4\nSEQIDLIST list\n");
    write("none.pal", "DBLIST plain\nGILIST list\n");
    for options in [
        "-parse_seqids|-out|d4|-blastdb_version|4",
        "-parse_seqids|-out|d5|-taxid_map|map",
        "-out|plain|-blastdb_version|4",
    ] {
        let made = Fixture::words(&format!("-in|d.fa|-dbtype|prot|{options}"));
        let made = fixture.run(&fixture.called("makeblastdb"), &made, &[]);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }
    fixture
}

/// Runs a program with a list. If BLAST+ is installed, also runs its program, which must agree.
fn verify(fixture: &Fixture, name: &str, line: &str, (list, code, found): (&[u8], i32, &str)) {
    fs::write(fixture.path().join("list"), list).unwrap();
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let mut programs = vec![fixture.called(name)];
    programs.extend(fixture.oracle.map(|oracle| oracle.program(name)));
    for program in programs {
        let output = fixture.run(&program, &Fixture::words(line), &[]);
        let list = String::from_utf8_lossy(list);
        assert_eq!(output.status.code(), Some(code), "{program:?} {line} {list:?} {output:?}");
        let words: Vec<_> = text(&output).split_whitespace().map(str::to_owned).collect();
        assert_eq!(words.join(" "), found, "{program:?} {line} {list:?}");
    }
}

#[test]
fn white_space_around_words_does_not_count() {
    let fixture = directory();
    for (line, list, code, found) in SEARCHES {
        let line = format!("-query|q.fa|-outfmt|6 saccver|{line}");
        verify(&fixture, "blastp", &line, (list, code, found));
    }
    for (line, list, code, found) in RETRIEVALS {
        let line = format!("{line}|-outfmt|%a");
        verify(&fixture, "blastdbcmd", &line, (list, code, found));
    }
}
