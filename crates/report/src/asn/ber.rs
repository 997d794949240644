//! Writes ASN.1 values in BER, as NCBI's toolkit does (`CObjectOStreamAsnBinary`,
//! objostrasnb.cpp).

use fleetblast_seq::asn::ber::Writer;

use super::schema::{AsnType, Member};
use super::tree::AsnValue;
use crate::number;

/// Appends a value of this type.
///
/// # Panics
/// If the value is not of the type.
pub fn write_ber(value: &AsnValue, kind: &AsnType, out: &mut Vec<u8>) {
    write(value, kind, &mut Writer::new(out));
}

fn write(value: &AsnValue, kind: &AsnType, writer: &mut Writer) {
    match (value, kind) {
        (AsnValue::Integer(number), AsnType::Integer) => writer.integer(*number),
        (AsnValue::Real(number), AsnType::Real) => writer.real(&number::posix(*number)),
        (AsnValue::Text(text), AsnType::Text) => writer.string(text, |_, _| {}),
        (AsnValue::Boolean(value), AsnType::Boolean) => writer.boolean(*value),
        (AsnValue::Word(word), AsnType::Enumerated(words)) => {
            let found = words.iter().find(|(name, _)| name == word);
            writer.enumerated(found.unwrap_or_else(|| panic!("{word} has no number")).1);
        }
        (AsnValue::Choice(name, value), AsnType::Choice(members)) => {
            write_member(name, value, members, writer);
        }
        (AsnValue::Fields(fields), AsnType::Fields(members)) => writer.sequence(|writer| {
            for (name, value) in fields {
                write_member(name, value, members, writer);
            }
        }),
        (AsnValue::List(values), AsnType::SequenceOf(kind)) => {
            writer.sequence(|writer| values.iter().for_each(|value| write(value, kind, writer)));
        }
        (AsnValue::List(values), AsnType::SetOf(kind)) => {
            writer.set(|writer| values.iter().for_each(|value| write(value, kind, writer)));
        }
        (value, _) => panic!("a value of another type: {value:?}"),
    }
}

fn write_member(name: &str, value: &AsnValue, members: &[Member], writer: &mut Writer) {
    let found = members.iter().find(|member| member.name == name);
    let member = found.unwrap_or_else(|| panic!("{name} has no number"));
    writer.tagged(member.number, |writer| write(value, member.kind, writer));
}
