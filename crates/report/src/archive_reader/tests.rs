use super::*;

#[test]
fn an_archive_without_a_search_has_only_messages() {
    let text = b"Blast4-archive ::= {\n  request {\n    body get-request-info {\n      \
                 request-id \"Error\"\n    }\n  },\n  results {\n  },\n  messages {\n    \
                 { code 0, message \"i\" },\n    { code 1, message \"w\" },\n    \
                 { code 9, message \"u\" }\n  }\n}\n";
    let mut reader = AsnReader::text(&text[..]);
    let messages = vec![b"w".to_vec(), b"Unknown Error Code: u".to_vec()];
    let expected = StoredObject { messages, content: StoredContent::FailedSearch };
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

/// A search of one of NCBI's servers, without queries.
const SEARCH: &str = "queue-search {\n  program \"blastp\",\n  service \"rpsblast\",\n  \
                      queries seq-loc-list {\n  },\n  subject database \"db\"\n }\n";

#[test]
fn a_search_of_an_unknown_program_has_its_names() {
    let unknown =
        UnknownStoredSearch { program: "blastp".to_owned(), service: "rpsblast".to_owned() };
    let text = format!(
        "Blast4-archive ::= {{\n request {{\n  body {SEARCH} }},\n results {{\n }},\n messages {{\n  \
         {{ code 1, message \"w\" }}\n }}\n}}\n"
    );
    let content = StoredContent::UnknownSearch(unknown.clone());
    let expected = StoredObject { messages: vec![b"w".to_vec()], content };
    let mut reader = AsnReader::text(text.as_bytes());
    assert_eq!(read_next(&mut reader, false).unwrap(), Some(expected));

    let text = format!("Blast4-request ::= {{\n body {SEARCH}}}\n");
    let mut reader = AsnReader::text(text.as_bytes());
    let error = read_strategy(&mut reader).unwrap_err();
    assert!(matches!(error, StrategyError::UnknownSearch(found) if found == unknown));
}
