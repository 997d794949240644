//! `psiblast -phi_pattern`: searches that begin where a pattern occurs, and the iterations after
//! them.

use std::fs;

use crate::common::{Fixture, complaint};
use crate::family::queries;
use crate::psiblast::{compare, fixture};
use crate::psiblast_ranks::Place;

/// A pattern that the family has, and one that it lacks.
const FILES: &[(&str, &str)] =
    &[("some", "ID   OWN\nPA   [AS]-[AS]-x-[AS].\n"), ("none", "PA   W-W-W-H-W\n")];

/// Options of searches with one query; `|` separates words.
const LINES: &[&str] = &[
    "-phi_pattern|some|-outfmt|0",
    "-phi_pattern|some|-num_iterations|3|-outfmt|0|-out_pssm|kept/p|-out_ascii_pssm|kept/a|-save_each_pssm",
    "-phi_pattern|some|-num_iterations|2|-outfmt|5|-out_ascii_pssm|kept/a|-save_pssm_after_last_round",
    "-phi_pattern|some|-outfmt|7|-out_pssm|kept/p|-save_pssm_after_last_round",
    "-phi_pattern|none|-num_iterations|2|-outfmt|6|-out_pssm|kept/p",
    "-phi_pattern|some|-num_iterations|2|-outfmt|6|-max_target_seqs|3|-line_length|50",
    "-phi_pattern|some|-outfmt|0|-word_size|7|-xdrop_ungap|0",
    "-phi_pattern|some|-num_iterations|2|-outfmt|0|-threshold|0",
];

/// Makes a fixture with the patterns, and with each of the two queries in a file of its own.
fn patterns() -> Fixture {
    let fixture = fixture();
    let write = |name: &str, text: &str| fs::write(fixture.path().join(name), text);
    for (name, text) in FILES {
        write(name, text).expect("a pattern");
    }
    let few = fs::read_to_string(fixture.path().join("few.fa")).expect("queries");
    let (first, second) = few.split_at(few.rfind('>').expect("two queries"));
    write("first.fa", first).and_then(|()| write("second.fa", second)).expect("queries");
    fixture
}

#[test]
fn rounds_behind_a_pattern_are_those_of_the_oracle() {
    let lines = LINES.iter().map(|line| format!("-query|first.fa|-db|family|{line}"));
    compare(&patterns(), lines);
}

/// With several queries the oracle crashes in iterations.
#[test]
fn several_queries_find_in_rounds_what_each_finds_alone() {
    let fixture = patterns();
    if fixture.oracle.is_none() {
        return;
    }
    let found = |query: &str| {
        let line =
            format!("-query|{query}.fa|-db|family|-phi_pattern|some|-num_iterations|3|-outfmt|6");
        let output = fixture.run(&fixture.called("psiblast"), &Fixture::words(&line), &[]);
        assert!(output.status.success(), "{query}: {}", complaint(&output));
        output.stdout
    };
    let [first, second] = ["first", "second"].map(found);
    assert!(!first.is_empty() && !second.is_empty());
    assert!(found("few") == [first, second].concat());
}

/// Options of searches with many queries and a pattern that most subjects have, often several
/// times.
const SHARED: &[&str] = &[
    "-num_iterations 3 -outfmt 0 -out_pssm kept/p -out_ascii_pssm kept/a -save_each_pssm",
    "-num_iterations 2 -outfmt 5 -max_target_seqs 9",
    "-num_iterations 2 -outfmt 7 -line_length 50",
    "-outfmt 6 -max_target_seqs 5 -evalue 1000",
    "-outfmt 0 -html -sorthits 3",
    "-outfmt 5 -out_pssm kept/p -save_pssm_after_last_round",
];

/// Options for ranks that share a search.
const SHAPES: &[&str] = &[
    "-ranks 2 -block_residues 1",
    "-ranks 4 -groups 2 -block_residues 700 -partitions 3",
    "-ranks 3 -block_residues 1000 -partitions 5 -output individual",
    "-ranks 7 -groups 3 -block_residues 400 -output collective",
];

/// Number of queries in a search on ranks. They are few, since each has hits everywhere.
const QUERIES: usize = 6;

/// Makes a directory with patterns and queries. The fifth query of `missing.fa` lacks the pattern.
fn make_place() -> Place {
    let place = Place::new();
    place.write("often", "PA   [LIVMA]-x-[LIVMAST]\n");
    let mut all = queries(6, QUERIES);
    place.write("q.fa", &all.concat());
    all.insert(4, ">lacks\nWWHWWHWWKWWRWWHWWKWWHWWKWWRWWHWW\n".to_owned());
    place.write("missing.fa", &all.concat());
    place
}

#[test]
fn ranks_find_by_a_pattern_what_one_process_finds() {
    let place = make_place();
    for (number, search) in SHARED.iter().enumerate() {
        let query = ["q.fa", "missing.fa"][usize::from(number % 3 == 2)];
        let search = format!("-query {query} -db db -phi_pattern often {search}");
        let expected = place.run(&search);
        assert_eq!(expected.code == Some(0), query == "q.fa", "{search}: {}", expected.messages);
        assert!(expected.report.len() > 3_000, "{search}: {}", expected.report.len());
        let shape = SHAPES[number % SHAPES.len()];
        place.run(&format!("{search} {shape}")).assert_is(&expected, &format!("{search} {shape}"));
    }
}

/// A search that is resumed with another pattern in the file would mix the results of both.
#[test]
fn a_search_does_not_go_on_with_another_pattern() {
    let place = make_place();
    let search = "-query missing.fa -db db -phi_pattern often -outfmt 6 -ranks 2 -block_residues 1 -out r -checkpoint c";
    // The search ends at the query that lacks the pattern, and keeps the report before it.
    assert_eq!(place.run(search).code, Some(3));
    place.write("often", "PA   [LIVMA]-x-[LIVMAS]\n");
    let other = place.run(&format!("{search} -resume"));
    assert_eq!(other.code, Some(1), "{}", other.messages);
    assert!(other.messages.contains("-phi_pattern"), "{}", other.messages);
    place.write("often", "PA   [LIVMA]-x-[LIVMAST]\n");
    assert_eq!(place.run(&format!("{search} -resume")).code, Some(3));
}

#[test]
fn records_of_searches_by_a_pattern_are_its_report() {
    let place = make_place();
    let search = "-query q.fa -db db -phi_pattern often -num_iterations 2 -outfmt 0";
    let expected = place.run(search);
    let made = place.run(&format!("{search} -ranks 3 -block_residues 500 -output records -out r"));
    assert_eq!((made.code, &made.messages), (Some(0), &expected.messages));
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fleetblast"));
    let cat = command.args(["cat", "r"]).current_dir(place.path("")).output();
    assert!(cat.expect("the program runs").stdout == expected.report, "records differ");
}

#[cfg(feature = "mpi")]
#[test]
fn processes_count_a_pattern_together() {
    use crate::launched::launched;
    let place = make_place();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_fleetblast"));
    for (search, processes) in SHARED.iter().zip([2, 3, 5]) {
        let search = format!("-query q.fa -db db -phi_pattern often {search}");
        let expected = place.run(&search);
        let shared = format!("{search} -block_residues 700");
        let command = place.prepare(launched(program, processes), &shared);
        place.run_command(command).assert_is(&expected, &format!("{processes}: {search}"));
    }
}
