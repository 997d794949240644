//! `psiblast -phi_pattern`: searches that begin where a pattern occurs, and the rounds behind them.

use std::fs;

use crate::common::{Fixture, complaint};
use crate::psiblast::{compare, fixture};

/// A pattern that the family has, and one that it lacks.
const FILES: &[(&str, &str)] =
    &[("some", "ID   OWN\nPA   [AS]-[AS]-x-[AS].\n"), ("none", "PA   W-W-W-H-W\n")];

/// Searches of one query.
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

/// A fixture with the patterns, and each of the two queries alone.
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

/// With several queries the oracle crashes in rounds.
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
