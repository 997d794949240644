//! Names of sequences: one of several identifiers, or made-up ones that are counted separately.

use std::fs;

use crate::common::{Fixture, complaint};

/// Sequences, some of them without a name. Each has an O, and BLAST+ warns of it by the sequence's
/// name.
const SOME_UNNAMED: &str = ">a one\nMKVLAADTGHIWQERTYPASDFGHKOLCVNM\n>\nMKVLAADTGHIWQERTYPASDFGHKLCOVNM\n>b\n\
                            MKVLAADTGHIWQERTYOPASDFGHKLCVNM\n>  \nMKVLAADTGHIWQERTYPASDFOGHKLCVNM\n> c d\n\
                            MKVLAADOTGHIWQERTYPASDFGHKLCVNM\n";

/// Definition lines with identifiers of several kinds.
const KINDS: [&str; 9] = [
    "gi|774|ref|NP_800004.2| t",
    "ref|NP_800005.2|gi|775",
    "lcl|u|gnl|db|44",
    "bbs|123|lcl|tt",
    "pdb|1ABC|A|lcl|z",
    "sp|P1|N|gnl|d|z",
    "gnl|d|y|sp|P2|N",
    "gb|AAA12345.1|lcl|zz",
    "gi|3|lcl|v",
];

/// Checks that reports and warnings are those of BLAST+, in one process and on ranks.
fn check(sequences: &str, targets: &[&str], parsings: &[&str]) {
    let fixture = Fixture::new();
    let Some(oracle) = fixture.oracle else { return };
    fs::write(fixture.path().join("some.fa"), sequences).expect("sequences");
    let theirs = oracle.program("blastp");
    for format in ["0", "5", "6|qseqid|qacc|sseqid|sallseqid|score", "7"] {
        for target in targets {
            for parsed in parsings {
                let mut words = Fixture::words(&format!("-query|some.fa|{target}{parsed}|-outfmt"));
                words.push(format.replace('|', " ").into());
                let expected = fixture.run(&theirs, &words, &[]);
                assert!(expected.status.success() && !expected.stdout.is_empty());
                for ranks in ["", "-ranks|2"] {
                    let words = [&words[..], &Fixture::words(ranks)].concat();
                    let found = fixture.run(&fixture.ours(), &words, &[]);
                    assert!(found.stdout == expected.stdout, "{words:?}");
                    assert_eq!(complaint(&found), complaint(&expected), "{words:?}");
                }
            }
        }
    }
}

#[test]
fn made_up_names_are_those_of_the_oracle() {
    check(SOME_UNNAMED, &["-db|db", "-subject|some.fa"], &["", "|-parse_deflines"]);
}

#[test]
fn of_several_identifiers_one_names_a_query() {
    let sequence = |line: &&str| format!(">{line}\nMKVLAADTGHIWQERTYPASDFGHKOLCVNM\n");
    // This query cannot be searched; the report has a warning of it, too.
    let masked = ">gi|779|ref|NP_800009.2|\nXXXXXXXXXXXXXXXX\n";
    let sequences: String = KINDS.iter().map(sequence).chain([masked.to_owned()]).collect();
    check(&sequences, &["-db|db"], &["|-parse_deflines"]);
}

/// Merged definition lines, some without a title. In XML, a stored title counts even if it is
/// empty.
const UNTITLED: &str = ">gb|AAA00001.1| \x01gb|AAA00002.1| two\nMKVLAADTGHIWQERTYPASDFGHKLCVNM\n\
                        >gb|AAA00003.1|\x01gb|AAA00004.1|\nMKVLAADTGHIWQERTYPASDFGHKLCVNMW\n";

#[test]
fn empty_titles_are_those_of_the_oracle() {
    let fixture = Fixture::new();
    let Some(oracle) = fixture.oracle else { return };
    fs::write(fixture.path().join("untitled.fa"), UNTITLED).expect("sequences");
    let make = Fixture::words("-in|untitled.fa|-dbtype|prot|-parse_seqids|-out|untitled");
    assert!(fixture.run(&oracle.program("makeblastdb"), &make, &[]).status.success());
    for format in ["0", "5", "7"] {
        let line = format!("-query|q.fa|-db|untitled|-evalue|1e9|-outfmt|{format}");
        let search = Fixture::words(&line);
        let expected = fixture.run(&oracle.program("blastp"), &search, &[]);
        let found = fixture.run(&fixture.ours(), &search, &[]);
        assert!(expected.status.success() && found.stdout == expected.stdout, "{format}");
        let report = String::from_utf8_lossy(&found.stdout);
        assert!(format != "5" || report.contains("<Hit_def> &gt;gb|AAA00002.1| two"), "{report}");
    }
}
