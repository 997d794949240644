//! `blastp`: the defaults of the task and the matrix, and the checks of `BLAST_ValidateOptions`.

use fleetblast_engine::params::{CompositionMode, ProteinParams};
use fleetblast_job::error::Error;
use fleetblast_job::plan::{BLASTP_BATCH, Citations};
use fleetblast_report::archive_options::ArchiveRequest;

use super::archive::SetOptions;
use super::fleet::OptionText;
use super::protein::{self, ProteinSearch};
use super::search::SearchPlan;
use super::{ProcessEnvironment, ProgramBase, SearchProgram};
use crate::options::blastp::{BlastpOptions, SPEC, TASK};
use crate::options::search::protein::{ProteinProgramOptions, TaskDefaults};

impl SearchProgram for BlastpOptions {
    fn base(&self) -> ProgramBase<'_> {
        protein::base(&SPEC, &self.shared)
    }

    fn plan_search(
        &self,
        hitlist_size: usize,
        environment: &ProcessEnvironment<'_>,
    ) -> Result<SearchPlan, Error> {
        let search = self.search();
        let release = self.shared.common.release;
        let defaults = |scoring| {
            let mut params = ProteinParams::blastp(release, scoring);
            if self.shared.task == TaskDefaults::SHORT {
                params.common.evalue = release.blastp_short_evalue;
            }
            // BLAST+ compares the name of the matrix as the user spelled it.
            params.filters_chains = release.filters_chains
                && self.shared.task == TaskDefaults::FAST
                && search.matrix_name() == "BLOSUM62";
            params
        };
        let params = search.params(hitlist_size, environment, defaults)?;
        let (_, unified) = protein::composition(&self.shared.protein.composition.comp_based_stats);
        let unified_p = unified && params.composition != CompositionMode::Off;
        let params = ProteinParams { unified_p, ..params };
        Ok(search.plan(params, Citations::Blastp, BLASTP_BATCH))
    }

    fn archive_request(&self, hitlist_size: usize) -> Result<Option<ArchiveRequest>, Error> {
        let ProteinProgramOptions { common, protein, task, .. } = &self.shared;
        let search = self.search();
        let mut set = SetOptions::of_protein_task(task, common.release);
        set.database_size(&common.database);
        set.search(common, protein.matrix.as_deref(), None, None);
        set.seg(&protein.filtering)?;
        set.words(protein.matrix.as_deref(), search.archived_threshold());
        set.hsps(&common.hsps);
        set.window(common, Some(&search.matrix_name()));
        set.integer("HitlistSize", hitlist_size as i64);
        set.ungapped(common);
        set.composition(&protein.composition, true);
        Ok(Some(set.into_request(SPEC.program, "plain", None)))
    }

    fn report_options(&self) -> Vec<OptionText> {
        let BlastpOptions { shared } = self;
        protein::task_report_options(shared, &TASK)
    }
}

impl BlastpOptions {
    fn search(&self) -> ProteinSearch<'_> {
        ProteinSearch {
            spec: &SPEC,
            common: &self.shared.common,
            protein: &self.shared.protein,
            task: &self.shared.task,
            added_threshold: 0.0,
            accepts_identity: true,
            has_composition: true,
        }
    }
}
