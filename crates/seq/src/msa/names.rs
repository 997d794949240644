//! Parses names of sequences as identifiers (`CAlnReader::x_ParseAndValidateSeqIds`,
//! `CFastaIdValidate`).

use crate::id::{ObjectId, SeqId, parse_alignment_ids};

/// Letters of bases. An identifier must not end with more than [`MOST_BASES`] of them.
const BASES: &[u8] = b"NACGTacgt";
const MOST_BASES: usize = 20;
/// Maximal number of letters at the end of an identifier.
const MOST_LETTERS: usize = 50;
/// Maximal length of a local identifier, and of the tag of a general one.
const LONGEST: usize = 50;
/// Maximal length of an accession.
const LONGEST_ACCESSION: usize = 30;

/// Parses the identifiers in a sequence's name. The error describes the problem.
pub(super) fn parse(word: &[u8]) -> Result<Vec<SeqId>, String> {
    let name = String::from_utf8_lossy(word);
    let ids = parse_alignment_ids(word).map_err(|_| format!("'{name}' is no identifier"))?;
    let Some(last) = ids.last() else { return Err(format!("'{name}' is no identifier")) };
    let accession = last.accession();
    let at_end =
        |fits: &dyn Fn(&u8) -> bool| accession.iter().rev().take_while(|c| fits(c)).count();
    if at_end(&|c| BASES.contains(c)) > MOST_BASES
        || at_end(&u8::is_ascii_alphabetic) > MOST_LETTERS
    {
        return Err(format!("'{name}' ends like a sequence"));
    }
    let is_short = |id: &SeqId| match id {
        SeqId::Local(ObjectId::Text(text)) => text.len() <= LONGEST,
        SeqId::General { tag: ObjectId::Text(text), .. } => text.len() <= LONGEST,
        SeqId::Text { accession, .. } => accession.len() <= LONGEST_ACCESSION,
        _ => true,
    };
    let is_plain = |id: &SeqId| match id {
        SeqId::Local(ObjectId::Text(text)) => {
            text.iter().all(|c| (b'!'..=b'~').contains(c) && !b">[]|\"".contains(c))
        }
        _ => true,
    };
    if !ids.iter().all(is_plain) {
        return Err(format!("'{name}' has letters that belong in no identifier"));
    }
    match ids.iter().all(is_short) {
        true => Ok(ids),
        false => Err(format!("'{name}' is too long for an identifier")),
    }
}

/// Returns whether the first brackets of a title contain `[name=value]` (`CTitleParser`). Brackets
/// can be nested.
pub(super) fn has_modifiers(title: &[u8]) -> bool {
    let (mut depth, mut is_named) = (0_usize, false);
    for byte in title {
        match byte {
            b'[' => depth += 1,
            b'=' => is_named |= depth > 0,
            b']' if depth <= 1 => return depth == 1 && is_named,
            b']' => depth -= 1,
            _ => {}
        }
    }
    false
}
