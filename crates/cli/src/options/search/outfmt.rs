//! `-outfmt`, with its help: the formats and columns of each release.

use std::ffi::OsString;

use fleetblast_stats::release::Release;

use super::FORMAT;
use crate::options::later::{Change, Later};
use crate::options::opt::Opt;
use crate::options::refused::Refused;

/// `-outfmt`.
pub const OUTFMT: Opt<OsString> =
    Opt::text("outfmt", FORMAT, &HELP).label("format").default("0").later(&HELP_OF_RELEASES);

/// `-outfmt` of programs with the format SAM.
pub const OUTFMT_WITH_SAM: Opt<OsString> = OUTFMT.help(&HELP_WITH_SAM).later(&SAM_OF_RELEASES);

/// `-outfmt` of reports that another site makes.
pub const OUTFMT_OF_METADATA: Opt<OsString> = OUTFMT.refused(Refused::Values(&["11", "13", "14"]));

const HELP: [&str; 83] = concat_paragraphs(&[
    &FORMATS,
    &[ORGANISMS, "", "Options 6, 7 and 10 can be additionally configured to produce"],
    &CHOICE,
    &QUERIES,
    &COLUMNS,
    &DEFAULT_COLUMNS,
    &[""],
]);

const HELP_WITH_SAM: [&str; 87] = concat_paragraphs(&[
    &FORMATS,
    &[SAM, ORGANISMS, "", "Options 6, 7, 10 and 17 can be additionally configured to produce"],
    &CHOICE_WITH_SAM,
    &QUERIES,
    &COLUMNS,
    &DEFAULT_COLUMNS,
    &COLUMNS_OF_SAM,
]);

const HELP_OF_RELEASES: [Later; 2] = [
    Change::Help(&concat_paragraphs::<83>(&[
        &FORMATS,
        &[ORGANISMS, "", "Options 6, 7 and 10 can be additionally configured to produce"],
        &CHOICE,
        &LATER_QUERIES,
        &COLUMNS,
        &DEFAULT_COLUMNS,
        &[""],
    ]))
    .since(&Release::V2_16_0),
    Change::Help(&concat_paragraphs::<84>(&[
        &FORMATS,
        &ORGANISMS_AND_CSV,
        &["", "Options 6, 7, 10 and 20 can be additionally configured to produce"],
        &CHOICE,
        &LATER_QUERIES,
        &COLUMNS,
        &DEFAULT_COLUMNS,
        &[""],
    ]))
    .since(&Release::V2_17_0),
];

const SAM_OF_RELEASES: [Later; 2] = [
    Change::Help(&concat_paragraphs::<87>(&[
        &FORMATS,
        &[SAM, ORGANISMS, "", "Options 6, 7, 10 and 17 can be additionally configured to produce"],
        &CHOICE_WITH_SAM,
        &LATER_QUERIES,
        &COLUMNS,
        &DEFAULT_COLUMNS,
        &COLUMNS_OF_SAM,
    ]))
    .since(&Release::V2_16_0),
    Change::Help(&concat_paragraphs::<88>(&[
        &FORMATS,
        &[SAM],
        &ORGANISMS_AND_CSV,
        &["", "Options 6, 7, 10, 17 and 20 can be additionally configured to produce"],
        &CHOICE_WITH_SAM,
        &LATER_QUERIES,
        &COLUMNS,
        &DEFAULT_COLUMNS,
        &COLUMNS_OF_SAM,
    ]))
    .since(&Release::V2_17_0),
];

/// Concatenates lists of paragraphs.
const fn concat_paragraphs<const N: usize>(parts: &[&[&'static str]]) -> [&'static str; N] {
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

/// Help text: the formats that all programs have in all releases.
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

const SAM: &str = " 17 = Sequence Alignment/Map (SAM),";

const ORGANISMS: &str = " 18 = Organism Report";

const ORGANISMS_AND_CSV: [&str; 2] =
    [" 18 = Organism Report,", " 20 = Comma-separated values with header lines"];

/// Help text: how to choose columns.
const CHOICE: [&str; 6] = [
    "a custom format specified by space delimited format specifiers,",
    "or by a token specified by the delim keyword.",
    " E.g.: \"10 delim=@ qacc sacc score\".",
    "The delim keyword must appear after the numeric output format",
    "specification.",
    "The supported format specifiers are:",
];

/// Help text: how to choose columns in programs with the format SAM.
const CHOICE_WITH_SAM: [&str; 6] = [
    "a custom format specified by space delimited format specifiers,",
    "or in the case of options 6, 7, and 10, by a token specified",
    "by the delim keyword. E.g.: \"17 delim=@ qacc sacc score\".",
    "The delim keyword must appear after the numeric output format",
    "specification.",
    "The supported format specifiers for options 6, 7 and 10 are:",
];

/// Help text: the first columns.
const QUERIES: [&str; 4] = [
    "\t    qseqid means Query Seq-id",
    "\t       qgi means Query GI",
    "\t      qacc means Query accesion",
    "\t   qaccver means Query accesion.version",
];

/// Help text: the first columns since 2.16.0, with two spelling errors corrected.
const LATER_QUERIES: [&str; 4] = [
    QUERIES[0],
    QUERIES[1],
    "\t      qacc means Query accession",
    "\t   qaccver means Query accession.version",
];

/// Help text: the columns after [`QUERIES`].
const COLUMNS: [&str; 49] = [
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

/// Help text: the default columns.
const DEFAULT_COLUMNS: [&str; 2] = [
    "When not provided, the default value is:",
    "'qaccver saccver pident length mismatch gapopen qstart qend sstart send evalue bitscore', \
     which is equivalent to the keyword 'std'",
];

/// Help text: the optional contents of SAM.
const COLUMNS_OF_SAM: [&str; 4] = [
    "The supported format specifier for option 17 is:",
    "\t        SQ means Include Sequence Data",
    "\t        SR means Subject as Reference Seq",
    "",
];
