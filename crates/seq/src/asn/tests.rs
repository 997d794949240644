use super::*;

fn damage(bytes: &[u8]) -> Malformed {
    match AsnBinaryReader::new(bytes).value() {
        Err(AsnError::Malformed(malformed)) => malformed,
        other => panic!("{other:?}"),
    }
}

#[test]
fn binary_values_are_those_of_text() {
    // A sequence of indefinite length with the labels 2 and 3: an integer, and the real number 0.5.
    let bytes = [0x30, 0x80, 0xa2, 3, 2, 1, 28, 0xa3, 0x80, 9, 4, 0, b'0', b'.', b'5', 0, 0, 0, 0];
    let node = AsnBinaryReader::new(&bytes[..]).value().unwrap();
    let [_, _, rows, real] = node.fields(&["a", "b", "numRows", "real"]).unwrap();
    assert_eq!((rows.unwrap().integer(), real.unwrap().real()), (Ok(28), Ok(0.5)));
    for length in 0..bytes.len() {
        assert!(damage(&bytes[..length]).at <= length as u64);
    }
    damage(&[0x30; 4000]);
    damage(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]);
}

#[test]
fn intervals_are_the_same_in_text_and_binary() {
    let text = b"packed-int { { from 3, to 7, -- a comment -- id local str \"x\"\"y\" },\n { from 9, to 9, strand plus, id local str \"x\"\"y\" } }";
    let packed = AsnTextReader::new(&text[..]).value().unwrap();
    let id = [&[0xa0, 0x80, 0xa1, 0x80, 0x1a, 3][..], b"x\"y", &[0, 0, 0, 0]].concat();
    let interval = |from: u8, to: u8| {
        let ends = [0xa0, 0x80, 2, 1, from, 0, 0, 0xa1, 0x80, 2, 1, to, 0, 0];
        [&[0x30, 0x80][..], &ends, &[0xa3, 0x80], &id, &[0, 0, 0, 0]].concat()
    };
    let list = [&[0xa4, 0x80, 0x30, 0x80][..], &interval(3, 7), &interval(9, 9), &[0; 4]].concat();
    let binary = AsnBinaryReader::new(&list[..]).value().unwrap();
    let wanted =
        (crate::id::SeqId::Local(crate::id::ObjectId::Text(b"x\"y".to_vec())), vec![3..8, 9..10]);
    for node in [packed, binary] {
        assert_eq!(read_location(&node), Ok(Some(wanted.clone())));
    }
    assert_eq!(read_location(&AsnTextReader::new(&b"null"[..]).value().unwrap()), Ok(None));
    assert_eq!(read_location(&AsnTextReader::new(&b"null NULL"[..]).value().unwrap()), Ok(None));
    let whole = read_location(&AsnTextReader::new(&b"whole local id 3"[..]).value().unwrap());
    assert_eq!(whole.unwrap_err().problem, "a kind of location other than int and packed-int");
}

#[test]
fn what_is_opened_is_read_piece_by_piece() {
    let mut text =
        AsnTextReader::new(&b"Thing ::= {\n list { 1, -2,\n word },\n more TRUE }\nThing"[..]);
    let mut read = || {
        text.header("Thing")?;
        text.open()?;
        text.open_field("list", 0)?;
        text.open()?;
        let mut kinds = Vec::new();
        while let Some(node) = text.element()? {
            kinds.push(node.kind);
        }
        text.close()?;
        text.close_field(false)?;
        text.open_field("more", 1)?;
        assert_eq!(text.value()?.boolean(), Ok(true));
        text.close_field(true)?;
        text.close()?;
        Ok::<_, AsnError>((kinds, text.more()?, text.place()))
    };
    let word = AsnValue::Word("word".to_owned());
    let wanted = (vec![AsnValue::Integer(1), AsnValue::Integer(-2), word], true, Place::Line(5));
    assert_eq!(read().unwrap(), wanted);
}
