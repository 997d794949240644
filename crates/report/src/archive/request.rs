//! The description of a search in an archive (`Blast4-queue-search-request`, blast.asn;
//! `CExportStrategy`, search_strategy.cpp).

use fleetblast_db::SequenceKind;
use fleetblast_seq::frame::Frame;
use fleetblast_seq::id::{ObjectId, SeqId};

use super::masks;
use super::sequences::StoredSequence;
use crate::archive_options::{
    ArchiveOption, ArchiveRequest, ArchivedPssms, COMPOSITION, ITERATION, OptionValue, SEARCH_SPACE,
};
use crate::asn::AsnValue;
use crate::asn::seq_id;
use crate::error::ReportError;
use crate::model::{FastaSubject, QueryResult, ReportSetup, SubjectSource};
use crate::names;
use crate::scoremat::{PssmDescription, checkpoint_value};

/// Makes the ASN.1 value of an option.
pub fn option_value(option: &ArchiveOption) -> AsnValue {
    let integers =
        |all: &[i64]| AsnValue::List(all.iter().map(|&n| AsnValue::Integer(n)).collect());
    let value = match &option.value {
        OptionValue::Boolean(value) => AsnValue::choice("boolean", AsnValue::Boolean(*value)),
        OptionValue::Integer(value) => AsnValue::choice("integer", AsnValue::Integer(*value)),
        OptionValue::BigInteger(value) => {
            AsnValue::choice("big-integer", AsnValue::Integer(*value))
        }
        OptionValue::Integers(all) => AsnValue::choice("integer-list", integers(all)),
        OptionValue::BigIntegers(all) => AsnValue::choice("big-integer-list", integers(all)),
        OptionValue::Real(value) => AsnValue::choice("real", AsnValue::Real(*value)),
        OptionValue::Evalue(value) => {
            let evalue = AsnValue::choice("e-value", AsnValue::Real(*value));
            AsnValue::choice("cutoff", evalue)
        }
        OptionValue::Text(text) => AsnValue::choice("string", AsnValue::text(text)),
    };
    parameter(&option.name, value)
}

fn parameter(name: &str, value: AsnValue) -> AsnValue {
    AsnValue::Fields(vec![("name", AsnValue::text(name)), ("value", value)])
}

/// The values of a request that differ between an archive and a search strategy.
pub struct RequestContext {
    /// The release of BLAST+ that the archive names; `None` in a search strategy, which names none.
    pub ident: Option<String>,
    /// The effective search space to write among the options; `None` if BLAST+ has searched no
    /// batch yet.
    pub search_space: Option<i64>,
    /// The number of the iteration; in a strategy, the number of all iterations.
    pub iteration: Option<i64>,
}

impl RequestContext {
    /// Returns the context of an archive of a batch.
    pub fn of_archive(
        setup: &ReportSetup,
        request: &ArchiveRequest,
        batch: &[QueryResult],
    ) -> Self {
        let is_searched = batch[0].batch_searched;
        let space = batch[0].query.first().search_space;
        let space = if is_searched && !request.searches_nothing { space } else { 0 };
        let is_known = is_searched || batch[0].read.follows_searched_batch;
        RequestContext {
            ident: Some(format!("{}+", setup.params.common().release.version)),
            search_space: is_known.then_some(space),
            iteration: batch[0].repeated_search.map(|search| search.number as i64),
        }
    }
}

/// Makes the request for a batch of queries, which is not empty.
///
/// # Errors
/// FASTA subjects that cannot be read.
pub fn request(
    setup: &ReportSetup,
    (request, context): (&ArchiveRequest, &RequestContext),
    source: &dyn SubjectSource,
    batch: &[QueryResult],
) -> Result<AsnValue, ReportError> {
    let subject = match setup.database.is_subject {
        true => AsnValue::choice(
            "sequences",
            subjects(source, setup.database.kind == SequenceKind::Protein)?,
        ),
        false => AsnValue::choice("database", AsnValue::text(&setup.database.label)),
    };
    let parts = RequestParts {
        ident: context.ident.as_deref(),
        program: &request.program,
        service: &request.service,
        queries: queries(request, batch),
        subject,
        algorithm_options: algorithm_options((request, context), batch),
        program_options: program_options(setup, (request, context), batch),
        iteration: context.iteration,
    };
    Ok(parts.into_value())
}

/// The parts of a request.
pub struct RequestParts<'a> {
    /// The release, which only archives have.
    pub ident: Option<&'a str>,
    /// The program, such as `blastp`.
    pub program: &'a str,
    /// The kind of search, such as `megablast`.
    pub service: &'a str,
    /// The queries.
    pub queries: AsnValue,
    /// The subjects.
    pub subject: AsnValue,
    /// The options of the search.
    pub algorithm_options: AsnValue,
    /// Restrictions of queries and subjects.
    pub program_options: Vec<AsnValue>,
    /// The number of the iteration of psiblast.
    pub iteration: Option<i64>,
}

impl RequestParts<'_> {
    /// Makes the ASN.1 value of the request.
    pub fn into_value(self) -> AsnValue {
        let mut search = vec![
            ("program", AsnValue::text(self.program)),
            ("service", AsnValue::text(self.service)),
            ("queries", self.queries),
            ("subject", self.subject),
            ("algorithm-options", self.algorithm_options),
        ];
        if !self.program_options.is_empty() {
            search.push(("program-options", AsnValue::List(self.program_options)));
        }
        if let Some(iteration) = self.iteration {
            let number = ArchiveOption::new(ITERATION, OptionValue::Integer(iteration));
            search.push(("format-options", AsnValue::List(vec![option_value(&number)])));
        }
        let ident = self.ident.map(|ident| ("ident", AsnValue::text(ident)));
        let body = ("body", AsnValue::choice("queue-search", AsnValue::Fields(search)));
        AsnValue::Fields(ident.into_iter().chain([body]).collect())
    }
}

/// Makes the ASN.1 value of a set of queries.
pub fn query_set(queries: impl Iterator<Item = AsnValue>) -> AsnValue {
    let entries = queries.map(|query| AsnValue::choice("seq", query)).collect();
    let set = AsnValue::Fields(vec![("seq-set", AsnValue::List(entries))]);
    AsnValue::choice("bioseq-set", set)
}

/// Makes the queries of a request: the PSSM with which the query was searched, or else the
/// sequences. BLAST+ stores only locations if all queries have identifiers of public databases.
fn queries(request: &ArchiveRequest, batch: &[QueryResult]) -> AsnValue {
    if let (Some(pssm), Some(pssms)) = (&batch[0].query.pssm, &request.pssms) {
        let description = pssm_description(pssms, &batch[0]);
        return AsnValue::choice("pssm", checkpoint_value(&description, pssm));
    }
    if batch.iter().all(|query| is_public(&names::sequence_id(query))) {
        let locations = batch.iter().map(|query| location(request, query)).collect();
        return AsnValue::choice("seq-loc-list", AsnValue::List(locations));
    }
    let sequence = |query: &QueryResult| {
        let generated = [names::sequence_id(query)];
        let sequence = StoredSequence {
            ids: if query.ids.is_empty() { &generated } else { query.ids },
            defline: query.read.defline,
            title: query.title,
            letters: query.residues,
            is_protein: query.query.first().frame == Frame::Protein,
        };
        sequence.value()
    };
    query_set(batch.iter().map(sequence))
}

/// Describes the PSSM with which the query was searched.
fn pssm_description(pssms: &ArchivedPssms, query: &QueryResult) -> PssmDescription {
    let number = query.repeated_search.map_or(1, |search| search.number);
    let id = match (&pssms.initial, names::sequence_id(query)) {
        (Some(initial), _) if number == 1 => return initial.clone(),
        (Some(initial), _) => initial.id.clone(),
        (None, SeqId::Local(id)) => id,
        (None, id) => ObjectId::Text(id.fasta()),
    };
    PssmDescription {
        id,
        title: Some(query.title.to_vec()),
        // BLAST+ has converted the residues from text to bytes by then.
        has_text_residues: false,
        has_intermediate_data: pssms.has_intermediate_data,
        matrix_name: pssms.matrix_name.clone(),
        gap_costs: Some(pssms.gap_costs),
        pseudocount: pssms.pseudocount,
    }
}

/// Databases of general identifiers that BLAST+ takes for public (`SAccGuide::x_InitGeneral`,
/// Seq_id.cpp).
const PUBLIC_GENERAL: [&[u8]; 5] = [b"SRA", b"TI", b"TR_ASSM_CH", b"TRACE_ASSM", b"TRACE_CHGR"];

/// Whether an identifier is of a public database.
pub fn is_public(id: &SeqId) -> bool {
    match id {
        SeqId::Local(_) => false,
        SeqId::General { db, .. } => {
            PUBLIC_GENERAL.iter().any(|public| db.eq_ignore_ascii_case(public))
        }
        _ => true,
    }
}

fn location(request: &ArchiveRequest, query: &QueryResult) -> AsnValue {
    let searched = query.extent().searched_range;
    let strand = match request.strand.as_str() {
        "both" => "both",
        "plus" => "plus",
        "minus" => "minus",
        _ => "unknown",
    };
    AsnValue::choice(
        "int",
        AsnValue::Fields(vec![
            ("from", AsnValue::integer(searched.start)),
            ("to", AsnValue::integer(i64::from(searched.end) - 1)),
            ("strand", AsnValue::Word(strand)),
            ("id", seq_id::value(&names::sequence_id(query))),
        ]),
    )
}

/// Makes the sequences of the FASTA subjects.
fn subjects(source: &dyn SubjectSource, is_protein: bool) -> Result<AsnValue, ReportError> {
    let subjects =
        source.fasta_subjects().map_err(|cause| ReportError::Deflines { oid: 0, cause })?;
    let value = |subject: &FastaSubject| {
        let FastaSubject { ids, defline, title, letters, .. } = subject;
        StoredSequence { ids, defline, title, letters, is_protein }.value()
    };
    Ok(AsnValue::List(subjects.iter().map(value).collect()))
}

/// Makes the options of the search, with the effective search space.
fn algorithm_options(
    (request, context): (&ArchiveRequest, &RequestContext),
    batch: &[QueryResult],
) -> AsnValue {
    let space = |space| ArchiveOption::new(SEARCH_SPACE, OptionValue::BigInteger(space));
    let space = context.search_space.map(space);
    let pssms = request.pssms.as_ref().filter(|_| batch[0].query.pssm.is_some());
    // A strategy is written before the options change.
    let pssms = pssms.filter(|_| context.ident.is_some());
    let composition = pssms.and_then(|pssms| pssms.composition);
    let mut is_given = false;
    let mut options = Vec::with_capacity(request.algorithm_options.len() + 1);
    for option in &request.algorithm_options {
        is_given |= option.name == SEARCH_SPACE;
        // A search replaces a space of 0, but leaves it in its place.
        let is_replaced = option.name == SEARCH_SPACE && option.value == OptionValue::BigInteger(0);
        let composition = composition.filter(|_| option.name == COMPOSITION);
        options.push(match composition {
            Some(mode) => {
                option_value(&ArchiveOption::new(COMPOSITION, OptionValue::Integer(mode)))
            }
            None => option_value(space.as_ref().filter(|_| is_replaced).unwrap_or(option)),
        });
    }
    options.extend(space.filter(|_| !is_given).as_ref().map(option_value));
    AsnValue::List(options)
}

/// Makes the restrictions of the subjects, the searched range of the queries, and their masks that
/// BLAST+ knows before the search.
fn program_options(
    setup: &ReportSetup,
    (request, context): (&ArchiveRequest, &RequestContext),
    batch: &[QueryResult],
) -> Vec<AsnValue> {
    let mut options = Vec::new();
    if let Some(first) = batch.first() {
        let extent = first.extent();
        let searched = extent.searched_range;
        if searched.len() != extent.length as usize {
            let ends = [("RequiredStart", searched.start), ("RequiredEnd", searched.end - 1)];
            options.extend(ends.map(|(name, end)| {
                option_value(&ArchiveOption::new(name, OptionValue::Integer(end.into())))
            }));
        }
    }
    for query in batch {
        let known = masks::known_before_search(setup, request, query, context.ident.is_some());
        options.extend(
            known
                .into_iter()
                .map(|mask| parameter("LCaseMask", AsnValue::choice("query-mask", mask))),
        );
    }
    options.extend(request.subject_options.iter().map(option_value));
    options
}
