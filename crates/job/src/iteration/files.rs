//! Files of matrices.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fleetblast_db::check_mapped_files;
use fleetblast_report::scoremat::{self, Checkpoint};
use fleetblast_seq::id::ObjectId;
use serde::{Deserialize, Serialize};

use super::{Kept, Rules};
use crate::error::Error;
use crate::output::write_whole;
use crate::plan::{Iteration, Plan};
use crate::queries::QueryRecord;

/// A matrix as its files have it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Matrix {
    checkpoint: Option<Vec<u8>>,
    table: Option<Vec<u8>>,
}

impl Matrix {
    pub(super) fn new(
        plan: &Plan,
        iteration: &Iteration,
        kept: &Kept,
        record: &QueryRecord,
    ) -> Self {
        let checkpoint = || match &iteration.start {
            Some(start) if Arc::ptr_eq(&start.pssm, &kept.pssm) => start.checkpoint.clone(),
            _ => checkpoint(plan, iteration, kept, record),
        };
        let table = || {
            let mut bytes = Vec::new();
            scoremat::table(&kept.pssm, &kept.statistics, &mut bytes);
            bytes
        };
        Matrix {
            checkpoint: iteration.checkpoint.as_ref().map(|_| checkpoint()),
            table: iteration.table.as_ref().map(|_| table()),
        }
    }
}

#[cfg(test)]
impl Matrix {
    /// Of which only this is kept.
    pub fn of_checkpoint(bytes: &[u8]) -> Self {
        Matrix { checkpoint: Some(bytes.to_vec()), table: None }
    }
}

fn checkpoint(plan: &Plan, iteration: &Iteration, kept: &Kept, record: &QueryRecord) -> Vec<u8> {
    let mut bytes = Vec::new();
    let scoring = &iteration.params.scoring;
    let counted = || ObjectId::Text(format!("Query_{}", record.unnamed).into_bytes());
    let id = iteration.start.as_ref().map_or_else(counted, |start| start.id.clone());
    let checkpoint = Checkpoint {
        id: &id,
        title: Some(&record.record.title),
        // BLAST+ has made bytes of a text meanwhile.
        is_text: false,
        pssm: &kept.pssm,
        observed: iteration.table.is_some(),
        matrix: &plan.matrix_name,
        gaps: Some((scoring.gap_open, scoring.gap_extend)),
        pseudocount: iteration.pseudocount,
    };
    scoremat::checkpoint(&checkpoint, &mut bytes);
    bytes
}

/// Where matrices are kept.
pub struct PssmFiles<'a> {
    iteration: &'a Iteration,
    /// Matrices kept so far.
    count: usize,
}

impl<'a> PssmFiles<'a> {
    /// The files that were asked for.
    pub fn new(iteration: &'a Iteration) -> Self {
        PssmFiles { iteration, count: 0 }
    }

    /// Keeps a matrix, in place of the one before or beside it.
    ///
    /// # Errors
    /// Names the file.
    pub fn keep(&mut self, matrix: &Matrix) -> Result<(), Error> {
        self.count += 1;
        let Iteration { checkpoint, table, .. } = self.iteration;
        for (path, bytes) in [(checkpoint, &matrix.checkpoint), (table, &matrix.table)] {
            if let (Some(path), Some(bytes)) = (path, bytes) {
                self.write(path, bytes)?;
            }
        }
        Ok(())
    }

    /// Keeps matrices of a query, if there are to be any.
    ///
    /// # Errors
    /// As [`keep`](Self::keep).
    pub fn keep_of<'k>(
        &mut self,
        rules: &Rules,
        kept: impl IntoIterator<Item = &'k Kept>,
        record: &QueryRecord,
    ) -> Result<(), Error> {
        let mut matrices = kept.into_iter().filter_map(|kept| rules.matrix(kept, record));
        matrices.try_for_each(|matrix| self.keep(&matrix))
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
        // It is made of what was found.
        check_mapped_files()?;
        write_whole(&path, |file| file.write_all(bytes))
            .map_err(|error| Error::output(format_args!("{}: {error}", path.display())))
    }
}
