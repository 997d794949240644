//! `blastx`: translated queries, and linked alignments.

use fleetblast_engine::params::{ProteinParams, QueryTranslation};
use fleetblast_job::error::Error;
use fleetblast_job::plan::Citations;
use fleetblast_report::archive_options::ArchiveRequest;

use super::archive::SetOptions;
use super::fleet::{OptionText, number_value, option_text, word_value};
use super::protein::{self, ProteinSearch};
use super::search::SearchPlan;
use super::{ProcessEnvironment, ProgramBase, SearchProgram};
use crate::options::blastx::{BlastxOptions, SPEC, TASK};
use crate::options::search::protein::ProteinProgramOptions;
use crate::options::search::{nucleotide, query, translation};

/// Nucleotides of queries in a batch: a multiple of 3, so that all chunks have the same frames
/// (`GetQueryBatchSize`, blast_input_aux.cpp).
const BATCH: usize = 10_002;

impl SearchProgram for BlastxOptions {
    fn base(&self) -> ProgramBase<'_> {
        protein::base(&SPEC, &self.shared)
    }

    fn plan_search(
        &self,
        hitlist_size: usize,
        environment: &ProcessEnvironment<'_>,
    ) -> Result<SearchPlan, Error> {
        let search = self.search();
        let (code, strands) = (self.query_code.clone(), self.strands);
        let defaults =
            |scoring| ProteinParams::blastx(self.shared.common.release, scoring, code.clone());
        let params = search.params(hitlist_size, environment, defaults)?;
        let linking = protein::linking(self.sum_stats.unwrap_or(true), self.max_intron_length);
        let params = ProteinParams {
            query_translation: Some(QueryTranslation { code, strands }),
            linking,
            ..params
        };
        Ok(search.plan(params, Citations::Translated, BATCH))
    }

    fn archive_request(&self, hitlist_size: usize) -> Result<Option<ArchiveRequest>, Error> {
        let ProteinProgramOptions { common, protein, task, .. } = &self.shared;
        let search = self.search();
        let mut set = SetOptions::of_protein_task(task, common.release);
        set.database_size(&common.database);
        set.search(common, protein.matrix.as_deref(), None, self.sum_stats);
        set.integer("LongestIntronLength", self.max_intron_length);
        set.seg(&protein.filtering)?;
        set.words(protein.matrix.as_deref(), search.archived_threshold());
        set.hsps(&common.hsps);
        set.window(common, Some(&search.matrix_name()));
        set.ungapped(common);
        set.integer("QueryGeneticCode", self.query_code.id());
        set.integer("HitlistSize", hitlist_size as i64);
        set.composition(&protein.composition, false);
        Ok(Some(set.into_request(SPEC.program, "plain", Some(self.strands))))
    }

    fn report_options(&self) -> Vec<OptionText> {
        let BlastxOptions { shared, sum_stats, max_intron_length, strands, query_code } = self;
        let mut options = protein::task_report_options(shared, &TASK);
        options.extend([
            option_text(&nucleotide::SUM_STATS, number_value(sum_stats)),
            option_text(&translation::MAX_INTRON_LENGTH, Some(max_intron_length.to_string())),
            option_text(&query::STRAND, word_value(&query::STRAND, strands)),
            option_text(&translation::QUERY_GENCODE, Some(query_code.id().to_string())),
        ]);
        options
    }
}

impl BlastxOptions {
    fn search(&self) -> ProteinSearch<'_> {
        ProteinSearch {
            spec: &SPEC,
            common: &self.shared.common,
            protein: &self.shared.protein,
            task: &self.shared.task,
            added_threshold: 1.0,
            accepts_identity: false,
            has_composition: true,
        }
    }
}
