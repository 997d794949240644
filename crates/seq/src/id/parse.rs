//! Parses identifiers, such as the first word of a definition line (`CSeq_id::ParseIDs`).

use super::SeqId;
use super::bare::{LocalIds, parse_bare};
use super::exception::IdException;
use super::tagged::{FirstId, Tag, parse_first_tagged, parse_tagged};
use crate::convert::trim_spaces;

/// Error for a word that cannot be parsed as identifiers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Could not construct seq-id from '{}'", String::from_utf8_lossy(.word))]
pub struct IdError {
    /// The word that was to be parsed.
    pub word: Vec<u8>,
}

/// Parses the identifiers in a definition line's first word as `blastp -parse_deflines` does.
///
/// The word can be in FASTA style (`sp|P69905.2|HBA_HUMAN`, `gi|999|gb|AAA12345.1|`) or a bare
/// accession of known shape (`NP_000549.1`, `P12345`, `1ABC_A`). Any other word is a local
/// identifier.
///
/// If a word has commas but no bars, the caller must replace the commas by underscores. The FASTA
/// reader does this, with BLAST+'s warning.
///
/// # Errors
/// [`IdError`] if the word has a known tag with invalid parts, such as `gi|abc`, `gnl|a`, `NP_1.x`,
/// or if surplus parts are no identifiers.
///
/// ```
/// use fleetblast_seq::id::{SeqId, parse_fasta_ids};
/// let ids = parse_fasta_ids(b"gi|999|gb|AAA12345.1|").unwrap();
/// assert_eq!(ids[0], SeqId::Gi(999));
/// assert_eq!(ids[1].accession_version(), b"AAA12345.1");
/// assert!(parse_fasta_ids(b"gi|abc").is_err());
/// ```
pub fn parse_fasta_ids(word: &[u8]) -> Result<Vec<SeqId>, IdError> {
    parse_fasta_ids_with_skipped(word, &mut Vec::new())
}

/// Works like [`parse_fasta_ids`]. Adds the skipped parts, about which BLAST+ warns, to `skipped`.
///
/// # Errors
/// Those of [`parse_fasta_ids`].
pub fn parse_fasta_ids_with_skipped(
    word: &[u8],
    skipped: &mut Vec<IdException>,
) -> Result<Vec<SeqId>, IdError> {
    let text = trim_spaces(word);
    let ids = if has_tag(text) {
        parse_tagged(text, Some(skipped))
    } else {
        parse_bare(text, LocalIds::Any).map(|id| vec![id])
    };
    let mut ids = ids.unwrap_or_default();
    ids.retain(|id| !trim_spaces(&id.accession()).is_empty());
    if ids.is_empty() { Err(IdError { word: word.to_vec() }) } else { Ok(ids) }
}

/// Parses the identifiers of a word as `makeblastdb -parse_seqids` does
/// (`CWriteDB_Impl::x_GetFastaReaderDeflines`).
///
/// A word with a tag and a bar is parsed as in FASTA. Any other word is an accession of known shape
/// or a local identifier. A local identifier without a bar must be valid.
///
/// # Errors
/// [`IdException`] if BLAST+ refuses the word. Unlike in [`parse_fasta_ids`] every part must be
/// valid, and the word must not be empty.
pub fn parse_makeblastdb_ids(word: &[u8]) -> Result<Vec<SeqId>, IdException> {
    if !word.contains(&b'|') {
        parse_bare(trim_spaces(word), LocalIds::Valid).map(|id| vec![id])
    } else if has_tag(word) {
        parse_tagged(word, None)
    } else {
        parse_bare(word, LocalIds::Any).map(|id| vec![id])
    }
}

/// Parses the identifiers in the name of a sequence in an alignment file (`CAlnReader`). The rules
/// are those of FASTA, but every part must be valid.
///
/// # Errors
/// [`IdException`] if a part is invalid or the word is empty.
pub fn parse_alignment_ids(word: &[u8]) -> Result<Vec<SeqId>, IdException> {
    let text = trim_spaces(word);
    match has_tag(text) {
        true => parse_tagged(text, None),
        false => parse_bare(text, LocalIds::Any).map(|id| vec![id]),
    }
}

/// Parses a word that is one identifier, as in a list of identifiers (`CSeq_id::Set`). It has a
/// known tag as in FASTA, or is an accession of known shape. Returns `None` for any other word,
/// including several identifiers.
pub fn parse_single_id(word: &[u8]) -> Option<SeqId> {
    let first = first_of(word, LocalIds::None).ok()?;
    (first.surplus_parts == 0).then_some(first.id)
}

/// Parses the first identifier of a word that a user typed. It has a known tag as in FASTA, or is
/// an accession of known shape, or else a local identifier.
///
/// # Errors
/// [`IdException`] if the tag is known but its parts are invalid, or if the word is empty.
pub fn parse_first_id(word: &[u8]) -> Result<SeqId, IdException> {
    parse_first_id_with_surplus(word).map(|first| first.id)
}

/// Works like [`parse_first_id`]. Returns also the number of parts after the identifier.
///
/// # Errors
/// Those of [`parse_first_id`].
pub fn parse_first_id_with_surplus(word: &[u8]) -> Result<FirstId, IdException> {
    first_of(word, LocalIds::Any)
}

/// Parses a word that is one identifier, as BLAST+ compares the identifiers of two lists.
///
/// It can be an integer (a gi), a known tag as in FASTA, an accession of known shape, or a valid
/// local identifier.
///
/// # Errors
/// [`IdException`] for any other word, including several identifiers.
pub fn parse_list_entry(word: &[u8]) -> Result<SeqId, IdException> {
    number_or_id(word, LocalIds::Valid)
}

/// Parses a word that is one identifier, as `blastdbcmd -outfmt %b` does (`CSeq_id::Set` with
/// `fParse_AnyRaw`).
///
/// It can be an integer (a gi), a known tag as in FASTA, or an accession of known shape.
///
/// # Errors
/// [`IdException`] for any other word, including several identifiers.
pub fn parse_number_or_accession(word: &[u8]) -> Result<SeqId, IdException> {
    number_or_id(word, LocalIds::None)
}

fn number_or_id(word: &[u8], locals: LocalIds) -> Result<SeqId, IdException> {
    let text = trim_spaces(word);
    if !text.is_empty() && text.iter().all(u8::is_ascii_digit) {
        let number = super::digits(text).ok_or_else(|| IdException::no_number("gi", text));
        return Ok(SeqId::Gi(number?));
    }
    match first_of(word, locals)? {
        FirstId { id, surplus_parts: 0 } => Ok(id),
        _ => Err(IdException::too_many_parts(word)),
    }
}

/// Parses the identifiers in a word that is looked up in a version-4 database
/// (`s_SeqDB_ParseSeqIDs`).
///
/// An identifier ends at the bar before the next known tag that a bar follows. If a part in the
/// place of a tag is not a known tag, the list of identifiers ends.
///
/// # Errors
/// [`IdException`] if the parts of an identifier are invalid.
pub fn parse_lookup_ids(word: &[u8]) -> Result<Vec<SeqId>, IdException> {
    let mut ids = Vec::new();
    let mut rest = word;
    while let Some(end) = end_of_id(rest) {
        let id = &rest[..end];
        match first_of(id, LocalIds::None)? {
            FirstId { id, surplus_parts: 0 } => ids.push(id),
            _ => return Err(IdException::too_many_parts(id)),
        }
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    Ok(ids)
}

/// Returns the end of the first identifier of a text; `None` if the text does not start with a
/// known tag and a bar.
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

/// Parses the first identifier of a word.
fn first_of(word: &[u8], locals: LocalIds) -> Result<FirstId, IdException> {
    let text = trim_spaces(word);
    let tag = text.iter().position(|&c| c == b'|').filter(|_| has_tag(text));
    let Some(tag) = tag.and_then(|bar| Tag::parse(&text[..bar])) else {
        return parse_bare(text, locals).map(|id| FirstId { id, surplus_parts: 0 });
    };
    parse_first_tagged(text, tag)
}

/// Returns whether the text starts with two or three characters and a bar, and continues.
fn has_tag(text: &[u8]) -> bool {
    (text.len() > 3 && text[2] == b'|') || (text.len() > 4 && text[3] == b'|')
}
