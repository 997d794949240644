//! `psiblast -in_pssm`: the hits of a PSSM from a file, and the errors for damaged files, equal the
//! oracle's.

use std::fs;

use fleetblast_oracle::sample;
use fleetblast_report::scoremat::{self, ParsedCheckpoint};

use crate::common::{Fixture, complaint};
use crate::psiblast::{compare, fixture};

/// Options of searches with a PSSM; `{}` stands for the format, and `|` separates words.
const SEARCHES: &[&str] = &[
    "-outfmt|{}",
    "-num_iterations|3|-outfmt|{}",
    "-num_iterations|0|-seg|yes|-outfmt|{}",
    "-num_iterations|2|-comp_based_stats|0|-outfmt|{}",
    "-num_iterations|2|-matrix|BLOSUM45|-outfmt|{}",
    "-num_iterations|2|-gapopen|9|-gapextend|2|-use_sw_tback|-outfmt|{}",
    "-num_iterations|3|-evalue|1e-300|-save_pssm_after_last_round|-outfmt|{}",
];

/// Damage to a file: a text, its replacement, and then BLAST+'s exit code and message.
const DAMAGE: &[(&str, &str, u8, &str)] = &[
    (
        "numColumns",
        "numCols",
        1,
        "Unrecognized format for PSSM in bad (must be PssmWithParameters)",
    ),
    (
        "PssmWithParameters",
        "Pssm",
        1,
        "Unrecognized format for PSSM in bad (must be PssmWithParameters)",
    ),
    ("params {", "params", 1, "Unrecognized format for PSSM in bad (must be PssmWithParameters)"),
    ("PssmWithParameters ::= {", ">q", 1, "Unsupported format for PSSM"),
    ("isProtein TRUE", "isProtein FALSE", 3, "PSSM does not represent protein scoring matrix"),
    ("lambdaUngapped", "scalingFactor 100, lambdaUngapped", 3, "PSSM has a scaling factor of 100."),
    ("mol aa", "mol dna", 3, "Nucleotide Bioseq specified in program which expects protein query"),
];

/// Makes the fixture of `psiblast`, with the PSSMs `text` and `observed` that the oracle wrote,
/// `named` without a title, and `binary`. Returns `None` without the oracle.
fn with_matrices() -> Option<Fixture> {
    let fixture = fixture();
    let oracle = fixture.oracle?;
    let line = "-query|few.fa|-db|family|-num_iterations|2|-outfmt|6";
    for (name, more) in [("text", ""), ("observed", "|-out_ascii_pssm|a")] {
        let line = format!("{line}|-out_pssm|{name}{more}");
        let made = fixture.run(&oracle.program("psiblast"), &Fixture::words(&line), &[]);
        assert!(made.status.success(), "{}", complaint(&made));
    }
    let text = fs::read_to_string(fixture.path().join("text")).expect("a matrix");
    let (start, end) =
        (text.find("      descr {").expect("a title"), text.find("      inst {").expect("letters"));
    let write =
        |name: &str, bytes: &[u8]| fs::write(fixture.path().join(name), bytes).expect("a file");
    let named = format!("{}{}", &text[..start], &text[end..]).replace("Query_2", "a name");
    write("named", named.as_bytes());
    write("binary", &binary(&scoremat::read_checkpoint(text.as_bytes()).expect("a matrix")));
    Some(fixture)
}

/// Encodes a value with its tag. A composite value has an explicit end, as NCBI's toolkit wants it.
fn encode_tagged(tag: u8, contents: &[u8]) -> Vec<u8> {
    if tag & 0x20 != 0 {
        return [&[tag, 0x80], contents, &[0, 0]].concat();
    }
    let bytes = contents.len().to_be_bytes();
    let length = &bytes[bytes.iter().position(|&byte| byte != 0).unwrap_or(bytes.len() - 1)..];
    let many = if contents.len() < 128 { None } else { Some(0x80 | length.len() as u8) };
    [&[tag][..], many.as_slice(), length, contents].concat()
}

/// Encodes a sequence of fields with their numbers.
fn fields(fields: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let fields = fields.iter().map(|(number, value)| encode_tagged(0xa0 | number, value));
    encode_tagged(0x30, &fields.collect::<Vec<_>>().concat())
}

fn integer(number: i32) -> Vec<u8> {
    encode_tagged(2, &number.to_be_bytes())
}

fn real(number: f64) -> Vec<u8> {
    encode_tagged(9, format!("\0{number:e}").as_bytes())
}

/// Encodes a PSSM in binary ASN.1.
fn binary(read: &ParsedCheckpoint) -> Vec<u8> {
    let text = |text: &[u8]| encode_tagged(0x1a, text);
    let list = |values: Vec<Vec<u8>>| encode_tagged(0x30, &values.concat());
    let (scores, [lambda, k, h]) = read.scores.clone().expect("scores");
    let [ungapped_lambda, ungapped_k, ungapped_h] = read.ungapped_parameters.expect("statistics");
    let name = encode_tagged(0xa0, &encode_tagged(0xa1, &text(&read.id.text())));
    let title = encode_tagged(0xa4, &text(read.title.as_deref().expect("a title")));
    let letters = encode_tagged(0xa9, &encode_tagged(4, &read.query));
    let length = integer(read.query.len() as i32);
    let instance = fields(&[
        (0, encode_tagged(10, &[2])),
        (1, encode_tagged(10, &[3])),
        (2, length.clone()),
        (6, letters),
    ]);
    let sequence =
        fields(&[(0, encode_tagged(0x31, &name)), (1, encode_tagged(0x31, &title)), (2, instance)]);
    let frequencies = read.frequencies.clone().expect("frequencies").concat();
    let last = fields(&[
        (0, list(scores.concat().into_iter().map(integer).collect())),
        (1, real(lambda)),
        (2, real(k)),
        (3, real(h)),
        (5, real(ungapped_lambda)),
        (6, real(ungapped_k)),
        (7, real(ungapped_h)),
    ]);
    let pssm = fields(&[
        (0, encode_tagged(1, &[0xff])),
        (2, integer(28)),
        (3, length),
        (5, encode_tagged(1, &[0])),
        (6, encode_tagged(0xa0, &sequence)),
        (7, fields(&[(2, list(frequencies.into_iter().map(real).collect()))])),
        (8, last),
    ]);
    let (open, extend) = read.gap_costs.expect("gaps");
    let scoring = fields(&[(0, text(&read.matrix_name)), (1, integer(open)), (2, integer(extend))]);
    fields(&[(0, pssm), (1, fields(&[(0, integer(read.pseudocount)), (1, scoring)]))])
}

#[test]
fn matrices_find_what_they_find_in_the_oracle() {
    let Some(fixture) = with_matrices() else { return };
    let files = ["text", "observed", "named", "binary"];
    let lines = files.iter().flat_map(|file| {
        SEARCHES.iter().flat_map(move |search| {
            ["0", "5", "6", "7", "10"].map(|format| {
                let search = search.replace("{}", format);
                format!("-in_pssm|{file}|-db|family|{search}|-out_pssm|kept/p|-out_ascii_pssm|kept/a|-save_each_pssm")
            })
        })
    });
    compare(&fixture, sample(5, lines));
}

#[test]
fn damaged_matrices_are_refused_in_the_words_of_the_oracle_and_with_their_place() {
    let Some(fixture) = with_matrices() else { return };
    let oracle = fixture.oracle.expect("it made the matrices").program("psiblast");
    let ours = fixture.called("psiblast");
    let text = fs::read_to_string(fixture.path().join("text")).expect("a matrix");
    let line = Fixture::words("-in_pssm|bad|-db|family|-outfmt|6");
    let half = text[..text.len() / 2].to_owned();
    let damaged =
        DAMAGE.iter().map(|&(from, to, code, words)| (text.replacen(from, to, 1), code, words));
    let cut = (half, 1, "Unrecognized format for PSSM in bad (must be PssmWithParameters)");
    for (bad, code, words) in damaged.chain([cut]) {
        fs::write(fixture.path().join("bad"), bad).expect("a file");
        for program in [&oracle, &ours] {
            let output = fixture.run(program, &line, &[]);
            let said = complaint(&output);
            assert!(
                said.starts_with(&format!("exit code Some({code})")) && said.contains(words),
                "{said}"
            );
            assert!(output.stdout.is_empty());
            assert!(
                program == &oracle || !words.starts_with("Unrec") || said.contains("(bad, byte "),
                "{said}"
            );
        }
    }
}

#[test]
fn matrices_that_are_not_supported_are_refused_by_name() {
    let Some(fixture) = with_matrices() else { return };
    let ours = fixture.called("psiblast");
    let text = fs::read_to_string(fixture.path().join("text")).expect("a matrix");
    for (from, to, more, words) in [
        ("byRow FALSE", "byRow TRUE", "", "a PSSM by rows"),
        ("numRows 28", "numRows 26", "", "of other than 28 rows"),
        ("local str \"Query_2\"", "gi 5", "", "an identifier that is not local"),
        ("PssmWithParameters", "<?xml?>", "", "a PSSM in XML"),
        ("pseudocount 0,", "", "|-out_pssm|p", "more or less than psiblast writes"),
    ] {
        fs::write(fixture.path().join("bad"), text.replacen(from, to, 1)).expect("a file");
        let output =
            fixture.run(&ours, &Fixture::words(&format!("-in_pssm|bad|-db|family{more}")), &[]);
        let said = complaint(&output);
        assert!(said.starts_with("exit code Some(1)") && said.contains(words), "{said}");
        assert!(output.stdout.is_empty() && !fixture.path().join("p").exists());
    }
}
