//! Malformed and odd words in lists of identifiers for databases of version 4.

use std::fs;
use std::path::Path;
use std::process::Output;

use fleetblast_oracle::sample;

use crate::common::Fixture;

const LETTERS: &str = "MKVLAADTGHIWQERTYPASDFGHKLCVNM";
const IDS: [&str; 5] = ["gi|5|gb|AAA00001.1|", "gnl|db|tag", "1ABC|A", "lcl|007", "gnl|CDD|x"];

/// Words that are refused, and a part of the message of BLAST+ 2.12.0 about each.
const REFUSED: [(&str, &str); 10] = [
    ("lcl|", "CSeq_id::Set() - Malformatted ID lcl|"),
    ("gb|gb|AAA00001.1", "CSeq_id::Set() - Malformatted ID gb"),
    ("AAA00001.1\ngi|abc", "gi ID abc"),
    ("gi|-1 AAA00001.1", "Negative, excessively large, or non-numeric gi ID -1"),
    ("gb|AAA00001.1|gi|", "Malformatted ID gi|"),
    ("gb|AAA00001.1|x|y", "FASTA-style ID gb|AAA00001.1|x|y has too many parts."),
    ("gnl|BL_ORD_ID|0", "Invalid choice selection: NCBI-General::Object-id.str"),
    ("gnl|PIG|x", "line 96: Error: (CInvalidChoiceSelection::eFail) CObject_id::GetId()"),
    ("gnl|ti|5x", "line 872: Error: (CStringException::eConvert) ncbi::NStr::StringToInt8()"),
    ("gnl|ti|x", "Cannot convert string 'x' to Int8 (m_Pos = 0)"),
];

/// Words that are accepted.
const TAKEN: [&str; 14] = [
    "gi|0",
    "gi|5 gnl|PIG|5 gnl|ti|0",
    "gnl|BL_ORD_ID|1",
    "foo|bar",
    "a|b|c",
    "|gi|5",
    "gb|AAA00009|emb|AAA00001.1|",
    "gb|AAA00001.1|gi",
    "oth|AAA00001.1",
    "gnl|db|tag",
    "1ABC|A",
    "007",
    "CDD:x",
    "SRA:x",
];

fn directory() -> Fixture {
    let fixture = Fixture::new();
    let ids = IDS.iter().enumerate();
    let text = ids.map(|(i, id)| format!(">{id} t\n{LETTERS}{}\n", &LETTERS[i..]));
    fs::write(fixture.path().join("d.fa"), text.collect::<String>()).unwrap();
    fs::write(fixture.path().join("q.fa"), format!(">q\n{LETTERS}\n")).unwrap();
    fs::write(fixture.path().join("al.pal"), "DBLIST d\nSEQIDLIST list\n").unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_fleetblast"));
    let volumes = "-hash_index|-max_file_sz|100|-out|volumes";
    for options in ["-parse_seqids|-out|d", "-hash_index|-out|hashed", volumes, "-out|plain"] {
        let made = format!("makeblastdb|-in|d.fa|-dbtype|prot|-blastdb_version|4|{options}");
        let made = fixture.run(program, &Fixture::words(&made), &[]);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }
    fixture
}

/// Searches with these words in the file `list`.
fn search(fixture: &Fixture, program: &Path, words: &str, options: &str) -> Output {
    fs::write(fixture.path().join("list"), format!("{words}\n")).unwrap();
    let line = format!("-query q.fa -outfmt 6 {options}");
    fixture.run(program, &line.split(' ').map(Into::into).collect::<Vec<_>>(), &[])
}

/// Returns standard error without the lines that FleetBLAST adds in parentheses.
fn message(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    text.split_inclusive('\n').filter(|line| !line.starts_with('(')).collect()
}

const SEARCHES: [&str; 9] = [
    "-db d -seqidlist list",
    "-db d -negative_seqidlist list",
    "-db al",
    "-db hashed -seqidlist list",
    "-db hashed -negative_seqidlist list",
    "-db volumes -seqidlist list",
    "-db volumes -negative_seqidlist list",
    "-db plain -seqidlist list",
    "-db plain -negative_seqidlist list",
];

#[test]
fn lists_with_malformed_words_are_refused() {
    let fixture = directory();
    let ours = fixture.called("blastp");
    for (words, problem) in REFUSED {
        for options in &SEARCHES[..3] {
            let output = search(&fixture, &ours, words, options);
            assert_eq!(output.status.code(), Some(255), "{words} {options}");
            assert!(output.stdout.is_empty(), "{words} {options}");
            assert!(message(&output).contains(problem), "{words} {options} {output:?}");
        }
    }
    let spread = search(&fixture, &ours, "lcl|", "-db d -seqidlist list -ranks 2");
    assert_eq!(spread.status.code(), Some(255), "{spread:?}");
    let said = String::from_utf8_lossy(&spread.stderr).into_owned();
    assert!(said.contains("(identifier 'lcl|' in the list of the options)"), "{said}");
}

#[test]
fn lists_are_taken_and_refused_as_in_the_oracle() {
    let fixture = directory();
    let Some(oracle) = fixture.oracle else { return };
    let (ours, theirs) = (fixture.called("blastp"), oracle.program("blastp"));
    for words in sample(4, REFUSED.map(|(words, _)| words).into_iter().chain(TAKEN)) {
        for options in SEARCHES {
            let wanted = search(&fixture, &theirs, words, options);
            let found = search(&fixture, &ours, words, options);
            assert_eq!(message(&found), message(&wanted), "{words} {options}");
            assert_eq!(found.stdout, wanted.stdout, "{words} {options}");
            assert_eq!(found.status.code(), wanted.status.code(), "{words} {options}");
        }
    }
}

/// BLAST+ reads the list of an alias with the volumes, so it reports a missing list like a missing
/// volume.
#[test]
fn a_missing_list_of_an_alias_is_an_error_of_the_database() {
    let fixture = directory();
    let line = "-query q.fa -db al";
    let words: Vec<_> = line.split(' ').map(Into::into).collect();
    let ours = fixture.run(&fixture.called("blastp"), &words, &[]);
    assert_eq!(ours.status.code(), Some(2), "{ours:?}");
    assert!(message(&ours).contains("BLAST Database error: Cannot memory map"), "{ours:?}");
    if let Some(oracle) = fixture.oracle {
        let theirs = fixture.run(&oracle.program("blastp"), &words, &[]);
        assert_eq!(theirs.status.code(), Some(2), "{theirs:?}");
        assert!(message(&theirs).contains("BLAST Database error: Cannot memory map"), "{theirs:?}");
    }
}

/// A GI in the list is kept as an empty key, which stands for sequences without identifiers, too.
#[test]
fn gis_hide_sequences_without_identifiers() {
    let fixture = directory();
    let ours = fixture.called("blastp");
    let output = search(&fixture, &ours, "gi|0", SEARCHES[4]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{output:?}");
    let output = search(&fixture, &ours, "other", SEARCHES[4]);
    assert_ne!(output.stdout.len(), 0, "{output:?}");
}

/// The first sequence of each further volume has the key of another sequence.
#[test]
fn sequences_without_identifiers_are_sound_in_volumes() {
    let fixture = directory();
    assert!(fixture.path().join("volumes.01.psi").exists());
    let program = Path::new(env!("CARGO_BIN_EXE_fleetblast"));
    for database in ["hashed", "volumes"] {
        let line = format!("dbcheck|-db|{database}");
        let output = fixture.run(program, &Fixture::words(&line), &[]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    let output = search(&fixture, &fixture.called("blastp"), "zzz", SEARCHES[5]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

/// All entries of a batch are looked up before the first is written.
#[test]
fn batches_with_malformed_words_write_nothing() {
    let fixture = directory();
    fs::write(fixture.path().join("list"), "AAA00001.1\ngi|abc\n").unwrap();
    let words = Fixture::words("-db|d|-entry_batch|list");
    let problem = "Negative, excessively large, or non-numeric gi ID abc\n";
    let mut programs = vec![fixture.called("blastdbcmd")];
    programs.extend(fixture.oracle.map(|oracle| oracle.program("blastdbcmd")));
    for program in programs {
        let output = fixture.run(&program, &words, &[]);
        assert_eq!(message(&output), format!("Error: [blastdbcmd] {problem}"));
        assert!(output.stdout.is_empty());
        assert_eq!(output.status.code(), Some(1));
        let duplicates = [words.clone(), Fixture::words("-get_dups")].concat();
        assert!(!fixture.run(&program, &duplicates, &[]).stdout.is_empty());
    }
}
