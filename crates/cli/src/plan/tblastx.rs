//! `tblastx`: translated queries and subjects, and linked alignments without gaps.

use fleetblast_engine::params::{Params, ProteinParams, QueryTranslation};
use fleetblast_job::error::Error;
use fleetblast_job::plan::{BatchSize, Citations};
use fleetblast_report::archive_options::ArchiveRequest;
use fleetblast_stats::scoring::{
    ScoringSystem, suggested_two_hit_window, suggested_word_threshold,
};

use super::archive::{self, SetOptions};
use super::fleet::{OptionText, flag_value, number_value, option_text, text_value, word_value};
use super::search::{SearchPlan, common};
use super::{ProcessEnvironment, ProgramBase, SearchProgram, has_old_finite_size, protein};
use crate::options::search::filtering::{self, FilteringOptions};
use crate::options::search::{nucleotide, query, single, translation};
use crate::options::tblastx::{SPEC, TblastxOptions};
use crate::options::typed::to_text;

/// Nucleotides of queries in a batch (`GetQueryBatchSize`, blast_input_aux.cpp).
const BATCH: usize = 10_002;
/// The matrix of a search without `-matrix`.
const MATRIX: &str = "BLOSUM62";
/// Default number of letters in a word.
const WORD_SIZE: usize = 3;

impl SearchProgram for TblastxOptions {
    fn base(&self) -> ProgramBase<'_> {
        ProgramBase {
            spec: &SPEC,
            common: &self.common,
            metadata: Some(&self.metadata),
            seg: Some(&self.filtering.seg),
        }
    }

    fn plan_search(
        &self,
        hitlist_size: usize,
        environment: &ProcessEnvironment<'_>,
    ) -> Result<SearchPlan, Error> {
        let matrix_name = self.matrix_name();
        let release = self.common.release;
        // In BLAST+ no check needs the matrix; only the search finds that it does not exist.
        let found = ScoringSystem::new(release, &matrix_name, None, None);
        let delayed_option_error =
            found.is_err().then(|| "Error: Unknown error code -1".to_owned());
        let scoring = found.or_else(|_| ScoringSystem::new(release, MATRIX, None, None));
        let scoring = scoring.map_err(Error::query_options)?;
        Ok(SearchPlan {
            params: Params::Protein(self.params(
                &matrix_name,
                scoring,
                hitlist_size,
                environment,
            )?),
            delayed_option_error,
            matrix_name,
            identity_resets_composition: false,
            initial_pssm: None,
            iteration: None,
            reads_again: false,
            citations: Citations::Translated,
            reported_program: None,
            batch_size: BatchSize::Fixed(BATCH),
            thread_letters: BATCH,
        })
    }

    fn archive_request(&self, hitlist_size: usize) -> Result<Option<ArchiveRequest>, Error> {
        let TblastxOptions { common, matrix, .. } = self;
        let matrix_name = self.matrix_name();
        let mut set = SetOptions::of_task(archive::EVALUE, common.release);
        set.database_size(&common.database);
        set.search(common, matrix.as_deref(), None, self.sum_stats);
        set.integer("LongestIntronLength", self.max_intron_length);
        set.seg(&self.filtering)?;
        set.words(matrix.as_deref(), Some(self.word_threshold(&matrix_name)));
        set.hsps(&common.hsps);
        set.window(common, Some(&matrix_name));
        set.integer("QueryGeneticCode", self.query_code.id());
        set.integer("DbGeneticCode", self.db_code.id());
        set.integer("HitlistSize", hitlist_size as i64);
        Ok(Some(set.into_request(SPEC.program, "plain", Some(self.strands))))
    }

    fn report_options(&self) -> Vec<OptionText> {
        let TblastxOptions {
            filtering: FilteringOptions { seg, soft_masking },
            matrix,
            threshold,
            sum_stats,
            strands,
            query_code,
            db_code,
            // Only the default is accepted.
            max_intron_length: _,
            // Compared for all programs in `plan/fleet.rs`.
            common: _,
            // With these options the search writes no report.
            metadata: _,
        } = self;
        vec![
            option_text(&single::MATRIX, text_value(matrix)),
            option_text(&single::THRESHOLD, number_value(threshold)),
            option_text(&filtering::SEG, Some(to_text(seg))),
            option_text(&filtering::SOFT_MASKING, flag_value(*soft_masking)),
            option_text(&nucleotide::SUM_STATS, number_value(sum_stats)),
            option_text(&query::STRAND, word_value(&query::STRAND, strands)),
            option_text(&translation::QUERY_GENCODE, Some(query_code.id().to_string())),
            option_text(&translation::DB_GENCODE, Some(db_code.id().to_string())),
        ]
    }
}

impl TblastxOptions {
    fn matrix_name(&self) -> String {
        self.matrix.as_deref().map_or(MATRIX.to_owned(), to_text)
    }

    fn word_threshold(&self, matrix_name: &str) -> f64 {
        self.threshold.unwrap_or_else(|| suggested_word_threshold(matrix_name) + 2.0)
    }

    /// Builds and checks the parameters.
    fn params(
        &self,
        matrix_name: &str,
        scoring: ScoringSystem,
        hitlist_size: usize,
        environment: &ProcessEnvironment<'_>,
    ) -> Result<ProteinParams, Error> {
        let search = &self.common.search;
        let word_size = search.word_size.unwrap_or(WORD_SIZE);
        let threshold = self.word_threshold(matrix_name);
        self.check(word_size, threshold, hitlist_size)?;
        let query = QueryTranslation { code: self.query_code.clone(), strands: self.strands };
        let subject = protein::subject_translation(&self.common, &self.db_code);
        let defaults = ProteinParams::tblastx(self.common.release, scoring, query, subject);
        let soft_masking = self.filtering.soft_masking;
        Ok(ProteinParams {
            common: common(&self.common, soft_masking, hitlist_size, defaults.common),
            word_size,
            threshold,
            window: self.common.window_size.unwrap_or(suggested_two_hit_window(matrix_name)),
            seg: protein::seg(&self.filtering.seg)?,
            finite_size: search.searchsp.is_none() && !has_old_finite_size(environment),
            linking: protein::linking(self.sum_stats.unwrap_or(true), 0),
            ..defaults
        })
    }

    /// Checks the values in BLAST+'s order.
    fn check(&self, word_size: usize, threshold: f64, hitlist_size: usize) -> Result<(), Error> {
        protein::check_short_words(&self.common, false, (word_size, threshold))?;
        protein::check_lists(&self.common, hitlist_size)?;
        if self.max_intron_length > 0 {
            return Err(Error::query_options(
                "Uneven gap linking of HSPs is allowed for blastx, tblastn, and psitblastn only",
            ));
        }
        Ok(())
    }
}
