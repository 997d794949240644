//! Files of matrices.

use std::fs;
use std::path::{Path, PathBuf};

use fleetblast_engine::params::Params;
use fleetblast_engine::pssm::Pssm;
use fleetblast_report::scoremat::{self, Checkpoint, Statistics};

use crate::error::Error;
use crate::plan::{Iteration, Plan};
use crate::queries::QueryRecord;

/// Where matrices are kept.
pub struct PssmFiles<'a> {
    iteration: &'a Iteration,
    /// Matrices kept so far.
    count: usize,
}

impl<'a> PssmFiles<'a> {
    pub fn new(iteration: &'a Iteration) -> Self {
        PssmFiles { iteration, count: 0 }
    }

    /// Keeps a matrix, in place of the one before or beside it.
    pub fn keep(
        &mut self,
        plan: &Plan,
        pssm: &Pssm,
        statistics: &Statistics,
        record: &QueryRecord,
    ) -> Result<(), Error> {
        self.count += 1;
        if let Some(path) = &self.iteration.checkpoint {
            self.write(path, &self.checkpoint(plan, pssm, record))?;
        }
        if let Some(path) = &self.iteration.table {
            let mut bytes = Vec::new();
            scoremat::table(pssm, statistics, &mut bytes);
            self.write(path, &bytes)?;
        }
        Ok(())
    }

    fn checkpoint(&self, plan: &Plan, pssm: &Pssm, record: &QueryRecord) -> Vec<u8> {
        let mut bytes = Vec::new();
        let gaps = match &self.iteration.params {
            Params::Protein(params) => Some((params.scoring.gap_open, params.scoring.gap_extend)),
            Params::Nucleotide(_) => None,
        };
        let id = format!("Query_{}", record.unnamed);
        let checkpoint = Checkpoint {
            id: id.as_bytes(),
            title: Some(&record.record.title),
            is_text: false,
            pssm,
            observed: self.iteration.table.is_some(),
            matrix: &plan.matrix_name,
            gaps,
            pseudocount: self.iteration.pseudocount,
        };
        scoremat::checkpoint(&checkpoint, &mut bytes);
        bytes
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        let path = match self.iteration.save_each {
            true => {
                let mut name = path.as_os_str().to_owned();
                name.push(format!(".{}", self.count));
                PathBuf::from(name)
            }
            false => path.to_owned(),
        };
        fs::write(&path, bytes)
            .map_err(|error| Error::output(format_args!("{}: {error}", path.display())))
    }
}
