use super::*;

#[test]
fn an_archive_without_a_search_has_only_messages() {
    let text = b"Blast4-archive ::= {\n  request {\n    body get-request-info {\n      \
                 request-id \"Error\"\n    }\n  },\n  results {\n  },\n  messages {\n    \
                 { code 0, message \"i\" },\n    { code 1, message \"w\" },\n    \
                 { code 9, message \"u\" }\n  }\n}\n";
    let mut reader = AsnReader::text(&text[..]);
    let messages = vec![b"w".to_vec(), b"Unknown Error Code: u".to_vec()];
    let expected = StoredObject { messages, archive: None };
    assert_eq!(read_next(&mut reader, false).unwrap(), Some(expected));
    assert_eq!(read_next(&mut reader, false).unwrap(), None);
}

#[test]
fn another_object_is_refused() {
    let mut reader = AsnReader::text(&b"Seq-entry ::= seq {\n}\n"[..]);
    assert!(read_next(&mut reader, false).is_err());
    let mut reader = AsnReader::text(&b"Blast4-archive ::= {\n  request {\n"[..]);
    assert!(read_next(&mut reader, false).is_err());
}
