//! `blastn`: the task's defaults, scores, and the checks of `BLAST_ValidateOptions`.

use std::ffi::OsStr;

use fleetblast_db::{Database, SearchPath, SequenceKind};
use fleetblast_engine::params::{NucleotideParams, Params, Template, TemplateKind};
use fleetblast_job::error::Error;
use fleetblast_job::plan::{BatchSize, Citations};
use fleetblast_metadata::{Encoding, EncodingChoice};
use fleetblast_report::archive_options::{ArchiveRequest, OptionValue};
use fleetblast_seq::dust::DustParams;
use fleetblast_stats::nucleotide::NucleotideScoring;
use fleetblast_stats::release::Release;

use super::archive::{self, SetOptions};
use super::fleet::{OptionText, flag_value, number_value, option_text, text_value, word_value};
use super::search::{SearchPlan, bad_filter, common, filter_words, unsupported_x_drop};
use super::{ProcessEnvironment, ProgramBase, SearchProgram, windowmasker};
use crate::options::blastn::{BlastnOptions, SPEC, TASK, Task};
use crate::options::compat;
use crate::options::number::parse_int4;
use crate::options::search::filtering::{self, NucleotideFilteringOptions};
use crate::options::search::generic;
use crate::options::search::megablast::{self, MegablastOptions};
use crate::options::search::nucleotide::{self, NucleotideOptions};
use crate::options::search::query;
use crate::options::typed::to_text;

/// Least difference between the residues of a chunk and of a batch (`blastn_app.cpp`).
const BELOW_CHUNK: u32 = 1000;

/// Largest gap cost of gapped extensions, which add dozens of gap costs to scores of 32 bits. For
/// greedy extensions BLAST+ multiplies the cost of a letter in a gap by up to 1000 for the sizes of
/// its tables. It does so even if it then extends without gaps (`s_BlastGreedyAlignMemAlloc`,
/// blast_gapalign.c).
const MOST_GAP_COST: i32 = 1 << 24;

impl SearchProgram for BlastnOptions {
    fn base(&self) -> ProgramBase<'_> {
        ProgramBase { spec: &SPEC, common: &self.common, metadata: Some(&self.metadata), seg: None }
    }

    fn unsupported(&self) -> Option<String> {
        let scores = Scores::new(self);
        // BLAST+ ignores an index with another task or without a database.
        let indexed = self.task == Task::Megablast && self.common.database.subject.is_none();
        if let Some(asked) = self.metadata.metadata_destination_option()
            && let Some(option) = self.unsupported_elsewhere()
        {
            Some(format!("{option} with -{asked}"))
        } else if let Some(what) = unsupported_x_drop(&self.common.search, scores.reward) {
            Some(what)
        } else if let Some(what) = self.unsupported_gap_cost() {
            Some(what)
        } else if scores.reward == 0 && scores.penalty == 0 {
            // BLAST+ then takes scores from a matrix, and crashes.
            let typed = |score: Option<i32>| score.unwrap_or_default();
            let NucleotideOptions { reward, penalty, .. } = &self.nucleotide;
            Some(format!("-reward {} with -penalty {}", typed(*reward), typed(*penalty)))
        } else if self.megablast.use_index && indexed {
            Some("-use_index true".to_owned())
        } else {
            None
        }
    }

    fn option_without_metadata(&self, kinds: EncodingChoice) -> Option<&'static str> {
        // The I/O site masks the queries again, but does not have this file of word counts.
        let has_counts = self.filtering.window_masker_db.is_some();
        let crosses = !has_counts || kinds == EncodingChoice::Only(Encoding::Report);
        (!crosses).then_some(filtering::WINDOW_MASKER_DB.name())
    }

    fn check_filter(&self) -> Result<(), Error> {
        dust(self.dust())?;
        windowmasker::check(&self.filtering)
    }

    fn plan_search(
        &self,
        hitlist_size: usize,
        _: &ProcessEnvironment<'_>,
    ) -> Result<SearchPlan, Error> {
        let (scoring, refusal) = self.scoring();
        let mut params = self.params(scoring, hitlist_size)?;
        self.check(&params)?;
        let masker = windowmasker::read(&self.filtering, self.common.release);
        let refusal = masker.as_ref().err().cloned().or(refusal);
        params.window_masker = masker.ok().flatten();
        params.repeat_database = self.filtering.filtering_db.as_deref().map(to_text);
        let repeats = params.repeat_database.as_deref();
        let delayed_option_error = repeats
            .and_then(|name| missing_database_message(name, self.common.release))
            .or(refusal);
        let most = (params.chunk - BELOW_CHUNK) as i32;
        Ok(SearchPlan {
            params: Params::Nucleotide(params),
            delayed_option_error,
            matrix_name: String::new(),
            identity_resets_composition: false,
            initial_pssm: None,
            iteration: None,
            reads_again: false,
            reported_program: None,
            citations: match self.task {
                Task::Megablast => Citations::Megablast,
                _ => Citations::Blastn,
            },
            batch_size: BatchSize::Adaptive { max_letters: most },
            thread_letters: self.thread_letters(),
        })
    }

    fn archive_request(&self, hitlist_size: usize) -> Result<Option<ArchiveRequest>, Error> {
        let BlastnOptions { common, nucleotide, filtering, .. } = self;
        let mut set = self.options_of_task();
        set.database_size(&common.database);
        set.search(common, None, nucleotide.perc_identity, nucleotide.sum_stats);
        self.set_scores(&mut set);
        set.boolean("MaskAtHash", filtering.soft_masking);
        self.set_masks(&mut set)?;
        set.ungapped(common);
        set.hsps(&common.hsps);
        set.window(common, None);
        set.integer("HitlistSize", hitlist_size as i64);
        let service = match self.task {
            Task::Megablast | Task::Discontiguous => "megablast",
            Task::Blastn | Task::Short | Task::Rmblastn => "plain",
        };
        Ok(Some(set.into_request(SPEC.program, service, Some(self.strands))))
    }

    fn report_options(&self) -> Vec<OptionText> {
        let BlastnOptions {
            task,
            strands,
            nucleotide: NucleotideOptions { penalty, reward, no_greedy, perc_identity, sum_stats },
            megablast:
                MegablastOptions {
                    min_raw_gapped_score,
                    template_type,
                    template_length,
                    off_diagonal_range,
                    // These have no effect, or are refused.
                    use_index: _,
                    index_name: _,
                },
            filtering:
                NucleotideFilteringOptions {
                    dust,
                    soft_masking,
                    // Refused by jobs of several ranks and by checkpoints; for metadata it is
                    // compared by fingerprint.
                    filtering_db: _,
                    // The counts in these files are compared by fingerprint.
                    window_masker_taxid: _,
                    window_masker_db: _,
                },
            // Compared for all programs in `plan/fleet.rs`.
            common: _,
            // With these options the search writes no report.
            metadata: _,
        } = self;
        let template = template_type.as_ref();
        let template = template.and_then(|kind| word_value(&megablast::TEMPLATE_TYPE, kind));
        vec![
            option_text(&TASK, word_value(&TASK, task)),
            option_text(&query::STRAND, word_value(&query::STRAND, strands)),
            option_text(&nucleotide::PENALTY, number_value(penalty)),
            option_text(&nucleotide::REWARD, number_value(reward)),
            option_text(&nucleotide::NO_GREEDY, flag_value(*no_greedy)),
            option_text(&nucleotide::PERC_IDENTITY, number_value(perc_identity)),
            option_text(&nucleotide::SUM_STATS, number_value(sum_stats)),
            option_text(&megablast::MIN_RAW_GAPPED_SCORE, number_value(min_raw_gapped_score)),
            option_text(&megablast::TEMPLATE_TYPE, template),
            option_text(&megablast::TEMPLATE_LENGTH, number_value(template_length)),
            option_text(&megablast::OFF_DIAGONAL_RANGE, Some(off_diagonal_range.to_string())),
            option_text(&filtering::DUST, text_value(dust)),
            option_text(&filtering::SOFT_MASKING, Some(soft_masking.to_string())),
        ]
    }
}

/// Scores of matches and mismatches, and gap costs.
#[derive(Clone, Copy, Debug)]
struct Scores {
    reward: i32,
    penalty: i32,
    gap_open: i32,
    gap_extend: i32,
}

impl Scores {
    /// Returns the defaults of the task, replaced by the options given.
    fn new(options: &BlastnOptions) -> Self {
        let (reward, penalty, gap_open, gap_extend) = match options.task {
            Task::Megablast => (1, -2, 0, 0),
            Task::Short => (1, -3, 5, 2),
            Task::Blastn | Task::Discontiguous | Task::Rmblastn => (2, -3, 5, 2),
        };
        let (typed, search) = (&options.nucleotide, &options.common.search);
        // BLAST+ keeps only the lower 16 bits of both (`BlastScoringOptions`, blast_options.h).
        let wrapped = |score: i32| i32::from(score as i16);
        Self {
            reward: typed.reward.map_or(reward, wrapped),
            penalty: typed.penalty.map_or(penalty, wrapped),
            gap_open: search.gap_open.unwrap_or(gap_open),
            gap_extend: search.gap_extend.unwrap_or(gap_extend),
        }
    }
}

impl BlastnOptions {
    /// Returns a gap cost that overflows 32-bit scores together with its option, if one is given.
    fn unsupported_gap_cost(&self) -> Option<String> {
        let is_unused = self.common.ungapped && !self.is_greedy();
        if is_unused || self.scoring().1.is_some() {
            // The costs have no effect, or BLAST+ refuses them as well.
            return None;
        }
        let search = &self.common.search;
        let given =
            [(&generic::GAPOPEN, search.gap_open), (&generic::GAPEXTEND, search.gap_extend)];
        given.into_iter().find_map(|(option, cost)| {
            let cost = cost.filter(|&cost| cost > MOST_GAP_COST)?;
            Some(format!("-{} {cost}", option.name()))
        })
    }

    /// Returns the value of `-dust`, or the default of the task.
    fn dust(&self) -> &OsStr {
        let default = match self.task {
            Task::Short if !self.common.release.blastn_short_masks => "no",
            _ => filtering::DEFAULT_DUST,
        };
        self.filtering.dust.as_deref().unwrap_or(OsStr::new(default))
    }

    /// Returns whether gapped extensions are greedy.
    fn is_greedy(&self) -> bool {
        self.task == Task::Megablast && !self.nucleotide.no_greedy
    }

    /// Returns an option that metadata do not support yet, if one is given.
    fn unsupported_elsewhere(&self) -> Option<&'static str> {
        if self.nucleotide.sum_stats == Some(true) {
            // Metadata have e-values of single alignments, not of linked sets.
            return Some("-sum_stats true");
        }
        self.filtering.filtering_db.is_some().then_some("-filtering_db")
    }

    /// Returns the scores with their statistics. Without statistics for gapped alignments, also
    /// returns BLAST+'s message for each query that has statistics without gaps.
    fn scoring(&self) -> (NucleotideScoring, Option<String>) {
        let Scores { reward, penalty, gap_open, gap_extend } = Scores::new(self);
        match NucleotideScoring::new(reward, penalty, gap_open, gap_extend) {
            Ok(scoring) => (scoring, None),
            Err(error) => {
                let any = NucleotideScoring::with_ungapped_statistics(
                    reward, penalty, gap_open, gap_extend,
                );
                (any, (!self.common.ungapped).then(|| format!("Error: {error}")))
            }
        }
    }

    fn params(
        &self,
        scoring: NucleotideScoring,
        hitlist_size: usize,
    ) -> Result<NucleotideParams, Error> {
        let mut defaults = match self.task {
            Task::Megablast => NucleotideParams::megablast(self.common.release, scoring),
            Task::Discontiguous => NucleotideParams::discontiguous(self.common.release, scoring),
            _ => NucleotideParams::blastn(self.common.release, scoring),
        };
        if self.task == Task::Short {
            defaults.word_size = 7;
            defaults.common.evalue = self.common.release.blastn_short_evalue;
        }
        let (search, typed) = (&self.common.search, &self.megablast);
        let word_size = search.word_size.and_then(|size| u32::try_from(size).ok());
        let kind_and_length = typed.template_type.zip(typed.template_length);
        let template = kind_and_length.map(|(kind, length)| Template { kind, length });
        let soft_masking = self.filtering.soft_masking;
        Ok(NucleotideParams {
            common: common(&self.common, soft_masking, hitlist_size, defaults.common.clone()),
            word_size: word_size.unwrap_or(defaults.word_size),
            template: template.or(defaults.template),
            window: self.common.window_size.unwrap_or(defaults.window),
            off_diagonal_range: typed.off_diagonal_range,
            greedy: self.is_greedy(),
            least_score: typed.min_raw_gapped_score.filter(|&score| score > 0),
            percent_identity: self.nucleotide.perc_identity.unwrap_or(0.0),
            sum_stats: self.nucleotide.sum_stats.unwrap_or(defaults.sum_stats),
            dust: dust(self.dust())?,
            strands: self.strands,
            ..defaults
        })
    }

    /// Checks values and their combinations, in BLAST+'s order.
    fn check(&self, params: &NucleotideParams) -> Result<(), Error> {
        let Scores { penalty, gap_open, gap_extend, .. } = Scores::new(self);
        let common = &params.common;
        let has_words_of_template = matches!(self.task, Task::Megablast | Task::Discontiguous);
        let longest = self.common.release.longest_words.map_or(usize::MAX, |words| words.blastn);
        if params.word_size as usize > longest {
            let problem = format_args!("Word-size must be less than or equal to {longest}");
            return Err(Error::query_options(problem));
        }
        let problem = if penalty >= 0 {
            "BLASTN penalty must be negative"
        } else if !common.ungapped && gap_open > 0 && gap_extend == 0 {
            "BLASTN gap extension penalty cannot be 0"
        } else if params.template.is_some() && !matches!(params.word_size, 11 | 12) {
            "Invalid discontiguous template parameters: word size must be either 11 or 12"
        } else if params.template.is_some() && !has_words_of_template {
            "Invalid lookup table type for discontiguous Mega BLAST"
        } else if params.off_diagonal_range > 0 && params.window == 0 {
            "off_diagonal_range is only useful in 2-hit algorithm"
        } else if common.hitlist_size < 1 {
            "No hits are being saved"
        } else if common.evalue <= 0.0 && params.least_score.is_none() {
            "expect value or cutoff score must be greater than zero"
        } else if (gap_open, gap_extend) == (0, 0) && !params.greedy {
            "Greedy extension must be used if gap existence and extension options are zero"
        } else {
            return Ok(());
        };
        Err(Error::query_options(problem))
    }

    /// Returns the number of query letters that keep a thread busy (`GetMTByQueriesBatchSize`,
    /// blast_app_util.cpp).
    fn thread_letters(&self) -> usize {
        match self.task {
            Task::Megablast => 2_500_000,
            Task::Discontiguous => 250_000,
            _ => 50_000,
        }
    }
}

/// The parts of [`SearchProgram::archive_request`] that only blastn has.
impl BlastnOptions {
    /// Returns the options that the task sets.
    fn options_of_task(&self) -> SetOptions {
        let release = self.common.release;
        let evalue = match self.task {
            Task::Short => release.blastn_short_evalue,
            _ => archive::EVALUE,
        };
        let mut set = SetOptions::of_task(evalue, release);
        match self.task {
            Task::Discontiguous => {
                set.integer("MBTemplateType", 0);
                set.integer("MBTemplateLength", 18);
                set.integer("WordSize", 11);
                set.integer("WindowSize", 40);
            }
            Task::Short => {
                set.integer("MatchReward", 1);
                set.integer("MismatchPenalty", -3);
                // The command line always sets it again.
                set.set("EvalueThreshold", OptionValue::Evalue(evalue));
                set.integer("WordSize", 7);
                set.no_filters();
            }
            Task::Blastn | Task::Megablast | Task::Rmblastn => {}
        }
        set
    }

    /// Sets scores, extensions and templates (`CNuclArgs`, `CDiscontiguousMegablastArgs`).
    fn set_scores(&self, set: &mut SetOptions) {
        let NucleotideOptions { penalty, reward, no_greedy, .. } = self.nucleotide;
        for (name, score) in [("MismatchPenalty", penalty), ("MatchReward", reward)] {
            if let Some(score) = score {
                set.integer(name, score);
            }
        }
        if no_greedy {
            set.integer("GapExtnAlgorithm", 0);
            set.integer("GapTracebackAlgorithm", 0);
        }
        if let Some(kind) = self.megablast.template_type {
            let number = match kind {
                TemplateKind::Coding => 0,
                TemplateKind::Optimal => 1,
                TemplateKind::Both => 2,
            };
            set.integer("MBTemplateType", number);
        }
        if let Some(length) = self.megablast.template_length {
            set.integer("MBTemplateLength", length);
        }
    }

    /// Sets the masks of queries (`CFilteringArgs`).
    fn set_masks(&self, set: &mut SetOptions) -> Result<(), Error> {
        let filtering = &self.filtering;
        let numbers = filter_words(self.dust(), None, |words| {
            let numbers = words.map(|word| parse_int4(word).map_err(bad_filter));
            numbers.into_iter().collect::<Result<Vec<i32>, _>>().map(Some)
        })?;
        let is_default = filtering.dust.is_none() && self.common.release.tasks_set_evalue;
        match numbers {
            _ if is_default => {}
            None => set.boolean("DustFiltering", false),
            Some(None) => set.boolean("DustFiltering", true),
            Some(Some(numbers)) => {
                let names = ["DustFilteringLevel", "DustFilteringWindow", "DustFilteringLinker"];
                names.into_iter().zip(numbers).for_each(|(name, number)| set.integer(name, number));
            }
        }
        if let Some(database) = &filtering.filtering_db {
            set.text("RepeatFilteringDB", &to_text(database));
        }
        if let Some(taxid) = filtering.window_masker_taxid {
            set.integer("WindowMaskerTaxId", taxid);
        }
        if let Some(file) = &filtering.window_masker_db {
            set.text("WindowMaskerDatabase", &to_text(file));
        }
        Ok(())
    }
}

/// Returns BLAST+'s message about each query if a database of repeats cannot be opened.
fn missing_database_message(database: &str, release: &Release) -> Option<String> {
    let search = SearchPath::from_environment();
    let opened = search.and_then(|path| Database::open(database, SequenceKind::Nucleotide, &path));
    let error = opened.err()?;
    Some(format!("Warning: {}", compat::database_error_text(release, &error)))
}

/// Parses the parameters of DUST from `-dust`. Values out of range mean the default.
fn dust(text: &OsStr) -> Result<Option<DustParams>, Error> {
    filter_words(text, DustParams::default(), |[level, window, linker]| {
        // A negative number is out of range, like 0.
        let number = |word| parse_int4(word).map(|n| u32::try_from(n).unwrap_or(0));
        Ok(DustParams {
            level: number(level).map_err(bad_filter)?,
            window: number(window).map_err(bad_filter)?,
            linker: number(linker).map_err(bad_filter)?,
        })
    })
}
