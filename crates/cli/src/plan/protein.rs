//! Plans that searches with amino-acid words share: masks, matrix, gap costs, composition-based
//! statistics, and the checks of `BLAST_ValidateOptions`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use fleetblast_engine::params::{
    CompositionMode, HspLinking, Params, ProteinParams, SubjectTranslation,
};
use fleetblast_job::error::Error;
use fleetblast_job::plan::{BatchSize, Citations};
use fleetblast_seq::seg::SegParams;
use fleetblast_seq::translation::GeneticCode;
use fleetblast_stats::scoring::{
    ScoringError, ScoringSystem, suggested_two_hit_window, suggested_word_threshold,
};

use super::fleet::{OptionText, flag_value, number_value, option_text, text_value, word_value};
use super::search::{SearchPlan, bad_filter, common, filter_words};
use super::{ProcessEnvironment, ProgramBase, has_old_finite_size};
use crate::options::number::{parse_double_strict, parse_int4};
use crate::options::opt::Opt;
use crate::options::search::common::CommonOptions;
use crate::options::search::composition::{self, CompositionOptions};
use crate::options::search::filtering::{self, FilteringOptions};
use crate::options::search::program::ProgramSpec;
use crate::options::search::protein::{ProteinOptions, ProteinProgramOptions, TaskDefaults};
use crate::options::search::single;
use crate::options::typed::to_text;

/// Longest words that BLAST+ finds with a table of all neighbouring words.
const LONGEST_EXACT_WORD: usize = 5;

/// A search with amino-acid words, and the rules of its program.
pub(super) struct ProteinSearch<'a> {
    /// Properties of the program.
    pub spec: &'static ProgramSpec,
    /// Options of all searches.
    pub common: &'a CommonOptions,
    /// Options that searches with amino-acid words share.
    pub protein: &'a ProteinOptions,
    /// Defaults of the task.
    pub task: &'a TaskDefaults,
    /// Amount that the program adds to the word threshold suggested for a matrix
    /// (`BLAST_GetSuggestedThreshold`, blast_options.c).
    pub added_threshold: f64,
    /// Whether gapped searches accept the matrix IDENTITY (`BlastScoringOptionsValidate`,
    /// blast_options.c).
    pub accepts_identity: bool,
    /// Whether `-comp_based_stats` has an effect.
    pub has_composition: bool,
}

impl ProteinSearch<'_> {
    /// Returns the name of the matrix, as given.
    pub fn matrix_name(&self) -> String {
        self.protein.matrix.as_deref().map_or(self.task.matrix.to_owned(), to_text)
    }

    /// Returns the threshold of neighbouring words that archives say was set: the given one, or the
    /// suggestion for the matrix. `None` if the task or the size of words presets it.
    pub fn archived_threshold(&self) -> Option<f64> {
        let suggested = || suggested_word_threshold(&self.matrix_name()) + self.added_threshold;
        let release = self.common.release;
        let of_size = self.common.search.word_size.and_then(|size| release.threshold_of_size(size));
        let is_preset = of_size.or(self.task.words.threshold(release)).is_some();
        self.protein.threshold.or_else(|| (!is_preset).then(suggested))
    }

    /// Builds and checks the parameters. `defaults` returns those of the program for a scoring
    /// system.
    pub fn params(
        &self,
        hitlist_size: usize,
        environment: &ProcessEnvironment<'_>,
        defaults: impl FnOnce(ScoringSystem) -> ProteinParams,
    ) -> Result<ProteinParams, Error> {
        let options = self.protein;
        let mode = self.composition();
        if self.common.ungapped && mode != CompositionMode::Off {
            return Err(Error::query_options(
                "Composition-adjusted searched are not supported with an ungapped search, please \
                 add -comp_based_stats F or do a gapped search",
            ));
        }
        let matrix_name = self.matrix_name();
        let search = &self.common.search;
        let release = self.common.release;
        let word_size = search.word_size.unwrap_or_else(|| self.task.words.size(release));
        let threshold = self.word_threshold(&matrix_name);
        let scoring = self.scoring(&matrix_name);
        // Without gaps, BLAST+ checks the other values before it finds that a matrix does not
        // exist.
        let scoring = if self.common.ungapped { scoring } else { Ok(scoring?) };
        check_words(self.common, word_size, threshold)?;
        check_lists(self.common, hitlist_size)?;
        let scoring = scoring?;
        let identity = scoring.name == "IDENTITY";
        self.check_identity(identity, word_size)?;
        self.check_smith_waterman(identity)?;
        let defaults = defaults(scoring);
        let soft_masking = options.filtering.soft_masking;
        Ok(ProteinParams {
            common: common(self.common, soft_masking, hitlist_size, defaults.common),
            word_size,
            threshold,
            window: self.common.window_size.unwrap_or(suggested_two_hit_window(&matrix_name)),
            composition: if identity { CompositionMode::Off } else { mode },
            smith_waterman: options.composition.use_sw_tback,
            seg: seg(&options.filtering.seg)?,
            finite_size: search.searchsp.is_none() && !has_old_finite_size(environment),
            ..defaults
        })
    }

    /// Returns the least score of a neighbouring word: the given one, or that of the given word
    /// size, of the task, or suggested for the matrix.
    fn word_threshold(&self, matrix_name: &str) -> f64 {
        let release = self.common.release;
        let of_size =
            || self.common.search.word_size.and_then(|size| release.threshold_of_size(size));
        let of_task = || self.task.words.threshold(release);
        let suggested = || suggested_word_threshold(matrix_name) + self.added_threshold;
        self.protein.threshold.or_else(of_size).or_else(of_task).unwrap_or_else(suggested)
    }

    /// Returns the mode of composition-based statistics.
    fn composition(&self) -> CompositionMode {
        match self.has_composition {
            true => composition(&self.protein.composition.comp_based_stats).0,
            false => CompositionMode::Off,
        }
    }

    /// Plans the search with batches of `batch` letters.
    pub fn plan(&self, params: ProteinParams, citations: Citations, batch: usize) -> SearchPlan {
        SearchPlan {
            identity_resets_composition: params.composition != self.composition(),
            params: Params::Protein(params),
            delayed_option_error: None,
            matrix_name: self.matrix_name(),
            initial_pssm: None,
            iteration: None,
            reads_again: false,
            citations,
            reported_program: None,
            batch_size: BatchSize::Fixed(batch),
            thread_letters: batch,
        }
    }

    /// Returns the matrix, the gap costs and their statistics. In ungapped searches, BLAST+ accepts
    /// gap costs without statistics.
    fn scoring(&self, matrix: &str) -> Result<ScoringSystem, Error> {
        let (open, extend) = (self.common.search.gap_open, self.common.search.gap_extend);
        let release = self.common.release;
        let found = match self.accepts_identity || self.common.ungapped {
            true => ScoringSystem::new(release, matrix, open, extend),
            false => ScoringSystem::with_target_frequencies(release, matrix, open, extend),
        };
        match found {
            Ok(scoring) => Ok(scoring),
            Err(error) if !self.common.ungapped => Err(Error::query_options(error)),
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

    /// Refuses long words with IDENTITY. BLAST+ makes this check only in programs whose gapped
    /// searches accept this matrix; the others crash in ungapped searches.
    fn check_identity(&self, identity: bool, word_size: usize) -> Result<(), Error> {
        if !identity || word_size <= LONGEST_EXACT_WORD {
            return Ok(());
        }
        match self.accepts_identity {
            true => Err(Error::query_options(
                "Word size larger than 5 is not supported for the identity scoring matrix",
            )),
            false => {
                let what = format_args!("-word_size {word_size} with -matrix IDENTITY");
                Err(Error::unsupported(self.spec.name(), what))
            }
        }
    }

    /// Refuses two uses of `-use_sw_tback` that fail in BLAST+: without gaps it crashes, and with
    /// IDENTITY it finds no alignment.
    fn check_smith_waterman(&self, identity: bool) -> Result<(), Error> {
        let smith_waterman = self.protein.composition.use_sw_tback;
        if smith_waterman && self.common.ungapped {
            return Err(Error::unsupported(self.spec.name(), "-use_sw_tback with -ungapped"));
        }
        if smith_waterman && identity {
            return Err(Error::engine("Traceback failed"));
        }
        Ok(())
    }
}

/// Returns how HSPs of translated sequences are linked (`-sum_stats`, `-max_intron_length`); `None`
/// if they are not.
pub(super) fn linking(sum_stats: bool, max_intron_length: i32) -> Option<HspLinking> {
    sum_stats.then_some(HspLinking { max_intron_length })
}

/// Returns the genetic codes of subjects. BLAST+ searches subjects from a file with the standard
/// code, whatever code is given, and shows them with the given one (`s_MultiSeqGetSequence`,
/// api/seqsrc_multiseq.cpp).
pub(super) fn subject_translation(
    options: &CommonOptions,
    code: &GeneticCode,
) -> SubjectTranslation {
    let is_file = options.database.subject.is_some();
    let searched = if is_file { GeneticCode::standard() } else { code.clone() };
    SubjectTranslation { code: searched, report_code: code.clone() }
}

/// Returns the options on which the report depends, with their values.
pub(super) fn report_options(options: &ProteinOptions) -> Vec<OptionText> {
    let ProteinOptions {
        filtering: FilteringOptions { seg, soft_masking },
        matrix,
        threshold,
        composition: CompositionOptions { comp_based_stats, use_sw_tback },
    } = options;
    vec![
        option_text(&single::MATRIX, text_value(matrix)),
        option_text(&single::THRESHOLD, number_value(threshold)),
        option_text(&composition::COMP_BASED_STATS, Some(to_text(comp_based_stats))),
        option_text(&filtering::SEG, Some(to_text(seg))),
        option_text(&filtering::SOFT_MASKING, flag_value(*soft_masking)),
        option_text(&composition::USE_SW_TBACK, flag_value(*use_sw_tback)),
    ]
}

/// Returns the options of a program with tasks on which the report depends; `task` is its `-task`.
pub(super) fn task_report_options(
    options: &ProteinProgramOptions,
    task: &Opt<TaskDefaults>,
) -> Vec<OptionText> {
    let ProteinProgramOptions {
        task: chosen,
        protein,
        // Compared for all programs in `plan/fleet.rs`.
        common: _,
        // With these options the search writes no report.
        metadata: _,
    } = options;
    let mut texts = report_options(protein);
    texts.push(option_text(task, word_value(task, chosen)));
    texts
}

/// Returns the base of a program with tasks.
pub(super) fn base<'a>(
    spec: &'static ProgramSpec,
    options: &'a ProteinProgramOptions,
) -> ProgramBase<'a> {
    let ProteinProgramOptions { common, metadata, protein, task: _ } = options;
    ProgramBase { spec, common, metadata: Some(metadata), seg: Some(&protein.filtering.seg) }
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

/// Parses `-comp_based_stats`. Returns the mode, and whether p-values are unified. Unknown words
/// mean no composition-based statistics.
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

/// Checks word threshold, word size and ungapped X-drop, in BLAST+'s order.
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

/// Does the checks of [`check_words`] for programs that do not search with words of a compressed
/// alphabet, so that words are shorter.
pub(super) fn check_short_words(
    options: &CommonOptions,
    is_psiblast: bool,
    (word_size, threshold): (usize, f64),
) -> Result<(), Error> {
    let release = options.release;
    let longest = release.longest_words.map_or(LONGEST_EXACT_WORD, |longest| longest.psiblast);
    if threshold > 0.0 && word_size > longest {
        // For tblastx, and tblastn with a PSSM, BLAST+ names its older limit.
        let (longest, what) = match (release.longest_words, is_psiblast) {
            (Some(longest), true) => (longest.psiblast, "psiblast"),
            _ => (LONGEST_EXACT_WORD, "protein comparison"),
        };
        let message = format_args!("Word-size must be less than {} for {what}", longest + 1);
        return Err(Error::query_options(message));
    }
    check_words(options, word_size, threshold)
}

/// Checks hit list size and e-value, which BLAST+ does after the checks of words.
pub(super) fn check_lists(options: &CommonOptions, hitlist_size: usize) -> Result<(), Error> {
    let problem = if hitlist_size < 1 {
        "No hits are being saved"
    } else if options.search.evalue.is_some_and(|evalue| evalue <= 0.0) {
        "expect value or cutoff score must be greater than zero"
    } else {
        return Ok(());
    };
    Err(Error::query_options(problem))
}
