//! Lists in aliases, combined with lists of the user. They decide which sequences are searched,
//! which take places in the hit list, and which definition lines are shown.

use std::fs;
use std::path::Path;

use crate::common::Fixture;

const SEQUENCE: &str = "CAGATTTTCATATTATGCAGAAAATCTACTTCGCCTGATACGAGTCGGTTATCTTCGGATACTGTATAGTCCCACCTGGTGATCCTATGCTTGTGAGTAC";
const TAXIDS: &str =
    "AF000001.1 9606\nD00001.1 562\nAF000002.1 9606\nAF000003.1 9606\nNM_000004.2 562\n";

/// Names and contents of lists, and of aliases of the database `d`, which is of version 5.
const FILES: [(&str, &str); 21] = [
    ("versions", "AF000001.1\nAF000002.1\n"),
    ("bare", "AF000002\nNM_000004\n"),
    ("other_version", "AF000002.2\nAF000001\n"),
    ("tagged", "gb|AF000002.1|\nref|NM_000004|\n"),
    ("lower", "af000002.1\nAF000003\n"),
    ("one", "AF000001\n"),
    ("second", "D00001.1\nAF000002.1\nAF000003.1\n"),
    ("malformed", "AF000002\nAF000003.x\na[b\n"),
    ("digits", "AF000002\n9223372036854775808\n"),
    ("taxids", "9606\n"),
    ("gis", "11\n12\n"),
    ("only_gis", "gi|11\ngi|13|gb|AF000002.1|\n"),
    ("al.nal", "DBLIST d\nSEQIDLIST versions\n"),
    ("al_bare.nal", "DBLIST d\nSEQIDLIST bare\n"),
    ("al_second.nal", "DBLIST d\nSEQIDLIST second\n"),
    ("al_nested.nal", "DBLIST al_bare al\n"),
    ("al_taxids.nal", "DBLIST d\nTAXIDLIST taxids\n"),
    ("al_range.nal", "DBLIST d\nFIRST_OID 2\nLAST_OID 3\n"),
    ("al_title.nal", "TITLE all\nDBLIST d\n"),
    ("al_malformed.nal", "DBLIST d\nSEQIDLIST malformed\n"),
    ("al_digits.nal", "DBLIST d\nSEQIDLIST digits\n"),
];

/// Options for the database and lists, and the subjects and e-values that BLAST+ 2.12.0 shows.
const SEARCHES: [(&str, &str); 23] = [
    ("-db al -seqidlist bare", "AF000002.1 1.07e-41"),
    ("-db al -negative_seqidlist one", "AF000002.1 1.07e-41"),
    ("-db al_bare -seqidlist versions", "AF000002.1 1.07e-41"),
    ("-db al_bare -negative_seqidlist versions", "NM_000004.2 5.65e-28"),
    ("-db al -seqidlist tagged", "AF000002.1 1.07e-41"),
    ("-db al -seqidlist other_version", "AF000001.1 1.02e-52"),
    ("-db al -seqidlist lower", "AF000002.1 1.07e-41"),
    ("-db al_nested -seqidlist lower", "AF000002.1 1.81e-41\nAF000003.1 2.38e-30"),
    (
        "-db al_nested -negative_seqidlist one",
        "D00001.1 2.90e-52\nAF000002.1 3.80e-41\nAF000003.1 4.98e-30\nNM_000004.2 3.00e-27",
    ),
    ("-db al_second -taxids 9606 -max_target_seqs 1", ""),
    ("-db al_second -taxids 9606 -max_target_seqs 2", "AF000002.1 3.13e-41"),
    ("-db al_second -negative_taxids 562 -max_target_seqs 1", ""),
    ("-db al_taxids -taxids 562,77", ""),
    ("-db al_second -seqidlist one -ungapped", ""),
    // GIs in a list of identifiers are ignored, and an empty list includes nothing.
    ("-db d -seqidlist only_gis", ""),
    ("-db al_title -seqidlist only_gis", ""),
    ("-db al -seqidlist only_gis", ""),
    ("-db al_taxids -seqidlist only_gis", ""),
    ("-db al_range -seqidlist only_gis", ""),
    (
        "-db al_taxids -negative_seqidlist only_gis",
        "AF000001.1 2.38e-52\nAF000002.1 3.13e-41\nAF000003.1 4.10e-30",
    ),
    ("-db d -seqidlist malformed", "AF000002.1 1.07e-41"),
    ("-db al_malformed -seqidlist bare", ""),
    ("-db al_digits -seqidlist bare", ""),
];

fn directory() -> Fixture {
    let fixture = Fixture::new();
    let write = |name: &str, text: &str| fs::write(fixture.path().join(name), text).unwrap();
    write("q.fa", &format!(">q\n{SEQUENCE}\n"));
    let subject = |header: &str, length: usize| format!(">{header}\n{}\n", &SEQUENCE[..length]);
    let subjects = [
        subject("gi|11|gb|AF000001.1| one\u{1}gi|12|dbj|D00001.1| other", 100),
        subject("gi|13|gb|AF000002.1| two", 80),
        subject("gi|14|gb|AF000003.1| three", 60),
        subject("gi|15|ref|NM_000004.2| four", 55),
    ];
    write("d.fa", &subjects.concat());
    write("map", TAXIDS);
    FILES.iter().for_each(|(name, text)| write(name, text));
    let made = "makeblastdb|-in|d.fa|-dbtype|nucl|-parse_seqids|-taxid_map|map|-out|d";
    let program = Path::new(env!("CARGO_BIN_EXE_fleetblast"));
    let made = fixture.run(program, &Fixture::words(made), &[]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    fixture
}

fn split_words(line: &str, format: &str) -> Vec<std::ffi::OsString> {
    let fixed = ["-query", "q.fa", "-outfmt", format];
    fixed.into_iter().chain(line.split(' ')).map(Into::into).collect()
}

#[test]
fn lists_meet_as_in_the_oracle() {
    let fixture = directory();
    for ((line, expected), other) in SEARCHES.into_iter().zip(["7", "5", "0"].into_iter().cycle()) {
        let format = "6 saccver evalue";
        let output = fixture.run(&fixture.called("blastn"), &split_words(line, format), &[]);
        let said = String::from_utf8_lossy(&output.stdout).replace('\t', " ");
        assert_eq!(said.trim_end(), expected, "{line}");
        let Some(oracle) = fixture.oracle else { continue };
        for format in [format, other] {
            let ours = fixture.run(&fixture.called("blastn"), &split_words(line, format), &[]);
            let theirs = fixture.run(&oracle.program("blastn"), &split_words(line, format), &[]);
            let undated = |bytes: &[u8]| {
                let text = String::from_utf8_lossy(bytes).into_owned();
                let lines = text.lines().filter(|line| !line.contains("Posted date:"));
                lines.map(|line| format!("{line}\n")).collect::<String>()
            };
            assert_eq!(undated(&ours.stdout), undated(&theirs.stdout), "{line} {format}");
            assert_eq!(ours.status.code(), theirs.status.code(), "{line} {format}");
        }
    }
}

/// Partitions and ranks hide the same subjects as one process.
#[test]
fn hidden_subjects_take_places_on_ranks() {
    let fixture = directory();
    for line in ["-db al_second -taxids 9606 -max_target_seqs 1", "-db al -seqidlist bare"] {
        let alone = fixture.run(&fixture.called("blastn"), &split_words(line, "6"), &[]);
        for more in [" -partitions 4", " -ranks 3"] {
            let line = format!("{line}{more}");
            let spread = fixture.run(&fixture.called("blastn"), &split_words(&line, "6"), &[]);
            assert_eq!(spread.stdout, alone.stdout, "{line}");
            assert_eq!(spread.status.code(), Some(0), "{line}");
        }
    }
}

/// If the identifier of a later query is malformed, SAM contains the hits of the queries before it.
#[test]
fn sam_of_the_queries_before_a_malformed_one() {
    let fixture = directory();
    let queries: String =
        ["one", "two", "gi|abc|"].map(|id| format!(">{id}\n{SEQUENCE}\n")).concat();
    fs::write(fixture.path().join("q.fa"), queries).unwrap();
    let words = split_words("-db d -parse_deflines", "17");
    let batches = [("BATCH_SIZE", "100")];
    let ours = fixture.run(&fixture.called("blastn"), &words, &batches);
    assert_eq!(ours.status.code(), Some(1));
    let lines = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.lines().filter(|line| !line.starts_with("@PG")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(lines(&ours.stdout).iter().any(|line| line.contains("AF000001")), "{ours:?}");
    for more in ["-ranks|1", "-ranks|3", "-ranks|4|-groups|2|-partitions|2"] {
        let line: Vec<_> = words.iter().cloned().chain(more.split('|').map(Into::into)).collect();
        let spread = fixture.run(&fixture.called("blastn"), &line, &batches);
        assert_eq!(lines(&spread.stdout), lines(&ours.stdout), "{more}");
        assert_eq!(spread.status.code(), Some(1), "{more}");
    }
    if let Some(oracle) = fixture.oracle {
        let theirs = fixture.run(&oracle.program("blastn"), &words, &batches);
        assert_eq!(lines(&ours.stdout), lines(&theirs.stdout));
        assert_eq!(theirs.status.code(), Some(1));
    }
}
