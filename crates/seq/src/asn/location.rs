//! Reads locations: a sequence and ranges in it (seqloc.asn).

use std::borrow::Cow;
use std::ops::Range;

use super::{Malformed, Node};
use crate::id::{NumberKind, ObjectId, SeqId, TextKind};

type Result<T> = std::result::Result<T, Malformed>;

const SEQ_LOC: &[&str; 11] = &[
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
const INTERVAL: &[&str; 6] = &["from", "to", "strand", "id", "fuzz-from", "fuzz-to"];
/// Names of the alternatives of a Seq-id.
pub const SEQ_ID: &[&str; 20] = &[
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
/// Names of the alternatives of an Object-id.
pub const OBJECT_ID: &[&str; 2] = &["id", "str"];
const TEXT_ID: &[&str; 4] = &["name", "accession", "release", "version"];
const GENERAL: &[&str; 2] = &["db", "tag"];
const PDB: &[&str; 4] = &["mol", "chain", "rel", "chain-id"];
const GIIM: &[&str; 3] = &["id", "db", "release"];
const PATENT: &[&str; 2] = &["seqid", "cit"];
const CITED: &[&str; 3] = &["country", "id", "doc-type"];
const CITED_ID: &[&str; 2] = &["number", "app-number"];

/// A sequence and half-open ranges in it.
pub type Location = (SeqId, Vec<Range<u32>>);

/// Reads a Seq-loc that is one interval or several intervals of one sequence. Returns `Ok(None)` if
/// it is null or empty.
///
/// # Errors
/// [`Malformed`] if the node is another kind of location.
pub fn read_location(node: Node<'_>) -> Result<Option<Location>> {
    if node.word() == Some(b"null") {
        return Ok(None);
    }
    let (kind, value) = node.choice(SEQ_LOC)?;
    match SEQ_LOC[kind] {
        "null" | "empty" => Ok(None),
        "int" => interval(value).map(|(id, range)| Some((id, vec![range]))),
        "packed-int" => {
            let mut found: Option<Location> = None;
            for node in value.list()? {
                let (id, range) = interval(node)?;
                match &mut found {
                    None => found = Some((id, vec![range])),
                    Some((first, ranges)) if *first == id => ranges.push(range),
                    Some(_) => return node.fail("an interval of another sequence"),
                }
            }
            Ok(found)
        }
        _ => node.fail("a kind of location other than int and packed-int"),
    }
}

/// Reads an interval, whose ends are inclusive, as a half-open range.
fn interval(node: Node<'_>) -> Result<(SeqId, Range<u32>)> {
    let [Some(from), Some(to), _, Some(id), ..] = node.fields(INTERVAL)? else {
        return node.fail("an interval without its ends or its sequence");
    };
    let place = |end: Node<'_>| match u32::try_from(end.integer()?) {
        Ok(end) if end < u32::MAX => Ok(end),
        _ => end.fail("the end of an interval that is none"),
    };
    Ok((read_seq_id(id)?, place(from)?..place(to)? + 1))
}

/// Reads a Seq-id.
///
/// # Errors
/// [`Malformed`](super::Malformed) if the value has another form.
pub fn read_seq_id(node: Node<'_>) -> Result<SeqId> {
    let (kind, value) = node.choice(SEQ_ID)?;
    let numbered = |kind| Ok(SeqId::Numbered(kind, value.integer()?));
    match SEQ_ID[kind] {
        "local" => object_id(value).map(SeqId::Local),
        "gibbsq" => numbered(NumberKind::BackboneSequence),
        "gibbmt" => numbered(NumberKind::BackboneMolecule),
        "giim" => match value.fields(GIIM)? {
            [Some(id), ..] => Ok(SeqId::Numbered(NumberKind::Import, id.integer()?)),
            _ => value.fail("no 'id'"),
        },
        "gi" => Ok(SeqId::Gi(value.integer()?)),
        "general" => match value.fields(GENERAL)? {
            [Some(db), Some(tag)] => {
                Ok(SeqId::General { db: db.text()?.into_owned(), tag: object_id(tag)? })
            }
            _ => value.fail("no 'db' or no 'tag'"),
        },
        "pdb" => pdb(value),
        "patent" => read_patent(value),
        "genbank" => text_id(value, TextKind::GenBank),
        "embl" => text_id(value, TextKind::Embl),
        "pir" => text_id(value, TextKind::Pir),
        "swissprot" => text_id(value, TextKind::SwissProt),
        "other" => text_id(value, TextKind::RefSeq),
        "ddbj" => text_id(value, TextKind::Ddbj),
        "prf" => text_id(value, TextKind::Prf),
        "tpg" => text_id(value, TextKind::TpaGenBank),
        "tpe" => text_id(value, TextKind::TpaEmbl),
        "tpd" => text_id(value, TextKind::TpaDdbj),
        "gpipe" => text_id(value, TextKind::Gpipe),
        _ => text_id(value, TextKind::NamedAnnotTrack),
    }
}

fn object_id(node: Node<'_>) -> Result<ObjectId> {
    match node.choice(OBJECT_ID)? {
        (0, number) => number.integer().map(ObjectId::Number),
        (_, text) => Ok(ObjectId::Text(text.text()?.into_owned())),
    }
}

/// Reads the identifier of a PDB sequence. A chain of one letter can be stored as a number instead
/// of a text. The number of a blank means no chain.
fn pdb(node: Node<'_>) -> Result<SeqId> {
    let [Some(mol), letter, _, chain] = node.fields(PDB)? else {
        return node.fail("no 'mol'");
    };
    let letter = letter.map(|letter| letter.integer()).transpose()?;
    let letter = letter.and_then(|letter| u8::try_from(letter).ok());
    let letter = letter.filter(|&letter| letter != b' ').map(|letter| vec![letter]);
    let chain = chain.map(|chain| chain.text()).transpose()?.map(Cow::into_owned);
    Ok(SeqId::Pdb { mol: mol.text()?.into_owned(), chain: chain.or(letter).unwrap_or_default() })
}

fn read_patent(node: Node<'_>) -> Result<SeqId> {
    let [Some(sequence), Some(cited)] = node.fields(PATENT)? else {
        return node.fail("no 'seqid' or no 'cit'");
    };
    let [Some(country), Some(id), _] = cited.fields(CITED)? else {
        return cited.fail("no 'country' or no 'id'");
    };
    let (_, number) = id.choice(CITED_ID)?;
    Ok(SeqId::Patent {
        country: country.text()?.into_owned(),
        number: number.text()?.into_owned(),
        sequence: sequence.integer()?,
    })
}

fn text_id(node: Node<'_>, kind: TextKind) -> Result<SeqId> {
    let [name, accession, release, version] = node.fields(TEXT_ID)?;
    let text = |field: Option<Node<'_>>| {
        let text = field.map(|text| text.text()).transpose()?;
        Ok(text.unwrap_or_default().into_owned())
    };
    let version = version.map(|version| version.integer()).transpose()?;
    Ok(SeqId::Text {
        kind,
        accession: text(accession)?,
        version: version.and_then(|version| u32::try_from(version).ok()),
        name: text(name)?,
        release: text(release)?,
    })
}
