//! Databases made by makeblastdb, compared with the output of blastdbcmd.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

use crate::common::{FOUR, Label, protein, volume};
use fastrand::Rng;
use fleetblast_db::{Database, SearchPath, SequenceKind};
use fleetblast_oracle::{command, oracle};
use fleetblast_seq::alphabet;
use fleetblast_seq::id::{SeqId, TextRanking, choose_text_id};

fn run(directory: &Path, program: &str, arguments: &[&str]) -> String {
    let output = command(program).args(arguments).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn open(directory: &Path, name: &str) -> Database {
    let search = SearchPath::new(directory, OsStr::new(""), None);
    let database = Database::open(name, SequenceKind::Protein, &search).unwrap();
    database.validate(0..database.oid_count()).unwrap();
    database
}

/// Returns one line for each definition line: OID, length, title, identifier, accession, taxid,
/// residues.
fn listing(database: &Database) -> String {
    let mut text = String::new();
    for oid in database.included_oids().iter().cloned().flatten() {
        let letters: Vec<u8> =
            database.residues_of(oid).iter().map(|&code| alphabet::decode(code)).collect();
        for line in database.deflines(oid).unwrap() {
            let id = choose_text_id(&line.ids, TextRanking::RefSeqLater).unwrap();
            let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            writeln!(
                text,
                "{oid}\t{}\t{}\t{}\t{}\t{}\t{}",
                database.length_of(oid),
                show(&line.title),
                show(&id.fasta()),
                show(&id.accession_version()),
                line.taxid,
                show(&letters)
            )
            .unwrap();
        }
    }
    text
}

fn compare(directory: &Path, name: &str) -> Database {
    let format = "%o\t%l\t%t\t%i\t%a\t%T\t%s";
    let expected = run(directory, "blastdbcmd", &["-db", name, "-entry", "all", "-outfmt", format]);
    let database = open(directory, name);
    assert_eq!(listing(&database), expected, "{name}");
    let info = run(directory, "blastdbcmd", &["-db", name, "-info"]);
    for part in [
        format!("Database: {}\n", String::from_utf8_lossy(database.title())),
        format!(
            "Date: {}\tLongest sequence: {} residues",
            database.date(),
            database.max_sequence_length()
        ),
        format!("BLASTDB Version: {}", database.version()),
    ] {
        assert!(info.contains(&part), "{name}: {part:?} is not in {info}");
    }
    database
}

/// Returns 60 sequences with identifiers of many kinds.
fn fasta() -> String {
    let mut random = Rng::with_seed(11);
    (0..60)
        .map(|i| {
            let id = match i % 8 {
                0 => format!("sp|P{:05}.2|N{i}_HUMAN", 10000 + i),
                1 => format!("ref|NP_{:06}.1|", 500 + i),
                2 => format!("gnl|mydb|tag{i}"),
                3 => format!("pdb|1A{i:02}|A"),
                4 => format!("lcl|word{i}"),
                5 => format!("{}", 9000 + i),
                6 => format!("dbj|BAA{:05}.3|", 20000 + i),
                _ => format!("tr|Q9X{i:02}1|Q9X{i:02}1_HUMAN"),
            };
            let length = random.usize(1..=90);
            let letters = String::from_utf8(protein(&mut random, length)).unwrap();
            let title = if i % 5 == 4 { String::new() } else { format!(" made-up protein {i}") };
            format!(">{id}{title}\n{letters}\n")
        })
        .collect()
}

#[test]
fn databases_of_makeblastdb_are_read_completely() {
    if oracle().is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("s.fa"), fasta()).unwrap();
    for version in ["4", "5"] {
        for parsed in [false, true] {
            for size in ["1GB", "1KB"] {
                let name = format!("v{version}{parsed}{size}");
                let mut arguments = vec!["-in", "s.fa", "-dbtype", "prot", "-out", &name];
                arguments.extend(["-blastdb_version", version, "-max_file_sz", size]);
                arguments.extend(["-title", "made up", "-taxid", "9606"]);
                if parsed {
                    arguments.push("-parse_seqids");
                }
                run(dir.path(), "makeblastdb", &arguments);
                let several = dir.path().join(format!("{name}.pal")).exists();
                assert_eq!(several, size == "1KB");
                let database = compare(dir.path(), &name);
                assert_eq!((database.oid_count(), database.sequence_count()), (60, 60));
            }
        }
    }
    let both = compare(dir.path(), "v5false1KB v5false1GB");
    assert_eq!((both.oid_count(), both.database_infos().len()), (120, 2));
}

#[test]
fn merged_definition_lines_are_kept_apart() {
    if oracle().is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let text = ">sp|P11111.2|A_HUMAN one\u{1}ref|NP_000111.1| two\u{1}gi|99|gb|AAA11111.1| three\nMKVLAAGWRSTEDHFKMNPQYAGGAAKL\n";
    std::fs::write(dir.path().join("m.fa"), text).unwrap();
    let arguments = ["-in", "m.fa", "-dbtype", "prot", "-parse_seqids"];
    run(dir.path(), "makeblastdb", &arguments);
    let database = compare(dir.path(), "m.fa");
    let lines = database.deflines(0).unwrap();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[2].ids[0], SeqId::Gi(99));
}

/// Tests that write databases byte by byte prove something only if makeblastdb writes the same
/// bytes.
#[test]
fn the_hand_made_files_are_those_of_makeblastdb() {
    if oracle().is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let entries = crate::common::entries(21, 200);
    let text: String = entries
        .iter()
        .map(|(line, letters)| format!(">{line}\n{}\n", String::from_utf8_lossy(letters)))
        .collect();
    std::fs::write(dir.path().join("h.fa"), text).unwrap();
    for (version, lmdb) in [("4", ""), ("5", "h.pdb")] {
        let arguments = ["-in", "h.fa", "-dbtype", "prot", "-title", "hand made", "-out", "h"];
        let arguments = [&arguments[..], &["-blastdb_version", version]].concat();
        run(dir.path(), "makeblastdb", &arguments);
        let date = open(dir.path(), "h").date().to_owned();
        let version = version.parse().unwrap();
        let label = Label { version, title: "hand made", lmdb, date: &date };
        let written = volume(&label, &entries);
        let read =
            |extension: &str| std::fs::read(dir.path().join(format!("h.{extension}"))).unwrap();
        assert_eq!(written.index, read("pin"));
        assert_eq!(written.residues, read("psq"));
        assert_eq!(written.headers, read("phr"));
    }
    assert_eq!(FOUR.version, 4);
}
