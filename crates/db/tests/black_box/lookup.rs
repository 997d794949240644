//! Lookups in databases made by makeblastdb, compared with the results of blastdbcmd.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use crate::common::protein;
use fastrand::Rng;
use fleetblast_db::{Database, DbError, SearchPath, SequenceKind};
use fleetblast_oracle::{command, oracle, sample_from};

fn make(directory: &Path, name: &str, fasta: &str, arguments: &[&str]) {
    std::fs::write(directory.join(format!("{name}.fa")), fasta).unwrap();
    let input = format!("{name}.fa");
    let mut made = command("makeblastdb");
    made.args(["-dbtype", "prot", "-in", &input, "-out", name, "-title", name]);
    let output = made.args(arguments).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn open(directory: &Path, name: &str) -> Database {
    let search = SearchPath::new(directory, OsStr::new(""), None);
    Database::open(name, SequenceKind::Protein, &search).unwrap()
}

/// Runs blastdbcmd. Returns standard output and standard error.
fn blastdbcmd(directory: &Path, arguments: &[&str]) -> (String, String) {
    let output = command("blastdbcmd").args(arguments).current_dir(directory).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Definition lines with identifiers of every kind. The text after the first blank is the title.
const LINES: [&str; 17] = [
    "sp|P69905.2|HBA_HUMAN hemoglobin",
    "NP_000549.2 refseq",
    "P12345 bare",
    "tr|Q9XXX1|Q9XXX1_HUMAN unreviewed",
    "gnl|mydb|tag1 general",
    "gnl|MyDb|Tag2 general",
    "lcl|loc1 local",
    "LoC2 local",
    "12345 a number",
    "pdb|1ABC|A chain",
    "pdb|1ABC|b chain",
    "gi|999|gb|AAA12345.1| with a GI",
    "gi|1000|emb|CAA12345.3| one\u{1}gi|1001|ref|NP_111111.1| two\u{1}lcl|mm3 three",
    "pir||A12345 pir",
    "prf||1234567A prf",
    "AAA12345.2 another version",
    "pat|US|RE33188|1 patent",
];

/// Identifiers to look up; some are in the database.
const WANTED: [&str; 66] = [
    "P69905.2",
    "P69905",
    "p69905.2",
    "P69905.1",
    "HBA_HUMAN",
    "sp|P69905.2|HBA_HUMAN",
    "sp|P69905|",
    "sp||HBA_HUMAN",
    "NP_000549",
    "np_000549.2",
    "NP_000549.9",
    "ref|NP_000549.2|",
    "gb|NP_000549.2|",
    "Q9XXX1",
    "gnl|mydb|tag1",
    "mydb:tag1",
    "MYDB:TAG1",
    "Mydb:tag1",
    "MyDb:Tag2",
    "mydb:tag2",
    "gnl|mydb|TAG2",
    "tag1",
    "loc1",
    "LOC1",
    "Loc1",
    "lcl|loc1",
    "lcl|LOC1",
    "loc2",
    "LOC2",
    "LoC2",
    "lcl|loc2",
    "12345",
    "lcl|12345",
    "1ABC",
    "1ABC_A",
    "1abc_A",
    "1ABC_a",
    "pdb|1ABC|A",
    "pdb|1ABC",
    "1ABC|A",
    "1ABCA",
    "1ABC_b",
    "1ABC_B",
    "1abc",
    "999",
    "gi|999",
    "gi|999|gb|AAA12345.1|",
    "AAA12345",
    "AAA12345.1",
    "AAA12345.2",
    "AAA12345.9",
    "1001",
    "mm3",
    "NP_111111",
    "CAA12345.3",
    "pir||A12345",
    "A12345",
    "prf||1234567A",
    "1234567A",
    "pat|US|RE33188|1",
    "USRE33188_1",
    "RE33188",
    "BL_ORD_ID:3",
    "lcl|1ABC_A",
    "gi|5",
    "0",
];

fn fasta(lines: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut random = Rng::with_seed(3);
    let entry = |line: &str| {
        let letters = String::from_utf8(protein(&mut random, 70)).unwrap();
        format!(">{line}\n{letters}\n")
    };
    let mut entry = entry;
    lines.into_iter().map(|line| entry(line.as_ref())).collect()
}

fn compare_ids<'a>(directory: &Path, name: &str, wanted: impl IntoIterator<Item = &'a str>) {
    let database = open(directory, name);
    let lookup = database.lookup().unwrap();
    for id in wanted {
        let oids = lookup.oids_of_id(id.as_bytes(), &mut database.oid_cursor()).unwrap();
        let found: String = oids.iter().map(|oid| format!("{oid}\n")).collect();
        let arguments = ["-db", name, "-entry", id, "-outfmt", "%o"];
        let (expected, messages) = blastdbcmd(directory, &arguments);
        assert_eq!(found, expected, "{name} {id}: {messages}");
        if oids.is_empty() {
            let key = String::from_utf8(lookup.key_of_typed_id(id.as_bytes())).unwrap();
            let message = format!("Error: [blastdbcmd] Entry not found: {key}\n");
            assert!(messages.starts_with(&message), "{name} {id}: {message} is not {messages}");
        }
    }
}

#[test]
fn identifiers_are_found_as_the_oracle_finds_them() {
    if oracle().is_none() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    make(directory, "five", &fasta(LINES), &["-parse_seqids"]);
    make(directory, "four", &fasta(LINES), &["-parse_seqids", "-blastdb_version", "4"]);
    for (turn, name) in ["five", "four"].into_iter().enumerate() {
        compare_ids(directory, name, sample_from(turn, 3, WANTED));
    }
}

#[test]
fn identifiers_are_found_in_volumes_and_aliases() {
    if oracle().is_none() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let lines: Vec<String> =
        (0..900).map(|i| format!("gi|{}|gb|AAA{:05}.{}| t", 7 * i, i % 450, 1 + i / 450)).collect();
    let accessions = ["AAA00000", "AAA00007.1", "AAA00007.2", "aaa00449", "70", "71", "gi|6293|"];
    for (name, version) in [("five", "5"), ("four", "4")] {
        let version = ["-parse_seqids", "-max_file_sz", "20KB", "-blastdb_version", version];
        make(directory, name, &fasta(&lines), &version);
        assert!(directory.join(format!("{name}.03.pin")).exists());
        compare_ids(directory, name, accessions);
        // Some volumes of the LMDB file, and an alias with a range.
        let first = &format!("{name}.01 {name}.02");
        compare_ids(directory, first, accessions);
        let text = format!("DBLIST {name}.01 {name}.00\nFIRST_OID 3\nLAST_OID 60\n");
        std::fs::write(directory.join(format!("{name}x.pal")), text).unwrap();
        compare_ids(directory, &format!("{name}x"), accessions);
    }
    make(directory, "aaa", &fasta(["AAA00007.3 x", "lcl|only y"]), &["-parse_seqids"]);
    compare_ids(directory, "five aaa", accessions.into_iter().chain(["only", "AAA00007.3"]));
    compare_ids(directory, "aaa five.02", accessions.into_iter().chain(["only", "AAA00007.3"]));
}

#[test]
fn databases_without_identifiers_say_so() {
    if oracle().is_none() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    make(directory, "five", &fasta(LINES), &[]);
    make(directory, "four", &fasta(LINES), &["-blastdb_version", "4"]);
    let five = open(directory, "five");
    let found = five.lookup().unwrap().oids_of_id(b"P12345", &mut five.oid_cursor());
    let error = found.unwrap_err();
    let (_, message) = blastdbcmd(directory, &["-db", "five", "-entry", "P12345"]);
    assert!(message.contains(&error.to_string()), "{message}");
    compare_ids(directory, "four", ["P12345", "999", "loc1"]);
}

#[test]
fn side_files_have_ids_and_taxids() {
    if oracle().is_none() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let map: String = (0..400)
        .flat_map(|i| {
            (0..i % 3).map(move |j| format!("s{i} {}\n", [9606, 10090, 562][(i + j) % 3]))
        })
        .collect();
    std::fs::write(directory.join("map"), map).unwrap();
    let lines: Vec<String> = (0..400).map(|i| format!("lcl|s{i} t")).collect();
    let taxids = ["-parse_seqids", "-taxid_map", "map", "-max_file_sz", "9KB"];
    make(directory, "x", &fasta(&lines), &taxids);
    let parsed = fasta(LINES).replace("lcl|loc1", "lcl|0123456789012345678901234567890123456789");
    make(directory, "y", &parsed, &["-parse_seqids", "-taxid", "7"]);
    for name in ["x", "x.01 x.02", "y", "y x"] {
        let database = open(directory, name);
        let lookup = database.lookup().unwrap();
        let format = ["-db", name, "-entry", "all", "-outfmt", "%o %T %a"];
        let (expected, _) = blastdbcmd(directory, &format);
        let mut by_taxid: BTreeMap<i32, Vec<u32>> = BTreeMap::new();
        let mut ids: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
        for line in expected.lines() {
            let mut words = line.split(' ');
            let (oid, taxid) = (words.next().unwrap(), words.next().unwrap());
            let (oid, taxid) = (oid.parse().unwrap(), taxid.parse().unwrap());
            assert!(lookup.taxids_of(oid).unwrap().contains(&taxid), "{name} {oid}");
            let list = by_taxid.entry(taxid).or_default();
            if list.last() != Some(&oid) {
                list.push(oid);
            }
            ids.entry(oid).or_default().push(words.next().unwrap());
        }
        assert!(!ids.is_empty() && !by_taxid.is_empty(), "{name}: {expected}");
        for (oid, expected) in ids {
            let mut found: Vec<String> = lookup
                .ids_of(oid)
                .unwrap()
                .into_iter()
                .map(|id| String::from_utf8(id).unwrap())
                .collect();
            found.retain(|id| !id.starts_with("gi|"));
            assert_eq!(found.len(), expected.len(), "{name} {oid} {found:?}");
            for id in expected {
                assert!(
                    found.iter().any(|found| found.ends_with(id)),
                    "{name} {oid} {found:?} {id}"
                );
            }
        }
        for (taxid, expected) in by_taxid {
            let mut oids = Vec::new();
            assert!(lookup.oids_of_taxid(taxid, &mut oids).unwrap());
            assert_eq!(oids, expected, "{name} {taxid}");
        }
        assert!(!lookup.oids_of_taxid(8, &mut Vec::new()).unwrap());
        assert!(matches!(lookup.ids_of(5000), Err(DbError::NoSuchOid { .. })));
    }
}
