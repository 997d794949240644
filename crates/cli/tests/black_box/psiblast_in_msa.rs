//! `psiblast -in_msa`: the hits of an alignment, and the errors for malformed files, equal the
//! oracle's.

use std::fs;

use fleetblast_oracle::sample;

use crate::common::{Fixture, complaint};
use crate::psiblast::{compare, fixture};

/// BLAST+'s message about any file that is no alignment.
const NONE: &str =
    "BLAST query error: CAlnReader::GetSeqEntry(): Seq_entry is not available until after Read()";

/// Two rows of proteins.
const ROWS: [&str; 2] = ["MKVLAW-GDEFHIRNPQSTYC", "MKILAWWGDEFHLRNPQS--C"];

/// Files that both programs refuse: contents, exit code, words of BLAST+'s message, and the words
/// that FleetBLAST adds.
const REFUSED: &[(&str, u8, &str, &str)] = &[
    ("", 1, NONE, "(bad: this is neither aligned FASTA nor Clustal W nor PHYLIP)"),
    (">q\nMKV\n", 1, NONE, "(bad: there is one sequence only)"),
    (">q\nMKV\n>r\nMK\n", 1, NONE, "(bad, line 4: "),
    (">q\nMKV\n>q\nMKL\n", 1, NONE, "(bad, line 3: "),
    (">q|x\nMKV\n>r\nMKL\n", 1, NONE, "(bad, line 1: "),
    (">q\nMK.\n>r\nMKL\n", 1, NONE, "(bad, line 2: "),
    ("CLUSTALW\n\nq MKV\nr MKL\n", 1, NONE, "(bad, line 4: "),
    ("CLUSTAL O(1.2.4)\n\nq MKV\nr MKL\n ***\n", 1, NONE, "(bad: "),
    ("2 4\nq MKV\nr MKL\n", 1, NONE, "(bad, line 1: "),
    (
        ">q\n---\n>r\nMKL\n",
        3,
        "BLAST engine error: Query length provided by IPssmInputData is 0",
        "",
    ),
    (
        ">q\nMKVLAWGDEF\n>r\nACGTUACGTA\n",
        1,
        "BLAST query error: Invalid Mol Type: U and T cannot appear in the same nucleotide sequence.",
        "(bad: the sequence that begins in line 3 ",
    ),
];

/// Files that BLAST+ reads or that crash it, with the reason why FleetBLAST refuses them.
const OWN: &[(&str, u8, &str)] = &[
    (">q\nMK\nVL\n>r\nMK\n", 1, "(bad, line 4: 2 columns, where the first has 4)"),
    (">q\nMK*L\n>r\nMKVL\n", 3, "which is to be the query, has a"),
    (">q\nACGTACGT\n>r\nMKVLAWGD\n", 255, "the sequence that begins in line 1 is one of bases"),
    ("#NEXUS\nbegin data;\n", 1, "does not support -in_msa with an alignment in NEXUS"),
    (">q [strain=x]\nMKVL\n>r\nMKVL\n", 1, "does not support -in_msa with modifiers"),
    (">sp|P69905|HBA_HUMAN\nMKVL\n>r\nMKIL\n", 1, "a query whose identifier is not local"),
];

/// Options of searches that begin with an alignment.
const SEARCHES: &[&str] = &[
    "",
    "|-msa_master_idx|2|-num_iterations|2",
    "|-ignore_msa_master|-num_iterations|3",
    "|-num_iterations|2|-matrix|BLOSUM45",
    "|-num_iterations|3|-pseudocount|9|-comp_based_stats|0",
];

#[test]
fn alignments_find_what_they_find_in_the_oracle() {
    let fixture = fixture();
    let family = fs::read_to_string(fixture.path().join("family.fa")).expect("proteins");
    let letters: Vec<&str> = family.lines().filter(|line| !line.starts_with('>')).collect();
    // The rows are similar. The last ones have a gap, and the second one has columns of its own.
    let row = |number: usize| {
        let gap = if number > 2 { "-".repeat(number + 5) } else { String::new() };
        let inserted = if number == 1 { "WW" } else { "--" };
        let letters = letters[4 * number];
        format!("{}{inserted}{gap}{}", &letters[..50], &letters[50 + gap.len()..])
    };
    let rows: Vec<String> = (0..6).map(row).collect();
    let named = || rows.iter().enumerate();
    let fasta: String = named().map(|(i, row)| format!(">row{i} of it\n{row}\n")).collect();
    let clustal: String = named().map(|(i, row)| format!("{i}    {row}\n")).collect();
    let clustal = format!("CLUSTAL W\n\n{clustal}  *\n");
    let phylip: String = named().map(|(i, row)| format!("row{i} {row}\n")).collect();
    let phylip = format!("6 {}\n{phylip}", rows[0].len());
    for (name, text) in [("fasta", fasta), ("clustal", clustal), ("phylip", phylip)] {
        fs::write(fixture.path().join(name), text).expect("a file");
    }
    let lines = ["fasta", "clustal", "phylip"].iter().flat_map(|file| {
        SEARCHES.iter().flat_map(move |search| {
            ["0", "5", "6", "7", "10"].map(|format| {
                format!("-in_msa|{file}|-db|family|-outfmt|{format}{search}|-out_pssm|kept/p|-out_ascii_pssm|kept/a|-save_each_pssm")
            })
        })
    });
    compare(&fixture, sample(6, lines));
}

#[test]
fn files_that_are_no_alignment_are_refused_in_the_words_of_the_oracle_and_with_their_place() {
    let fixture = fixture();
    let Some(oracle) = fixture.oracle else { return };
    let theirs = oracle.program("psiblast");
    let ours = fixture.called("psiblast");
    let line = Fixture::words("-in_msa|bad|-db|family|-outfmt|6");
    for &(bad, code, words, more) in REFUSED {
        fs::write(fixture.path().join("bad"), bad).expect("a file");
        for (program, more) in [(&theirs, ""), (&ours, more)] {
            let output = fixture.run(program, &line, &[]);
            let said = complaint(&output);
            assert!(said.starts_with(&format!("exit code Some({code})")), "{bad:?}: {said}");
            assert!(said.contains(words) && said.contains(more), "{bad:?}: {said}");
            assert!(output.stdout.is_empty());
        }
    }
    for &(bad, code, words) in OWN {
        fs::write(fixture.path().join("bad"), bad).expect("a file");
        let output = fixture.run(&ours, &line, &[]);
        let said = complaint(&output);
        assert!(said.starts_with(&format!("exit code Some({code})")), "{bad:?}: {said}");
        assert!(said.contains(words) && output.stdout.is_empty(), "{bad:?}: {said}");
    }
}

#[test]
fn a_row_that_begins_with_another_cannot_stand_for_it() {
    let fixture = fixture();
    if fixture.oracle.is_none() {
        return;
    }
    let text = format!(">q\n{}\n>r\n{}\n", ROWS[0], ROWS[0].replace("TYC", "---"));
    fs::write(fixture.path().join("longer"), text).expect("a file");
    let ours = fixture.called("psiblast");
    let line = "-in_msa|longer|-msa_master_idx|2|-db|family";
    let output = fixture.run(&ours, &Fixture::words(line), &[]);
    let said = complaint(&output);
    assert!(said.starts_with("exit code Some(3)") && said.contains("and goes on"), "{said}");
    fs::write(fixture.path().join("plain"), format!(">q\n{}\n>r\n{}\n", ROWS[0], ROWS[1]))
        .expect("a file");
    let lines =
        ["1", "2", "3"].map(|row| format!("-in_msa|plain|-msa_master_idx|{row}|-db|family"));
    compare(&fixture, lines);
}
