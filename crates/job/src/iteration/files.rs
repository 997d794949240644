//! The files of PSSMs (`-out_pssm`, `-out_ascii_pssm`).

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fleetblast_db::check_mapped_files;
use fleetblast_report::scoremat::{self, PssmDescription};
use fleetblast_seq::id::ObjectId;
use serde::{Deserialize, Serialize};

use super::{IterationRules, KeptPssm};
use crate::error::Error;
use crate::output::write_whole;
use crate::plan::{IterationPlan, Plan};
use crate::queries::QueryRecord;

/// A PSSM, encoded in the formats of its files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EncodedPssm {
    checkpoint: Option<Vec<u8>>,
    table: Option<Vec<u8>>,
}

impl EncodedPssm {
    pub(super) fn new(
        plan: &Plan,
        iteration: &IterationPlan,
        kept: &KeptPssm,
        record: &QueryRecord,
    ) -> Self {
        let checkpoint = || match &plan.initial_pssm {
            Some(start) if Arc::ptr_eq(&start.pssm, &kept.pssm) => {
                scoremat::write_checkpoint(&start.description, &start.pssm)
            }
            _ => checkpoint(plan, iteration, kept, record),
        };
        let table = || {
            let mut bytes = Vec::new();
            scoremat::write_ascii_pssm(&kept.pssm, &kept.statistics, &mut bytes);
            bytes
        };
        EncodedPssm {
            checkpoint: iteration.checkpoint.as_ref().map(|_| checkpoint()),
            table: iteration.table.as_ref().map(|_| table()),
        }
    }
}

#[cfg(test)]
impl EncodedPssm {
    /// Creates a PSSM with only the bytes of a checkpoint.
    pub fn from_checkpoint(bytes: &[u8]) -> Self {
        EncodedPssm { checkpoint: Some(bytes.to_vec()), table: None }
    }
}

fn checkpoint(
    plan: &Plan,
    iteration: &IterationPlan,
    kept: &KeptPssm,
    record: &QueryRecord,
) -> Vec<u8> {
    let scoring = &iteration.params.scoring;
    let counted = || ObjectId::Text(format!("Query_{}", record.unnamed).into_bytes());
    let id = plan.initial_pssm.as_ref().map_or_else(counted, |start| start.description.id.clone());
    let description = PssmDescription {
        id,
        title: Some(record.record.title.clone()),
        // BLAST+ has converted the residues from text to bytes by then.
        has_text_residues: false,
        has_intermediate_data: iteration.table.is_some(),
        matrix_name: plan.matrix_name.clone(),
        gap_costs: Some((scoring.gap_open, scoring.gap_extend)),
        pseudocount: iteration.pseudocount,
    };
    scoremat::write_checkpoint(&description, &kept.pssm)
}

/// Writer of PSSMs to the files of a plan.
pub struct PssmFiles<'a> {
    iteration: &'a IterationPlan,
    /// Number of PSSMs written so far.
    count: usize,
}

impl<'a> PssmFiles<'a> {
    /// Creates the writer of a plan's PSSM files.
    pub fn new(iteration: &'a IterationPlan) -> Self {
        PssmFiles { iteration, count: 0 }
    }

    /// Writes a PSSM to the files of the plan. It replaces the previous PSSM there. If each PSSM
    /// gets its own files, their names end with the number of the PSSM instead.
    ///
    /// # Errors
    /// A file that cannot be written; the message names it.
    pub fn save(&mut self, pssm: &EncodedPssm) -> Result<(), Error> {
        self.count += 1;
        let IterationPlan { checkpoint, table, .. } = self.iteration;
        for (path, bytes) in [(checkpoint, &pssm.checkpoint), (table, &pssm.table)] {
            if let (Some(path), Some(bytes)) = (path, bytes) {
                self.write(path, bytes)?;
            }
        }
        Ok(())
    }

    /// Writes the PSSMs `kept` of a query, if the plan has files for them.
    ///
    /// # Errors
    /// As [`save`](Self::save).
    pub fn save_all<'k>(
        &mut self,
        rules: &IterationRules,
        kept: impl IntoIterator<Item = &'k KeptPssm>,
        record: &QueryRecord,
    ) -> Result<(), Error> {
        let mut pssms = kept.into_iter().filter_map(|kept| rules.encode_pssm(kept, record));
        pssms.try_for_each(|pssm| self.save(&pssm))
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
        // A PSSM depends on mapped files of the database.
        check_mapped_files()?;
        write_whole(&path, |file| file.write_all(bytes))
            .map_err(|error| Error::output(format_args!("{}: {error}", path.display())))
    }
}
