//! Formats BLAST JSON and BLAST XML2 (formats 13 to 16; blastxml2_format.cpp).
//!
//! Both show the same objects (`BlastOutput2`, blastxml2.asn). A database search has an object for
//! each query. psiblast adds each iteration of a query to the query's object, and a search of FASTA
//! subjects has a list of searches in it. Such an object ends when the next query begins, or the
//! report ends.
//!
//! In formats 13 and 14 each object is a document, and the report is the documents one after the
//! other, until it is divided into [files](crate::report_files).

mod hits;
mod writer;

use fleetblast_stats::release::XmlEncoding;

use crate::error::ReportError;
use crate::model::{Notation, Output2, QueryResult, ReportSetup, Results};
use crate::names;
use crate::number;
use crate::program;

pub use self::hits::subject_block;
use self::writer::Writer;

impl Output2 {
    /// Returns the nesting depth of a query's searches, which are a member or the items of a list.
    fn depth_of_searches(&self) -> usize {
        // Of the members of the query's object; those of its report, and of the results.
        let depth = self.notation.depth_of_root() + 2 * self.notation.levels_of_object();
        match self.results {
            Results::Search => depth,
            Results::Subjects(_) | Results::Iterations => depth + 1,
        }
    }

    /// Returns the nesting depth of the items of the list of hits.
    fn depth_of_hits(&self) -> usize {
        let object = self.notation.levels_of_object();
        // The list takes a level, as an item of a list does.
        self.depth_of_searches()
            + match self.results {
                Results::Search => object + 1,
                Results::Subjects(_) => 1 + 1,
                Results::Iterations => 1 + object + 1,
            }
    }

    /// Whether the object of a query may get further searches.
    fn stays_open(&self) -> bool {
        self.results != Results::Search
    }

    /// Ends the object of a query.
    fn end_object(&self, writer: &mut Writer) {
        match self.results {
            Results::Search => {}
            Results::Subjects(_) => writer.close_list("bl2seq"),
            Results::Iterations => writer.close_list("iterations"),
        }
        writer.close("results", "Results");
        writer.close("report", "Report");
        writer.end(self.has_own_documents);
    }
}

/// Appends the text before the first query.
pub fn prologue(setup: &ReportSetup, format: &Output2, out: &mut Vec<u8>) {
    match format.notation {
        _ if format.has_own_documents => {}
        Notation::Json => out.extend_from_slice(b"{\n\"BlastOutput2\": [\n"),
        Notation::Xml => begin_xml_document(setup, "BlastXML2", out),
    }
}

/// Appends the start of an XML document with this root element.
fn begin_xml_document(setup: &ReportSetup, root: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(setup.xml_encoding().declaration().as_bytes());
    out.extend_from_slice(b"\n<");
    out.extend_from_slice(root.as_bytes());
    out.extend_from_slice(
        b"\n    xmlns=\"http://www.ncbi.nlm.nih.gov\"\n    \
          xmlns:xs=\"http://www.w3.org/2001/XMLSchema-instance\"\n    \
          xs:schemaLocation=\"http://www.ncbi.nlm.nih.gov \
          http://www.ncbi.nlm.nih.gov/data_specs/schema_alt/NCBI_BlastOutput2.xsd\"\n>",
    );
}

/// Appends the text after the last of `queries` queries.
pub fn epilogue(format: &Output2, queries: usize, out: &mut Vec<u8>) {
    if format.stays_open() && queries > 0 {
        end_open_object(format, out);
    }
    match format.notation {
        _ if format.has_own_documents => {}
        Notation::Json => out.extend_from_slice(b"]\n}\n"),
        Notation::Xml => out.extend_from_slice(b"</BlastXML2>\n"),
    }
}

/// Creates a writer that continues within an object or a list of this format; see
/// [`Writer::within`].
fn writer_within<'o>(
    (setup, format): (&ReportSetup, &Output2),
    depth: usize,
    has_previous: bool,
    out: &'o mut Vec<u8>,
) -> Writer<'o> {
    Writer::within((format.notation, setup.xml_encoding()), depth, has_previous, out)
}

/// Appends the end of a query's object after its last search has ended. This text has no characters
/// that depend on the encoding.
fn end_open_object(format: &Output2, out: &mut Vec<u8>) {
    let style = (format.notation, XmlEncoding::Latin1);
    format.end_object(&mut Writer::within(style, format.depth_of_searches(), true, out));
}

/// Appends the text before a query's subjects. If the object of the previous query is still open,
/// its end comes first.
///
/// # Errors
/// [`ReportError::XmlText`] if the query's title cannot be written,
/// [`ReportError::MatrixName`] if the matrix is not spelled as BLAST+ requires.
pub fn query_header(
    setup: &ReportSetup,
    format: &Output2,
    query: &QueryResult,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    let iteration = query.repeated_search.map_or(1, |round| round.number);
    let is_first = iteration == 1 && query.occurrence().is_none_or(|it| it.number == 0);
    let mut writer = if !is_first && format.stays_open() {
        writer_within((setup, format), format.depth_of_searches(), true, out)
    } else {
        if query.number > 1 || !is_first {
            if format.stays_open() {
                end_open_object(format, out);
            }
            if format.notation == Notation::Json && !format.has_own_documents {
                out.extend_from_slice(b",\n");
            }
        }
        begin_object(setup, format, out)?
    };
    match format.results {
        Results::Search => writer.open("search", "Search"),
        Results::Subjects(_) => writer.open_item("Search"),
        Results::Iterations => {
            writer.open_item("Iteration");
            writer.value("iter-num", iteration);
            writer.open("search", "Search");
        }
    }
    if format.lacks_sequences {
        writer.text("query-id", &names::sequence_id(query).fasta())?;
    } else {
        writer.text("query-id", &names::xml_query_id(setup, query))?;
        let title = names::query_title(setup, query);
        if !title.is_empty() {
            writer.text("query-title", &title)?;
        }
    }
    writer.value("query-len", query.searched_length());
    write_masks(query, &mut writer);
    // Results of a batch that cannot be searched have no list (`s_SetBlastXMLSearch`).
    if query.batch_searched {
        writer.open_list("hits");
    }
    Ok(())
}

/// Begins the object of a query, up to its first search.
fn begin_object<'o>(
    setup: &ReportSetup,
    format: &Output2,
    out: &'o mut Vec<u8>,
) -> Result<Writer<'o>, ReportError> {
    match (format.notation, format.has_own_documents) {
        (Notation::Json, false) => out.extend_from_slice(b"{"),
        (Notation::Json, true) => out.extend_from_slice(b"{\n  \"BlastOutput2\": {"),
        (Notation::Xml, false) => out.extend_from_slice(b"\n<BlastOutput2>"),
        (Notation::Xml, true) => begin_xml_document(setup, "BlastOutput2", out),
    }
    let mut writer = writer_within((setup, format), format.notation.depth_of_root(), false, out);
    writer.open("report", "Report");
    writer.text("program", setup.program.name().as_bytes())?;
    writer.text("version", setup.banner().as_bytes())?;
    writer.text("reference", setup.citations.of_xml().citation().as_bytes())?;
    writer.open("search-target", "Target");
    match &format.results {
        Results::Subjects(names) => writer.texts("subjects", names)?,
        _ => writer.text("db", &database_names(&setup.database.label))?,
    }
    writer.close("search-target", "Target");
    writer.open("params", "Parameters");
    write_parameters(setup, format, &mut writer)?;
    writer.close("params", "Parameters");
    writer.open("results", "Results");
    match format.results {
        Results::Search => {}
        Results::Subjects(_) => writer.open_list("bl2seq"),
        Results::Iterations => writer.open_list("iterations"),
    }
    Ok(writer)
}

/// Returns the names of the databases with a blank between two, whatever the user typed
/// (`x_InitDB`, data4xml2format.cpp). Names in quotes may have blanks and stay as they are.
fn database_names(typed: &[u8]) -> Vec<u8> {
    if typed.contains(&b'"') {
        return typed.to_vec();
    }
    let names = typed.split(u8::is_ascii_whitespace).filter(|name| !name.is_empty());
    names.collect::<Vec<_>>().join(&b' ')
}

/// Writes the parameters of the search.
fn write_parameters(
    setup: &ReportSetup,
    format: &Output2,
    writer: &mut Writer,
) -> Result<(), ReportError> {
    for (name, value) in program::xml_parameters(setup)? {
        let is_gap_cost = name.starts_with("gap");
        match name {
            "matrix" | "filter" | "pattern" => writer.text(name, value.as_bytes())?,
            _ if is_gap_cost && setup.params.common().ungapped => {}
            _ => writer.value(name, value),
        }
    }
    for (name, number) in program::output2_codes(setup.params, format.starts_with_pssm) {
        writer.value(name, number);
    }
    Ok(())
}

/// Writes the masks of the query, except those of minus strands, as BLAST+ does.
fn write_masks(query: &QueryResult, writer: &mut Writer) {
    let masks = query.result_masks();
    if masks.is_empty() {
        return;
    }
    writer.open_list("query-masking");
    for (_, mask) in masks.into_iter().filter(|(frame, _)| frame.number() >= 0) {
        writer.open_item("Range");
        // BLAST+ does not count from 1 here.
        writer.value("from", mask.start);
        writer.value("to", mask.end - 1);
        writer.close_item("Range");
    }
    writer.close_list("query-masking");
}

/// Appends the text after a query's subjects.
///
/// # Errors
/// [`ReportError::XmlText`] if the messages cannot be written.
pub fn query_footer(
    setup: &ReportSetup,
    format: &Output2,
    query: &QueryResult,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    let mut message = query.xml_message();
    let depth = format.depth_of_hits();
    let mut writer = if query.batch_searched {
        let mut list = writer_within((setup, format), depth, query.hit_count > 0, out);
        list.close_list("hits");
        list
    } else {
        message.extend_from_slice(b" \nNo hits found");
        writer_within((setup, format), depth - 1, true, out)
    };
    write_statistics(setup, format, query, &mut writer);
    if !message.is_empty() {
        writer.text("message", &message)?;
    }
    match format.results {
        Results::Search => {
            writer.close("search", "Search");
            format.end_object(&mut writer);
        }
        Results::Subjects(_) => writer.close_item("Search"),
        Results::Iterations => {
            writer.close("search", "Search");
            writer.close_item("Iteration");
        }
    }
    Ok(())
}

fn write_statistics(
    setup: &ReportSetup,
    format: &Output2,
    query: &QueryResult,
    writer: &mut Writer,
) {
    writer.open("stat", "Statistics");
    if !matches!(format.results, Results::Subjects(_)) {
        let databases = || setup.database.paragraphs.iter();
        writer.value("db-num", databases().map(|d| d.sequences).sum::<i64>());
        writer.value("db-len", databases().map(|d| d.residues).sum::<i64>());
    }
    let context = query.statistics();
    writer.value("hsp-len", context.length_adjustment);
    writer.value("eff-space", context.search_space);
    let [k, lambda, h] = program::xml_statistics(setup.params, query);
    writer.value("kappa", number::posix(k));
    writer.value("lambda", number::posix(lambda));
    writer.value("entropy", number::posix(h));
    writer.close("stat", "Statistics");
}
