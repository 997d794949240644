//! `CFormattingArgs`: the format of the report, and the number of subjects that it shows.

use std::ffi::OsString;

use super::{FORMAT, RESTRICT};
use crate::options::opt::Opt;
use crate::options::refused::Refused;
use crate::options::spec::{Constraint, OptionSpec};
use crate::options::values::Values;

/// The options after `-outfmt`, in the order of the usage text.
pub const LAYOUT: &[OptionSpec] = &[
    SHOW_GIS.spec,
    NUM_DESCRIPTIONS.spec,
    NUM_ALIGNMENTS.spec,
    LINE_LENGTH.spec,
    HTML.spec,
    SORTHITS.spec,
    SORTHSPS.spec,
    MAX_TARGET_SEQS.spec,
];

/// `-outfmt`.
pub const OUTFMT: Opt<OsString> =
    Opt::text("outfmt", FORMAT, &HELP_OUTFMT).label("format").default("0");

/// `-outfmt` of programs with the format SAM.
pub const OUTFMT_WITH_SAM: Opt<OsString> = OUTFMT.help(&HELP_WITH_SAM);

/// `-outfmt` of reports that another site makes.
pub const OUTFMT_OF_METADATA: Opt<OsString> = OUTFMT.refused(Refused::Values(&["11", "13", "14"]));

/// `-outfmt` of `blast_formatter`.
pub const OUTFMT_OF_ARCHIVES: Opt<OsString> = OUTFMT_WITH_SAM.refused(Refused::Values(NO_ARCHIVES));

/// Formats that programs without archives as reports refuse.
const NO_ARCHIVES: &[&str] = &["11"];

/// `-show_gis`.
pub const SHOW_GIS: Opt<bool> = Opt::flag("show_gis", FORMAT, &["Show NCBI GIs in deflines?"]);

/// `-num_descriptions`.
pub const NUM_DESCRIPTIONS: Opt<usize> = Opt::integer(
    "num_descriptions",
    FORMAT,
    &[
        "Number of database sequences to show one-line descriptions for",
        "Not applicable for outfmt > 4",
        "Default = `500'",
    ],
)
.label("int_value")
.with_constraint(Constraint::AtLeast(0))
.excludes(&["max_target_seqs"]);

/// `-num_alignments`.
pub const NUM_ALIGNMENTS: Opt<usize> = Opt::integer(
    "num_alignments",
    FORMAT,
    &["Number of database sequences to show alignments for", "Default = `250'"],
)
.label("int_value")
.with_constraint(Constraint::AtLeast(0))
.excludes(&["max_target_seqs"]);

/// `-line_length`.
pub const LINE_LENGTH: Opt<usize> = Opt::integer(
    "line_length",
    FORMAT,
    &["Line length for formatting alignments", "Not applicable for outfmt > 4", "Default = `60'"],
)
.label("line_length")
.with_constraint(Constraint::AtLeast(1));

/// `-html`.
pub const HTML: Opt<bool> = Opt::flag("html", FORMAT, &["Produce HTML output?"]);

/// `-sorthits`.
pub const SORTHITS: Opt<usize> = Opt::integer(
    "sorthits",
    FORMAT,
    &[
        "Sorting option for hits:",
        "alignment view options:",
        "  0 = Sort by evalue,",
        "  1 = Sort by bit score,",
        "  2 = Sort by total score,",
        "  3 = Sort by percent identity,",
        "  4 = Sort by query coverage",
        "Not applicable for outfmt > 4",
    ],
)
.label("sort_hits")
.with_constraint(Constraint::UpTo(4));

/// `-sorthsps`.
pub const SORTHSPS: Opt<usize> = Opt::integer(
    "sorthsps",
    FORMAT,
    &[
        "Sorting option for hps:",
        "  0 = Sort by hsp evalue,",
        "  1 = Sort by hsp score,",
        "  2 = Sort by hsp query start,",
        "  3 = Sort by hsp percent identity,",
        "  4 = Sort by hsp subject start",
        "Not applicable for outfmt != 0",
    ],
)
.label("sort_hsps")
.with_constraint(Constraint::UpTo(4));

/// `-max_target_seqs`.
pub const MAX_TARGET_SEQS: Opt<usize> = Opt::integer(
    "max_target_seqs",
    RESTRICT,
    &[
        "Maximum number of aligned sequences to keep ",
        "(value of 5 or more is recommended)",
        "Default = `500'",
    ],
)
.label("num_sequences")
.with_constraint(Constraint::AtLeast(1))
.excludes(&["num_descriptions", "num_alignments"]);

/// Values of the options for the format of the report.
#[derive(Clone, Debug, PartialEq)]
pub struct FormattingOptions {
    /// `-outfmt`.
    pub outfmt: OsString,
    /// `-show_gis`.
    pub show_gis: bool,
    /// `-num_descriptions`.
    pub num_descriptions: Option<usize>,
    /// `-num_alignments`.
    pub num_alignments: Option<usize>,
    /// `-line_length`.
    pub line_length: Option<usize>,
    /// `-html`.
    pub html: bool,
    /// `-sorthits`.
    pub sort_hits: Option<usize>,
    /// `-sorthsps`.
    pub sort_hsps: Option<usize>,
    /// `-max_target_seqs`.
    pub max_target_seqs: Option<usize>,
}

impl FormattingOptions {
    /// Reads the values of the options.
    pub fn read(values: &Values<'_>) -> Self {
        Self {
            outfmt: values.get(&OUTFMT),
            show_gis: values.get(&SHOW_GIS),
            num_descriptions: values.optional(&NUM_DESCRIPTIONS),
            num_alignments: values.optional(&NUM_ALIGNMENTS),
            line_length: values.optional(&LINE_LENGTH),
            html: values.get(&HTML),
            sort_hits: values.optional(&SORTHITS),
            sort_hsps: values.optional(&SORTHSPS),
            max_target_seqs: values.optional(&MAX_TARGET_SEQS),
        }
    }
}

const HELP_OUTFMT: [&str; 83] = joined(&[&FORMATS, &WITHOUT_SAM, &COLUMNS, &DEFAULT_COLUMNS]);

const HELP_WITH_SAM: [&str; 87] =
    joined(&[&FORMATS, &ALSO_SAM, &COLUMNS, &DEFAULT_COLUMNS, &COLUMNS_OF_SAM]);

/// Concatenates lists of lines.
const fn joined<const N: usize>(parts: &[&[&'static str]]) -> [&'static str; N] {
    let mut lines = [""; N];
    let (mut part, mut next) = (0, 0);
    while part < parts.len() {
        let mut at = 0;
        while at < parts[part].len() {
            lines[next] = parts[part][at];
            (at, next) = (at + 1, next + 1);
        }
        part += 1;
    }
    assert!(next == N);
    lines
}

/// Help lines of `-outfmt` for the formats that all programs have.
const FORMATS: [&str; 18] = [
    "alignment view options:",
    "  0 = Pairwise,",
    "  1 = Query-anchored showing identities,",
    "  2 = Query-anchored no identities,",
    "  3 = Flat query-anchored showing identities,",
    "  4 = Flat query-anchored no identities,",
    "  5 = BLAST XML,",
    "  6 = Tabular,",
    "  7 = Tabular with comment lines,",
    "  8 = Seqalign (Text ASN.1),",
    "  9 = Seqalign (Binary ASN.1),",
    " 10 = Comma-separated values,",
    " 11 = BLAST archive (ASN.1),",
    " 12 = Seqalign (JSON),",
    " 13 = Multiple-file BLAST JSON,",
    " 14 = Multiple-file BLAST XML2,",
    " 15 = Single-file BLAST JSON,",
    " 16 = Single-file BLAST XML2,",
];

/// Help lines of `-outfmt` for the last format, and for choosing columns.
const WITHOUT_SAM: [&str; 9] = [
    " 18 = Organism Report",
    "",
    "Options 6, 7 and 10 can be additionally configured to produce",
    "a custom format specified by space delimited format specifiers,",
    "or by a token specified by the delim keyword.",
    " E.g.: \"10 delim=@ qacc sacc score\".",
    "The delim keyword must appear after the numeric output format",
    "specification.",
    "The supported format specifiers are:",
];

/// Help lines of `-outfmt` for the last formats, and for choosing columns, with the format SAM.
const ALSO_SAM: [&str; 10] = [
    " 17 = Sequence Alignment/Map (SAM),",
    " 18 = Organism Report",
    "",
    "Options 6, 7, 10 and 17 can be additionally configured to produce",
    "a custom format specified by space delimited format specifiers,",
    "or in the case of options 6, 7, and 10, by a token specified",
    "by the delim keyword. E.g.: \"17 delim=@ qacc sacc score\".",
    "The delim keyword must appear after the numeric output format",
    "specification.",
    "The supported format specifiers for options 6, 7 and 10 are:",
];

/// Help lines of `-outfmt` for the columns.
const COLUMNS: [&str; 53] = [
    "\t    qseqid means Query Seq-id",
    "\t       qgi means Query GI",
    "\t      qacc means Query accesion",
    "\t   qaccver means Query accesion.version",
    "\t      qlen means Query sequence length",
    "\t    sseqid means Subject Seq-id",
    "\t sallseqid means All subject Seq-id(s), separated by a ';'",
    "\t       sgi means Subject GI",
    "\t    sallgi means All subject GIs",
    "\t      sacc means Subject accession",
    "\t   saccver means Subject accession.version",
    "\t   sallacc means All subject accessions",
    "\t      slen means Subject sequence length",
    "\t    qstart means Start of alignment in query",
    "\t      qend means End of alignment in query",
    "\t    sstart means Start of alignment in subject",
    "\t      send means End of alignment in subject",
    "\t      qseq means Aligned part of query sequence",
    "\t      sseq means Aligned part of subject sequence",
    "\t    evalue means Expect value",
    "\t  bitscore means Bit score",
    "\t     score means Raw score",
    "\t    length means Alignment length",
    "\t    pident means Percentage of identical matches",
    "\t    nident means Number of identical matches",
    "\t  mismatch means Number of mismatches",
    "\t  positive means Number of positive-scoring matches",
    "\t   gapopen means Number of gap openings",
    "\t      gaps means Total number of gaps",
    "\t      ppos means Percentage of positive-scoring matches",
    "\t    frames means Query and subject frames separated by a '/'",
    "\t    qframe means Query frame",
    "\t    sframe means Subject frame",
    "\t      btop means Blast traceback operations (BTOP)",
    "\t    staxid means Subject Taxonomy ID",
    "\t  ssciname means Subject Scientific Name",
    "\t  scomname means Subject Common Name",
    "\tsblastname means Subject Blast Name",
    "\t sskingdom means Subject Super Kingdom",
    "\t   staxids means unique Subject Taxonomy ID(s), separated by a ';'",
    "\t\t\t (in numerical order)",
    "\t sscinames means unique Subject Scientific Name(s), separated by a ';'",
    "\t scomnames means unique Subject Common Name(s), separated by a ';'",
    "\tsblastnames means unique Subject Blast Name(s), separated by a ';'",
    "\t\t\t (in alphabetical order)",
    "\tsskingdoms means unique Subject Super Kingdom(s), separated by a ';'",
    "\t\t\t (in alphabetical order) ",
    "\t    stitle means Subject Title",
    "\tsalltitles means All Subject Title(s), separated by a '<>'",
    "\t   sstrand means Subject Strand",
    "\t     qcovs means Query Coverage Per Subject",
    "\t   qcovhsp means Query Coverage Per HSP",
    "\t    qcovus means Query Coverage Per Unique Subject (blastn only)",
];

/// Help lines of `-outfmt` for the default columns.
const DEFAULT_COLUMNS: [&str; 3] = [
    "When not provided, the default value is:",
    "'qaccver saccver pident length mismatch gapopen qstart qend sstart send",
    "evalue bitscore', which is equivalent to the keyword 'std'",
];

/// Help lines of `-outfmt` for optional contents of SAM.
const COLUMNS_OF_SAM: [&str; 3] = [
    "The supported format specifier for option 17 is:",
    "\t        SQ means Include Sequence Data",
    "\t        SR means Subject as Reference Seq",
];
