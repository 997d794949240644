//! `psiblast` at one site with its report made at another. The report crosses unchanged, or is made
//! from the alignments of all iterations. The files of PSSMs stay at the search site.

use std::fs;
use std::process::Command;
use std::time::Duration;

use fleetblast_oracle::sample;

use crate::metadata::records;
use crate::patience::wait_until;
use crate::psiblast_ranks::{Place, RunResults, SEARCHES};

/// Returns a command that runs the program with these arguments.
fn fleetblast(place: &Place, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
    command.args(arguments.split_whitespace()).current_dir(place.path(""));
    command.stdin(std::process::Stdio::null());
    command
}

/// Makes the report from the metadata `m` that a search wrote. Returns the results of the search,
/// with this report.
fn through(place: &Place, searched: RunResults) -> RunResults {
    assert!(searched.code == Some(0) && searched.report.is_empty(), "{}", searched.messages);
    let expanded = place.run_command(fleetblast(place, "expand m"));
    assert_eq!((expanded.code, &expanded.messages[..]), (Some(0), ""));
    RunResults { report: expanded.report, ..searched }
}

#[test]
fn the_report_matrices_and_messages_are_those_of_the_search() {
    let place = Place::new();
    place.with("q.fa", 5, ">odd\nMKV1LAWGD2EFHIRNPQSTYC\n");
    let shapes = ["-ranks 1", "-ranks 4 -groups 2 -partitions 3", "-ranks 3 -output individual"];
    for (number, search) in sample(2, SEARCHES.iter().enumerate()) {
        let search = format!("-query q.fa -db db {search} -block_residues 400");
        let expected = place.run(&search);
        assert!(expected.code == Some(0) && expected.report.len() > 5_000, "{search}");
        let arguments = format!("{search} -metadata_out m -metadata report -timing t");
        let alone = through(&place, place.run(&arguments));
        alone.assert_is(&expected, &search);
        let read = || records(&fs::read(place.path("m")).expect("metadata"));
        let wanted = read();
        assert!(wanted.len() > 5, "{search}");
        let timing = fs::read(place.path("t")).expect("the timing");
        let timing: serde_json::Value = serde_json::from_slice(&timing).expect("JSON");
        let kind = &timing["metadata"]["kinds"][2];
        let blocks = Some(wanted.len() as u64 - 2);
        assert_eq!((kind["blocks"].as_u64(), kind["encoded_blocks"].as_u64()), (blocks, blocks));
        let shape = shapes[number % shapes.len()];
        through(&place, place.run(&format!("{arguments} {shape}"))).assert_is(&expected, shape);
        // The first record has the command line.
        assert!(read()[1..] == wanted[1..], "{search} {shape}");
    }
}

/// Makes the report from metadata `m` with alignments, and from the database of the I/O site.
/// Returns the results of the search with this report, and with the messages of both sites.
fn through_hits(place: &Place, searched: RunResults, options: &str) -> RunResults {
    assert!(searched.code == Some(0) && searched.report.is_empty(), "{}", searched.messages);
    let expanded = place.run_command(fleetblast(place, &format!("expand m -db db {options}")));
    assert_eq!(expanded.code, Some(0), "{}", expanded.messages);
    let messages = sort_lines(&(searched.messages + &expanded.messages));
    RunResults { report: expanded.report, messages, ..searched }
}

/// Sorts the lines of messages, which come from two sites.
fn sort_lines(messages: &str) -> String {
    let mut lines: Vec<&str> = messages.split_inclusive('\n').collect();
    lines.sort_unstable();
    lines.concat()
}

#[test]
fn alignments_of_all_rounds_make_the_report() {
    let place = Place::new();
    place.with("q.fa", 5, ">odd\nMKV1LAWGD2EFHIRNPQSTYC\n");
    let shapes = ["-ranks 1", "-ranks 4 -groups 2 -partitions 3", "-ranks 3 -output individual"];
    for (number, search) in sample(2, SEARCHES.iter().enumerate()) {
        let search = format!("-query q.fa -db db {search} -block_residues 400");
        let mut expected = place.run(&search);
        assert!(expected.code == Some(0) && expected.report.len() > 5_000, "{search}");
        expected.messages = sort_lines(&expected.messages);
        let arguments = format!("{search} -metadata_out m");
        through_hits(&place, place.run(&arguments), "").assert_is(&expected, &search);
        let wanted = records(&fs::read(place.path("m")).expect("metadata"));
        let shape = shapes[number % shapes.len()];
        through_hits(&place, place.run(&format!("{arguments} {shape}")), "")
            .assert_is(&expected, shape);
        // The first record has the command line.
        let read = records(&fs::read(place.path("m")).expect("metadata"));
        assert!(read[1..] == wanted[1..], "{search} {shape}");
        let made = format!("{search} -ranks 4 -io_ranks 2");
        let mut made = place.run(&made);
        made.messages = sort_lines(&made.messages);
        made.assert_is(&expected, "I/O ranks");
    }
}

#[test]
fn the_format_is_chosen_where_the_report_is_made() {
    let place = Place::new();
    let search = "-query q.fa -db db -num_iterations 3";
    assert_eq!(place.run(&format!("{search} -metadata_out m -outfmt 6")).code, Some(0));
    let formats = ["0 -html", "5", "15", "16", "7", "10", "0"];
    for format in formats.map(|format| format!("-outfmt {format}")) {
        let expected = place.run(&format!("{search} {format}")).report;
        let made = place.run_command(fleetblast(&place, &format!("expand m -db db {format}")));
        assert!(made.report == expected, "{format}: {}", made.messages);
    }
    for format in ["15", "16"] {
        let words = format!("expand m -db db -outfmt {format} -query q7 -out r");
        let refused = place.run_command(fleetblast(&place, &words));
        assert_eq!(refused.code, Some(1));
        assert!(refused.messages.contains("-query with formats 15 and 16"), "{}", refused.messages);
        assert!(!place.path("r").exists());
    }
    // In a report of some queries, the searches have the numbers of the whole report.
    let whole = String::from_utf8(place.run(&format!("{search} -outfmt 5")).report).expect("text");
    let part = place.run_command(fleetblast(&place, "expand m -db db -outfmt 5 -query q7"));
    let part = String::from_utf8(part.report).expect("text");
    let iterations: Vec<&str> = part.split("<Iteration>").skip(1).collect();
    assert!(!iterations.is_empty() && iterations.len() < whole.split("<Iteration>").count() / 2);
    for iteration in iterations {
        let (iteration, _) = iteration.split_once("</Iteration>").expect("an iteration");
        assert!(whole.contains(iteration), "{iteration}");
    }
}

/// For an XML report, PSSMs are made only from the subjects that it shows. So its searches differ
/// from those of other formats if there are more subjects.
#[test]
fn another_format_that_would_have_been_searched_for_otherwise_is_refused() {
    let place = Place::new();
    for (rounds, typed, chosen, refused) in [
        (3, "0", "5", true),
        (3, "5", "6", true),
        (1, "5", "7", true),
        (3, "0", "7", false),
        (1, "0", "5", false),
        (3, "0", "15", true),
        (3, "16", "6", true),
        (3, "15", "5", false),
    ] {
        let search = format!("-query q.fa -db db -num_iterations {rounds} -max_target_seqs 5");
        let searched = place.run(&format!("{search} -outfmt {typed} -metadata_out m"));
        assert_eq!(searched.code, Some(0), "{}", searched.messages);
        let words = format!("expand m -db db -outfmt {chosen} -out r");
        let made = place.run_command(fleetblast(&place, &words));
        if refused {
            assert_eq!(made.code, Some(1), "{rounds} {typed} {chosen}");
            assert!(made.messages.contains("the next matrix is made of"), "{}", made.messages);
            assert!(!place.path("r").exists());
        } else {
            assert_eq!(made.code, Some(0), "{}", made.messages);
            let expected = place.run(&format!("{search} -outfmt {chosen}")).report;
            assert!(fs::read(place.path("r")).expect("a report") == expected);
            fs::remove_file(place.path("r")).expect("a report");
        }
    }
}

/// Metadata that are cut off or damaged at any place are refused.
#[test]
fn iterations_of_another_search_are_refused() {
    let place = Place::new();
    let search = "-query q.fa -db db -num_iterations 3 -metadata_out";
    assert_eq!(place.run(&format!("{search} m")).code, Some(0));
    let whole = fs::read(place.path("m")).expect("metadata");
    for end in (0..whole.len()).step_by(whole.len() / 40) {
        fs::write(place.path("m"), &whole[..end]).expect("a file");
        let made = place.run_command(fleetblast(&place, "expand m -db db -outfmt 6 -out r"));
        assert_eq!(made.code, Some(1), "{end}: {}", made.messages);
        let mut damaged = whole.clone();
        damaged[end] ^= 0x10;
        fs::write(place.path("m"), &damaged).expect("a file");
        _ = fs::remove_file(place.path("r"));
        let made = place.run_command(fleetblast(&place, "expand m -db db -outfmt 6 -out r"));
        assert_eq!(made.code, Some(1), "{end}: {}", made.messages);
        assert!(!place.path("r").exists(), "{end}");
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
        let command = place.prepare(crate::launched::launched(program, 3), &made);
        place.run_command(command).assert_is(&expected, "processes");
    }
}

#[test]
fn some_queries_are_a_part_of_the_report() {
    let place = Place::new();
    let search = "-query q.fa -db db -num_iterations 3 -outfmt 6 -block_residues 400";
    let whole = String::from_utf8(place.run(search).report).expect("text");
    // The part of a query has all of its searches, and the lines that end them.
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
    let part = place.run_command(fleetblast(&place, "expand m -query q7,q3"));
    assert_eq!(String::from_utf8(part.report).expect("text"), own("q3") + &own("q7"));
    let none = place.run_command(fleetblast(&place, "expand m -query q99"));
    assert!(none.messages.contains("there is no query q99"), "{}", none.messages);
}

#[test]
fn what_would_be_half_right_is_refused_by_name() {
    let place = Place::new();
    place.write("pattern", "PA   [LIVM]-x-[LIVM].\n");
    let search = "-query q.fa -db db -num_iterations 2 -metadata_out m";
    for (options, what) in [
        (
            "-phi_pattern pattern",
            "psiblast -phi_pattern with -metadata hits (the default) yet; use -metadata report",
        ),
        (
            "-phi_pattern pattern -metadata hits",
            "psiblast -phi_pattern with -metadata hits (the default) yet",
        ),
        ("-metadata oids -ranks 2", "-metadata oids yet"),
        ("-metadata auto", "-metadata auto yet"),
        ("-metadata report -out x", "-out"),
        ("-out_pssm ./m", "-metadata_out and -out_pssm both name m"),
        ("-out_ascii_pssm m -timing t", "-metadata_out and -out_ascii_pssm both name m"),
        ("-metadata report -ranks 2 -plan", "-plan"),
    ] {
        let results = place.run(&format!("{search} {options}"));
        assert_eq!(results.code, Some(1), "{options}: {}", results.messages);
        assert!(results.messages.contains(what), "{options}: {}", results.messages);
        assert!(!place.path("m").exists(), "{options}");
    }
    let ranks = "-query q.fa -db db -ranks 3 -io_ranks 1 -out r -metadata oids";
    let results = place.run(ranks);
    assert!(results.messages.contains("-metadata oids"), "{}", results.messages);
    assert!(results.code == Some(1) && !place.path("r").exists());
    assert_eq!(place.run(&format!("{search} -metadata report")).code, Some(0));
    for (options, what) in [
        ("-db db", "m holds the report of psiblast as it is: name no -db or -subject"),
        ("-outfmt 6", "m holds the report as it is, so that -outfmt cannot change it"),
    ] {
        let results = place.run_command(fleetblast(&place, &format!("expand m {options} -out r")));
        assert_eq!(results.code, Some(1), "{}", results.messages);
        assert!(results.messages.contains(what), "{}", results.messages);
        assert!(!place.path("r").exists());
    }
}

/// If the search fails before the end of the report, the I/O site has no report.
#[test]
fn a_query_that_ends_the_search_leaves_nothing_by_halves() {
    let place = Place::new();
    place.with("bad.fa", 9, &format!(">x\n{}\n", "X".repeat(30)));
    let search = "-query bad.fa -db db -num_iterations 3 -out_pssm kept/p -save_each_pssm";
    let expected = place.run(search);
    assert_eq!(expected.code, Some(3), "{}", expected.messages);
    for ranks in [
        "report",
        "report -ranks 3 -block_residues 300",
        "hits",
        "hits -ranks 3 -block_residues 300",
    ] {
        let results = place.run(&format!("{search} -metadata_out m -metadata {ranks}"));
        assert!(results.report.is_empty() && !place.path("m").exists(), "{ranks}");
        let report = expected.report.clone();
        let messages = match ranks.starts_with("report") {
            true => results.messages,
            // The I/O site prints the warnings that go with the report.
            false => {
                assert!(expected.messages.ends_with(&results.messages), "{}", results.messages);
                expected.messages.clone()
            }
        };
        RunResults { report, messages, ..results }.assert_is(&expected, ranks);
    }
    let results = place.run(&format!("{search} -metadata report -ranks 3 -io_ranks 1 -out r"));
    assert_eq!((results.code, &results.messages), (expected.code, &expected.messages));
    assert!(!place.path("r").exists());
    // BLAST+ calls this input empty.
    place.write("empty.fa", "");
    let search = "-query empty.fa -db db -num_iterations 3";
    let expected = place.run(search);
    for ranks in ["", "-ranks 2"] {
        let searched = place.run(&format!("{search} -metadata_out m -metadata report {ranks}"));
        through(&place, searched).assert_is(&expected, ranks);
    }
}

/// A resumed search repeats all iterations, since the numbers of searches and the PSSMs depend on
/// the earlier ones. It does not send again the blocks that the I/O site has.
#[test]
fn a_search_that_is_killed_goes_on_at_the_other_site() {
    let place = Place::new();
    place.write(
        "many.fa",
        &(6..8).flat_map(|seed| crate::family::queries(seed, 16)).collect::<String>(),
    );
    let key = |name: &str| {
        let results = place.run_command(fleetblast(&place, &format!("keygen {name}")));
        String::from_utf8(results.report).expect("text").trim().to_owned()
    };
    let keys = ["search_site", "io_site"].map(key);
    let mut interrupted = 0;
    for (number, search) in SEARCHES[..2].iter().cycle().take(4).enumerate() {
        let search = format!("-query many.fa -db db {search} -block_residues 400");
        let expected = place.run(&search);
        let (kind, database) = [("report", ""), ("hits", "-db db")][number / 2];
        let words =
            format!("receive -listen 127.0.0.1:0 -out r -key io_site -peer {} {database}", keys[0]);
        let receiver = crate::link::Receiver::new(fleetblast(&place, &words));
        let link = format!(
            "-send {} -key search_site -peer {} -link_timeout 60",
            receiver.address, keys[1]
        );
        let ranks =
            if number % 2 == 0 { "" } else { &format!("-ranks 2 -checkpoint {kind} -resume") };
        let sent = format!("{search} -metadata {kind} {link} {ranks}");
        let mut killed =
            place.command(&sent).stderr(std::process::Stdio::null()).spawn().expect("a search");
        let came = || fs::metadata(place.path("r.fbm")).map_or(0, |meta| meta.len());
        wait_until("a record", || came() > 3000 || killed.try_wait().expect("a child").is_some());
        killed.kill().expect("a child");
        interrupted += usize::from(!killed.wait().expect("a child").success());
        std::thread::sleep(Duration::from_millis(300));
        let mut results = place.run(&sent);
        assert_eq!(results.code, Some(0), "{sent}: {}", results.messages);
        // Messages about the checkpoint come first. The I/O site prints the warnings that belong to
        // alignments.
        let is_alike = kind == "hits" || results.messages.ends_with(&expected.messages);
        assert!(is_alike, "{sent}: {}", results.messages);
        results.messages.clone_from(&expected.messages);
        receiver.must_end();
        results.report = fs::read(place.path("r")).expect("a report");
        fs::remove_file(place.path("r")).expect("a report");
        results.assert_is(&expected, &sent);
    }
    assert!(interrupted > 0, "no search was killed before it was through");
}

#[cfg(feature = "mpi")]
#[test]
fn all_ranks_of_a_job_make_the_report_of_a_file() {
    let place = Place::new();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_fleetblast"));
    let on_ranks = |ranks: u32, words: &str| {
        let mut command = crate::launched::launched(program, ranks);
        command.args(words.split_whitespace()).current_dir(place.path(""));
        command.stdin(std::process::Stdio::null());
        place.run_command(command)
    };
    let search = "-query q.fa -db db -num_iterations 3 -block_residues 400";
    for (ranks, kind, format, db) in
        [(3, "hits", "5", "-db db"), (2, "report", "7", ""), (4, "hits", "7", "-db db")]
    {
        let expected = place.run(&format!("{search} -outfmt {format}"));
        let arguments = format!("{search} -outfmt {format} -metadata_out m -metadata {kind}");
        assert_eq!(place.run(&arguments).code, Some(0));
        let made = on_ranks(ranks, &format!("expand m {db} -out r"));
        assert_eq!(made.code, Some(0), "{kind}: {}", made.messages);
        assert!(fs::read(place.path("r")).expect("a report") == expected.report, "{kind}");
        fs::remove_file(place.path("r")).expect("a report");
    }
    let whole = fs::read(place.path("m")).expect("metadata");
    fs::write(place.path("cut"), &whole[..whole.len() * 2 / 3]).expect("a file");
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    fs::write(place.path("bad"), damaged).expect("a file");
    for (words, what) in [
        ("expand cut -db db", "cut is cut off"),
        ("expand bad -db db", "bad is damaged"),
        ("expand none -db db", "cannot open none"),
        ("expand m -db q.fa", "q.fa"),
        ("expand m -db db -query q3", "expand -query on ranks yet"),
    ] {
        let made = on_ranks(3, &format!("{words} -out r"));
        assert_ne!(made.code, Some(0), "{words}");
        assert!(made.messages.contains(what), "{words}: {}", made.messages);
        assert!(!place.path("r").exists(), "{words}");
    }
}
