//! Databases as input of `makeblastdb` (`-input_type blastdb`): both programs make the same files
//! of them.

use std::path::Path;

use fastrand::Rng;
use fleetblast_makedb::masks::SequenceMasks;
use fleetblast_makedb::{
    DatabaseBuilder, DatabaseDates, DatabaseKind, DatabaseOptions, DatabaseSequence, FormatVersion,
    StagedFiles, StoredDefline, TaxidSource,
};
use fleetblast_oracle::sample;
use fleetblast_seq::id::SeqId;

use crate::makeblastdb::{Bench, NUCLEOTIDE, OURS, PROTEIN, fasta};

/// Options of the databases that are copied.
const SOURCES: &[&[&str]] = &[
    &[],
    &["-blastdb_version", "4"],
    &["-parse_seqids", "-taxid", "9606"],
    &["-parse_seqids", "-blastdb_version", "4"],
    &["-parse_seqids", "-max_file_sz", "9KB"],
    &["-max_file_sz", "9KB"],
];
/// Options of the copies.
const COPIES: &[&[&str]] = &[
    &[],
    &["-blastdb_version", "4"],
    &["-hash_index", "-parse_seqids", "-taxid", "562"],
    &["-max_file_sz", "7KB", "-title", "another title"],
    &["-max_file_sz", "7KB", "-blastdb_version", "4", "-hash_index"],
];

/// Makes a database with FleetBLAST.
fn make(bench: &Bench, name: &str, options: &[&str]) {
    let made = bench.run(&[OURS], &[options, &["-out", name]].concat());
    assert!(made.status.success(), "{options:?}: {}", String::from_utf8_lossy(&made.stderr));
}

#[test]
fn copies_are_the_oracles() {
    let bench = Bench::new();
    for (kind, letters) in [("prot", PROTEIN), ("nucl", NUCLEOTIDE)] {
        bench.write("in.fa", fasta(&mut Rng::with_seed(11), letters, 120));
        for source in sample(3, SOURCES) {
            make(&bench, "source", &[&["-in", "in.fa", "-dbtype", kind], *source].concat());
            for copy in COPIES {
                let base = ["-in", "source", "-dbtype", kind, "-input_type", "blastdb"];
                bench.compare(&[&base[..], copy].concat());
            }
        }
    }
}

#[test]
fn several_databases_aliases_and_errors() {
    let bench = Bench::new();
    bench.write("a.fa", ">lcl|a one\nMKVLAW\n>gi|7|gb|AAA11111.1| two\x01lcl|b three\nMKKKLL\n");
    bench.write("b.fa", ">sp|P12345.1|N four\nMKVLAWQQ\n");
    bench.write("c.fa", ">lcl|c x\nMKV\n>gi|7|gb|AAA11111.1| two\nMKKKLL\n");
    bench.write("map.txt", "AAA11111 9\nP12345 10\n");
    bench.write("gis.txt", "7\n");
    for (name, version) in [("a", "5"), ("b", "5"), ("c", "5"), ("d", "4")] {
        let file = if name == "d" { "a.fa".to_owned() } else { format!("{name}.fa") };
        let options = ["-in", &file, "-dbtype", "prot", "-parse_seqids"];
        make(&bench, name, &[&options[..], &["-blastdb_version", version]].concat());
    }
    make(&bench, "plain", &["-in", "a.fa", "-dbtype", "prot"]);
    bench.write("both.pal", "TITLE both\nDBLIST a b\n");
    bench.write("part.pal", "TITLE part\nDBLIST a\nFIRST_OID 2\nLAST_OID 2\n");
    bench.write("listed.pal", "TITLE listed\nDBLIST a\nGILIST gis.txt\n");
    let base = |input| ["-in", input, "-dbtype", "prot", "-input_type", "blastdb"];
    for input in ["both", "part", "listed", "a", "d", "plain", "nosuch", "a b", "-"] {
        bench.compare(&base(input));
        bench.compare(&[&base(input)[..], &["-title", "mine", "-blastdb_version", "4"]].concat());
    }
    for input in ["a b", "b a plain", "a a", "a c", "c a", "a d", "a nosuch", ""] {
        bench.compare(&[&base(input)[..], &["-title", "mine"]].concat());
    }
    bench.compare(&[&base("both")[..], &["-parse_seqids", "-taxid_map", "map.txt"]].concat());
    bench.compare(&[&base("a")[..], &["-mask_data", "nosuch"]].concat());
    bench.compare(&["-in", "a", "-dbtype", "nucl", "-input_type", "blastdb"]);
    let same = bench.run(&[OURS], &base("a"));
    let message = String::from_utf8_lossy(&same.stderr).into_owned();
    assert!(message.contains("without changing the output name"), "{message}");
}

#[test]
fn masks_are_copied() {
    let bench = Bench::new();
    let Some(oracle) = bench.oracle else { return };
    bench.write("in.fa", ">lcl|a\nMKVLAQQQQQQQQQQQQQQQQQQQWERT\n>lcl|b\nMKVLAW\n");
    let segmasker = oracle.program("segmasker");
    let segmasker = [segmasker.to_str().expect("a path of text")];
    let format = ["-in", "in.fa", "-parse_seqids", "-outfmt", "maskinfo_asn1_bin"];
    assert!(bench.run(&segmasker, &[&format[..], &["-out", "masks"]].concat()).status.success());
    let base = ["-in", "in.fa", "-dbtype", "prot", "-parse_seqids", "-mask_data", "masks"];
    make(&bench, "known", &base);
    make(&bench, "named", &[&base[..], &["-mask_id", "my:own", "-mask_desc", "x"]].concat());
    for input in ["known", "named"] {
        let copy = ["-in", input, "-dbtype", "prot", "-input_type", "blastdb"];
        bench.compare(&copy);
        bench.compare(&[&copy[..], &["-mask_data", "masks"]].concat());
        bench.compare(&[&copy[..], &["-mask_data", "masks", "-mask_id", "other"]].concat());
    }
}

/// Makes a database with fields that `makeblastdb` does not make from FASTA.
fn rich(path: &Path) {
    let options = DatabaseOptions {
        kind: DatabaseKind::Protein,
        version: FormatVersion::Version5,
        title: b"rich".to_vec(),
        parse_ids: true,
        keeps_reader_ids: false,
        id_end: fleetblast_seq::fasta::IdEnd::Bracket,
        hash_index: false,
        max_file_size: 1 << 30,
        taxids: TaxidSource::Unknown,
        masks: SequenceMasks::default(),
        dates: DatabaseDates {
            index_date: "Nov 20, 2026  11:10 PM".to_owned(),
            mask_date: "11/20/2026 23:12:59".to_owned(),
        },
        lmdb_map_size: None,
    };
    let sink = StagedFiles::create(path, options.kind, |_| {}).expect("a place");
    let mut builder = DatabaseBuilder::new(options, sink).expect("a database");
    for (gi, pig) in [(5, vec![300]), (6, vec![]), (7, vec![20, -1]), (8, vec![40])] {
        let line = StoredDefline {
            title: (gi != 6).then(|| b"a title".to_vec()),
            ids: vec![SeqId::Gi(gi)],
            taxid: Some(9606),
            memberships: vec![gi],
            links: vec![562, 7, 9606],
            other_info: pig,
        };
        let second = StoredDefline { ids: vec![SeqId::Gi(gi + 100)], ..StoredDefline::default() };
        let sequence = DatabaseSequence {
            letters: &[12, 10, 19],
            ambiguities: &[],
            length: 3,
            codes: &[],
            lines: vec![line, second],
            masks: Vec::new(),
        };
        builder.add_from_database(sequence).expect("a sequence");
    }
    builder.finish(|| ()).expect("a database");
}

#[test]
fn numbers_of_groups_are_indexed_and_found() {
    let bench = Bench::new();
    rich(&bench.dir.path().join("rich"));
    bench.compare(&["-in", "rich", "-dbtype", "prot", "-input_type", "blastdb"]);
    let four =
        ["-in", "rich", "-dbtype", "prot", "-input_type", "blastdb", "-blastdb_version", "4"];
    bench.compare(&four);
    make(&bench, "four", &four);
    let Some(oracle) = bench.oracle else { return };
    let theirs = oracle.program("blastdbcmd");
    let theirs = [theirs.to_str().expect("a path of text")];
    let ours = [env!("CARGO_BIN_EXE_fleetblast"), "blastdbcmd"];
    bench.write("batch", "20\n21\n300 2-3\nx\n40 5\n");
    let fields = "%a %g %T %X %e %n %P %t";
    for database in ["rich", "four", "four rich"] {
        for rest in [
            &["-ipg", "20"][..],
            &["-ipg", "300", "-outfmt", "%b", "-range", "2-3"],
            &["-ipg", "301"],
            &["-ipg_batch", "batch"],
            &["-ipg_batch", "batch", "-outfmt", "%d", "-target_only"],
            &["-entry", "gnl|PIG|40", "-outfmt", "%o"],
            &["-entry", "all", "-outfmt", "%b"],
            &["-entry", "all", "-outfmt", "%d"],
            &["-entry", "all", "-outfmt", fields],
            &["-entry", "107", "-target_only", "-outfmt", "%b"],
        ] {
            let line = [&["-db", database][..], rest].concat();
            let (wanted, found) = (bench.run(&theirs, &line), bench.run(&ours, &line));
            let parts = |output: std::process::Output| {
                let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
                (output.status.code(), text(output.stdout), text(output.stderr))
            };
            let (code, out, error) = parts(found);
            // FleetBLAST adds details to messages, in parentheses on lines of their own.
            let lines = error.split_inclusive('\n').filter(|line| !line.starts_with('('));
            assert_eq!(parts(wanted), (code, out, lines.collect::<String>()), "{line:?}");
        }
    }
}
