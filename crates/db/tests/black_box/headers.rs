//! Definition lines in binary ASN.1: every kind of identifier, and both kinds of length.

use crate::common::{constructed, defline, integer, ordinal_id, primitive, string};
use fleetblast_db::Defline;
use fleetblast_db::defline::{HeaderError, parse_deflines};
use fleetblast_seq::id::{NumberKind, ObjectId, SeqId, TextKind};

/// Parses the header of one definition line with this identifier. Returns the identifier.
fn id(bytes: Vec<u8>) -> Result<SeqId, HeaderError> {
    let mut lines = parse_deflines(&constructed(0x30, &[defline(Some("t"), bytes, 9606)]))?;
    let line = lines.pop().unwrap();
    assert_eq!((line.title.as_slice(), line.taxid, line.ids.len()), (&b"t"[..], 9606, 1));
    Ok(line.ids.into_iter().next().unwrap())
}

fn sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    constructed(0x30, parts)
}

fn field(number: u8, value: Vec<u8>) -> Vec<u8> {
    constructed(0xa0 | number, &[value])
}

/// The bytes are the header of the first sequence, `>s1 first protein`, after `makeblastdb -in a.fa
/// -dbtype prot`.
#[test]
fn the_bytes_of_makeblastdb_are_read() {
    let bytes = b"\x30\x80\x30\x80\xa0\x80\x1a\x10\x73\x31\x20\x66\x69\x72\x73\x74\x20\x70\x72\x6f\
        \x74\x65\x69\x6e\x00\x00\xa1\x80\x30\x80\xaa\x80\x30\x80\xa0\x80\x1a\x09\x42\x4c\
        \x5f\x4f\x52\x44\x5f\x49\x44\x00\x00\xa1\x80\xa0\x80\x02\x01\x00\x00\x00\x00\x00\
        \x00\x00\x00\x00\x00\x00\x00\x00\xa2\x80\x02\x01\x00\x00\x00\x00\x00\x00\x00";
    let lines = parse_deflines(bytes).unwrap();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0].title, b"s1 first protein");
    let tag = ObjectId::Number(0);
    assert_eq!(lines[0].ids, [SeqId::General { db: b"BL_ORD_ID".to_vec(), tag }]);
    assert_eq!(
        bytes[..],
        constructed(0x30, &[defline(Some("s1 first protein"), ordinal_id(0), 0)])
    );
}

#[test]
fn every_accession_kind_is_known() {
    let kinds = [
        (4, TextKind::GenBank),
        (5, TextKind::Embl),
        (6, TextKind::Pir),
        (7, TextKind::SwissProt),
        (9, TextKind::RefSeq),
        (12, TextKind::Ddbj),
        (13, TextKind::Prf),
        (15, TextKind::TpaGenBank),
        (16, TextKind::TpaEmbl),
        (17, TextKind::TpaDdbj),
        (18, TextKind::Gpipe),
        (19, TextKind::NamedAnnotTrack),
    ];
    for (number, kind) in kinds {
        let parts = [
            field(0, string("NAME")),
            field(1, string("ACC")),
            field(2, string("r")),
            field(3, integer(7)),
        ];
        let expected = SeqId::Text {
            kind,
            accession: b"ACC".to_vec(),
            version: Some(7),
            name: b"NAME".to_vec(),
            release: b"r".to_vec(),
        };
        assert_eq!(id(field(number, sequence(&parts))).unwrap(), expected);
    }
    let bare = id(field(4, sequence(&[field(1, string("A"))]))).unwrap();
    assert!(matches!(bare, SeqId::Text { version: None, ref name, .. } if name.is_empty()));
    assert!(id(field(4, sequence(&[field(3, integer(-1))]))).is_err());
    assert!(id(field(20, string("x"))).is_err());
}

#[test]
fn the_other_kinds_have_their_own_forms() {
    let text = |t: &str| t.as_bytes().to_vec();
    let local = |value| field(0, value);
    assert_eq!(
        id(local(field(1, string("loc1")))).unwrap(),
        SeqId::Local(ObjectId::Text(text("loc1")))
    );
    assert_eq!(id(local(field(0, integer(-5)))).unwrap(), SeqId::Local(ObjectId::Number(-5)));
    assert_eq!(
        id(field(1, integer(12))).unwrap(),
        SeqId::Numbered(NumberKind::BackboneSequence, 12)
    );
    assert_eq!(
        id(field(2, integer(13))).unwrap(),
        SeqId::Numbered(NumberKind::BackboneMolecule, 13)
    );
    let import = sequence(&[field(0, integer(14)), field(1, string("db"))]);
    assert_eq!(id(field(3, import)).unwrap(), SeqId::Numbered(NumberKind::Import, 14));
    assert_eq!(id(field(11, integer(1 << 40))).unwrap(), SeqId::Gi(1 << 40));
    let tagged = sequence(&[field(0, string("mydb")), field(1, field(1, string("t")))]);
    let general = SeqId::General { db: text("mydb"), tag: ObjectId::Text(text("t")) };
    assert_eq!(id(field(10, tagged)).unwrap(), general);
    assert!(id(field(10, sequence(&[field(0, string("mydb"))]))).is_err());
    let cited = sequence(&[field(0, string("US")), field(1, field(0, string("RE33188")))]);
    let patent = sequence(&[field(0, integer(1)), field(1, cited)]);
    let expected = SeqId::Patent { country: text("US"), number: text("RE33188"), sequence: 1 };
    assert_eq!(id(field(8, patent)).unwrap(), expected);
}

#[test]
fn pdb_chains_may_be_absent_a_letter_or_a_text() {
    let chain = |parts: &[Vec<u8>]| {
        let parts = [&[field(0, string("1ABC"))], parts].concat();
        match id(field(14, sequence(&parts))).unwrap() {
            SeqId::Pdb { mol, chain } if mol == b"1ABC" => chain,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(chain(&[]), b"");
    assert_eq!(chain(&[field(1, integer(32))]), b"");
    assert_eq!(chain(&[field(1, integer(65))]), b"A");
    assert_eq!(chain(&[field(1, integer(65)), field(3, string("AA"))]), b"AA");
    assert_eq!(chain(&[field(2, string("a date")), field(3, string("x"))]), b"x");
}

#[test]
fn merged_entries_and_optional_fields_are_kept() {
    let bits = |number, values: &[i64]| {
        field(number, sequence(&values.iter().map(|&v| integer(v)).collect::<Vec<_>>()))
    };
    let long = "x".repeat(70_000 % 65_536);
    let first = sequence(&[
        field(0, string(&long)),
        field(1, sequence(&[field(11, integer(1)), field(0, field(1, string("l")))])),
        bits(3, &[5, 6]),
        bits(4, &[7]),
        bits(5, &[8]),
        field(9, sequence(&[string("a field of the future")])),
    ]);
    let lines =
        parse_deflines(&constructed(0x30, &[first, defline(None, ordinal_id(3), 0)])).unwrap();
    assert_eq!((lines.len(), lines[0].title.len()), (2, long.len()));
    assert_eq!((lines[0].taxid, lines[0].ids.len()), (0, 2));
    assert_eq!((&lines[0].memberships[..], &lines[0].links[..]), (&[5, 6][..], &[7][..]));
    assert!(lines[1].title.is_empty());
}

#[test]
fn definite_lengths_are_read_too() {
    let line = primitive(0x30, &primitive(0xa0, &string("t")));
    let lines = parse_deflines(&primitive(0x30, &line)).unwrap();
    assert_eq!(lines, [Defline { title: b"t".to_vec(), has_title: true, ..Defline::default() }]);
}

#[test]
fn every_truncation_is_an_error_with_its_place() {
    let whole = constructed(0x30, &[defline(Some("title"), ordinal_id(300), 1)]);
    parse_deflines(&whole).unwrap();
    for length in 0..whole.len() {
        let error = parse_deflines(&whole[..length]).unwrap_err();
        assert!(error.offset <= length, "{length}: {error}");
    }
    let mut longer = whole;
    longer.push(0);
    let error = parse_deflines(&longer).unwrap_err();
    assert_eq!((error.problem, error.offset), ("bytes after the end", longer.len() - 1));
}
