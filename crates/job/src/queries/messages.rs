//! What BLAST+ says of queries.

use fleetblast_db::SequenceKind;
use fleetblast_seq::alphabet;

use crate::error::Error;

/// What BLAST+ says of a query whose composition allows no statistics.
pub const INVALID: &str = "Could not calculate ungapped Karlin-Altschul parameters due to an invalid \
    query sequence or its translation. Please verify the query sequence(s) and/or filtering options";
/// What BLAST+ says of a query without residues.
const EMPTY: &str = "Sequence contains no data";
/// What BLAST+ says of each query of the first batch if the IDENTITY matrix rules out composition-based statistics.
pub(super) const IDENTITY: &str = "Composition-based statistics cannot be used with the IDENTITY matrix, \
    resetting the composition-based statistics option to 0";
/// What BLAST+ says of each query if a list leaves nothing of the database.
pub(super) const NOTHING_INCLUDED: &str = "Filtering resulted in an empty database.";
/// What BLAST+ says of several queries that are to be searched in rounds together.
pub(super) const SEVERAL: &str = "PSI-BLAST only accepts one protein sequence as query";
/// At most so many positions of `O` are told.
const TOLD_POSITIONS: usize = 20;

/// What BLAST+ says of a batch of so many queries none of which has letters.
pub fn all_empty(queries: usize) -> Error {
    Error::engine(format!("Warning: {EMPTY} ").repeat(queries))
}

/// What BLAST+ says of a batch that it cannot search as it is told to, for each query; the messages are those of each.
pub fn refused<'a>(told: &str, messages: impl Iterator<Item = &'a Vec<String>>) -> Error {
    let of_query = |messages: &Vec<String>| {
        let warnings = messages.iter().map(|text| format!("Warning: {text} "));
        format!("{told} {}", warnings.collect::<String>())
    };
    Error::engine(messages.map(of_query).collect::<String>())
}

/// What BLAST+ warns of when it sets up a query.
pub(super) fn of_setup(kind: SequenceKind, residues: &[u8], searchable: bool) -> Vec<String> {
    if residues.is_empty() {
        return vec![EMPTY.to_owned()];
    }
    let mut messages = Vec::new();
    if kind == SequenceKind::Protein {
        messages.extend(replaced(residues));
    }
    if !searchable {
        messages.push(INVALID.to_owned());
    }
    messages
}

/// The warning of letters that the search replaces, if there are any.
fn replaced(residues: &[u8]) -> Option<String> {
    let positions: Vec<usize> =
        residues.iter().enumerate().filter(|&(_, &c)| c == alphabet::O).map(|(at, _)| at).collect();
    let told: Vec<String> =
        positions.iter().take(TOLD_POSITIONS).map(|position| position.to_string()).collect();
    let rest = if positions.len() > TOLD_POSITIONS {
        format!(",... (only first {TOLD_POSITIONS} shown)")
    } else {
        String::new()
    };
    (!told.is_empty()).then(|| {
        format!(
            "One or more O characters replaced by X for alignment score calculations at positions {}{rest}",
            told.join(", ")
        )
    })
}
