//! Writes a PSSM as a checkpoint in ASN.1.

use fleetblast_engine::pssm::{ByCode, ColumnResults, Pssm};
use fleetblast_seq::id::ObjectId;
use serde::{Deserialize, Serialize};

use crate::asn::{AsnValue, print_asn_text};

/// The values of a checkpoint that do not come from its PSSM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PssmDescription {
    /// Identifier of the query.
    pub id: ObjectId,
    /// Title of the query, if the checkpoint has it.
    pub title: Option<Vec<u8>>,
    /// Whether the query's letters are written as text (`iupacaa`) instead of codes (`ncbistdaa`).
    pub has_text_residues: bool,
    /// Whether all intermediate data is written, not only the frequencies.
    pub has_intermediate_data: bool,
    /// Name of the scoring matrix.
    pub matrix_name: String,
    /// Costs of gaps (open, extend), if the checkpoint has them.
    pub gap_costs: Option<(i32, i32)>,
    /// Pseudocount as given by the user.
    pub pseudocount: i32,
}

/// Returns a checkpoint as ASN.1 text.
pub fn write_checkpoint(description: &PssmDescription, pssm: &Pssm) -> Vec<u8> {
    let mut out = Vec::new();
    print_asn_text("PssmWithParameters", &checkpoint_value(description, pssm), &mut out);
    out
}

/// Returns a checkpoint as an ASN.1 value.
pub(crate) fn checkpoint_value(description: &PssmDescription, pssm: &Pssm) -> AsnValue {
    let parameters = AsnValue::Fields(vec![
        ("pseudocount", AsnValue::integer(description.pseudocount)),
        ("rpsdbparams", scoring(description)),
    ]);
    AsnValue::Fields(vec![("pssm", pssm_value(description, pssm)), ("params", parameters)])
}

fn scoring(description: &PssmDescription) -> AsnValue {
    let name = description.matrix_name.to_ascii_uppercase().into_bytes();
    let mut fields = vec![("matrixName", AsnValue::Text(name))];
    if let Some((open, extend)) = description.gap_costs {
        fields.extend([
            ("gapOpen", AsnValue::integer(open)),
            ("gapExtend", AsnValue::integer(extend)),
        ]);
    }
    AsnValue::Fields(fields)
}

fn pssm_value(description: &PssmDescription, pssm: &Pssm) -> AsnValue {
    let scores = pssm.scores.iter().flatten().map(|&score| AsnValue::integer(score)).collect();
    let final_data = AsnValue::Fields(vec![
        ("scores", AsnValue::List(scores)),
        ("lambda", AsnValue::Real(pssm.gapped.lambda)),
        ("kappa", AsnValue::Real(pssm.gapped.k)),
        ("h", AsnValue::Real(pssm.gapped.h)),
        ("lambdaUngapped", AsnValue::Real(pssm.ungapped.lambda)),
        ("kappaUngapped", AsnValue::Real(pssm.ungapped.k)),
        ("hUngapped", AsnValue::Real(pssm.ungapped.h)),
    ]);
    let columns = i64::try_from(pssm.query.len()).unwrap_or(i64::MAX);
    AsnValue::Fields(vec![
        ("isProtein", AsnValue::Boolean(true)),
        ("numRows", AsnValue::Integer(pssm.scores.first().map_or(28, |row| row.len() as i64))),
        ("numColumns", AsnValue::Integer(columns)),
        ("byRow", AsnValue::Boolean(false)),
        ("query", AsnValue::choice("seq", query(description, pssm))),
        ("intermediateData", intermediate(description, pssm)),
        ("finalData", final_data),
    ])
}

fn query(description: &PssmDescription, pssm: &Pssm) -> AsnValue {
    let letters = &pssm.query;
    let id = match &description.id {
        ObjectId::Number(number) => AsnValue::choice("id", AsnValue::Integer(*number)),
        ObjectId::Text(text) => AsnValue::choice("str", AsnValue::Text(text.clone())),
    };
    let mut fields = vec![("id", AsnValue::List(vec![AsnValue::choice("local", id)]))];
    if let Some(title) = &description.title {
        let title = AsnValue::choice("title", AsnValue::Text(title.clone()));
        fields.push(("descr", AsnValue::List(vec![title])));
    }
    let data = if description.has_text_residues {
        let text = letters.iter().map(|&code| fleetblast_seq::alphabet::decode(code)).collect();
        AsnValue::choice("iupacaa", AsnValue::Text(text))
    } else {
        AsnValue::choice("ncbistdaa", AsnValue::Bytes(letters.clone()))
    };
    let length = i64::try_from(letters.len()).unwrap_or(i64::MAX);
    fields.push((
        "inst",
        AsnValue::Fields(vec![
            ("repr", AsnValue::Word("raw")),
            ("mol", AsnValue::Word("aa")),
            ("length", AsnValue::Integer(length)),
            ("seq-data", data),
        ]),
    ));
    AsnValue::Fields(fields)
}

fn intermediate(description: &PssmDescription, pssm: &Pssm) -> AsnValue {
    let reals =
        |numbers: &[f64]| AsnValue::List(numbers.iter().map(|&n| AsnValue::Real(n)).collect());
    let by_code = |columns: &[ByCode]| reals(&columns.concat());
    let integers =
        |numbers: &[u32]| AsnValue::List(numbers.iter().map(|&n| AsnValue::integer(n)).collect());
    let frequencies = by_code(&pssm.frequencies);
    let observed = pssm.observed.as_ref().filter(|_| description.has_intermediate_data);
    let Some(observed) = observed else {
        return AsnValue::Fields(vec![("freqRatios", frequencies)]);
    };
    let ColumnResults { weighted, information, gapless, letter_kinds_sum, intervals, matching } =
        observed;
    AsnValue::Fields(vec![
        ("weightedResFreqsPerPos", by_code(weighted)),
        ("freqRatios", frequencies),
        ("informationContent", reals(information)),
        ("gaplessColumnWeights", reals(gapless)),
        ("sigma", reals(letter_kinds_sum)),
        ("intervalSizes", integers(intervals)),
        ("numMatchingSeqs", integers(matching)),
    ])
}
