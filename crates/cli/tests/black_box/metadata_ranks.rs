//! Metadata that ranks write. The bytes are those of one process if the blocks are the same. The
//! report is the same in any case, however often ranks are killed.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(feature = "mpi")]
use fleetblast_oracle::{sample, sample_from};
use tempfile::TempDir;

use crate::family::{family, queries};
use fastrand::Rng;

pub(crate) const KINDS: [&str; 3] = ["oids", "hits", "report"];

pub(crate) fn fleetblast(dir: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
    command.current_dir(dir).args(words).stdin(Stdio::null());
    command
}

pub(crate) fn stderr_text(run: &Output) -> String {
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(!said.contains("panicked"), "{said}");
    said
}

pub(crate) fn must(mut command: Command) -> Vec<u8> {
    let run = command.output().unwrap();
    assert!(run.status.success(), "{command:?}: {}", stderr_text(&run));
    run.stdout
}

fn fasta(sequences: &[(String, Vec<u8>)]) -> String {
    let text = |(title, letters): &(String, Vec<u8>)| {
        format!(">{title}\n{}\n", String::from_utf8_lossy(letters))
    };
    sequences.iter().map(text).collect()
}

/// Makes a directory with this number of queries in `q.fa`, and with the database `db`.
pub(crate) fn proteins(count: usize) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("q.fa"), queries(5, count).concat()).unwrap();
    make_database(dir.path(), "prot", &fasta(&family(1, 60)));
    dir
}

/// Makes a directory with this number of nucleotide queries in `q.fa`, and with the database `db`.
/// Some of the queries cannot be searched.
pub(crate) fn bases(count: u64) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut random = Rng::with_seed(9);
    let mut some = |length: usize| -> String {
        (0..length).map(|_| b"ACGT"[random.usize(..4)] as char).collect()
    };
    let subjects: Vec<String> = (0..40).map(|_| some(900)).collect();
    let text = |(number, bases): (usize, &String)| format!(">s{number} of bases\n{bases}\n");
    make_database(dir.path(), "nucl", &subjects.iter().enumerate().map(text).collect::<String>());
    let mut queries = String::new();
    for number in 0..count {
        let from = random.usize(..500);
        let subject = &subjects[random.usize(..40)];
        let bases = match number % 5 {
            0 => "N".repeat(250),
            _ => format!("{}{}", &subject[from..from + 200], &subjects[3][from..from + 90]),
        };
        queries += &format!(">q{number}\n{bases}\n");
    }
    fs::write(dir.path().join("q.fa"), queries).unwrap();
    dir
}

pub(crate) fn make_database(dir: &Path, kind: &str, text: &str) {
    fs::write(dir.join("db.fa"), text).unwrap();
    let words = ["makeblastdb", "-in", "db.fa", "-dbtype", kind, "-out", "db", "-title", "db"];
    must(fleetblast(dir, &words));
}

pub(crate) const BLASTP: [&str; 7] =
    ["blastp", "-query", "q.fa", "-db", "db", "-block_residues", "500"];
pub(crate) const BLASTN: [&str; 7] =
    ["blastn", "-query", "q.fa", "-db", "db", "-block_residues", "3000"];

/// Returns a command that searches in small batches.
fn search(dir: &Path, options: &[&str]) -> Command {
    let mut command = fleetblast(dir, &BLASTP);
    command.args(options).env("BATCH_SIZE", "400");
    command
}

fn take_file(dir: &Path, name: &str) -> Vec<u8> {
    let bytes = fs::read(dir.join(name)).unwrap();
    fs::remove_file(dir.join(name)).unwrap();
    bytes
}

#[test]
fn any_ranks_write_the_bytes_of_one_process() {
    let dir = proteins(40);
    let dir = dir.path();
    for kind in KINDS {
        let base = ["-metadata_out", "m", "-metadata", kind, "-outfmt", "7"];
        must(search(dir, &base));
        let wanted = take_file(dir, "m");
        let shapes: [&[&str]; 3] =
            [&["-ranks", "1"], &["-ranks", "3"], &["-ranks=4", "-checkpoint", "kept"]];
        for shape in shapes {
            must(search(dir, &[&base[..], shape].concat()));
            assert!(take_file(dir, "m") == wanted, "{kind}, {shape:?}");
        }
        assert!(!dir.join("kept").exists());
        let to_pipe = ["-metadata_out", "-", "-metadata", kind, "-outfmt", "7", "-ranks", "2"];
        assert!(must(search(dir, &to_pipe)) == wanted, "{kind}, to a pipe");
    }
}

#[cfg(feature = "mpi")]
#[test]
fn processes_write_the_bytes_of_one() {
    let dir = proteins(40);
    let dir = dir.path();
    let strategies = ["merge", "individual", "collective"];
    for kind in KINDS {
        let base = ["-metadata_out", "m", "-metadata", kind];
        must(search(dir, &base));
        let wanted = take_file(dir, "m");
        for strategy in sample(2, strategies) {
            let mut command =
                crate::launched::launched(Path::new(env!("CARGO_BIN_EXE_fleetblast")), 3);
            command.args(BLASTP).args(base).current_dir(dir).env("BATCH_SIZE", "400");
            // The strategy does not change the blocks.
            command.arg(format!("-output={strategy}")).stdin(Stdio::null());
            must(command);
            let expand = |name: &str| must(fleetblast(dir, &["expand", name, "-db", "db"]));
            fs::write(dir.join("w"), &wanted).unwrap();
            assert!(expand("m") == expand("w"), "{kind}, {strategy}");
            let own = take_file(dir, "m");
            let (own, wanted) = (records(&own), records(&wanted));
            assert!(own[1..] == wanted[1..], "{kind}, {strategy}: other blocks");
        }
    }
    let wanted = must(search(dir, &[]));
    for strategy in sample_from(1, 2, strategies) {
        let mut command = crate::launched::launched(Path::new(env!("CARGO_BIN_EXE_fleetblast")), 3);
        command.args(BLASTP).args(["-metadata_out", "m", "-metadata", "auto", "-groups", "2"]);
        command.args(["-output", strategy]).stdin(Stdio::null());
        must({
            command.current_dir(dir).env("BATCH_SIZE", "400");
            command
        });
        assert!(must(fleetblast(dir, &["expand", "m", "-db", "db"])) == wanted, "{strategy}");
    }
}

/// Returns the bodies of records.
#[cfg(feature = "mpi")]
fn records(bytes: &[u8]) -> Vec<Vec<u8>> {
    let (mut rest, mut bodies) = (&bytes[12..], Vec::new());
    while !rest.is_empty() {
        let length = u32::from_le_bytes(rest[4..8].try_into().unwrap()) as usize;
        bodies.push(rest[24..24 + length].to_vec());
        rest = &rest[24 + length..];
    }
    bodies
}

#[test]
fn where_batches_depend_on_what_is_found_the_report_is_the_same() {
    let dir = bases(150);
    let dir = dir.path();
    for format in ["5", "0", "6"] {
        let wanted = must(fleetblast(dir, &[&BLASTN[..], &["-outfmt", format]].concat()));
        assert!(wanted.len() > 10_000);
        for kind in KINDS {
            let base = ["-metadata_out", "m", "-metadata", kind, "-ranks", "3"];
            must(fleetblast(dir, &[&BLASTN[..], &base, &["-outfmt", format]].concat()));
            let from: &[&str] = if kind == "report" { &[] } else { &["-db", "db"] };
            let made = must(fleetblast(dir, &[&["expand", "m"], from].concat()));
            assert!(made == wanted, "{kind} in format {format}");
        }
    }
}

/// Each group chooses encodings by its own statistics, which differ between runs; the report is the
/// same.
#[test]
fn whatever_ranks_choose_the_report_is_the_same() {
    let (few, many) = (proteins(40), bases(150));
    let shapes: [&[&str]; 3] =
        [&["-ranks", "1"], &["-ranks", "4", "-groups", "2"], &["-ranks=3", "-checkpoint", "kept"]];
    for (dir, words, format) in
        [(&few, &BLASTP, "0"), (&few, &BLASTP, "5"), (&many, &BLASTN, "0"), (&many, &BLASTN, "7")]
    {
        let dir = dir.path();
        let searched = |options: &[&str]| {
            must(fleetblast(dir, &[&words[..], &["-outfmt", format], options].concat()))
        };
        let wanted = searched(&[]);
        for (limit, shape) in ["0", "0.2", "1"].into_iter().zip(shapes) {
            let base = ["-metadata_out", "m", "-metadata", "auto", "-metadata_limit", limit];
            searched(&[&base[..], &["-timing", "t"], shape].concat());
            let made = must(fleetblast(dir, &["expand", "m", "-db", "db"]));
            assert!(made == wanted, "{} in format {format}, {limit}, {shape:?}", words[0]);
            assert!(count_blocks(dir) > 0, "{shape:?}");
        }
    }
}

/// Returns the number of blocks in the file of `-timing`. Checks that each block has an encoding.
fn count_blocks(dir: &Path) -> u64 {
    let timing = fs::read(dir.join("t")).unwrap();
    let timing: serde_json::Value = serde_json::from_slice(&timing).unwrap();
    let blocks = |what: &str| -> u64 {
        let parts = timing["metadata"][what].as_array().unwrap();
        parts.iter().map(|it| it["blocks"].as_u64().unwrap()).sum()
    };
    assert_eq!(blocks("choices"), blocks("kinds"), "{timing}");
    blocks("kinds")
}

/// Ranks write to a pipe, and `expand` reads from one: any program between them may encrypt.
#[test]
fn metadata_go_through_pipes() {
    let dir = proteins(40);
    let dir = dir.path();
    let wanted = must(search(dir, &["-outfmt", "5"]));
    for (kind, options) in [("hits", &[][..]), ("report", &["-ranks", "2"]), ("auto", &[])] {
        let start = ["-metadata_out", "-", "-metadata", kind, "-outfmt", "5"];
        let metadata = must(search(dir, &[&start[..], options].concat()));
        let mut command = fleetblast(dir, &["expand", "-", "-db", "db"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let writer = std::thread::spawn(move || pipe.write_all(&metadata).unwrap());
        assert!(child.wait_with_output().unwrap().stdout == wanted, "{kind}");
        writer.join().unwrap();
    }
    // An encrypted file is refused as no metadata.
    fs::write(dir.join("m"), b"age-encryption.org/v1\n-> X25519 ...\n").unwrap();
    let run = fleetblast(dir, &["expand", "m", "-db", "db"]).output().unwrap();
    assert!(stderr_text(&run).contains("m is no metadata of a search"), "{}", stderr_text(&run));
}

/// Returns the number of bytes of the records in a checkpoint.
pub(crate) fn kept(dir: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    let size = |path: &Path| match path.is_dir() {
        true => kept(path),
        false if path.extension().is_some_and(|own| own == "zst") => {
            fs::metadata(path).map_or(0, |meta| meta.len())
        }
        false => 0,
    };
    entries.filter_map(|entry| Some(size(&entry.ok()?.path()))).sum()
}

/// Waits until a checkpoint has more bytes of records than `before`, or the run ends.
fn await_more(child: &mut Child, checkpoint: &Path, before: u64) {
    let start = Instant::now();
    while kept(checkpoint) <= before && child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(120), "nothing is kept");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_killed_job_goes_on_to_the_same_bytes() {
    let dir = proteins(120);
    let dir = dir.path();
    let checkpoint = dir.join("kept");
    let mut killed = 0;
    let wanted_report = must(search(dir, &[]));
    for kind in KINDS.into_iter().chain(["auto"]) {
        let base = ["-metadata_out", "m", "-metadata", kind];
        must(search(dir, &base));
        let wanted = take_file(dir, "m");
        for ranks in ["-ranks=3", "-ranks=4"] {
            let options = [&base[..], &[ranks, "-checkpoint", "kept", "-resume"]].concat();
            let mut child = search(dir, &options).stderr(Stdio::null()).spawn().unwrap();
            await_more(&mut child, &checkpoint, kept(&checkpoint));
            child.kill().unwrap();
            killed += u32::from(!child.wait().unwrap().success());
            if checkpoint.exists() {
                assert!(!dir.join("m").exists(), "what is not whole has the name of what is");
            }
        }
        if checkpoint.exists() {
            let other = if kind == "hits" { "oids" } else { "hits" };
            let base = ["-metadata_out", "m", "-metadata", other];
            let options = [&base[..], &["-checkpoint", "kept", "-resume"]].concat();
            let run = search(dir, &options).output().unwrap();
            assert_eq!(run.status.code(), Some(1), "{}", stderr_text(&run));
            assert!(stderr_text(&run).contains("-metadata"), "{}", stderr_text(&run));
            must(search(
                dir,
                &[&base[..2], &["-metadata", kind, "-checkpoint", "kept", "-resume"]].concat(),
            ));
        }
        let report = must(fleetblast(dir, &["expand", "m", "-db", "db"]));
        assert!(report == wanted_report, "{kind}");
        assert!(take_file(dir, "m") == wanted || kind == "auto", "{kind}");
        assert!(!checkpoint.exists());
    }
    assert!(killed >= 3, "{killed} of 8 were killed before they were through");
}

#[test]
fn what_cannot_be_is_refused_and_leaves_nothing() {
    let dir = proteins(20);
    let dir = dir.path();
    let base = ["-metadata_out", "m", "-ranks", "2"];
    let refused: [(&[&str], &str); 2] =
        [(&["-output", "records"], "-output records needs a directory"), (&["-out", "x"], "-out")];
    for (options, what) in refused {
        let run = search(dir, &[&base[..], options].concat()).output().unwrap();
        assert_eq!(run.status.code(), Some(1), "{options:?}");
        assert!(stderr_text(&run).contains(what), "{options:?}: {}", stderr_text(&run));
        assert!(!dir.join("m").exists());
    }
    let sites = bases(3);
    let sam = ["-outfmt", "17", "-metadata", "report"];
    let words = [&BLASTN[..], &base, &sam].concat();
    let run = fleetblast(sites.path(), &words).output().unwrap();
    let what = "with -metadata_out, -metadata report and -outfmt 17 on ranks yet";
    assert!(stderr_text(&run).contains(what), "{}", stderr_text(&run));
    let mut text = fs::read_to_string(dir.join("q.fa")).unwrap();
    text += ">nothing\n";
    fs::write(dir.join("q.fa"), text).unwrap();
    let ends = |options: &[&str]| {
        let run = search(dir, &[&["-metadata_out", "m"], options].concat()).output().unwrap();
        (run.status.code(), dir.join("m").exists())
    };
    assert_eq!(ends(&["-ranks", "2"]), ends(&[]));
}

#[test]
fn an_input_without_queries_has_an_end_only() {
    let dir = proteins(1);
    let dir = dir.path();
    fs::write(dir.join("q.fa"), "").unwrap();
    for kind in KINDS {
        let base = ["-metadata_out", "m", "-metadata", kind];
        must(search(dir, &base));
        let wanted = take_file(dir, "m");
        must(search(dir, &[&base[..], &["-ranks", "2"]].concat()));
        assert!(take_file(dir, "m") == wanted, "{kind}");
    }
}
