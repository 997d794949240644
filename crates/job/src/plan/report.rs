//! The plan of a report.

use fleetblast_report::archive_options::ArchiveRequest;
use fleetblast_report::columns::Columns;
use fleetblast_report::model::{
    self, AnchoredFormat, HitOrder, HspOrder, OutputOptions, SamOptions,
};
use fleetblast_report::model::{AsnEncoding, Notation, Output2};
use fleetblast_stats::release::Release;
use serde::{Deserialize, Serialize};

use super::Destination;

/// Format of the report (`-outfmt`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// 0: pairwise alignments.
    Pairwise,
    /// 1 to 4: query-anchored alignments.
    Anchored(AnchoredFormat),
    /// 5: XML.
    Xml,
    /// 6: tabular.
    Tabular,
    /// 7: tabular with comment lines.
    TabularComments,
    /// 8: alignments in ASN.1 text.
    AsnText,
    /// 9: alignments in binary ASN.1.
    AsnBinary,
    /// 10: comma-separated values.
    Csv,
    /// 20: comma-separated values with headings.
    HeadedCsv,
    /// 11: BLAST archives.
    Archive,
    /// 12: alignments in ASN.1 as JSON.
    AsnJson,
    /// 13 to 16: BLAST JSON and BLAST XML2.
    Output2 {
        /// JSON or XML2.
        notation: Notation,
        /// Whether there is a file for each query, and an index (13 and 14).
        has_own_documents: bool,
    },
    /// 17: SAM.
    Sam,
    /// 18: organism report.
    Organisms,
}

/// The search strategies that a job writes, one for each batch of queries
/// (`-export_search_strategy`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StrategyPlan {
    /// File of the strategies.
    pub out: Destination,
    /// Description of the search that the strategies store.
    pub request: ArchiveRequest,
}

/// Format and contents of the report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The format.
    pub format: Format,
    /// Column names as typed, separated by blanks, or the options of SAM. Empty for the default
    /// columns and for other formats.
    pub columns: String,
    /// The command line that SAM records, with a blank after each word.
    pub command: Vec<u8>,
    /// Description of the search that archives store. Empty for other formats.
    pub archive: ArchiveRequest,
    /// Column separator instead of the format's own. It may have several characters.
    pub delimiter: Option<String>,
    /// Whether the report is HTML (`-html`).
    pub html: bool,
    /// Whether the report shows GIs (`-show_gis`).
    pub show_gis: bool,
    /// Number of residues in a line of an alignment.
    pub line_length: usize,
    /// Maximum number of subjects in the table of descriptions.
    pub num_descriptions: usize,
    /// Maximum number of subjects with alignments.
    pub num_alignments: usize,
    /// Value of `-sorthits`, where the format supports it.
    pub sort_hits: Option<usize>,
    /// Value of `-sorthsps`, where the format supports it.
    pub sort_hsps: Option<usize>,
    /// Whether JSON and XML2 of iterated searches lack titles of queries, and positions and letters
    /// of alignments, as in later releases of BLAST+.
    pub lacks_sequences: bool,
}

impl Format {
    /// Returns whether the report has the alignments in ASN.1 without sequences.
    pub fn is_annotation(self) -> bool {
        matches!(self, Format::AsnText | Format::AsnBinary | Format::AsnJson)
    }

    /// Returns whether the report is a document in a notation for data: XML, JSON or ASN.1.
    pub fn is_document(self) -> bool {
        self.is_annotation()
            || matches!(self, Format::Xml | Format::Archive | Format::Output2 { .. })
    }

    /// Returns whether there is a file for each query, and an index.
    pub fn has_files(self) -> bool {
        matches!(self, Format::Output2 { has_own_documents: true, .. })
    }

    /// Returns whether the report is a text with alignments, which a table of descriptions
    /// precedes.
    pub fn is_text(self) -> bool {
        matches!(self, Format::Pairwise | Format::Anchored(_))
    }
}

impl Report {
    /// Converts these settings to the options of the report crate.
    pub fn options(&self, parse_deflines: bool, release: &Release) -> OutputOptions {
        let columns = |delimiter: &str| {
            let delimiter = self.delimiter.as_deref().unwrap_or(delimiter);
            let columns = Columns::parse(&self.columns, delimiter.as_bytes());
            Columns { quotes_taxa: release.quotes_taxa && delimiter == ",", ..columns }
        };
        let csv = |has_headings| Columns { has_headings, ..columns(",") };
        OutputOptions {
            format: match self.format {
                Format::Pairwise => model::Format::Pairwise,
                Format::Anchored(form) => model::Format::Anchored(form),
                Format::Xml => model::Format::Xml,
                Format::Tabular => model::Format::Tabular(columns("\t")),
                Format::TabularComments => model::Format::Commented(columns("\t")),
                Format::AsnText => model::Format::Annotation(AsnEncoding::Text),
                Format::AsnBinary => model::Format::Annotation(AsnEncoding::Ber),
                Format::AsnJson => model::Format::Annotation(AsnEncoding::Json),
                Format::Csv => model::Format::Tabular(csv(false)),
                Format::HeadedCsv => model::Format::Tabular(csv(true)),
                Format::Archive => model::Format::Archive(Box::new(self.archive.clone())),
                Format::Output2 { notation, has_own_documents } => {
                    let format = Output2::new(notation);
                    model::Format::Output2(Output2 { has_own_documents, ..format })
                }
                Format::Sam => model::Format::Sam(SamOptions::parse(&self.columns, &self.command)),
                Format::Organisms => model::Format::Organisms,
            },
            line_length: self.line_length,
            html: self.html,
            hit_order: self.sort_hits.map(|order| match order {
                0 => HitOrder::Evalue,
                1 => HitOrder::BitScore,
                2 => HitOrder::TotalScore,
                3 => HitOrder::Identity,
                _ => HitOrder::Coverage,
            }),
            hsp_order: match self.sort_hsps {
                None | Some(0) => HspOrder::Evalue,
                Some(1) => HspOrder::Score,
                Some(2) => HspOrder::QueryStart,
                Some(3) => HspOrder::Identity,
                Some(_) => HspOrder::SubjectStart,
            },
            show_gis: self.show_gis,
            num_descriptions: self.num_descriptions,
            num_alignments: self.num_alignments,
            parse_deflines,
        }
    }
}
