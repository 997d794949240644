//! `blastp`: the defaults of the task and the matrix, and the checks of `BLAST_ValidateOptions`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use fleetblast_engine::params::{CompositionMode, Params, ProteinParams};
use fleetblast_job::error::Error;
use fleetblast_job::plan::{BLASTP_BATCH, BatchSize, Citations};
use fleetblast_seq::seg::SegParams;
use fleetblast_stats::release::Release;
use fleetblast_stats::scoring::{
    ScoringError, ScoringSystem, suggested_threshold, suggested_window,
};

use super::fleet::{OptionText, flag, number, option_text, text, word};
use super::search::{Searching, bad_filter, common, filter_words};
use super::{Host, SearchProgram, has_old_finite_size};
use crate::options::blastp::{BlastpOptions, SPEC, TASK};
use crate::options::number::{parse_double_strict, parse_int4};
use crate::options::search::common::CommonOptions;
use crate::options::search::composition::{self, CompositionOptions};
use crate::options::search::filtering::{self, FilteringOptions};
use crate::options::search::metadata::MetadataOptions;
use crate::options::search::program::ProgramSpec;
use crate::options::search::single;
use crate::options::typed::lossy;

impl SearchProgram for BlastpOptions {
    fn spec(&self) -> &'static ProgramSpec {
        &SPEC
    }

    fn common(&self) -> &CommonOptions {
        &self.common
    }

    fn metadata(&self) -> Option<&MetadataOptions> {
        Some(&self.metadata)
    }

    fn unsupported(&self) -> Option<String> {
        None
    }

    fn check_filter(&self) -> Result<(), Error> {
        seg(&self.filtering.seg).map(|_| ())
    }

    fn searching(&self, hitlist_size: usize, host: &Host<'_>) -> Result<Searching, Error> {
        params(self, &SPEC, hitlist_size, has_old_finite_size(host))
    }

    fn decisive(&self) -> Vec<OptionText> {
        let BlastpOptions {
            task,
            filtering: FilteringOptions { seg, soft_masking },
            matrix,
            threshold,
            composition: CompositionOptions { comp_based_stats, use_sw_tback },
            // Compared for all programs in `plan/fleet.rs`.
            common: _,
            // With these options the search writes no report.
            metadata: _,
        } = self;
        vec![
            option_text(&TASK, word(&TASK, task)),
            option_text(&single::MATRIX, text(matrix)),
            option_text(&single::THRESHOLD, number(threshold)),
            option_text(&composition::COMP_BASED_STATS, Some(lossy(comp_based_stats))),
            option_text(&filtering::SEG, Some(lossy(seg))),
            option_text(&filtering::SOFT_MASKING, flag(*soft_masking)),
            option_text(&composition::USE_SW_TBACK, flag(*use_sw_tback)),
        ]
    }
}

/// Parses the parameters of SEG from `-seg`.
pub(super) fn seg(text: &OsStr) -> Result<Option<SegParams>, Error> {
    filter_words(text, SegParams::QUERY, |[window, locut, hicut]| {
        Ok(SegParams {
            window: parse_int4(window).map_err(bad_filter)?,
            locut: parse_double_strict(locut).map_err(bad_filter)?,
            hicut: parse_double_strict(hicut).map_err(bad_filter)?,
        })
    })
}

/// Parses `-comp_based_stats`: the mode, and whether p-values are unified. Unknown words mean no
/// composition-based statistics.
pub(super) fn composition(text: &OsStr) -> (CompositionMode, bool) {
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

/// Returns matrix, gap costs and their statistics. Without gaps, BLAST+ accepts gap costs that have
/// no statistics.
fn scoring(
    options: &BlastpOptions,
    release: &Release,
    matrix: &str,
) -> Result<ScoringSystem, Error> {
    let (gap_open, gap_extend) = (options.common.search.gap_open, options.common.search.gap_extend);
    match ScoringSystem::new(release, matrix, gap_open, gap_extend) {
        Ok(scoring) => Ok(scoring),
        Err(error) if !options.common.ungapped => Err(Error::query_options(error)),
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

/// Builds and checks the parameters. `old_finite_size` switches finite-size statistics off.
fn params(
    options: &BlastpOptions,
    program: &ProgramSpec,
    hitlist_size: usize,
    old_finite_size: bool,
) -> Result<Searching, Error> {
    let (mode, unified_p) = composition(&options.composition.comp_based_stats);
    if options.common.ungapped && mode != CompositionMode::Off {
        return Err(Error::query_options(
            "Composition-adjusted searched are not supported with an ungapped search, please add \
             -comp_based_stats F or do a gapped search",
        ));
    }
    let task = &options.task;
    let matrix_name = options.matrix.as_deref().map_or(task.matrix.to_owned(), lossy);
    let word_size = options.common.search.word_size.unwrap_or(task.word_size);
    let task_threshold = task.threshold.unwrap_or_else(|| suggested_threshold(&matrix_name));
    let threshold = options.threshold.unwrap_or(task_threshold);
    let scoring = scoring(options, program.release, &matrix_name);
    // Without gaps no check needs the matrix, and only the search finds that it does not exist.
    let scoring = if options.common.ungapped { scoring } else { Ok(scoring?) };
    check_words(&options.common, word_size, threshold)?;
    check_lists(&options.common, hitlist_size)?;
    let scoring = scoring?;
    let identity = scoring.name == "IDENTITY";
    check_identity(identity, word_size)?;
    check_smith_waterman(options, program, identity)?;
    let defaults = ProteinParams::blastp(program.release, scoring);
    let params = ProteinParams {
        common: common(
            &options.common,
            options.filtering.soft_masking,
            hitlist_size,
            defaults.common,
        ),
        word_size,
        threshold,
        window: options.common.window_size.unwrap_or(suggested_window(&matrix_name)),
        composition: if identity { CompositionMode::Off } else { mode },
        unified_p: unified_p && !identity,
        smith_waterman: options.composition.use_sw_tback,
        seg: seg(&options.filtering.seg)?,
        finite_size: options.common.search.searchsp.is_none() && !old_finite_size,
        ..defaults
    };
    let identity_resets_composition = identity && mode != CompositionMode::Off;
    let params = Params::Protein(params);
    Ok(Searching {
        params,
        refusal: None,
        matrix_name,
        identity_resets_composition,
        iteration: None,
        reads_again: false,
        citations: Citations::Blastp,
        reports_as: None,
        batch_size: BatchSize::Fixed(BLASTP_BATCH),
        thread_letters: BLASTP_BATCH,
    })
}

/// Checks single values up to those of gapped alignments, in BLAST+'s order.
pub(super) fn check_words(
    options: &CommonOptions,
    word_size: usize,
    threshold: f64,
) -> Result<(), Error> {
    let problem = if threshold <= 0.0 {
        "Non-zero threshold required"
    } else if word_size > 7 {
        "Word-size must be less than 8 for a tblastn, blastp or blastx search"
    } else if options.search.xdrop_ungap.is_some_and(|bits| bits <= 0.0) {
        "x_dropoff must be greater than zero"
    } else {
        return Ok(());
    };
    Err(Error::query_options(problem))
}

/// Checks the values after those.
pub(super) fn check_lists(options: &CommonOptions, hitlist_size: usize) -> Result<(), Error> {
    let problem = if hitlist_size < 1 {
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

/// Refuses two uses of `-use_sw_tback` that fail in BLAST+: without gaps it crashes, and with
/// IDENTITY it finds no alignment.
fn check_smith_waterman(
    options: &BlastpOptions,
    program: &ProgramSpec,
    identity: bool,
) -> Result<(), Error> {
    if options.composition.use_sw_tback && options.common.ungapped {
        return Err(Error::unsupported(program.name, "-use_sw_tback with -ungapped"));
    }
    if options.composition.use_sw_tback && identity {
        return Err(Error::engine("Traceback failed"));
    }
    Ok(())
}
