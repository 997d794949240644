//! Forged files with right checksums: records that are left out, doubled or moved, and a few
//! bytes that decompress to gigabytes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use fleetblast_metadata::header::OptionValue;
use fleetblast_metadata::records::{Record, RecordChain, RecordKind, VERSION};
use fleetblast_metadata::{End, Header};

use crate::metadata::{KINDS, must, records, run, search, site, stderr_text};
use crate::sandbox::Sandbox;

/// Exit code for metadata that cannot be read.
const INPUT: i32 = 1;

type Records = Vec<(RecordKind, Vec<u8>)>;

fn write(dir: &Path, name: &str, records: &Records) {
    let (mut chain, mut bytes) = (RecordChain::default(), RecordChain::start());
    for (kind, body) in records {
        bytes.extend(chain.record(*kind, body).unwrap());
    }
    fs::write(dir.join(name), bytes).unwrap();
}

/// Returns forged records: the name of the fault, the records, and words of the message.
fn disorder_records(whole: &Records) -> Vec<(&'static str, Records, &'static str)> {
    let last = whole.len() - 2;
    let without = |at: usize| {
        let mut records = whole.clone();
        records.remove(at);
        records
    };
    let twice = |at: usize| {
        let mut records = whole.clone();
        records.insert(at, whole[at].clone());
        records
    };
    let mut turned = whole.clone();
    turned.swap(2, 3);
    let only_ends = vec![whole[0].clone(), whole[last + 1].clone()];
    let order = "is damaged at offset";
    vec![
        ("the first is missing", without(1), order),
        ("one is missing", without(3), order),
        ("the last is missing", without(last), "its end counts 20 queries in"),
        ("all are missing", only_ends, "and 0 in 0 came"),
        ("the first is doubled", twice(1), order),
        ("one is doubled", twice(3), order),
        ("the last is doubled", twice(last), order),
        ("two are turned", turned, order),
    ]
}

fn is_refused(run: &Output, dir: &Path, what: &str, words: &str) {
    let messages = stderr_text(run);
    assert_eq!(run.status.code(), Some(INPUT), "{what}: {messages}");
    assert!(messages.contains(words) && messages.contains("send it again"), "{what}: {messages}");
    assert!(!dir.join("r").exists(), "{what}: there is a report");
}

#[test]
fn blocks_that_are_missing_doubled_or_moved_are_refused() {
    let dir = site();
    let dir = dir.path();
    for kind in KINDS {
        search(dir, kind, &["-outfmt", "6"]);
        let whole = records(&fs::read(dir.join("m")).unwrap());
        write(dir, "forged", &whole);
        assert!(whole.len() >= 6, "{kind}: {} records", whole.len());
        assert!(fs::read(dir.join("forged")).unwrap() == fs::read(dir.join("m")).unwrap());
        for (what, records, words) in disorder_records(&whole) {
            write(dir, "forged", &records);
            let expanded = run(dir, &["expand", "forged", "-db", "db", "-out", "r"]);
            is_refused(&expanded, dir, &format!("{kind}, {what}"), words);
            // The error is the same if the end of the file is missing.
            if what != "the last is missing" && what != "all are missing" {
                let cut = fs::read(dir.join("forged")).unwrap();
                fs::write(dir.join("forged"), &cut[..cut.len() - 3]).unwrap();
                let expanded = run(dir, &["expand", "forged", "-db", "db", "-out", "r"]);
                is_refused(&expanded, dir, &format!("{kind}, {what}, cut off"), words);
            }
        }
    }
}

#[cfg(feature = "mpi")]
#[test]
fn ranks_refuse_them_too() {
    let dir = site();
    let dir = dir.path();
    search(dir, "hits", &["-outfmt", "6"]);
    let whole = records(&fs::read(dir.join("m")).unwrap());
    for (what, records, words) in disorder_records(&whole).into_iter().step_by(3) {
        write(dir, "forged", &records);
        let program = Path::new(env!("CARGO_BIN_EXE_fleetblast"));
        let mut command = crate::launched::launched(program, 3);
        command.current_dir(dir).args(["expand", "forged", "-db", "db", "-out", "r"]);
        is_refused(&command.output().unwrap(), dir, what, words);
    }
}

/// A block has another encoding than the header names, or the end counts other reports.
#[test]
fn other_kinds_and_other_counts_are_refused() {
    let dir = site();
    let dir = dir.path();
    let [hits, oids, report] = ["hits", "oids", "report"].map(|kind| {
        search(dir, kind, &["-outfmt", "6"]);
        records(&fs::read(dir.join("m")).unwrap())
    });
    let offset = "has another encoding than the header names";
    for (header, blocks) in [(&report, &hits), (&report, &oids), (&hits, &oids), (&oids, &report)] {
        let mut forged = header.clone();
        forged[2] = blocks[2].clone();
        write(dir, "forged", &forged);
        let expanded = run(dir, &["expand", "forged", "-db", "db", "-out", "r"]);
        is_refused(&expanded, dir, "another kind", offset);
    }
    let mut forged = report;
    let last = forged.last_mut().unwrap();
    let record = Record { kind: last.0, offset: 0, body: last.1.clone() };
    let end = End::decode(&record).unwrap();
    last.1 = End { reported_count: end.reported_count + 1, ..end }.encode().unwrap();
    write(dir, "forged", &forged);
    let expanded = run(dir, &["expand", "forged", "-db", "db", "-out", "r"]);
    is_refused(&expanded, dir, "another count", "its end counts other reports");
}

#[test]
fn files_of_an_older_format_are_refused_by_their_version() {
    let dir = site();
    let dir = dir.path();
    search(dir, "hits", &[]);
    let mut bytes = fs::read(dir.join("m")).unwrap();
    bytes[8] -= 1;
    fs::write(dir.join("old"), bytes).unwrap();
    let expanded = run(dir, &["expand", "old", "-db", "db", "-out", "r"]);
    assert_eq!(expanded.status.code(), Some(INPUT));
    let old = format!("has version {} of the format", VERSION - 1);
    assert!(stderr_text(&expanded).contains(&old), "{}", stderr_text(&expanded));
}

/// Returns a frame of zstd: the bytes `start`, then `count` times the byte `fill`. The frame may
/// state a length, which need not be true.
fn zstd_bomb(start: &[u8], (fill, count): (u8, usize), stated: Option<u64>) -> Vec<u8> {
    // The header states a window of 128 KiB.
    let mut frame = match stated {
        None => b"\x28\xb5\x2f\xfd\x00\x38".to_vec(),
        Some(bytes) => [&b"\x28\xb5\x2f\xfd\xc0\x38"[..], &bytes.to_le_bytes()].concat(),
    };
    for part in start.chunks(100_000) {
        frame.extend(&((part.len() as u32) << 3).to_le_bytes()[..3]);
        frame.extend(part);
    }
    const RUN: usize = 1 << 17;
    for at in 0..count.div_ceil(RUN) {
        let is_last = u32::from(at + 1 == count.div_ceil(RUN));
        frame.extend(&((RUN as u32) << 3 | 1 << 1 | is_last).to_le_bytes()[..3]);
        frame.push(fill);
    }
    frame
}

/// Runs the program with a limit of its memory in kB, which a bomb would exceed.
fn run_with_memory_limit(dir: &Path, kilobytes: u32, words: &[&str]) -> Output {
    let script = format!("ulimit -v {kilobytes} && exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.current_dir(dir).args(["-c", &script, env!("CARGO_BIN_EXE_fleetblast")]).args(words);
    command.output().unwrap()
}

#[test]
fn few_bytes_do_not_fill_the_memory_of_expand() {
    let dir = site();
    let dir = dir.path();
    let words = ["expand", "forged", "-db", "db", "-out", "r", "-num_threads", "1"];
    let mut noise = vec![0; 300_000];
    fastrand::Rng::with_seed(1).fill(&mut noise);
    for kind in KINDS {
        search(dir, kind, &["-outfmt", "6"]);
        let whole = records(&fs::read(dir.join("m")).unwrap());
        let wanted = must(dir, &["expand", "m", "-db", "db"]);
        write(dir, "forged", &whole);
        let sound = run_with_memory_limit(dir, 700_000, &words);
        assert!(sound.status.success(), "{}", stderr_text(&sound));
        assert!(fs::read(dir.join("r")).unwrap() == wanted);
        fs::remove_file(dir.join("r")).unwrap();
        for start in [&noise[..], b"", &[6; 20], &[0x80; 7], &[0xff, 0xff, 0xff, 0xff, 15]] {
            // The frame states a length that even a small record may have.
            let bomb = zstd_bomb(start, (0, 3 << 30), Some(60_000));
            let mut records = whole.clone();
            records[0].1 = bomb.clone();
            write(dir, "forged", &records);
            let expanded = run_with_memory_limit(dir, 700_000, &words);
            is_refused(&expanded, dir, kind, "the header cannot be read");
            records = whole.clone();
            records.last_mut().unwrap().1 = bomb.clone();
            write(dir, "forged", &records);
            let expanded = run_with_memory_limit(dir, 700_000, &words);
            is_refused(&expanded, dir, kind, "the end cannot be read");
        }
        for stated in [None, Some(3 << 30)] {
            let mut records = whole.clone();
            records[0].1 = zstd_bomb(b"", (0, 3 << 30), stated);
            write(dir, "forged", &records);
            let expanded = run_with_memory_limit(dir, 700_000, &words);
            let words = stderr_text(&expanded);
            assert_eq!(expanded.status.code(), Some(INPUT), "{kind}: {words}");
            let is_refused =
                ["the header cannot be read", "(-memory)"].map(|it| words.contains(it));
            assert!(is_refused.contains(&true), "{kind}: {words}");
        }
        let memory = run(dir, &["expand", "m", "-db", "db", "-out", "r", "-memory", "1K"]);
        assert_eq!(memory.status.code(), Some(INPUT), "{}", stderr_text(&memory));
        assert!(stderr_text(&memory).contains("bytes of memory at offset"), "{kind}");
        assert!(must(dir, &["expand", "m", "-db", "db", "-memory", "100M"]) == wanted);
    }
}

/// The input decompresses to gigabytes of one sequence or title.
#[test]
fn few_bytes_do_not_fill_the_memory_of_a_search() {
    let sandbox = Sandbox::new();
    sandbox.write("q.fa", ">q\nMKTAYIAKQRQISFVKSHFSRQ\n");
    for (name, start) in [("letters", ">bomb\nMKV\n"), ("title", ">bomb "), ("nothing", "")] {
        sandbox.write("bomb", zstd_bomb(start.as_bytes(), (b'A', 3 << 30), None));
        for words in [
            ["blastp", "-subject", "q.fa", "-query", "bomb"],
            ["blastp", "-query", "q.fa", "-subject", "bomb"],
            ["makeblastdb", "-dbtype", "prot", "-in", "bomb"],
        ] {
            let ended = run_with_memory_limit(&sandbox.path(""), 1_500_000, &words);
            let messages = stderr_text(&ended);
            assert!(!ended.status.success(), "{name}, {words:?}");
            // makeblastdb cannot guess the format of a single line.
            let is_odd =
                words[0] == "makeblastdb" && messages.contains("does not match input format");
            let is_refused =
                messages.contains("decompress the file first") || is_odd && name != "letters";
            assert!(is_refused, "{name}, {words:?}: {messages}");
        }
    }
}

fn must_make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// The headers have values and options that no search writes.
#[test]
fn headers_with_what_no_search_writes_are_refused_by_the_name_of_the_file() {
    let dir = site();
    let dir = dir.path();
    search(dir, "hits", &["-evalue", "1"]);
    let whole = records(&fs::read(dir.join("m")).unwrap());
    let body = whole[0].1.clone();
    let header = Header::decode(&Record { kind: whole[0].0, offset: 0, body }).unwrap();
    let text = |text: &str| OptionValue::Text(text.as_bytes().to_vec());
    let environment = [("no size", "abc"), ("no size", ""), ("no size", "99999999999")]
        .map(|(what, size)| (what, vec![("BATCH_SIZE".to_owned(), size.into())], None));
    let options = [
        ("no matrix", ("matrix", text("NONE"))),
        ("no format", ("outfmt", text("77"))),
        ("no type", ("evalue", OptionValue::Flag)),
        ("out of range", ("evalue", OptionValue::Real(-1.0))),
        ("no range", ("query_loc", text("x-y"))),
        ("a file to write", ("timing", text("planted"))),
        ("the report", ("out", text("planted"))),
    ];
    let options = options.map(|(what, (name, value))| (what, Vec::new(), Some((name, value))));
    for (what, environment, option) in environment.into_iter().chain(options) {
        let mut forged = header.clone();
        forged.environment = environment;
        if let Some((name, value)) = option {
            forged.options.retain(|(other, _)| other != name);
            forged.options.push((name.to_owned(), value));
        }
        let mut records = whole.clone();
        records[0].1 = forged.encode().unwrap();
        write(dir, "forged", &records);
        let expanded = run(dir, &["expand", "forged", "-db", "db", "-out", "r"]);
        is_refused(&expanded, dir, what, "forged is damaged: its header has");
        assert!(!dir.join("planted").exists(), "{what}");
    }
    // The option names a file of this site. Opening this file would never end, since it is a pipe.
    must_make_pipe(&dir.join("pipe"));
    for (program, option) in [
        ("blastn", "window_masker_db"),
        ("blastn", "filtering_db"),
        ("psiblast", "in_pssm"),
        ("psiblast", "in_msa"),
        ("psiblast", "phi_pattern"),
    ] {
        let mut forged = header.clone();
        forged.program = program.to_owned();
        forged.options = vec![(option.to_owned(), text("pipe"))];
        let mut records = whole.clone();
        records[0].1 = forged.encode().unwrap();
        write(dir, "forged", &records);
        let words = ["20", env!("CARGO_BIN_EXE_fleetblast"), "expand", "forged", "-db", "db"];
        let mut command = Command::new("timeout");
        let expanded = command.current_dir(dir).args(words).args(["-out", "r"]).output().unwrap();
        let words = format!("its header has -{option}, which stays at the search site");
        is_refused(&expanded, dir, option, &words);
    }
    // A wrong option at this site does not make the header damaged.
    let expanded = run(dir, &["expand", "m", "-db", "db", "-outfmt", "77"]);
    assert!(!stderr_text(&expanded).contains("damaged"), "{}", stderr_text(&expanded));
}
