//! Writes a position-specific matrix as a checkpoint in ASN.1.

use fleetblast_engine::pssm::{ByCode, Observed, Pssm};
use fleetblast_seq::id::ObjectId;

use super::print::print_asn_text;
use super::tree::Value;

/// The content of a checkpoint to write.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint<'a> {
    /// Identifier of the query.
    pub id: &'a ObjectId,
    /// Title of the query, if the checkpoint has it.
    pub title: Option<&'a [u8]>,
    /// Whether the query's letters are written as text (`iupacaa`) instead of codes (`ncbistdaa`).
    pub has_text_residues: bool,
    /// The matrix.
    pub pssm: &'a Pssm,
    /// Whether all intermediate data is written, not only the frequencies.
    pub has_intermediate_data: bool,
    /// Name of the scoring matrix.
    pub matrix_name: &'a str,
    /// Costs of gaps (open, extend), if the checkpoint has them.
    pub gap_costs: Option<(i32, i32)>,
    /// Pseudocount as given by the user.
    pub pseudocount: i32,
}

/// Appends a checkpoint as ASN.1 text.
pub fn write_checkpoint(checkpoint: &Checkpoint, out: &mut Vec<u8>) {
    let parameters = Value::Fields(vec![
        ("pseudocount", integer(checkpoint.pseudocount)),
        ("rpsdbparams", scoring(checkpoint)),
    ]);
    let value = Value::Fields(vec![("pssm", pssm(checkpoint)), ("params", parameters)]);
    print_asn_text("PssmWithParameters", &value, out);
}

fn integer(number: impl Into<i64>) -> Value {
    Value::Integer(number.into())
}

fn scoring(checkpoint: &Checkpoint) -> Value {
    let name = checkpoint.matrix_name.to_ascii_uppercase().into_bytes();
    let mut fields = vec![("matrixName", Value::Text(name))];
    if let Some((open, extend)) = checkpoint.gap_costs {
        fields.extend([("gapOpen", integer(open)), ("gapExtend", integer(extend))]);
    }
    Value::Fields(fields)
}

fn pssm(checkpoint: &Checkpoint) -> Value {
    let pssm = checkpoint.pssm;
    let scores = pssm.scores.iter().flatten().map(|&score| integer(score)).collect();
    let final_data = Value::Fields(vec![
        ("scores", Value::List(scores)),
        ("lambda", Value::Real(pssm.gapped.lambda)),
        ("kappa", Value::Real(pssm.gapped.k)),
        ("h", Value::Real(pssm.gapped.h)),
        ("lambdaUngapped", Value::Real(pssm.ungapped.lambda)),
        ("kappaUngapped", Value::Real(pssm.ungapped.k)),
        ("hUngapped", Value::Real(pssm.ungapped.h)),
    ]);
    let columns = i64::try_from(pssm.query.len()).unwrap_or(i64::MAX);
    Value::Fields(vec![
        ("isProtein", Value::Word("TRUE")),
        ("numRows", Value::Integer(pssm.scores.first().map_or(28, |row| row.len() as i64))),
        ("numColumns", Value::Integer(columns)),
        ("byRow", Value::Word("FALSE")),
        ("query", Value::choice("seq", query(checkpoint))),
        ("intermediateData", intermediate(checkpoint)),
        ("finalData", final_data),
    ])
}

fn query(checkpoint: &Checkpoint) -> Value {
    let letters = &checkpoint.pssm.query;
    let id = match checkpoint.id {
        ObjectId::Number(number) => Value::choice("id", Value::Integer(*number)),
        ObjectId::Text(text) => Value::choice("str", Value::Text(text.clone())),
    };
    let mut fields = vec![("id", Value::List(vec![Value::choice("local", id)]))];
    if let Some(title) = checkpoint.title {
        let title = Value::choice("title", Value::Text(title.to_vec()));
        fields.push(("descr", Value::List(vec![title])));
    }
    let data = if checkpoint.has_text_residues {
        let text = letters.iter().map(|&code| fleetblast_seq::alphabet::decode(code)).collect();
        Value::choice("iupacaa", Value::Text(text))
    } else {
        Value::choice("ncbistdaa", Value::Bytes(letters.clone()))
    };
    let length = i64::try_from(letters.len()).unwrap_or(i64::MAX);
    fields.push((
        "inst",
        Value::Fields(vec![
            ("repr", Value::Word("raw")),
            ("mol", Value::Word("aa")),
            ("length", Value::Integer(length)),
            ("seq-data", data),
        ]),
    ));
    Value::Fields(fields)
}

fn intermediate(checkpoint: &Checkpoint) -> Value {
    let reals = |numbers: &[f64]| Value::List(numbers.iter().map(|&n| Value::Real(n)).collect());
    let by_code = |columns: &[ByCode]| reals(&columns.concat());
    let integers = |numbers: &[u32]| Value::List(numbers.iter().map(|&n| integer(n)).collect());
    let frequencies = by_code(&checkpoint.pssm.frequencies);
    let observed = checkpoint.pssm.observed.as_ref().filter(|_| checkpoint.has_intermediate_data);
    let Some(observed) = observed else {
        return Value::Fields(vec![("freqRatios", frequencies)]);
    };
    let Observed { weighted, information, gapless, letter_kinds_sum, intervals, matching } =
        observed;
    Value::Fields(vec![
        ("weightedResFreqsPerPos", by_code(weighted)),
        ("freqRatios", frequencies),
        ("informationContent", reals(information)),
        ("gaplessColumnWeights", reals(gapless)),
        ("sigma", reals(letter_kinds_sum)),
        ("intervalSizes", integers(intervals)),
        ("numMatchingSeqs", integers(matching)),
    ])
}
