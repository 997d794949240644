use std::sync::LazyLock;

use fleetblast_engine::pssm::{ColumnResults, Pssm};
use fleetblast_seq::alphabet::SIZE;
use fleetblast_stats::karlin::KarlinParameters;

use super::*;
use crate::scoremat::{PssmDescription, write_checkpoint};

/// Returns the PSSM of a query of two letters, with numbers that 15 digits represent exactly.
fn pssm() -> Pssm {
    let block = |lambda: f64, k: f64, h| KarlinParameters { lambda, k, log_k: k.ln(), h };
    let frequencies =
        [0.25, 0.5].map(|share| std::array::from_fn(|code| share / (1 + code) as f64));
    Pssm {
        query: vec![12, 10],
        scores: vec![std::array::from_fn(|code| code as i32 - 9), [-32768; SIZE]],
        frequencies: frequencies
            .map(|column: ByCode| column.map(|share| (share * 1e9).round() / 1e9))
            .to_vec(),
        ungapped: block(0.3175, 0.133, 0.361),
        gapped: block(0.267, 0.041, 0.14),
        observed: Some(ColumnResults {
            weighted: vec![[0.5; SIZE], [0.125; SIZE]],
            information: vec![0.5, 0.0],
            gapless: vec![1.25, 0.0],
            letter_kinds_sum: vec![3.0, 4.0],
            intervals: vec![2, 2],
            matching: vec![7, 1],
        }),
    }
}

fn id() -> ObjectId {
    ObjectId::Text(b"Query_1".to_vec())
}

static TEXT: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let title: &[u8] = b"a title \"in quotes\" that is so long that it goes on in the next line, and then there is more";
    let description = PssmDescription {
        id: id(),
        title: Some(title.to_vec()),
        has_text_residues: false,
        has_intermediate_data: true,
        matrix_name: "BLOSUM62".to_owned(),
        gap_costs: Some((11, 1)),
        pseudocount: 0,
    };
    write_checkpoint(&description, &pssm())
});

/// Returns the text of the checkpoint with `from` replaced by `to`.
fn with(from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8_lossy(&TEXT);
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1).into_bytes()
}

#[test]
fn what_was_written_is_read() {
    let read = read_checkpoint(&TEXT).unwrap();
    let pssm = pssm();
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-15 * b;
    assert_eq!((&read.id, &read.query), (&id(), &pssm.query));
    assert!(read.title.unwrap().ends_with(
        b"\"in quotes\" that is so long that it goes on in the next line, and then there is more"
    ));
    let (scores, [lambda, k, h]) = read.scores.unwrap();
    assert_eq!(scores, pssm.scores);
    assert!(near(lambda, 0.267) && near(k, 0.041) && near(h, 0.14));
    let expected = read.frequencies.unwrap().concat();
    assert!(expected.iter().zip(pssm.frequencies.concat()).all(|(&a, b)| near(a, b)));
    assert_eq!(read.observed, pssm.observed);
    assert!(read.is_complete && !read.has_text_residues);
    assert_eq!(
        (read.matrix_name.as_slice(), read.gap_costs, read.pseudocount),
        (&b"BLOSUM62"[..], Some((11, 1)), 0)
    );
}

#[test]
fn what_is_missing_or_more_is_seen() {
    let more = read_checkpoint(&with("numRows", "identifier str \"x\",\n numRows")).unwrap();
    assert!(!more.is_complete);
    let comment =
        [b"-- a comment\n".as_slice(), &with("byRow FALSE,", "-- another -- byRow FALSE,")]
            .concat();
    assert!(read_checkpoint(&comment).unwrap().is_complete);
    let text = read_checkpoint(&with("ncbistdaa '0C0A'H", "iupacaa \"MK\"")).unwrap();
    assert!(text.has_text_residues && text.query == [12, 10]);
}

#[test]
fn damage_is_named_with_its_place() {
    for length in 0..TEXT.len() - 3 {
        let error = read_checkpoint(&TEXT[..length]).unwrap_err();
        match error {
            CheckpointError::Format => assert!(length < 24, "{length}"),
            CheckpointError::Malformed(place) => assert!(place.at <= length as u64, "{place}"),
            other => panic!("{length}: {other}"),
        }
    }
    let at = |bytes: &[u8]| match read_checkpoint(bytes) {
        Err(CheckpointError::Malformed(Malformed { at, problem })) => (at, problem),
        other => panic!("{other:?}"),
    };
    let place =
        |what: &str| TEXT.windows(what.len()).position(|it| it == what.as_bytes()).unwrap() as u64;
    let columns = place("numColumns");
    assert_eq!(
        at(&with("numColumns", "numCols")),
        (columns, "'numCols' does not belong here".into())
    );
    assert_eq!(at(&with("numColumns 2", "numColumns 3")).0, columns + 11);
    assert_eq!(at(&with("scores {\n", "scores {\n 5,\n")).0, place("scores {") + 7);
    assert_eq!(at(&with("{ 25, 10, -2 }", "{ 25, 7, -2 }")).0, place("{ 25, 10, -2 }"));
    let deep = [&b"PssmWithParameters ::= "[..], &[b'{'; 5000]].concat();
    assert_eq!(at(&deep).1, "values within values within values");
}

#[test]
fn blast_errors_have_its_words() {
    let said = |bytes: &[u8]| read_checkpoint(bytes).unwrap_err().to_string();
    assert_eq!(said(b""), "Unsupported format for PSSM");
    assert_eq!(said(b">q\nMKV\n"), "Unsupported format for PSSM");
    assert_eq!(said(&with("TRUE", "FALSE")), "PSSM does not represent protein scoring matrix");
    let scaled = with("lambdaUngapped", "scalingFactor 100,\n lambdaUngapped");
    assert_eq!(
        said(&scaled),
        "PSSM has a scaling factor of 100. PSI-BLAST does not accept scaled PSSMs"
    );
    assert_eq!(said(&with("'0C", "'FF")), "Warning: Invalid residues found at positions 0 ");
    assert_eq!(said(&with("byRow FALSE", "byRow TRUE")), "a PSSM by rows");
}
