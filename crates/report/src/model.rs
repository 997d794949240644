//! The input of a report. The caller fills these structures; nothing here reads files.

mod formats;
mod queries;
mod subjects;

use fleetblast_engine::params::Params;
use fleetblast_stats::program::ReportedProgram;
use fleetblast_stats::release::XmlEncoding;

pub use self::formats::{
    AnchoredFormat, AsnEncoding, Format, HitOrder, HspOrder, Notation, Output2, OutputOptions,
    Results, SamOptions,
};
pub use self::queries::{ArchivedQuery, Occurrence, QueryResult, ReadQuery, RepeatedSearch};
pub use self::subjects::{
    DatabaseParagraph, DatabaseSummary, FastaSubject, IdentityLetters, SubjectSource,
};
use crate::papers::Citations;

/// The inputs of a report that are the same for all queries of a job.
#[derive(Clone, Debug)]
pub struct ReportSetup<'a> {
    /// The program that the report names.
    pub program: ReportedProgram,
    /// The papers that the program cites.
    pub citations: Citations,
    /// The searched databases.
    pub database: DatabaseSummary,
    /// The parameters of the search.
    pub params: &'a Params,
    /// The matrix as the user spelled it; empty for nucleotides.
    pub matrix_name: &'a str,
    /// Length in residues of `-query_loc` as typed. A query can end before the last position of
    /// this range.
    pub query_range_length: Option<usize>,
    /// The options of the report.
    pub output: OutputOptions,
}

impl ReportSetup<'_> {
    /// Returns the program and its version, with which reports begin: `BLASTP 2.12.0+`.
    pub(crate) fn banner(&self) -> String {
        self.params.common().release.banner(self.program.name())
    }

    /// Returns the character encoding of the XML report.
    pub(crate) fn xml_encoding(&self) -> XmlEncoding {
        self.params.common().release.xml_encoding
    }
}
