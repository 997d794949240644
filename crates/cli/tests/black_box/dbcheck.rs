//! `dbcheck`: files that are missing, zeros in sequences, and files of LMDB that are cut short.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::common::Fixture;

/// Extensions of the files of a database with identifiers and GIs, by version.
const FILES: [(&str, &[&str]); 2] = [
    ("4", &["pin", "psq", "phr", "pog", "pni", "pnd", "psi", "psd"]),
    ("5", &["pin", "psq", "phr", "pog", "pni", "pnd", "pdb", "pos", "pot", "ptf", "pto"]),
];

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_fleetblast"))
}

fn sequence(letters: &[u8], length: usize, seed: usize) -> String {
    let letter = |i: usize| letters[(i * i + 7 * i / 3 + seed * 5) % letters.len()] as char;
    (0..length).map(letter).collect()
}

/// Makes a directory with the database `made` of these sequences.
fn database(kind: &str, version: &str, fasta: &str) -> Fixture {
    let fixture = Fixture::new();
    fs::write(fixture.path().join("made.fa"), fasta).unwrap();
    let line = format!(
        "makeblastdb|-in|made.fa|-dbtype|{kind}|-parse_seqids|-blastdb_version|{version}|-out|made"
    );
    let made = fixture.run(program(), &Fixture::words(&line), &[]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    fixture
}

fn check(fixture: &Fixture) -> Output {
    fixture.run(program(), &Fixture::words("dbcheck|-db|made"), &[])
}

fn proteins() -> String {
    let line = |i: usize| {
        let sequence = sequence(b"ACDEFGHIKLMNPQRSTVWY", 60 + i, i);
        format!(">gi|{}|gb|AAA{i:05}.1| a title\n{sequence}\n", i + 1)
    };
    (0..200).map(line).collect()
}

#[test]
fn every_file_is_required() {
    for (version, extensions) in FILES {
        let fixture = database("prot", version, &proteins());
        assert_eq!(check(&fixture).status.code(), Some(0), "version {version}");
        for extension in extensions {
            let file = fixture.path().join(format!("made.{extension}"));
            let bytes = fs::read(&file).unwrap();
            fs::remove_file(&file).unwrap();
            let found = check(&fixture);
            assert_eq!(found.status.code(), Some(2), "version {version} without {extension}");
            assert!(!String::from_utf8_lossy(&found.stdout).contains("sound"), "{extension}");
            fs::write(&file, bytes).unwrap();
        }
    }
}

/// Suspicious but possible contents have their own exit code.
#[test]
fn zeros_in_sequences_are_doubtful() {
    let bases = format!(">gb|AF000001.1| one\n{}\n", sequence(b"ACGT", 20_000, 1));
    for (kind, fasta, file, zeros) in
        [("prot", proteins(), "made.psq", 70..100), ("nucl", bases, "made.nsq", 1024..1536)]
    {
        let fixture = database(kind, "5", &fasta);
        assert_eq!(check(&fixture).status.code(), Some(0), "{kind}");
        let path = fixture.path().join(file);
        let mut bytes = fs::read(&path).unwrap();
        bytes[zeros].fill(0);
        fs::write(&path, bytes).unwrap();
        let found = check(&fixture);
        let (said, warned) =
            (String::from_utf8_lossy(&found.stdout), String::from_utf8_lossy(&found.stderr));
        assert_eq!(found.status.code(), Some(65), "{kind}: {said}{warned}");
        assert!(said.starts_with("made: doubtful\n"), "{said}");
        assert!(warned.contains(file) && warned.starts_with("Warning: "), "{warned}");
    }
}

#[test]
fn tables_of_identifiers_are_checked_whole() {
    let fixture = database("prot", "5", &proteins());
    for file in ["made.pdb", "made.ptf"] {
        let path = fixture.path().join(file);
        let sound = fs::read(&path).unwrap();
        // Some files lack their last pages or byte; others have erased fields in a meta page.
        let mut damaged: Vec<Vec<u8>> =
            (1..3).map(|pages| sound[..sound.len() - 4096 * pages].to_vec()).collect();
        damaged.push(sound[..sound.len() - 1].to_vec());
        for at in [0, 4096] {
            let mut bytes = sound.clone();
            bytes[at..at + 64].fill(0);
            damaged.push(bytes);
        }
        for (number, bytes) in damaged.into_iter().enumerate() {
            fs::write(&path, bytes).unwrap();
            let found = check(&fixture);
            assert_eq!(found.status.code(), Some(2), "{file} {number}");
        }
        fs::write(&path, sound).unwrap();
    }
    assert_eq!(check(&fixture).status.code(), Some(0));
}

/// BLAST+ stores the keys of a PDB entry without chain with a blank at the end.
#[test]
fn entries_of_pdb_without_chain_are_found() {
    let fasta = ">pdb|4ABC| no chain\nMKVLAAGIVGLLLAQWERTYHHPPLKDSAQWERTYIPASDFGHKLCVNM\n\
                 >gb|AAA00001.1| x\nMKVLAAGIVGLLLAQWERTYHHPPLKDSAQWERTYIPASDFG\n";
    for version in ["4", "5"] {
        let fixture = database("prot", version, fasta);
        let found = check(&fixture);
        assert_eq!(found.status.code(), Some(0), "{}", String::from_utf8_lossy(&found.stderr));
        for entry in ["4ABC", "pdb|4ABC|"] {
            let words = ["blastdbcmd", "-db", "made", "-entry", entry, "-outfmt", "%o %t"];
            let words = words.map(std::ffi::OsString::from);
            let found = fixture.run(program(), &words, &[]);
            let said = String::from_utf8_lossy(&found.stdout);
            assert_eq!(said, "0 no chain\n", "version {version}, {entry}");
            if let Some(oracle) = fixture.oracle {
                let theirs = fixture.run(&oracle.program("blastdbcmd"), &words[1..], &[]);
                assert_eq!(theirs.stdout, found.stdout, "version {version}, {entry}");
            }
        }
    }
}
