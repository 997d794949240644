//! Names of queries.

use fleetblast_seq::frame::Frame;
use fleetblast_seq::id::{self, SeqId};

use super::{defined, local};
use crate::model::{QueryResult, ReportSetup};
use crate::text::first_word;
use crate::title::{self, TitleFacts};

/// Returns the identifier of a query without a parsed one: `Query_N`, or the name that a file gives
/// it.
fn generated_id(query: &QueryResult) -> SeqId {
    let counted = || format!("Query_{}", query.unnamed).into_bytes();
    local(query.name_from_file.map_or_else(counted, <[u8]>::to_vec))
}

/// Returns the identifier by which BLAST+ names the query in alignments.
pub fn sequence_id(query: &QueryResult) -> SeqId {
    id::choose_best_id(query.ids).cloned().unwrap_or_else(|| generated_id(query))
}

/// Returns the query's identifiers in the tabular formats. Without `parse_deflines`, the first word
/// of the title replaces local identifiers. Other identifiers stay, which only a query from an
/// archive can then have (`CBlastTabularInfo::SetQueryId`, tabular.cpp).
pub fn tabular_query_ids(query: &QueryResult, parse_deflines: bool) -> Vec<SeqId> {
    let ids = match query.ids {
        [] => vec![generated_id(query)],
        ids => ids.to_vec(),
    };
    let word = first_word(query.title);
    if parse_deflines || word.is_empty() {
        return ids;
    }
    let shown = |id: SeqId| if matches!(id, SeqId::Local(_)) { local(word.to_vec()) } else { id };
    ids.into_iter().map(shown).collect()
}

/// Returns the query's name for `Query=` and `# Query:`: its title, after its identifier if
/// `-parse_deflines` is set or the identifier is not local, which is possible in an archive
/// (`CAlignFormatUtil::GetSeqIdString`, align_format_util.cpp).
pub fn query_display_name(setup: &ReportSetup, query: &QueryResult) -> Vec<u8> {
    let mut line = Vec::new();
    let chosen = id::choose_text_id(query.ids, setup.params.common().release.text_ranking);
    let is_public = chosen.is_some_and(|id| !matches!(id, SeqId::Local(_)));
    if setup.output.parse_deflines || is_public {
        line.extend(xml_query_id(setup, query));
        line.push(b' ');
    }
    line.extend_from_slice(query.title);
    line.trim_ascii().to_vec()
}

/// Returns the query's identifier in XML. If there are several, it is the one whose accession the
/// tabular formats print.
pub fn xml_query_id(setup: &ReportSetup, query: &QueryResult) -> Vec<u8> {
    id::choose_text_id(query.ids, setup.params.common().release.text_ranking)
        .map_or_else(|| generated_id(query).format_for_report(), SeqId::format_for_report)
}

/// Returns the query's name in SAM.
pub fn sam_query_name(setup: &ReportSetup, query: &QueryResult) -> Vec<u8> {
    let chosen = id::choose_sam_id(query.ids, setup.params.common().release.text_ranking);
    chosen.map_or_else(|| generated_id(query).accession_version(), SeqId::accession_version)
}

/// Returns the query's definition in XML.
pub fn xml_query_definition(setup: &ReportSetup, query: &QueryResult) -> Vec<u8> {
    defined(query_title(setup, query))
}

/// Returns the query's title: the one read, tidied, or a generated one. It may be empty.
pub fn query_title(setup: &ReportSetup, query: &QueryResult) -> Vec<u8> {
    let is_protein = query.query.first().frame == Frame::Protein;
    let (title, ids) = (query.title, query.ids);
    let facts = TitleFacts {
        title,
        ids,
        is_protein,
        fallback_title: title::UNNAMED_PROTEIN_TITLE,
        organism: None,
        release: setup.params.common().release,
        is_in_table: false,
    };
    facts.generate()
}
