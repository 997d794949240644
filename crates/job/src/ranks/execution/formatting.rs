//! The stages in which workers make the parts of a report from the final hits, for every program.

use fleetblast_engine::hits::SubjectHit;
use fleetblast_fleet::ids::BlockId;
use fleetblast_report::pieces;
use fleetblast_report::table::DescriptionRow;

use super::joined_hits::JoinedHits;
use super::questions::{
    Answers, FormattedPiece, HitPosition, HitsByPartition, Questions, encode_questions,
    encode_sending_question, group_by_partition, invert_order, reported_hit,
    sorts_hits_by_description, take_alignments, take_description_rows, take_pieces,
};
use crate::error::Error;
use crate::ranks::job::RankJob;
use crate::ranks::wire::Question;

/// The stage of a report, with the data that its next stage needs.
pub enum FormattingStage {
    /// Workers send the alignments of hits that are joined to others.
    Join(JoinedHits),
    /// Workers create the rows of the description table.
    Describe { hits: Vec<Vec<SubjectHit>>, asked_hits: HitsByPartition },
    /// Workers format the hits.
    Format(PrintedHits),
}

/// The step after a stage.
pub enum AfterStage {
    /// Another stage, with its questions.
    Stage(FormattingStage),
    /// The report can be laid out: workers have formatted these hits.
    Formatted(PrintedHits),
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

impl FormattingStage {
    /// Returns the first stage.
    ///
    /// # Errors
    /// Definition lines that cannot be read.
    pub fn new(job: &RankJob, hits: Vec<Vec<SubjectHit>>) -> Result<Self, Error> {
        JoinedHits::new(job, hits).map(FormattingStage::Join)
    }

    /// Encodes the questions of this stage. If there is none, the next stage follows at once.
    ///
    /// # Errors
    /// See [`encode_questions`].
    pub fn questions(&self, job: &RankJob) -> Result<Questions, Error> {
        match self {
            FormattingStage::Join(joined) => {
                encode_sending_question(&joined.asked_hits, &joined.later)
            }
            FormattingStage::Describe { hits, asked_hits } => {
                encode_questions(asked_hits, |places| {
                    let wanted =
                        |&(query, at): &HitPosition| reported_hit(&hits[query], query, at, at + 1);
                    Question::Describe(places.iter().map(wanted).collect())
                })
            }
            FormattingStage::Format(printed) => printed.questions(job),
        }
    }

    /// Goes to the next stage, with the answers to the questions of this one. Leaves the answers
    /// to the questions of the last stage to the caller.
    ///
    /// # Errors
    /// The answers do not match the questions.
    pub fn advance(
        self,
        job: &RankJob,
        block: BlockId,
        answers: &mut Answers,
    ) -> Result<AfterStage, Error> {
        let stage = match self {
            FormattingStage::Join(joined) => {
                let later = take_alignments(block, &joined.asked_hits, &joined.later, answers)?;
                FormattingStage::print(job, joined.with_alignments(later))
            }
            FormattingStage::Describe { hits, asked_hits } => {
                let rows = take_description_rows(block, &asked_hits, &hits, answers)?;
                let order =
                    |rows: &Vec<DescriptionRow>| pieces::subject_print_order(&job.report, rows);
                let orders = rows.iter().map(order).collect();
                let rows = Some(rows);
                FormattingStage::Format(PrintedHits { hits, orders, rows, asked_hits })
            }
            FormattingStage::Format(printed) => return Ok(AfterStage::Formatted(printed)),
        };
        Ok(AfterStage::Stage(stage))
    }

    /// Returns the first stage in which workers make parts of the report.
    fn print(job: &RankJob, hits: Vec<Vec<SubjectHit>>) -> Self {
        let asked_hits = group_by_partition(job, &hits, |hit| hit.oid);
        if pieces::has_description_table(&job.report) && sorts_hits_by_description(job) {
            return FormattingStage::Describe { hits, asked_hits };
        }
        let orders = hits.iter().map(|hits| (0..hits.len()).collect()).collect();
        FormattingStage::Format(PrintedHits { hits, orders, rows: None, asked_hits })
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

    /// Takes the rows of the description table: those that are known, else those of the answers.
    /// No query has rows in a report without this table.
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
