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
        (value, AsnType::Named(_, kind)) => write(value, kind, writer),
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

#[cfg(test)]
mod tests {
    use fleetblast_seq::id::{NumberKind, ObjectId, SeqId, TextKind};

    use super::*;
    use crate::asn::ALIGNMENT;
    use crate::asn::seq_id;

    fn text_ids() -> impl Iterator<Item = SeqId> {
        use TextKind as K;
        let kinds = [
            K::GenBank,
            K::Embl,
            K::Pir,
            K::SwissProt,
            K::RefSeq,
            K::Ddbj,
            K::Prf,
            K::TpaGenBank,
            K::TpaEmbl,
            K::TpaDdbj,
            K::Gpipe,
            K::NamedAnnotTrack,
        ];
        let id = |kind| SeqId::Text {
            kind,
            accession: b"A".to_vec(),
            version: Some(1),
            name: b"n".to_vec(),
            release: b"r".to_vec(),
        };
        kinds.into_iter().map(id)
    }

    /// Identifiers of all kinds have numbers.
    #[test]
    fn all_identifiers_can_be_written() {
        let bytes = |text: &str| text.as_bytes().to_vec();
        let mut ids: Vec<SeqId> = text_ids().collect();
        ids.extend([
            SeqId::Local(ObjectId::Number(1)),
            SeqId::Local(ObjectId::Text(bytes("q"))),
            SeqId::General { db: bytes("d"), tag: ObjectId::Number(2) },
            SeqId::Gi(3),
            SeqId::Numbered(NumberKind::BackboneSequence, 4),
            SeqId::Numbered(NumberKind::BackboneMolecule, 4),
            SeqId::Numbered(NumberKind::Import, 4),
            SeqId::Pdb { mol: bytes("1ABC"), chain: bytes("A") },
            SeqId::Pdb { mol: bytes("1ABC"), chain: bytes("AA") },
            SeqId::Patent { country: bytes("US"), number: bytes("1"), sequence: 1 },
        ]);
        for id in ids {
            let ids = AsnValue::List(vec![seq_id::value(&id)]);
            let segments = AsnValue::choice("denseg", AsnValue::Fields(vec![("ids", ids)]));
            let mut out = Vec::new();
            write_ber(&AsnValue::Fields(vec![("segs", segments)]), &ALIGNMENT, &mut out);
            assert!(out.ends_with(&[0, 0]));
        }
    }
}
