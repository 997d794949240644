//! The expected values are those of `blastp -query x.fa -subject s.fa -outfmt "6 qseqid qlen qseq"`
//! and its standard error, with and without `-parse_deflines`.

#![expect(clippy::single_range_in_vec_init, reason = "lists of one range are meant")]

use super::*;
use crate::alphabet::decode;
use crate::id::{TextRanking, format_id_list};

fn read_with(text: &[u8], parse_deflines: bool) -> Result<Vec<Record>, FastaError> {
    let mut reader = Reader::new(text, "x.fa", Options { parse_deflines, ..Options::default() });
    std::iter::from_fn(|| reader.next_record().transpose()).collect()
}

fn read(text: &[u8]) -> Vec<Record> {
    read_with(text, false).unwrap()
}

fn letters(record: &Record) -> String {
    record.residues.iter().map(|&code| char::from(decode(code))).collect()
}

fn warnings(record: &Record) -> Vec<String> {
    record.warnings.iter().map(Warning::to_string).collect()
}

fn message(text: &[u8], parse_deflines: bool) -> String {
    read_with(text, parse_deflines).unwrap_err().blast_message().unwrap()
}

#[test]
fn odd_characters_comments_and_blank_lines() {
    let records =
        read(b">a\nMKTAY-AE*AKUOJ12;comment MK\n;x\n!y\n#z\nM K\tT1Ay?\n\n  @K-%%%%%%AY\n");
    assert_eq!(letters(&records[0]), "MKTAYAE*AKUOJMKTAYKAY");
    assert_eq!(records[0].lower_case, [17..18]);
    assert_eq!(
        warnings(&records[0]),
        [
            "CFastaReader: Hyphens are invalid and will be ignored around line 2",
            "FASTA-Reader: Ignoring invalid residues at position(s): On line 2: 15-16",
            "FASTA-Reader: Ignoring invalid residues at position(s): On line 6: 6, 9",
            "CFastaReader: Hyphens are invalid and will be ignored around line 8",
            "FASTA-Reader: Ignoring invalid residues at position(s): On line 8: 1, 4-9",
        ]
    );
}

#[test]
fn lines_end_in_three_ways() {
    for text in [
        &b">a b\r\nMKT\r\nAY\r\n>c\r\nWW"[..],
        b">a b\rMKT\rAY\r>c\rWW\r",
        b"\n>a b\nMKT\n\n\rAY\r\n>c\rWW",
    ] {
        let records = read(text);
        let seen: Vec<_> = records.iter().map(|r| (r.first_word(), letters(r))).collect();
        assert_eq!(seen, [(&b"a"[..], "MKTAY".into()), (b"c", "WW".into())]);
    }
}

#[test]
fn titles_end_at_control_characters() {
    let titles = [
        (&b">a b c\nMKT"[..], &b"a b c"[..]),
        (b">  a  b \nMKT", b"a  b"),
        (b">a\x01b c\nMKT", b"a"),
        (b">a x\tb\nMKT", b"a x"),
        (b">\nMKT", b""),
        (b">   \nMKT", b""),
        (b">x:1-10 t\nMKT", b"x:1-10 t"),
        (b">?_x t\nMKT", b"x t"),
        (b"MKT", b""),
    ];
    for (text, title) in titles {
        let records = read(text);
        assert_eq!((&records[0].title[..], records.len()), (title, 1), "{text:?}");
        assert_eq!(letters(&records[0]), "MKT");
    }
    assert!(!read(b"MKT")[0].has_defline);
}

#[test]
fn records_without_residues_and_files_without_records() {
    let records = read(b">a\n>b\nMKT\n\n\n>\n\n;\n");
    assert_eq!(records.iter().map(|r| r.residues.len()).collect::<Vec<_>>(), [0, 3, 0]);
    assert_eq!(records.iter().map(|r| r.line).collect::<Vec<_>>(), [1, 2, 6]);
    for text in [&b""[..], b"\n\n", b";x\n#y\n", b"  "] {
        assert_eq!(read(text), []);
    }
}

#[test]
fn gap_lines_are_runs_of_x() {
    let records = read(b">a\nMk\n>?3\nkT\n>?unk2\n>?x\n");
    assert_eq!(letters(&records[0]), "MKXXXKTXXX");
    assert_eq!(records[0].lower_case, [1..6]);
    assert_eq!(
        warnings(&records[0]),
        [
            "CFastaReader: Bad gap size at line 6",
            "CFastaReader: Problem parsing gap mods at line 6"
        ]
    );
}

#[test]
fn junk_is_refused() {
    let junk = "CFastaReader: Near line 2, there's a line that doesn't look like plausible data, \
                but it's not marked as defline or comment.";
    for line in ["%%%%", "----", "12345", "@", ">aax"] {
        assert_eq!(message(format!(">a\n {line}\nMKT").as_bytes(), false), junk, "{line}");
    }
    assert_eq!(letters(&read(b">a\n @a\nMKT")[0]), "AMKT");
    // Two bad characters in eleven are allowed. After the first residues, any characters are.
    assert_eq!(letters(&read(b">a\nMKTAYIAKQ@@\n%%%%%\n")[0]), "MKTAYIAKQ");
    assert_eq!(message(b">a\nMKTAYIA@@\n", false), junk);
    let error = read_with(b">a\n%%%%\n", false).unwrap_err().to_string();
    assert!(
        error.starts_with("x.fa, line 2: this is no sequence: give sequences in FASTA format"),
        "{error}"
    );
}

#[test]
fn identifiers_in_place_of_sequences_are_refused() {
    for text in ["12345\n", "P69905\nMKT\n", "NP_000549.1", "gi|129295"] {
        let error = read_with(text.as_bytes(), false).unwrap_err();
        assert!(error.blast_message().is_none());
        assert!(error.to_string().contains("not fetched from NCBI"), "{error}");
    }
}

#[test]
fn parsed_definition_lines() {
    let records = read_with(
        b">sp|P69905.2|HBA_HUMAN alpha\nMKT\n>a,b t\nM\n>x:1-10 t\nM\n>a[k=v]d\nM\n>\nM\n>a[b c\nM",
        true,
    )
    .unwrap();
    let name = |record: &Record| format_id_list(&record.ids, TextRanking::RefSeqLater);
    let names: Vec<_> = records.iter().map(name).collect();
    assert_eq!(
        names,
        [&b"sp|P69905.2|HBA_HUMAN"[..], b"a_b", b"Unknown", b"a", b"Unknown", b"a[b"]
    );
    let titles: Vec<_> = records.iter().map(|r| &r.title[..]).collect();
    assert_eq!(titles, [&b"alpha"[..], b"t", b"t", b"[k=v]d", b"", b"c"]);
    assert_eq!(
        warnings(&records[1]),
        ["Near line 3, the sequence id string contains 'comma' symbol, which has been replaced \
          with 'underscore' symbol. Please correct the sequence id string."]
    );
}

#[test]
fn identifiers_of_nucleotides_and_proteins_change_what_is_invalid() {
    let records = read_with(b">L00738\nMKTAYIE1\n>NP_000001.1\nMKTE1\n", true).unwrap();
    assert_eq!(letters(&records[0]), "MKTAY");
    assert_eq!(
        warnings(&records[0]),
        ["FASTA-Reader: Ignoring invalid nucleotide residues at position(s): On line 2: 6-8"]
    );
    assert_eq!(
        warnings(&records[1]),
        ["FASTA-Reader: Ignoring invalid protein residues at position(s): On line 4: 5"]
    );
}

#[test]
fn bad_definition_lines_are_refused_if_parsed() {
    assert_eq!(
        message(b"MKT\n", true),
        "CFastaReader: Input doesn't start with a defline or comment around line 1"
    );
    assert_eq!(message(b">:1-10\nMKT\n", true), "Unable to locate sequence id in definition line");
    assert_eq!(message(b">gi|abc\nMKT\n", true), "Could not construct seq-id from 'gi|abc'");
    assert_eq!(message(b">\"b\nMKT\n", true), "'\"b' is not a valid local ID");
    let long = format!(">{}\nMKT\n", "a".repeat(60));
    assert_eq!(
        message(long.as_bytes(), true),
        "Near line 1, the local id is too long.  Its length is 60 but the maximum allowed local \
         id length is 50.  Please find and correct all local ids that are too long."
    );
    let Err(FastaError::Invalid { warnings, .. }) = read_with(long.as_bytes(), true) else {
        panic!("accepted")
    };
    assert_eq!(warnings, [Warning::SequenceInId { letters: 60 }]);
}

#[test]
fn titles_that_look_like_sequences_are_warned_of() {
    let title = |n: usize| format!(">a{}{}\nMKT\n", " ".repeat(n % 2), "MK".repeat(n / 2));
    assert_eq!(read(title(50).as_bytes())[0].warnings, [Warning::SequenceInTitle]);
    let blank = title(50).replace("K\n", "K \n");
    assert_eq!(read(blank.as_bytes())[0].warnings, []);
    assert_eq!(read(title(48).as_bytes())[0].warnings, []);
    assert_eq!(read(title(51).as_bytes())[0].warnings, [Warning::SequenceInTitle]);
}

#[test]
fn at_most_a_thousand_ranges_are_reported() {
    let text = format!(">a\n{}{}", "MKTAYIAKQR".repeat(7), "1M".repeat(3000));
    let record = &read(text.as_bytes())[0];
    assert_eq!(record.residues.len(), 3070);
    let [Warning::InvalidResidues { columns, .. }] = &record.warnings[..] else {
        panic!("{:?}", record.warnings.len())
    };
    assert_eq!((columns.len(), columns[999].clone()), (1000, 2069..2070));
}

/// The end of an identifier depends on the release. The identifiers are those that 2.12.0 and
/// 2.17.0 print.
#[test]
fn brackets_or_bytes_beyond_ascii_end_identifiers() {
    let ids = |defline: &str, id_end| {
        let options = Options { parse_deflines: true, id_end, ..Options::default() };
        let text = format!(">{defline}\nMKT\n");
        let mut reader = Reader::new(text.as_bytes(), "x.fa", options);
        let record = reader.next_record().expect("a sequence").expect("a record");
        let id = format_id_list(&record.ids, TextRanking::RefSeqLater);
        (String::from_utf8_lossy(&id).into_owned(), String::from_utf8_lossy(&record.title).into())
    };
    let expected = |id: &str, title: &str| (id.to_owned(), title.to_owned());
    assert_eq!(ids("ab[key=v] t", IdEnd::Bracket), expected("ab", "[key=v] t"));
    assert_eq!(ids("ab[key=v] t", IdEnd::NonAscii), expected("ab[key=v]", "t"));
    assert_eq!(ids("ab\u{e9}c t", IdEnd::NonAscii), expected("ab", "\u{e9}c t"));
}
