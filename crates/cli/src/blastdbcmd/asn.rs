//! Sequences and definition lines as ASN.1 text (`-outfmt %b` and `-outfmt %d`).

use fleetblast_db::defline::joined_title;
use fleetblast_db::{Defline, SequenceKind};
use fleetblast_makedb::encode_header;
use fleetblast_report::asn::{AsnValue, print_asn_text, seq_data, seq_id};
use fleetblast_seq::id::SeqId;

use super::Stop;
use super::header::Target;
use super::source::Source;
use crate::stored_defline::stored_defline;

/// Type and label of the description that has the header of a sequence (`kAsnDeflineObjLabel`,
/// seqdbcommon.cpp).
const HEADER: &str = "ASN1_BlastDefLine";

/// Appends a sequence as a `Bioseq` (seq.asn; `CSeqDBVol::GetBioseq`, seqdbvol.cpp). With `target`,
/// it has the identifiers and the title of that definition line only. Range, strand and masks have
/// no effect, as in BLAST+.
pub(super) fn write_bioseq(
    source: &Source,
    oid: u32,
    target: Option<&[u8]>,
    out: &mut Vec<u8>,
) -> Result<(), Stop> {
    let target = target.map(Target::in_bioseq).transpose();
    let target = target.map_err(|error| Stop::Message(error.text().to_owned()))?;
    let all = source.deflines(oid)?;
    let lines = match &target {
        Some(target) => vec![target.find_in_sequence(&all)?],
        None => all.clone(),
    };
    let Some(first) = lines.first().filter(|_| source.database.length_of(oid) > 0) else {
        return Ok(());
    };
    let mut descriptions = vec![AsnValue::choice("title", AsnValue::text(joined_title(&lines)))];
    let header = match source.database.unchanged_header(oid)? {
        Some(header) => header.to_vec(),
        None => encode_header(&all.iter().map(stored_defline).collect::<Vec<_>>()),
    };
    descriptions.push(AsnValue::choice("user", header_object(header)));
    let taxids = taxids(&all, target.as_ref());
    descriptions.extend(taxids.into_iter().map(|taxid| taxon(source, taxid)));
    let value = AsnValue::Fields(vec![
        ("id", ids(&first.ids)),
        ("descr", AsnValue::List(descriptions)),
        ("inst", instance(source, oid)?),
    ]);
    print_asn_text("Bioseq", &value, out);
    Ok(())
}

/// Appends the definition lines of a sequence (`Blast-def-line-set`, blastdb.asn). With `target`,
/// only that definition line is written, and an empty line after it.
pub(super) fn write_deflines(
    source: &Source,
    oid: u32,
    target: Option<&[u8]>,
    out: &mut Vec<u8>,
) -> Result<(), Stop> {
    let lines = source.deflines(oid)?;
    match target {
        None => {
            let lines = AsnValue::List(lines.iter().map(defline).collect());
            print_asn_text("Blast-def-line-set", &lines, out);
        }
        Some(target) => {
            let line = Target::in_fields(target).find_in_fields(lines)?;
            print_asn_text("Blast-def-line", &defline(&line), out);
            out.push(b'\n');
        }
    }
    Ok(())
}

fn ids(ids: &[SeqId]) -> AsnValue {
    AsnValue::List(ids.iter().map(seq_id::value).collect())
}

/// Makes the value of a definition line.
fn defline(line: &Defline) -> AsnValue {
    let mut fields = Vec::new();
    if line.has_title {
        fields.push(("title", AsnValue::text(&line.title)));
    }
    fields.push(("seqid", ids(&line.ids)));
    if line.has_taxid {
        fields.push(("taxid", AsnValue::Integer(line.taxid)));
    }
    let lists = [
        ("memberships", &line.memberships),
        ("links", &line.links),
        ("other-info", &line.other_info),
    ];
    for (name, numbers) in lists.into_iter().filter(|(_, numbers)| !numbers.is_empty()) {
        fields
            .push((name, AsnValue::List(numbers.iter().copied().map(AsnValue::Integer).collect())));
    }
    AsnValue::Fields(fields)
}

/// Makes the object that has the bytes of the header.
fn header_object(header: Vec<u8>) -> AsnValue {
    let label = || AsnValue::choice("str", AsnValue::text(HEADER));
    let field = AsnValue::Fields(vec![
        ("label", label()),
        ("num", AsnValue::Integer(1)),
        ("data", AsnValue::choice("oss", AsnValue::List(vec![AsnValue::Bytes(header)]))),
    ]);
    AsnValue::Fields(vec![("type", label()), ("data", AsnValue::List(vec![field]))])
}

/// Returns the taxids of all definition lines, with duplicates. The taxid of the target's
/// definition line comes first.
fn taxids(lines: &[Defline], target: Option<&Target>) -> Vec<i64> {
    let first = target.and_then(|target| lines.iter().position(|line| target.is_preferred(line)));
    let mut order: Vec<usize> = (0..lines.len()).collect();
    if let Some(first) = first {
        order[..=first].rotate_right(1);
    }
    order.into_iter().map(|at| lines[at].taxid).filter(|&taxid| taxid > 0).collect()
}

/// Makes the description of the organism with a taxid. Without a taxonomy database it has no names.
fn taxon(source: &Source, taxid: i64) -> AsnValue {
    let tag = AsnValue::choice("id", AsnValue::Integer(taxid));
    let tag = AsnValue::Fields(vec![("db", AsnValue::text("taxon")), ("tag", tag)]);
    let mut fields = Vec::new();
    if let Some(names) = source.taxon(taxid) {
        fields.push(("taxname", AsnValue::text(names.scientific_name)));
        fields.push(("common", AsnValue::text(names.common_name)));
    }
    fields.push(("db", AsnValue::List(vec![tag])));
    AsnValue::choice("source", AsnValue::Fields(vec![("org", AsnValue::Fields(fields))]))
}

/// Makes the value of the letters (`Seq-inst`, seq.asn).
fn instance(source: &Source, oid: u32) -> Result<AsnValue, Stop> {
    let database = &source.database;
    let (molecule, data) = match database.kind() {
        SequenceKind::Nucleotide => ("na", bases(source, oid)?),
        _ => {
            let residues = AsnValue::Bytes(database.residues_of(oid).to_vec());
            ("aa", AsnValue::choice("ncbistdaa", residues))
        }
    };
    Ok(AsnValue::Fields(vec![
        ("repr", AsnValue::Word("raw")),
        ("mol", AsnValue::Word(molecule)),
        ("length", AsnValue::integer(database.length_of(oid))),
        ("seq-data", data),
    ]))
}

/// Makes the value of the bases. A list of ambiguities, even an empty one, needs four bits for
/// each base.
fn bases(source: &Source, oid: u32) -> Result<AsnValue, Stop> {
    let bases = source.database.bases_of(oid)?;
    let mut codes = Vec::new();
    if !bases.ambiguity_list().is_empty() {
        bases.decode(0..u32::MAX, &mut codes);
        // BLAST+ fills the last byte with an A (`s_SeqDBMapNA2ToNA4`, seqdbvol.cpp).
        if codes.len() % 2 == 1 {
            codes.push(1);
        }
        return Ok(seq_data::four_bits(&codes));
    }
    bases.decode_blastna(0..u32::MAX, &mut codes);
    Ok(seq_data::two_bits(&codes))
}
