//! Reads the parts of a checkpoint that have a value for each position of the query.

use fleetblast_engine::pssm::{ByCode, ColumnResults};
use fleetblast_seq::alphabet::SIZE;
use fleetblast_seq::asn::{Malformed, Node};

use super::{CheckpointError, Result, names, unusable};

/// Maximal absolute score, chosen so that sums of scores cannot overflow.
const LARGEST: i64 = 10_000;
/// Maximal frequency. Genuine frequencies are at most 1.
const MOST: f64 = 1.0e6;

/// Intermediate data of a checkpoint: frequencies by position.
pub struct IntermediateData {
    pub frequencies: Option<Vec<ByCode>>,
    pub observed: Option<ColumnResults>,
    pub is_plain: bool,
}

impl IntermediateData {
    pub fn new(node: Option<Node<'_>>, length: usize) -> Result<Self> {
        let fields =
            node.map(|node| node.fields(names::INTERMEDIATE)).transpose()?.unwrap_or_default();
        let [
            counts,
            weighted,
            frequencies,
            information,
            gapless,
            sigma,
            intervals,
            matching,
            observations,
        ] = fields;
        let frequencies =
            frequencies.map(|node| frequencies_of(node, length)).transpose()?.flatten();
        let all = [weighted, information, gapless, sigma, intervals, matching];
        let observed = match all {
            [
                Some(weighted),
                Some(information),
                Some(gapless),
                Some(sigma),
                Some(intervals),
                Some(matching),
            ] => by_code(weighted, length)?
                .map(|weighted| {
                    Ok::<_, CheckpointError>(ColumnResults {
                        weighted,
                        information: reals(information, length)?,
                        gapless: reals(gapless, length)?,
                        letter_kinds_sum: reals(sigma, length)?,
                        intervals: counts_of(intervals, length)?,
                        matching: counts_of(matching, length)?,
                    })
                })
                .transpose()?,
            _ => None,
        };
        let is_plain = counts.is_none()
            && observations.is_none()
            && all.iter().all(|field| field.is_some() == observed.is_some());
        Ok(IntermediateData { frequencies, observed, is_plain })
    }
}

/// Final data of a checkpoint: scores by position, and their statistics.
pub struct FinalData {
    pub scores: Option<(Vec<[i32; SIZE]>, [f64; 3])>,
    pub ungapped: Option<[f64; 3]>,
    pub is_plain: bool,
}

impl FinalData {
    pub fn new(node: Option<Node<'_>>, length: usize) -> Result<Self> {
        let Some(node) = node else {
            return Ok(FinalData { scores: None, ungapped: None, is_plain: false });
        };
        let [
            Some(scores),
            Some(lambda),
            Some(k),
            Some(h),
            scale,
            lambda_ungapped,
            k_ungapped,
            h_ungapped,
            threshold,
        ] = node.fields(names::FINAL)?
        else {
            return Ok(node.fail("no 'scores', 'lambda', 'kappa' or 'h'")?);
        };
        let factor = scale.map_or(Ok(1), |scale| scale.integer())?;
        let numbers: Vec<Node<'_>> = scores.list()?.collect();
        if factor != 1 && !numbers.is_empty() {
            return unusable(format!(
                "PSSM has a scaling factor of {factor}. PSI-BLAST does not accept scaled PSSMs"
            ));
        }
        let positive = |node: Node<'_>| match node.real()? {
            number if number > 0.0 => Ok(number),
            _ => node.fail("a number above 0 belongs here"),
        };
        let gapped = [positive(lambda)?, positive(k)?, positive(h)?];
        let ungapped = match [lambda_ungapped, k_ungapped, h_ungapped] {
            [Some(lambda), Some(k), Some(h)] => {
                Some([positive(lambda)?, positive(k)?, positive(h)?])
            }
            [None, None, None] => None,
            _ => {
                return Err(CheckpointError::Unsupported(
                    "a PSSM with some of the statistics of alignments without gaps",
                ));
            }
        };
        let scores = match numbers.is_empty() {
            true => None,
            false => Some((rows(scores, &numbers, length)?, gapped)),
        };
        Ok(FinalData { scores, ungapped, is_plain: scale.is_none() && threshold.is_none() })
    }
}

/// Reads the scores of each position.
fn rows(
    node: Node<'_>,
    numbers: &[Node<'_>],
    length: usize,
) -> std::result::Result<Vec<[i32; SIZE]>, Malformed> {
    let (columns, []) = numbers.as_chunks::<SIZE>() else {
        return node.fail("28 scores a position belong here");
    };
    if columns.len() != length {
        return node.fail("the query has another length");
    }
    let score = |node: Node<'_>| match node.integer()? {
        -32768 => Ok(fleetblast_stats::matrix::SENTINEL_SCORE),
        number if number.abs() <= LARGEST => Ok(number as i32),
        _ => node.fail("a score that is too large"),
    };
    let row = |column: &[Node<'_>; SIZE]| {
        let mut row = [0; SIZE];
        for (to, &node) in row.iter_mut().zip(column) {
            *to = score(node)?;
        }
        Ok(row)
    };
    columns.iter().map(row).collect()
}

/// Reads a number for each position and code. Returns `None` for an empty list.
fn by_code(node: Node<'_>, length: usize) -> std::result::Result<Option<Vec<ByCode>>, Malformed> {
    if node.list()?.next().is_none() {
        return Ok(None);
    }
    let numbers = reals(node, length * SIZE)?;
    Ok(Some(numbers.as_chunks::<SIZE>().0.to_vec()))
}

/// Reads frequencies by position and code, which must be from 0 to [`MOST`].
fn frequencies_of(
    node: Node<'_>,
    length: usize,
) -> std::result::Result<Option<Vec<ByCode>>, Malformed> {
    let columns = by_code(node, length)?;
    let odd = |frequency: &f64| !(0.0..=MOST).contains(frequency);
    match columns.iter().flatten().flatten().any(odd) {
        true => node.fail("a frequency that is none"),
        false => Ok(columns),
    }
}

fn reals(node: Node<'_>, count: usize) -> std::result::Result<Vec<f64>, Malformed> {
    let list = node.list()?;
    if list.count() != count {
        return node.fail(format!("{count} numbers belong here, not {}", list.count()));
    }
    list.map(|number| number.real()).collect()
}

fn counts_of(node: Node<'_>, count: usize) -> std::result::Result<Vec<u32>, Malformed> {
    let list = node.list()?;
    if list.count() != count {
        return node.fail(format!("{count} numbers belong here, not {}", list.count()));
    }
    let number = |node: Node<'_>| {
        u32::try_from(node.integer()?).or_else(|_| node.fail("a count belongs here"))
    };
    list.map(number).collect()
}
