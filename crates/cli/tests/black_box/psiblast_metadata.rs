//! `psiblast` at one site, whose report is made at another: it crosses as it is, with the matrices left where they are searched with.

use std::fs;
use std::process::Command;
use std::time::Duration;

use fleetblast_oracle::sample;

use crate::metadata::{identity, records};
use crate::patience::until;
use crate::psiblast_ranks::{Left, Place, SEARCHES};

/// A command that is no search.
fn fleetblast(place: &Place, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
    command.args(arguments.split_whitespace()).current_dir(place.path(""));
    command.stdin(std::process::Stdio::null());
    command
}

/// What a search leaves that wrote the metadata `m`, with the report that is made of these.
fn through(place: &Place, searched: Left, identity: &str) -> Left {
    assert!(searched.code == Some(0) && searched.report.is_empty(), "{}", searched.messages);
    let expanded = place.left(fleetblast(place, &format!("expand m {identity}")));
    assert_eq!((expanded.code, &expanded.messages[..]), (Some(0), ""));
    Left { report: expanded.report, ..searched }
}

#[test]
fn the_report_matrices_and_messages_are_those_of_the_search() {
    let place = Place::new();
    place.with("q.fa", 5, ">odd\nMKV1LAWGD2EFHIRNPQSTYC\n");
    let key = identity(&place.path(""), "one");
    let shapes = ["-ranks 1", "-ranks 4 -groups 2 -partitions 3", "-ranks 3 -output individual"];
    for (number, search) in sample(2, SEARCHES.iter().enumerate()) {
        let search = format!("-query q.fa -db db {search} -block_residues 400");
        let expected = place.run(&search);
        assert!(expected.code == Some(0) && expected.report.len() > 5_000, "{search}");
        let told = format!("{search} -metadata_out m -metadata report -timing t");
        let alone = through(&place, place.run(&told), "");
        alone.assert_is(&expected, &search);
        let read = || records(&fs::read(place.path("m")).expect("metadata"));
        let wanted = read();
        assert!(wanted.len() > 5, "{search}");
        let timing = fs::read(place.path("t")).expect("the timing");
        let timing: serde_json::Value = serde_json::from_slice(&timing).expect("JSON");
        let kind = &timing["metadata"]["kinds"][2];
        let blocks = Some(wanted.len() as u64 - 2);
        assert_eq!((kind["blocks"].as_u64(), kind["made_blocks"].as_u64()), (blocks, blocks));
        let shape = shapes[number % shapes.len()];
        through(&place, place.run(&format!("{told} {shape}")), "").assert_is(&expected, shape);
        // In the first is the command line.
        assert!(read()[1..] == wanted[1..], "{search} {shape}");
        if number < 3 {
            let sealed = format!("{told} -recipient {key} {shape}");
            through(&place, place.run(&sealed), "-identity one").assert_is(&expected, &sealed);
        }
    }
}

#[test]
fn ranks_of_another_site_write_it() {
    let place = Place::new();
    for (search, ranks) in SEARCHES.iter().zip(["-ranks 2 -io_ranks 1", "-ranks 5 -io_ranks 2"]) {
        let search = format!("-query q.fa -db db {search}");
        let expected = place.run(&search);
        let made = format!("{search} -block_residues 400 -metadata report {ranks}");
        place.run(&made).assert_is(&expected, &made);
    }
    #[cfg(feature = "mpi")]
    {
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_fleetblast"));
        let search = format!("-query q.fa -db db {}", SEARCHES[0]);
        let expected = place.run(&search);
        let made = format!("{search} -block_residues 400 -metadata report -io_ranks 1");
        let command = place.prepared(crate::launched::launched(program, 3), &made);
        place.left(command).assert_is(&expected, "processes");
    }
}

#[test]
fn some_queries_are_a_part_of_the_report() {
    let place = Place::new();
    let search = "-query q.fa -db db -num_iterations 3 -outfmt 6 -block_residues 400";
    let whole = String::from_utf8(place.run(search).report).expect("text");
    // Of each query all searches, and what ends them.
    let own = |name: &str| -> String {
        let (mut found, mut is_own) = (String::new(), false);
        for line in whole.split_inclusive('\n') {
            is_own = match line.split_once('\t') {
                Some((query, _)) => query == name,
                None => is_own,
            };
            found += if is_own { line } else { "" };
        }
        found
    };
    assert_eq!(place.run(&format!("{search} -metadata_out m -metadata report")).code, Some(0));
    let part = place.left(fleetblast(&place, "expand m -query q7,q3"));
    assert_eq!(String::from_utf8(part.report).expect("text"), own("q3") + &own("q7"));
    let none = place.left(fleetblast(&place, "expand m -query q99"));
    assert!(none.messages.contains("there is no query q99"), "{}", none.messages);
}

#[test]
fn what_would_be_half_right_is_refused_by_name() {
    let place = Place::new();
    let search = "-query q.fa -db db -num_iterations 2 -metadata_out m";
    for (options, what) in [
        (
            "",
            "does not support psiblast with -metadata hits (the default) yet; use -metadata report",
        ),
        ("-metadata hits", "-metadata hits"),
        ("-metadata oids -ranks 2", "-metadata oids yet"),
        ("-metadata auto", "-metadata auto yet"),
        ("-metadata report -out x", "-out"),
        ("-metadata report -ranks 2 -plan", "-plan"),
        ("-metadata report -recipient age1no", "-recipient"),
    ] {
        let left = place.run(&format!("{search} {options}"));
        assert_eq!(left.code, Some(1), "{options}: {}", left.messages);
        assert!(left.messages.contains(what), "{options}: {}", left.messages);
        assert!(!place.path("m").exists(), "{options}");
    }
    let ranks = "-query q.fa -db db -ranks 3 -io_ranks 1 -out r";
    let left = place.run(ranks);
    assert!(left.messages.contains("-metadata hits (the default)"), "{}", left.messages);
    assert!(left.code == Some(1) && !place.path("r").exists());
    assert_eq!(place.run(&format!("{search} -metadata report")).code, Some(0));
    for (options, what) in [
        ("-db db", "m holds the report of psiblast as it is: name no -db or -subject"),
        ("-outfmt 6", "m holds the report as it is, so that -outfmt cannot change it"),
    ] {
        let left = place.left(fleetblast(&place, &format!("expand m {options} -out r")));
        assert_eq!(left.code, Some(1), "{}", left.messages);
        assert!(left.messages.contains(what), "{}", left.messages);
        assert!(!place.path("r").exists());
    }
}

/// Where the search ends the report before its time there is none at the other site.
#[test]
fn a_query_that_ends_the_search_leaves_nothing_by_halves() {
    let place = Place::new();
    place.with("bad.fa", 9, &format!(">x\n{}\n", "X".repeat(30)));
    let search = "-query bad.fa -db db -num_iterations 3 -out_pssm kept/p -save_each_pssm";
    let expected = place.run(search);
    assert_eq!(expected.code, Some(3), "{}", expected.messages);
    for ranks in ["", "-ranks 3 -block_residues 300"] {
        let left = place.run(&format!("{search} -metadata_out m -metadata report {ranks}"));
        assert!(left.report.is_empty() && !place.path("m").exists(), "{ranks}");
        Left { report: expected.report.clone(), ..left }.assert_is(&expected, ranks);
    }
    let left = place.run(&format!("{search} -metadata report -ranks 3 -io_ranks 1 -out r"));
    assert_eq!((left.code, &left.messages), (expected.code, &expected.messages));
    assert!(!place.path("r").exists());
    // An input that BLAST+ calls empty.
    place.write("empty.fa", "");
    let search = "-query empty.fa -db db -num_iterations 3";
    let expected = place.run(search);
    for ranks in ["", "-ranks 2"] {
        let searched = place.run(&format!("{search} -metadata_out m -metadata report {ranks}"));
        through(&place, searched, "").assert_is(&expected, ranks);
    }
}

/// Who goes on searches all of it again, since how searches and matrices are numbered depends on those before; what the other site has is
/// not sent again.
#[test]
fn a_search_that_is_killed_goes_on_at_the_other_site() {
    let place = Place::new();
    place.write(
        "many.fa",
        &(6..8).flat_map(|seed| crate::family::queries(seed, 24)).collect::<String>(),
    );
    let key = |name: &str| {
        let left = place.left(fleetblast(&place, &format!("keygen {name}")));
        String::from_utf8(left.report).expect("text").trim().to_owned()
    };
    let keys = ["here", "there"].map(key);
    let mut interrupted = 0;
    for (number, search) in SEARCHES[..2].iter().enumerate() {
        let search = format!("-query many.fa -db db {search} -block_residues 400");
        let expected = place.run(&search);
        let words = format!("receive -listen 127.0.0.1:0 -out r -key there -peer {}", keys[0]);
        let receiver = crate::link::Receiver::new(fleetblast(&place, &words));
        let link =
            format!("-send {} -key here -peer {} -link_timeout 60", receiver.address, keys[1]);
        let ranks = ["", "-ranks 2 -checkpoint c -resume"][number];
        let sent = format!("{search} -metadata report {link} {ranks}");
        let mut killed =
            place.command(&sent).stderr(std::process::Stdio::null()).spawn().expect("a search");
        let came = || fs::metadata(place.path("r.fbm")).map_or(0, |meta| meta.len());
        until("a record", || came() > 3000 || killed.try_wait().expect("a child").is_some());
        killed.kill().expect("a child");
        interrupted += usize::from(!killed.wait().expect("a child").success());
        std::thread::sleep(Duration::from_millis(300));
        let mut left = place.run(&sent);
        assert_eq!(left.code, Some(0), "{sent}: {}", left.messages);
        // What is told of the checkpoint comes first.
        assert!(left.messages.ends_with(&expected.messages), "{sent}: {}", left.messages);
        left.messages.clone_from(&expected.messages);
        receiver.must_end();
        left.report = fs::read(place.path("r")).expect("a report");
        fs::remove_file(place.path("r")).expect("a report");
        left.assert_is(&expected, &sent);
    }
    assert!(interrupted > 0, "no search was killed before it was through");
}
