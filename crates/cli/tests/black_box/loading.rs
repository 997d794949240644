//! The report is the same however a database comes into memory, and however little memory there is.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::volumes::{FOUR, protein, write};
use fastrand::Rng;
use tempfile::TempDir;

/// Makes the databases `one` and `two` of families of synthetic proteins, and queries from some of
/// the families.
fn database() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut random = Rng::with_seed(31);
    let (mut entries, mut queries) = (Vec::new(), String::new());
    for family in 0..8 {
        let length = random.usize(100..400);
        let parent = protein(&mut random, length);
        queries += &format!(">q{family}\n{}\n", String::from_utf8_lossy(&parent));
        for member in 0..4 * family {
            let mut copy = parent.clone();
            for _ in 0..length / (2 + member % 9) {
                copy[random.usize(..length)] = protein(&mut random, 1)[0];
            }
            entries.push((format!("s{family}.{member} of a family"), copy));
        }
        for stranger in 0..40 {
            let length = random.usize(5..405);
            entries.push((format!("x{family}.{stranger}"), protein(&mut random, length)));
        }
    }
    let half = entries.len() / 2;
    write(dir.path(), "one", &FOUR, &entries[..half]);
    write(dir.path(), "two", &FOUR, &entries[half..]);
    fs::write(dir.path().join("q.fa"), queries).expect("queries");
    dir
}

fn run(dir: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fleetblast"))
        .arg("blastp")
        .args(["-query", "q.fa", "-db", "one two"])
        .args(arguments)
        .current_dir(dir)
        .env_remove("BLASTDB")
        .output()
        .expect("the program runs")
}

fn run_search(dir: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = run(dir, arguments);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {message}");
    output.stdout
}

#[test]
fn all_ways_of_loading_give_the_same_bytes() {
    let dir = database();
    let formats: [&[&str]; 3] = [
        &["-outfmt", "0"],
        &["-outfmt", "6", "-max_target_seqs", "4", "-comp_based_stats", "0"],
        &["-outfmt", "5", "-evalue", "50"],
    ];
    // Some limits are smaller than the longest sequence.
    let ways: [&[&str]; 9] = [
        &["-loader", "read"],
        &["-loader", "direct"],
        &["-memory", "1"],
        &["-memory", "5K"],
        &["-memory", "40K", "-partitions", "3"],
        &["-memory", "40K", "-partitions", "200", "-num_threads", "1"],
        &["-memory", "1G"],
        &["-loader", "read", "-memory", "20KiB"],
        &["-loader", "direct", "-memory", "20K"],
    ];
    for format in formats {
        let expected = run_search(dir.path(), &[format, &["-loader", "map"]].concat());
        assert!(expected.len() > 800, "{format:?} finds something");
        assert!(expected == run_search(dir.path(), format), "{format:?}");
        // The first format is tested with all ways, the others with the first four.
        let taken = if format.len() == 2 { &ways[..] } else { &ways[..4] };
        for way in taken {
            assert!(
                expected == run_search(dir.path(), &[format, *way].concat()),
                "{format:?} {way:?}"
            );
        }
    }
}

/// The database has some 100 kB.
#[test]
fn ranks_read_what_does_not_fit_part_by_part() {
    let dir = database();
    let expected = run_search(dir.path(), &["-outfmt", "0"]);
    let ways: [&[&str]; 4] = [
        &["-ranks", "2", "-memory", "5K"],
        &["-ranks", "3", "-memory", "20K", "-partitions", "7"],
        &["-ranks", "4", "-memory", "1", "-replicas", "2", "-partitions", "5"],
        &["-ranks", "2", "-memory", "20K", "-loader", "read", "-groups", "2"],
    ];
    for way in ways {
        let arguments = [&["-outfmt", "0", "-timing", "t.json"], way].concat();
        assert!(expected == run_search(dir.path(), &arguments), "{way:?}");
        let text = fs::read_to_string(dir.path().join("t.json")).expect("the timing");
        let timing: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert!(timing["loading"]["streamed_through_bytes"].as_u64() > Some(0), "{way:?}: {text}");
    }
    run_search(dir.path(), &["-ranks", "2", "-memory", "1G", "-timing", "t.json"]);
    let text = fs::read_to_string(dir.path().join("t.json")).expect("the timing");
    let timing: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(timing["loading"]["streamed_through_bytes"].is_null(), "{text}");
}

#[test]
fn the_timing_shows_how_the_database_was_loaded() {
    let dir = database();
    let timing = |more: &[&str]| -> serde_json::Value {
        run_search(dir.path(), &[&["-timing", "t.json", "-outfmt", "6"], more].concat());
        let text = fs::read_to_string(dir.path().join("t.json")).expect("the timing");
        serde_json::from_str::<serde_json::Value>(&text).expect("JSON")["loading"].clone()
    };
    let default = timing(&[]);
    assert_eq!((&default["method"], &default["pages"]), (&"map".into(), &"page cache".into()));
    assert!(default["reason"].as_str().is_some_and(|why| why.contains("fits in memory")));
    let streamed = timing(&["-memory", "30K"]);
    assert_eq!(streamed["method"], "direct");
    assert_eq!(streamed["streamed_through_bytes"], 30_000);
    let size: u64 = ["one.psq", "two.psq"]
        .iter()
        .map(|name| fs::metadata(dir.path().join(name)).expect("a file").len())
        .sum();
    assert!(streamed["bytes_read"].as_u64().is_some_and(|bytes| bytes >= size), "{streamed}");
}

#[test]
fn what_cannot_be_is_refused() {
    let dir = database();
    let refused = |arguments: &[&str], part: &str| {
        let output = run(dir.path(), arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}");
        assert!(message.contains(part), "{arguments:?}: {message}");
    };
    refused(&["-memory", "much"], "-memory needs a number of bytes");
    refused(&["-memory", "0"], "-memory needs a number of bytes");
    refused(&["-loader", "magic"], "loader");
    refused(&["-loader", "map", "-memory", "30K"], "-loader map cannot keep within -memory");
    for more in [&[][..], &["-ranks", "3"]] {
        let alone = [&["-loader", "broadcast"], more].concat();
        refused(&alone, "-loader broadcast is for processes that MPI connects");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_fleetblast"))
        .args(["blastp", "-query", "q.fa", "-subject", "q.fa", "-memory", "1G"])
        .current_dir(dir.path())
        .output()
        .expect("the program runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("ncompatible"));
}

/// Residues of a volume are damaged, which a search finds when it reads them.
#[test]
fn damage_is_refused_alike_by_all_loaders() {
    let dir = database();
    let path = dir.path().join("two.psq");
    let mut bytes = fs::read(&path).expect("the volume");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 3000].fill(99);
    fs::write(&path, bytes).expect("the volume");
    let complaint = |more: &[&str]| {
        let output = run(dir.path(), &[&["-outfmt", "6"], more].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let expected = complaint(&["-num_threads", "1", "-partitions", "1"]);
    assert!(expected.contains("two.psq"), "{expected}");
    for more in
        [&["-loader", "read"][..], &["-loader", "direct", "-partitions", "1"], &["-memory", "40K"]]
    {
        assert!(complaint(more).contains("two.psq"), "{more:?}");
    }
}

#[test]
fn dbcheck_distinguishes_sound_from_unsound() {
    let dir = database();
    let check = |more: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_fleetblast"))
            .args(["dbcheck", "-db", "one two"])
            .args(more)
            .current_dir(dir.path())
            .env_remove("BLASTDB")
            .output()
            .expect("the program runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    for more in [&[][..], &["-memory", "10K"], &["-loader", "direct"], &["-dbtype", "prot"]] {
        let (code, report, complaint) = check(more);
        assert_eq!((code, complaint.as_str()), (Some(0), ""), "{more:?}");
        assert!(report.starts_with("one two: sound\n"), "{report}");
    }
    assert_eq!(check(&["-dbtype", "nucl"]).0, Some(2));
    let path = dir.path().join("two.phr");
    let mut bytes = fs::read(&path).expect("headers");
    bytes[2] ^= 1;
    fs::write(&path, bytes).expect("headers");
    let (code, report, complaint) = check(&[]);
    assert_ne!(code, Some(0));
    assert!(report.is_empty() && complaint.contains("two.phr) byte"), "{report}{complaint}");
}

#[test]
fn the_doctor_measures_and_speaks() {
    let dir = database();
    let output = Command::new(env!("CARGO_BIN_EXE_fleetblast"))
        .args(["doctor", "-db", "one two", "-json", "d.json", "-seconds", "1"])
        .current_dir(dir.path())
        .env_remove("BLASTDB")
        .output()
        .expect("the program runs");
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for part in ["in the page cache", "large reads", "huge pages", "What this means", "-loader map"]
    {
        assert!(report.contains(part), "no '{part}' in {report}");
    }
    let json = fs::read_to_string(dir.path().join("d.json")).expect("the findings");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert!(json["warm"]["read"].as_f64().is_some_and(|rate| rate > 0.0), "{json}");
    // Reading a small database takes hardly any time. The report must neither show a time of zero
    // nor call the disk slow.
    for never in ["about 0.0 s", "0.0 s", "storage is slow"] {
        assert!(!report.contains(never), "'{never}' in {report}");
    }
    // The output has the name that the loader has in options.
    let loaded = Command::new(env!("CARGO_BIN_EXE_fleetblast"))
        .args(["doctor", "-db", "one two", "-loader", "read"])
        .current_dir(dir.path())
        .output()
        .expect("the program runs");
    assert!(loaded.status.success() && loaded.stdout.starts_with(b"read: "), "{loaded:?}");
}
