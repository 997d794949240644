//! `tblastn`: refusals, reading of sequences and reports equal the oracle's byte for byte.

use std::fs;

use crate::blastn::{compare_as, opposite};
use crate::blastx::coding;
use crate::common::{Fixture, complaint};
use fleetblast_oracle::sample;

/// Options that the parser refuses or answers; `|` separates words.
const PARSER: &[&str] = &[
    "-h",
    "-word_size|1",
    "-strand|plus",
    "-task|blastp",
    "-task|tblastn-short",
    "-db_gencode|0",
    "-db_gencode|7",
    "-db_gencode|8",
    "-db_gencode|17",
    "-db_gencode|20",
    "-db_gencode|32",
    "-db_gencode|34",
    "-db_gencode|-1",
    "-db_gencode|x",
    "-db_gencode|1.0",
    "-db_gencode| 1",
    "-db_gencode|0x1",
    "-db_gencode|0x",
    "-db_gencode|4294967297",
    "-db_gencode|",
    "-max_intron_length|-1",
    "-max_intron_length|1.5",
    "-max_intron_length|100000000000",
    "-sum_stats|2",
    "-query_gencode|1",
    "-ipglist|x",
    "-dust|yes",
    "-perc_identity|90",
    "-mt_mode|1",
    "-subject|s.fa|-db|db",
];

/// Invalid values and combinations. A line with several errors shows the order of the checks.
const VALUES: &[&str] = &[
    "-seg|x",
    "-seg|12 2.2",
    "-seg|x|-query_loc|5-1",
    "-query_loc|5-1|-outfmt|19",
    "-outfmt|17",
    "-outfmt|19",
    "-matrix|FOO",
    "-matrix|IDENTITY",
    "-matrix|identity|-word_size|8",
    "-gapopen|3",
    "-gapopen|3|-threshold|0",
    "-threshold|0",
    "-threshold|0|-word_size|8",
    "-word_size|8",
    "-word_size|8|-xdrop_ungap|0",
    "-xdrop_ungap|0",
    "-xdrop_ungap|0|-evalue|0",
    "-evalue|0",
    "-task|tblastn-fast|-word_size|3",
    "-query_loc|2-1",
    "-query_loc|4000-5000",
];

/// Files of subjects with other text than plain sequences of bases.
const SEQUENCES: &[&str] = &[
    ">d digits\n12ATGAAAGTTCTGGCTGCTGGT5ATCGTTGC TCTG\n60 CTGGCTGAACG\n",
    ">u rna\nAUGAAAGUUCUGGCUGCUGGUAUCGUUGCUCUGCUGGCUGAACGUUGGUGG\n",
    ">i iupac\nATGAARGTNCTYGCNGCNGAYACNGGNCAYATHTGGCARGARMGNACNTAY\n",
    ">n\nNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN\n",
    ">stops\nTAATAGTGATAATAGTGATAATAGTGA\n",
    ">a\nATGAAAGTT\n>b\nATGAAAGTTC\n>c\nATGAAAGTTCT\n>d\nATGAAAGTTCTGGCTGCT\n",
    "ATGAAAGTTCTGGCTGCTGATACCGGTCACATCTGGCAGGAACGTACC\n",
];

/// Options of searches of a database or of the subjects in `s.fa`.
const SEARCHES: &[&str] = &[
    "-db|db",
    "-subject|s.fa",
    "-db|db|-task|tblastn-fast",
    "-db|db|-db_gencode|2",
    "-db|db|-db_gencode|33",
    "-db|db|-query_loc|4-20",
    "-db|db|-sum_stats|false",
    "-db|db|-max_intron_length|50",
    "-db|db|-seg|no|-comp_based_stats|0",
    "-db|db|-comp_based_stats|1",
    "-db|db|-comp_based_stats|3",
    "-db|db|-comp_based_stats|2u",
    "-db|db|-matrix|PAM30",
    "-db|db|-word_size|2|-evalue|1000",
    "-db|db|-lcase_masking",
    "-db|db|-max_hsps|1|-max_target_seqs|1",
    "-db|db|-dbsize|1000000",
    "-db|db|-searchsp|1000000",
    "-db|nosuch",
];

const COLUMNS: &str =
    "6 qseqid sseqid evalue bitscore score qstart qend sstart send sframe slen btop";

/// Makes proteins in `q.fa`, and genes of them in `s.fa` and the database: plain, on the minus
/// strand, in two frames, and around an intron.
fn fixture() -> Fixture {
    let fixture = Fixture::new();
    let protein = "MKVLAADTGHIWQERTYPASDFGHKLCVNM";
    let gene = coding(protein);
    let other = String::from_utf8(opposite(gene.as_bytes())).expect("bases");
    let (first, second) = gene.split_at(45);
    let text = format!(
        ">plus a gene\nGT{gene}CC\n>minus\nACA{other}T\n>shifted\n{first}G{second}\n\
         >intron\n{first}GTACGTTACGTTAACGGATCCAG{second}\n>lower\n{}\n>short\nATGAAAGTTCTGA\n",
        gene.replace("GCTGCT", "gctgct"),
    );
    fs::write(fixture.path().join("s.fa"), text).expect("subjects");
    let queries =
        format!(">whole\n{protein}\n>part\n{}\n>lower\nMKVlaadtGHIWQERTYP\n", &protein[8..]);
    fs::write(fixture.path().join("q.fa"), queries).expect("queries");
    let line = "-in|s.fa|-dbtype|nucl|-out|db|-title|genes";
    let made = fixture.run(&fixture.called("makeblastdb"), &Fixture::words(line), &[]);
    assert!(made.status.success(), "{}", complaint(&made));
    fixture
}

#[test]
fn parser_answers_as_the_oracle() {
    compare_as("tblastn", &fixture(), PARSER.iter().map(|&line| line.to_owned()));
}

#[test]
fn values_are_validated_as_by_the_oracle() {
    let whole = |line: &&str| match line.contains("-outfmt") {
        true => format!("-query|q.fa|-subject|s.fa|{line}"),
        false => format!("-query|q.fa|-subject|s.fa|-outfmt|6|{line}"),
    };
    compare_as("tblastn", &fixture(), sample(2, VALUES).into_iter().map(whole));
}

#[test]
fn each_genetic_code_has_the_reports_of_the_oracle() {
    let codes = (1..=6).chain(9..=16).chain(21..=31).chain([33]);
    let line = |code| format!("-query|q.fa|-db|db|-db_gencode|{code}|-outfmt|{COLUMNS}");
    compare_as("tblastn", &fixture(), sample(2, codes).into_iter().map(line));
}

#[test]
fn sequences_are_read_as_by_the_oracle() {
    let fixture = fixture();
    let mut lines = Vec::new();
    for (number, text) in SEQUENCES.iter().enumerate() {
        let name = format!("odd{number}.fa");
        fs::write(fixture.path().join(&name), text).expect("a file");
        for format in [COLUMNS, "0", "5", "7"] {
            lines.push(format!("-query|q.fa|-subject|{name}|-evalue|1000|-outfmt|{format}"));
        }
    }
    compare_as("tblastn", &fixture, sample(3, lines));
}

#[test]
fn reports_are_the_oracles() {
    let line = |line: &&str| format!("-query|q.fa|{line}|-outfmt|{COLUMNS}");
    compare_as("tblastn", &fixture(), sample(2, SEARCHES).into_iter().map(line));
}

#[test]
fn formats_are_the_oracles() {
    let formats = ["0", "5", "6", "7", "10", "0|-html", "0|-line_length|20"];
    let line = |format: &str| format!("-query|q.fa|-db|db|-outfmt|{format}");
    compare_as("tblastn", &fixture(), formats.map(line));
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    let fixture = fixture();
    let lines = [
        ("-remote".to_owned(), "-remote"),
        ("-in_pssm|x|-ungapped".to_owned(), "-ungapped with -in_pssm"),
        ("-use_sw_tback|-ungapped|-comp_based_stats|F".to_owned(), "-use_sw_tback with -ungapped"),
        ("-use_sw_tback|-in_pssm|x".to_owned(), "-use_sw_tback with -in_pssm"),
        ("-use_sw_tback|-sum_stats|false".to_owned(), "-use_sw_tback without linked HSPs"),
        ("-use_sw_tback|-max_intron_length|4".to_owned(), "-use_sw_tback without linked HSPs"),
    ];
    for (line, name) in lines {
        // A PSSM takes the place of a query.
        let query = if line.contains("-in_pssm") { "" } else { "-query|q.fa|" };
        let line = Fixture::words(&format!("{query}-db|db|{line}"));
        let output = fixture.run(&fixture.called("tblastn"), &line, &[]);
        let messages = complaint(&output);
        let expected = format!("does not support {name} yet; run NCBI tblastn instead");
        assert!(output.status.code() == Some(1) && messages.contains(&expected), "{messages}");
    }
}
