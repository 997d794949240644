//! Parses identifiers with a tag and bars between their parts: `sp|P69905.2|HBA_HUMAN`
//! (`CSeq_id::ParseIDs`, `x_Init`).

use std::collections::VecDeque;

use super::exception::IdException;
use super::{NumberKind, ObjectId, SeqId, TextKind, UNREVIEWED, digits};
use crate::convert::trim_spaces;

/// The first identifier of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstId {
    /// The identifier.
    pub id: SeqId,
    /// Number of parts between bars after the identifier that are not empty.
    pub surplus_parts: usize,
}

/// The type of identifier that a tag indicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    Local,
    Numbered(NumberKind),
    Gi,
    Patent,
    General,
    Pdb,
    Text(TextKind),
    /// Swiss-Prot, unreviewed: the tag `tr`.
    TrEmbl,
}

impl Tag {
    /// Parses a tag; `None` if it is not known.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let lower = text.to_ascii_lowercase();
        Some(match &lower[..] {
            b"lcl" => Self::Local,
            b"bbs" | b"gibbsq" => Self::Numbered(NumberKind::BackboneSequence),
            b"bbm" => Self::Numbered(NumberKind::BackboneMolecule),
            b"gim" => Self::Numbered(NumberKind::Import),
            b"gi" => Self::Gi,
            b"pat" | b"pgp" => Self::Patent,
            b"gnl" => Self::General,
            b"pdb" => Self::Pdb,
            b"tr" => Self::TrEmbl,
            _ => Self::Text(text_kind(&lower)?),
        })
    }

    /// Returns the tag for messages.
    fn word(self) -> &'static str {
        match self {
            Self::Local => "lcl",
            Self::Numbered(kind) => kind.tag(),
            Self::Gi => "gi",
            Self::Patent => "pat",
            Self::General => "gnl",
            Self::Pdb => "pdb",
            Self::Text(kind) => kind.tag(),
            Self::TrEmbl => TextKind::SwissProt.tag(),
        }
    }

    /// Returns the name of the type of numeric identifiers for messages.
    fn type_name(self) -> &'static str {
        match self {
            Self::Numbered(NumberKind::BackboneSequence) => "gibbsq",
            Self::Numbered(NumberKind::BackboneMolecule) => "gibbmt",
            Self::Numbered(NumberKind::Import) => "giim",
            _ => self.word(),
        }
    }

    /// Returns the minimal and maximal number of parts after the tag.
    fn parts(self) -> (usize, usize) {
        match self {
            Self::Local | Self::Numbered(_) | Self::Gi => (1, 1),
            Self::General => (2, 2),
            Self::Patent => (3, 3),
            Self::Pdb | Self::Text(_) | Self::TrEmbl => (1, 2),
        }
    }
}

/// Returns the database of accessions with this tag, which is in lower case.
pub(super) fn text_kind(tag: &[u8]) -> Option<TextKind> {
    use TextKind::*;
    let kinds = [
        GenBank,
        Embl,
        Pir,
        SwissProt,
        RefSeq,
        Ddbj,
        Prf,
        TpaGenBank,
        TpaEmbl,
        TpaDdbj,
        Gpipe,
        NamedAnnotTrack,
    ];
    kinds.into_iter().find(|kind| kind.tag().as_bytes() == tag)
}

/// Parses the identifiers of a word whose parts are separated by bars.
///
/// If `skipped` is given, errors of parts that cannot be parsed are added to it. Parsing then
/// continues at the next part of two or three characters, which must start another identifier. The
/// word is refused only if it ends with such an error.
pub(super) fn parse_tagged(
    text: &[u8],
    mut skipped: Option<&mut Vec<IdException>>,
) -> Result<Vec<SeqId>, IdException> {
    let mut parts: VecDeque<&[u8]> = text.split(|&c| c == b'|').collect();
    let mut ids = Vec::new();
    let mut tag = parts.front().and_then(|part| Tag::parse(part));
    if tag.is_some() {
        parts.pop_front();
    } else if parts.len() == 2 {
        // An unknown tag is the name of a database.
        tag = Some(Tag::General);
    }
    while !parts.is_empty() {
        match parse_next(&mut parts, &mut tag) {
            Ok(id) => ids.extend(id),
            Err(exception) => {
                let Some(skipped) = skipped.as_mut().filter(|_| !parts.is_empty()) else {
                    return Err(exception);
                };
                skipped.push(exception);
                while parts.front().is_some_and(|part| part.len() != 2 && part.len() != 3) {
                    parts.pop_front();
                }
            }
        }
    }
    Ok(ids)
}

/// Parses the first identifier of a word, which has this tag.
pub(super) fn parse_first_tagged(text: &[u8], tag: Tag) -> Result<FirstId, IdException> {
    let mut parts: VecDeque<&[u8]> = text.split(|&c| c == b'|').skip(1).collect();
    let (fields, _) = take_fields(&mut parts, tag)?;
    let id = build(tag, fields)?;
    let surplus_parts = parts.iter().filter(|part| !part.is_empty()).count();
    Ok(FirstId { id, surplus_parts })
}

/// Parses the next identifier, if its tag is known. Stores the tag of the following one in `tag`.
fn parse_next(
    parts: &mut VecDeque<&[u8]>,
    tag: &mut Option<Tag>,
) -> Result<Option<SeqId>, IdException> {
    let mut id = None;
    if let Some(current) = *tag {
        let (fields, next) = take_fields(parts, current)?;
        id = Some(build(current, fields)?);
        *tag = next;
    }
    if tag.is_none()
        && let Some(part) = parts.front()
    {
        *tag = Tag::parse(part);
        if tag.is_none() {
            let exception = IdException::unsupported_tag(part);
            parts.pop_front();
            return Err(exception);
        }
    }
    if tag.is_some() {
        parts.pop_front();
    }
    Ok(id)
}

/// The parts of one identifier.
#[derive(Debug, Default)]
struct Fields<'a> {
    parts: [&'a [u8]; 3],
    /// All parts from the second one on, joined by bars; used for dbSNP.
    greedy: Option<Vec<u8>>,
}

/// Removes the fields of an identifier with this tag from the parts of a text. Also returns the tag
/// of the next identifier, if it ended the fields early.
fn take_fields<'a>(
    parts: &mut VecDeque<&'a [u8]>,
    tag: Tag,
) -> Result<(Fields<'a>, Option<Tag>), IdException> {
    let (least, most) = tag.parts();
    let mut fields = Fields::default();
    let mut next = None;
    for i in 0..most {
        if i >= least {
            if parts.is_empty() {
                break;
            }
            // An optional part is missing here if this part is a tag, unless the next part is a
            // tag, too.
            if let Some(found) = short_tag(parts, 0).filter(|_| parts.len() > 1) {
                next = Some(found);
                match short_tag(parts, 1) {
                    Some(second) => next = Some(second),
                    None => break,
                }
            }
        }
        fields.parts[i] =
            parts.pop_front().ok_or_else(|| IdException::too_few_parts(tag.word()))?;
    }
    if tag == Tag::General && fields.parts[0].eq_ignore_ascii_case(b"dbsnp") && !parts.is_empty() {
        let rest: Vec<&[u8]> = std::iter::once(fields.parts[1]).chain(parts.drain(..)).collect();
        fields.greedy = Some(rest.join(&b'|'));
    }
    while parts.front().is_some_and(|part| part.is_empty()) {
        parts.pop_front();
    }
    Ok((fields, next))
}

fn short_tag(parts: &VecDeque<&[u8]>, i: usize) -> Option<Tag> {
    let part = parts.get(i).filter(|part| part.len() == 2 || part.len() == 3)?;
    Tag::parse(part)
}

fn build(tag: Tag, fields: Fields) -> Result<SeqId, IdException> {
    let [first, second, _] = fields.parts.map(trim_spaces);
    match tag {
        // Only `makeblastdb` accepts the empty local identifier.
        Tag::Local => Ok(SeqId::Local(ObjectId::from_text(first))),
        Tag::Numbered(kind) => {
            let number = small_number(first)
                .ok_or_else(|| IdException::no_number(tag.type_name(), first))?;
            Ok(SeqId::Numbered(kind, number))
        }
        Tag::Gi => {
            let number = digits(unsigned(first));
            Ok(SeqId::Gi(number.ok_or_else(|| IdException::no_number(tag.type_name(), first))?))
        }
        Tag::General => {
            let tag = trim_spaces(fields.greedy.as_deref().unwrap_or(second));
            Ok(SeqId::General { db: first.to_vec(), tag: ObjectId::from_text(tag) })
        }
        Tag::Patent => {
            let number = small_number(fields.parts[2]);
            let sequence = number.ok_or_else(|| IdException::patent(fields.parts))?;
            Ok(SeqId::Patent { country: first.to_vec(), number: second.to_vec(), sequence })
        }
        Tag::Pdb => pdb(fields.parts[0], fields.parts[1]),
        Tag::Text(TextKind::SwissProt) => text(TextKind::SwissProt, first, second, b"reviewed"),
        Tag::Text(kind) => text(kind, first, second, b""),
        Tag::TrEmbl => text(TextKind::SwissProt, first, second, UNREVIEWED),
    }
}

/// Parses a number from 0 to 2³¹−1.
fn small_number(text: &[u8]) -> Option<i64> {
    digits(unsigned(text)).filter(|&n| n <= i64::from(i32::MAX))
}

/// Removes a plus sign before a number.
fn unsigned(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"+").unwrap_or(text)
}

/// Parses a PDB entry. Its chain can be in the same part: `1ABC_A`, `1ABCA`.
fn pdb(entry: &[u8], chain: &[u8]) -> Result<SeqId, IdException> {
    let fused = entry.len() > 5 && (!chain.is_empty() || !matches!(entry[4], b'|' | b'-' | b'_'));
    if entry.len() < 4 || fused {
        return Err(IdException::pdb(entry));
    }
    let (mol, chain) = match (entry.len(), chain) {
        (5, b"") => (&entry[..4], &entry[4..]),
        (6.., b"") => (&entry[..4], &entry[5..]),
        _ => (entry, chain),
    };
    Ok(SeqId::Pdb { mol: trim_spaces(mol).to_vec(), chain: trim_spaces(chain).to_vec() })
}

/// Creates an identifier from an accession, with its version after the last dot, and a name. One of
/// the two can be empty. Accessions of PIR and PRF have no versions.
pub(super) fn text(
    kind: TextKind,
    accession: &[u8],
    name: &[u8],
    release: &[u8],
) -> Result<SeqId, IdException> {
    if accession.is_empty() && name.is_empty() {
        return Err(IdException::nameless(release));
    }
    let dotted = !matches!(kind, TextKind::Pir | TextKind::Prf);
    let dot = accession.iter().rposition(|&c| c == b'.').filter(|_| dotted);
    let (accession, version) = match dot {
        Some(dot) => match small_number(&accession[dot + 1..]) {
            None | Some(0) => return Err(IdException::version("CTextseq_id::Set", 108, accession)),
            version => (&accession[..dot], version),
        },
        None => (accession, None),
    };
    Ok(SeqId::Text {
        kind,
        accession: accession.to_vec(),
        version: version.and_then(|v| u32::try_from(v).ok()),
        name: name.to_vec(),
        release: release.to_vec(),
    })
}
