//! What a master asks the holders of a block's hits, and which answer belongs where.

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

/// Answers of one round, by partition.
pub type Answers = BTreeMap<PartitionId, Answer>;
/// A question in the making: for each partition what is asked, and for each of these where the answer belongs.
pub type Asked = BTreeMap<PartitionId, Vec<HitPlace>>;

/// A hit of a block: number of the query, and place in its list.
pub type HitPlace = (usize, usize);

/// What a rank is asked of a hit that is printed at this rank.
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

/// Where each place went.
pub fn inverse(order: &[usize]) -> Vec<usize> {
    let mut ranks = vec![0; order.len()];
    for (rank, &place) in order.iter().enumerate() {
        ranks[place] = rank;
    }
    ranks
}

/// Sorts hits by the partitions that hold their subjects.
pub fn ask<T>(job: &Job, hits: &[Vec<T>], oid: impl Fn(&T) -> u32) -> Asked {
    let mut asked = Asked::new();
    for (query, hits) in hits.iter().enumerate() {
        for (at, hit) in hits.iter().enumerate() {
            asked.entry(job.partition_of(oid(hit))).or_default().push((query, at));
        }
    }
    asked
}

/// The answers of a round.
///
/// # Errors
/// Bytes that no rank sent.
pub fn answers(replies: &[Bytes]) -> Result<Answers, Error> {
    let mut answers = Answers::new();
    for reply in replies {
        answers.extend(unpack::<Vec<(PartitionId, Answer)>>(reply)?);
    }
    Ok(answers)
}

/// The questions of a round: what of the places of each partition is asked.
///
/// # Errors
/// See [`pack`].
pub fn packed(
    asked: &Asked,
    question: impl Fn(&[HitPlace]) -> Question,
) -> Result<Vec<(PartitionId, Bytes)>, Error> {
    let pack =
        |(&partition, places): (_, &Vec<HitPlace>)| Ok((partition, pack(&question(places))?));
    asked.iter().map(pack).collect()
}

/// The questions of a round in which chosen hits are aligned.
///
/// # Errors
/// See [`pack`].
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

/// What was answered at each place, in the shape of `hits`; all questions of a round are of one kind.
///
/// # Errors
/// Answers to other questions.
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
    // Every place was asked about.
    let whole = |row: Vec<Option<T>>| row.into_iter().collect::<Option<_>>();
    matched.into_iter().map(whole).collect::<Option<_>>().ok_or_else(|| confused(block))
}

/// The outlines of the alignments of each chosen hit, if it has any.
///
/// # Errors
/// As [`matched`].
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

/// The hits of each query, with all of their alignments.
///
/// # Errors
/// As [`matched`].
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

/// What each subject of which a matrix is made is laid on its query by.
///
/// # Errors
/// As [`matched`].
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

/// The rows of each query's hits, as found.
///
/// # Errors
/// As [`matched`].
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

/// Where each subject's formatted piece is.
///
/// # Errors
/// As [`matched`].
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

/// The lines of each subject in SAM.
///
/// # Errors
/// As [`matched`].
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

/// The lines of a subject, with their marks.
pub type Lines = Vec<(RecordKey, Piece)>;

/// What is formatted in one piece: a subject, or a line.
#[derive(Clone, Copy)]
pub struct Piece {
    /// Who holds it.
    pub partition: PartitionId,
    /// Of its block and partition.
    pub number: u32,
    /// In bytes.
    pub length: u64,
}

/// Whether the order of printing depends on what the description table says.
pub fn sorted_by_rows(job: &Job) -> bool {
    job.report.output.hit_order.is_some()
}

/// The final hits of each query, from the outlines of their alignments, as BLAST+ would take one after the other; and whether more of
/// its hits were aligned than these.
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
        // Those that no definition line shows have none: BLAST+ drops them before it aligns them.
        let of_batch = candidates.by_ref().take(queries.len()).collect();
        selector.replay(&chosen[queries], of_batch);
        overflowed.extend(selector.overflowing());
        final_hits.extend(selector.finish());
    }
    (final_hits, overflowed)
}

/// Messages that do not fit together: a fault of the program.
pub fn confused(block: BlockId) -> Error {
    Error::engine(format_args!(
        "the ranks do not agree about query block {block}; all must run the same build of the program with the same \
         options, and find the same database"
    ))
}
