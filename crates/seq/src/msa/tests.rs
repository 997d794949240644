use super::*;
use crate::id::ObjectId;

fn rows(text: &str) -> Vec<(String, String)> {
    let rows = read(text.as_bytes()).expect(text);
    let shown = |row: &AlignedSequence| {
        let name = String::from_utf8_lossy(&row.ids[0].format_for_report()).into_owned();
        (name, String::from_utf8_lossy(&row.columns).into_owned())
    };
    rows.iter().map(shown).collect()
}

fn refusal(text: &str) -> String {
    read(text.as_bytes()).expect_err(text).to_string()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|&(name, row)| (name.to_owned(), row.to_owned())).collect()
}

// The expected values were checked with `psiblast -in_msa` 2.12.0.
#[test]
fn aligned_fasta() {
    let two = pairs(&[("q", "MKVlaw"), ("r", "M--LAW")]);
    assert_eq!(rows(">q\nMKVlaw\n>r\nM--LAW\n"), two);
    assert_eq!(rows("> q\tits title \r\nMK Vl\taw\r\n\r\n\r\n>r\r\n M--LAW"), two);
    assert_eq!(rows(">q\nMKV\nlaw\n>r\nM--\nLAW\n"), two);
    // After an empty line, any line names a sequence.
    assert_eq!(rows(">q\n\nMKV\n"), pairs(&[("q", ""), ("KV", "")]));
    let named = read(b">q  a title [Homo sapiens] \nMK\n>r\nMK\n").unwrap();
    assert_eq!(named[0].title, b"a title [Homo sapiens]");
    assert_eq!(refusal(">q\nMK\n>r\nMKV\n"), "line 4: 3 columns, where the first sequence has 2");
    assert_eq!(
        refusal(">q\nMK\n>r\nMK\nVL\n"),
        "line 5: 2 columns, where the first sequence has 0"
    );
    assert_eq!(refusal(">q\nMK\nVL\n>r\nMK\n"), "line 4: 2 columns, where the first has 4");
    assert_eq!(refusal(">q\nMK\n>Q\nMK\n"), "line 3: 'Q' was the name of a sequence in line 1");
    assert_eq!(refusal(">q\nMK\n>\nMK\n"), "line 3: the sequence has no name");
    assert_eq!(refusal(">q\nM1\n>r\nMK\n"), "line 2: '1' is neither a letter nor '*' nor '-'");
    assert_eq!(refusal(">q\nMK\n"), "there is one sequence only");
    assert_eq!(
        refusal(">q [strain=x]\nMK\n>r\nMK\n"),
        "modifiers in the title of a sequence ([name=value])"
    );
    for nothing in ["", "\n>q\nMK\n>r\nMK\n", "MKVLAW\nMKVLAW\n"] {
        assert_eq!(refusal(nothing), "this is neither aligned FASTA nor Clustal W nor PHYLIP");
    }
}

#[test]
fn clustal() {
    let two = pairs(&[("q", "MKVLAW"), ("r", "M--LAW")]);
    assert_eq!(rows("CLUSTAL W (1.83)\n\nq MKV\nr M--\n  *\n\nq LAW 6\nr LAW 6\n\n"), two);
    // Without a heading, three blocks with conservation identify Clustal.
    let blocks = "q MK\nr M-\n  *\n\nq VL\nr -L\n  .\n\nq A\nr A\n:\n\nq W\nr W\n*\n";
    assert_eq!(rows(blocks), two);
    let heading = |text: &str| format!("clustalw\n{text}");
    assert_eq!(
        refusal(&heading("q MK\nr MK\n")),
        "line 3: the last block does not end with a line of conservation"
    );
    assert_eq!(refusal(&heading("q MK\nr M\n\n")), "line 3: 1 columns in a block of 2");
    assert_eq!(
        refusal(&heading("q MK\nr MK\n\nr MK\nq MK\n\n")),
        "line 5: the names are not those of the first block"
    );
    assert_eq!(
        refusal(&heading("q MK\nr MK\n\nq MK\n\n")),
        "line 6: a block of 1 of 2 sequences ends"
    );
    assert_eq!(
        refusal(&heading("\n **\n")),
        "line 3: a line of conservation without a block before it"
    );
    assert_eq!(
        refusal(&heading("q MK 0\n\n")),
        "line 2: a name, letters and perhaps a count belong here"
    );
    assert!(refusal("CLUSTAL O(1.2.4)\n\nq MK\nr MK\n **\n").starts_with("this is neither"));
}

#[test]
fn phylip() {
    let two = pairs(&[("q", "MKVLAW"), ("r", "M--LAW")]);
    assert_eq!(rows(" 2 6\nq MKV\nr M--\n\nLAW\nL AW\n"), two);
    assert_eq!(rows("2\t6\nq MKVLAW\nr M--LAW"), two);
    assert_eq!(refusal("2 7\nq MK\nr MK\n"), "line 1: 7 columns are announced, 2 are there");
    assert_eq!(refusal("3 2\nq MK\nr MK\n"), "line 3: the last block is not of 3 sequences");
    assert_eq!(refusal("0 2\n"), "line 1: the numbers of sequences and columns belong here");
    assert_eq!(refusal("2 2\nq\nr MK\n"), "line 2: a name and letters belong here");
}

#[test]
fn other_formats_are_refused_by_name() {
    assert_eq!(refusal("#NEXUS\nbegin data;\n"), "an alignment in NEXUS");
    assert_eq!(refusal("\n  10 20\nq MK\n"), "an alignment in Sequin's format");
    assert_eq!(refusal("//\n\n1 2\nq MK\n\n"), "an alignment in Multalin's format");
}

#[test]
fn names_are_identifiers() {
    let ids = |name: &str| {
        read(format!(">{name}\nMK\n>other\nMK\n").as_bytes()).map(|mut rows| rows.remove(0).ids)
    };
    let local = |text: &[u8]| vec![SeqId::Local(ObjectId::Text(text.to_vec()))];
    assert_eq!(ids("HBA_HUMAN/1-142").unwrap(), local(b"HBA_HUMAN/1-142"));
    assert_eq!(ids("lcl|q").unwrap(), local(b"q"));
    assert_eq!(ids("12").unwrap(), [SeqId::Local(ObjectId::Number(12))]);
    assert_eq!(ids("gi|5").unwrap(), [SeqId::Gi(5)]);
    for bad in ["q|x", "gi|x", "gi|5|foo", "a\"b", "aé", &"q".repeat(51), &"ACGT".repeat(6)] {
        let Err(MsaError::Malformed { line: 1, .. }) = ids(bad) else { panic!("{bad}") };
    }
}

#[test]
fn letters_decide_the_molecule_unless_the_name_does() {
    let molecule = |name: &str, letters: &str| {
        let text = format!(">{name}\n{letters}\n>other\n{letters}\n");
        read(text.as_bytes()).map(|rows| rows[0].molecule)
    };
    assert_eq!(molecule("q", "ACGTACGTAC"), Ok(Molecule::Nucleotide));
    assert_eq!(molecule("q", "ACGTACGTACF"), Ok(Molecule::Nucleotide));
    assert_eq!(molecule("q", "ACGTACGTFF"), Ok(Molecule::Protein));
    assert_eq!(molecule("P69905", "ACGTACGTAC"), Ok(Molecule::Protein));
    assert_eq!(molecule("NM_000518.5", "MKVLAWMKVL"), Ok(Molecule::Nucleotide));
    assert_eq!(molecule("q", "ACGUACGTAC"), Err(MsaError::MixedBases { line: 1 }));
}
