//! Formats 13 and 14, a file for each query and an index: a job writes the same files with any
//! number of ranks, groups and partitions, and only a complete report has any files. The tables of
//! `difftest` compare the bytes with BLAST+.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::family::{family, queries};
use crate::sandbox::{Sandbox, message};
use crate::volumes::{FOUR, write};

/// Number of queries: they fill several batches and several blocks.
const QUERIES: usize = 120;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    write(&sandbox.path("."), "db", &FOUR, &family(5, 12));
    sandbox.write("q.fa", queries(6, QUERIES).concat());
    sandbox
}

/// Returns the files of a directory, by name.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("a file"));
    let read = |entry: fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, fs::read(entry.path()).expect("a file"))
    };
    entries.map(read).collect()
}

#[test]
fn every_shape_writes_the_same_files() {
    let sandbox = sandbox();
    for format in ["13", "14"] {
        let shapes: [&[&str]; 4] = [
            &["-num_threads", "1"],
            &["-num_threads", "3"],
            &["-ranks", "4", "-groups", "2", "-partitions", "3", "-block_residues", "9000"],
            &["-ranks", "3", "-partitions", "2", "-checkpoint", "run"],
        ];
        let mut first = None;
        for (number, shape) in shapes.into_iter().enumerate() {
            let directory = format!("d{format}-{number}");
            fs::create_dir(sandbox.path(&directory)).expect("a directory");
            let out = format!("{directory}/r.json");
            let output = sandbox.run(&[shape, &["-outfmt", format, "-out", &out]].concat());
            assert!(output.status.success(), "{}", message(&output));
            let written = files(&sandbox.path(&directory));
            assert_eq!(written.len(), QUERIES + 1, "{shape:?}");
            assert!(*first.get_or_insert_with(|| written.clone()) == written, "{shape:?}");
        }
    }
}

#[test]
fn a_failed_search_leaves_an_older_report_as_it_is() {
    let sandbox = sandbox();
    let all = fs::read_to_string(sandbox.path("q.fa")).expect("queries");
    sandbox.write("q.fa", all + ">bad\n%%%%%%%%%%%%%%\n");
    sandbox.write("r", "an older index");
    sandbox.write("r_1.json", "an older document");
    let before = files(&sandbox.path("."));
    for shape in [&[][..], &["-ranks", "3"], &["-checkpoint", "run"]] {
        let output = sandbox.run(&[shape, &["-outfmt", "13", "-out", "r"]].concat());
        assert_eq!(output.status.code(), Some(1), "{}", message(&output));
        let _ = fs::remove_dir_all(sandbox.path("run"));
        assert!(files(&sandbox.path(".")) == before, "{shape:?}: {:?}", sandbox.names());
    }
}

#[test]
fn a_document_that_cannot_be_written_leaves_no_index() {
    let sandbox = sandbox();
    sandbox.write("r", "an older index");
    fs::create_dir(sandbox.path("r_2.json")).expect("a directory");
    for shape in [&[][..], &["-ranks", "3"]] {
        let output = sandbox.run(&[shape, &["-outfmt", "13", "-out", "r"]].concat());
        assert_eq!(output.status.code(), Some(1));
        assert!(message(&output).contains("r_2.json"), "{}", message(&output));
        assert_eq!(fs::read(sandbox.path("r")).expect("an index"), b"");
        assert!(sandbox.names().iter().all(|name| !name.starts_with('.')), "{shape:?}");
    }
}

#[test]
fn other_sites_and_records_are_refused_by_name() {
    let sandbox = Sandbox::new();
    let records = ["-outfmt", "14", "-out", "r", "-ranks", "2", "-output", "records"];
    sandbox.assert_refused(&records, 1, &["-outfmt 14 with -output records"]);
    let output = sandbox.run(&["-outfmt", "14", "-metadata_out", "m"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(message(&output).contains("-outfmt 14 with -metadata_out"), "{}", message(&output));
}
