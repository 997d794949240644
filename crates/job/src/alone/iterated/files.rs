//! Files of matrices.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
        pssm: &Arc<Pssm>,
        statistics: &Statistics,
        record: &QueryRecord,
    ) -> Result<(), Error> {
        self.count += 1;
        if let Some(path) = &self.iteration.checkpoint {
            match &self.iteration.start {
                Some(start) if Arc::ptr_eq(&start.pssm, pssm) => {
                    self.write(path, &start.checkpoint)?;
                }
                _ => self.write(path, &self.checkpoint(plan, pssm, record))?,
            }
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
        let counted = || format!("Query_{}", record.unnamed).into_bytes();
        let id = record.called.clone().unwrap_or_else(counted);
        let start = self.iteration.start.as_ref();
        let checkpoint = Checkpoint {
            id: &id,
            title: Some(&record.record.title),
            is_text: start.is_some_and(|start| start.is_text),
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
