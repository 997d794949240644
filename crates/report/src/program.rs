//! All differences between reports of protein searches and of nucleotide searches. Only this module
//! and the alphabets ([`crate::letters`]) distinguish them.

use fleetblast_db::SequenceKind;
use fleetblast_engine::params::{CompositionMode, NucleotideParams, Params, ProteinParams};
use fleetblast_seq::dust::DustParams;
use fleetblast_seq::seg::SegParams;
use fleetblast_stats::karlin::KarlinParameters;
use fleetblast_stats::matrix::ScoreMatrix;
use fleetblast_stats::program::ReportedProgram;

use crate::columns::Columns;
use crate::error::ReportError;
use crate::links::NcbiLinks;
use crate::model::{IdentityLetters, QueryResult, ReportSetup};
use crate::number;
use crate::papers::Citations;

/// Returns the statistics in the footer of a query: ungapped and, unless the search was ungapped,
/// gapped ones. They are lambda, K and H. For proteins the parameters of the finite size correction
/// of e-values follow, if the search uses it.
///
/// Returns `None` if the query has no statistics.
pub fn statistics(params: &Params, query: &QueryResult) -> Option<(Vec<f64>, Option<Vec<f64>>)> {
    if let Some(archived) = query.read.archived {
        let [ungapped, gapped] = archived.parameters.map(|block| block.to_vec());
        return Some((ungapped, Some(gapped)));
    }
    query.statistics().karlin.map(|ungapped| known_statistics(params, query, &ungapped))
}

fn known_statistics(
    params: &Params,
    query: &QueryResult,
    ungapped: &KarlinParameters,
) -> (Vec<f64>, Option<Vec<f64>>) {
    let three = |block: &KarlinParameters| vec![block.lambda, block.k, block.h];
    let pssm = query.query.pssm.as_ref();
    let pattern = match params {
        Params::Protein(params) => params.pattern.as_ref().filter(|_| pssm.is_some()),
        Params::Nucleotide(_) => None,
    };
    // After a search with a pattern, and with translated subjects, BLAST+ does not use psiblast's
    // report. It then shows the statistics of the letters (`x_PrintOneQueryFooter`,
    // blast_format.cpp).
    let is_of_psiblast = pattern.is_none() && params.subject_translation().is_none();
    let without = three(pssm.filter(|_| is_of_psiblast).map_or(ungapped, |pssm| &pssm.ungapped));
    if params.common().ungapped {
        return (without, None);
    }
    match params {
        Params::Protein(ProteinParams { scoring, finite_size: true, .. }) => {
            let scoring = pattern.map_or(scoring, |search| &search.later_scoring);
            let (row, gapped) = (&scoring.ungapped_statistics, &scoring.gapped_statistics);
            let more = [gapped.alpha, gapped.alpha_v, gapped.sigma];
            let block = pssm.map_or(gapped.karlin_parameters(), |pssm| pssm.gapped);
            let with = [three(&block), more.to_vec()].concat();
            ([without, vec![row.alpha, row.alpha_v]].concat(), Some(with))
        }
        _ => (without, Some(three(&gapped_parameters(params, query, ungapped)))),
    }
}

/// Whether tabular rows with these columns print the number of identical letters that the search
/// counted. Otherwise the report counts them in the sequences as written. BLAST+ does not read
/// these if a search of bases needs only numbers (`SetNoFetch`, tabular.cpp).
pub fn rows_show_search_counts(params: &Params, columns: &Columns) -> bool {
    matches!(params, Params::Nucleotide(_)) && !columns.need_letters()
}

/// The quotient that the column `qcovhsp` shows: units of the alignment and of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HspCoverage {
    /// Bases or residues of the alignment, divided by bases or residues of the query.
    Whole,
    /// Letters of the alignment, divided by letters of the query as written. If the query is
    /// translated, the latter are bases.
    LettersOfBases,
    /// Codons of the alignment, divided by codons of a translated query.
    Codons,
}

/// Returns the quotient that `qcovhsp` shows. In an ungapped search, BLAST+ has no stored coverage
/// for a subject with a single alignment and computes it anew. In gapped searches the quotient
/// depends on the release.
pub fn hsp_coverage(params: &Params, alignments: usize) -> HspCoverage {
    let common = params.common();
    match gapped_coverage_counts_codons(params) {
        _ if common.ungapped && alignments == 1 => HspCoverage::Whole,
        true => HspCoverage::Codons,
        false => HspCoverage::LettersOfBases,
    }
}

/// Whether the coverage by an alignment of a gapped search counts codons, not bases, of a
/// translated query.
pub fn gapped_coverage_counts_codons(params: &Params) -> bool {
    let common = params.common();
    let is_gapped = !common.ungapped;
    is_gapped && params.translates_queries() && common.release.hsp_coverage_counts_codons
}

/// Returns a number by which the identity in the description table is divided in addition to the
/// number of columns. It is 3 if both sequences are translated, because BLAST+ then divides
/// identical codons by a length in bases (`GetPercentIdentity`, align_format_util.cpp); otherwise
/// 1.
pub fn bases_per_column(params: &Params) -> usize {
    let is_both = params.translates_queries() && params.subject_translation().is_some();
    if is_both { 3 } else { 1 }
}

/// Whether the description table shows the number of alignments in the linked set of an e-value.
pub fn shows_linked_set_sizes(params: &Params) -> bool {
    let links = match params {
        Params::Protein(params) => params.linking.is_some(),
        Params::Nucleotide(params) => params.sum_stats,
    };
    links && params.common().ungapped
}

/// Returns the scores of letters by which columns count as positive; `None` for nucleotides.
pub fn letter_scores(params: &Params) -> Option<&ScoreMatrix> {
    match params {
        Params::Protein(params) => Some(&params.scoring.scores),
        Params::Nucleotide(_) => None,
    }
}

/// Whether the search translates queries or subjects.
pub fn is_translated(params: &Params) -> bool {
    params.translates_queries() || params.subject_translation().is_some()
}

/// The masks of a query that BLAST+ knows before the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlyMasks {
    /// All masks of strands.
    OfStrands,
    /// Lower case, in the first frame of each strand.
    LowerCaseOfFrames,
    /// Lower case of a protein.
    LowerCase,
}

/// Returns which masks of a query BLAST+ knows before the search.
pub fn early_masks(params: &Params) -> EarlyMasks {
    match params {
        Params::Nucleotide(_) => EarlyMasks::OfStrands,
        Params::Protein(_) if params.translates_queries() => EarlyMasks::LowerCaseOfFrames,
        Params::Protein(_) => EarlyMasks::LowerCase,
    }
}

/// Returns the kind of sequences in which a report of this search counts identical letters.
pub fn identity_count(params: &Params) -> IdentityLetters {
    match params {
        Params::Protein(params) if params.common.ungapped => IdentityLetters::Unmasked,
        Params::Protein(params)
            if params.subject_translation.is_some()
                && params.composition != CompositionMode::Off =>
        {
            IdentityLetters::MaskedByReportCode
        }
        _ => IdentityLetters::Aligned,
    }
}

/// Returns the Karlin-Altschul parameters for the e-values of gapped alignments.
pub fn gapped_parameters(
    params: &Params,
    query: &QueryResult,
    ungapped: &KarlinParameters,
) -> KarlinParameters {
    if let Some(pssm) = &query.query.pssm {
        return pssm.gapped;
    }
    match params {
        Params::Protein(params) => params.scoring.gapped_statistics.karlin_parameters(),
        Params::Nucleotide(params) => params.scoring.gapped_parameters(ungapped).0,
    }
}

/// Appends the last lines of the pairwise report: matrix, gap costs, threshold of neighbouring
/// words, and window for multiple hits.
pub fn scoring_lines(setup: &ReportSetup, out: &mut Vec<u8>) {
    let (matrix, open, extend, window) = match setup.params {
        Params::Protein(params) => {
            let ProteinParams { scoring, .. } = params;
            let matrix = setup.matrix_name.to_string();
            (matrix, scoring.gap_open, f64::from(scoring.gap_extend), params.window)
        }
        Params::Nucleotide(params) => {
            let NucleotideParams { scoring, .. } = params;
            let matrix = format!("blastn matrix {} {}", scoring.reward, scoring.penalty);
            // BLAST+'s cost of each base of a gap if the user gives no gap costs.
            let linear = f64::from(scoring.reward - 2 * scoring.penalty) / 2.0;
            let extend = if scoring.is_linear() { linear } else { f64::from(scoring.gap_extend) };
            (matrix, scoring.gap_open, extend, params.window)
        }
    };
    let mut lines = format!("Matrix: {matrix}\n");
    if !setup.params.common().ungapped {
        let extend = number::general(extend, 6, false);
        lines += &format!("Gap Penalties: Existence: {open}, Extension: {extend}\n");
    }
    if let Params::Protein(ProteinParams { threshold, .. }) = setup.params
        && *threshold != 0.0
    {
        let threshold = number::general(*threshold, 6, false);
        lines += &format!("Neighboring words threshold: {threshold}\n");
    }
    if window != 0 {
        lines += &format!("Window for multiple hits: {window}\n");
    }
    out.extend_from_slice(lines.as_bytes());
}

/// Returns names and values of the XML elements with the search's parameters.
///
/// # Errors
/// [`ReportError::MatrixName`] if the matrix is not spelled as XML requires.
pub fn xml_parameters(setup: &ReportSetup) -> Result<Vec<(&'static str, String)>, ReportError> {
    let expect = ("expect", number::posix(setup.params.common().evalue));
    let mut elements = match setup.params {
        Params::Protein(ProteinParams { scoring, .. }) => {
            if setup.matrix_name != scoring.name {
                return Err(ReportError::MatrixName);
            }
            vec![
                ("matrix", scoring.name.to_string()),
                expect,
                ("gap-open", scoring.gap_open.to_string()),
                ("gap-extend", scoring.gap_extend.to_string()),
            ]
        }
        Params::Nucleotide(NucleotideParams { scoring, .. }) => {
            // BLAST+ leaves scores of 0 out (`s_SetBlastXMLParameters`).
            let scores = [("sc-match", scoring.reward), ("sc-mismatch", scoring.penalty)];
            let scores = scores.into_iter().filter(|&(_, score)| score != 0);
            let mut elements = vec![expect];
            elements.extend(scores.map(|(name, score)| (name, score.to_string())));
            elements.push(("gap-open", scoring.gap_open.to_string()));
            elements.push(("gap-extend", scoring.gap_extend.to_string()));
            elements
        }
    };
    elements.push(("filter", filter(setup.params)));
    elements.extend(setup.params.pattern().map(|it| ("pattern", it.text().to_owned())));
    Ok(elements)
}

/// Returns names and values of the numbers that only `BlastOutput2` has: the mode of
/// composition-based statistics, and the genetic codes of translated queries and subjects.
pub fn output2_codes(params: &Params, starts_with_pssm: bool) -> Vec<(&'static str, u8)> {
    let Params::Protein(params) = params else { return Vec::new() };
    // With a PSSM BLAST+ scales scores in all modes but 0.
    let most = if starts_with_pssm { CompositionMode::Scale } else { CompositionMode::Always };
    let mode = Some(params.composition.number().min(most.number())).filter(|&mode| mode != 0);
    let of_query = params.query_translation.as_ref().map(|it| it.code.number());
    let of_subject = params.subject_translation.as_ref().map(|it| it.report_code.number());
    let codes = [("cbs", mode), ("query-gencode", of_query), ("db-gencode", of_subject)];
    codes.into_iter().filter_map(|(name, code)| Some((name, code?))).collect()
}

/// Returns the statistics of a query in XML, K, lambda and H: those of gapped alignments, if the
/// search has gaps. They are -1 for a query without statistics.
pub fn xml_statistics(params: &Params, query: &QueryResult) -> [f64; 3] {
    if let Some(archived) = query.read.archived {
        let [_, [lambda, k, h]] = archived.parameters;
        // BLAST+ stores those of psiblast for another report.
        return if archived.is_of_psiblast { [-1.0; 3] } else { [k, lambda, h] };
    }
    let block = query.statistics().karlin.map(|ungapped| match params.common().ungapped {
        true => ungapped,
        false => gapped_parameters(params, query, &ungapped),
    });
    block.map_or([-1.0; 3], |block| [block.k, block.lambda, block.h])
}

/// Whether alignments in ASN.1 leave out a number of identical letters that is 0. BLAST+ does so in
/// gapped iterations of psiblast that search no pattern (`BLASTHspListToSeqAlign`,
/// blast_seqalign.cpp).
pub fn omits_zero_identities(setup: &ReportSetup, query: &QueryResult) -> bool {
    let params = setup.params;
    if params.subject_translation().is_some() || params.common().ungapped {
        return false;
    }
    let is_after_pattern = query.query.pssm.is_some() || setup.citations != Citations::Phiblast;
    match setup.program {
        ReportedProgram::Command(program) => program.properties().iterates && is_after_pattern,
        ReportedProgram::Psitblastn | ReportedProgram::Phiblastp => false,
    }
}

/// Returns the value of the XML element `filter`: the masking of the queries as one string, without
/// lower-case masking.
fn filter(params: &Params) -> String {
    let mut text = match params {
        Params::Protein(ProteinParams { seg: Some(seg), .. }) if *seg == SegParams::QUERY => {
            "L;".to_string()
        }
        Params::Protein(ProteinParams { seg: Some(seg), .. }) => {
            format!("S {} {:.1} {:.1};", seg.window, seg.locut, seg.hicut)
        }
        Params::Nucleotide(NucleotideParams { dust: Some(dust), .. }) => match dust {
            dust if *dust == DustParams::default() => "L;".to_string(),
            DustParams { level, window, linker } => format!("D {level} {window} {linker};"),
        },
        Params::Protein(_) | Params::Nucleotide(_) => String::new(),
    };
    if let Params::Nucleotide(NucleotideParams { window_masker: Some(masker), .. }) = params {
        text.push_str(&format!("{};", masker.name));
    }
    if let Params::Nucleotide(NucleotideParams { repeat_database: Some(database), .. }) = params {
        text.push_str(&format!("R -d {database};"));
    }
    if params.common().soft_masking {
        text.push_str("m;");
    }
    if text.is_empty() { "F".to_string() } else { text }
}

/// Whether XML shows the masks of the query. For nucleotides BLAST+ stores the masks under one
/// frame number and looks them up under another, so it finds none.
pub fn shows_masks_in_xml(params: &Params) -> bool {
    matches!(params, Params::Protein(_))
}

/// Whether the column `qcovus` has numbers instead of `N/A`.
pub fn has_unique_coverage(params: &Params) -> bool {
    matches!(params, Params::Nucleotide(_))
}

/// Returns the links to NCBI's pages for the subjects.
pub fn links(setup: &ReportSetup) -> NcbiLinks {
    match setup.database.kind == SequenceKind::Protein {
        true => NcbiLinks { address_molecule: "protein", log_molecule: "prot" },
        false => NcbiLinks { address_molecule: "nucleotide", log_molecule: "nucl" },
    }
}
