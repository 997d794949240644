//! Identifiers of all forms, most of them malformed, in `makeblastdb`, in files of taxonomy ids, in
//! queries and in `blastdbcmd`. They are accepted, warned of or refused like in BLAST+.

use std::ffi::OsString;

use fleetblast_oracle::sample;

use crate::common::Fixture;
use crate::makeblastdb::Bench;

/// First words of definition lines.
const WORDS: &[&[u8]] = &[
    b"gnl||id",
    b"gnl|a",
    b"gnl|a|",
    b"gnl||",
    b"gnl||5",
    b"gnl|db|x|y",
    b"gnl|db|x|sp|P12345|N",
    b"gnl|dbSNP|rs5|x|y",
    b"gi|abc",
    b"gi|",
    b"gi|-1",
    b"gi|+5|sp|P12345|N",
    b"gi|99999999999999999999",
    b"gi|5|sp|",
    b"gi|5|x|y",
    b"gi|5|sp|P12345|N|junk",
    b"gi|5|sp|P12345|N|junk|more",
    b"gi|abc|sp|P12345|N",
    b"sp||",
    b"sp|P12345.0|N",
    b"sp|P12345.x|N",
    b"sp||N",
    b"pdb|",
    b"pdb|1AB",
    b"pdb|1ABCxA",
    b"pdb|1ABC|A|x",
    b"ref|",
    b"ref||",
    b"ref|NP_1.x|",
    b"gim|5",
    b"gim|x",
    b"gim|5|lcl|x",
    b"bbm|7",
    b"bbm|+7",
    b"bbm|2147483648",
    b"bbs|8",
    b"pat|US|1",
    b"pat|US|1|x",
    b"lcl|",
    b"lcl||",
    b"lcl|x|y",
    b"lcl|a\"b",
    b"lcl|[b",
    b"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee1",
    b"gnl|db|a1aaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee1",
    b"gb|AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA1.1|",
    b"ab\"c",
    b"a]b",
    b"a>b",
    b"a\x02b",
    b"a[key=val]",
    b"[key=val]",
    b"|a",
    b"x|y",
    b"xy|z",
    b"xyz|w|v",
    b"foo|bar|baz",
    b"foo|sp|P12345|N",
    b"abc||",
    b"1ABC|A",
    b"1ABC_",
    b"sra:x|y",
    b"NP_000001.0",
    b"a\x01sp||",
    b"a\x01gi|abc",
    b"a\x01lcl||",
    b"a\x01NP_000001.0",
    b"a\x01a[b",
    b"a\x01d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1",
    b"a\x01xyz|w",
];

/// Identifiers of the sequences that files of taxonomy ids name in several ways.
const SEQUENCES: &[&str] = &[
    "x",
    "lcl|y",
    "x2|y",
    "abc|def",
    "gnl||id",
    "gnl||5",
    "gnl|db|t",
    "gnl|db|7",
    "NP_000001.1",
    "ref|NP_000002.2|",
    "NP_000003",
    "gi|42|gb|AAB12345.1|L",
    "sp|P12345.2|NAME_X",
    "tr|q12346|n",
    "pdb|1ABC|A",
    "1ABD_B",
    "007",
    "8",
    "pat|US|1|2",
    "bbs|9",
    "gim|11",
    "bbm|12",
    "SRA:S1",
    "loc.1",
    ".dot",
    "pir||S16356",
    "0806162C",
    "lcl|two|sp|P99999|N",
    "1ABC|C",
];

/// Contents of files of taxonomy ids: words to which numbers are added, or whole texts.
const NAMES: &str = "lcl|x y lcl|x2|y lcl|abc|def gnl|abc|def abc:def def id gnl||id db|t t 7 NP_000001 NP_000002 \
    NP_000003.5 42 gi|43 P12345 Q12346 1ABC_A 1ABD 08 US1_2 9 11 gim|12 S1 loc S16356 prf||0806162C two 1ABC_C dot";
const OTHER_NAMES: &str = "NAME_X AAB12345 sp|P12345| sp|p12345 np_000001.1 ref|NP_000001.1| ref|NP_000002| pdb|1ABC \
    pdb|1ABD|B SRA|S1 gnl|SRA|S1 loc.1.2 0806162C | gi| gi|x gnl|db|t|x gi|42|gb|AAB12345.1|L";
const TEXTS: &[&str] = &[
    "\n\nx 5\nx 6\r\n\ny\t7\ny  8\n 8 9 \nloc.1 3 4\nloc.1\n007 -5\n",
    "NP_000001.2 4\nNP_000001 5\nP12345.1 6\n",
    "a|b 4\n",
    "zzz 4\n",
    "",
    "a|b|c 77\n",
    "x +5\ny 05\n",
];

#[test]
fn makeblastdb_takes_and_refuses_them() {
    let bench = Bench::new();
    for word in sample(3, WORDS) {
        let sequence = b" some title\nACGTACGTACGTTACGTACGTA\n";
        bench.write("in.fa", [b">first one\nACGTACGT\n>", *word, sequence].concat());
        let base = ["-in", "in.fa", "-dbtype", "prot", "-parse_seqids"];
        bench.compare(&[&base[..], &["-blastdb_version", "4"]].concat());
    }
    // Both programs accept these identifiers, which are also stored in databases of version 5 and
    // of nucleotides.
    let taken: Vec<u8> = [
        "gnl||id", "gnl|a|", "gim|5", "bbm|7", "pdb|", "ref|", "lcl|", "xy|z", "1ABC|A", "sra:x|y",
        "a|",
    ]
    .iter()
    .flat_map(|word| format!(">{word} a title\nACGTACGTACGT\n").into_bytes())
    .collect();
    bench.write("in.fa", taken);
    for kind in ["prot", "nucl"] {
        bench.compare(&["-in", "in.fa", "-dbtype", kind, "-parse_seqids"]);
    }
}

#[test]
fn taxonomy_ids_find_them() {
    let bench = Bench::new();
    let text = SEQUENCES.iter().map(|id| format!(">{id} t\nACDEFGHIKLMNACDEFGHIKL\n"));
    bench.write("in.fa", text.collect::<String>());
    let numbered = |words: &mut dyn Iterator<Item = &str>| -> String {
        words.zip(100..).map(|(word, number)| format!("{word} {number}\n")).collect()
    };
    let mut maps = vec![
        numbered(&mut SEQUENCES.iter().copied()),
        numbered(&mut NAMES.split_whitespace()),
        numbered(&mut OTHER_NAMES.split_whitespace()),
    ];
    maps.extend(TEXTS.iter().map(ToString::to_string));
    for map in sample(3, maps) {
        bench.write("map.txt", map);
        bench.compare(&[
            "-in",
            "in.fa",
            "-dbtype",
            "prot",
            "-parse_seqids",
            "-taxid_map",
            "map.txt",
        ]);
    }
    bench.compare(&["-in", "in.fa", "-dbtype", "prot", "-taxid_map", "map.txt"]);
}

/// Returns standard error without the lines that FleetBLAST adds in parentheses.
fn messages(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    text.split_inclusive('\n').filter(|line| !line.starts_with('(')).collect()
}

/// Compares both programs on a file, used as query and as subject.
fn compare(fixture: &Fixture, text: &[u8], options: &[&str]) {
    let Some(oracle) = fixture.oracle else { return };
    std::fs::write(fixture.path().join("odd.fa"), text).expect("a file");
    for sides in
        [["-query", "odd.fa", "-subject", "s.fa"], ["-query", "one.fa", "-subject", "odd.fa"]]
    {
        let format = ["-outfmt", "6 qseqid qacc qaccver sseqid sacc score"];
        let arguments: Vec<OsString> =
            sides.iter().chain(options).chain(&format).map(OsString::from).collect();
        let wanted = fixture.run(&oracle.program("blastp"), &arguments, &[]);
        let found = fixture.run(&fixture.ours(), &arguments, &[]);
        let shown = text.escape_ascii();
        assert_eq!(messages(&found.stderr), messages(&wanted.stderr), "{shown} {arguments:?}");
        let streams = [&found.stdout, &wanted.stdout].map(|bytes| String::from_utf8_lossy(bytes));
        assert_eq!(streams[0], streams[1], "{shown} {arguments:?}");
        assert_eq!(found.status.code(), wanted.status.code(), "{shown} {arguments:?}");
    }
}

const LETTERS: &str = "MKVLAADTGHIWQERTYPASDFGHKLCVNM";

#[test]
fn queries_and_subjects_have_them() {
    let fixture = Fixture::new();
    let words = WORDS.iter().filter(|word| !word.contains(&1));
    // BLAST+ asks NCBI for sequences whose identifier is of the import database, and then gives up.
    for word in sample(3, words.filter(|word| !word.starts_with(b"gim|"))) {
        let text = [b">", *word, b" a title\n", LETTERS.as_bytes(), b"\n"].concat();
        compare(&fixture, &text, &["-parse_deflines"]);
    }
}

/// The input is unusual FASTA or no FASTA.
#[test]
fn fasta_is_warned_of_and_refused_alike() {
    let fixture = Fixture::new();
    let gaps = [
        "10",
        "x",
        "10[x",
        "10 [gap-type=foo]",
        "10 [c=b] [a=d]",
        "10 [gap-type]",
        "10 [=x]",
        "-5",
        "0",
        "unk",
        "10 [gap-type=telomere] [gap-type=centromere]",
        "10 [gap-type=Short Arm] [linkage-evidence=map]",
        "10 [gap-type=between-scaffolds]",
        "10 [linkage-evidence=map;foo]",
        "10 [gap-type=contamination] [linkage-evidence=pcr]",
        "10 [gap-type=repeat-between-scaffolds] [gap-type=repeat-within-scaffold]",
    ];
    let gaps = gaps.map(|gap| format!(">a\n{LETTERS}\n>?{gap}\n{LETTERS}\n"));
    let others = [
        format!(">\n>b\n{LETTERS}\n"),
        ">\n".to_owned(),
        format!(">a\n>b\n{LETTERS}\n"),
        LETTERS.to_owned(),
        format!("\n\n;c\n{LETTERS}\n"),
        format!(">x:1-10 y\n{LETTERS}\n"),
        format!(">a\n{LETTERS}\n@@@@%%%%123\n"),
        ">a\n@@@@####$$$$\n".to_owned(),
        format!(">a\nMKV--LAA\n{LETTERS};x\n"),
        format!("hello world, {LETTERS}!!!\n"),
    ];
    for text in sample(3, gaps.iter().chain(&others)) {
        compare(&fixture, text.as_bytes(), &[]);
        compare(&fixture, text.as_bytes(), &["-parse_deflines"]);
    }
}

/// A sequence that is one gap is refused when the next one comes, or at the end.
#[test]
fn sequences_of_one_gap() {
    let bench = Bench::new();
    let gap = ">a a title of many words, which is long enough\n-----\n";
    let bases = ">b a title of many words, which is long enough\nACGTACGTACGTACGTACGT\n";
    for (name, text) in [
        ("gap.fa", gap.to_owned()),
        ("last.fa", format!("{bases}{gap}")),
        ("first.fa", format!("{gap}{bases}")),
        ("empty.fa", format!("{bases}{gap}>c\n\n")),
    ] {
        bench.write(name, text);
        bench.compare(&["-in", name, "-dbtype", "nucl", "-blastdb_version", "4"]);
    }
    let both =
        ["-in", "last.fa first.fa", "-title", "x", "-dbtype", "nucl", "-blastdb_version", "4"];
    bench.compare(&both);
}

/// Identifiers as users may type them for `blastdbcmd`.
const ENTRIES: &[&str] = &[
    "gim|5",
    "bbm|7",
    "bbs|8",
    "5",
    "7",
    "lcl|x",
    "x",
    "gnl||id",
    "id",
    "pat|US|1|2",
    "US1_2",
    "gim|9",
    "x|y|z",
    "1ABC|A",
    "1ABC_A",
    "pdb|1ABC|A",
    "NP_000001.1",
    "foo|bar",
    "gim|x",
    "gi|abc",
    "gnl|a",
    "sp||",
    "pdb|1ab",
    "ref|np_1.x|",
    "pat|US|1",
    "a_[b",
    "foo|sp|p1|n",
    "gi|4294967296",
    "gnl|BL_ORD_ID|0",
    "gnl|BL_ORD_ID|1",
    "gnl|PIG|x",
    "gnl|ti|x",
    "gnl|ti|-5",
    "oth|NP_000001.1",
    "sp|P12345|gi|",
    "gb|AAA00001|ref|NP_000001.1|",
    "007",
];

#[test]
fn blastdbcmd_finds_them() {
    let fixture = Fixture::new();
    let Some(oracle) = fixture.oracle else { return };
    let ids =
        ["gim|5", "bbm|7", "bbs|8", "lcl|x", "gnl||id", "pat|US|1|2", "1ABC|A", "NP_000001.1"];
    let text: String = ids.iter().map(|id| format!(">{id} t\n{LETTERS}\n")).collect();
    std::fs::write(fixture.path().join("ids.fa"), text).expect("a file");
    let link = fixture.path().join("blastdbcmd");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fleetblast"), &link).expect("a link");
    for version in ["4", "5"] {
        let make = [
            "-in",
            "ids.fa",
            "-dbtype",
            "prot",
            "-parse_seqids",
            "-out",
            "ids",
            "-blastdb_version",
            version,
        ];
        let made = fixture.run(&oracle.program("makeblastdb"), &make.map(OsString::from), &[]);
        assert!(made.status.success(), "{}", messages(&made.stderr));
        for entry in ENTRIES {
            let arguments = ["-db", "ids", "-dbtype", "prot", "-entry", entry].map(OsString::from);
            let wanted = fixture.run(&oracle.program("blastdbcmd"), &arguments, &[]);
            let found = fixture.run(&link, &arguments, &[]);
            assert_eq!(messages(&found.stderr), messages(&wanted.stderr), "{entry} {version}");
            assert_eq!(found.stdout, wanted.stdout, "{entry} {version}");
            assert_eq!(found.status.code(), wanted.status.code(), "{entry} {version}");
        }
    }
}
