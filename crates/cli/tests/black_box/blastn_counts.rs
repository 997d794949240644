//! `blastn` restricted to a part of a database: the report has the counts and estimates of the
//! oracle.

use std::fs;

use fleetblast_oracle::sample;

use crate::blastn::{Bases, compare};
use crate::common::{Fixture, complaint};
use fastrand::Rng;

/// Databases: whole ones, and aliases with a list, with or without counts of the listed sequences.
const DATABASES: &[&str] = &["four", "five", "listed", "stated", "ranged", "both"];
/// Options that restrict a search to a part of a database.
const RESTRICTIONS: &[&str] = &[
    "",
    "|-taxids|9606",
    "|-negative_taxids|562,10090",
    "|-gilist|gis",
    "|-negative_gilist|gis",
    "|-seqidlist|ids",
    "|-negative_seqidlist|ids",
];
const FORMATS: &[&str] = &["0", "5", "6", "0|-ungapped", "6|-ungapped|-dbsize|1000000"];

/// Makes a directory with `few.fa`, lists, and the databases.
fn fixture() -> Fixture {
    let fixture = Fixture::new();
    let mut bases = Bases(Rng::with_seed(31));
    let family = bases.sequence(400);
    let text = |letters: &[u8]| String::from_utf8_lossy(letters).into_owned();
    let [mut subjects, mut more, mut taxids, mut gis, mut ids] = [const { String::new() }; 5];
    for number in 0..60 {
        let start = bases.0.usize(..200);
        let length = bases.0.usize(60..200);
        let sequence = text(&bases.mutant(&family[start..start + length]));
        let name = format!("AB{number:06}.1");
        let records = if number < 40 { &mut subjects } else { &mut more };
        *records += &format!(">gi|{}|gb|{name}| a title\n{sequence}\n", 1000 + number);
        let taxid = [9606, 562, 10090][bases.0.usize(..3)];
        taxids += &format!("{name} {taxid}\n");
        if bases.0.u64(..3) == 0 {
            gis += &format!("{}\n", 1000 + number);
        }
        if bases.0.u64(..3) == 0 {
            ids += &format!("{name}\n");
        }
    }
    let [one, other] = [&family[..150], &family[150..]].map(text);
    let files = [
        ("few.fa", format!(">q1\n{one}\n>q2\n{other}\n")),
        ("many.fa", subjects),
        ("more.fa", more),
        ("taxids", taxids),
        ("gis", gis),
        ("ids", ids),
        ("listed.nal", "TITLE listed\nDBLIST four\nGILIST gis\n".to_owned()),
        ("stated.nal", "TITLE stated\nDBLIST four\nGILIST gis\nLENGTH 5000\nNSEQ 30\n".to_owned()),
        ("ranged.nal", "TITLE ranged\nDBLIST five\nFIRST_OID 4\nLAST_OID 37\n".to_owned()),
        ("both.nal", "TITLE both\nDBLIST five other\n".to_owned()),
    ];
    for (name, contents) in files {
        fs::write(fixture.path().join(name), contents).expect("a file");
    }
    let Some(oracle) = fixture.oracle else { return fixture };
    for (version, input, name) in
        [("4", "many", "four"), ("5", "many", "five"), ("5", "more", "other")]
    {
        let line = format!(
            "-in|{input}.fa|-dbtype|nucl|-parse_seqids|-taxid_map|taxids|-blastdb_version|{version}|-out|{name}"
        );
        let mut command = oracle.command("makeblastdb");
        let made = command.args(Fixture::words(&line)).current_dir(fixture.path()).output();
        let made = made.expect("makeblastdb");
        assert!(made.status.success(), "{}", complaint(&made));
    }
    fixture
}

#[test]
fn parts_of_databases_amount_to_what_they_do_in_the_oracle() {
    let lines = DATABASES.iter().flat_map(|database| {
        RESTRICTIONS.iter().flat_map(move |restriction| {
            FORMATS.iter().map(move |format| {
                format!("-query|few.fa|-db|{database}{restriction}|-task|blastn|-outfmt|{format}")
            })
        })
    });
    compare(&fixture(), sample(10, lines));
}
