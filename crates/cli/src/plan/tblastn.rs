//! `tblastn`: translated subjects, and linked alignments.

use std::ffi::OsStr;

use fleetblast_engine::params::{HspLinking, ProteinParams};
use fleetblast_job::error::Error;
use fleetblast_job::plan::Citations;
use fleetblast_metadata::{Encoding, EncodingChoice};
use fleetblast_report::archive_options::ArchiveRequest;
use fleetblast_seq::translation::GeneticCode;
use fleetblast_stats::program::ReportedProgram;

use super::archive::SetOptions;
use super::fleet::{OptionText, number_value, option_text, text_value};
use super::protein::{self, ProteinSearch};
use super::pssm::{self, ReadingRules};
use super::search::SearchPlan;
use super::{ProcessEnvironment, ProgramBase, SearchProgram, contents};
use crate::options::search::protein::{ProteinProgramOptions, TaskDefaults};
use crate::options::search::{files, nucleotide, psi, translation};
use crate::options::tblastn::{SPEC, TASK, TblastnOptions};

/// Residues of queries in a batch (`GetQueryBatchSize`, blast_input_aux.cpp).
const BATCH: usize = 20_000;
/// Largest number of positions of a PSSM. BLAST+ searches a longer one in chunks of some 10,000.
const MOST_POSITIONS: usize = 19_700;

impl SearchProgram for TblastnOptions {
    fn base(&self) -> ProgramBase<'_> {
        protein::base(&SPEC, &self.shared)
    }

    fn query(&self) -> (&'static str, &OsStr) {
        match &self.in_pssm {
            Some(file) => (psi::IN_PSSM_OF_TBLASTN.name(), file),
            None => (files::QUERY.name(), &self.shared.common.files.query),
        }
    }

    fn option_without_metadata(&self, kinds: EncodingChoice) -> Option<&'static str> {
        // The I/O site does not have the PSSM.
        let makes_hits = kinds != EncodingChoice::Only(Encoding::Report);
        (self.in_pssm.is_some() && makes_hits).then_some(psi::IN_PSSM_OF_TBLASTN.name())
    }

    fn unsupported(&self) -> Option<String> {
        let local = self.shared.protein.composition.use_sw_tback;
        let pssm = self.in_pssm.as_ref();
        let is_linked = self.linking().is_some_and(HspLinking::links_gapped);
        let refused = [
            (local && pssm.is_some(), "-use_sw_tback with -in_pssm"),
            // The alignments of a subject then depend on the subjects searched before it.
            (local && !is_linked, "-use_sw_tback without linked HSPs"),
            (
                pssm.is_some_and(|file| contents::is_read_twice(file)),
                "-in_pssm from standard input on several processes",
            ),
            // BLAST+ then finds no hits.
            (self.shared.common.ungapped && pssm.is_some(), "-ungapped with -in_pssm"),
        ];
        refused.into_iter().find(|(given, _)| *given).map(|(_, what)| what.to_owned())
    }

    fn plan_search(
        &self,
        hitlist_size: usize,
        environment: &ProcessEnvironment<'_>,
    ) -> Result<SearchPlan, Error> {
        let is_of_letters = self.in_pssm.is_none();
        let search = self.search();
        let code = if is_of_letters { &self.db_code } else { &GeneticCode::standard() };
        let translation = protein::subject_translation(&self.shared.common, code);
        let defaults =
            |scoring| ProteinParams::tblastn(self.shared.common.release, scoring, translation);
        let params = search.params(hitlist_size, environment, defaults)?;
        let params = ProteinParams { linking: self.linking(), ..params };
        match &self.in_pssm {
            Some(file) => self.searching_with_pssm(file, params, &search),
            None => Ok(search.plan(params, Citations::Translated, BATCH)),
        }
    }

    fn archive_request(&self, hitlist_size: usize) -> Result<Option<ArchiveRequest>, Error> {
        if self.in_pssm.is_some() {
            return Ok(None);
        }
        let ProteinProgramOptions { common, protein, task, .. } = &self.shared;
        let search = self.search();
        let mut set = SetOptions::of_protein_task(task, common.release);
        set.database_size(&common.database);
        set.search(common, protein.matrix.as_deref(), None, self.sum_stats);
        set.integer("DbGeneticCode", self.db_code.id());
        set.ungapped(common);
        set.integer("LongestIntronLength", self.max_intron_length);
        set.seg(&protein.filtering)?;
        set.words(protein.matrix.as_deref(), search.archived_threshold());
        set.hsps(&common.hsps);
        set.window(common, Some(&search.matrix_name()));
        set.integer("HitlistSize", hitlist_size as i64);
        set.composition(&protein.composition, false);
        Ok(Some(set.into_request(SPEC.program, "plain", None)))
    }

    fn report_options(&self) -> Vec<OptionText> {
        let TblastnOptions { shared, sum_stats, max_intron_length, db_code, in_pssm } = self;
        let mut options = protein::task_report_options(shared, &TASK);
        options.extend([
            option_text(&nucleotide::SUM_STATS, number_value(sum_stats)),
            option_text(&translation::MAX_INTRON_LENGTH, Some(max_intron_length.to_string())),
            option_text(&translation::DB_GENCODE, Some(db_code.id().to_string())),
            option_text(&psi::IN_PSSM_OF_TBLASTN, text_value(in_pssm)),
        ]);
        options
    }
}

impl TblastnOptions {
    fn search(&self) -> ProteinSearch<'_> {
        let is_of_letters = self.in_pssm.is_none();
        ProteinSearch {
            spec: &SPEC,
            common: &self.shared.common,
            protein: &self.shared.protein,
            // With a PSSM the task does not count: BLAST+ compares it with the name `blastx-fast`.
            task: if is_of_letters { &self.shared.task } else { &TaskDefaults::USUAL },
            added_threshold: 2.0,
            accepts_identity: is_of_letters,
            has_composition: is_of_letters,
        }
    }

    /// Returns how HSPs are linked. With a PSSM they are not, by default.
    fn linking(&self) -> Option<HspLinking> {
        let sum_stats = self.sum_stats.unwrap_or(self.in_pssm.is_none());
        protein::linking(sum_stats, self.max_intron_length)
    }

    /// Plans a search with a PSSM instead of a query, which BLAST+ calls PSITBLASTN
    /// (`CPSIBlastOptionsHandle::SetPSITblastnDefaults`, psiblast_options.cpp). It has the defaults
    /// of psiblast, and no composition-based statistics.
    fn searching_with_pssm(
        &self,
        file: &OsStr,
        params: ProteinParams,
        search: &ProteinSearch<'_>,
    ) -> Result<SearchPlan, Error> {
        let found = &params;
        protein::check_short_words(&self.shared.common, false, (found.word_size, found.threshold))?;
        let rules = ReadingRules { program: SPEC.name(), pseudocount: 0, needs_all: false };
        let start = pssm::read(file, &params.scoring, &rules)?;
        let length = start.pssm.query.len();
        if length > MOST_POSITIONS {
            let what = format_args!("-in_pssm with {length} positions, more than {MOST_POSITIONS}");
            return Err(Error::unsupported(SPEC.name(), what));
        }
        let params =
            ProteinParams { initial_pssm_lambda: Some(start.pssm.gapped.lambda), ..params };
        Ok(SearchPlan {
            initial_pssm: Some(start),
            reported_program: Some(ReportedProgram::Psitblastn),
            ..search.plan(params, Citations::Translated, BATCH)
        })
    }
}
