//! Header records: the Blast-def-line-set of one sequence (blastdb.asn).

use std::collections::BTreeSet;

use fleetblast_seq::asn::ber::Writer;
use fleetblast_seq::id::{NumberKind, ObjectId, SeqId, TextKind};

/// Database name of the identifiers `gnl|BL_ORD_ID|N`, which stand for the number N of a sequence.
const ORDINAL_DB: &[u8] = b"BL_ORD_ID";

/// A character of a title or identifier that binary ASN.1 cannot hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadCharacter {
    /// Offset of the character in the header, in bytes.
    pub offset: usize,
    /// The character.
    pub byte: u8,
    /// Name of the ASN.1 field, after `Blast-def-line-set.E.`.
    pub field: &'static str,
    /// The text that contains the character.
    pub text: Vec<u8>,
}

impl std::fmt::Display for BadCharacter {
    /// Writes BLAST+'s message, which BLAST+ prints twice.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { offset: at, byte, field, text } = self;
        let text = String::from_utf8_lossy(text);
        write!(
            f,
            "Error: (803.7) [makeblastdb] Blast-def-line-set.E.{field}\n\
             Bad char [0x{byte:X}] in string at byte {at}\n{text}"
        )
    }
}

/// A definition line to write (`Blast-def-line`, blastdb.asn).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredDefline {
    /// The title; `None` leaves it out.
    pub title: Option<Vec<u8>>,
    /// Identifiers. If there are none, the number of the sequence is the identifier, which is
    /// inserted later.
    pub ids: Vec<SeqId>,
    /// The taxonomy identifier; `None` leaves it out.
    pub taxid: Option<i64>,
    /// Membership bits, 32 in each number.
    pub memberships: Vec<i64>,
    /// Further taxonomy identifiers, or link bits in older databases.
    pub links: Vec<i64>,
    /// Other numbers. The first one is the PIG (protein identity group).
    pub other_info: Vec<i64>,
}

/// Returns the taxonomy identifiers of definition lines, ascending and without duplicates
/// (`CBlast_def_line::GetTaxIds`).
pub(crate) fn taxids(lines: &[StoredDefline]) -> Vec<i32> {
    let of_line = |line: &StoredDefline| {
        let all = line.taxid.iter().chain(&line.links);
        let mut taxids: BTreeSet<i32> = all.filter_map(|&it| i32::try_from(it).ok()).collect();
        if taxids.len() > 1 {
            taxids.remove(&0);
        }
        taxids
    };
    lines.iter().flat_map(of_line).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Encodes the header of a sequence, whose definition lines have identifiers. Characters that ASN.1
/// cannot hold become `#`.
pub fn encode_header(lines: &[StoredDefline]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_header(lines, &mut bytes, &mut Vec::new());
    bytes
}

/// Appends a header with these definition lines. For a line without identifiers, it leaves out the
/// number of the sequence, and returns the offset of the number in the header.
pub(crate) fn write_header(
    lines: &[StoredDefline],
    bytes: &mut Vec<u8>,
    bad: &mut Vec<BadCharacter>,
) -> Option<usize> {
    let start = bytes.len();
    let mut ordinal = None;
    let mut writer = Writer::new(bytes);
    writer.sequence(|w| {
        for line in lines {
            w.sequence(|w| {
                if let Some(title) = &line.title {
                    w.tagged(0, |w| text(w, title, start, "title", bad));
                }
                w.tagged(1, |w| {
                    w.sequence(|w| {
                        if line.ids.is_empty() {
                            ordinal = Some(ordinal_id(w) - start);
                        }
                        for id in &line.ids {
                            seq_id(w, id, start, bad);
                        }
                    });
                });
                if let Some(taxid) = line.taxid {
                    w.tagged(2, |w| w.integer(taxid));
                }
                for (tag, numbers) in
                    [(3, &line.memberships), (4, &line.links), (5, &line.other_info)]
                {
                    if !numbers.is_empty() {
                        w.tagged(tag, |w| {
                            w.sequence(|w| numbers.iter().for_each(|&number| w.integer(number)));
                        });
                    }
                }
            });
        }
    });
    ordinal
}

/// Appends the number of a sequence, as the INTEGER that [`write_header`] leaves out.
pub(crate) fn write_ordinal(number: u32, bytes: &mut Vec<u8>) {
    Writer::new(bytes).integer(i64::from(number));
}

fn text(
    w: &mut Writer<'_>,
    text: &[u8],
    start: usize,
    field: &'static str,
    bad: &mut Vec<BadCharacter>,
) {
    w.string(text, |at, byte| {
        bad.push(BadCharacter { offset: at - start, byte, field, text: text.to_vec() });
    });
}

/// Appends `gnl|BL_ORD_ID|` without its number, and returns the offset for the number.
fn ordinal_id(w: &mut Writer<'_>) -> usize {
    let mut place = 0;
    w.tagged(10, |w| {
        w.sequence(|w| {
            w.tagged(0, |w| w.string(ORDINAL_DB, |_, _| {}));
            w.tagged(1, |w| w.tagged(0, |w| place = w.position()));
        });
    });
    place
}

/// Appends an identifier as a Seq-id (seqloc.asn).
fn seq_id(w: &mut Writer<'_>, id: &SeqId, start: usize, bad: &mut Vec<BadCharacter>) {
    let mut put = |w: &mut Writer<'_>, value: &[u8]| text(w, value, start, "seqid.E", bad);
    match id {
        SeqId::Local(local) => w.tagged(0, |w| object_id(w, local, &mut put)),
        SeqId::General { db, tag } => w.tagged(10, |w| {
            w.sequence(|w| {
                w.tagged(0, |w| put(w, db));
                w.tagged(1, |w| object_id(w, tag, &mut put));
            });
        }),
        SeqId::Gi(number) => w.tagged(11, |w| w.integer(*number)),
        SeqId::Pdb { mol, chain } => w.tagged(14, |w| {
            w.sequence(|w| {
                w.tagged(0, |w| put(w, mol));
                if let [letter] = chain[..] {
                    w.tagged(1, |w| w.integer(i64::from(letter)));
                }
                if !chain.is_empty() {
                    w.tagged(3, |w| put(w, chain));
                }
            });
        }),
        SeqId::Patent { country, number, sequence } => w.tagged(8, |w| {
            w.sequence(|w| {
                w.tagged(0, |w| w.integer(*sequence));
                w.tagged(1, |w| {
                    w.sequence(|w| {
                        w.tagged(0, |w| put(w, country));
                        w.tagged(1, |w| w.tagged(0, |w| put(w, number)));
                    });
                });
            });
        }),
        SeqId::Text { kind, accession, version, name, release } => w.tagged(text_tag(*kind), |w| {
            w.sequence(|w| {
                let fields = [(0, name), (1, accession), (2, release)];
                for (tag, value) in fields.into_iter().filter(|(_, value)| !value.is_empty()) {
                    w.tagged(tag, |w| put(w, value));
                }
                if let Some(version) = version {
                    w.tagged(3, |w| w.integer(i64::from(*version)));
                }
            });
        }),
        SeqId::Numbered(NumberKind::Import, number) => w.tagged(3, |w| {
            w.sequence(|w| w.tagged(0, |w| w.integer(*number)));
        }),
        SeqId::Numbered(kind, number) => {
            w.tagged(if *kind == NumberKind::BackboneSequence { 1 } else { 2 }, |w| {
                w.integer(*number)
            });
        }
    }
}

fn object_id(w: &mut Writer<'_>, id: &ObjectId, put: &mut impl FnMut(&mut Writer<'_>, &[u8])) {
    match id {
        ObjectId::Number(number) => w.tagged(0, |w| w.integer(*number)),
        ObjectId::Text(text) => w.tagged(1, |w| put(w, text)),
    }
}

/// Returns the tag of the alternative of Seq-id for accessions of this kind.
fn text_tag(kind: TextKind) -> u8 {
    match kind {
        TextKind::GenBank => 4,
        TextKind::Embl => 5,
        TextKind::Pir => 6,
        TextKind::SwissProt => 7,
        TextKind::RefSeq => 9,
        TextKind::Ddbj => 12,
        TextKind::Prf => 13,
        TextKind::TpaGenBank => 15,
        TextKind::TpaEmbl => 16,
        TextKind::TpaDdbj => 17,
        TextKind::Gpipe => 18,
        TextKind::NamedAnnotTrack => 19,
    }
}
