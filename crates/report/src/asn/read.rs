//! Reads ASN.1 values of a known type as trees.

use fleetblast_seq::asn::{Malformed, Node};

use super::schema::{AsnType, Member};
use super::tree::AsnValue;

/// Upper bound of the tags of fields, exclusive: a tag of one byte has no room for larger numbers.
const TAGS: usize = 31;

/// Reads a value of this type.
///
/// # Errors
/// The value is not of the type.
pub fn read_value(node: Node<'_>, kind: &AsnType) -> Result<AsnValue, Malformed> {
    Ok(match kind {
        AsnType::Integer => AsnValue::Integer(node.integer()?),
        AsnType::Real => AsnValue::Real(node.real()?),
        AsnType::Text => AsnValue::Text(node.text()?.into_owned()),
        AsnType::Bytes => AsnValue::Bytes(node.bytes()?.into_owned()),
        AsnType::Boolean => AsnValue::Boolean(node.boolean()?),
        AsnType::Enumerated(words) => {
            match words.iter().find(|(word, number)| node.is_word(word, (*number).into())) {
                Some((word, _)) => AsnValue::Word(word),
                None => return node.fail("a word that is not supported"),
            }
        }
        AsnType::Choice(members) => {
            let (name, value) = read_member(node, members)?;
            AsnValue::choice(name, value)
        }
        AsnType::Fields(members) => {
            let fields = node.list()?.map(|field| read_member(field, members));
            AsnValue::Fields(fields.collect::<Result<_, _>>()?)
        }
        AsnType::SequenceOf(kind) | AsnType::SetOf(kind) => {
            let values = node.list()?.map(|value| read_value(value, kind));
            AsnValue::List(values.collect::<Result<_, _>>()?)
        }
        AsnType::Named(_, kind) => read_value(node, kind)?,
    })
}

/// Reads a field or an alternative. Returns its name and its value.
fn read_member(node: Node<'_>, members: &[Member]) -> Result<(&'static str, AsnValue), Malformed> {
    let mut names = [""; TAGS];
    members.iter().for_each(|member| names[usize::from(member.number)] = member.name);
    let (place, value) = node.choice(&names)?;
    match members.iter().find(|member| usize::from(member.number) == place) {
        Some(member) => Ok((member.name, read_value(value, member.kind)?)),
        None => node.fail(format!("a field of number {place} is not supported")),
    }
}
