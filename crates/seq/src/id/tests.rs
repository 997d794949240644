//! The expected values are those of `blastp -parse_deflines -query x.fa -subject s.fa -outfmt "6
//! qseqid qacc qaccver qgi"`, for one record `>WORD title` at a time.

use super::accession::{AccessionType, identify_accession};
use super::*;

/// Words, each with its `qseqid`, `qacc`, `qaccver` and `qgi`.
const PRINTED: [(&str, &str, &str, &str, i64); 44] = [
    ("sp|P69905.2|HBA_HUMAN", "sp|P69905.2|HBA_HUMAN", "P69905", "P69905.2", 0),
    ("sp||HBA_HUMAN", "sp||HBA_HUMAN", "HBA_HUMAN", "HBA_HUMAN", 0),
    ("SP|P00003.1|N", "sp|P00003.1|N", "P00003", "P00003.1", 0),
    ("tr|Q9XXX1|Q9XXX1_HUMAN", "tr|Q9XXX1|Q9XXX1_HUMAN", "Q9XXX1", "Q9XXX1", 0),
    ("ref|NP_000549.1|", "ref|NP_000549.1|", "NP_000549", "NP_000549.1", 0),
    ("NP_000550.2", "ref|NP_000550.2|", "NP_000550", "NP_000550.2", 0),
    ("np_000551.2", "ref|np_000551.2|", "NP_000551", "NP_000551.2", 0),
    ("P12345", "sp|P12345|", "P12345", "P12345", 0),
    ("A0A024R1R8", "sp|A0A024R1R8|", "A0A024R1R8", "A0A024R1R8", 0),
    ("Q8N158-2", "Q8N158-2", "Q8N158-2", "Q8N158-2", 0),
    ("gnl|mydb|tag1", "gnl|mydb|tag1", "mydb:tag1", "mydb:tag1", 0),
    ("abc|def", "gnl|abc|def", "abc:def", "abc:def", 0),
    ("a|b", "a|b", "a|b", "a|b", 0),
    ("lcl|loc1", "loc1", "loc1", "loc1", 0),
    ("lcl|77", "77", "77", "77", 0),
    ("12345", "12345", "12345", "12345", 0),
    ("007", "007", "007", "007", 0),
    ("1ABC", "pdb|1ABC| ", "1ABC", "1ABC", 0),
    ("1ABC_B", "pdb|1ABC|B", "1ABC_B", "1ABC_B", 0),
    ("2ABC|B", "pdb|2ABC|B", "2ABC_B", "2ABC_B", 0),
    ("pdb|3ABC|AA", "pdb|3ABC|AA", "3ABC_AA", "3ABC_AA", 0),
    ("pdb|1ABCA", "pdb|1ABC|A", "1ABC_A", "1ABC_A", 0),
    ("pdb|1ABC_AA", "pdb|1ABC|AA", "1ABC_AA", "1ABC_AA", 0),
    ("gi|999|gb|AAA12345.1|", "gi|999|gb|AAA12345.1|", "AAA12345", "AAA12345.1", 999),
    ("gi|998", "gi|998", "998", "998", 998),
    ("gi|99999999999999", "gi|99999999999999", "99999999999999", "99999999999999", 99999999999999),
    ("gi|1235|lcl|zz", "gi|1235|zz", "zz", "zz", 1235),
    ("bbs|5|gi|3", "gi|3|bbs|5", "5", "5", 3),
    ("CAD29850.1", "tpe|CAD29850.1|", "CAD29850", "CAD29850.1", 0),
    ("CAD29851.1", "emb|CAD29851.1|", "CAD29851", "CAD29851.1", 0),
    ("FAA12345.1", "tpd|FAA12345.1|", "FAA12345", "FAA12345.1", 0),
    ("DAA12345.1", "tpg|DAA12345.1|", "DAA12345", "DAA12345.1", 0),
    ("BAA12345.1", "dbj|BAA12345.1|", "BAA12345", "BAA12345.1", 0),
    ("ZAA12345", "ZAA12345", "ZAA12345", "ZAA12345", 0),
    ("pat|US|RE33188|1", "pat|US|RE33188|1", "USRE33188_1", "USRE33188_1", 0),
    ("pgp|EP|0238993|7", "pat|EP|0238993|7", "EP0238993_7", "EP0238993_7", 0),
    ("pir||S16356", "pir||S16356", "S16356", "S16356", 0),
    ("0806163C", "prf||0806163C", "0806163C", "0806163C", 0),
    ("SRA:SRR123.1", "gnl|SRA|SRR123.1", "SRA:SRR123.1", "SRA:SRR123.1", 0),
    ("gnl|dbSNP|rs|1", "gnl|dbSNP|rs|1", "dbSNP:rs|1", "dbSNP:rs|1", 0),
    ("sp|gb|x", "sp|gb|x", "GB", "GB", 0),
    ("gb|AAA12345|gb", "gb|AAA12345|gb", "AAA12345", "AAA12345", 0),
    ("ref|NP_000001.1|gb|AAA00001.1|", "gb|AAA00001.1|", "AAA00001", "AAA00001.1", 0),
    ("zz|gb|AAA12345.1|", "gb|AAA12345.1|", "AAA12345", "AAA12345.1", 0),
];

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn words_print_as_blastp_prints_them() {
    for (word, full, accession, versioned, number) in PRINTED {
        let ids = parse_fasta_ids(word.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        let chosen = choose_text_id(&ids, TextRanking::RefSeqLater).unwrap();
        assert_eq!(text(format_id_list(&ids, TextRanking::RefSeqLater)), full, "{word}");
        assert_eq!(text(chosen.accession()), accession, "{word}");
        assert_eq!(text(chosen.accession_version()), versioned, "{word}");
        assert_eq!(first_gi(&ids), number, "{word}");
    }
}

#[test]
fn unreadable_words_are_errors() {
    let words = [
        "",
        "gi|abc",
        "gnl|a",
        "sp|P69907.x|HBA",
        "gb|AAA99999.1|LOCUS|extra",
        "lcl|a|b|c",
        "foo|bar|baz",
        "P12345.0",
        "pdb|1AB",
        "gb||",
        "gi|abc|sp|P12345|x",
    ];
    for word in words {
        let error = parse_fasta_ids(word.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), format!("Could not construct seq-id from '{word}'"));
    }
}

#[test]
fn choices_among_gi_accession_and_local() {
    let ids = parse_fasta_ids(b"gi|7|sp|P12345.1|X_Y").unwrap();
    assert_eq!(choose_best_id(&ids), Some(&SeqId::Gi(7)));
    assert_eq!(text(choose_report_id(&ids).unwrap().format_for_report()), "P12345.1");
    let ids = parse_fasta_ids(b"gi|7|lcl|zz").unwrap();
    assert_eq!(choose_report_id(&ids).unwrap(), &ids[1]);
    assert_eq!(text(choose_best_id(&ids).unwrap().format_for_report()), "gi|7");
    assert_eq!(text(format_id_list(&[], TextRanking::RefSeqLater)), "Unknown");
    // The first one of equals is chosen. An accession with a version is better than one without.
    let pair =
        [parse_fasta_ids(b"gb|AAA12345|").unwrap(), parse_fasta_ids(b"emb|CAA12345.1|").unwrap()];
    assert_eq!(choose_text_id(&pair.concat(), TextRanking::RefSeqLater), Some(&pair[1][0]));
}

#[test]
fn later_releases_rank_refseq_as_other_accessions() {
    for (word, earlier, later) in [
        ("ref|NP_1.1|gb|A1.1|", "A1.1", "NP_1.1"),
        ("gb|A1.1|ref|NP_1.1|", "A1.1", "A1.1"),
        ("sp|P1|N|ref|NP_1.1|", "P1", "NP_1.1"),
        ("gi|5|ref|NP_1.1|gb|A1.1|", "A1.1", "NP_1.1"),
        ("lcl|x|gb|A1.1|", "A1.1", "A1.1"),
    ] {
        let ids = parse_fasta_ids(word.as_bytes()).unwrap();
        let chosen = |ranking| text(choose_text_id(&ids, ranking).unwrap().accession_version());
        assert_eq!(chosen(TextRanking::RefSeqLater), earlier, "{word}");
        assert_eq!(chosen(TextRanking::RefSeqEqual), later, "{word}");
    }
}

/// The expected values are those that BLAST+ 2.12.0 prints with `-outfmt 17` and `-long_seqids`.
#[test]
fn choices_for_sam_and_for_long_headers() {
    let choices = |word: &str| {
        let ids = parse_fasta_ids(word.as_bytes()).unwrap();
        let sam = text(choose_sam_id(&ids, TextRanking::RefSeqLater).unwrap().accession_version());
        let fasta = |is_protein| text(format_fasta_ids(&ids, is_protein));
        (sam, fasta(true), fasta(false))
    };
    for (word, sam, protein, nucleotide) in [
        ("gi|7|gnl|XY|g7", "7", "gi|7|gnl|XY|g7", "gi|7|gnl|XY|g7"),
        ("gi|8|lcl|loc8", "8", "gi|8", "gi|8"),
        ("gi|9|pdb|1ABC|A", "9", "gi|9|pdb|1ABC|A", "gi|9|pdb|1ABC|A"),
        ("gi|9|gb|AAA12345.1|", "AAA12345.1", "gi|9|gb|AAA12345.1|", "gi|9|gb|AAA12345.1|"),
        ("gnl|XY|g7|lcl|b", "XY:g7", "gnl|XY|g7", "gnl|XY|g7"),
        ("gi|8|prf||x", "x", "gi|8|prf||x", "gi|8"),
    ] {
        let expected = (sam.to_owned(), protein.to_owned(), nucleotide.to_owned());
        assert_eq!(choices(word), expected, "{word}");
    }
}

#[test]
fn local_identifiers_are_numbers_if_they_look_like_one() {
    let local = |text: &[u8]| match &parse_fasta_ids(text).unwrap()[..] {
        [SeqId::Local(id)] => id.clone(),
        other => panic!("{other:?}"),
    };
    // makeblastdb -parse_seqids stores them in this form.
    assert_eq!(local(b"2147483647"), ObjectId::Number(2147483647));
    for text in [&b"2147483648"[..], b"007", b"0", b"+5", b"-5"] {
        assert_eq!(local(text), ObjectId::Text(text.to_vec()));
    }
}

#[test]
fn ranges_of_exceptions_are_exact() {
    let kind = |accession: &[u8]| match identify_accession(accession) {
        AccessionType::Text(kind, _) => kind.tag(),
        _ => "-",
    };
    assert_eq!(kind(b"CAD29847"), "emb");
    assert_eq!(kind(b"CAD29848"), "tpe");
    assert_eq!(kind(b"CAD29850"), "tpe");
    assert_eq!(kind(b"CAD29851"), "emb");
    assert_eq!(kind(b"CAD9654407.1"), "tpe");
    // A range over several letters does not include its last letters.
    assert_eq!(kind(b"CAADSM000000001"), "tpe");
    assert_eq!(kind(b"CAAGJX222222222"), "emb");
}

#[test]
fn molecules_follow_the_accession() {
    let molecule = |word: &[u8]| parse_fasta_ids(word).unwrap()[0].molecule();
    assert_eq!(molecule(b"NP_000549.1"), Some(Molecule::Protein));
    assert_eq!(molecule(b"L00738"), Some(Molecule::Nucleotide));
    assert_eq!(molecule(b"AAAA01000001"), Some(Molecule::Nucleotide));
    assert_eq!(molecule(b"AAAA01P000001"), Some(Molecule::Protein));
    assert_eq!(molecule(b"SRA:SRR123.1"), Some(Molecule::Nucleotide));
    assert_eq!(molecule(b"sp|X|Y"), Some(Molecule::Protein));
    // An accession of another database than that of its tag indicates no molecule type.
    assert_eq!(molecule(b"gb|NP_000549.1|"), None);
    assert_eq!(molecule(b"seq1"), None);
}

/// The words are parsed as in lists of identifiers for version-4 databases.
#[test]
fn indexed_words_are_cut_at_tags() {
    let parse = |word: &str| {
        let ids =
            parse_lookup_ids(word.as_bytes()).map_err(|exception| exception.text().to_owned());
        let ids = ids.map(|ids| ids.iter().map(SeqId::fasta).collect::<Vec<_>>());
        ids.map(|ids| String::from_utf8(ids.join(&b' ')).unwrap())
    };
    for (word, ids) in [
        ("gi|5|gb|AAA00001.1|", "gi|5 gb|AAA00001.1|"),
        ("gb|A|emb|B.1|nm", "gb|A| emb|B.1|nm"),
        ("gb|A|gi", "gb|A|gi"),
        ("pdb|1ABC|A", "pdb|1ABC|A"),
        ("foo|bar", ""),
        ("|gi|5", ""),
        ("lcl", ""),
        ("", ""),
    ] {
        assert_eq!(parse(word), Ok(ids.to_owned()), "{word}");
    }
    for (word, problem) in [
        ("lcl|", "Malformatted ID lcl|"),
        ("gb|gb|A", "Malformatted ID gb"),
        ("gibbsq|5", "Malformatted ID gibbsq|5"),
        ("gi|5|foo", "FASTA-style ID gi|5|foo has too many parts."),
        ("lcl|a|gi|", "Malformatted ID gi|"),
        ("gnl|a", "Not enough fields for ID of type gnl"),
    ] {
        assert_eq!(parse(word), Err(problem.to_owned()), "{word}");
    }
}

#[test]
fn parts_after_the_first_identifier_are_counted() {
    for (word, count) in [
        ("gi|1|gb|AAB00001.1|", 2),
        ("gb|AAB00001.1|loc|x|y", 2),
        ("ref|NP_000001.1||||", 0),
        ("ref|NP_000001.1||||x", 1),
        ("pat|US|3|2|9|z", 2),
        ("lcl|a|b", 1),
        ("gi|5|", 0),
        ("AAB00001.1", 0),
    ] {
        let first = parse_first_id_with_surplus(word.as_bytes()).expect("an identifier");
        assert_eq!(first.surplus_parts, count, "{word}");
    }
}
