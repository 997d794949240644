//! Collects the outcomes of psiblast's iterations, block by block. Writes PSSMs to files, returns
//! messages to print, and numbers the iterations.

use std::collections::BTreeMap;

use fleetblast_fleet::ids::BlockId;

use super::questions::inconsistent_ranks;
use super::verification_records::VerificationRecords;
use crate::error::Error;
use crate::iteration::{PssmFiles, messages_before};
use crate::plan::IterationPlan;
use crate::queries::QueryRecord;
use crate::ranks::wire::{Bytes, IterationOutcome, PrecedingSearches, decode};
use crate::reports::Warning;

/// A message to print.
pub enum IterationMessage {
    /// A message before the first iteration of a query.
    Query(String),
    /// A warning of BLAST+ about an iteration.
    Search(Warning),
}

/// The outcomes of the iterations of all blocks so far.
pub struct IterationLog<'a> {
    iteration: &'a IterationPlan,
    files: PssmFiles<'a>,
    /// Records of the outcomes, if there is a checkpoint.
    verification_records: Option<Box<VerificationRecords>>,
    /// The first block whose outcome is not applied yet.
    next: BlockId,
    /// Outcomes of blocks from `next` on that an earlier run finished.
    skipped: BTreeMap<BlockId, IterationOutcome>,
    /// For each query of the blocks from `next` on, the messages before its first iteration.
    messages: BTreeMap<BlockId, Vec<Vec<String>>>,
    /// Number of iterations in the blocks before `next`.
    searches: u64,
    failure: Option<Error>,
}

impl<'a> IterationLog<'a> {
    /// Creates a log without blocks. PSSMs go to the files that the plan names.
    pub fn new(iteration: &'a IterationPlan) -> Self {
        IterationLog {
            iteration,
            files: PssmFiles::new(iteration),
            verification_records: None,
            next: BlockId(0),
            skipped: BTreeMap::new(),
            messages: BTreeMap::new(),
            searches: 0,
            failure: None,
        }
    }

    /// Sets the records that store outcomes, those of earlier runs included.
    pub fn set_records(&mut self, kept: VerificationRecords) {
        self.verification_records = Some(Box::new(kept));
    }

    /// Returns the error that ended the report early.
    pub fn failure(&self) -> Option<&Error> {
        self.failure.as_ref()
    }

    /// Returns the number of reported iterations.
    pub fn searches(&self) -> u64 {
        self.searches
    }

    /// Adds the messages before the first iteration of each query of a block. They are printed with
    /// the outcome of the block.
    pub fn add_messages(&mut self, block: BlockId, records: &[QueryRecord]) {
        let messages =
            records.iter().map(|record| messages_before(self.iteration, record).cloned().collect());
        self.messages.insert(block, messages.collect());
    }

    /// Adds the outcome of a block that an earlier run finished. Returns messages to be printed
    /// now.
    ///
    /// # Errors
    /// The checkpoint cannot be read, or files cannot be written.
    pub fn add_finished(&mut self, block: BlockId) -> Result<Vec<IterationMessage>, Error> {
        let verification_records =
            self.verification_records.as_mut().ok_or_else(|| inconsistent_ranks(block))?;
        self.skipped.insert(block, verification_records.read(block)?);
        let mut notices = Vec::new();
        self.catch_up(&mut notices)?;
        Ok(notices)
    }

    /// Adds the outcome of the next block. Returns the number of iterations before it, and the
    /// messages to print now. The outcome is on disk before this function returns. An outcome that
    /// ends the report is not stored, so that a resumed job ends there, too.
    ///
    /// # Errors
    /// The checkpoint or files cannot be written.
    pub fn add_outcome(
        &mut self,
        block: BlockId,
        found: &Bytes,
    ) -> Result<(PrecedingSearches, Vec<IterationMessage>), Error> {
        let mut notices = Vec::new();
        if self.failure.is_some() {
            return Ok((None, notices));
        }
        if block != self.next {
            return Err(inconsistent_ranks(block));
        }
        let (before, outcome): (u64, IterationOutcome) = (self.searches, decode(found)?);
        if let (None, Some(verification_records)) =
            (&outcome.failure, &mut self.verification_records)
        {
            verification_records.write(block, &outcome)?;
        }
        self.apply_outcome(outcome, &mut notices)?;
        self.catch_up(&mut notices)?;
        Ok((Some(before), notices))
    }

    /// Applies outcomes of blocks that an earlier run finished, as long as the outcomes of all
    /// blocks before them are known.
    fn catch_up(&mut self, notices: &mut Vec<IterationMessage>) -> Result<(), Error> {
        while self.failure.is_none()
            && let Some(outcome) = self.skipped.remove(&self.next)
        {
            self.apply_outcome(outcome, notices)?;
        }
        Ok(())
    }

    fn apply_outcome(
        &mut self,
        outcome: IterationOutcome,
        notices: &mut Vec<IterationMessage>,
    ) -> Result<(), Error> {
        let IterationOutcome { warnings: searches, uncounted, pssms, failure } = outcome;
        let mut messages = self.messages.remove(&self.next).unwrap_or_default().into_iter();
        self.next = self.next.next();
        for searches in searches {
            self.searches += searches.len() as u64;
            notices.extend(
                messages.next().unwrap_or_default().into_iter().map(IterationMessage::Query),
            );
            notices.extend(
                searches.into_iter().map(|text| IterationMessage::Search(Warning::new(text))),
            );
        }
        self.searches -= uncounted;
        pssms.iter().try_for_each(|pssm| self.files.save(pssm))?;
        self.failure = failure.map(|(code, message)| Error::from_remote(code, message));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use fleetblast_engine::params::ProteinParams;
    use fleetblast_stats::release::Release;
    use fleetblast_stats::scoring::ScoringSystem;

    use super::*;
    use crate::iteration::EncodedPssm;
    use crate::ranks::wire::encode;

    fn iteration() -> IterationPlan {
        let release = &Release::V2_12_0;
        let scoring = ScoringSystem::new(release, "BLOSUM62", None, None).expect("known scores");
        IterationPlan {
            max_iterations: None,
            params: ProteinParams::psiblast(release, scoring),
            resets_composition: false,
            pseudocount: 0,
            fault: None,
            warnings: Vec::new(),
            checkpoint: None,
            table: None,
            save_last: false,
            save_each: true,
        }
    }

    /// Creates the outcome of `searches` iterations, each with a warning. The last iteration may
    /// have failed.
    fn sample_outcome(searches: usize, failure: Option<&str>) -> IterationOutcome {
        let failure = failure.map(|message| (3, message.to_owned()));
        let warnings = vec![vec![Some(b"w".to_vec()); searches]];
        IterationOutcome { warnings, uncounted: 0, pssms: Vec::new(), failure }
    }

    #[test]
    fn searches_are_numbered_over_all_blocks_and_runs() {
        let iteration = iteration();
        let mut iterations = IterationLog::new(&iteration);
        let add_outcome = |iterations: &mut IterationLog, block, outcome: &IterationOutcome| {
            let (before, notices) =
                iterations.add_outcome(BlockId(block), &encode(outcome).unwrap())?;
            Ok::<_, Error>((before, notices.len()))
        };
        // An earlier run has finished blocks 1 and 2.
        iterations.messages.insert(BlockId(2), vec![vec!["odd".to_owned()]]);
        iterations
            .skipped
            .extend([(BlockId(2), sample_outcome(4, None)), (BlockId(1), sample_outcome(3, None))]);
        assert!(
            add_outcome(&mut iterations, 3, &sample_outcome(1, None)).is_err(),
            "block 0 has no outcome"
        );
        assert_eq!(add_outcome(&mut iterations, 0, &sample_outcome(2, None)), Ok((Some(0), 10)));
        assert_eq!(add_outcome(&mut iterations, 3, &sample_outcome(1, None)), Ok((Some(9), 1)));
        assert_eq!((iterations.searches(), iterations.failure()), (10, None));
        assert!(
            add_outcome(&mut iterations, 3, &sample_outcome(1, None)).is_err(),
            "block 3 has an outcome"
        );
    }

    #[test]
    fn nothing_is_reported_after_a_query_that_failed() {
        let iteration = iteration();
        let mut iterations = IterationLog::new(&iteration);
        iterations.skipped.insert(BlockId(1), sample_outcome(5, None));
        let failed = encode(&sample_outcome(2, Some("odd"))).unwrap();
        let (before, notices) = iterations.add_outcome(BlockId(0), &failed).unwrap();
        assert_eq!((before, notices.len()), (Some(0), 2));
        let (before, notices) =
            iterations.add_outcome(BlockId(2), &encode(&sample_outcome(1, None)).unwrap()).unwrap();
        assert_eq!((before, notices.len()), (None, 0));
        assert_eq!(iterations.searches(), 2);
        assert_eq!(iterations.failure(), Some(&Error::new(3, "odd")));
    }

    #[test]
    fn pssms_are_numbered_over_all_blocks() {
        let directory = tempfile::tempdir().expect("a directory");
        let checkpoint = Some(directory.path().join("p"));
        let iteration = IterationPlan { checkpoint, ..iteration() };
        let mut iterations = IterationLog::new(&iteration);
        for (block, pssms) in [["a", "b"], ["c", "d"]].into_iter().enumerate() {
            let pssms = pssms.map(|text| EncodedPssm::from_checkpoint(text.as_bytes())).to_vec();
            let found = encode(&IterationOutcome { pssms, ..sample_outcome(2, None) }).unwrap();
            iterations.add_outcome(BlockId(block as u32), &found).unwrap();
        }
        for (number, text) in (1..).zip(["a", "b", "c", "d"]) {
            let path = directory.path().join(format!("p.{number}"));
            assert_eq!(fs::read_to_string(path).expect("a PSSM"), text);
        }
    }
}
