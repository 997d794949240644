//! Encrypted metadata and the program `age`, which others encrypt and decrypt with: each reads what the other wrote.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::metadata_ranks::{BLASTP, fleetblast, must, proteins, said};

/// Whether the program is here. Where it is not, standard error names the test that checked nothing, whatever is done with its output.
fn is_there(test: &str) -> bool {
    let found = |program| {
        let run = Command::new(program).arg("--version").stdin(Stdio::null()).output();
        run.is_ok_and(|run| run.status.success())
    };
    if found("age") && found("age-keygen") {
        return true;
    }
    let told = format!("NOT TESTED, as age is missing (apt-get install age): {test}\n");
    io::stderr().write_all(told.as_bytes()).unwrap();
    false
}

fn age(dir: &Path, words: &[&str]) -> Vec<u8> {
    let mut command = Command::new("age");
    command.args(words).current_dir(dir).stdin(Stdio::null());
    must(command)
}

/// A key of the program's: the file of the identity, and the recipient.
fn keygen(dir: &Path, name: &str) -> String {
    let mut command = Command::new("age-keygen");
    command.args(["-o", name]).current_dir(dir).stdin(Stdio::null());
    must(command);
    let text = fs::read_to_string(dir.join(name)).unwrap();
    let key = text.lines().find_map(|line| line.strip_prefix("# public key: "));
    key.expect("age-keygen tells no public key").to_owned()
}

#[test]
fn what_is_encrypted_here_age_decrypts() {
    if !is_there("what_is_encrypted_here_age_decrypts") {
        return;
    }
    let dir = proteins(30);
    let dir = dir.path();
    let keys = ["one", "two"].map(|name| keygen(dir, name));
    for kind in ["hits", "oids", "report"] {
        let search = |options: &[&str]| {
            let told = ["-metadata", kind, "-outfmt", "5"];
            must(fleetblast(dir, &[&BLASTP, &told[..], options].concat()));
        };
        search(&["-metadata_out", "open"]);
        let open = fs::read(dir.join("open")).unwrap();
        for ranks in [&[][..], &["-ranks", "3"]] {
            let both = keys.join(",");
            search(&[&["-metadata_out", "sealed", "-recipient", &both], ranks].concat());
            for identity in ["one", "two"] {
                let plain = age(dir, &["-d", "-i", identity, "sealed"]);
                assert!(plain == open || !ranks.is_empty(), "{kind} for {identity}");
                fs::write(dir.join("plain"), plain).unwrap();
                let expand = |name| must(fleetblast(dir, &["expand", name, "-db", "db"]));
                assert!(expand("plain") == expand("open"), "{kind} for {identity}, {ranks:?}");
            }
        }
    }
}

#[test]
fn what_age_encrypted_is_expanded() {
    if !is_there("what_age_encrypted_is_expanded") {
        return;
    }
    let dir = proteins(60);
    let dir = dir.path();
    let keys = ["one", "two", "other"].map(|name| keygen(dir, name));
    let wanted = must(fleetblast(dir, &BLASTP));
    for kind in ["hits", "report"] {
        let told = ["-metadata", kind, "-metadata_out", "open"];
        must(fleetblast(dir, &[&BLASTP, &told[..]].concat()));
        let expand = |name: &str, identity: &str| {
            let words = ["expand", name, "-identity", identity, "-db", "db"];
            fleetblast(dir, &words).output().unwrap()
        };
        age(dir, &["-r", &keys[0], "-r", &keys[1], "-o", "sealed", "open"]);
        for identity in ["one", "two"] {
            let run = expand("sealed", identity);
            assert!(run.status.success() && run.stdout == wanted, "{kind}: {}", said(&run));
        }
        let run = expand("sealed", "other");
        assert!(said(&run).contains("is encrypted for others"), "{}", said(&run));
        // As text, which is for mails.
        age(dir, &["-a", "-r", &keys[0], "-o", "text", "open"]);
        for run in [
            expand("text", "one"),
            fleetblast(dir, &["expand", "text", "-db", "db"]).output().unwrap(),
        ] {
            assert_eq!(run.status.code(), Some(1));
            assert!(said(&run).contains("text is encrypted as text: "), "{}", said(&run));
        }
    }
}
