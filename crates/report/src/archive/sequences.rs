//! The sequences of an archive (`Bioseq`, seq.asn).

use fleetblast_seq::alphabet;
use fleetblast_seq::id::SeqId;
use fleetblast_seq::nucleotide::blastna;

use crate::asn::{AsnValue, seq_data, seq_id};

/// A query or a FASTA subject, with what an archive stores of it.
pub struct StoredSequence<'a> {
    /// The identifiers, at least one.
    pub ids: &'a [SeqId],
    /// The definition line as read, without `>`.
    pub defline: &'a [u8],
    /// The title.
    pub title: &'a [u8],
    /// NCBIstdaa codes, or blastna codes if `is_protein` is false.
    pub letters: &'a [u8],
    /// Whether the sequence is a protein.
    pub is_protein: bool,
}

impl StoredSequence<'_> {
    /// Makes the value of the sequence.
    pub fn value(&self) -> AsnValue {
        let defline = [b">", self.defline].concat();
        let field = AsnValue::Fields(vec![
            ("label", AsnValue::choice("str", AsnValue::text("DefLine"))),
            ("data", AsnValue::choice("str", AsnValue::Text(printable(&defline)))),
        ]);
        let reader = AsnValue::Fields(vec![
            ("type", AsnValue::choice("str", AsnValue::text("CFastaReader"))),
            ("data", AsnValue::List(vec![field])),
        ]);
        let mut descriptions = vec![AsnValue::choice("user", reader)];
        if !self.title.is_empty() {
            descriptions.push(AsnValue::choice("title", AsnValue::text(self.title)));
        }
        AsnValue::Fields(vec![
            ("id", AsnValue::List(self.ids.iter().map(seq_id::value).collect())),
            ("descr", AsnValue::List(descriptions)),
            ("inst", self.instance()),
        ])
    }

    fn instance(&self) -> AsnValue {
        let mut fields = vec![
            ("repr", AsnValue::Word(if self.letters.is_empty() { "virtual" } else { "raw" })),
            ("mol", AsnValue::Word(if self.is_protein { "aa" } else { "na" })),
        ];
        fields.push(("length", AsnValue::integer(self.letters.len() as i64)));
        if !self.letters.is_empty() {
            fields.push(("seq-data", self.data()));
        }
        AsnValue::Fields(fields)
    }

    /// Makes the letters: text for proteins, packed codes for bases. Four bases need a byte if none
    /// is ambiguous, else two.
    fn data(&self) -> AsnValue {
        if self.is_protein {
            let text = self.letters.iter().map(|&code| alphabet::decode(code)).collect();
            return AsnValue::choice("ncbieaa", AsnValue::Text(text));
        }
        match self.letters.iter().all(|&code| code < 4) {
            true => seq_data::two_bits(self.letters),
            false => {
                let codes = self.letters.iter().map(|&code| blastna::to_ncbi4na(code));
                seq_data::four_bits(&codes.collect::<Vec<_>>())
            }
        }
    }
}

/// Replaces quotes, backslashes and characters that are not printable by escapes of C
/// (`NStr::PrintableString`, ncbistr.cpp).
fn printable(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'\t' => out.extend(b"\\t"),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            0x0b => out.extend(b"\\v"),
            0x08 => out.extend(b"\\b"),
            0x0c => out.extend(b"\\f"),
            0x07 => out.extend(b"\\a"),
            b'"' | b'\\' | b'\'' => out.extend([b'\\', byte]),
            b' '..=b'~' => out.push(byte),
            _ => {
                // Leading zeros are left out, unless the next character could be read as a digit.
                let is_digit_next =
                    text.get(at + 1).is_some_and(|next| (b'0'..=b'7').contains(next));
                let octal =
                    if is_digit_next { format!("\\{byte:03o}") } else { format!("\\{byte:o}") };
                out.extend(octal.bytes());
            }
        }
    }
    out
}
