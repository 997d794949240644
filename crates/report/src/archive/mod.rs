//! BLAST archives (format 11): a batch of queries, the options of its search, and the alignments
//! (`Blast4-archive`, blast.asn; build_archive.cpp).
//!
//! A report is a sequence of archives, one for each batch of queries of BLAST+. An archive begins
//! with its batch ([`batch_header`]) and has the alignments of its queries in their order. The rest
//! follows after the last query ([`batch_footer`]).

mod masks;
mod repeat;
mod request;
mod sequences;

use fleetblast_engine::hits::SubjectHit;

pub use self::repeat::{RepeatedSettings, repeat_archive};
use self::request::RequestContext;
use crate::archive_options::ArchiveRequest;
use crate::asn::{AsnValue, print_asn_text, print_item};
use crate::error::ReportError;
use crate::model::{QueryResult, ReportSetup, SubjectSource};
use crate::program;
use crate::seq_align::subject_alignments;

/// Nesting depth of the members of an archive.
const PARTS: usize = 1;
/// Nesting depth of the members of an archive's results.
const RESULTS: usize = 2;
/// Nesting depth of the alignments in an archive's results.
const ALIGNMENTS: usize = 3;
/// Severity of a warning (`EDiagSev`, ncbidiag.hpp).
const WARNING: i64 = 1;

/// Appends the start of the archive of a batch of queries, which is not empty.
///
/// # Errors
/// FASTA subjects that cannot be read.
pub fn batch_header(
    setup: &ReportSetup,
    archive: &ArchiveRequest,
    source: &dyn SubjectSource,
    batch: &[QueryResult],
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    out.extend_from_slice(b"Blast4-archive ::= {");
    let context = RequestContext::of_archive(setup, archive, batch);
    let request = request::request(setup, (archive, &context), source, batch)?;
    print_item(Some("request"), &request, PARTS, out);
    out.extend_from_slice(b",\n  results {\n    alignments {");
    Ok(())
}

/// Returns the search strategy of a batch of queries (`-export_search_strategy`), which is the
/// request of an archive. `search_space` is the effective search space of the previous batch,
/// `iteration` the number of iterations of psiblast.
///
/// # Errors
/// FASTA subjects that cannot be read.
pub fn write_strategy(
    setup: &ReportSetup,
    request: &ArchiveRequest,
    source: &dyn SubjectSource,
    batch: &[QueryResult],
    (search_space, iteration): (Option<i64>, Option<i64>),
) -> Result<Vec<u8>, ReportError> {
    let context = RequestContext { ident: None, search_space, iteration };
    let value = request::request(setup, (request, &context), source, batch)?;
    let mut out = Vec::new();
    print_asn_text("Blast4-request", &value, &mut out);
    Ok(out)
}

/// Appends a comma before the query's alignments if an earlier query of the batch has alignments.
pub fn query_header(query: &QueryResult, out: &mut Vec<u8>) {
    if query.follows_hits && query.hit_count > 0 {
        out.push(b',');
    }
}

/// Appends the alignments of a subject. `rank` is its place among the subjects of the query, from
/// 1.
///
/// # Errors
/// If the subject cannot be read or does not fit its alignments.
pub fn subject_block(
    setup: &ReportSetup,
    query: &QueryResult,
    source: &dyn SubjectSource,
    hit: &SubjectHit,
    rank: usize,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    let alignments = subject_alignments(setup, query, source, hit)?;
    for (number, alignment) in alignments.iter().enumerate() {
        if rank > 1 || number > 0 {
            out.push(b',');
        }
        print_item(None, alignment, ALIGNMENTS, out);
    }
    Ok(())
}

/// Appends the end of the archive of a batch of queries, which is not empty.
pub fn batch_footer(
    setup: &ReportSetup,
    archive: &ArchiveRequest,
    batch: &[QueryResult],
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b"\n    },");
    let masks = batch.iter().flat_map(|query| masks::search_masks(setup, query)).collect();
    print_item(Some("masks"), &AsnValue::List(masks), RESULTS, out);
    for (name, value) in statistics(setup, batch) {
        out.push(b',');
        print_item(Some(name), &value, RESULTS, out);
    }
    out.extend_from_slice(b"\n  }");
    let messages = messages(archive, batch);
    if !messages.is_empty() {
        out.push(b',');
        print_item(Some("messages"), &AsnValue::List(messages), PARTS, out);
    }
    out.extend_from_slice(b"\n}\n");
}

/// Makes the statistics of the first query of a batch.
fn statistics(setup: &ReportSetup, batch: &[QueryResult]) -> [(&'static str, AsnValue); 2] {
    let context = batch[0].statistics();
    let of_pssm = batch[0].query.pssm.as_ref().map(|pssm| pssm.ungapped);
    let ungapped = of_pssm.or(context.karlin);
    let with_gaps = ungapped.filter(|_| !setup.params.common().ungapped);
    let gapped = with_gaps.map(|it| program::gapped_parameters(setup.params, &batch[0], &it));
    // BLAST+ stores -1 for parameters that are not known.
    let parameters = [ungapped, gapped]
        .map(|parameters| parameters.map_or([-1.0; 3], |it| [it.lambda, it.k, it.h]));
    statistics_values(parameters, context.search_space, context.length_adjustment.into())
}

/// Makes statistics: λ, K and H of ungapped and of gapped alignments, the effective search space
/// and the length adjustment.
fn statistics_values(
    [ungapped, gapped]: [[f64; 3]; 2],
    space: i64,
    adjustment: i64,
) -> [(&'static str, AsnValue); 2] {
    let blocks = [(ungapped, false), (gapped, true)];
    let blocks = blocks.map(|(parameters, is_gapped)| karlin_block(parameters, is_gapped));
    let lines = [
        format!("Effective search space: {space}"),
        format!("Effective search space used: {space}"),
        format!("Length adjustment: {adjustment}"),
    ];
    [
        ("ka-blocks", AsnValue::List(blocks.into())),
        ("search-stats", AsnValue::List(lines.iter().map(AsnValue::text).collect())),
    ]
}

/// Makes the ASN.1 value of Karlin-Altschul parameters.
fn karlin_block([lambda, k, h]: [f64; 3], is_gapped: bool) -> AsnValue {
    AsnValue::Fields(vec![
        ("lambda", AsnValue::Real(lambda)),
        ("k", AsnValue::Real(k)),
        ("h", AsnValue::Real(h)),
        ("gapped", AsnValue::Boolean(is_gapped)),
    ])
}

/// Replaces each run of blanks and unprintable bytes by one blank, and removes such runs at the
/// start and the end of the text (`NStr::Sanitize`, ncbistr.cpp).
fn sanitize(text: &str) -> Vec<u8> {
    let words = text.as_bytes().split(|byte| !byte.is_ascii_graphic());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(&b' ')
}

/// Makes the list of warnings that BLAST+ printed after the previous archive.
fn messages(archive: &ArchiveRequest, batch: &[QueryResult]) -> Vec<AsnValue> {
    let is_first_search = batch[0].repeated_search.is_none_or(|search| search.number == 1);
    let is_first = is_first_search && batch[0].number == 1;
    let of_options = archive.warnings.iter().filter(|_| is_first).cloned();
    let queries = batch.iter().filter(|_| is_first_search);
    let of_queries = queries.flat_map(|query| query.read.warnings).cloned();
    let message = |text: String| {
        AsnValue::Fields(vec![
            ("code", AsnValue::Integer(WARNING)),
            ("message", AsnValue::text(sanitize(&text))),
        ])
    };
    of_options.chain(of_queries).map(message).collect()
}
