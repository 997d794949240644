//! `tblastn`: translated subjects, and linked alignments.

use fleetblast_engine::params::ProteinParams;
use fleetblast_job::error::Error;
use fleetblast_job::plan::Citations;

use super::fleet::{OptionText, number, option_text, word};
use super::protein::{self, ProteinSearch};
use super::search::Searching;
use super::{Host, SearchProgram};
use crate::options::search::common::CommonOptions;
use crate::options::search::metadata::MetadataOptions;
use crate::options::search::program::ProgramSpec;
use crate::options::search::{nucleotide, translation};
use crate::options::tblastn::{SPEC, TASK, TblastnOptions};

/// Residues of queries in a batch (`GetQueryBatchSize`, blast_input_aux.cpp).
const BATCH: usize = 20_000;

impl SearchProgram for TblastnOptions {
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
        protein::seg(&self.protein.filtering.seg).map(|_| ())
    }

    fn searching(&self, hitlist_size: usize, host: &Host<'_>) -> Result<Searching, Error> {
        let search = ProteinSearch {
            spec: &SPEC,
            common: &self.common,
            protein: &self.protein,
            task: &self.task,
            added_threshold: 2.0,
            accepts_identity: true,
        };
        let translation = protein::subject_translation(&self.common, &self.db_code);
        let defaults = |scoring| ProteinParams::tblastn(SPEC.release, scoring, translation);
        let params = search.params(hitlist_size, host, defaults)?;
        let linking = protein::linking(self.sum_stats, self.max_intron_length);
        let params = ProteinParams { linking, ..params };
        Ok(search.plan(params, Citations::Translated, BATCH))
    }

    fn decisive(&self) -> Vec<OptionText> {
        let TblastnOptions {
            task,
            protein,
            sum_stats,
            max_intron_length,
            db_code,
            // Compared for all programs in `plan/fleet.rs`.
            common: _,
            // With these options the search writes no report.
            metadata: _,
        } = self;
        let mut options = protein::decisive(protein);
        options.extend([
            option_text(&TASK, word(&TASK, task)),
            option_text(&nucleotide::SUM_STATS, number(sum_stats)),
            option_text(&translation::MAX_INTRON_LENGTH, Some(max_intron_length.to_string())),
            option_text(&translation::DB_GENCODE, Some(db_code.id().to_string())),
        ]);
        options
    }
}
