//! The questions of a master to the holders of a block's hits, and the assignment of answers to
//! hits.

use std::collections::BTreeMap;
use std::mem::take;

use fleetblast_engine::batches;
use fleetblast_engine::hits::{Candidate, PrelimHit, SubjectHit};
use fleetblast_fleet::ids::{BlockId, PartitionId};
use fleetblast_report::sam::RecordKey;
use fleetblast_report::table::DescriptionRow;

use crate::error::Error;
use crate::ranks::job::{Block, Job};
use crate::ranks::wire::{Answer, Bytes, Chosen, Line, Question, Rows, Wanted, pack, unpack};

/// Answers to one question, by partition.
pub type Answers = BTreeMap<PartitionId, Answer>;
/// For each partition, the hits that a question is about, in the order of the answer.
pub type Asked = BTreeMap<PartitionId, Vec<HitPlace>>;

/// A hit of a block: number of the query, and position in its list.
pub type HitPlace = (usize, usize);

/// Describes a hit that is printed at position `rank`.
pub fn wanted(hits: &[SubjectHit], query: usize, at: usize, rank: usize) -> Chosen {
    let hit = &hits[at];
    Chosen {
        query: query as u32,
        oid: hit.oid,
        rank: rank as u32,
        hit_count: hits.len() as u32,
        alignments: hit.alignments.iter().map(|alignment| alignment.number).collect(),
    }
}

/// Inverts an order: returns for each hit its position in print.
pub fn inverse(order: &[usize]) -> Vec<usize> {
    let mut ranks = vec![0; order.len()];
    for (rank, &place) in order.iter().enumerate() {
        ranks[place] = rank;
    }
    ranks
}

/// Groups hits by the partitions that hold their subjects.
pub fn ask<T>(job: &Job, hits: &[Vec<T>], oid: impl Fn(&T) -> u32) -> Asked {
    let mut asked = Asked::new();
    for (query, hits) in hits.iter().enumerate() {
        for (at, hit) in hits.iter().enumerate() {
            asked.entry(job.partition_of(oid(hit))).or_default().push((query, at));
        }
    }
    asked
}

/// Decodes the answers to a question.
///
/// # Errors
/// The bytes are not answers.
pub fn answers(replies: &[Bytes]) -> Result<Answers, Error> {
    let mut answers = Answers::new();
    for reply in replies {
        answers.extend(unpack::<Vec<(PartitionId, Answer)>>(reply)?);
    }
    Ok(answers)
}

/// Encodes a question to each partition about its hits.
///
/// # Errors
/// See [`encode`].
pub fn packed(
    asked: &Asked,
    question: impl Fn(&[HitPlace]) -> Question,
) -> Result<Vec<(PartitionId, Bytes)>, Error> {
    let pack =
        |(&partition, places): (_, &Vec<HitPlace>)| Ok((partition, pack(&question(places))?));
    asked.iter().map(pack).collect()
}

/// Encodes the question that aligns chosen hits.
///
/// # Errors
/// See [`encode`].
pub fn wanted_to_align(
    asked: &Asked,
    chosen: &[Vec<PrelimHit>],
) -> Result<Vec<(PartitionId, Bytes)>, Error> {
    packed(asked, |places| {
        let wanted = |&(query, at): &HitPlace| Wanted {
            query: query as u32,
            hit: chosen[query][at].clone(),
        };
        Question::Align(places.iter().map(wanted).collect())
    })
}

/// Returns the answers in the shape of `hits`. All questions of a round are of one kind.
///
/// # Errors
/// The answers do not match the questions.
pub fn matched<T, H>(
    block: BlockId,
    asked: &Asked,
    hits: &[Vec<H>],
    answers: &mut Answers,
    items: impl Fn(PartitionId, &mut Answer) -> Option<Vec<T>>,
) -> Result<Vec<Vec<T>>, Error> {
    let mut matched: Vec<Vec<Option<T>>> =
        hits.iter().map(|hits| hits.iter().map(|_| None).collect()).collect();
    for (&partition, places) in asked {
        let answer = answers.get_mut(&partition).and_then(|answer| items(partition, answer));
        let answer = answer.ok_or_else(|| confused(block))?;
        if answer.len() != places.len() {
            return Err(confused(block));
        }
        for (&(query, at), item) in places.iter().zip(answer) {
            matched[query][at] = Some(item);
        }
    }
    // Every hit was in a question.
    let whole = |row: Vec<Option<T>>| row.into_iter().collect::<Option<_>>();
    matched.into_iter().map(whole).collect::<Option<_>>().ok_or_else(|| confused(block))
}

/// Takes the outlines of each chosen hit's alignments, if it has any.
///
/// # Errors
/// See [`match_answers`].
pub fn candidates(
    block: BlockId,
    asked: &Asked,
    chosen: &[Vec<PrelimHit>],
    answers: &mut Answers,
) -> Result<Vec<Vec<Option<Candidate>>>, Error> {
    matched(block, asked, chosen, answers, |_, answer| match answer {
        Answer::Aligned(candidates) => Some(take(candidates)),
        _ => None,
    })
}

/// Takes the hits of each query, with all of their alignments.
///
/// # Errors
/// See [`match_answers`].
pub fn told(
    block: BlockId,
    asked: &Asked,
    hits: &[Vec<SubjectHit>],
    answers: &mut Answers,
) -> Result<Vec<Vec<SubjectHit>>, Error> {
    matched(block, asked, hits, answers, |_, answer| match answer {
        Answer::Told(hits) => Some(take(hits)),
        _ => None,
    })
}

/// Takes the aligned letters of each subject, from which matrices are made.
///
/// # Errors
/// See [`match_answers`].
pub fn laid(
    block: BlockId,
    asked: &Asked,
    hits: &[Vec<SubjectHit>],
    answers: &mut Answers,
) -> Result<Vec<Vec<Rows>>, Error> {
    matched(block, asked, hits, answers, |_, answer| match answer {
        Answer::Laid(rows) => Some(take(rows)),
        _ => None,
    })
}

/// Takes the description rows of each query's hits, in the order of hits.
///
/// # Errors
/// See [`match_answers`].
pub fn rows(
    block: BlockId,
    asked: &Asked,
    hits: &[Vec<SubjectHit>],
    answers: &mut Answers,
) -> Result<Vec<Vec<DescriptionRow>>, Error> {
    matched(block, asked, hits, answers, |_, answer| match answer {
        Answer::Described(rows) | Answer::Formatted { rows, .. } => Some(take(rows)),
        _ => None,
    })
}

/// Takes the location of each subject's formatted piece.
///
/// # Errors
/// See [`match_answers`].
pub fn pieces(
    block: BlockId,
    asked: &Asked,
    hits: &[Vec<SubjectHit>],
    answers: &mut Answers,
) -> Result<Vec<Vec<Piece>>, Error> {
    matched(block, asked, hits, answers, |partition, answer| match answer {
        Answer::Formatted { sizes, .. } => {
            let piece = |(number, &length)| Piece { partition, number, length };
            Some((0..).zip(sizes.iter()).map(piece).collect())
        }
        _ => None,
    })
}

/// Takes the SAM lines of each subject.
///
/// # Errors
/// See [`match_answers`].
pub fn lines(
    block: BlockId,
    asked: &Asked,
    hits: &[Vec<SubjectHit>],
    answers: &mut Answers,
) -> Result<Vec<Vec<Lines>>, Error> {
    matched(block, asked, hits, answers, |partition, answer| match answer {
        Answer::Lines(subjects) => {
            let mut numbers = 0..;
            let mut line = |Line { key, length }| {
                let number = numbers.next()?;
                Some((key, Piece { partition, number, length }))
            };
            let subjects = take(subjects).into_iter();
            subjects.map(|lines| lines.into_iter().map(&mut line).collect()).collect()
        }
        _ => None,
    })
}

/// The lines of a subject, with their sort keys.
pub type Lines = Vec<(RecordKey, Piece)>;

/// Location of a formatted piece: a subject, or a line.
#[derive(Clone, Copy)]
pub struct Piece {
    /// The partition of its holder.
    pub partition: PartitionId,
    /// Its number among the pieces of its block and partition.
    pub number: u32,
    /// Length in bytes.
    pub length: u64,
}

/// Returns whether the order of printing depends on the description rows.
pub fn sorted_by_rows(job: &Job) -> bool {
    job.report.output.hit_order.is_some()
}

/// Selects the final hits of each query from the outlines of their alignments, in the order in
/// which BLAST+ aligns them. Returns also for each query whether more of its hits were aligned.
pub fn select(
    job: &Job,
    block: &Block,
    chosen: &[Vec<PrelimHit>],
    candidates: Vec<Vec<Option<Candidate>>>,
) -> (Vec<Vec<SubjectHit>>, Vec<bool>) {
    let mut final_hits = Vec::with_capacity(chosen.len());
    let mut overflowed = Vec::with_capacity(chosen.len());
    let mut candidates = candidates.into_iter();
    for queries in batches::ranges(&block.batches) {
        let mut selector = job.engine_of(block).selector(&block.prepared[queries.clone()]);
        // Subjects without a visible definition line have no alignments: BLAST+ drops them before.
        let of_batch = candidates.by_ref().take(queries.len()).collect();
        selector.replay(&chosen[queries], of_batch);
        overflowed.extend(selector.overflowing());
        final_hits.extend(selector.finish());
    }
    (final_hits, overflowed)
}

/// The error for messages that contradict each other: a fault of the program.
pub fn confused(block: BlockId) -> Error {
    Error::engine(format_args!(
        "the ranks do not agree about query block {block}; all must run the same build of the program with the same \
         options, and find the same database"
    ))
}
