//! Databases made by both programs from the same made-up sequences, compared file by file.
//!
//! | file | what may differ | why |
//! |---|---|---|
//! | `.?in`, `.?al` | the date | both programs write the current minute; the test repeats both runs
//! if it changes |
//! | `.?aa` | the date | the same with seconds |
//! | all others | nothing | |

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use fleetblast_oracle::{Oracle, sample};
use tempfile::TempDir;

use fastrand::Rng;

/// Path of the program under test, where it has the name `makeblastdb`.
pub const OURS: &str = "./bin/makeblastdb";
/// Number of attempts before a difference counts: the dates of two runs may differ.
const ATTEMPTS: usize = 20;

/// Identifiers of all kinds, in which a number replaces `#`.
const IDS: &[&str] = &[
    "loc#",
    "lcl|Loc#x",
    "#",
    "sp|P#|NAME_#",
    "tr|Q#|N#_X",
    "ref|NP_#.1|",
    "NP_#.2",
    "XM_#.1",
    "gnl|mydb|tag#",
    "gnl|mydb|#",
    "gi|#|gb|AAB#.1|LOC#",
    "gb|AAC#.3|",
    "emb|CAA#.1|",
    "dbj|BAB#|",
    "pdb|1ABC|c#",
    "pir||S#",
    "prf||#A",
    "tpg|DAA#.1|",
    "bbs|#",
    "pat|US|#|1",
    "loc|al#",
    "x:1-#",
    "a,b#",
    "NP_#.1:2-#",
    "P#:c#-1",
    "XM_#.1:0-9",
    "1ABC_A:2-#",
];

const TITLES: &[&str] = &[
    "",
    " a title",
    "  two  blanks ",
    " tab\tand \\t",
    " quote\" & [x=y]",
    " long enough to need a longer length than one byte holds, so that its encoding shows: 0123456789 0123456789 0123456789 0123456789 0123456789",
];

/// Returns FASTA of `count` records, with everything that a file may contain.
pub fn fasta(random: &mut Rng, letters: &str, count: usize) -> String {
    let letters: Vec<char> = letters.chars().collect();
    let mut text = String::new();
    for n in 0..count {
        let id = random.choice(IDS).unwrap().replace('#', &format!("{:05}", 10_000 + n));
        text.push_str(&format!(">{id}{}", random.choice(TITLES).unwrap()));
        if random.usize(..12) == 0 {
            text.push_str(&format!("\u{1}more{n} another title\u{1}gnl|more|{n}"));
        }
        text.push_str(random.choice(["\n", "\n", "\r\n", "\n\n", "\n; comment\n"]).unwrap());
        let length = if random.usize(..20) == 0 { 0 } else { random.usize(..400) };
        let mut line = 0;
        for _ in 0..length {
            let letter = letters[random.usize(..letters.len())];
            // Runs of one letter show how ambiguities are stored.
            let run = if random.usize(..40) == 0 { random.usize(..60) } else { 1 };
            for _ in 0..run {
                text.push(letter);
                line += 1;
            }
            if line > 60 {
                text.push('\n');
                line = 0;
            }
        }
        text.push('\n');
    }
    text
}

/// A directory in which both programs run.
pub struct Bench {
    pub dir: TempDir,
    pub oracle: Option<&'static Oracle>,
    /// Environment variables of both programs.
    environment: Vec<(&'static str, &'static str)>,
}

impl Bench {
    pub fn new() -> Self {
        let oracle = fleetblast_oracle::oracle();
        let dir = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(dir.path().join("bin")).expect("a directory");
        let ours = dir.path().join("bin/makeblastdb");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fleetblast"), ours).expect("a link");
        Self { dir, oracle, environment: Vec::new() }
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.dir.path().join(name), text).expect("a file");
    }

    pub fn run(&self, program: &[&str], arguments: &[&str]) -> Output {
        let mut command = Command::new(program[0]);
        command.args(&program[1..]).args(arguments).current_dir(self.dir.path());
        command.envs(self.environment.iter().copied());
        command.stdin(Stdio::null()).output().expect("the program runs")
    }

    /// Makes the database `x` in a separate directory. Returns the exit code, the log and standard
    /// error, and the database's files.
    fn make(
        &self,
        program: &[&str],
        arguments: &[&str],
    ) -> (Vec<String>, BTreeMap<String, Vec<u8>>) {
        let place = self.dir.path().join("made");
        let _ = fs::remove_dir_all(&place);
        let output = self.run(program, &[arguments, &["-out", "made/x"]].concat());
        let said = [
            format!("{:?}", output.status.code()),
            without_times(&output.stdout),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        ];
        let files = if output.status.success() { files(&place) } else { BTreeMap::new() };
        if !output.status.success() && program[0] == OURS {
            assert!(files_or_none(&place).is_empty(), "something is left: {arguments:?}");
        }
        (said.to_vec(), files)
    }

    /// Compares both programs with the same arguments, except for standard error: BLAST+ prints a
    /// message about the first title three times.
    fn compare_files(&self, arguments: &[&str]) {
        let Some(oracle) = self.oracle else { return };
        let theirs = oracle.program("makeblastdb");
        let theirs = [theirs.to_str().expect("a path of text")];
        let mut difference = String::new();
        for _ in 0..ATTEMPTS {
            let (wanted_said, wanted) = self.make(&theirs, arguments);
            let (said, found) = self.make(&[OURS], arguments);
            difference = differences(&wanted, &found);
            if said[..2] != wanted_said[..2] {
                difference += &format!("\nwanted {wanted_said:#?}\nfound {said:#?}");
            }
            if difference.is_empty() {
                return;
            }
        }
        panic!("{arguments:?}: {difference}");
    }

    /// Compares the messages and files of both programs with the same arguments.
    pub fn compare(&self, arguments: &[&str]) {
        let ours = [OURS];
        let Some(oracle) = self.oracle else {
            let (said, files) = self.make(&ours, arguments);
            assert!(said[0] != "Some(0)" || !files.is_empty(), "{said:?}");
            return;
        };
        let theirs = oracle.program("makeblastdb");
        let theirs = [theirs.to_str().expect("a path of text")];
        let mut difference = String::new();
        for _ in 0..ATTEMPTS {
            let (wanted_said, wanted) = self.make(&theirs, arguments);
            let (said, found) = self.make(&ours, arguments);
            difference = differences(&wanted, &found);
            if said != wanted_said {
                difference += &format!("\nwanted {wanted_said:#?}\nfound {said:#?}");
            }
            if difference.is_empty() {
                return;
            }
        }
        panic!("{arguments:?}: {difference}");
    }
}

fn files_or_none(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    if directory.exists() { files(directory) } else { BTreeMap::new() }
}

fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).expect("the directory");
    let file = |entry: fs::DirEntry| {
        let bytes = entry.path().is_file().then(|| fs::read(entry.path()).expect("a file"));
        Some((entry.file_name().to_string_lossy().into_owned(), bytes?))
    };
    entries.filter_map(|entry| file(entry.expect("an entry"))).collect()
}

/// Lists the names of files that differ, each with the first different byte.
fn differences(wanted: &BTreeMap<String, Vec<u8>>, found: &BTreeMap<String, Vec<u8>>) -> String {
    let mut text = String::new();
    for name in wanted.keys().chain(found.keys().filter(|name| !wanted.contains_key(*name))) {
        match (wanted.get(name), found.get(name)) {
            (Some(a), Some(b)) if a == b => {}
            (Some(a), Some(b)) => {
                let at = a.iter().zip(b).position(|(a, b)| a != b);
                let (a, b) = (a.len(), b.len());
                text += &format!("{name} differs from byte {at:?} on ({a} and {b} bytes)\n");
            }
            (wanted, _) => {
                text += &format!(
                    "{name} is only {}\n",
                    ["ours", "the oracle's"][usize::from(wanted.is_some())]
                )
            }
        }
    }
    text
}

/// Returns the log without the parts that depend on the time.
fn without_times(log: &[u8]) -> String {
    let log = String::from_utf8_lossy(log);
    let lines = log.lines().map(|line| match line {
        // The index has this time too, so it is compared there.
        _ if line.starts_with("Building a new DB, current time: ") => "Building".to_owned(),
        _ if line.starts_with("Adding sequences") => {
            line.split(" sequences in ").next().unwrap_or_default().to_owned()
        }
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

pub const PROTEIN: &str = "ACDEFGHIKLMNPQRSTVWYACDEFGHIKLMNPQRSTVWYacdefgBZXUOJ*-1";
pub const NUCLEOTIDE: &str = "ACGTACGTACGTACGTACGTACGTacgtNNNRYSWKMBDHVUnE-";

/// Options for any input.
const COMMON: &[&[&str]] = &[
    &[],
    &["-blastdb_version", "4"],
    &["-hash_index", "-title", "a title"],
    &["-hash_index", "-blastdb_version", "4", "-taxid", "9606"],
    &["-max_file_sz", "12KB"],
    // Without parsed identifiers and with the hash index, BLAST+ fails if a volume has more
    // sequences than the one before.
    &["-max_file_sz", "3KB", "-blastdb_version", "4"],
];

#[test]
fn proteins() {
    let bench = Bench::new();
    for seed in sample(2, 0..4) {
        bench.write("in.fa", fasta(&mut Rng::with_seed(seed), PROTEIN, 120));
        for options in COMMON {
            bench.compare(&[&["-in", "in.fa", "-dbtype", "prot"], *options].concat());
            let parsed = ["-in", "in.fa", "-dbtype", "prot", "-parse_seqids"];
            bench.compare(&[&parsed, *options].concat());
        }
    }
}

#[test]
fn nucleotides() {
    let bench = Bench::new();
    for seed in sample(2, 10..14) {
        bench.write("in.fa", fasta(&mut Rng::with_seed(seed), NUCLEOTIDE, 120));
        for options in COMMON {
            bench.compare(&[&["-in", "in.fa", "-dbtype", "nucl"], *options].concat());
            let parsed = ["-in", "in.fa", "-dbtype", "nucl", "-parse_seqids"];
            bench.compare(&[&parsed, *options].concat());
        }
    }
}

#[test]
fn taxonomy_ids_of_identifiers() {
    let bench = Bench::new();
    let mut random = Rng::with_seed(20);
    bench.write("in.fa", fasta(&mut random, PROTEIN, 300));
    let mut map = String::from("\nmalformed\n a  b\n");
    for n in 0..300 {
        let id = random
            .choice(["loc#", "P#", "NP_#", "NP_#.1", "tag#", "gnl|mydb|tag#", "#", "AAC#"])
            .unwrap();
        let id = id.replace('#', &format!("{:05}", 10_000 + n));
        map += &format!("{id}{}{}\n", random.choice([" ", "\t"]).unwrap(), random.usize(..700));
    }
    bench.write("map.txt", map);
    bench.write("none.txt", "nobody 7\n");
    for map in ["map.txt", "none.txt"] {
        let base = ["-in", "in.fa", "-dbtype", "prot", "-parse_seqids", "-taxid_map", map];
        bench.compare(&base);
        bench.compare(&[&base[..], &["-blastdb_version", "4"]].concat());
    }
}

#[test]
fn keys_with_many_sequences_and_many_transactions() {
    let bench = Bench::new();
    let mut text = String::new();
    let mut random = Rng::with_seed(30);
    for n in 0..22_000 {
        let group = random.usize(..400);
        let entry = if random.usize(..30) == 0 { 0 } else { group };
        text += &format!(">pdb|{}{:03}|c{n}\nMKTAYIAK\n", 1 + entry % 9, entry / 9);
        text += &format!(">loc{n}\nMKTAYIAKQR\n");
    }
    bench.write("in.fa", text);
    bench.compare(&["-in", "in.fa", "-dbtype", "prot", "-parse_seqids", "-hash_index"]);
}

#[test]
fn masks() {
    let bench = Bench::new();
    let mut random = Rng::with_seed(40);
    let mut text = String::new();
    for n in 0..100 {
        let id =
            random.choice(["loc#", "sp|P#|NAME", "gnl|mydb|tag#", "gi|#|gb|AAB#.1|", "#"]).unwrap();
        text += &format!(">{} a title\n", id.replace('#', &format!("{:05}", 10_000 + n)));
        for _ in 0..random.usize(1..=300) {
            let run = if random.usize(..30) == 0 { random.usize(..40) } else { 1 };
            text +=
                &random.choice(["A", "C", "D", "E", "K", "L", "Q", "S", "W"]).unwrap().repeat(run);
        }
        text.push('\n');
    }
    bench.write("in.fa", text);
    let base = ["-in", "in.fa", "-dbtype", "prot"];
    bench.compare(&[&base[..], &["-mask_data", "missing"]].concat());
    bench.write("junk.txt", "no mask\n");
    bench.compare(&[&base[..], &["-mask_data", "junk.txt"]].concat());
    let Some(oracle) = bench.oracle else { return };
    let segmasker = oracle.program("segmasker");
    let segmasker = [segmasker.to_str().expect("a path of text")];
    for (format, parse) in [("bin", false), ("text", false), ("bin", true), ("text", true)] {
        let name = format!("{format}{parse}");
        let format = format!("maskinfo_asn1_{format}");
        let mut arguments = vec!["-in", "in.fa", "-outfmt", &format, "-out", &name];
        arguments.extend(parse.then_some("-parse_seqids"));
        assert!(bench.run(&segmasker, &arguments).status.success());
        let files = format!("{name},missing");
        for options in [&["-mask_data", &name][..], &["-mask_data", &files, "-max_file_sz", "9KB"]]
        {
            bench.compare(&[&base[..], options].concat());
            bench.compare(&[&base[..], options, &["-parse_seqids"]].concat());
        }
    }
    let two = ["-mask_data", "bintrue,texttrue", "-parse_seqids"];
    bench.compare(&[&base[..], &two].concat());
    bench.compare(&[&base[..], &two, &["-mask_id", "a,b", "-mask_desc", "x:y,z"]].concat());
    bench.compare(&[&base[..], &two, &["-mask_id", "a"]].concat());
    bench.compare(&[&base[..], &two, &["-mask_id", "a,7"]].concat());
}

/// The first title or another one has bytes that are no printable ASCII.
#[test]
fn titles_of_any_bytes() {
    let bench = Bench::new();
    let sequence = "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEKAVQVKVK\n".repeat(2);
    let odd: [&[u8]; 8] = [
        b"a caf\xc3\xa9",
        b"a nul\0title",
        b"a \xff\xfe\x80",
        b"a \x02 \x7f \x1b[0m",
        b"a\x01b \xa0",
        b"\xe9t\xe9 x",
        b"a",
        b"a \xc3\xa9\x01c \xc3\xa9",
    ];
    for (n, title) in odd.into_iter().enumerate() {
        let record = [b">", title, b"\n", sequence.as_bytes()].concat();
        let plain = [b">plain title\n", sequence.as_bytes()].concat();
        let name = format!("odd{n}.fa");
        bench.write(&name, [&record[..], &plain].concat());
        bench.compare_files(&["-in", &name, "-dbtype", "prot", "-title", "x"]);
        bench.write(&name, [plain, record].concat());
        bench.compare(&["-in", &name, "-dbtype", "prot", "-title", "x"]);
    }
    for (n, title) in odd.into_iter().enumerate().filter(|(n, _)| [0, 1, 6].contains(n)) {
        let name = format!("parsed{n}.fa");
        bench.write(&name, [b">", title, b"\n", sequence.as_bytes()].concat());
        bench.compare(&["-in", &name, "-dbtype", "prot", "-title", "x", "-parse_seqids"]);
    }
}

/// Input that is not FASTA is refused after a look at its start. The look goes further where the
/// start is a part of one line, or has comments only.
#[test]
fn starts_of_files() {
    let bench = Bench::new();
    let titled = |length: usize| {
        [b">", &b"protein of foo ".repeat(length / 15 + 1)[..length - 2], b"\n"].concat()
    };
    let lines = |line: &[u8], count: usize| line.repeat(count);
    let sequence = || lines(b"MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEKAVQVKVK\n", 3);
    let ends = |text: Vec<u8>| -> Vec<u8> {
        text.into_iter().map(|c| if c == b'\n' { b'\r' } else { c }).collect()
    };
    // The first title stays plain: BLAST+ would print one more message about it.
    let high = |count: usize| {
        let odd = [b">a ", &b"\xc3".repeat(count)[..], &b"1".repeat(700), b"\n"].concat();
        [b">plain title\n".to_vec(), sequence(), odd].concat()
    };
    let files = [
        [titled(8_094), sequence()].concat(),
        [titled(8_095), sequence()].concat(),
        [titled(8_096), sequence()].concat(),
        [titled(8_097), sequence()].concat(),
        [titled(16_192), sequence()].concat(),
        [titled(16_193), sequence()].concat(),
        [titled(40_000), sequence()].concat(),
        [titled(9_000), lines(b">b\n", 2)].concat(),
        titled(9_000),
        [ends(titled(9_000)), ends(sequence())].concat(),
        [&b">"[..], &b"%".repeat(20_000), b"\n", &sequence()].concat(),
        [lines(b"# t\n", 2_500), b">a\n".to_vec(), lines(b"MKTAYIAKQR\n", 3_000)].concat(),
        [lines(b"-- t\n", 2_500), b">a\n".to_vec(), lines(b"MKTAYIAKQR\n", 3_000)].concat(),
        lines(b"# t\n", 100),
        lines(b"# t\n", 10_000),
        [high(30), sequence()].concat(),
        [high(60), sequence()].concat(),
        [high(60), sequence(), lines(b">b\nMKTAYIAKQR\n", 700)].concat(),
        [high(120), sequence(), lines(b">b\nMKTAYIAKQR\n", 700)].concat(),
    ];
    for (n, file) in files.into_iter().enumerate() {
        let name = format!("start{n}.fa");
        bench.write(&name, file);
        bench.compare(&["-in", &name, "-dbtype", "prot", "-title", "x"]);
    }
}

/// The index has the local time of a zone, however the zone is named.
#[test]
fn time_zones() {
    let mut bench = Bench::new();
    bench.write("in.fa", ">a\nMKTAYIAKQRQISFVKSHFSRQLEERLG\n");
    let zones =
        ["Asia/Tokyo", ":America/New_York", "EST5EDT", "JST-9", "UTC", "No/Such", "", "<+03>-3"];
    let mut logs = Vec::new();
    for zone in zones {
        bench.environment = vec![("TZ", zone)];
        bench.compare(&["-in", "in.fa", "-dbtype", "prot"]);
        let log = bench.run(&[OURS], &["-in", "in.fa", "-dbtype", "prot", "-out", "x"]).stdout;
        logs.push(String::from_utf8_lossy(&log).lines().nth(2).unwrap_or_default().to_owned());
    }
    // Tokyo and UTC are nine hours apart, so they never have the same time of day.
    assert!(logs[0].contains("current time") && logs[0] != logs[4], "{logs:?}");
}

/// An environment variable sets the size of the maps of LMDB files.
#[test]
fn map_sizes() {
    let mut bench = Bench::new();
    bench.write("in.fa", fasta(&mut Rng::with_seed(60), PROTEIN, 120));
    let sizes = ["0", "1", "10000", "20480", "32768", "50000", "100000", "+1000000", "007"];
    let bad = ["", "abc", "-1", " 5", "1e6", "0x10", "1GB", "18446744073709551616"];
    // BLAST+ ends at the second sequence if there is one, with an exception.
    bench.write("one.fa", ">a\nMKTAYIAKQRQISFVKSHFSRQLEERLG\n");
    let sizes = sizes.map(|size| ("in.fa", size)).into_iter();
    for (input, size) in sample(2, sizes.chain(bad.map(|size| ("one.fa", size)))) {
        bench.environment = vec![("BLASTDB_LMDB_MAP_SIZE", size)];
        bench.compare(&["-in", input, "-dbtype", "prot"]);
        bench.compare(&["-in", input, "-dbtype", "prot", "-parse_seqids"]);
    }
    bench.compare(&["-in", "in.fa", "-dbtype", "prot", "-blastdb_version", "4"]);
    bench.environment = vec![("BLASTDB_LMDB_MAP_SIZE", "4096")];
    bench.compare(&["-in", "in.fa", "-dbtype", "prot", "-max_file_sz", "12KB", "-parse_seqids"]);
    // No address space has room for this map.
    bench.environment = vec![("BLASTDB_LMDB_MAP_SIZE", "18446744073709551615")];
    let failed = bench.run(&[OURS], &["-in", "in.fa", "-dbtype", "prot", "-out", "huge/x"]);
    let said = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert_eq!(failed.status.code(), Some(1), "{said}");
    let wanted = "BLAST Database creation error: mdb_env_open: Cannot allocate memory\n";
    assert!(said.contains(wanted) && said.contains("BLASTDB_LMDB_MAP_SIZE"), "{said}");
    assert!(files_or_none(&bench.dir.path().join("huge")).is_empty());
}

#[test]
fn what_cannot_be_made() {
    let bench = Bench::new();
    let inputs: &[(&str, &str)] = &[
        ("empty", ""),
        ("blank", "\n\n; comment\n"),
        ("plain", "MKTAYIAKQR\n"),
        ("none", ">a\n\n>b\n"),
        ("twice", ">a x\nMKT\n>b\nMKV\n>A\nMK\n>c\nMV\n"),
        ("last", ">a x\nMKT\n>b\nMKV\n>A\nMK\n"),
        ("merged", ">a x\u{1}b\nMKT\n>b\u{1}c\nMKV\n>a\u{1}c\nMK\n>d\nMKT\n"),
        ("accession", ">gb|AAA12345.1|\nMKT\n>x\u{1}gb|AAA12345.1|\nMKV\n>y\nMKT\n"),
        ("long", ">aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeef x\nMKT\n"),
        ("bar", ">gi|abc\nMKT\n"),
        ("junk", ">a\nMKT\n>b\n%%%%%%%\n"),
        ("unnamed", ">a\nMKT\n>\nMKV\n"),
        ("nameless", ">a\nMKT\n> \t\n"),
        ("titled", ">\nMKT\n> x\n%%%%%%%\n"),
    ];
    for (name, text) in sample(2, inputs) {
        bench.write(name, text);
        for options in [&[][..], &["-parse_seqids"], &["-parse_seqids", "-blastdb_version", "4"]] {
            for kind in ["prot", "nucl"] {
                bench.compare(&[&["-in", name, "-dbtype", kind], options].concat());
            }
        }
    }
    bench.write("ok", ">a\nMKT\n");
    bench.compare(&["-in", "missing", "-dbtype", "prot"]);
    bench.compare(&["-in", ".", "-dbtype", "prot"]);
    bench.compare(&["-in", "ok", "-dbtype", "prot", "-max_file_sz", "5GB"]);
    bench.compare(&["-in", "ok", "-dbtype", "prot", "-max_file_sz", "x"]);
    bench.compare(&["-in", "ok", "-dbtype", "prot", "-taxid_map", "ok"]);
    bench.compare(&["-in", "-", "-dbtype", "prot"]);
    bench.compare(&["-in", "ok"]);
    bench.compare(&["-in", "ok", "-dbtype", "other"]);
}

#[test]
fn several_inputs_and_compressed_ones() {
    let bench = Bench::new();
    bench.write("one.fa", fasta(&mut Rng::with_seed(50), PROTEIN, 30));
    bench.write("two two.fa", fasta(&mut Rng::with_seed(51), PROTEIN, 30));
    bench.compare(&["-in", "one.fa \"two two.fa\"", "-dbtype", "prot", "-title", "x"]);
    let ours = [OURS];
    let base = ["-dbtype", "prot", "-title", "x", "-parse_seqids"];
    let (_, plain) = bench.make(&ours, &[&base[..], &["-in", "one.fa"]].concat());
    assert!(Command::new("gzip").arg(bench.dir.path().join("one.fa")).status().unwrap().success());
    let (_, packed) = bench.make(&ours, &[&base[..], &["-in", "one.fa.gz"]].concat());
    // The index is not compared, since a minute may have passed.
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert!(!plain.is_empty() && names(&plain) == names(&packed));
    assert!(plain.iter().all(|(name, bytes)| name == "x.pin" || packed[name] == *bytes));
}

#[test]
fn an_older_database_stays_until_the_new_one_is_whole() {
    let bench = Bench::new();
    bench.write("good.fa", ">a\nMKTAYIAKQR\n>b\nMKT\n");
    bench.write("bad.fa", ">a\nMKTAYIAKQR\n>a\nMKT\n>c\nMK\n");
    let ours = [OURS];
    let run = |input: &str, more: &[&str]| {
        let base = ["-dbtype", "prot", "-parse_seqids", "-out", "x", "-title", "t", "-in", input];
        bench.run(&ours, &[&base[..], more].concat())
    };
    assert!(run("good.fa", &["-max_file_sz", "1KB"]).status.success());
    let before = files(bench.dir.path());
    let failed = run("bad.fa", &[]);
    assert_eq!(failed.status.code(), Some(1));
    assert_eq!(differences(&before, &files(bench.dir.path())), "");
    let again = run("good.fa", &["-blastdb_version", "4"]);
    let log = String::from_utf8_lossy(&again.stdout).into_owned();
    assert!(log.contains("Deleted existing Protein BLAST database named "), "{log}");
    let names: Vec<String> = files(bench.dir.path()).into_keys().collect();
    let wanted = ["bad.fa", "good.fa", "x.phr", "x.pin", "x.pog", "x.psd", "x.psi", "x.psq"];
    assert_eq!(names, wanted);
}
