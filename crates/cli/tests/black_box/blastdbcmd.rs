//! `blastdbcmd`: standard output, standard error and exit code equal the oracle's on hand-made
//! databases of all kinds.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use fleetblast_oracle::{sample, without_own_sections};

use crate::common::Fixture;
use fastrand::Rng;

/// Definition lines of proteins, with all forms of identifiers, merged entries, and titles that
/// look like identifiers.
const PROTEINS: [&str; 21] = [
    "sp|P69905.2|HBA_HUMAN Hemoglobin alpha",
    "ref|NP_000549.1| ends with a period.",
    "gi|999|gb|AAA12345.1| gi one",
    "gnl|mydb|tag1 general",
    "lcl|loc1 local id",
    "pdb|1ABC|A chain a",
    "pdb|2XYZ|BB",
    "12345 numeric",
    "P12345 bare",
    "tr|Q9XXX1|Q9XXX1_HUMAN tr",
    "prf||0806162C prf",
    "pir||S12345 pir",
    "notitle",
    "gi|1001|ref|NP_000001.2| merged one\x01gi|1002|gb|AAB00002.1| merged >two\x01lcl|m3 three",
    "sp|Q00001|AB_X a >b c >sp|Q00002| d >SRA:SRR1 e  >xx|y z",
    "pat|US|RE33188|1 patent",
    "gi|77|emb|CAA00002.1|",
    "lcl|aB_c.1 mixed case",
    "XP_999999 no version",
    "AAA22222.1 bare gb",
    "pdb|3XYZ| no chain",
];
/// Definition lines of nucleotides, with several forms of identifiers and merged entries.
const NUCLEOTIDES: [&str; 7] = [
    "lcl|seqA first",
    "gi|555|ref|NM_000001.3| second",
    "AB000001.1 bare",
    "gi|600|emb|X55555.1| a\x01gi|601|gb|U12345.1| b",
    "short",
    "amb all codes",
    "long runs",
];
const FIELDS: &str = "%a|%g|%o|%i|%t|%l|%h|%T|%X|%e|%L|%C|%S|%N|%B|%K|%P|%n";
const DATABASES: [&str; 10] = ["p4", "p5", "pp4", "pp5", "n4", "n5", "np4", "np5", "pm5", "pv5"];

/// Command lines that are run once, instead of with each database; `;` separates words.
const ALONE: &[&str] = &[
    "-h",
    "-help",
    "",
    "-bogus",
    "x",
    "-db",
    "-entry;a;-info",
    "-exact_length",
    "-recursive",
    "-list_outfmt;x",
    "-strand;both",
    "-dbtype;PROT",
    "-line_length;0",
    "-db;nosuch;-info",
    "-db;;-info",
    "-db;p5;-out;nosuch/x;-info",
    "-db;p5 pp5;-info",
    "-db;pp5 pp4;-info",
    "-db;pp5 pp5;-entry;all;-outfmt;%o %a",
    "-db;pv5 pm5;-info",
    "-show_blastdb_search_path",
    "-list;.",
    "-list;.;-recursive",
    "-list;;-dbtype;nucl",
    "-list;nosuch",
    "-list;.;-list_outfmt;%f|%p|%t|%d|%l|%n|%U|%v%%|",
    "-list;.;-list_outfmt;%%%f",
    "-list;.;-list_outfmt;%z",
    "-list;.;-list_outfmt;%f%",
    "-list;.;-remove_redundant_dbs",
    "-db;pp5;-entry;nosuch;-logfile;nosuch/log",
];

/// Options that are run with each database; `;` separates words.
const WITH: &[&str] = &[
    "",
    "-info",
    "-info;-exact_length",
    "-info;-dbtype;nucl",
    "-info;-dbtype;prot",
    "-tax_info",
    "-tax_info;-outfmt;x%T %% %q %S|%",
    "-tax_info;-outfmt;x",
    "-entry;all",
    "-entry;all;-ctrl_a",
    "-entry;all;-long_seqids",
    "-entry;all;-long_seqids;-ctrl_a;-range;2-9",
    "-entry;all;-long_seqids;-range;2-4;-strand;minus",
    "-entry;all;-line_length;7;-strand;minus",
    "-entry;all;-range;3-10;-strand;minus",
    "-entry;all;-range;70-200",
    "-entry;all;-range;90-",
    "-entry;all;-range;0-",
    "-entry;all;-range;5",
    "-entry;all;-range;5-3",
    "-entry;all;-range;0-3",
    "-entry;all;-range;-3",
    "-entry;all;-range;a-3",
    "-entry;all;-range;99999999999-",
    "-entry;all;-outfmt;%s",
    "-entry;all;-outfmt;%s %l;-range;3-20;-strand;minus",
    "-entry;all;-outfmt;%o%%",
    "-entry;all;-outfmt;x%%y%",
    "-entry;all;-outfmt;%a%z",
    "-entry;all;-outfmt;xy",
    "-entry;all;-outfmt;%m",
    "-entry;all;-outfmt;%a %m21",
    "-entry;all;-outfmt;%a %m99",
    "-entry;all;-outfmt;%b%f",
    "-entry;all;-outfmt;%d %b",
    "-entry;all;-outfmt;%b",
    "-entry;all;-outfmt;%d",
    "-entry;all;-outfmt;%a%m99%b;-range;3-9;-strand;minus;-ctrl_a;-long_seqids",
    "-entry;all;-outfmt;%d%m;-mask_sequence_with;99",
    "-entry_batch;batch.txt;-outfmt;%b",
    "-entry_batch;batch.txt;-outfmt;%b;-target_only",
    "-entry_batch;batch.txt;-outfmt;%d;-target_only",
    "-entry_batch;batch.txt;-outfmt;%d;-get_dups",
    "-taxids;9606;-outfmt;%b;-target_only;-dbtype;prot",
    "-ipg;3",
    "-ipg;3;-outfmt;%b;-range;2-4",
    "-ipg;3;-target_only",
    "-ipg_batch;batch.txt",
    "-ipg_batch;nosuch.txt",
    "-entry;all;-mask_sequence_with;21",
    "-entry;all;-mask_sequence_with;40;-outfmt;xy",
    "-entry;all;-mask_sequence_with;21;-range;5-3;-outfmt;xy",
    "-entry;all;-mask_sequence_with;21;-strand;minus;-range;3-40",
    "-entry;all;-mask_sequence_with;21;-outfmt;%s",
    "-entry;all;-mask_sequence_with;-1;-outfmt;%f",
    "-entry;all;-mask_sequence_with;seg",
    "-entry_batch;batch.txt",
    "-entry_batch;batch.txt;-get_dups",
    "-entry_batch;batch.txt;-target_only;-outfmt;%a %s",
    "-entry_batch;nosuch.txt",
    "-taxids;9606;-outfmt;%a %T",
    "-taxids;562, 9606;-target_only;-dbtype;prot",
    "-taxids;5",
    "-taxids;x",
    "-taxids;",
    "-taxids;9606;-strand;minus;-outfmt;%s",
    "-taxids;9606;-strand;minus;-range;2-9",
    "-taxidlist;taxids.txt",
    "-taxidlist;nosuch.txt",
];

/// Identifiers as people may type them.
const IDS: &[&str] = &[
    "nosuch",
    "loc1",
    "LOC1",
    "lcl|loc1",
    "p69905",
    "P69905.9",
    "sp|P69905.2|HBA_HUMAN",
    "NP_000549",
    "ref|NP_000549.1|",
    "999",
    "gi|1002",
    "12345",
    "gnl|mydb|tag1",
    "mydb:tag1",
    "1ABC_A",
    "1abc_a",
    "pdb|1ABC|A",
    "pdb|1ABC",
    "pdb|3XYZ",
    "3xyz  ",
    "3xyz   ",
    "P12345 ",
    "prf||0806162C",
    "S12345",
    "m3",
    "AAB00002",
    "aB_c.1",
    "nosuch,loc1",
    "loc1,,loc1",
    "gnl|BL_ORD_ID|3",
    "seqA",
    "U12345",
    "600",
    "USRE33188_1",
    " loc1",
    ">tr|x|y",
    ">Sp|q_1|Z",
    "ref|AAB00002.1|",
    "gb|NP_000549.1|",
];

/// Options that would write a sequence twice; `;` separates words.
const TWICE: &[&str] = &[
    "-entry;999,AAA12345",
    "-entry;999,AAA12345;-range;2-9",
    "-entry;999,AAA12345;-outfmt;%s",
    "-entry;1001,AAB00002;-target_only",
    "-entry;AAB00002,AAB00002;-target_only;-ctrl_a;-line_length;7",
    "-entry_batch;twice.txt",
];

const BATCH: &str = "loc1 3-10\n  aB_c.1   5-\t\nnosuch 1-2\n\nAAA12345 minus 2-4\nP12345 plus\n1002 77\n999\n\
     notitle x-y\r1-2\n>tr|x|y\n>Sp|q_1|Z 1-2\n>abc\nseqA MINUS 2-5\n600 1-3 2-4 \n555\nloc1 2-3 21";

fn sequence(random: &mut Rng, alphabet: &[u8], length: usize) -> String {
    (0..length).map(|_| char::from(alphabet[random.usize(..alphabet.len())])).collect()
}

fn write_fasta(dir: &Path) {
    let mut random = Rng::with_seed(7);
    let mut proteins = String::new();
    for (i, line) in PROTEINS.iter().enumerate() {
        let length = [5, 79, 80, 81, 160, 243][i % 6];
        let own = sequence(&mut random, b"ACDEFGHIKLMNPQRSTVWY", length);
        let odd = if i == 2 { "BXZUOJ*-QQQQQQQQQQQQQQQQQQ" } else { "" };
        proteins.push_str(&format!(">{line}\n{odd}{own}\n"));
    }
    fs::write(dir.join("p.fa"), proteins).expect("proteins");
    let mut nucleotides = String::new();
    for (i, line) in NUCLEOTIDES.iter().enumerate() {
        let mut bases = |length| sequence(&mut random, b"ACGT", length);
        let sequence = match i {
            0 => "ACGTNNNNNRYAC".to_owned(),
            4 => "A".to_owned(),
            5 => "RYKMSWBDHVNACGTUacgtu".to_owned(),
            6 => format!("{}{}{}R{}", bases(100), "N".repeat(5000), bases(501), bases(7)),
            _ => bases(79 + i),
        };
        nucleotides.push_str(&format!(">{line}\n{sequence}\n"));
    }
    fs::write(dir.join("n.fa"), nucleotides).expect("nucleotides");
    let taxids = "P69905.2 9606\nNP_000549.1 9606\nloc1 562\nAAB00002.1 7227\nNP_000001.2 9606\n";
    fs::write(dir.join("map.txt"), taxids).expect("taxids");
    fs::write(dir.join("taxids.txt"), "562\n\n9606\n").expect("taxids");
    fs::write(dir.join("batch.txt"), BATCH).expect("a batch");
    fs::write(dir.join("twice.txt"), "loc1 2-4\nloc1\nloc1\nP12345\n").expect("a batch");
}

fn make(dir: &Path, program: &str, words: &str) {
    let output = fleetblast_oracle::command(program)
        .args(words.split(' '))
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .expect("a program of BLAST+");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {words}: {text}");
}

fn databases(dir: &Path) {
    write_fasta(dir);
    let run = |words: String| make(dir, "makeblastdb", &words);
    for version in [4, 5] {
        let made = format!("-blastdb_version {version}");
        run(format!("-in p.fa -dbtype prot {made} -out p{version} -title plain"));
        run(format!(
            "-in p.fa -dbtype prot {made} -out pp{version} -parse_seqids -taxid_map map.txt"
        ));
        run(format!("-in n.fa -dbtype nucl {made} -out n{version}"));
        run(format!("-in n.fa -dbtype nucl {made} -out np{version} -parse_seqids -taxid 9606"));
    }
    make(
        dir,
        "segmasker",
        "-in p.fa -infmt fasta -parse_seqids -outfmt maskinfo_asn1_bin -out seg",
    );
    make(dir, "makeblastdb", "-in p.fa -dbtype prot -out pm5 -parse_seqids -mask_data seg");
    make(dir, "makeblastdb", "-in p.fa -dbtype prot -out pv5 -parse_seqids -max_file_sz 1500");
    assert!(dir.join("pv5.01.pin").exists(), "several volumes");
}

/// Splits a command line into words, which `;` separates.
fn split_words(line: &str) -> Vec<&str> {
    if line.is_empty() { vec![] } else { line.split(';').collect() }
}

fn run(dir: &Path, program: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(words).current_dir(dir).env_remove("BLASTDB").stdin(Stdio::null());
    command.output().expect("the program runs")
}

/// Removes the details that FleetBLAST adds to messages, in parentheses on lines of their own.
fn without_details(text: &[u8]) -> Vec<u8> {
    let lines = text.split_inclusive(|&b| b == b'\n').filter(|line| !line.starts_with(b"("));
    lines.flatten().copied().collect()
}

#[test]
fn everything_is_the_oracles() {
    let fixture = Fixture::new();
    let Some(oracle) = fixture.oracle else { return };
    let theirs = oracle.program("blastdbcmd");
    let dir = fixture.path();
    databases(dir);
    let ours = dir.join("blastdbcmd");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fleetblast"), &ours).expect("a link");
    let mut lines: Vec<Vec<&str>> = ALONE.iter().map(|line| split_words(line)).collect();
    for database in DATABASES {
        let with = |rest: Vec<&'static str>| [vec!["-db", database], rest].concat();
        lines.extend(WITH.iter().map(|line| with(split_words(line))));
        lines.push(with(vec!["-entry", "all", "-outfmt", FIELDS]));
        if database.len() == 3 {
            lines.extend(IDS.iter().map(|id| with(vec!["-entry", id])));
            let target = ["-target_only", "-outfmt", "%a|%i|%t"];
            lines.extend(IDS.iter().map(|id| with([&["-entry", id], &target[..]].concat())));
            lines.extend(IDS.iter().map(|id| with(vec!["-entry", id, "-target_only"])));
            for format in ["%b", "%d"] {
                let target = ["-target_only", "-outfmt", format];
                lines.extend(IDS.iter().map(|id| with([&["-entry", id], &target[..]].concat())));
            }
            lines.extend(
                TWICE.iter().map(|line| with([&split_words(line)[..], &["-long_seqids"]].concat())),
            );
        }
    }
    assert!(lines.len() > 1000, "{} lines", lines.len());
    let lines = sample(20, lines);
    let mut different = Vec::new();
    for line in &lines {
        let (expected, found) = (run(dir, &theirs, line), run(dir, &ours, line));
        let same = expected.status.code() == found.status.code()
            && expected.stdout == without_own_sections(&found.stdout)
            && expected.stderr == without_details(&found.stderr);
        if !same {
            different.push(format!("{line:?}\n  oracle {expected:?}\n  ours   {found:?}"));
        }
    }
    assert!(
        different.is_empty(),
        "{} of {}:\n{}",
        different.len(),
        lines.len(),
        different.join("\n")
    );
}

/// Makes the database `m`, whose sequence has two merged definition lines, without the oracle.
fn make_merged_database(dir: &Path, program: &Path) {
    let text = ">gi|1001|ref|NP_000001.2| one\x01gi|1002|gb|AAB00002.1| two\nMKVLAADTGHIWQERTYPASDFGHKLC\n";
    fs::write(dir.join("m.fa"), text).expect("a sequence");
    let made = split_words("makeblastdb;-in;m.fa;-dbtype;prot;-parse_seqids;-out;m");
    assert!(run(dir, program, &made).status.success());
}

#[test]
fn targets_have_their_own_tag_and_are_written_once() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let program = Path::new(env!("CARGO_BIN_EXE_fleetblast"));
    make_merged_database(dir.path(), program);
    for (line, code, lines, message) in [
        ("gb|AAB00002.1|;-target_only", 0, 2, ""),
        ("ref|AAB00002.1|;-target_only", 1, 0, "oid headers do not contain target gi/seq_id."),
        ("ref|AAB00002.1|;-target_only;-outfmt;%a", 1, 0, "find target id ref|AAB00002.1|"),
        ("1001,1001;-long_seqids", 1, 2, "Duplicate Seq-id gi|1001 in FASTA output"),
        ("1001,1001;-long_seqids;-range;1-5", 0, 4, ""),
        ("1001,1001", 0, 4, ""),
    ] {
        let words = [vec!["blastdbcmd", "-db", "m", "-entry"], split_words(line)].concat();
        let output = run(dir.path(), program, &words);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{line} {text}");
        assert_eq!(output.stdout.iter().filter(|&&b| b == b'\n').count(), lines, "{line}");
        assert!(text.trim_end().ends_with(message), "{line} {text}");
    }
}

#[test]
fn an_older_file_stays_if_the_database_cannot_be_opened() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let program = Path::new(env!("CARGO_BIN_EXE_fleetblast"));
    make_merged_database(dir.path(), program);
    let file = dir.path().join("r");
    for (database, code, before, after) in [
        ("nosuch", 2, None, ""),
        ("nosuch", 2, Some("old"), "old"),
        ("m", 0, Some("old"), "NP_000001.2\nAAB00002.1\n"),
    ] {
        before.map_or_else(|| Ok(()), |text| fs::write(&file, text)).expect("a file");
        let words = ["blastdbcmd", "-db", database, "-entry", "all", "-outfmt", "%a", "-out", "r"];
        assert_eq!(run(dir.path(), program, &words).status.code(), Some(code), "{database}");
        assert_eq!(fs::read_to_string(&file).expect("a file"), after, "{database}");
    }
}

/// If a header in the middle of the database is damaged, `blastdbcmd -out` leaves an older output
/// file unchanged, although it has read the entries before the damage.
#[test]
fn an_older_file_stays_if_the_database_is_damaged() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let program = Path::new(env!("CARGO_BIN_EXE_fleetblast"));
    let sequence = |number| format!(">lcl|s{number} some title\nMKVLAAGIVGLCAKAYLE\n");
    fs::write(dir.path().join("d.fa"), (0..3).map(sequence).collect::<String>()).expect("a file");
    let made = ["makeblastdb", "-in", "d.fa", "-dbtype", "prot", "-parse_seqids", "-out", "d"];
    assert!(run(dir.path(), program, &made).status.success());
    let headers = dir.path().join("d.phr");
    let mut bytes = fs::read(&headers).expect("headers");
    let third = bytes.len() / 3;
    bytes[third + 2..third + 20].fill(0xff);
    fs::write(&headers, bytes).expect("headers");
    let file = dir.path().join("r");
    for before in ["old", ""] {
        fs::write(&file, before).expect("a file");
        let words = ["blastdbcmd", "-db", "d", "-entry", "all", "-out", "r"];
        assert_eq!(run(dir.path(), program, &words).status.code(), Some(1));
        let after = fs::read_to_string(&file).expect("a file");
        assert!(if before.is_empty() { after.starts_with(">s0 some") } else { after == before });
    }
}

/// BLAST+ tries nucleotides where there are no proteins, but not after an exception.
#[test]
fn proteins_without_their_lmdb_file_are_not_taken_for_nucleotides() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let program = Path::new(env!("CARGO_BIN_EXE_fleetblast"));
    fs::write(dir.path().join("d.fa"), ">lcl|s title\nMKVLAAGIVGLCAKAYLE\n").expect("a file");
    let made = ["makeblastdb", "-in", "d.fa", "-dbtype", "prot", "-parse_seqids", "-out", "d"];
    assert!(run(dir.path(), program, &made).status.success());
    fs::remove_file(dir.path().join("d.pdb")).expect("a file");
    let output = run(dir.path(), program, &["blastdbcmd", "-db", "d", "-info"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(255), "{text}");
    assert!(text.starts_with("Error: mdb_env_open: No such file or directory\n"), "{text}");
}

#[test]
fn a_log_takes_the_messages_and_keeps_what_it_has() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let program = Path::new(env!("CARGO_BIN_EXE_fleetblast"));
    for _ in 0..2 {
        let output =
            run(dir.path(), program, &["blastdbcmd", "-db", "nosuch", "-info", "-logfile", "log"]);
        assert_eq!((output.status.code(), &output.stderr[..]), (Some(2), &b""[..]));
    }
    let log = fs::read_to_string(dir.path().join("log")).expect("a log");
    let message =
        "BLAST Database error: No alias or index file found for nucleotide database [nosuch]";
    assert_eq!(log.matches(message).count(), 2, "{log}");
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    let program = Path::new(env!("CARGO_BIN_EXE_fleetblast"));
    let words = split_words("-ipg;3;-taxids;9");
    let output = run(Path::new("."), program, &[&["blastdbcmd"], &words[..]].concat());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let refused = "taxids with -ipg or -ipg_batch";
    let expected = format!("does not support {refused} yet; run NCBI blastdbcmd instead\n");
    assert!(output.status.code() == Some(1) && text.ends_with(&expected), "{text}");
}
