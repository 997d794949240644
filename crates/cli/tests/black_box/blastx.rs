//! `blastx`: refusals, reading of sequences and reports equal the oracle's byte for byte.

use std::fs;

use crate::blastn::{compare_as, opposite};
use crate::common::{Fixture, complaint};
use fleetblast_oracle::sample;

/// Options that the parser refuses or answers; `|` separates words.
const PARSER: &[&str] = &[
    "-h",
    "-word_size|1",
    "-strand|up",
    "-task|blastp",
    "-task|blastx-short",
    "-query_gencode|0",
    "-query_gencode|7",
    "-query_gencode|8",
    "-query_gencode|17",
    "-query_gencode|20",
    "-query_gencode|32",
    "-query_gencode|34",
    "-query_gencode|-1",
    "-query_gencode|x",
    "-query_gencode|1.0",
    "-query_gencode| 1",
    "-query_gencode|0x1",
    "-query_gencode|0x",
    "-query_gencode|4294967297",
    "-query_gencode|",
    "-max_intron_length|-1",
    "-max_intron_length|1.5",
    "-max_intron_length|100000000000",
    "-sum_stats|2",
    "-db_gencode|1",
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
    "-task|blastx-fast|-word_size|3",
    "-query_loc|2-3",
    "-query_loc|4000-5000",
];

/// FASTA files with other text than plain sequences of bases.
const SEQUENCES: &[&str] = &[
    ">d digits\n12ATGAAAGTTCTGGCTGCTGGT5ATCGTTGC TCTG\n60 CTGGCTGAACG\n",
    ">l letters\nATGAAAGTTCTGGCTGCTGGTATCXGTTGCETCTGCT*GGCTGAACG\n",
    ">p protein\nMKVLAAGIVALLAERWWMKVLAAGIVALLAERWWPQRST\n",
    ">u rna\nAUGAAAGUUCUGGCUGCUGGUAUCGUUGCUCUGCUGGCUGAACGUUGGUGG\n",
    ">i iupac\nATGAARGTNCTYGCNGCNGGNATHGTNGCRYTNCTGGCTGARMGNTGGTGG\n",
    ">n\nNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN\n",
    ">stops\nTAATAGTGATAATAGTGATAATAGTGA\n",
    ">e empty\n",
    ">e empty\n>q\nATGAAAGTTCTGGCTGCTGGTATCGTTGCTCTGCTGGCTGAACGTTGGTGG\n",
    ">a\nA\n>b\nAC\n>c\nACG\n>d\nATGAAAG\n>e\nATGAAAGTT\n",
    "ATGAAAGTTCTGGCTGCTGGTATCGTTGCTCTGCTGGCTGAACGTTGGTGG\n",
    "",
];

/// Options of searches of a database or of the subjects in `s.fa`.
const SEARCHES: &[&str] = &[
    "-db|db",
    "-subject|s.fa",
    "-db|db|-task|blastx-fast",
    "-db|db|-strand|plus",
    "-db|db|-strand|minus",
    "-db|db|-query_gencode|2",
    "-db|db|-query_gencode|33",
    "-db|db|-query_loc|11-80",
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
    "6 qseqid sseqid evalue bitscore score qstart qend sstart send qframe qlen btop";

/// Codons, one for each amino acid.
const CODONS: &[(u8, &str)] = &[
    (b'A', "GCT"),
    (b'C', "TGC"),
    (b'D', "GAT"),
    (b'E', "GAA"),
    (b'F', "TTC"),
    (b'G', "GGT"),
    (b'H', "CAC"),
    (b'I', "ATC"),
    (b'K', "AAA"),
    (b'L', "CTG"),
    (b'M', "ATG"),
    (b'N', "AAC"),
    (b'P', "CCG"),
    (b'Q', "CAG"),
    (b'R', "CGT"),
    (b'S', "AGC"),
    (b'T', "ACC"),
    (b'V', "GTT"),
    (b'W', "TGG"),
    (b'Y', "TAC"),
];

pub(crate) fn coding(protein: &str) -> String {
    let codon = |residue: u8| CODONS.iter().find(|(other, _)| *other == residue);
    protein.bytes().filter_map(codon).map(|(_, bases)| *bases).collect()
}

/// Makes the usual files of proteins, and `q.fa` with genes of one protein: plain, on the minus
/// strand, in two frames, and around an intron.
fn fixture() -> Fixture {
    let fixture = Fixture::new();
    let gene = coding("MKVLAADTGHIWQERTYPASDFGHKLCVNM");
    let other = String::from_utf8(opposite(gene.as_bytes())).expect("bases");
    let (first, second) = gene.split_at(45);
    let text = format!(
        ">plus a gene\nGT{gene}CC\n>minus\nACA{other}T\n>shifted\n{first}G{second}\n\
         >intron\n{first}GTACGTTACGTTAACGGATCCAG{second}\n>lower\n{}\n>short\nATGAA\n",
        gene.replace("GCTGCT", "gctgct"),
    );
    fs::write(fixture.path().join("q.fa"), text).expect("queries");
    fixture
}

#[test]
fn parser_answers_as_the_oracle() {
    compare_as("blastx", &fixture(), PARSER.iter().map(|&line| line.to_owned()));
}

#[test]
fn values_are_validated_as_by_the_oracle() {
    let whole = |line: &&str| match line.contains("-outfmt") {
        true => format!("-query|q.fa|-subject|s.fa|{line}"),
        false => format!("-query|q.fa|-subject|s.fa|-outfmt|6|{line}"),
    };
    compare_as("blastx", &fixture(), sample(2, VALUES).into_iter().map(whole));
}

#[test]
fn each_genetic_code_has_the_reports_of_the_oracle() {
    let codes = (1..=6).chain(9..=16).chain(21..=31).chain([33]);
    let line = |code| format!("-query|q.fa|-db|db|-query_gencode|{code}|-outfmt|{COLUMNS}");
    compare_as("blastx", &fixture(), sample(2, codes).into_iter().map(line));
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
        }
        lines.push(format!("-query|{name}|-subject|s.fa|-parse_deflines|-outfmt|{COLUMNS}"));
    }
    compare_as("blastx", &fixture, sample(3, lines));
}

#[test]
fn reports_are_the_oracles() {
    let line = |line: &&str| format!("-query|q.fa|{line}|-outfmt|{COLUMNS}");
    compare_as("blastx", &fixture(), sample(2, SEARCHES).into_iter().map(line));
}

#[test]
fn formats_are_the_oracles() {
    let formats = ["0", "5", "6", "7", "10", "0|-html", "0|-strand|minus|-line_length|20"];
    let line = |format: &str| format!("-query|q.fa|-db|db|-outfmt|{format}");
    compare_as("blastx", &fixture(), formats.map(line));
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    let fixture = fixture();
    let lines = [
        ("-remote".to_owned(), "-remote"),
        ("-ipglist|x".to_owned(), "-ipglist"),
        ("-use_sw_tback".to_owned(), "-use_sw_tback"),
    ];
    for (line, name) in lines {
        let line = Fixture::words(&format!("-query|q.fa|-db|db|{line}"));
        let output = fixture.run(&fixture.called("blastx"), &line, &[]);
        let messages = complaint(&output);
        let expected = format!("does not support {name} yet; run NCBI blastx instead");
        assert!(output.status.code() == Some(1) && messages.contains(&expected), "{messages}");
    }
}
