//! BLAST+'s messages about queries.

use fleetblast_db::SequenceKind;
use fleetblast_seq::alphabet;

use crate::error::Error;

/// Warning of a query whose composition allows no statistics.
pub const NO_STATISTICS: &str = "Could not calculate ungapped Karlin-Altschul parameters due to an invalid \
    query sequence or its translation. Please verify the query sequence(s) and/or filtering options";
/// Warning of a query without residues.
const NO_DATA: &str = "Sequence contains no data";
/// Warning of each query of the first batch if the IDENTITY matrix rules out composition-based
/// statistics.
pub(super) const IDENTITY: &str = "Composition-based statistics cannot be used with the IDENTITY matrix, \
    resetting the composition-based statistics option to 0";
/// Warning of each query if a restriction leaves no sequence of the database.
pub(super) const NOTHING_INCLUDED: &str = "Filtering resulted in an empty database.";
/// Error of psiblast for several queries in one batch.
pub(super) const SEVERAL: &str = "PSI-BLAST only accepts one protein sequence as query";
/// BLAST+'s error for subjects without residues on average.
pub(super) const TOO_SHORT: &str = "The average subject length is too short";
/// Maximum number of positions of `O` that the warning about replaced letters lists.
const SHOWN_POSITIONS: usize = 20;

/// Sorts warnings in the order in which BLAST+ prints them (`TSearchMessages::RemoveDuplicates`,
/// blast_aux.cpp). BLAST+ adds the warning about an empty database later, so it stays last.
pub fn sort_warnings(warnings: &mut [String]) {
    warnings.sort_unstable_by(|a, b| (a == NOTHING_INCLUDED, a).cmp(&(b == NOTHING_INCLUDED, b)));
}

/// Returns the error for a batch in which no query has letters.
pub fn all_empty_error(queries: usize) -> Error {
    Error::engine(format!("Warning: {NO_DATA} ").repeat(queries))
}

/// Returns the error for a batch that BLAST+ refuses to search. `messages` are the warnings of each
/// query. The error repeats the reason for each query, with the warnings of that query.
pub fn refusal_error<'a>(reason: &str, messages: impl Iterator<Item = &'a Vec<String>>) -> Error {
    let query_messages = |messages: &Vec<String>| {
        let warnings = messages.iter().map(|text| format!("Warning: {text} "));
        format!("{reason} {}", warnings.collect::<String>())
    };
    Error::engine(messages.map(query_messages).collect::<String>())
}

/// Returns BLAST+'s warnings from the setup of a query. `residues` are its searched residues.
pub(super) fn setup_warnings(kind: SequenceKind, residues: &[u8], searchable: bool) -> Vec<String> {
    if residues.is_empty() {
        return vec![NO_DATA.to_owned()];
    }
    let mut messages = Vec::new();
    if kind == SequenceKind::Protein {
        messages.extend(replacement_warning(residues));
    }
    if !searchable {
        messages.push(NO_STATISTICS.to_owned());
    }
    messages
}

/// Returns the warning about letters `O`, which the search replaces by `X`; `None` without such
/// letters.
fn replacement_warning(residues: &[u8]) -> Option<String> {
    let positions: Vec<usize> =
        residues.iter().enumerate().filter(|&(_, &c)| c == alphabet::O).map(|(at, _)| at).collect();
    let shown: Vec<String> =
        positions.iter().take(SHOWN_POSITIONS).map(|position| position.to_string()).collect();
    let rest = if positions.len() > SHOWN_POSITIONS {
        format!(",... (only first {SHOWN_POSITIONS} shown)")
    } else {
        String::new()
    };
    (!shown.is_empty()).then(|| {
        format!(
            "One or more O characters replaced by X for alignment score calculations at positions {}{rest}",
            shown.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_warning_of_an_empty_database_stays_last() {
        let text = |texts: [&str; 3]| texts.map(str::to_owned);
        let mut warnings = text([NOTHING_INCLUDED, "Frequency ratios", "Composition"]);
        sort_warnings(&mut warnings);
        assert_eq!(warnings, text(["Composition", "Frequency ratios", NOTHING_INCLUDED]));
    }
}
