//! Reading identifiers from the first word of a definition line (`CSeq_id::ParseIDs`).

use std::collections::VecDeque;

use super::accession::{Identified, identify};
use super::refusal::Refusal;
use super::{MAX_LOCAL, NumberKind, ObjectId, SeqId, TextKind, UNREVIEWED, digits};

/// A word that cannot be read as identifiers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Could not construct seq-id from '{}'", String::from_utf8_lossy(.word))]
pub struct IdError {
    /// The word.
    pub word: Vec<u8>,
}

/// Databases that may precede a bare identifier and a colon: `SRA:SRR123.1`.
const COLON_DATABASES: [&str; 21] = [
    "ATGC",
    "BCMHGSC",
    "BERKELEY",
    "CELERA",
    "GSDB",
    "HOOD",
    "LANLCHGS",
    "LRG",
    "MIPS",
    "NCBI_GENOMES",
    "NCBI_MITO",
    "PGEC",
    "SGD",
    "SHGC",
    "SRA",
    "TIGR",
    "UOKNOR",
    "UWGC",
    "WASHU",
    "WIBR",
    "WUGSC",
];

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
    let text = word.trim_ascii();
    let ids = if has_tag(text) {
        parse_tagged(text, Some(passed))
    } else {
        parse_bare(text, Locals::Any).map(|id| vec![id])
    };
    let mut ids = ids.unwrap_or_default();
    ids.retain(|id| !id.accession().trim_ascii().is_empty());
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
        parse_bare(word.trim_ascii(), Locals::Valid).map(|id| vec![id])
    } else if has_tag(word) {
        parse_tagged(word, None)
    } else {
        parse_bare(word, Locals::Any).map(|id| vec![id])
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

/// The first identifier of a word, and whether nothing follows it.
fn first_of(word: &[u8], locals: Locals) -> Result<(SeqId, bool), Refusal> {
    let text = word.trim_ascii();
    let tag = text.iter().position(|&c| c == b'|').filter(|_| has_tag(text));
    let Some(tag) = tag.and_then(|bar| Tag::parse(&text[..bar])) else {
        return parse_bare(text, locals).map(|id| (id, true));
    };
    let mut parts: VecDeque<&[u8]> = text.split(|&c| c == b'|').skip(1).collect();
    let (fields, _) = take_fields(&mut parts, tag)?;
    let id = build(tag, fields)?;
    Ok((id, parts.iter().all(|part| part.is_empty())))
}

/// A bar after two or three characters, and something after it.
fn has_tag(text: &[u8]) -> bool {
    (text.len() > 3 && text[2] == b'|') || (text.len() > 4 && text[3] == b'|')
}

/// What a tag announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    Local,
    Numbered(NumberKind),
    Gi,
    Patent,
    General,
    Pdb,
    Text(TextKind),
    /// `tr`: Swiss-Prot, unreviewed.
    TrEmbl,
}

impl Tag {
    fn parse(text: &[u8]) -> Option<Self> {
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

    /// The word that starts identifiers of this type in messages.
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

    /// What messages call identifiers that are numbers.
    fn type_name(self) -> &'static str {
        match self {
            Self::Numbered(NumberKind::BackboneSequence) => "gibbsq",
            Self::Numbered(NumberKind::BackboneMolecule) => "gibbmt",
            Self::Numbered(NumberKind::Import) => "giim",
            _ => self.word(),
        }
    }

    /// Least and greatest number of parts that follow.
    fn parts(self) -> (usize, usize) {
        match self {
            Self::Local | Self::Numbered(_) | Self::Gi => (1, 1),
            Self::General => (2, 2),
            Self::Patent => (3, 3),
            Self::Pdb | Self::Text(_) | Self::TrEmbl => (1, 2),
        }
    }
}

/// The database of accessions with this (lower case) tag.
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

/// Reads a word of parts separated by bars.
///
/// With a list for it, what cannot be read is skipped up to the next part of two or three characters, which is then
/// taken for the start of another identifier; only if nothing is left is the word refused.
fn parse_tagged(text: &[u8], mut passed: Option<&mut Vec<Refusal>>) -> Result<Vec<SeqId>, Refusal> {
    let mut parts: VecDeque<&[u8]> = text.split(|&c| c == b'|').collect();
    let mut ids = Vec::new();
    let mut tag = parts.front().and_then(|part| Tag::parse(part));
    if tag.is_some() {
        parts.pop_front();
    } else if parts.len() == 2 {
        // An unknown database.
        tag = Some(Tag::General);
    }
    while !parts.is_empty() {
        match parse_next(&mut parts, &mut tag) {
            Ok(id) => ids.extend(id),
            Err(refusal) => {
                let Some(passed) = passed.as_mut().filter(|_| !parts.is_empty()) else {
                    return Err(refusal);
                };
                passed.push(refusal);
                while parts.front().is_some_and(|part| part.len() != 2 && part.len() != 3) {
                    parts.pop_front();
                }
            }
        }
    }
    Ok(ids)
}

/// Reads the parts of one identifier, if its tag is known, and the tag of the next.
fn parse_next(
    parts: &mut VecDeque<&[u8]>,
    tag: &mut Option<Tag>,
) -> Result<Option<SeqId>, Refusal> {
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
            let refusal = Refusal::unsupported_tag(part);
            parts.pop_front();
            return Err(refusal);
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
    /// dbSNP: the second part and all that follow.
    greedy: Option<Vec<u8>>,
}

/// Takes the parts that belong to a tag, and the next tag if it was seen on the way.
fn take_fields<'a>(
    parts: &mut VecDeque<&'a [u8]>,
    tag: Tag,
) -> Result<(Fields<'a>, Option<Tag>), Refusal> {
    let (least, most) = tag.parts();
    let mut fields = Fields::default();
    let mut next = None;
    for i in 0..most {
        if i >= least {
            if parts.is_empty() {
                break;
            }
            // An optional part that was left out, unless the part after it is a tag, too.
            if let Some(found) = short_tag(parts, 0).filter(|_| parts.len() > 1) {
                next = Some(found);
                match short_tag(parts, 1) {
                    Some(second) => next = Some(second),
                    None => break,
                }
            }
        }
        fields.parts[i] = parts.pop_front().ok_or_else(|| Refusal::too_few_parts(tag.word()))?;
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

fn build(tag: Tag, fields: Fields) -> Result<SeqId, Refusal> {
    let [first, second, _] = fields.parts.map(<[u8]>::trim_ascii);
    match tag {
        // An empty one stays only where it is stored.
        Tag::Local => Ok(SeqId::Local(ObjectId::from_text(first))),
        Tag::Numbered(kind) => {
            let number =
                small_number(first).ok_or_else(|| Refusal::no_number(tag.type_name(), first))?;
            Ok(SeqId::Numbered(kind, number))
        }
        Tag::Gi => {
            let number = digits(unsigned(first));
            Ok(SeqId::Gi(number.ok_or_else(|| Refusal::no_number(tag.type_name(), first))?))
        }
        Tag::General => {
            let tag = fields.greedy.as_deref().unwrap_or(second).trim_ascii();
            Ok(SeqId::General { db: first.to_vec(), tag: ObjectId::from_text(tag) })
        }
        Tag::Patent => {
            let number = small_number(fields.parts[2]);
            let sequence = number.ok_or_else(|| Refusal::patent(fields.parts))?;
            Ok(SeqId::Patent { country: first.to_vec(), number: second.to_vec(), sequence })
        }
        Tag::Pdb => pdb(fields.parts[0], fields.parts[1]),
        Tag::Text(TextKind::SwissProt) => text(TextKind::SwissProt, first, second, b"reviewed"),
        Tag::Text(kind) => text(kind, first, second, b""),
        Tag::TrEmbl => text(TextKind::SwissProt, first, second, UNREVIEWED),
    }
}

/// A number from 0 to 2³¹−1.
fn small_number(text: &[u8]) -> Option<i64> {
    digits(unsigned(text)).filter(|&n| n <= i64::from(i32::MAX))
}

/// A number without the plus sign that may stand before it.
fn unsigned(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"+").unwrap_or(text)
}

/// A PDB entry, whose chain may stand in the same part: `1ABC_A`, `1ABCA`.
fn pdb(entry: &[u8], chain: &[u8]) -> Result<SeqId, Refusal> {
    let fused = entry.len() > 5 && (!chain.is_empty() || !matches!(entry[4], b'|' | b'-' | b'_'));
    if entry.len() < 4 || fused {
        return Err(Refusal::pdb(entry));
    }
    let (mol, chain) = match (entry.len(), chain) {
        (5, b"") => (&entry[..4], &entry[4..]),
        (6.., b"") => (&entry[..4], &entry[5..]),
        _ => (entry, chain),
    };
    Ok(SeqId::Pdb { mol: mol.trim_ascii().to_vec(), chain: chain.trim_ascii().to_vec() })
}

/// An accession with its version after the last dot, and a name; one of them may be empty.
/// PIR's and PRF's accessions have no versions.
fn text(kind: TextKind, accession: &[u8], name: &[u8], release: &[u8]) -> Result<SeqId, Refusal> {
    if accession.is_empty() && name.is_empty() {
        return Err(Refusal::nameless(release));
    }
    let dotted = !matches!(kind, TextKind::Pir | TextKind::Prf);
    let dot = accession.iter().rposition(|&c| c == b'.').filter(|_| dotted);
    let (accession, version) = match dot {
        Some(dot) => match small_number(&accession[dot + 1..]) {
            None | Some(0) => return Err(Refusal::version("CTextseq_id::Set", 108, accession)),
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

/// Which words that are no accessions are local identifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Locals {
    /// None is.
    None,
    /// Those of at most [`MAX_LOCAL`] characters of which none is odd.
    Valid,
    /// All are.
    Any,
}

impl Locals {
    fn include(self, word: &[u8]) -> bool {
        let odd = |c: &u8| !(b' '..=127).contains(c) || b" >[]|\"".contains(c);
        match self {
            Self::None => false,
            Self::Valid => word.len() <= MAX_LOCAL && !word.iter().any(odd),
            Self::Any => true,
        }
    }
}

/// A word without tag: an accession of known shape, `SRA:...`, or local.
fn parse_bare(word: &[u8], locals: Locals) -> Result<SeqId, Refusal> {
    if word.is_empty() {
        return Err(Refusal::empty());
    }
    match identify(word) {
        Identified::Pdb => return Ok(pdb_bare(word)),
        Identified::Text(TextKind::Prf, _) => return text(TextKind::Prf, b"", word, b""),
        Identified::Text(kind, _) => {
            return text(kind, word, b"", b"")
                .map_err(|_| Refusal::version("s_SplitVersion", 157, word));
        }
        Identified::Unknown => {}
    }
    if let Some(colon) = word.iter().position(|&c| c == b':') {
        let (db, tag) = (&word[..colon], &word[colon + 1..]);
        let known = |name: &&str| name.as_bytes().eq_ignore_ascii_case(db);
        if COLON_DATABASES.iter().any(known) {
            let tag = ObjectId::from_text(tag.trim_ascii());
            return Ok(SeqId::General { db: db.to_vec(), tag });
        }
    }
    match locals.include(word) {
        true => Ok(SeqId::Local(ObjectId::from_text(word))),
        false => Err(Refusal::malformed(word)),
    }
}

/// A PDB entry, perhaps with a chain after one more character. What follows the entry directly and is all is the chain.
fn pdb_bare(word: &[u8]) -> SeqId {
    let chain = match word {
        [_, _, _, _, last] if *last != b'|' => &word[4..],
        _ => word.get(5..).unwrap_or_default(),
    };
    SeqId::Pdb { mol: word[..4].to_vec(), chain: chain.trim_ascii().to_vec() }
}
