//! `psiblast`: iterations, PSSMs, and the options that it shares with `blastp`.

mod msa;
mod pattern;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use fleetblast_engine::params::{CompositionMode, Params, ProteinParams};
use fleetblast_job::error::{Error, NO_SEQUENCES};
use fleetblast_job::plan::{BatchSize, Citations, Destination, InitialPssm, IterationPlan};
use fleetblast_metadata::{Encoding, EncodingChoice};
use fleetblast_report::archive_options::ArchiveRequest;
use fleetblast_stats::program::ReportedProgram;
use fleetblast_stats::scoring::{
    ScoringSystem, suggested_two_hit_window, suggested_word_threshold,
};

use self::pattern::InputPattern;
use super::archive::{self, SetOptions};
use super::fleet::{OptionText, flag_value, number_value, option_text, text_value};
use super::search::{SearchPlan, common};
use super::{
    ProcessEnvironment, ProgramBase, SearchProgram, contents, has_old_finite_size, input, protein,
    pssm, restrict,
};
use crate::options::psiblast::{PsiblastOptions, SPEC};
use crate::options::search::psi::{self, PsiOptions};
use crate::options::search::{files, nucleotide};
use crate::options::typed::to_text;

/// The default substitution matrix.
const MATRIX: &str = "BLOSUM62";
/// The default number of letters in a word.
const WORD_SIZE: usize = 3;

impl SearchProgram for PsiblastOptions {
    fn base(&self) -> ProgramBase<'_> {
        ProgramBase {
            spec: &SPEC,
            common: &self.common,
            metadata: Some(&self.metadata),
            seg: Some(&self.protein.filtering.seg),
        }
    }

    fn query(&self) -> (&'static str, &OsStr) {
        match &self.psi {
            PsiOptions { in_pssm: Some(file), .. } => (psi::IN_PSSM.name(), file),
            PsiOptions { in_msa: Some(file), .. } => (psi::IN_MSA.name(), file),
            _ => (files::QUERY.name(), &self.common.files.query),
        }
    }

    fn output_files(&self) -> Vec<(&'static str, &OsStr)> {
        let PsiOptions { out_pssm, out_ascii_pssm, .. } = &self.psi;
        let files = [(&psi::OUT_PSSM, out_pssm), (&psi::OUT_ASCII_PSSM, out_ascii_pssm)];
        files
            .into_iter()
            .filter_map(|(option, file)| Some((option.name(), file.as_deref()?)))
            .collect()
    }

    fn option_without_metadata(&self, kinds: EncodingChoice) -> Option<&'static str> {
        match kinds {
            EncodingChoice::Only(Encoding::Report) => None,
            EncodingChoice::Only(Encoding::Hits) => {
                let PsiOptions { in_pssm, in_msa, phi_pattern, .. } = &self.psi;
                let begins_with = [
                    (in_pssm, &psi::IN_PSSM),
                    (in_msa, &psi::IN_MSA),
                    (phi_pattern, &psi::PHI_PATTERN),
                ];
                let typed = begins_with.into_iter().find(|(file, _)| file.is_some());
                typed.map(|(_, option)| option.name())
            }
            // The I/O site would search again, but alignments of a later iteration depend on its
            // PSSM, which metadata do not have.
            _ => Some(""),
        }
    }

    fn unsupported(&self) -> Option<String> {
        let PsiOptions { out_pssm, .. } = &self.psi;
        let is_iterated = self.is_iterated();
        let begins_with = self.psi.in_pssm.as_deref().or(self.psi.in_msa.as_deref());
        let stdin_twice = begins_with.is_some_and(contents::is_read_twice);
        let has_pattern = self.psi.phi_pattern.is_some();
        let has_masks = restrict::mask(&self.common.database).is_some();
        let refused = [
            // BLAST+ takes the PSSM for one of the whole query.
            (is_iterated && self.common.queries.query_loc.is_some(), "-query_loc with a PSSM"),
            (
                out_pssm.is_some() && self.common.queries.parse_deflines,
                "-out_pssm with -parse_deflines",
            ),
            (stdin_twice, "-in_pssm or -in_msa from standard input on several processes"),
            // BLAST+ then marks the pattern at other positions.
            (
                has_pattern && self.common.queries.query_loc.is_some(),
                "-query_loc with -phi_pattern",
            ),
            (has_pattern && has_masks, "-db_soft_mask or -db_hard_mask with -phi_pattern"),
        ];
        refused.into_iter().find(|(given, _)| *given).map(|(_, what)| what.to_owned())
    }

    fn plan_search(
        &self,
        hitlist_size: usize,
        environment: &ProcessEnvironment<'_>,
    ) -> Result<SearchPlan, Error> {
        let matrix_name = self.protein.matrix.as_deref().map_or(MATRIX.to_owned(), to_text);
        self.check_saving()?;
        let typed = match &self.psi.in_msa {
            Some(file) => Some(msa::InputAlignment::read(file, &self.psi)?),
            None => None,
        };
        let (params, mode) = self.params(&matrix_name, hitlist_size, environment)?;
        let initial_pssm = self.initial_pssm(&params.scoring, typed)?;
        let mut iteration = self.iteration(&params, mode, initial_pssm.as_ref())?;
        let (params, pattern) = match &self.psi.phi_pattern {
            Some(file) => {
                let typed = InputPattern::read(file)?;
                let params = typed.params(&params)?;
                iteration.fault = self.fault_of_rounds(&matrix_name).or(typed.fault);
                (params, true)
            }
            None => (params, false),
        };
        Ok(SearchPlan {
            params: Params::Protein(params),
            delayed_option_error: None,
            matrix_name,
            identity_resets_composition: false,
            initial_pssm,
            iteration: Some(iteration),
            reads_again: pattern
                && self.psi.num_iterations != 1
                && self.common.database.subject.is_none(),
            citations: if pattern { Citations::Phiblast } else { Citations::Psiblast },
            reported_program: pattern.then_some(ReportedProgram::Phiblastp),
            // BLAST+ searches each query alone.
            batch_size: BatchSize::Fixed(1),
            thread_letters: 1,
        })
    }

    fn unsupported_in_archives(&self) -> Option<&'static str> {
        let is_named = self.is_iterated() && self.common.queries.parse_deflines;
        let refused = [
            // BLAST+ fails: it has no database.
            (self.common.database.subject.is_some(), "-subject"),
            (self.psi.phi_pattern.is_some(), "-phi_pattern"),
            (is_named, "-parse_deflines"),
        ];
        refused.iter().find(|(given, _)| *given).map(|(_, name)| *name)
    }

    fn archive_request(&self, hitlist_size: usize) -> Result<Option<ArchiveRequest>, Error> {
        let PsiblastOptions { common, psi, protein, .. } = self;
        let matrix = self.protein.matrix.as_deref().map_or(MATRIX.to_owned(), to_text);
        let (_, threshold) = self.word_parameters(&matrix);
        let mut set = SetOptions::of_task(archive::EVALUE, common.release);
        set.real("InclusionThreshold", psi.inclusion_ethresh);
        set.integer("PseudoCountWeight", psi.pseudocount);
        set.database_size(&common.database);
        set.search(common, protein.matrix.as_deref(), None, None);
        set.seg(&protein.filtering)?;
        set.words(protein.matrix.as_deref(), Some(threshold));
        set.hsps(&common.hsps);
        set.window(common, Some(&matrix));
        set.integer("HitlistSize", hitlist_size as i64);
        set.composition(&protein.composition, false);
        set.real("GapTrigger", psi.gap_trigger);
        set.boolean("IgnoreMsaMaster", psi.ignore_msa_master);
        Ok(Some(set.into_request(SPEC.program, "psi", None)))
    }

    fn report_options(&self) -> Vec<OptionText> {
        let PsiblastOptions {
            protein,
            sum_stats,
            psi:
                PsiOptions {
                    gap_trigger,
                    num_iterations,
                    in_msa,
                    msa_master_idx,
                    ignore_msa_master,
                    in_pssm,
                    pseudocount,
                    inclusion_ethresh,
                    phi_pattern,
                    // The report depends on which PSSMs are saved and in which format, but not on
                    // the names of their files.
                    out_pssm,
                    out_ascii_pssm,
                    save_pssm_after_last_round,
                    save_each_pssm,
                },
            // Compared for all programs in `plan/fleet.rs`.
            common: _,
            metadata: _,
        } = self;
        let mut options = protein::report_options(protein);
        options.extend([
            option_text(&nucleotide::SUM_STATS, number_value(sum_stats)),
            option_text(&psi::GAP_TRIGGER, Some(gap_trigger.to_string())),
            option_text(&psi::NUM_ITERATIONS, Some(num_iterations.to_string())),
            option_text(&psi::IN_MSA, text_value(in_msa)),
            option_text(&psi::MSA_MASTER_IDX, number_value(msa_master_idx)),
            option_text(&psi::IGNORE_MSA_MASTER, flag_value(*ignore_msa_master)),
            option_text(&psi::IN_PSSM, text_value(in_pssm)),
            option_text(&psi::PSEUDOCOUNT, Some(pseudocount.to_string())),
            option_text(&psi::OUT_PSSM, flag_value(out_pssm.is_some())),
            option_text(&psi::OUT_ASCII_PSSM, flag_value(out_ascii_pssm.is_some())),
            option_text(&psi::SAVE_PSSM_AFTER_LAST_ROUND, flag_value(*save_pssm_after_last_round)),
            option_text(&psi::SAVE_EACH_PSSM, flag_value(*save_each_pssm)),
            option_text(&psi::PHI_PATTERN, text_value(phi_pattern)),
            option_text(&psi::INCLUSION_ETHRESH, Some(inclusion_ethresh.to_string())),
        ]);
        options
    }
}

impl PsiblastOptions {
    /// Returns whether the search may use a PSSM.
    fn is_iterated(&self) -> bool {
        self.psi.num_iterations != 1 || self.psi.save_pssm_after_last_round
    }

    /// Returns the number of letters in a word, and the least score of a neighbouring word.
    fn word_parameters(&self, matrix_name: &str) -> (usize, f64) {
        let word_size = self.common.search.word_size.unwrap_or(WORD_SIZE);
        (word_size, self.protein.threshold.unwrap_or_else(|| suggested_word_threshold(matrix_name)))
    }

    fn check_words(&self, matrix_name: &str) -> Result<(), Error> {
        let (word_size, threshold) = self.word_parameters(matrix_name);
        protein::check_short_words(&self.common, true, (word_size, threshold))
    }

    /// Returns the error that BLAST+ finds when it reads the options again for the iterations after
    /// a search with a pattern (`x_RunLocalPsiBlastIterations`, psiblast_app.cpp).
    fn fault_of_rounds(&self, matrix_name: &str) -> Option<Error> {
        if self.psi.num_iterations == 1 {
            return None;
        }
        // BLAST+ has read the file of subjects to its end by then.
        let subjects = self.common.database.subject.is_some();
        let empty = subjects.then(|| Error::engine(NO_SEQUENCES));
        empty.or_else(|| self.check_words(matrix_name).err())
    }

    /// Returns the parameters of a search with a sequence instead of a PSSM, and the mode of
    /// composition-based statistics in the options.
    fn params(
        &self,
        matrix_name: &str,
        hitlist_size: usize,
        environment: &ProcessEnvironment<'_>,
    ) -> Result<(ProteinParams, CompositionMode), Error> {
        let (mode, unified_p) = protein::composition(&self.protein.composition.comp_based_stats);
        let search = &self.common.search;
        let (word_size, threshold) = self.word_parameters(matrix_name);
        let (open, extend) = (search.gap_open, search.gap_extend);
        let scoring =
            ScoringSystem::with_target_frequencies(self.common.release, matrix_name, open, extend)
                .map_err(|error| match &self.psi.in_msa {
                    Some(_) => msa::unscored(&error),
                    None => Error::query_options(error),
                })?;
        // A search with a pattern has no words.
        if self.psi.phi_pattern.is_none() {
            self.check_words(matrix_name)?;
        }
        protein::check_lists(&self.common, hitlist_size)?;
        let defaults = ProteinParams::psiblast(self.common.release, scoring);
        let soft_masking = self.protein.filtering.soft_masking;
        let mut shared = common(&self.common, soft_masking, hitlist_size, defaults.common);
        shared.keeps_all_preliminary_subjects = true;
        shared.gap_trigger_bits = self.psi.gap_trigger;
        shared.inclusion_evalue = self.psi.inclusion_ethresh;
        let params = ProteinParams {
            common: shared,
            word_size,
            threshold,
            window: self.common.window_size.unwrap_or(suggested_two_hit_window(matrix_name)),
            composition: mode,
            unified_p,
            smith_waterman: self.protein.composition.use_sw_tback,
            seg: protein::seg(&self.protein.filtering.seg)?,
            finite_size: search.searchsp.is_none() && !has_old_finite_size(environment),
            ..defaults
        };
        Ok((params, mode))
    }

    /// Refuses options that save PSSMs if no option names a file for them.
    fn check_saving(&self) -> Result<(), Error> {
        let psi = &self.psi;
        if psi.out_pssm.is_none() && psi.out_ascii_pssm.is_none() {
            let flags = [
                (psi.save_pssm_after_last_round, psi::SAVE_PSSM_AFTER_LAST_ROUND.name()),
                (psi.save_each_pssm, psi::SAVE_EACH_PSSM.name()),
            ];
            if let Some((_, flag)) = flags.iter().find(|(given, _)| *given) {
                return Err(Error::query_options(format_args!(
                    "{flag} option requires out_pssm or out_ascii_pssm"
                )));
            }
        }
        Ok(())
    }

    /// Returns the PSSM of the first iteration, if it comes from a file.
    fn initial_pssm(
        &self,
        scoring: &ScoringSystem,
        typed: Option<msa::InputAlignment>,
    ) -> Result<Option<InitialPssm>, Error> {
        let psi = &self.psi;
        let needs_all = psi.out_pssm.is_some() || psi.out_ascii_pssm.is_some();
        let rules =
            pssm::ReadingRules { program: SPEC.name(), pseudocount: psi.pseudocount, needs_all };
        Ok(match (&psi.in_pssm, typed) {
            (Some(file), _) => Some(pssm::read(file, scoring, &rules)?),
            (None, Some(typed)) => Some(typed.start(scoring, psi)?),
            (None, None) => None,
        })
    }

    fn iteration(
        &self,
        params: &ProteinParams,
        mode: CompositionMode,
        start: Option<&InitialPssm>,
    ) -> Result<IterationPlan, Error> {
        let psi = &self.psi;
        // The scores of a PSSM can only be scaled: they support no other adjustment.
        let resets = matches!(mode, CompositionMode::Conditional | CompositionMode::Always);
        let with_pssm = ProteinParams {
            initial_pssm_lambda: start.map(|it| it.pssm.gapped.lambda),
            composition: if resets { CompositionMode::Scale } else { mode },
            unified_p: false,
            ..params.clone()
        };
        Ok(IterationPlan {
            max_iterations: (psi.num_iterations > 0).then_some(psi.num_iterations as usize),
            params: with_pssm,
            resets_composition: resets,
            pseudocount: psi.pseudocount,
            fault: None,
            warnings: Vec::new(),
            checkpoint: pssm_file(psi::OUT_PSSM.name(), &psi.out_pssm)?,
            table: pssm_file(psi::OUT_ASCII_PSSM.name(), &psi.out_ascii_pssm)?,
            save_last: psi.save_pssm_after_last_round,
            save_each: psi.save_each_pssm,
        })
    }
}

/// Returns the file in which to save a PSSM; `None` if the option is not given.
fn pssm_file(option: &str, name: &Option<OsString>) -> Result<Option<PathBuf>, Error> {
    let Some(name) = name else { return Ok(None) };
    Ok(Some(match input::destination(option, name)? {
        Destination::File(path) | Destination::Records(path) => path,
        Destination::Files(files) => files.index,
        // BLAST+ creates a file with the name `-`.
        Destination::Stdout => PathBuf::from("-"),
    }))
}
