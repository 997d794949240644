//! Databases that are missing, damaged or no databases.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::common::not_tested;
use crate::sandbox::{SEQUENCES, Sandbox, is_above_permissions, message, sound};
use crate::volumes::{FIVE, FOUR, entries, volume};
use fleetblast_db::VolumeBytes;

/// Returns the position in the index, in bytes, of the entry with the offset of sequence `i`. The
/// table of these offsets is at the end of the index.
fn sequence_offset(bytes: &VolumeBytes, i: usize) -> usize {
    bytes.index.len() - 4 * (SEQUENCES + 1 - i)
}

fn set(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

#[test]
fn the_sound_database_has_hits() {
    let sandbox = Sandbox::new();
    let output = sandbox.run(&[]);
    assert!(output.status.success() && output.stdout.len() > 50, "{}", message(&output));
}

#[test]
fn what_is_no_database_is_not_found() {
    let sandbox = Sandbox::new();
    let said = "No alias or index file found for protein database";
    for name in ["nosuch", "q.fa", "nosuch/db", "."] {
        sandbox.assert_refused(&["-db", name], 2, &[said, &format!("[{name}]")]);
    }
    sandbox.write("nuc.nin", b"\0\0\0\x05\0\0\0\0");
    sandbox.assert_refused(&["-db", "nuc"], 2, &[said, "[nuc]"]);
    fs::create_dir(sandbox.path("dir.pin")).expect("a directory");
    sandbox.assert_refused(&["-db", "dir"], 2, &[said, "[dir]"]);
}

#[test]
fn other_versions_and_kinds_are_named_with_their_place() {
    let sandbox = Sandbox::new();
    for (at, value, place) in [(0, 3, "byte 0"), (0, 0x4000_0000, "byte 0"), (4, 0, "byte 4")] {
        let mut bytes = sound();
        set(&mut bytes.index, at, value);
        sandbox.database("bad", &bytes);
        sandbox.assert_refused(&["-db", "bad"], 2, &["bad.pin", place]);
    }
    sandbox.write("text.pin", b">q1\nMKVLAADTGHIW\n");
    sandbox.assert_refused(
        &["-db", "text"],
        2,
        &["Not a valid version 4 or 5 database", "text.pin"],
    );
    sandbox.database("five", &volume(&FIVE, &entries(11, 3)));
    sandbox.assert_refused(&["-db", "five"], 255, &["mdb_env_open", "x.pdb"]);
    sandbox.write("x.pdb", "");
    sandbox.assert_refused(&["-db", "db five"], 2, &["both Version 4 and Version 5"]);
}

#[test]
fn every_missing_file_is_named() {
    let sandbox = Sandbox::new();
    for extension in ["psq", "phr"] {
        let name = format!("gone-{extension}");
        sandbox.database(&name, &sound());
        fs::remove_file(sandbox.path(&format!("{name}.{extension}"))).expect("a file");
        sandbox.assert_refused(&["-db", &name], 2, &[&format!("{name}.{extension}"), "not found"]);
        fs::create_dir(sandbox.path(&format!("{name}.{extension}"))).expect("a directory");
        sandbox.assert_refused(
            &["-db", &name],
            2,
            &[&format!("{name}.{extension}"), "cannot read"],
        );
    }
    let secret = sandbox.path("db.psq");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).expect("permissions");
    if !is_above_permissions(&secret) {
        sandbox.assert_refused(&["-db", "db"], 2, &["db.psq", "cannot read"]);
    }
}

#[test]
fn every_truncation_is_named_with_its_offset() {
    let sandbox = Sandbox::new();
    let whole = sound();
    for length in 0..whole.index.len() {
        let bytes = VolumeBytes { index: whole.index[..length].to_vec(), ..whole.clone() };
        sandbox.database("cut", &bytes);
        let parts = ["cut.pin", "cut short", &format!("the file has {length};"), "again"];
        sandbox.assert_refused(&["-db", "cut"], 2, &parts);
    }
    for length in [0, 1, 2, whole.residues.len() / 2, whole.residues.len() - 1] {
        let bytes = VolumeBytes { residues: whole.residues[..length].to_vec(), ..whole.clone() };
        sandbox.database("cut", &bytes);
        sandbox.assert_refused(
            &["-db", "cut"],
            2,
            &["cut.psq", "cut short", "the sequences at byte 1"],
        );
    }
    for length in [0, 1, 2, whole.headers.len() / 2, whole.headers.len() - 1] {
        let bytes = VolumeBytes { headers: whole.headers[..length].to_vec(), ..whole.clone() };
        sandbox.database("cut", &bytes);
        sandbox.assert_refused(
            &["-db", "cut"],
            2,
            &["cut.phr", "cut short", "the headers at byte 0"],
        );
    }
}

#[test]
fn false_index_values_are_named_with_their_offset() {
    let sandbox = Sandbox::new();
    let whole = sound();
    // Version, type, title and date stand before the number of sequences.
    let count_at = whole.index.len() - 8 * (SEQUENCES + 1) - 16;
    for count in [SEQUENCES as u32 + 1, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
        let mut bytes = whole.clone();
        set(&mut bytes.index, count_at, count);
        sandbox.database("bad", &bytes);
        sandbox.assert_refused(&["-db", "bad"], 2, &["bad.pin", "cut short", "table of"]);
    }
    let mut bytes = whole.clone();
    bytes.index[count_at + 5] ^= 1;
    sandbox.database("bad", &bytes);
    sandbox.assert_refused(&["-db", "bad"], 2, &["bad.pin", "states", "residues", "span"]);
    let title_at = 8;
    for length in [200, u32::MAX] {
        let mut bytes = whole.clone();
        set(&mut bytes.index, title_at, length);
        sandbox.database("bad", &bytes);
        sandbox.assert_refused(&["-db", "bad"], 2, &["bad.pin", "the title at byte 12"]);
    }
    for (i, offset) in [(0, 0), (2, u32::MAX), (2, 0), (3, 1)] {
        let mut bytes = whole.clone();
        let at = sequence_offset(&bytes, i);
        set(&mut bytes.index, at, offset);
        sandbox.database("bad", &bytes);
        sandbox.assert_refused(
            &["-db", "bad"],
            2,
            &["bad.pin", &format!("byte {at}"), "sequence offset"],
        );
    }
}

/// A sparse file costs nothing to write, whatever it claims to hold.
#[test]
fn tables_of_gigabytes_without_contents_are_refused() {
    let sandbox = Sandbox::new();
    let mut index = sound().index;
    index.truncate(index.len() - 8 * (SEQUENCES + 1));
    let count_at = index.len() - 16;
    for count in [0x8000_0000, 0x7fff_fffe] {
        set(&mut index, count_at, count);
        sandbox.write("huge.pin", &index);
        let length = index.len() as u64 + 8 * (u64::from(count) + 1);
        let file = fs::File::options().write(true).open(sandbox.path("huge.pin")).expect("a file");
        if file.set_len(length).is_err() {
            not_tested(&format!("a sparse file of {length} bytes, as this file system holds none"));
            return;
        }
        sandbox.write("huge.psq", [0]);
        sandbox.write("huge.phr", [0]);
        sandbox.assert_refused(&["-db", "huge"], 2, &["huge.pin", "sequence offset"]);
    }
}

#[test]
fn bytes_that_are_no_residues_are_named_with_their_offset() {
    let sandbox = Sandbox::new();
    for (at, code) in [(5, 28), (5, 0xff), (40, 99)] {
        let mut bytes = sound();
        bytes.residues[at] = code;
        sandbox.database("bad", &bytes);
        let parts = ["bad.psq", &format!("byte {at}:"), &format!("{code} is not a residue")];
        sandbox.assert_refused(&["-db", "bad"], 2, &parts);
    }
    let mut bytes = sound();
    let end = bytes.residues.len() - 1;
    bytes.residues[end] = 5;
    sandbox.database("bad", &bytes);
    sandbox.assert_refused(&["-db", "bad"], 2, &["bad.psq", "not a sentinel"]);
}

/// Headers are read for the sequences reported only.
#[test]
fn false_header_values_are_named_with_their_offset() {
    let sandbox = Sandbox::new();
    let whole = sound();
    let string = whole.headers.iter().position(|&tag| tag == 0x1a).expect("a title") + 1;
    for (at, value) in [(0, 0), (string, 0x7f), (string, 0x84), (string, 0x88), (string, 0x80)] {
        let mut bytes = whole.clone();
        bytes.headers[at] = value;
        sandbox.database("bad", &bytes);
        for format in ["0", "5", "6 sseqid stitle", "7"] {
            let output = sandbox.run(&["-db", "bad", "-outfmt", format, "-out", "report"]);
            let said = message(&output);
            assert_eq!(output.status.code(), Some(2), "{format}: {said}");
            assert!(said.contains("bad.phr") && said.contains("of sequence 0"), "{said}");
            assert_eq!(fs::read(sandbox.path("report")).expect("an empty file"), b"", "{said}");
        }
    }
}

#[test]
fn aliases_that_lead_nowhere_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.database("two.00", &sound());
    sandbox.write("two.pal", "TITLE two\nDBLIST two.00 two.01\n");
    sandbox.assert_refused(&["-db", "two"], 2, &["two.01", "alias file", "two)"]);
    sandbox.write("a.pal", "DBLIST b\n");
    sandbox.write("b.pal", "DBLIST a\n");
    sandbox.assert_refused(&["-db", "a"], 2, &["mutually recursive", "a.pal"]);
    sandbox.write("none.pal", "TITLE none\n");
    sandbox.assert_refused(&["-db", "none"], 2, &["No database names", "none"]);
    sandbox.write("junk.pal", [0xff, 0, b'\n', 7, 0x80].repeat(50));
    sandbox.assert_refused(&["-db", "junk"], 2, &["No database names", "junk"]);
    sandbox.write("list.pal", "DBLIST db\nSEQIDLIST x.bsl\n");
    sandbox.assert_refused(&["-db", "list"], 2, &["Cannot memory map", "x.bsl"]);
    sandbox.write("number.pal", "DBLIST db\nNSEQ many\n");
    sandbox.assert_refused(&["-db", "number"], 255, &["number.pal", "line 2", "'many'"]);
    fs::create_dir(sandbox.path("dir.pal")).expect("a directory");
    sandbox.assert_refused(&["-db", "dir"], 2, &["[dir]"]);
}

#[test]
fn one_bad_volume_of_several_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("two.pal", "TITLE two\nDBLIST two.00 two.01\n");
    sandbox.database("two.00", &sound());
    let mut bytes = volume(&FOUR, &entries(12, 4));
    bytes.residues[3] = 77;
    sandbox.database("two.01", &bytes);
    // The message has the OID in the whole database.
    sandbox.assert_refused(&["-db", "two"], 2, &["two.01.psq", "byte 3:", "sequence 5"]);
    bytes.headers.truncate(4);
    sandbox.database("two.01", &bytes);
    sandbox.assert_refused(&["-db", "two"], 2, &["two.01.phr", "cut short"]);
}
