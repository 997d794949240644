use fleetblast_seq::frame::Strand;

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

/// Reads an archive with an option, the scores of an alignment, and its segments.
fn read_alignment(option: &str, scores: &str, segments: &str) -> Result<StoredArchive> {
    let text = format!(
        "Blast4-archive ::= {{ request {{ body queue-search {{ program \"blastn\", \
         service \"megablast\", queries bioseq-set {{ seq-set {{ }} }}, subject database \"d\", \
         algorithm-options {{ {option} }} }} }}, results {{ alignments {{ {{ type partial, \
         score {{ {scores} }}, segs denseg {{ dim 2, numseg 2, ids {{ gi 1, gi 2 }}, \
         {segments} }} }} }} }} }}"
    );
    let mut reader = AsnReader::text(text.as_bytes());
    match read_next(&mut reader, false) {
        Ok(Some(StoredObject { content: StoredContent::Archive(archive), .. })) => Ok(*archive),
        Err(AsnError::Malformed(malformed)) => Err(malformed),
        other => panic!("{other:?}"),
    }
}

/// Text of a score.
fn score(name: &str, value: &str) -> String {
    format!("{{ id str \"{name}\", value {value} }}")
}

const SEGMENTS: &str =
    "starts { 3, 0, 5, -1 }, lens { 2, 1 }, strands { plus, minus, plus, minus }";

/// The scores that each alignment of BLAST+ has.
fn needed() -> String {
    [score("bit_score", "real { 5, 10, 0 }"), score("e_value", "real { 1, 10, -3 }")].join(", ")
}

/// Returns the problem with an archive that has one.
fn problem(option: &str, scores: &str, segments: &str) -> String {
    read_alignment(option, scores, segments).expect_err("a problem").problem
}

#[test]
fn scores_have_their_kinds_and_are_not_missing() {
    let read = |scores: &str| read_alignment("", scores, SEGMENTS).map(|it| it.alignments);
    let scores = [needed(), score("score", "int -5"), score("unknown", "int 1")].join(", ");
    let alignments = read(&scores).expect("an archive");
    assert_eq!((alignments[0].score, alignments[0].bit_score), (-5, 5.0));
    // BLAST+ leaves out a score of 0, and shows -1.
    assert_eq!(read(&needed()).expect("an archive")[0].score, -1);
    let missing = "an alignment without bit score or e-value";
    assert_eq!(problem("", "", SEGMENTS), missing);
    assert_eq!(problem("", &score("e_value", "real { 1, 10, 0 }"), SEGMENTS), missing);
    assert_eq!(problem("", &score("bit_score", "real { 1, 10, 0 }"), SEGMENTS), missing);
    for (name, value) in [
        ("score", "real { 7, 10, 0 }"),
        ("score", "int 2147483648"),
        ("e_value", "int 0"),
        ("num_ident", "real { 1, 10, 0 }"),
        ("num_ident", "int -1"),
    ] {
        let scores = [needed(), score(name, value)].join(", ");
        assert!(read(&scores).is_err(), "{name} {value}");
    }
}

#[test]
fn positions_and_strands_are_read_or_refused() {
    let read = |segments: &str| read_alignment("", &needed(), segments);
    let part = |range, strand| Some(SegmentPart { range, strand });
    let archive = read(SEGMENTS).expect("an archive");
    let segments = &archive.alignments[0].segments;
    assert_eq!(segments[0].query, part(3..5, Strand::Plus));
    assert_eq!(segments[0].subject, part(0..2, Strand::Minus));
    assert_eq!(segments[1].query, part(5..6, Strand::Plus));
    assert_eq!(segments[1].subject, None);
    assert!(read("starts { 3, 0, 5, -1 }, lens { 2, 1 }").is_ok());
    for (from, to) in [
        ("3,", "4294967296,"),
        ("3,", "4294967295,"),
        ("-1", "-2"),
        (", minus }", " }"),
        (", minus }", ", minus, plus }"),
        ("plus, minus }", "plus, left }"),
        ("plus, minus }", "plus, other }"),
    ] {
        assert!(read(&SEGMENTS.replacen(from, to, 1)).is_err(), "{from} {to}");
    }
}

#[test]
fn ranges_of_queries_are_numbers_of_which_the_last_ones_count() {
    let option = |name: &str, value: &str| format!("{{ name \"{name}\", value {value} }}");
    let read = |options: &[String]| {
        read_alignment(&options.join(", "), &needed(), SEGMENTS).map(|it| it.request)
    };
    let start = option("RequiredStart", "integer 5");
    let [end, later] = ["integer 9", "integer 20"].map(|value| option("RequiredEnd", value));
    let request = read(&[start.clone(), end, later]).expect("an archive");
    assert_eq!(request.searched_range, Some((5, 20)));
    assert_eq!(read(&[start]).expect("an archive").searched_range, None);
    for (name, value) in [
        ("RequiredStart", "integer -1"),
        ("RequiredEnd", "string \"5\""),
        ("Web_StepNumber", "integer -1"),
    ] {
        let message = format!("the option {name} is no number from 0");
        assert_eq!(problem(&option(name, value), &needed(), SEGMENTS), message);
    }
}
