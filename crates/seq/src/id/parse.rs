//! Reading identifiers from the first word of a definition line (`CSeq_id::ParseIDs`).

use super::SeqId;
use super::bare::{Locals, parse_bare};
use super::refusal::Refusal;
use super::tagged::{Tag, parse_first_tagged, parse_tagged};
use crate::convert::trim_spaces;

/// A word that cannot be read as identifiers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Could not construct seq-id from '{}'", String::from_utf8_lossy(.word))]
pub struct IdError {
    /// The word.
    pub word: Vec<u8>,
}

/// Reads the identifiers of a definition line's first word as `blastp -parse_deflines` does:
/// FASTA style (`sp|P69905.2|HBA_HUMAN`, `gi|999|gb|AAA12345.1|`), bare accessions of known shape
/// (`NP_000549.1`, `P12345`, `1ABC_A`), anything else local.
///
/// A word with commas but no bars has them replaced by underscores beforehand; BLAST+ warns of
/// that, see the FASTA reader.
///
/// # Errors
/// A word with a known tag whose parts do not fit, such as `gi|abc`, `gnl|a`, `NP_1.x`, or with
/// surplus parts that are no identifiers.
///
/// ```
/// use fleetblast_seq::id::{SeqId, parse_word};
/// let ids = parse_word(b"gi|999|gb|AAA12345.1|").unwrap();
/// assert_eq!(ids[0], SeqId::Gi(999));
/// assert_eq!(ids[1].accession_version(), b"AAA12345.1");
/// assert!(parse_word(b"gi|abc").is_err());
/// ```
pub fn parse_word(word: &[u8]) -> Result<Vec<SeqId>, IdError> {
    parse_word_telling(word, &mut Vec::new())
}

/// As [`parse_word`]; what was passed over, of which BLAST+ warns, is added to `passed`.
///
/// # Errors
/// As [`parse_word`].
pub fn parse_word_telling(word: &[u8], passed: &mut Vec<Refusal>) -> Result<Vec<SeqId>, IdError> {
    let text = trim_spaces(word);
    let ids = if has_tag(text) {
        parse_tagged(text, Some(passed))
    } else {
        parse_bare(text, Locals::Any).map(|id| vec![id])
    };
    let mut ids = ids.unwrap_or_default();
    ids.retain(|id| !trim_spaces(&id.accession()).is_empty());
    if ids.is_empty() { Err(IdError { word: word.to_vec() }) } else { Ok(ids) }
}

/// Reads the identifiers of a word as `makeblastdb -parse_seqids` stores them
/// (`CWriteDB_Impl::x_GetFastaReaderDeflines`): a word with a tag and a bar as in FASTA, any other as an accession of
/// known shape, else as a local one, which without bar must be a valid one.
///
/// # Errors
/// What BLAST+ refuses: unlike [`parse_word`] any part that does not fit, and an empty word.
pub fn parse_stored(word: &[u8]) -> Result<Vec<SeqId>, Refusal> {
    if !word.contains(&b'|') {
        parse_bare(trim_spaces(word), Locals::Valid).map(|id| vec![id])
    } else if has_tag(word) {
        parse_tagged(word, None)
    } else {
        parse_bare(word, Locals::Any).map(|id| vec![id])
    }
}

/// Reads the identifiers of a word as an alignment names its sequences (`CAlnReader`): as in FASTA, but every part must fit.
///
/// # Errors
/// A part that does not fit, an empty word.
pub fn parse_typed(word: &[u8]) -> Result<Vec<SeqId>, Refusal> {
    let text = trim_spaces(word);
    match has_tag(text) {
        true => parse_tagged(text, None),
        false => parse_bare(text, Locals::Any).map(|id| vec![id]),
    }
}

/// Reads a word that is one identifier, as a list of identifiers names them (`CSeq_id::Set`): with a known tag as in FASTA,
/// else an accession of known shape. `None` for anything else, also for several identifiers.
pub fn parse_single(word: &[u8]) -> Option<SeqId> {
    let (id, is_all) = first_of(word, Locals::None).ok()?;
    is_all.then_some(id)
}

/// Reads the first identifier of a word as somebody types it: with a known tag as in FASTA, else an accession of known
/// shape, else a local one.
///
/// # Errors
/// A known tag with parts that do not fit, an empty word.
pub fn parse_first(word: &[u8]) -> Result<SeqId, Refusal> {
    first_of(word, Locals::Any).map(|(id, _)| id)
}

/// Reads a word that is one identifier, as BLAST+ compares the identifiers of two lists: a whole
/// number as a GI, with a known tag as in FASTA, else an accession of known shape, else a valid
/// local one.
///
/// # Errors
/// Anything else, also several identifiers.
pub fn parse_listed(word: &[u8]) -> Result<SeqId, Refusal> {
    let text = trim_spaces(word);
    if !text.is_empty() && text.iter().all(u8::is_ascii_digit) {
        let number = super::digits(text).ok_or_else(|| Refusal::no_number("gi", text));
        return Ok(SeqId::Gi(number?));
    }
    match first_of(word, Locals::Valid)? {
        (id, true) => Ok(id),
        (_, false) => Err(Refusal::too_many_parts(word)),
    }
}

/// Reads the identifiers of a word that is looked up in a database of version 4
/// (`s_SeqDB_ParseSeqIDs`). An identifier ends at the bar before the next part that is a known tag
/// and is followed by a bar. A part that should be a tag and is none ends the list.
///
/// # Errors
/// An identifier whose parts do not fit.
pub fn parse_indexed(word: &[u8]) -> Result<Vec<SeqId>, Refusal> {
    let mut ids = Vec::new();
    let mut rest = word;
    while let Some(end) = end_of_id(rest) {
        let id = &rest[..end];
        match first_of(id, Locals::None)? {
            (id, true) => ids.push(id),
            (_, false) => return Err(Refusal::too_many_parts(id)),
        }
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    Ok(ids)
}

/// Where the first identifier of a text ends; `None` if it does not start with a known tag and a
/// bar.
fn end_of_id(text: &[u8]) -> Option<usize> {
    let is_tag = |part: &[u8]| Tag::parse(part).is_some();
    let mut bars = text.iter().enumerate().filter(|&(_, &c)| c == b'|').map(|(at, _)| at);
    let mut last = bars.next().filter(|&bar| is_tag(&text[..bar]))?;
    for bar in bars {
        if is_tag(&text[last + 1..bar]) {
            return Some(last);
        }
        last = bar;
    }
    Some(text.len())
}

/// The first identifier of a word, and whether nothing follows it.
fn first_of(word: &[u8], locals: Locals) -> Result<(SeqId, bool), Refusal> {
    let text = trim_spaces(word);
    let tag = text.iter().position(|&c| c == b'|').filter(|_| has_tag(text));
    let Some(tag) = tag.and_then(|bar| Tag::parse(&text[..bar])) else {
        return parse_bare(text, locals).map(|id| (id, true));
    };
    parse_first_tagged(text, tag)
}

/// A bar after two or three characters, and something after it.
fn has_tag(text: &[u8]) -> bool {
    (text.len() > 3 && text[2] == b'|') || (text.len() > 4 && text[3] == b'|')
}
