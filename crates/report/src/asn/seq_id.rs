//! Sequence identifiers in ASN.1 (`Seq-id`, seqloc.asn).

use fleetblast_seq::id::{NumberKind, ObjectId, SeqId, TextKind};

use super::tree::AsnValue;

/// Makes the value of an identifier.
pub fn value(id: &SeqId) -> AsnValue {
    let text = |bytes: &[u8]| AsnValue::text(bytes);
    match id {
        SeqId::Local(id) => AsnValue::choice("local", object_id(id)),
        SeqId::General { db, tag } => AsnValue::choice(
            "general",
            AsnValue::Fields(vec![("db", text(db)), ("tag", object_id(tag))]),
        ),
        SeqId::Gi(number) => AsnValue::choice("gi", AsnValue::Integer(*number)),
        SeqId::Numbered(kind, number) => {
            let number = AsnValue::Integer(*number);
            match kind {
                NumberKind::BackboneSequence => AsnValue::choice("gibbsq", number),
                NumberKind::BackboneMolecule => AsnValue::choice("gibbmt", number),
                NumberKind::Import => {
                    AsnValue::choice("giim", AsnValue::Fields(vec![("id", number)]))
                }
            }
        }
        SeqId::Pdb { mol, chain } => AsnValue::choice("pdb", pdb(mol, chain)),
        SeqId::Patent { country, number, sequence } => {
            let number = AsnValue::choice("number", text(number));
            let cit = AsnValue::Fields(vec![("country", text(country)), ("id", number)]);
            AsnValue::choice(
                "patent",
                AsnValue::Fields(vec![("seqid", AsnValue::Integer(*sequence)), ("cit", cit)]),
            )
        }
        SeqId::Text { kind, accession, version, name, release } => {
            let mut fields = Vec::new();
            let texts = [("name", name), ("accession", accession), ("release", release)];
            for (field, bytes) in texts.into_iter().filter(|(_, bytes)| !bytes.is_empty()) {
                fields.push((field, text(bytes)));
            }
            fields.extend(version.map(|version| ("version", AsnValue::integer(version))));
            AsnValue::choice(choice(*kind), AsnValue::Fields(fields))
        }
    }
}

/// Makes the value of an `Object-id`.
fn object_id(id: &ObjectId) -> AsnValue {
    match id {
        ObjectId::Number(number) => AsnValue::choice("id", AsnValue::Integer(*number)),
        ObjectId::Text(text) => AsnValue::choice("str", AsnValue::text(text)),
    }
}

fn pdb(mol: &[u8], chain: &[u8]) -> AsnValue {
    let mut fields = vec![("mol", AsnValue::text(mol))];
    // A chain of one letter is also stored as a number, in an older field.
    if let [letter] = chain {
        fields.push(("chain", AsnValue::integer(*letter)));
    }
    if !chain.is_empty() {
        fields.push(("chain-id", AsnValue::text(chain)));
    }
    AsnValue::Fields(fields)
}

/// Returns the alternative of `Seq-id` for identifiers of a database.
fn choice(kind: TextKind) -> &'static str {
    match kind {
        TextKind::GenBank => "genbank",
        TextKind::Embl => "embl",
        TextKind::Pir => "pir",
        TextKind::SwissProt => "swissprot",
        TextKind::RefSeq => "other",
        TextKind::Ddbj => "ddbj",
        TextKind::Prf => "prf",
        TextKind::TpaGenBank => "tpg",
        TextKind::TpaEmbl => "tpe",
        TextKind::TpaDdbj => "tpd",
        TextKind::Gpipe => "gpipe",
        TextKind::NamedAnnotTrack => "named-annot-track",
    }
}
