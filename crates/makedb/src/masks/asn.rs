//! Values of ASN.1 whatever they are written in, and what they say of masks.

use std::ops::Range;

use fleetblast_seq::id::{NumberKind, ObjectId, SeqId, TextKind};

/// Name of a member or of the alternative of a CHOICE: a word in text, a number in binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// In text.
    Word(Vec<u8>),
    /// In binary.
    Number(u8),
    /// An element of a list.
    None,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// INTEGER, or ENUMERATED in binary.
    Integer(i64),
    /// A string.
    Text(Vec<u8>),
    /// A word alone: TRUE, NULL, or ENUMERATED in text.
    Word(Vec<u8>),
    /// Members of a SEQUENCE, elements of a list, or the alternative of a CHOICE.
    Group(Vec<(Key, Node)>),
}

/// The names of members in the order of their numbers.
type Names = &'static [&'static str];

const SEQ_LOC: Names = &[
    "null",
    "empty",
    "whole",
    "int",
    "packed-int",
    "pnt",
    "packed-pnt",
    "mix",
    "equiv",
    "bond",
    "feat",
];
const INTERVAL: Names = &["from", "to", "strand", "id", "fuzz-from", "fuzz-to"];
const SEQ_ID: Names = &[
    "local",
    "gibbsq",
    "gibbmt",
    "giim",
    "genbank",
    "embl",
    "pir",
    "swissprot",
    "patent",
    "other",
    "general",
    "gi",
    "ddbj",
    "prf",
    "pdb",
    "tpg",
    "tpe",
    "tpd",
    "gpipe",
    "named-annot-track",
];
const OBJECT_ID: Names = &["id", "str"];
const TEXT_ID: Names = &["name", "accession", "release", "version"];
const GENERAL: Names = &["db", "tag"];
const PDB: Names = &["mol", "chain", "rel", "chain-id"];
const GIIM: Names = &["id", "db", "release"];
const PATENT: Names = &["seqid", "cit"];
const CITED: Names = &["country", "id", "doc-type"];
const CITED_ID: Names = &["number", "app-number"];

impl Key {
    fn is(&self, names: Names, wanted: &str) -> bool {
        match self {
            Self::Word(word) => word == wanted.as_bytes(),
            Self::Number(number) => names.get(usize::from(*number)) == Some(&wanted),
            Self::None => false,
        }
    }
}

impl Node {
    fn group(&self) -> &[(Key, Node)] {
        match self {
            Self::Group(members) => members,
            _ => &[],
        }
    }

    fn member(&self, names: Names, wanted: &str) -> Option<&Node> {
        self.group().iter().find(|(key, _)| key.is(names, wanted)).map(|(_, node)| node)
    }

    fn integer(&self, names: Names, wanted: &str) -> Option<i64> {
        match self.member(names, wanted) {
            Some(Self::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    fn text(&self, names: Names, wanted: &str) -> Option<Vec<u8>> {
        match self.member(names, wanted) {
            Some(Self::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }
}

/// A sequence and ranges in it.
pub(super) type Location = (SeqId, Vec<Range<u32>>);

/// The sequence and the ranges of a Seq-loc (seqloc.asn): an interval, several, or none (`Ok(None)`).
/// `Err` is what is wrong.
pub(super) fn location(node: &Node) -> Result<Option<Location>, &'static str> {
    let (key, value) = match node.group() {
        [(key, value)] => (key, value),
        _ if *node == Node::Word(b"null".to_vec()) => return Ok(None),
        _ => return Err("not a location"),
    };
    if key.is(SEQ_LOC, "null") {
        return Ok(None);
    }
    if key.is(SEQ_LOC, "int") {
        let (id, range) = interval(value)?;
        return Ok(Some((id, vec![range])));
    }
    if !key.is(SEQ_LOC, "packed-int") {
        return Err("a kind of location other than int and packed-int");
    }
    let mut found: Option<Location> = None;
    for (_, node) in value.group() {
        let (id, range) = interval(node)?;
        match &mut found {
            None => found = Some((id, vec![range])),
            Some((first, ranges)) if *first == id => ranges.push(range),
            Some(_) => return Err("intervals of several sequences in one location"),
        }
    }
    Ok(found)
}

/// An interval, whose ends are both included, as a range.
fn interval(node: &Node) -> Result<(SeqId, Range<u32>), &'static str> {
    let end = |name| {
        let end = node.integer(INTERVAL, name).and_then(|end| u32::try_from(end).ok());
        end.filter(|&end| end < u32::MAX)
    };
    let id = node.member(INTERVAL, "id").and_then(seq_id);
    match (end("from"), end("to"), id) {
        (Some(from), Some(to), Some(id)) => Ok((id, from..to + 1)),
        (_, _, None) => Err("an interval without a known kind of identifier"),
        _ => Err("an interval without its ends"),
    }
}

/// A Seq-id.
fn seq_id(node: &Node) -> Option<SeqId> {
    let [(key, value)] = node.group() else { return None };
    let which = SEQ_ID.iter().find(|name| key.is(SEQ_ID, name))?;
    let number = || if let Node::Integer(number) = value { Some(*number) } else { None };
    match *which {
        "local" => object_id(value).map(SeqId::Local),
        "gibbsq" => Some(SeqId::Numbered(NumberKind::BackboneSequence, number()?)),
        "gibbmt" => Some(SeqId::Numbered(NumberKind::BackboneMolecule, number()?)),
        "giim" => Some(SeqId::Numbered(NumberKind::Import, value.integer(GIIM, "id")?)),
        "gi" => Some(SeqId::Gi(number()?)),
        "general" => Some(SeqId::General {
            db: value.text(GENERAL, "db")?,
            tag: object_id(value.member(GENERAL, "tag")?)?,
        }),
        "pdb" => {
            let letter = value.integer(PDB, "chain").and_then(|chain| u8::try_from(chain).ok());
            let letter = letter.filter(|&chain| chain != b' ').map(|chain| vec![chain]);
            let chain = value.text(PDB, "chain-id").or(letter).unwrap_or_default();
            Some(SeqId::Pdb { mol: value.text(PDB, "mol")?, chain })
        }
        "patent" => {
            let cited = value.member(PATENT, "cit")?;
            let id = cited.member(CITED, "id")?;
            let number = id.text(CITED_ID, "number").or_else(|| id.text(CITED_ID, "app-number"))?;
            let sequence = value.integer(PATENT, "seqid")?;
            Some(SeqId::Patent { country: cited.text(CITED, "country")?, number, sequence })
        }
        kind => Some(SeqId::Text {
            kind: text_kind(kind)?,
            accession: value.text(TEXT_ID, "accession").unwrap_or_default(),
            version: value.integer(TEXT_ID, "version").and_then(|v| u32::try_from(v).ok()),
            name: value.text(TEXT_ID, "name").unwrap_or_default(),
            release: value.text(TEXT_ID, "release").unwrap_or_default(),
        }),
    }
}

fn object_id(node: &Node) -> Option<ObjectId> {
    let number = node.integer(OBJECT_ID, "id").map(ObjectId::Number);
    number.or_else(|| node.text(OBJECT_ID, "str").map(ObjectId::Text))
}

fn text_kind(name: &str) -> Option<TextKind> {
    Some(match name {
        "genbank" => TextKind::GenBank,
        "embl" => TextKind::Embl,
        "pir" => TextKind::Pir,
        "swissprot" => TextKind::SwissProt,
        "other" => TextKind::RefSeq,
        "ddbj" => TextKind::Ddbj,
        "prf" => TextKind::Prf,
        "tpg" => TextKind::TpaGenBank,
        "tpe" => TextKind::TpaEmbl,
        "tpd" => TextKind::TpaDdbj,
        "gpipe" => TextKind::Gpipe,
        "named-annot-track" => TextKind::NamedAnnotTrack,
        _ => return None,
    })
}
