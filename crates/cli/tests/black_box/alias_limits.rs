//! Databases that are named together with their aliases, which have limits and lists. Searches and
//! `blastdbcmd` use the sequences that BLAST+ 2.12.0 uses.

use std::ffi::OsString;
use std::fs;

use crate::common::Fixture;

const SEQUENCE: &str = "CAGATTTTCATATTATGCAGAAAATCTACTTCGCCTGATACGAGTCGGTTATCTTCGGATACTGTATAGTCCCACCTGGTGATCCTATGCTTGTGAGTAC";
const TAXIDS: [u32; 6] = [9606, 562, 9606, 562, 7227, 9606];

/// Names and contents of lists, and of aliases of the databases `d` and `d4`.
const FILES: [(&str, &[u8]); 16] = [
    ("taxids", b"562\n"),
    ("ids", b"AF000002.1\nAF000003.1\n"),
    ("gis", b"12\n13\n"),
    ("gis_binary", b"\xff\xff\xff\xff\0\0\0\x02\0\0\0\x0d\0\0\0\x0f"),
    ("comment", b"# GIs\n12\n"),
    ("unknown", b"77777\n"),
    ("range.nal", b"DBLIST d\nFIRST_OID 3\nLAST_OID 4\n"),
    ("range4.nal", b"DBLIST d4\nFIRST_OID 3\nLAST_OID 4\n"),
    ("binary.nal", b"DBLIST d\nGILIST gis_binary\n"),
    ("tax.nal", b"DBLIST d\nTAXIDLIST taxids\n"),
    ("empty.nal", b"DBLIST d\nGILIST unknown\n"),
    ("stated.nal", b"DBLIST d\nGILIST comment\nNSEQ 3\nLENGTH 70\n"),
    ("counted.nal", b"DBLIST d\nGILIST comment\n"),
    ("one.nal", b"DBLIST d\nMEMB_BIT 1\n"),
    ("two.nal", b"DBLIST one\nMEMB_BIT 2\nSEQIDLIST ids\n"),
    ("stats.nal", b"DBLIST d\nSTATS_NSEQ 1000\nSTATS_TOTLEN 90000\nMAXLEN 7\n"),
];

/// Words of `blastn`, separated by `|`, and the numbers and e-values of the subjects that it shows.
const SEARCHES: [(&str, &str); 13] = [
    ("-db|range d", "3 7.01e-43\n4 1.96e-38"),
    ("-db|d range|-partitions|2", "3 7.01e-43\n4 1.96e-38"),
    ("-db|range d|-negative_taxids|562", "1 2.50e-52\n3 1.96e-43\n5 1.54e-34\n6 4.31e-30"),
    ("-db|d range|-negative_taxidlist|taxids", "1 2.50e-52\n3 1.96e-43\n5 1.54e-34\n6 4.31e-30"),
    ("-db|range d|-negative_taxids|562|-ranks|3", "1 2.50e-52\n3 1.96e-43\n5 1.54e-34\n6 4.31e-30"),
    ("-db|range4 d4|-negative_gilist|gis", "1 1.77e-52\n4 3.90e-39\n5 1.09e-34\n6 3.05e-30"),
    ("-db|range d|-taxids|9606", "1 1.85e-52\n3 1.45e-43\n6 3.19e-30"),
    ("-db|range4 d4|-negative_seqidlist|ids", "1 1.77e-52\n4 3.90e-39\n5 1.09e-34\n6 3.05e-30"),
    ("-db|range d|-seqidlist|ids", "2 4.97e-48\n3 1.39e-43"),
    ("-db|range tax d", "1 4.66e-52\n2 1.31e-47\n3 3.66e-43\n4 1.02e-38\n5 2.87e-34\n6 8.03e-30"),
    ("-db|range|-negative_taxids|562", "3 6.82e-44"),
    ("-db|range|-negative_gilist|gis", "4 1.74e-39"),
    ("-db|empty", ""),
];

/// Words of `blastdbcmd -dbtype nucl -outfmt %o`, separated by `|`, the exit code, and standard
/// output with blanks for line ends.
const RETRIEVALS: [(&str, i32, &str); 25] = [
    ("-db|range d|-entry|all", 0, "0 2 3"),
    ("-db|range|-entry|all", 0, "2 3"),
    ("-db|binary range|-entry|all", 0, "2 3 4"),
    // BLAST+ takes an excluded GI of the last volume for the next included one.
    ("-db|range|-entry|11", 0, "2"),
    ("-db|binary|-entry|14", 0, "4"),
    ("-db|binary|-entry|16", 0, "5"),
    ("-db|range|-entry_batch|gis", 0, "2 2"),
    ("-db|tax|-entry_batch|gis|-get_dups", 0, "1 3"),
    ("-db|tax|-entry|AF000002", 0, "1"),
    ("-db|tax|-entry|AF000003", 1, ""),
    ("-db|binary|-entry|AF000003.1", 0, "2"),
    ("-db|range d|-taxids|562", 0, "1 3"),
    ("-db|range|-taxids|562", 0, "3"),
    ("-db|range|-taxids|7227", 1, ""),
    ("-db|range d|-tax_info|-outfmt|%T", 0, "# of Tax IDs in Database: 2 562 9606"),
    ("-db|binary|-tax_info|-outfmt|%T", 0, "# of Tax IDs in Database: 2 7227 9606"),
    ("-db|empty|-tax_info|-outfmt|%T", 0, "# of Tax IDs in Database: 0"),
    ("-db|empty|-entry|all", 0, ""),
    ("-db|stated|-entry|all", 1, ""),
    ("-db|stated|-entry|AF000003", 1, ""),
    ("-db|stated|-tax_info|-outfmt|%T", 2, ""),
    ("-db|counted|-entry|all", 2, ""),
    ("-db|two|-entry|all", 2, ""),
    ("-db|one|-entry|12", 0, "1"),
    ("-db|copy|-entry|all", 2, ""),
];

/// Databases for `blastdbcmd -info`: exit code, sequences, bases and longest sequence.
const INFOS: [(&str, i32, &str); 8] = [
    ("range d", 0, "12 960 100"),
    ("range", 0, "6 480 100"),
    ("binary range", 0, "3 233 86"),
    ("empty", 0, "0 0 0"),
    ("stated", 0, "3 70 100"),
    ("stats", 0, "6 480 100"),
    ("counted", 2, ""),
    ("copy", 2, ""),
];

fn directory() -> Fixture {
    let fixture = Fixture::new();
    let write = |name: &str, bytes: &[u8]| fs::write(fixture.path().join(name), bytes).unwrap();
    let subject = |i: usize| {
        let (gi, bases) = (11 + i, &SEQUENCE[..100 - 8 * i]);
        format!(">gi|{gi}|gb|AF00000{}.1| title\n{bases}\n", i + 1)
    };
    write("d.fa", (0..6).map(subject).collect::<String>().as_bytes());
    write("q.fa", format!(">q\n{SEQUENCE}\n").as_bytes());
    let map = (1..).zip(TAXIDS).map(|(i, taxid)| format!("AF00000{i}.1 {taxid}\n"));
    write("map", map.collect::<String>().as_bytes());
    FILES.iter().for_each(|(name, bytes)| write(name, bytes));
    for (name, version) in [("d", "5"), ("d4", "4")] {
        let made = format!(
            "-in|d.fa|-dbtype|nucl|-parse_seqids|-taxid_map|map|-blastdb_version|{version}|-out|{name}"
        );
        let made = fixture.run(&fixture.called("makeblastdb"), &Fixture::words(&made), &[]);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }
    for extension in ["nin", "nhr", "nsq", "ndb", "nos", "not", "ntf", "nto"] {
        let path = |name: &str| fixture.path().join(format!("{name}.{extension}"));
        fs::copy(path("d"), path("copy")).unwrap();
    }
    fixture
}

/// Runs a program. If BLAST+ is installed, checks that its program gives the same result. Returns
/// exit code and standard output.
fn run(fixture: &Fixture, program: &str, words: &[OsString]) -> (Option<i32>, String) {
    let ours = fixture.run(&fixture.called(program), words, &[]);
    let ours = (ours.status.code(), String::from_utf8_lossy(&ours.stdout).into_owned());
    let own_options = ["-ranks", "-partitions"];
    let is_own = words.iter().any(|word| own_options.iter().any(|option| word == option));
    if let Some(oracle) = fixture.oracle.filter(|_| !is_own) {
        let theirs = fixture.run(&oracle.program(program), words, &[]);
        let theirs = (theirs.status.code(), String::from_utf8_lossy(&theirs.stdout).into_owned());
        assert_eq!(ours, theirs, "{program} {words:?}");
    }
    ours
}

fn split_words(first: &str, line: &str) -> Vec<OsString> {
    Fixture::words(&format!("{first}|{line}"))
}

#[test]
fn a_range_beside_its_volume_limits_searches_without_a_list() {
    let fixture = directory();
    for (line, expected) in SEARCHES {
        let words = split_words("-query|q.fa|-outfmt|6 saccver evalue", line);
        let (code, found) = run(&fixture, "blastn", &words);
        let found = found.replace("AF00000", "").replace(".1\t", " ");
        assert_eq!((code, found.trim_end()), (Some(0), expected), "{line}");
    }
}

/// If a database states no residues, BLAST+ searches each sequence as a database of its own.
/// FleetBLAST does not support this.
#[test]
fn databases_without_counted_residues_are_refused() {
    let fixture = directory();
    fs::write(fixture.path().join("far"), "16\n").unwrap();
    fs::write(fixture.path().join("zero.nal"), "DBLIST d\nLENGTH 0\n").unwrap();
    let stated = "DBLIST d\nLENGTH 0\nSTATS_TOTLEN 12000\nSTATS_NSEQ 60\n";
    fs::write(fixture.path().join("stated_zero.nal"), stated).unwrap();
    for line in ["-db|range d|-gilist|far", "-db|zero", "-db|stated_zero"] {
        let output = fixture.run(&fixture.called("blastn"), &split_words("-query|q.fa", line), &[]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("aliases that count no residues"), "{line}: {said}");
        assert_eq!(output.status.code(), Some(1), "{line}");
    }
}

#[test]
fn sequences_are_retrieved_through_aliases() {
    let fixture = directory();
    for (line, code, expected) in RETRIEVALS {
        let outfmt = if line.contains("-outfmt") { "" } else { "|-outfmt|%o" };
        let words = split_words("-dbtype|nucl", &format!("{line}{outfmt}"));
        let (found_code, found) = run(&fixture, "blastdbcmd", &words);
        let found = found.replace('\n', " ");
        assert_eq!((found_code, found.trim_end()), (Some(code), expected), "{line}");
    }
}

#[test]
fn numbers_of_aliases_are_described() {
    let fixture = directory();
    for (names, code, expected) in INFOS {
        let words = split_words("-dbtype|nucl|-info|-db", names);
        let (found_code, found) = run(&fixture, "blastdbcmd", &words);
        let after = |mark: &str| found.split(mark).nth(1)?.split_whitespace().next();
        let before = |mark: &str| found.split(mark).next()?.split_whitespace().last();
        let shown = [before(" sequences;"), before(" total bases"), after("Longest sequence:")];
        let shown: Vec<_> = shown.into_iter().flatten().collect();
        assert_eq!((found_code, shown.join(" ").as_str()), (Some(code), expected), "{names}");
    }
}
