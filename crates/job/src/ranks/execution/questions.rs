//! The questions of a master to the workers that hold the hits of a block, and the assignment of
//! answers to hits.

use std::collections::BTreeMap;
use std::mem::take;

use fleetblast_engine::batches;
use fleetblast_engine::hits::{CandidateHit, PrelimHit, SubjectHit};
use fleetblast_fleet::ids::{BlockId, PartitionId};
use fleetblast_report::sam::SamSortKey;
use fleetblast_report::table::DescriptionRow;

use crate::error::Error;
use crate::ranks::job::{PreparedBlock, RankJob};
use crate::ranks::wire::{
    AlignedLetters, Answer, Bytes, HitToAlign, Question, ReportedHit, SamLine, decode, encode,
};

/// An encoded question to each partition.
pub type Questions = Vec<(PartitionId, Bytes)>;
/// The answers to one round of questions, by partition.
pub type Answers = BTreeMap<PartitionId, Answer>;
/// For each partition, the hits that a question is about, in the order of the answer.
pub type HitsByPartition = BTreeMap<PartitionId, Vec<HitPosition>>;

/// Position of a hit in a block: index of the query, and index in the query's list of hits.
pub type HitPosition = (usize, usize);

/// Describes the hit at index `at` of a query's list. The report prints it at position `rank`, from
/// 1.
pub fn reported_hit(hits: &[SubjectHit], query: usize, at: usize, rank: usize) -> ReportedHit {
    let hit = &hits[at];
    ReportedHit {
        query: query as u32,
        oid: hit.oid,
        rank: rank as u32,
        hit_count: hits.len() as u32,
        alignments: hit.alignments.iter().map(|alignment| alignment.computation_index).collect(),
        joined: hit.joined.clone(),
    }
}

/// Inverts an order of printing: returns the printed position of each hit.
pub fn invert_order(order: &[usize]) -> Vec<usize> {
    let mut ranks = vec![0; order.len()];
    for (rank, &place) in order.iter().enumerate() {
        ranks[place] = rank;
    }
    ranks
}

/// Groups hits by the partitions that hold their subjects. `oid` returns the OID of a hit's
/// subject.
pub fn group_by_partition<T>(
    job: &RankJob,
    hits: &[Vec<T>],
    oid: impl Fn(&T) -> u32,
) -> HitsByPartition {
    let mut asked_hits = HitsByPartition::new();
    for (query, hits) in hits.iter().enumerate() {
        for (at, hit) in hits.iter().enumerate() {
            asked_hits.entry(job.partition_of(oid(hit))).or_default().push((query, at));
        }
    }
    asked_hits
}

/// Decodes the answers of all workers to a round of questions.
///
/// # Errors
/// The bytes are not answers.
pub fn decode_answers(replies: &[Bytes]) -> Result<Answers, Error> {
    let mut answers = Answers::new();
    for reply in replies {
        answers.extend(decode::<Vec<(PartitionId, Answer)>>(reply)?);
    }
    Ok(answers)
}

/// Encodes a question to each partition about its hits.
///
/// # Errors
/// See [`encode`].
pub fn encode_questions(
    asked_hits: &HitsByPartition,
    question: impl Fn(&[HitPosition]) -> Question,
) -> Result<Questions, Error> {
    let encode =
        |(&partition, places): (_, &Vec<HitPosition>)| Ok((partition, encode(&question(places))?));
    asked_hits.iter().map(encode).collect()
}

/// Encodes the question that asks for all alignments of hits.
///
/// # Errors
/// See [`encode`].
pub fn encode_sending_question(
    asked_hits: &HitsByPartition,
    hits: &[Vec<SubjectHit>],
) -> Result<Questions, Error> {
    encode_questions(asked_hits, |places| {
        let wanted = |&(query, at): &HitPosition| reported_hit(&hits[query], query, at, at + 1);
        Question::SendAlignments(places.iter().map(wanted).collect())
    })
}

/// Encodes the question that asks for the alignments of chosen hits.
///
/// # Errors
/// See [`encode`].
pub fn encode_alignment_question(
    asked_hits: &HitsByPartition,
    chosen: &[Vec<PrelimHit>],
) -> Result<Questions, Error> {
    encode_questions(asked_hits, |places| {
        let wanted = |&(query, at): &HitPosition| HitToAlign {
            query: query as u32,
            hit: chosen[query][at].clone(),
        };
        Question::Align(places.iter().map(wanted).collect())
    })
}

/// Returns one item of the answers for each hit, in the shape of `hits`. `items` returns the items
/// of an answer, or `None` for another kind of answer.
///
/// # Errors
/// The answers do not match the questions.
pub fn assign_answer_items<T, H>(
    block: BlockId,
    asked_hits: &HitsByPartition,
    hits: &[Vec<H>],
    answers: &mut Answers,
    items: impl Fn(PartitionId, &mut Answer) -> Option<Vec<T>>,
) -> Result<Vec<Vec<T>>, Error> {
    let mut assigned: Vec<Vec<Option<T>>> =
        hits.iter().map(|hits| hits.iter().map(|_| None).collect()).collect();
    for (&partition, places) in asked_hits {
        let answer = answers.get_mut(&partition).and_then(|answer| items(partition, answer));
        let answer = answer.ok_or_else(|| inconsistent_ranks(block))?;
        if answer.len() != places.len() {
            return Err(inconsistent_ranks(block));
        }
        for (&(query, at), item) in places.iter().zip(answer) {
            assigned[query][at] = Some(item);
        }
    }
    // Every hit was in a question, so no item is missing.
    let complete = |row: Vec<Option<T>>| row.into_iter().collect::<Option<_>>();
    assigned
        .into_iter()
        .map(complete)
        .collect::<Option<_>>()
        .ok_or_else(|| inconsistent_ranks(block))
}

/// Takes the outlines of each chosen hit's alignments; `None` for a hit that was not aligned.
///
/// # Errors
/// See [`assign_answer_items`].
pub fn take_candidates(
    block: BlockId,
    asked_hits: &HitsByPartition,
    chosen: &[Vec<PrelimHit>],
    answers: &mut Answers,
) -> Result<Vec<Vec<Option<CandidateHit>>>, Error> {
    assign_answer_items(block, asked_hits, chosen, answers, |_, answer| match answer {
        Answer::Aligned(candidates) => Some(take(candidates)),
        _ => None,
    })
}

/// Takes the hits of each query, with all of their alignments.
///
/// # Errors
/// See [`assign_answer_items`].
pub fn take_alignments(
    block: BlockId,
    asked_hits: &HitsByPartition,
    hits: &[Vec<SubjectHit>],
    answers: &mut Answers,
) -> Result<Vec<Vec<SubjectHit>>, Error> {
    assign_answer_items(block, asked_hits, hits, answers, |_, answer| match answer {
        Answer::Alignments(hits) => Some(take(hits)),
        _ => None,
    })
}

/// Takes the aligned letters of each subject, from which the master makes PSSMs.
///
/// # Errors
/// See [`assign_answer_items`].
pub fn take_aligned_letters(
    block: BlockId,
    asked_hits: &HitsByPartition,
    hits: &[Vec<SubjectHit>],
    answers: &mut Answers,
) -> Result<Vec<Vec<AlignedLetters>>, Error> {
    assign_answer_items(block, asked_hits, hits, answers, |_, answer| match answer {
        Answer::AlignedLetters(rows) => Some(take(rows)),
        _ => None,
    })
}

/// Takes the description rows of each query's hits, in the order of hits.
///
/// # Errors
/// See [`assign_answer_items`].
pub fn take_description_rows(
    block: BlockId,
    asked_hits: &HitsByPartition,
    hits: &[Vec<SubjectHit>],
    answers: &mut Answers,
) -> Result<Vec<Vec<DescriptionRow>>, Error> {
    assign_answer_items(block, asked_hits, hits, answers, |_, answer| match answer {
        Answer::Described(rows) | Answer::Formatted { rows, .. } => Some(take(rows)),
        _ => None,
    })
}

/// Takes the location of the formatted piece of each subject.
///
/// # Errors
/// See [`assign_answer_items`].
pub fn take_pieces(
    block: BlockId,
    asked_hits: &HitsByPartition,
    hits: &[Vec<SubjectHit>],
    answers: &mut Answers,
) -> Result<Vec<Vec<FormattedPiece>>, Error> {
    assign_answer_items(block, asked_hits, hits, answers, |partition, answer| match answer {
        Answer::Formatted { sizes, .. } => {
            let piece = |(number, &length)| FormattedPiece { partition, number, length };
            Some((0..).zip(sizes.iter()).map(piece).collect())
        }
        _ => None,
    })
}

/// Takes the SAM lines of each subject.
///
/// # Errors
/// See [`assign_answer_items`].
pub fn take_lines(
    block: BlockId,
    asked_hits: &HitsByPartition,
    hits: &[Vec<SubjectHit>],
    answers: &mut Answers,
) -> Result<Vec<Vec<SubjectLines>>, Error> {
    assign_answer_items(block, asked_hits, hits, answers, |partition, answer| match answer {
        Answer::Lines(subjects) => {
            let mut numbers = 0..;
            let mut line = |SamLine { key, length }| {
                let number = numbers.next()?;
                Some((key, FormattedPiece { partition, number, length }))
            };
            let subjects = take(subjects).into_iter();
            subjects.map(|lines| lines.into_iter().map(&mut line).collect()).collect()
        }
        _ => None,
    })
}

/// The lines of a subject, with their sort keys.
pub type SubjectLines = Vec<(SamSortKey, FormattedPiece)>;

/// Location of a formatted piece in the store of a worker. The piece is a subject, or a line of
/// SAM.
#[derive(Clone, Copy)]
pub struct FormattedPiece {
    /// The partition for which the worker formatted it.
    pub partition: PartitionId,
    /// Number of the piece among the pieces of its block, pass and partition.
    pub number: u32,
    /// Length in bytes.
    pub length: u64,
}

/// Returns whether the order of printing depends on the description rows.
pub fn sorts_hits_by_description(job: &RankJob) -> bool {
    job.report.output.hit_order.is_some()
}

/// Selects the final hits of each query from the outlines of alignments. Offers the outlines in the
/// order in which BLAST+ aligns them. Also returns for each query whether more of its subjects were
/// aligned than its hit list holds.
pub fn select_final_hits(
    job: &RankJob,
    block: &PreparedBlock,
    chosen: &[Vec<PrelimHit>],
    candidates: Vec<Vec<Option<CandidateHit>>>,
) -> (Vec<Vec<SubjectHit>>, Vec<bool>) {
    let mut final_hits = Vec::with_capacity(chosen.len());
    let mut overflowed = Vec::with_capacity(chosen.len());
    let mut candidates = candidates.into_iter();
    for queries in batches::batch_ranges(&block.batches) {
        let mut selector = job.engine_for(block).selector(&block.prepared[queries.clone()]);
        let of_batch = candidates.by_ref().take(queries.len()).collect();
        selector.replay(&chosen[queries], of_batch);
        overflowed.extend(selector.overflowing());
        final_hits.extend(selector.finish());
    }
    (final_hits, overflowed)
}

/// Creates the error for messages that contradict each other, a fault of the program.
pub fn inconsistent_ranks(block: BlockId) -> Error {
    Error::engine(format_args!(
        "the ranks do not agree about query block {block}; all must run the same build of the program with the same \
         options, and find the same database"
    ))
}
