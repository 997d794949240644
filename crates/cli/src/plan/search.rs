//! How to search: the task's defaults, what derives from the matrix, and the checks of `BLAST_ValidateOptions`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use fleetblast_engine::params::{CommonParams, CompositionMode, HspFilter, Params, ProteinParams};
use fleetblast_job::error::Error;
use fleetblast_release::Release;
use fleetblast_seq::seg::SegParams;
use fleetblast_stats::scoring::{
    ScoringError, ScoringSystem, suggested_threshold, suggested_window,
};

use crate::options::blastp::BlastpOptions;
use crate::options::number;
use crate::options::search::hsps::HspFilteringOptions;
use crate::options::search::program::ProgramSpec;
use crate::options::typed::lossy;

/// Overhang and score edge of the best-hit filter when only the other is given (`hspfilter_besthit.h`).
const BEST_HIT: f64 = 0.1;

/// How to search.
pub struct SearchOptions {
    /// The parameters.
    pub params: Params,
    /// The matrix as typed, or the task's.
    pub matrix_name: String,
    /// See [`fleetblast_job::plan::Plan::identity_resets_composition`].
    pub identity_resets_composition: bool,
}

/// SEG parameters from `-seg` (`CFilteringArgs`, blast_args.cpp).
pub fn seg(text: &OsStr) -> Result<Option<SegParams>, Error> {
    match text.as_bytes() {
        b"no" => return Ok(None),
        b"yes" => return Ok(Some(SegParams::QUERY)),
        _ => {}
    }
    let words: Vec<&[u8]> = text.as_bytes().split(|&byte| byte == b' ').collect();
    let [window, locut, hicut] = words[..] else {
        return Err(Error::query_options("Invalid number of arguments to filtering option"));
    };
    let bad = |_| Error::query_options("Invalid input for filtering parameters");
    Ok(Some(SegParams {
        window: number::parse_int4(window).map_err(bad)?,
        locut: number::parse_double_strict(locut).map_err(bad)?,
        hicut: number::parse_double_strict(hicut).map_err(bad)?,
    }))
}

/// Composition-based statistics and whether p-values are unified, from `-comp_based_stats`. Unknown words mean none.
fn composition(text: &OsStr) -> (CompositionMode, bool) {
    let bytes = text.as_bytes();
    let mode = match bytes.first() {
        Some(b'1') => CompositionMode::Scale,
        Some(b'2' | b'T' | b't' | b'D' | b'd') => CompositionMode::Conditional,
        Some(b'3') => CompositionMode::Always,
        _ => CompositionMode::Off,
    };
    let unified = matches!(bytes.get(1), Some(b'u' | b'U')) && mode != CompositionMode::Off;
    (mode, unified)
}

/// Matrix, gap costs and their statistics. Without gaps, BLAST+ does not mind gap costs without statistics.
fn scoring(
    options: &BlastpOptions,
    release: &Release,
    matrix: &str,
) -> Result<ScoringSystem, Error> {
    let (gap_open, gap_extend) = (options.search.gap_open, options.search.gap_extend);
    match ScoringSystem::new(release, matrix, gap_open, gap_extend) {
        Ok(scoring) => Ok(scoring),
        Err(error) if !options.ungapped => Err(Error::query_options(error)),
        Err(ScoringError::UnknownMatrix { .. }) => {
            Err(Error::engine("Error: Unknown error code -1 "))
        }
        Err(error @ ScoringError::UnknownGapCosts { gap_open, gap_extend, .. }) => {
            let mut scoring = ScoringSystem::new(release, matrix, None, None)
                .map_err(|_| Error::query_options(error))?;
            (scoring.gap_open, scoring.gap_extend) = (gap_open, gap_extend);
            Ok(scoring)
        }
    }
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

/// Builds and checks the parameters. `old_finite_size`: the environment switches finite-size statistics off.
pub fn params(
    options: &BlastpOptions,
    program: &ProgramSpec,
    seg: Option<SegParams>,
    hitlist_size: usize,
    old_finite_size: bool,
) -> Result<SearchOptions, Error> {
    let (mode, unified_p) = composition(&options.composition.comp_based_stats);
    if options.ungapped && mode != CompositionMode::Off {
        return Err(Error::query_options(
            "Composition-adjusted searched are not supported with an ungapped search, please add \
             -comp_based_stats F or do a gapped search",
        ));
    }
    let task = &options.task;
    let matrix_name = options.matrix.as_deref().map_or(task.matrix.to_owned(), lossy);
    let word_size = options.search.word_size.unwrap_or(task.word_size);
    let task_threshold = task.threshold.unwrap_or_else(|| suggested_threshold(&matrix_name));
    let threshold = options.threshold.unwrap_or(task_threshold);
    let scoring = scoring(options, program.release, &matrix_name);
    // Without gaps the matrix is not among the checks, and only the search finds it missing.
    let scoring = if options.ungapped { scoring } else { Ok(scoring?) };
    check(options, word_size, threshold, hitlist_size)?;
    let scoring = scoring?;
    let identity = scoring.name == "IDENTITY";
    check_identity(identity, word_size)?;
    check_smith_waterman(options, program, identity)?;
    let defaults = ProteinParams::blastp(program.release, scoring);
    let params = ProteinParams {
        common: common(options, hitlist_size, defaults.common),
        word_size,
        threshold,
        window: options.window_size.unwrap_or(suggested_window(&matrix_name)),
        composition: if identity { CompositionMode::Off } else { mode },
        unified_p: unified_p && !identity,
        smith_waterman: options.composition.use_sw_tback,
        seg,
        finite_size: options.search.searchsp.is_none() && !old_finite_size,
        ..defaults
    };
    let identity_resets_composition = identity && mode != CompositionMode::Off;
    let params = Params::Protein(params);
    Ok(SearchOptions { params, matrix_name, identity_resets_composition })
}

/// What steers a search of any kind.
fn common(options: &BlastpOptions, hitlist_size: usize, defaults: CommonParams) -> CommonParams {
    let search = &options.search;
    CommonParams {
        xdrop_ungapped_bits: search.xdrop_ungap.unwrap_or(defaults.xdrop_ungapped_bits),
        xdrop_gapped_bits: search.xdrop_gap.unwrap_or(defaults.xdrop_gapped_bits),
        xdrop_final_bits: search.xdrop_gap_final.unwrap_or(defaults.xdrop_final_bits),
        evalue: search.evalue,
        ungapped: options.ungapped,
        hitlist_size,
        max_hsps: search.max_hsps,
        qcov_hsp_perc: search.qcov_hsp_perc.unwrap_or(defaults.qcov_hsp_perc),
        subject_besthit: options.hsps.subject_besthit,
        filter: filter(&options.hsps),
        soft_masking: options.filtering.soft_masking,
        lcase_masking: options.queries.lcase_masking,
        search_space: search.searchsp.filter(|&space| space != 0),
        ..defaults
    }
}

/// The checks of single values, in BLAST+'s order.
fn check(
    options: &BlastpOptions,
    word_size: usize,
    threshold: f64,
    hitlist_size: usize,
) -> Result<(), Error> {
    let problem = if threshold <= 0.0 {
        "Non-zero threshold required"
    } else if word_size > 7 {
        "Word-size must be less than 8 for a tblastn, blastp or blastx search"
    } else if options.search.xdrop_ungap.is_some_and(|bits| bits <= 0.0) {
        "x_dropoff must be greater than zero"
    } else if hitlist_size < 1 {
        "No hits are being saved"
    } else if options.search.evalue <= 0.0 {
        "expect value or cutoff score must be greater than zero"
    } else {
        return Ok(());
    };
    Err(Error::query_options(problem))
}

fn check_identity(identity: bool, word_size: usize) -> Result<(), Error> {
    if identity && word_size > 5 {
        return Err(Error::query_options(
            "Word size larger than 5 is not supported for the identity scoring matrix",
        ));
    }
    Ok(())
}

/// Two uses of `-use_sw_tback` BLAST+ cannot carry out: it crashes without gaps, and finds no alignment with IDENTITY.
fn check_smith_waterman(
    options: &BlastpOptions,
    program: &ProgramSpec,
    identity: bool,
) -> Result<(), Error> {
    if options.composition.use_sw_tback && options.ungapped {
        return Err(Error::unsupported(program.name, "-use_sw_tback with -ungapped"));
    }
    if options.composition.use_sw_tback && identity {
        return Err(Error::engine("Traceback failed"));
    }
    Ok(())
}
