use super::*;
use crate::id::{ObjectId, SeqId};

fn damage(bytes: &[u8]) -> Malformed {
    match AsnReader::binary(bytes).value() {
        Err(AsnError::Malformed(malformed)) => malformed,
        other => panic!("{other:?}"),
    }
}

#[test]
fn binary_values_are_those_of_text() {
    // A sequence of indefinite length with the labels 2 and 3: an integer, and the real number 0.5.
    let bytes = [0x30, 0x80, 0xa2, 3, 2, 1, 28, 0xa3, 0x80, 9, 4, 0, b'0', b'.', b'5', 0, 0, 0, 0];
    let mut reader = AsnReader::binary(&bytes[..]);
    let node = reader.value().unwrap();
    let [_, _, rows, real] = node.fields(&["a", "b", "numRows", "real"]).unwrap();
    assert_eq!((rows.unwrap().integer(), real.unwrap().real()), (Ok(28), Ok(0.5)));
    for length in 0..bytes.len() {
        assert!(damage(&bytes[..length]).at <= length as u64);
    }
    damage(&[0x30; 4000]);
    damage(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]);
}

fn read_text(text: &str) -> Result<Option<Location>, Malformed> {
    read_location(AsnReader::text(text.as_bytes()).value().unwrap())
}

#[test]
fn intervals_are_the_same_in_text_and_binary() {
    let text = "packed-int { { from 3, to 7, -- a comment -- id local str \"x\"\"y\" },\n { from 9, to 9, strand plus, id local str \"x\"\"y\" } }";
    let id = [&[0xa0, 0x80, 0xa1, 0x80, 0x1a, 3][..], b"x\"y", &[0, 0, 0, 0]].concat();
    let interval = |from: u8, to: u8| {
        let ends = [0xa0, 0x80, 2, 1, from, 0, 0, 0xa1, 0x80, 2, 1, to, 0, 0];
        [&[0x30, 0x80][..], &ends, &[0xa3, 0x80], &id, &[0, 0, 0, 0]].concat()
    };
    let list = [&[0xa4, 0x80, 0x30, 0x80][..], &interval(3, 7), &interval(9, 9), &[0; 4]].concat();
    let wanted = (SeqId::Local(ObjectId::Text(b"x\"y".to_vec())), vec![3..8, 9..10]);
    assert_eq!(read_text(text), Ok(Some(wanted.clone())));
    let mut binary = AsnReader::binary(&list[..]);
    assert_eq!(read_location(binary.value().unwrap()), Ok(Some(wanted)));
    assert_eq!(read_text("null"), Ok(None));
    assert_eq!(read_text("null NULL"), Ok(None));
    let whole = read_text("whole local id 3");
    assert_eq!(whole.unwrap_err().problem, "a kind of location other than int and packed-int");
}

#[test]
fn what_is_opened_is_read_piece_by_piece() {
    const FIELDS: &[&str] = &["list", "rare", "more"];
    let text = "Thing ::= {\n list { 1, -2,\n +3 },\n more TRUE }\nThing";
    let binary = [
        &[0x30, 0x80, 0xa0, 11, 0x31, 9, 2, 1, 1, 2, 1, 0xfe, 2, 1, 3][..],
        &[0xa2, 0x80, 1, 1, 0xff, 0, 0, 0, 0, 0x30],
    ];
    let binary = binary.concat();
    let read = |reader: &mut AsnReader<'_>| {
        reader.header("Thing")?;
        reader.open()?;
        assert_eq!(reader.open_field(FIELDS, 0)?, Some(0));
        let mut numbers = Vec::new();
        reader.for_each_element(|node| {
            numbers.push(node.integer()?);
            Ok(())
        })?;
        reader.close_field()?;
        assert_eq!(reader.open_field(FIELDS, 1)?, Some(2));
        assert!(reader.value()?.boolean()?);
        reader.close_field()?;
        assert_eq!(reader.open_field(FIELDS, 3)?, None);
        reader.close()?;
        Ok::<_, AsnError>((numbers, reader.more()?, reader.place()))
    };
    let wanted = |place| (vec![1, -2, 3], true, place);
    assert_eq!(read(&mut AsnReader::text(text.as_bytes())).unwrap(), wanted(Place::Line(5)));
    assert_eq!(read(&mut AsnReader::binary(&binary[..])).unwrap(), wanted(Place::Byte(24)));
    for length in 0..text.len() - 7 {
        assert!(read(&mut AsnReader::text(&text.as_bytes()[..length])).is_err(), "{length}");
    }
    for length in 0..binary.len() - 1 {
        assert!(read(&mut AsnReader::binary(&binary[..length])).is_err(), "{length}");
    }
}

/// The bytes in memory end within values of all kinds, and one value is longer than all bytes in
/// memory.
#[test]
fn values_continue_beyond_the_bytes_in_memory() {
    const COUNT: i64 = 40_000;
    let long = "a \"\"b\"\"\n".repeat(100_000);
    let element = |number| {
        format!(
            "{{ -{number}, id-x {number}, -- {number} --\n \"{number}\n\"\"\", '{number:08x}'H }},\n"
        )
    };
    let text = format!("{{ {}\"{long}\" }}", (0..COUNT).map(element).collect::<String>());
    let mut reader = AsnReader::text(text.as_bytes());
    reader.open().unwrap();
    for number in 0..COUNT {
        let node = reader.element().unwrap().unwrap();
        let [negative, named, text, bytes] = node.list().unwrap().array().unwrap();
        assert_eq!(negative.integer(), Ok(-number));
        assert_eq!(named.choice(&["id-x"]).unwrap().1.integer(), Ok(number));
        assert_eq!(*text.text().unwrap(), *format!("{number}\"").as_bytes());
        assert_eq!(*bytes.bytes().unwrap(), (number as u32).to_be_bytes());
    }
    let node = reader.element().unwrap().unwrap();
    assert_eq!(node.text().unwrap().len(), 100_000 * 5);
    assert!(reader.element().unwrap().is_none());
    reader.close().unwrap();
    assert_eq!(reader.place(), Place::Line(1 + text.matches('\n').count() as u64));
    assert!(!reader.more().unwrap());
}
