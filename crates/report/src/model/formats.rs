//! The formats of reports, and the options that change reports only.

use serde::{Deserialize, Serialize};

use crate::archive_options::ArchiveRequest;
use crate::columns::Columns;

/// The output format (`-outfmt`).
#[derive(Clone, Debug, PartialEq)]
pub enum Format {
    /// 0: pairwise.
    Pairwise,
    /// 1 to 4: query-anchored.
    Anchored(AnchoredFormat),
    /// 5: XML.
    Xml,
    /// 6 and 10: tabular and comma separated, which differ in the delimiter only.
    Tabular(Columns),
    /// 7: tabular with comment lines.
    Commented(Columns),
    /// 8, 9 and 12: alignments without sequences, in ASN.1.
    Annotation(AsnEncoding),
    /// 11: BLAST archives in ASN.1.
    Archive(Box<ArchiveRequest>),
    /// 13 to 16: BLAST JSON and BLAST XML2.
    Output2(Output2),
    /// 17: SAM, for nucleotides only.
    Sam(SamOptions),
    /// 18: the organism report.
    Organisms,
}

impl Format {
    /// Returns the columns of a tabular format; `None` for other formats.
    pub fn columns(&self) -> Option<&Columns> {
        match self {
            Format::Tabular(columns) | Format::Commented(columns) => Some(columns),
            _ => None,
        }
    }

    /// Whether the text before a query's subjects states the number of the search, counted over all
    /// queries and iterations. Only XML does.
    pub fn counts_searches(&self) -> bool {
        matches!(self, Format::Xml)
    }

    /// Whether a report is a document in a notation for data: XML, JSON or ASN.1.
    pub fn is_document(&self) -> bool {
        matches!(
            self,
            Format::Xml | Format::Annotation(_) | Format::Archive(_) | Format::Output2(_)
        )
    }

    /// Whether titles or columns of the format can show names of taxa.
    pub fn shows_taxa(&self) -> bool {
        !matches!(self, Format::Xml | Format::Annotation(_) | Format::Archive(_) | Format::Sam(_))
    }
}

/// The form of a query-anchored report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnchoredFormat {
    /// Whether insertions open gaps in all rows (3 and 4). Otherwise they are below their rows.
    pub flat: bool,
    /// Whether dots replace letters that are equal to the query's (1 and 3).
    pub dots: bool,
}

/// How values of ASN.1 are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsnEncoding {
    /// As text.
    Text,
    /// By the Basic Encoding Rules: binary.
    Ber,
    /// As JSON.
    Json,
}

/// Options of BLAST JSON and BLAST XML2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output2 {
    /// JSON or XML.
    pub notation: Notation,
    /// The form of the results of a query.
    pub results: Results,
    /// Whether the search starts with a PSSM instead of a query.
    pub starts_with_pssm: bool,
    /// Whether sequences are lost: alignments lack positions and letters, and queries their titles
    /// (an error of later releases of psiblast; see
    /// [`Release`](fleetblast_stats::release::Release)).
    pub lacks_sequences: bool,
    /// Whether each object is a document of its own, and an [index](crate::report_files) names them
    /// (formats 13 and 14).
    pub has_own_documents: bool,
}

/// How the object of a query holds the results of its searches (`Results`, blastxml2.asn).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Results {
    /// One search of a database.
    Search,
    /// A list of searches of FASTA subjects, which have these names.
    Subjects(Vec<Vec<u8>>),
    /// A list of iterations, each with a search of a database.
    Iterations,
}

impl Output2 {
    /// Creates the options for searches of a database.
    pub fn new(notation: Notation) -> Output2 {
        Output2 {
            notation,
            results: Results::Search,
            starts_with_pssm: false,
            lacks_sequences: false,
            has_own_documents: false,
        }
    }
}

/// JSON or XML.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Notation {
    /// JSON: names of members have underscores.
    Json,
    /// XML: names of elements have hyphens, and the type of an object is an element, too.
    Xml,
}

/// The options of a report in SAM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamOptions {
    /// `SQ`: show the letters of the aligned sequences.
    pub letters: bool,
    /// `SR`: the subjects are the references, and queries are aligned to them. Otherwise the
    /// queries are the references.
    pub subjects_are_references: bool,
    /// The words of the command line, each followed by a blank.
    pub command: Vec<u8>,
}

impl SamOptions {
    /// Parses the words that follow the number in `-outfmt`. Ignores unknown words.
    ///
    /// ```
    /// use fleetblast_report::model::SamOptions;
    /// let sam = SamOptions::parse("SQ nonsense", b"blastn -outfmt 17 SQ ");
    /// assert!(sam.letters && !sam.subjects_are_references);
    /// ```
    pub fn parse(words: &str, command: &[u8]) -> Self {
        let has = |word| words.split(' ').any(|typed| typed == word);
        Self { letters: has("SQ"), subjects_are_references: has("SR"), command: command.to_vec() }
    }
}

/// Order of the subjects (`-sorthits`, format 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitOrder {
    /// 0: by e-value, in the order of the hit list.
    Evalue,
    /// 1: by the best bit score.
    BitScore,
    /// 2: by the sum of the bit scores.
    TotalScore,
    /// 3: by the identity of the best alignment.
    Identity,
    /// 4: by the number of covered residues of the query.
    Coverage,
}

/// Order of the alignments of a subject (`-sorthsps`, format 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HspOrder {
    /// 0: by e-value, in the order of the search.
    Evalue,
    /// 1: by score.
    Score,
    /// 2: by start in the query.
    QueryStart,
    /// 3: by identity.
    Identity,
    /// 4: by start in the subject.
    SubjectStart,
}

/// The options of the command line that change the report only.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputOptions {
    /// `-outfmt`.
    pub format: Format,
    /// `-line_length`: columns of an alignment in a line.
    pub line_length: usize,
    /// `-html`.
    pub html: bool,
    /// `-sorthits`; any value adds columns to the description table.
    pub hit_order: Option<HitOrder>,
    /// `-sorthsps`.
    pub hsp_order: HspOrder,
    /// `-show_gis`.
    pub show_gis: bool,
    /// Number of rows of the description table: `-num_descriptions`, or the default from other
    /// options.
    pub num_descriptions: usize,
    /// Number of subjects whose alignments are shown: `-num_alignments`, or the default from other
    /// options.
    pub num_alignments: usize,
    /// `-parse_deflines`: the identifiers of queries (and FASTA subjects) were parsed.
    pub parse_deflines: bool,
}
