//! NCBI's configuration: the layer that provides an entry, and entries that are obeyed or refused.

use std::fs;
use std::path::Path;

use crate::common::{Fixture, complaint};

/// Configuration files, and the entry for the search path in section `[BLAST]` of each.
const FILES: [(&str, &str); 7] = [
    (".ncbirc", "BLASTDB=/shared"),
    ("blastp.ini", "BLASTDB=/program"),
    ("overrides", "BLASTDB=/overrides"),
    ("home/.ncbirc", "BLASTDB=/home"),
    ("ncbi/.ncbirc", "BLASTDB=/ncbi"),
    ("one/.ncbirc", "BLASTDB=/one"),
    ("two/.ncbirc", "BLASTDB="),
];

/// Searches a database that does not exist. Returns the message, which has the search path.
fn search_path(fixture: &Fixture, program: &Path, variables: &[(&str, &str)]) -> String {
    let home = fixture.path().join("home");
    let home = home.to_str().unwrap();
    let usual = [("HOME", home), ("BLAST_USAGE_REPORT", "false")];
    let variables: Vec<_> = usual.iter().chain(variables).copied().collect();
    complaint(&fixture.run(program, &Fixture::words("-query|q.fa|-db|nosuch"), &variables))
}

#[test]
fn entries_come_from_the_layers_of_blast() {
    let fixture = Fixture::new();
    let Some(oracle) = fixture.oracle else { return };
    let variables: [&[(&str, &str)]; 18] = [
        &[],
        &[("NCBI_CONFIG__BLAST__BLASTDB", "/variable")],
        &[("NCBI_CONFIG__BLAST__BLASTDB", "")],
        &[("NCBI_CONFIG_OVERRIDES", "overrides")],
        &[("NCBI_CONFIG_OVERRIDES", "./overrides")],
        &[("NCBI_CONFIG_OVERRIDES", "nosuch")],
        &[("NCBI_CONFIG_OVERRIDES", "overrides"), ("NCBI_CONFIG__BLAST__BLASTDB", "/variable")],
        &[("NCBI_DONT_USE_NCBIRC", "")],
        &[("NCBI_CONFIG__NCBI__DONT_USE_NCBIRC", "0")],
        &[("NCBI_DONT_USE_LOCAL_CONFIG", "")],
        &[("NCBI_DONT_USE_LOCAL_CONFIG", "1"), ("NCBI", "ncbi")],
        &[("NCBI", "ncbi")],
        &[("NCBI_CONFIG_PATH", "one:two")],
        &[("NCBI_CONFIG_PATH", "two:one")],
        &[("NCBI_CONFIG_PATH", "nosuch:one")],
        &[("NCBI_CONFIG_PATH", "nosuch::one")],
        &[("NCBI_CONFIG_PATH", "nosuch:")],
        &[("NCBI_CONFIG_PATH", "")],
    ];
    for present in [&FILES[..], &FILES[2..], &FILES[4..], &FILES[1..]] {
        for (file, entry) in FILES {
            let path = fixture.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match present.iter().any(|(name, _)| *name == file) {
                true => fs::write(path, format!("[BLAST]\n{entry}\n")).unwrap(),
                false => drop(fs::remove_file(path)),
            }
        }
        for variables in variables {
            let path = |text: &str| text.split("search path").nth(1).map(str::to_owned);
            let expected = search_path(&fixture, &oracle.program("blastp"), variables);
            let found = search_path(&fixture, &fixture.ours(), variables);
            assert!(path(&expected).is_some(), "{expected}");
            assert_eq!(path(&found), path(&expected), "{present:?} {variables:?}");
        }
    }
}

/// The files have values with quotes, escapes and further lines, marks of encodings, or malformed
/// lines.
#[test]
fn files_are_read_as_by_blast() {
    let fixture = Fixture::new();
    let Some(oracle) = fixture.oracle else { return };
    let of = |value: &str| format!("[BLAST]\nBLASTDB={value}\n").into_bytes();
    let utf16 = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(bytes).collect()
    };
    let text = "[BLAST]\nBLASTDB=/aü\n";
    let files = [
        of("/a\\nb\\x41g\\101\\qz"),
        of("/a\\\n   /b \\ \n/c"),
        of("/a\\\\\n"),
        of("/a\""),
        of("\"\"/a\\\"\""),
        [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        utf16(text, u16::to_le_bytes),
        utf16(text, u16::to_be_bytes),
        b"; c\\\n[BLAST]\\\nBLASTDB=/a\n".to_vec(),
        b"[BLAST]\nBLASTDB=/a\n[OTHER\n[BLAST]\nBLASTDB=/b\n".to_vec(),
        b"[BLAST\nBLASTDB=/a\n".to_vec(),
        b"[BLAST]\nBLASTDB=/a\nBLASTDB=/b\"c\n".to_vec(),
        b"[BLAST]\nBLASTDB=/a\nBLASTDB=/b\\".to_vec(),
    ];
    let path = |text: &str| text.split("search path").nth(1).map(str::to_owned);
    for file in files {
        fs::write(fixture.path().join(".ncbirc"), &file).unwrap();
        let expected = search_path(&fixture, &oracle.program("blastp"), &[]);
        let found = search_path(&fixture, &fixture.ours(), &[]);
        let name = String::from_utf8_lossy(&file);
        assert!(path(&expected).is_some(), "{expected}");
        assert_eq!(path(&found), path(&expected), "{name:?}");
        let (is_wrong, is_named) =
            (expected.contains("Syntax error"), found.contains(".ncbirc, line"));
        assert_eq!(is_wrong, is_named, "{name:?}: {found}");
    }
    // BLAST+ does not start with this file.
    fs::remove_file(fixture.path().join(".ncbirc")).unwrap();
    fs::write(fixture.path().join("blastp.ini"), "[BLAST]\njunk\n").unwrap();
    for variables in [&[][..], &[("NCBI_CONFIG_OVERRIDES", "blastp.ini")]] {
        let line = Fixture::words("-query|q.fa|-subject|q.fa");
        let output = fixture.run(&fixture.ours(), &line, variables);
        let complaint = complaint(&output);
        let is_named = complaint.contains("blastp.ini, line 2: it is neither");
        assert!(output.status.code() == Some(2) && is_named, "{complaint}");
    }
}

/// Values of `-conffile`, and variables.
const GIVEN: [(&str, &[(&str, &str)]); 17] = [
    ("-conffile|given.ini", &[]),
    ("-conffile=given.ini", &[]),
    ("-conffile|./given.ini", &[]),
    ("-conffile|one/given.ini", &[]),
    ("-conffile|empty.ini", &[]),
    ("-conffile|alone.ini", &[]),
    ("-conffile|nosuch.ini", &[]),
    ("-conffile", &[]),
    ("-conffile=", &[]),
    ("-conffile|nosuch.ini|-conffile|given.ini", &[]),
    ("-conffile|given.ini|-evalue|x", &[]),
    ("-conffile|given.ini", &[("NCBI_CONFIG__BLAST__BLASTDB", "/variable")]),
    ("-conffile|given.ini", &[("NCBI_CONFIG_OVERRIDES", "overrides")]),
    ("-conffile|given.ini", &[("NCBI_DONT_USE_LOCAL_CONFIG", "1")]),
    ("-conffile|./given.ini", &[("NCBI_DONT_USE_LOCAL_CONFIG", "1")]),
    ("-conffile|given.ini", &[("NCBI_CONFIG_PATH", "one:two")]),
    ("-conffile|other.ini", &[("NCBI", "one")]),
];

#[test]
fn a_given_file_replaces_that_of_the_program() {
    let fixture = Fixture::new();
    let Some(oracle) = fixture.oracle else { return };
    fs::create_dir(fixture.path().join("one")).unwrap();
    for (file, text) in [
        ("given.ini", "[BLAST]\nBLASTDB=/given\n"),
        ("one/given.ini", "[BLAST]\nBLASTDB=/one\n"),
        ("one/other.ini", "[BLAST]\nBLASTDB=/other\n"),
        ("alone.ini", "[NCBI]\nDONT_USE_NCBIRC=1\n"),
        ("empty.ini", ""),
        ("blastp.ini", "[BLAST]\nBLASTDB=/program\n"),
        ("overrides", "[BLAST]\nBLASTDB=/overrides\n"),
        (".ncbirc", "[BLAST]\nBLASTDB=/shared\n"),
    ] {
        fs::write(fixture.path().join(file), text).unwrap();
    }
    for (words, variables) in GIVEN {
        let line = Fixture::words(&format!("-query|q.fa|-db|nosuch|{words}"));
        let variables = [variables, &[("HOME", "/nosuch")]].concat();
        let [expected, found] = [oracle.program("blastp"), fixture.ours()]
            .map(|program| complaint(&fixture.run(&program, &line, &variables)));
        assert_eq!(found, expected, "{words} {variables:?}");
    }
    // Most programs of BLAST+ print these two lines twice.
    for name in ["segmasker", "convert2blastmask"] {
        for words in ["-conffile|./nosuch", "-foo|-conffile=/", "-conffile|/nosuch|-version"] {
            let line = Fixture::words(words);
            let [expected, found] = [oracle.program(name), fixture.called(name)]
                .map(|program| complaint(&fixture.run(&program, &line, &[])));
            assert_eq!(found, expected, "{name} {words}");
        }
    }
}

#[test]
fn each_program_finds_its_databases_by_a_given_file() {
    let fixture = Fixture::new();
    let Some(oracle) = fixture.oracle else { return };
    let line = Fixture::words("-in|s.fa|-dbtype|prot|-parse_seqids|-out|there/only");
    fixture.run(&oracle.program("makeblastdb"), &line, &[]);
    fs::write(fixture.path().join("given.ini"), "[BLAST]\nBLASTDB=there\nLONG_SEQID=1\n").unwrap();
    for line in [
        "blastp|-query|q.fa|-db|only|-outfmt|6",
        "psiblast|-query|q.fa|-db|only|-outfmt|6",
        "blastdbcmd|-db|only|-entry|all",
        "blastdbcmd|-show_blastdb_search_path",
        "segmasker|-in|only|-infmt|blastdb",
        "blastdb_aliastool|-dblist|only|-dbtype|prot|-out|alias|-title|t",
    ] {
        let words = Fixture::words(&format!("{line}|-conffile|given.ini"));
        let name = words[0].to_str().unwrap();
        let [expected, found] = [oracle.program(name), fixture.called(name)].map(|program| {
            let output = fixture.run(&program, &words[1..], &[("HOME", "/nosuch")]);
            (complaint(&output), String::from_utf8(output.stdout).unwrap())
        });
        assert_eq!(found, expected, "{line}");
        assert!(expected.0.starts_with("exit code Some(0)"), "{line}: {}", expected.0);
    }
}

#[test]
fn entries_that_change_reports_are_refused_by_name() {
    let fixture = Fixture::new();
    for (variable, value, name) in [
        ("NCBI_CONFIG__BLAST__LONG_SEQID", "1", "[BLAST] LONG_SEQID=1"),
        ("NCBI_CONFIG__NCBI__MemorySizeLimit", "100", "[NCBI] MemorySizeLimit"),
        ("NCBI_CONFIG__NCBI__HEAPSIZELIMIT", "100", "[NCBI] HeapSizeLimit"),
    ] {
        let line = Fixture::words("-query|q.fa|-subject|q.fa");
        let output = fixture.run(&fixture.ours(), &line, &[(variable, value)]);
        let complaint = complaint(&output);
        assert!(output.status.code() == Some(1) && complaint.contains(name), "{complaint}");
    }
    // Sections that change the links of HTML.
    for (file, section) in [(".ncbirc", "BLASTFMTUTIL"), ("ncbi/.ncbirc", "blastfmtutil")] {
        let path = fixture.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("[{section}]\nPROTOCOL=http:\n")).unwrap();
        for (words, is_refused) in
            [("-html", true), ("-html|-outfmt|6", false), ("-outfmt|0", false)]
        {
            let line = Fixture::words(&format!("-query|q.fa|-subject|q.fa|{words}"));
            let output = fixture.run(&fixture.ours(), &line, &[("NCBI", "ncbi")]);
            let complaint = complaint(&output);
            assert_eq!(complaint.contains("[BLASTFMTUTIL]"), is_refused, "{file} {complaint}");
        }
        fs::remove_file(path).unwrap();
    }
    // Entries without an effect on the report are accepted.
    for (variable, value, format) in [
        ("NCBI_CONFIG__BLAST__LONG_SEQID", "1", "6"),
        ("NCBI_CONFIG__BLAST__LONG_SEQID", "0", "0"),
        ("NCBI_CONFIG__NCBI__MemorySizeLimit", "", "6"),
        ("NCBI_CONFIG__NCBI__HEAPSIZELIMIT", "", "6"),
        ("NCBI_CONFIG__NCBI__CpuTimeLimit", "", "6"),
    ] {
        let line = Fixture::words(&format!("-query|q.fa|-subject|q.fa|-outfmt|{format}"));
        let output = fixture.run(&fixture.ours(), &line, &[(variable, value)]);
        assert!(output.status.success(), "{}", complaint(&output));
    }
}
