//! Sequences without identifiers among others that have some: their made-up names are counted by themselves.

use std::fs;

use crate::common::{Fixture, complaint};

/// Each with an O, of which BLAST+ warns by name.
const SEQUENCES: &str = ">a one\nMKVLAADTGHIWQERTYPASDFGHKOLCVNM\n>\nMKVLAADTGHIWQERTYPASDFGHKLCOVNM\n>b\n\
                         MKVLAADTGHIWQERTYOPASDFGHKLCVNM\n>  \nMKVLAADTGHIWQERTYPASDFOGHKLCVNM\n> c d\n\
                         MKVLAADOTGHIWQERTYPASDFGHKLCVNM\n";

#[test]
fn made_up_names_are_those_of_the_oracle() {
    let fixture = Fixture::new();
    let Some(oracle) = fixture.oracle else { return };
    fs::write(fixture.path().join("some.fa"), SEQUENCES).expect("sequences");
    let theirs = oracle.program("blastp");
    for format in ["0", "5", "6|qseqid|qacc|sseqid|sallseqid|score", "7"] {
        for target in ["-db|db", "-subject|some.fa"] {
            for parsed in ["", "|-parse_deflines"] {
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
