//! The parts of a plan that all search programs share.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use fleetblast_engine::params::{CommonParams, HspFilter, Params};
use fleetblast_job::error::Error;
use fleetblast_job::plan::{BatchSize, Citations, InitialPssm, IterationPlan};
use fleetblast_stats::program::ReportedProgram;

use crate::options::search::common::CommonOptions;
use crate::options::search::generic::{self, SearchOptions};
use crate::options::search::hsps::HspFilteringOptions;

/// Overhang and score edge of the best-hit filter if only the other one is given
/// (`hspfilter_besthit.h`).
const BEST_HIT: f64 = 0.1;

/// The part of a plan that depends on the search program.
pub struct SearchPlan {
    /// The parameters of the engine.
    pub params: Params,
    /// See [`fleetblast_job::plan::Plan::delayed_option_error`].
    pub delayed_option_error: Option<String>,
    /// Name of the matrix; empty without one.
    pub matrix_name: String,
    /// See [`fleetblast_job::plan::Plan::identity_resets_composition`].
    pub identity_resets_composition: bool,
    /// See [`fleetblast_job::plan::Plan::initial_pssm`].
    pub initial_pssm: Option<InitialPssm>,
    /// See [`fleetblast_job::plan::Plan::iteration`].
    pub iteration: Option<IterationPlan>,
    /// Whether BLAST+ reads the options again for each query, and repeats their warnings.
    pub reads_again: bool,
    /// Papers that the reports cite.
    pub citations: Citations,
    /// The program that reports name; `None` for the one that searches.
    pub reported_program: Option<ReportedProgram>,
    /// Number of query letters in a batch.
    pub batch_size: BatchSize,
    /// See [`fleetblast_job::plan::Plan::thread_letters`].
    pub thread_letters: usize,
}

/// Parses the three words of a filter's parameters (`CFilteringArgs`, blast_args.cpp); `None` for
/// `no`, the default for `yes`.
pub fn filter_words<T>(
    text: &OsStr,
    default: T,
    parse: impl Fn([&[u8]; 3]) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    match text.as_bytes() {
        b"no" => return Ok(None),
        b"yes" => return Ok(Some(default)),
        _ => {}
    }
    let words: Vec<&[u8]> = text.as_bytes().split(|&byte| byte == b' ').collect();
    match <[&[u8]; 3]>::try_from(words) {
        Ok(words) => parse(words).map(Some),
        Err(_) => Err(Error::query_options("Invalid number of arguments to filtering option")),
    }
}

/// Returns the error for a word of a filter that is no number.
pub fn bad_filter<E>(_: E) -> Error {
    Error::query_options("Invalid input for filtering parameters")
}

fn filter(options: &HspFilteringOptions) -> HspFilter {
    match (options.culling_limit, options.best_hit_overhang, options.best_hit_score_edge) {
        (_, overhang, edge) if overhang.is_some() || edge.is_some() => HspFilter::BestHit {
            overhang: overhang.unwrap_or(BEST_HIT),
            edge: edge.unwrap_or(BEST_HIT),
        },
        (Some(limit @ 1..), _, _) => HspFilter::Culling(limit),
        _ => HspFilter::Collect,
    }
}

/// Largest X-drop, in bits, with a match score of 1. With a larger one, twice the raw score
/// overflows 32 bits, and BLAST+ finds other hits or none.
const MOST_X_DROP: f64 = 3e8;

/// Returns an X-drop that `blastn` of BLAST+ cannot represent together with its option, if one is
/// given. With a negative X-drop BLAST+ ends ungapped extensions at other positions.
pub fn unsupported_x_drop(options: &SearchOptions, reward: i32) -> Option<String> {
    let &SearchOptions { xdrop_ungap, xdrop_gap, xdrop_gap_final, .. } = options;
    let most = MOST_X_DROP / f64::from(reward.max(1));
    let given = [
        (&generic::XDROP_UNGAP, xdrop_ungap, 0.0),
        (&generic::XDROP_GAP, xdrop_gap, -most),
        (&generic::XDROP_GAP_FINAL, xdrop_gap_final, -most),
    ];
    given.into_iter().find_map(|(option, bits, least)| {
        let bits = bits.filter(|bits| !(least..=most).contains(bits))?;
        Some(format!("-{} {bits:?}", option.name()))
    })
}

/// Returns the parameters that all programs share.
pub fn common(
    options: &CommonOptions,
    soft_masking: bool,
    hitlist_size: usize,
    defaults: CommonParams,
) -> CommonParams {
    let search = &options.search;
    CommonParams {
        xdrop_ungapped_bits: search.xdrop_ungap.unwrap_or(defaults.xdrop_ungapped_bits),
        xdrop_gapped_bits: search.xdrop_gap.unwrap_or(defaults.xdrop_gapped_bits),
        xdrop_final_bits: search.xdrop_gap_final.unwrap_or(defaults.xdrop_final_bits),
        evalue: search.evalue.unwrap_or(defaults.evalue),
        ungapped: options.ungapped,
        hitlist_size,
        max_hsps: search.max_hsps,
        qcov_hsp_perc: search.qcov_hsp_perc.unwrap_or(defaults.qcov_hsp_perc),
        subject_besthit: options.hsps.subject_besthit,
        filter: filter(&options.hsps),
        soft_masking,
        lcase_masking: options.queries.lcase_masking,
        search_space: search.searchsp.filter(|&space| space != 0),
        ..defaults
    }
}
