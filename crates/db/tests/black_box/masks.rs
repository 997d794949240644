//! Stored masks, compared with the table and the lower-case letters that blastdbcmd prints.

use std::ffi::OsStr;
use std::path::Path;

use crate::common::protein;
use fastrand::Rng;
use fleetblast_db::masks::MaskColumn;
use fleetblast_db::{Database, SearchPath, SequenceKind};
use fleetblast_oracle::{command, oracle};

fn run(directory: &Path, program: &str, arguments: &[&str]) -> String {
    let output = command(program).args(arguments).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns proteins with regions of few different letters.
fn fasta() -> String {
    let mut random = Rng::with_seed(9);
    (0..80)
        .map(|i| {
            let (head, tail) = (protein(&mut random, 50), protein(&mut random, 60));
            let length = if i % 4 == 0 { 0 } else { random.usize(10..50) };
            let low = vec![b"QSPA"[i % 4]; length];
            let letters = String::from_utf8([head, low, tail].concat()).unwrap();
            format!(">s{i}\n{letters}\n")
        })
        .collect()
}

#[test]
fn masks_are_those_of_the_oracle() {
    if oracle().is_none() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    std::fs::write(directory.join("x.fa"), fasta()).unwrap();
    let seg = |out: &str, window: &str| {
        let arguments = ["-in", "x.fa", "-parse_seqids", "-outfmt", "maskinfo_asn1_bin"];
        run(directory, "segmasker", &[&arguments[..], &["-out", out, "-window", window]].concat())
    };
    seg("one", "12");
    seg("two", "25");
    let make = |out: &str, more: &[&str]| {
        let fixed = ["-in", "x.fa", "-dbtype", "prot", "-parse_seqids", "-out", out];
        run(directory, "makeblastdb", &[&fixed[..], more].concat());
    };
    let both = ["-mask_data", "one,two", "-mask_id", "first,second:x", "-mask_desc", "d,e"];
    make("named", &both);
    make("own", &["-mask_data", "one"]);
    make("volumes", &["-mask_data", "one", "-max_file_sz", "4KB"]);
    make("none", &[]);
    for (name, ids) in [
        ("named", &[100, 101][..]),
        ("own", &[21]),
        ("volumes", &[21]),
        ("none", &[]),
        ("own named", &[21, 100, 101]),
    ] {
        let search = SearchPath::new(directory, OsStr::new(""), None);
        let database = Database::open(name, SequenceKind::Protein, &search).unwrap();
        let masks = database.masks().unwrap();
        let found: Vec<i32> = masks.algorithms().iter().map(|algorithm| algorithm.id).collect();
        assert_eq!(found, ids, "{name}");
        let table = String::from_utf8(masks.format_table()).unwrap();
        let info = run(directory, "blastdbcmd", &["-db", name, "-info"]);
        assert!(info.contains(&format!("{table}\nVolumes:")), "{name}: {table:?} is not in {info}");
        for id in ids {
            let number = id.to_string();
            let arguments = ["-db", name, "-entry", "all", "-mask_sequence_with", &number];
            let all = [&arguments[..], &["-outfmt", "%s"]].concat();
            let expected = run(directory, "blastdbcmd", &all);
            for (oid, line) in expected.lines().enumerate() {
                let mut masked = vec![false; line.len()];
                for range in masks.ranges(oid as u32, *id).unwrap() {
                    masked[range.start as usize..range.end as usize].fill(true);
                }
                let lower: Vec<bool> = line.bytes().map(|b| b.is_ascii_lowercase()).collect();
                assert_eq!(masked, lower, "{name} {oid}");
            }
            assert!(expected.contains(char::is_lowercase) || name.contains(' '));
        }
    }
    let masks = |name: &str| {
        let search = SearchPath::new(directory, OsStr::new(""), None);
        Database::open(name, SequenceKind::Protein, &search).unwrap().masks().unwrap()
    };
    assert_eq!(masks("named").algorithm_by_name(b"first"), Some(100));
    assert_eq!(masks("named").algorithm_by_name(b"nothing"), None);
    let whole = b"20:window=12; locut=2.2; hicut=2.5";
    assert_eq!(masks("own").algorithm_by_name(whole), Some(21));
}

#[test]
fn a_column_that_is_cut_short_is_an_error() {
    assert!(MaskColumn::open(b"", b"").is_err());
    let mut index: Vec<u8> = [1u32, 1, 4, 1, 0, 20].iter().flat_map(|w| w.to_be_bytes()).collect();
    index.extend([50u32, 60].iter().flat_map(|word| word.to_be_bytes()));
    index.extend(b"\x10BlastDb/MaskData\x00\x01\x0221\x0420:o");
    index.resize(60, b'#');
    index.extend([0u32, 20].iter().flat_map(|word| word.to_be_bytes()));
    let mut data: Vec<u8> = [1u32, 21, 1].iter().flat_map(|word| word.to_be_bytes()).collect();
    data.extend([5u32, 9].iter().flat_map(|word| word.to_le_bytes()));
    let ranges = |index: &[u8], data: &[u8]| {
        let column = MaskColumn::open(index, data)?;
        Ok::<_, fleetblast_db::lookup::FileDamage>(column.ranges(0, 21)?.collect::<Vec<_>>())
    };
    assert_eq!(ranges(&index, &data).unwrap(), vec![std::ops::Range { start: 5, end: 9 }]);
    for length in 0..index.len() {
        assert!(ranges(&index[..length], &data).is_err(), "{length}");
    }
    for length in 0..data.len() {
        assert!(ranges(&index, &data[..length]).is_err(), "{length}");
    }
    // The count is larger than the data.
    data[8] = 0xff;
    assert!(ranges(&index, &data).is_err());
}
