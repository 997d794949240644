//! The stages from preliminary hits to formatted hits, for every program.

use std::time::{Duration, Instant};

use fleetblast_engine::hits::{PrelimHit, SubjectHit};
use fleetblast_fleet::ids::BlockId;
use fleetblast_report::pieces;
use fleetblast_report::table::DescriptionRow;

use super::joined_hits::JoinedHits;
use super::merging::MergedLists;
use super::questions::{
    Answers, FormattedPiece, HitPosition, HitsByPartition, Questions, encode_alignment_question,
    encode_questions, encode_sending_question, group_by_partition, inconsistent_ranks,
    invert_order, reported_hit, select_final_hits, sorts_hits_by_description, take_alignments,
    take_candidates, take_description_rows, take_pieces,
};
use crate::error::Error;
use crate::ranks::job::{PreparedBlock, RankJob};
use crate::ranks::wire::Question;

/// The stage of the hits of a block, with the data that its next stage needs.
pub enum HitStage {
    /// Tasks are being searched.
    Search(MergedLists),
    /// Workers align the hits that were chosen for the traceback.
    Align {
        chosen: Vec<Vec<PrelimHit>>,
        asked_hits: HitsByPartition,
        /// Number of queries that are reported.
        reported: usize,
        since: Instant,
    },
    /// Workers send all alignments of the final hits.
    Send { hits: Vec<Vec<SubjectHit>>, asked_hits: HitsByPartition },
    /// Workers send the alignments of the hits that are joined to an earlier hit of the same
    /// identifier.
    Join(JoinedHits),
    /// Workers create the rows of the description table.
    Describe { hits: Vec<Vec<SubjectHit>>, asked_hits: HitsByPartition },
    /// Workers format the hits.
    Format(PrintedHits),
}

/// The step after a stage.
pub enum AfterStage {
    /// Another stage, with its questions.
    Stage(HitStage),
    /// The caller [reports](HitStage::report) the selected hits.
    Selected(SelectedHits),
    /// Workers have sent the hits of each query with all alignments.
    Sent(Vec<Vec<SubjectHit>>),
    /// The report can be laid out: workers have formatted these hits.
    Formatted(PrintedHits),
}

/// The final hits of the reported queries, with outlines of their alignments.
pub struct SelectedHits {
    /// The hits of each query.
    pub hits: Vec<Vec<SubjectHit>>,
    /// For each query, whether more of its subjects were aligned than its hit list holds.
    pub overflowed: Vec<bool>,
    /// Time that the workers took for the alignments.
    pub traceback: Duration,
}

/// Hits of each query, for printing.
pub struct PrintedHits {
    /// The final hits of each query.
    pub hits: Vec<Vec<SubjectHit>>,
    /// For each query, indexes into its list of hits, in the order of printing.
    pub orders: Vec<Vec<usize>>,
    /// For each query, the rows of the description table, one for each hit. `None` if they are not
    /// known yet.
    rows: Option<Vec<Vec<DescriptionRow>>>,
    /// The hits by the partitions that hold their subjects.
    pub asked_hits: HitsByPartition,
}

impl HitStage {
    /// Returns the stage of a block whose tasks are being searched.
    pub fn search(job: &RankJob, block: &PreparedBlock) -> Self {
        HitStage::Search(MergedLists::new(job.engine_for(block).merger(&block.grouping)))
    }

    /// Returns the first stage after the selection of the final hits. With `sends_alignments` the
    /// workers send all alignments of the hits, otherwise they format the hits.
    ///
    /// # Errors
    /// Definition lines that cannot be read.
    pub fn report(
        job: &RankJob,
        hits: Vec<Vec<SubjectHit>>,
        sends_alignments: bool,
    ) -> Result<Self, Error> {
        if sends_alignments {
            let asked_hits = group_by_partition(job, &hits, |hit| hit.oid);
            return Ok(HitStage::Send { hits, asked_hits });
        }
        JoinedHits::new(job, hits).map(HitStage::Join)
    }

    /// Returns the merged lists of a block whose tasks are being searched.
    ///
    /// # Errors
    /// The block is in another stage.
    pub fn merged_lists(&mut self, block: BlockId) -> Result<&mut MergedLists, Error> {
        match self {
            HitStage::Search(lists) => Ok(lists),
            _ => Err(inconsistent_ranks(block)),
        }
    }

    /// Encodes the questions of this stage. If there is none, the next stage follows at once.
    ///
    /// # Errors
    /// See [`encode_questions`].
    pub fn questions(&self, job: &RankJob) -> Result<Questions, Error> {
        match self {
            HitStage::Search(_) => Ok(Vec::new()),
            HitStage::Align { chosen, asked_hits, .. } => {
                encode_alignment_question(asked_hits, chosen)
            }
            HitStage::Send { hits, asked_hits } => encode_sending_question(asked_hits, hits),
            HitStage::Join(joined) => encode_sending_question(&joined.asked_hits, &joined.later),
            HitStage::Describe { hits, asked_hits } => encode_questions(asked_hits, |places| {
                let wanted =
                    |&(query, at): &HitPosition| reported_hit(&hits[query], query, at, at + 1);
                Question::Describe(places.iter().map(wanted).collect())
            }),
            HitStage::Format(printed) => printed.questions(job),
        }
    }

    /// Goes to the next stage. Takes the answers to the questions of this stage, except those to
    /// the questions of [`Format`](Self::Format), which the caller takes.
    ///
    /// # Errors
    /// The answers do not match the questions.
    pub fn advance(
        self,
        job: &RankJob,
        (id, block): (BlockId, &PreparedBlock),
        answers: &mut Answers,
    ) -> Result<AfterStage, Error> {
        let stage = match self {
            HitStage::Search(lists) => {
                let reported = lists.reported;
                let chosen = lists.select_for_traceback();
                let asked_hits = group_by_partition(job, &chosen, |hit| hit.oid);
                HitStage::Align { chosen, asked_hits, reported, since: Instant::now() }
            }
            HitStage::Align { chosen, asked_hits, reported, since } => {
                let traceback = since.elapsed();
                let candidates = take_candidates(id, &asked_hits, &chosen, answers)?;
                let (mut hits, mut overflowed) = select_final_hits(job, block, &chosen, candidates);
                // Queries that are not searched must not be reported as queries without hits.
                hits.truncate(reported);
                overflowed.truncate(reported);
                return Ok(AfterStage::Selected(SelectedHits { hits, overflowed, traceback }));
            }
            HitStage::Send { hits, asked_hits } => {
                return take_alignments(id, &asked_hits, &hits, answers).map(AfterStage::Sent);
            }
            HitStage::Join(joined) => {
                let later = take_alignments(id, &joined.asked_hits, &joined.later, answers)?;
                HitStage::print(job, joined.with_alignments(later))
            }
            HitStage::Describe { hits, asked_hits } => {
                let rows = take_description_rows(id, &asked_hits, &hits, answers)?;
                let order =
                    |rows: &Vec<DescriptionRow>| pieces::subject_print_order(&job.report, rows);
                let orders = rows.iter().map(order).collect();
                let rows = Some(rows);
                HitStage::Format(PrintedHits { hits, orders, rows, asked_hits })
            }
            HitStage::Format(printed) => return Ok(AfterStage::Formatted(printed)),
        };
        Ok(AfterStage::Stage(stage))
    }

    /// Returns the first stage in which workers make parts of the report.
    fn print(job: &RankJob, hits: Vec<Vec<SubjectHit>>) -> Self {
        let asked_hits = group_by_partition(job, &hits, |hit| hit.oid);
        if pieces::has_description_table(&job.report) && sorts_hits_by_description(job) {
            return HitStage::Describe { hits, asked_hits };
        }
        let orders = hits.iter().map(|hits| (0..hits.len()).collect()).collect();
        HitStage::Format(PrintedHits { hits, orders, rows: None, asked_hits })
    }
}

impl PrintedHits {
    fn questions(&self, job: &RankJob) -> Result<Questions, Error> {
        let PrintedHits { hits, orders, rows, asked_hits } = self;
        let ranks: Vec<Vec<usize>> = orders.iter().map(|order| invert_order(order)).collect();
        let wants_description_rows = pieces::has_description_table(&job.report) && rows.is_none();
        encode_questions(asked_hits, |places| {
            let wanted = |&(query, at): &HitPosition| {
                reported_hit(&hits[query], query, at, ranks[query][at] + 1)
            };
            Question::Format { chosen: places.iter().map(wanted).collect(), wants_description_rows }
        })
    }

    /// Takes the location of each formatted hit from the answers.
    ///
    /// # Errors
    /// The answers do not match the questions.
    pub fn take_pieces(
        &self,
        block: BlockId,
        answers: &mut Answers,
    ) -> Result<Vec<Vec<FormattedPiece>>, Error> {
        take_pieces(block, &self.asked_hits, &self.hits, answers)
    }

    /// Takes the rows of the description table, from an earlier stage or else from the answers. In
    /// a report without this table, no query has rows.
    ///
    /// # Errors
    /// The answers do not match the questions.
    pub fn take_rows(
        &mut self,
        job: &RankJob,
        block: BlockId,
        answers: &mut Answers,
    ) -> Result<Vec<Vec<DescriptionRow>>, Error> {
        match self.rows.take() {
            Some(rows) => Ok(rows),
            None if pieces::has_description_table(&job.report) => {
                take_description_rows(block, &self.asked_hits, &self.hits, answers)
            }
            None => Ok(vec![Vec::new(); self.hits.len()]),
        }
    }
}
