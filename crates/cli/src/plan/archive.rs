//! The description of a search in archives (format 11): its options in the order in which BLAST+
//! sets them (`CBlastAppArgs::SetOptions`, blast_args.cpp; `CBlastOptionsRemote`,
//! blast_options_cxx.cpp).
//!
//! BLAST+ keeps a list of the options that were set. A second value of an option replaces the
//! first, at its place. Tasks set some options before the command line does.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use fleetblast_engine::params::Strands;
use fleetblast_job::error::Error;
use fleetblast_report::archive_options::{ArchiveOption, ArchiveRequest, COMPOSITION, OptionValue};
use fleetblast_stats::program::BlastProgram;
use fleetblast_stats::release::Release;
use fleetblast_stats::scoring::{ScoringSystem, suggested_two_hit_window};

use super::protein;
use crate::options::search::common::CommonOptions;
use crate::options::search::composition::CompositionOptions;
use crate::options::search::database::DatabaseOptions;
use crate::options::search::filtering::FilteringOptions;
use crate::options::search::hsps::HspFilteringOptions;
use crate::options::search::protein::TaskDefaults;
use crate::options::typed::to_text;

/// Default e-value of the tasks that have none of their own.
pub(super) const EVALUE: f64 = 10.0;

/// The options of a search that were set so far.
#[derive(Debug, Default)]
pub(super) struct SetOptions {
    options: Vec<ArchiveOption>,
    /// Whether words have neighbours, whose threshold may follow from the size of words.
    has_neighbours: bool,
}

impl SetOptions {
    /// Creates the options that every task sets: its default e-value in later releases, none
    /// before.
    pub fn of_task(evalue: f64, release: &Release) -> SetOptions {
        let mut set = SetOptions::default();
        if release.tasks_set_evalue {
            set.set("EvalueThreshold", OptionValue::Evalue(evalue));
        }
        set
    }

    /// Creates the options that a task of a protein search sets.
    pub fn of_protein_task(task: &TaskDefaults, release: &Release) -> SetOptions {
        let is_short = task.matrix != TaskDefaults::USUAL.matrix;
        let evalue = if is_short { release.blastp_short_evalue } else { EVALUE };
        let mut set = SetOptions::of_task(evalue, release);
        set.has_neighbours = true;
        if is_short {
            set.text("MatrixName", task.matrix);
            set.integer("GapOpeningCost", 9);
            set.integer("GapExtensionCost", 1);
            // The command line always sets it again.
            set.set("EvalueThreshold", OptionValue::Evalue(evalue));
            set.integer("WordSize", task.words.size(release) as i64);
            if release.tasks_set_evalue {
                // The command line always sets it again.
                set.integer("WordThreshold", 0);
            }
            set.no_filters();
        } else if let Some(threshold) = task.words.threshold(release) {
            set.integer("WordSize", task.words.size(release) as i64);
            set.integer("WordThreshold", threshold as i64);
        }
        set
    }

    /// Sets an option.
    pub fn set(&mut self, name: &str, value: OptionValue) {
        match self.options.iter_mut().find(|option| option.name == name) {
            Some(option) => option.value = value,
            None => self.options.push(ArchiveOption::new(name, value)),
        }
    }

    /// Sets an integer.
    pub fn integer(&mut self, name: &str, value: impl Into<i64>) {
        self.set(name, OptionValue::Integer(value.into()));
    }

    /// Sets a boolean.
    pub fn boolean(&mut self, name: &str, value: bool) {
        self.set(name, OptionValue::Boolean(value));
    }

    /// Sets a real number.
    pub fn real(&mut self, name: &str, value: f64) {
        self.set(name, OptionValue::Real(value));
    }

    /// Sets a text.
    pub fn text(&mut self, name: &str, value: &str) {
        self.set(name, OptionValue::Text(value.to_owned()));
    }

    /// Sets no filters, as tasks for short queries do.
    pub fn no_filters(&mut self) {
        for filter in ["DustFiltering", "SegFiltering", "RepeatFiltering"] {
            self.boolean(filter, false);
        }
        // The command line always sets it again.
        self.boolean("MaskAtHash", false);
    }

    /// Sets the size of the database (`CBlastDatabaseArgs`).
    pub fn database_size(&mut self, options: &DatabaseOptions) {
        if let Some(size) = options.dbsize {
            self.set("DbLength", OptionValue::BigInteger(size));
        }
    }

    /// Sets the options that all programs have (`CGenericSearchArgs`). `matrix` is the matrix that
    /// the user gave. `identity` is `-perc_identity`, which only blastn has.
    pub fn search(
        &mut self,
        options: &CommonOptions,
        matrix: Option<&OsStr>,
        identity: Option<f64>,
        sum_stats: Option<bool>,
    ) {
        let (search, release) = (&options.search, options.release);
        if search.evalue.is_some() || !release.tasks_set_evalue {
            self.set("EvalueThreshold", OptionValue::Evalue(search.evalue.unwrap_or(EVALUE)));
        }
        // A matrix sets its own gap costs.
        let costs = matrix
            .and_then(|matrix| ScoringSystem::new(release, &to_text(matrix), None, None).ok());
        let open = search.gap_open.or(costs.as_ref().map(|costs| costs.gap_open));
        let extend = search.gap_extend.or(costs.as_ref().map(|costs| costs.gap_extend));
        for (name, cost) in [("GapOpeningCost", open), ("GapExtensionCost", extend)] {
            if let Some(cost) = cost {
                self.integer(name, cost);
            }
        }
        let drops =
            [("GapXDropoff", search.xdrop_gap), ("GapXDropoffFinal", search.xdrop_gap_final)];
        self.reals(drops);
        if let Some(size) = search.word_size {
            let of_size = release.threshold_of_size(size);
            if let Some(threshold) = of_size.filter(|_| self.has_neighbours) {
                self.integer("WordThreshold", threshold as i64);
            }
            self.integer("WordSize", size as i64);
        }
        if let Some(space) = search.searchsp {
            self.set("EffectiveSearchSpace", OptionValue::BigInteger(space));
        }
        self.reals([("PercentIdentity", identity), ("QueryCovHspPerc", search.qcov_hsp_perc)]);
        if let Some(most) = search.max_hsps {
            self.integer("MaxHspsPerSubject", most as i64);
        }
        if let Some(sum_stats) = sum_stats {
            self.boolean("SumStatistics", sum_stats);
        }
    }

    fn reals<const N: usize>(&mut self, options: [(&str, Option<f64>); N]) {
        for (name, value) in options {
            if let Some(value) = value {
                self.set(name, OptionValue::Real(value));
            }
        }
    }

    /// Sets the filter of protein queries and of translated ones (`CFilteringArgs`).
    pub fn seg(&mut self, options: &FilteringOptions) -> Result<(), Error> {
        self.boolean("MaskAtHash", options.soft_masking);
        match options.seg.as_bytes() {
            b"no" => self.boolean("SegFiltering", false),
            b"yes" => self.boolean("SegFiltering", true),
            _ => {
                if let Some(seg) = protein::seg(&options.seg)? {
                    self.integer("SegFilteringWindow", seg.window);
                    self.set("SegFilteringLocut", OptionValue::Real(seg.locut));
                    self.set("SegFilteringHicut", OptionValue::Real(seg.hicut));
                }
            }
        }
        Ok(())
    }

    /// Sets the matrix that the user gave, and the threshold of neighbouring words
    /// (`CMatrixNameArg`, `CWordThresholdArg`). A threshold that the task set is not set again.
    pub fn words(&mut self, matrix: Option<&OsStr>, threshold: Option<f64>) {
        if let Some(matrix) = matrix {
            self.text("MatrixName", &to_text(matrix));
        }
        if let Some(threshold) = threshold {
            self.integer("WordThreshold", threshold as i64);
        }
    }

    /// Sets the filters of alignments (`CHspFilteringArgs`).
    pub fn hsps(&mut self, options: &HspFilteringOptions) {
        if let Some(limit) = options.culling_limit {
            self.integer("Culling", limit);
        }
        self.reals([
            ("BestHitOverhang", options.best_hit_overhang),
            ("BestHitScoreEdge", options.best_hit_score_edge),
        ]);
        if options.subject_besthit {
            self.boolean("UseSubjectBestHit", true);
        }
    }

    /// Sets the window of two hits; by default the one suggested for a matrix (`CWindowSizeArg`).
    pub fn window(&mut self, options: &CommonOptions, matrix: Option<&str>) {
        if let Some(size) = options.window_size.or(matrix.map(suggested_two_hit_window)) {
            self.integer("WindowSize", size);
        }
    }

    /// Sets whether the search is ungapped (`CGappedArgs`).
    pub fn ungapped(&mut self, options: &CommonOptions) {
        self.boolean("UngappedMode", options.ungapped);
    }

    /// Sets the mode of composition-based statistics (`CCompositionBasedStatsArgs`).
    pub fn composition(&mut self, options: &CompositionOptions, has_unified_p: bool) {
        let (mode, unified) = protein::composition(&options.comp_based_stats);
        self.integer(COMPOSITION, mode.number());
        if unified && has_unified_p {
            self.integer("UnifiedP", 1);
        }
        self.boolean("SmithWatermanMode", options.use_sw_tback);
    }

    /// Returns the request of a search of `program`, one of whose services is `service`. `strands`
    /// is `None` for protein queries.
    pub fn into_request(
        self,
        program: BlastProgram,
        service: &str,
        strands: Option<Strands>,
    ) -> ArchiveRequest {
        let strand = match strands {
            None => "unknown",
            Some(Strands::Both) => "both",
            Some(Strands::Plus) => "plus",
            Some(Strands::Minus) => "minus",
        };
        let properties = program.properties();
        debug_assert!(properties.services.contains(&service));
        ArchiveRequest {
            program: properties.stored_name.to_owned(),
            service: service.to_owned(),
            algorithm_options: self.options,
            subject_options: Vec::new(),
            strand: strand.to_owned(),
            pssms: None,
            searches_nothing: false,
            warnings: Vec::new(),
        }
    }
}
