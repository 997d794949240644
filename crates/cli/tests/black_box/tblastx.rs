//! `tblastx`: refusals, reading of sequences and reports equal the oracle's byte for byte.

use std::fs;

use crate::blastn::{compare_as, opposite};
use crate::blastx::coding;
use crate::common::{Fixture, complaint};
use fleetblast_oracle::sample;

/// Options that the parser refuses or answers; `|` separates words.
const PARSER: &[&str] = &[
    "-h",
    "-word_size|1",
    "-strand|up",
    "-task|tblastx",
    "-query_gencode|0",
    "-query_gencode|7",
    "-query_gencode|32",
    "-query_gencode|0x1",
    "-db_gencode|0",
    "-db_gencode|8",
    "-db_gencode|34",
    "-db_gencode|x",
    "-db_gencode|",
    "-max_intron_length|-1",
    "-max_intron_length|1.5",
    "-sum_stats|2",
    "-gapopen|11",
    "-gapextend|1",
    "-xdrop_gap|15",
    "-xdrop_gap_final|25",
    "-comp_based_stats|0",
    "-ungapped",
    "-use_sw_tback",
    "-in_pssm|x",
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
    "-matrix|FOO|-outfmt|0",
    "-matrix|FOO|-outfmt|5",
    "-matrix|FOO|-outfmt|7",
    "-matrix|FOO|-evalue|0",
    "-matrix|IDENTITY",
    "-matrix|identity|-word_size|6",
    "-threshold|0",
    "-threshold|0|-word_size|8",
    "-word_size|6",
    "-word_size|8|-xdrop_ungap|0",
    "-xdrop_ungap|0",
    "-xdrop_ungap|0|-evalue|0",
    "-evalue|0",
    "-evalue|0|-max_intron_length|5",
    "-max_intron_length|5",
    "-max_intron_length|5|-sum_stats|false",
    "-max_intron_length|0",
    "-query_loc|2-3",
    "-query_loc|4000-5000",
];

/// FASTA files with other text than plain sequences of bases. Each is tried as queries and as
/// subjects.
const SEQUENCES: &[&str] = &[
    ">d digits\n12ATGAAAGTTCTGGCTGCTGGT5ATCGTTGC TCTG\n60 CTGGCTGAACG\n",
    ">p protein\nMKVLAAGIVALLAERWWMKVLAAGIVALLAERWWPQRST\n",
    ">u rna\nAUGAAAGUUCUGGCUGCUGGUAUCGUUGCUCUGCUGGCUGAACGUUGGUGG\n",
    ">i iupac\nATGAARGTNCTYGCNGCNGAYACNGGNCAYATHTGGCARGARMGNACNTAY\n",
    ">n\nNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN\n",
    ">stops\nTAATAGTGATAATAGTGATAATAGTGA\n",
    ">e empty\n>q\nATGAAAGTTCTGGCTGCTGGTATCGTTGCTCTGCTGGCTGAACGTTGGTGG\n",
    ">a\nATGAAAGTT\n>b\nATGAAAGTTC\n>c\nATGAAAGTTCT\n>d\nATGAAAGTTCTGGCTGCT\n",
    "ATGAAAGTTCTGGCTGCTGATACCGGTCACATCTGGCAGGAACGTACC\n",
];

/// Options of searches of a database or of the subjects in `s.fa`.
const SEARCHES: &[&str] = &[
    "-db|db",
    "-subject|s.fa",
    "-db|db|-strand|plus",
    "-db|db|-strand|minus",
    "-db|db|-query_gencode|2",
    "-db|db|-db_gencode|2",
    "-db|db|-query_gencode|33|-db_gencode|6",
    "-subject|s.fa|-db_gencode|2",
    "-db|db|-query_loc|11-80",
    "-subject|s.fa|-subject_loc|11-80",
    "-db|db|-sum_stats|false",
    "-db|db|-seg|no",
    "-db|db|-soft_masking|true",
    "-db|db|-matrix|PAM30",
    "-db|db|-matrix|IDENTITY",
    "-db|db|-word_size|2|-evalue|1000",
    "-db|db|-word_size|4",
    "-db|db|-window_size|0",
    "-db|db|-threshold|11",
    "-db|db|-lcase_masking",
    "-subject|s.fa|-lcase_masking",
    "-db|db|-max_hsps|1|-max_target_seqs|1",
    "-db|db|-culling_limit|1",
    "-db|db|-subject_besthit",
    "-db|db|-qcov_hsp_perc|50",
    "-db|db|-dbsize|1000000",
    "-db|db|-searchsp|1000000",
    "-db|nosuch",
];

const COLUMNS: &str =
    "6 qseqid sseqid evalue bitscore score qstart qend sstart send qframe sframe qlen slen btop";

/// Makes genes in `q.fa` and in `s.fa`, which the database has: plain, on the minus strand, in two
/// frames, and around an intron.
fn fixture() -> Fixture {
    let fixture = Fixture::new();
    let gene = coding("MKVLAADTGHIWQERTYPASDFGHKLCVNM");
    let other = String::from_utf8(opposite(gene.as_bytes())).expect("bases");
    let (first, second) = gene.split_at(45);
    let text = format!(
        ">plus a gene\nGT{gene}CC\n>minus\nACA{other}T\n>shifted\n{first}G{second}\n\
         >intron\n{first}GTACGTTACGTTAACGGATCCAG{second}\n>lower\n{}\n>short\nATGAAAGTTCTGA\n",
        gene.replace("GCTGCT", "gctgct"),
    );
    fs::write(fixture.path().join("s.fa"), text).expect("subjects");
    let queries = format!(
        ">whole\n{gene}\n>minus\nT{other}\n>shifted\n{first}GT{second}\n>lower\n{}\n>short\nATGAA\n",
        gene.replace("GATACC", "gatacc"),
    );
    fs::write(fixture.path().join("q.fa"), queries).expect("queries");
    let line = "-in|s.fa|-dbtype|nucl|-out|db|-title|genes";
    let made = fixture.run(&fixture.called("makeblastdb"), &Fixture::words(line), &[]);
    assert!(made.status.success(), "{}", complaint(&made));
    fixture
}

#[test]
fn parser_answers_as_the_oracle() {
    compare_as("tblastx", &fixture(), PARSER.iter().map(|&line| line.to_owned()));
}

#[test]
fn values_are_validated_as_by_the_oracle() {
    let whole = |line: &&str| match line.contains("-outfmt") {
        true => format!("-query|q.fa|-subject|s.fa|{line}"),
        false => format!("-query|q.fa|-subject|s.fa|-outfmt|6|{line}"),
    };
    compare_as("tblastx", &fixture(), sample(2, VALUES).into_iter().map(whole));
}

#[test]
fn each_genetic_code_has_the_reports_of_the_oracle() {
    let codes = (1..=6).chain(9..=16).chain(21..=31).chain([33]);
    let line = |code| {
        let side = if code % 2 == 0 { "query" } else { "db" };
        format!("-query|q.fa|-db|db|-{side}_gencode|{code}|-outfmt|{COLUMNS}")
    };
    compare_as("tblastx", &fixture(), sample(2, codes).into_iter().map(line));
}

#[test]
fn sequences_are_read_as_by_the_oracle() {
    let fixture = fixture();
    let mut lines = Vec::new();
    for (number, text) in SEQUENCES.iter().enumerate() {
        let name = format!("odd{number}.fa");
        fs::write(fixture.path().join(&name), text).expect("a file");
        for format in [COLUMNS, "0", "5", "7"] {
            lines.push(format!("-query|{name}|-db|db|-evalue|1000|-outfmt|{format}"));
            lines.push(format!("-query|q.fa|-subject|{name}|-evalue|1000|-outfmt|{format}"));
        }
    }
    compare_as("tblastx", &fixture, sample(3, lines));
}

#[test]
fn reports_are_the_oracles() {
    let line = |line: &&str| format!("-query|q.fa|{line}|-outfmt|{COLUMNS}");
    compare_as("tblastx", &fixture(), sample(2, SEARCHES).into_iter().map(line));
}

#[test]
fn formats_are_the_oracles() {
    let formats = ["0", "5", "6", "7", "10", "0|-html", "0|-strand|minus|-line_length|20"];
    let line = |format: &str| format!("-query|q.fa|-db|db|-outfmt|{format}");
    compare_as("tblastx", &fixture(), formats.map(line));
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    let fixture = fixture();
    let lines = [("-remote".to_owned(), "-remote")];
    for (line, name) in lines {
        let line = Fixture::words(&format!("-query|q.fa|-db|db|{line}"));
        let output = fixture.run(&fixture.called("tblastx"), &line, &[]);
        let messages = complaint(&output);
        let expected = format!("does not support {name} yet; run NCBI tblastx instead");
        assert!(output.status.code() == Some(1) && messages.contains(&expected), "{messages}");
    }
}
