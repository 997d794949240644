//! Names of taxa in reports: looked up where BLAST+ looks them up, and shown as it shows them.

use std::fs;
use std::process::Output;

use fleetblast_oracle::sample_from;

use crate::common::{Fixture, complaint};

/// Subjects. One has two definition lines with different taxa; one has a taxon without names, and
/// one has no taxon.
const SUBJECTS: &str = ">sp|P00001.1|A one\u{1}gi|1|gb|AAA00001.1| two\nMKVLAADTGHIWQERTYPASDFGHKLCVNM\n\
    >b_1 b\nMKVLAADTGHIWQERTYPASDFGHKLCVNMA\n>lcl|c c\nMKVLAADTGHIWQERTYPASDFGHKLCVNMAA\n\
    >lcl|d d\nMKVLAADTGHIWQERTYPASDFGHKLCVNMAAA\n>lcl|e e\nMKVLAADTGHIWQERTYPASDFGHKLCVNMAAAA\n";
const TAXIDS: &str = "P00001.1 9606\nAAA00001.1 562\nb_1 4932\nc 32630\nd 77\n";
const NAMES: [(u32, &str); 4] = [
    (562, "Escherichia coli\tE. coli\tenterobacteria\tBacteria"),
    (4932, "Saccharomyces cerevisiae\tbaker's yeast\t-\tEukaryota"),
    (9606, "Homo sapiens\thuman\tprimates\tEukaryota"),
    (32630, "synthetic construct\t\tunclassified\tunclassified"),
];
const ALL: &str = "sacc staxid ssciname scomname sblastname sskingdom staxids sscinames scomnames sblastnames sskingdoms";

/// Returns the index and the data of a taxonomy database.
pub(crate) fn taxdb() -> (Vec<u8>, Vec<u8>) {
    let mut index: Vec<u32> = vec![0x8739, NAMES.len() as u32, 0, 0, 0, 0];
    let mut data = String::new();
    for (taxid, names) in NAMES {
        index.extend([taxid, data.len() as u32]);
        data += names;
    }
    (index.into_iter().flat_map(u32::to_be_bytes).collect(), data.into_bytes())
}

/// Makes a fixture that also has the databases `p5` and `p4`, and a taxonomy database in `tax`.
fn fixture() -> Fixture {
    let fixture = Fixture::new();
    let path = |name: &str| fixture.path().join(name);
    fs::write(path("p.fa"), SUBJECTS).unwrap();
    fs::write(path("map"), TAXIDS).unwrap();
    write_taxdb(&fixture, "tax", taxdb());
    if let Some(oracle) = fixture.oracle {
        for version in ["4", "5"] {
            let out = format!("p{version}");
            let made = oracle
                .command("makeblastdb")
                .args(["-in", "p.fa", "-dbtype", "prot", "-parse_seqids", "-taxid_map", "map"])
                .args(["-blastdb_version", version, "-out", &out])
                .current_dir(fixture.path())
                .output()
                .unwrap();
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        }
    }
    fixture
}

fn write_taxdb(fixture: &Fixture, directory: &str, (index, data): (Vec<u8>, Vec<u8>)) {
    let directory = fixture.path().join(directory);
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("taxdb.bti"), index).unwrap();
    fs::write(directory.join("taxdb.btd"), data).unwrap();
}

/// Runs `blastp` of FleetBLAST or of BLAST+ with this value of `BLASTDB`.
fn says(fixture: &Fixture, is_ours: bool, line: &str, blastdb: &str) -> Output {
    let oracle = || fixture.oracle.expect("seen to be there").program("blastp");
    let program = if is_ours { fixture.ours() } else { oracle() };
    fixture.run(&program, &Fixture::words(line), &[("BLASTDB", blastdb)])
}

/// Asserts that both programs have the same output, and FleetBLAST also on ranks. Returns the
/// output.
#[track_caller]
fn same(fixture: &Fixture, line: &str, blastdb: &str) -> String {
    let expected = says(fixture, false, line, blastdb);
    let on_ranks = format!("{line}|-ranks|3|-num_threads|1");
    for line in [line, &on_ranks] {
        let found = says(fixture, true, line, blastdb);
        assert_eq!(complaint(&found), complaint(&expected), "{line} BLASTDB={blastdb}");
        let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(text(&found), text(&expected), "{line} BLASTDB={blastdb}");
    }
    String::from_utf8_lossy(&expected.stdout).into_owned()
}

#[test]
fn names_are_those_of_blast() {
    let fixture = fixture();
    if fixture.oracle.is_none() {
        return;
    }
    let columns = [
        format!("6 {ALL}"),
        format!("7 {ALL}"),
        format!("10 {ALL}"),
        "6 sallacc sscinames scomnames".into(),
        "7 sblastnames sskingdoms".into(),
        "6 ssciname scomname sblastname sskingdom".into(),
        "6 staxid staxids".into(),
    ];
    for (turn, outfmt) in columns.iter().enumerate() {
        for target in ["-db|p5", "-db|p4", "-db|p5 p4", "-subject|p.fa"] {
            for blastdb in sample_from(turn, 3, ["tax", "", "nosuch"]) {
                same(&fixture, &format!("-query|q.fa|{target}|-outfmt|{outfmt}"), blastdb);
            }
        }
    }
    let of = |restriction: &str| {
        same(&fixture, &format!("-query|q.fa|-db|p5|{restriction}|-outfmt|6 {ALL}"), "tax")
    };
    // Only the definition line with that taxon is left.
    assert!(of("-taxids|562").starts_with("AAA00001\t562\tEscherichia coli\tE. coli\t"));
    of("-negative_taxids|562");
    of("-taxids|77,32630");
    let all = same(&fixture, &format!("-query|q.fa|-db|p5|-outfmt|6 {ALL}"), "tax");
    assert!(all.contains("\t562;9606\tEscherichia coli;Homo sapiens\tE. coli;human\t"), "{all}");
}

#[test]
fn the_first_of_the_search_path_counts() {
    let fixture = fixture();
    if fixture.oracle.is_none() {
        return;
    }
    let line = "-query|q.fa|-db|p5|-outfmt|6 sacc sscinames";
    let (index, data) = taxdb();
    let other = String::from_utf8(data).unwrap().replace("Homo sapiens", "Homo SAPIENS");
    write_taxdb(&fixture, "other", (index, other.into_bytes()));
    assert!(same(&fixture, line, "nosuch:other:tax").contains("Homo SAPIENS"));
    let path = fixture.path().join("tax");
    assert!(same(&fixture, line, &path.display().to_string()).contains("Homo sapiens"));
    fs::write(fixture.path().join(".ncbirc"), "[BLAST]\nBLASTDB=other\n").unwrap();
    assert!(same(&fixture, line, "").contains("Homo SAPIENS"));
    // The working directory comes before all others.
    write_taxdb(&fixture, ".", taxdb());
    assert!(same(&fixture, line, "other").contains("Homo sapiens"));
}

#[test]
fn unusable_taxonomy_files_are_warned_of_once() {
    let fixture = fixture();
    if fixture.oracle.is_none() {
        return;
    }
    let (index, data) = taxdb();
    let with = |at: usize, byte: u8| {
        let mut index = index.clone();
        index[at] = byte;
        index
    };
    let line = format!("-query|q.fa|-db|p5|-outfmt|7 {ALL}");
    for (name, index, wrong) in [
        ("magic", with(3, 1), "taxdb.bti: it begins with 0x8701"),
        ("count", with(7, 9), "taxdb.bti: byte 4 tells"),
        ("short", index[..30].to_vec(), "taxdb.bti: 30 bytes"),
        ("empty", Vec::new(), "taxdb.bti: 0 bytes"),
        ("dataless", index.clone(), "taxdb.btd"),
    ] {
        write_taxdb(&fixture, name, (index, data.clone()));
        if name == "dataless" {
            fs::remove_file(fixture.path().join(name).join("taxdb.btd")).unwrap();
        }
        let expected = says(&fixture, false, &line, name);
        for line in [line.clone(), format!("{line}|-ranks|3")] {
            let found = says(&fixture, true, &line, name);
            assert_eq!(found.stdout, expected.stdout, "{name}");
            assert_eq!(found.status.code(), expected.status.code(), "{name}");
            let (messages, theirs) = (complaint(&found), complaint(&expected));
            let own =
                messages.strip_prefix(&theirs).unwrap_or_else(|| panic!("{messages}\n{theirs}"));
            assert_eq!(own.matches("Warning: [blastp] there are no names of taxa: ").count(), 1);
            assert!(own.contains(wrong), "{name}: {own}");
        }
    }
}

#[test]
fn data_that_are_cut_short_end_the_search() {
    let fixture = fixture();
    if fixture.oracle.is_none() {
        return;
    }
    let (index, data) = taxdb();
    write_taxdb(&fixture, "cut", (index, data[..50].to_vec()));
    for more in ["", "|-ranks|3"] {
        // BLAST+ reads beyond the end, or has no names.
        let line = format!("-query|q.fa|-db|p5|-outfmt|6 sacc sscinames{more}");
        let found = says(&fixture, true, &line, "cut");
        let messages = complaint(&found);
        assert!(messages.starts_with("exit code Some(2)\nBLAST Database error: "), "{messages}");
        assert!(messages.contains("taxdb.bti") && messages.contains("has 50"), "{messages}");
    }
    // Without columns of names, FleetBLAST does not read the file; BLAST+ reads it, and prints a
    // message.
    let line = "-query|q.fa|-db|p5|-outfmt|6 sacc staxids";
    let [found, expected] = [true, false].map(|is_ours| says(&fixture, is_ours, line, "cut"));
    assert_eq!(complaint(&found), "exit code Some(0)\n");
    assert_eq!(found.stdout, expected.stdout);
}

#[test]
fn blastdbcmd_and_maskers_name_an_unusable_taxonomy_database() {
    let fixture = fixture();
    let Some(oracle) = fixture.oracle else { return };
    let (index, data) = taxdb();
    let mut other = index.clone();
    other[3] = 1;
    write_taxdb(&fixture, "magic", (other, data.clone()));
    write_taxdb(&fixture, "cut", (index, data[..50].to_vec()));
    let run = |is_ours: bool, name: &str, line: &str, blastdb: &str| {
        let program = if is_ours { fixture.called(name) } else { oracle.program(name) };
        fixture.run(&program, &Fixture::words(line), &[("BLASTDB", blastdb)])
    };
    let names = "-db|p5|-entry|all|-outfmt|%a %S";
    for (name, line) in [
        ("blastdbcmd", names),
        ("blastdbcmd", "-db|p5|-tax_info"),
        ("blastdbcmd", "-db|p5|-entry|all"),
        ("segmasker", "-in|p5|-infmt|blastdb|-outfmt|fasta"),
    ] {
        let [found, expected] = [true, false].map(|is_ours| run(is_ours, name, line, "magic"));
        assert_eq!(found.stdout, expected.stdout, "{name} {line}");
        let (messages, theirs) = (complaint(&found), complaint(&expected));
        let own = messages.strip_prefix(&theirs).unwrap_or_else(|| panic!("{messages}\n{theirs}"));
        assert!(own.starts_with("Warning: ") && own.matches('\n').count() == 1, "{own}");
        assert!(own.contains("there are no names of taxa: ") && own.contains("taxdb.bti"), "{own}");
    }
    for line in [names, "-db|p5|-tax_info"] {
        let messages = complaint(&run(true, "blastdbcmd", line, "cut"));
        assert!(messages.starts_with("exit code Some(2)\nBLAST Database error: "), "{messages}");
        assert!(messages.contains("taxdb.bti") && messages.contains("has 50"), "{messages}");
    }
    // These titles do not depend on the names.
    let fasta = "-db|p5|-entry|all";
    let [found, expected] = [true, false].map(|is_ours| run(is_ours, "blastdbcmd", fasta, "cut"));
    assert_eq!(found.status.code(), Some(0));
    assert_eq!(found.stdout, expected.stdout);
}
