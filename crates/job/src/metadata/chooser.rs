//! Chooses the encoding of blocks by the costs that were measured so far.

use std::time::{Duration, Instant};

use fleetblast_engine::hits::SubjectHit;
use fleetblast_metadata::{BlockResults, Encoding, EncodingChoice};

use crate::cost::{ChoiceConditions, Cost, ENCODINGS, EncodingCosts, choose_encoding};
use crate::error::Error;
use crate::plan::Metadata;
use crate::search::PhaseTimes;
use crate::subjects::SubjectDatabase;

/// Interval of probes in blocks. A probe encodes a block in all encodings, because the costs change
/// with the queries. Early blocks are probed more often if that is cheap.
const PROBE_INTERVAL: u64 = 32;
/// Share of the time since the start. An early block is not probed if earlier probes took a larger
/// share.
const PROBE_SHARE: f64 = 0.01;

/// Function that encodes a block in the given encoding. Also returns the time of the whole
/// encoding, and the part of it for formatting the report.
type EncodeBlock<'a> = dyn FnMut(Encoding) -> Result<(BlockResults, [Duration; 2]), Error> + 'a;

/// The threads of the search. They determine how much the time of one block adds to that of the
/// whole search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchCapacity {
    /// Threads that search one block together.
    pub threads: usize,
    /// Number of groups of threads. The groups search different blocks, but share the link and the
    /// other site.
    pub groups: usize,
}

/// Chooses the encoding of each block.
pub struct EncodingChooser<'a> {
    /// The encoding that the user asked for: one encoding, or the cheapest of each block.
    pub encodings: EncodingChoice,
    /// Costs measured so far.
    pub costs: EncodingCosts,
    limit: f64,
    subjects: &'a SubjectDatabase,
    capacity: SearchCapacity,
    /// Number of blocks so far whose encoding was chosen.
    blocks: u64,
    begun: Instant,
    /// Time spent on probes whose results were not used.
    probing: Duration,
    /// Times of the search up to the end of the last block.
    before: PhaseTimes,
}

impl<'a> EncodingChooser<'a> {
    /// Creates a chooser for a search of `subjects`.
    pub fn new(
        metadata: &Metadata,
        capacity: SearchCapacity,
        subjects: &'a SubjectDatabase,
    ) -> Self {
        let Metadata { encodings, limit, .. } = *metadata;
        let (costs, before) = (EncodingCosts::new(), PhaseTimes::default());
        let (begun, probing) = (Instant::now(), Duration::ZERO);
        EncodingChooser {
            encodings,
            costs,
            limit,
            subjects,
            capacity,
            blocks: 0,
            begun,
            probing,
            before,
        }
    }

    /// Encodes a block in this encoding, and records its cost.
    pub fn encode(
        &mut self,
        encoding: Encoding,
        hits: &[Vec<SubjectHit>],
        encode: &mut EncodeBlock,
    ) -> Result<BlockResults, Error> {
        let (results, times) = encode(encoding)?;
        self.costs.record_encoded(encoding, block_weight(hits), results.bytes.len(), times);
        Ok(results)
    }

    /// Encodes a block in the cheapest encoding that it supports. The block comes as its number and
    /// its hits. `phases` are the times of the whole search so far.
    pub fn encode_cheapest(
        &mut self,
        (number, hits): (u64, &[Vec<SubjectHit>]),
        phases: PhaseTimes,
        is_supported: &dyn Fn(Encoding) -> bool,
        encode: &mut EncodeBlock,
    ) -> Result<BlockResults, Error> {
        let encodings = ENCODINGS.into_iter().map(|(encoding, _)| encoding);
        let encodings: Vec<Encoding> =
            encodings.filter(|&encoding| is_supported(encoding)).collect();
        let mut probes = Vec::new();
        let unmeasured = encodings.iter().any(|&it| self.costs.expected_cost(it, 1.0).is_none());
        if unmeasured || is_probe_due(self.blocks, self.probing, self.begun.elapsed()) {
            for &encoding in &encodings {
                let begun = Instant::now();
                probes.push((self.encode(encoding, hits, encode)?, begun.elapsed()));
            }
        }
        let [search, traceback] = self.block_times(phases);
        let costs = self.costs(&encodings, hits, [search, traceback]);
        // The groups work at the same time, so together they take this time for each block.
        let search = (search + traceback) / self.capacity.groups as f64;
        let conditions = ChoiceConditions { search, rate: self.link_rate(), limit: self.limit };
        let (encoding, why) = choose_encoding(&costs, &conditions);
        self.costs.record_choice(number, encoding, why);
        self.blocks += 1;
        let others = probes.iter().filter(|(results, _)| results.encoding != encoding);
        self.probing += others.map(|&(_, took)| took).sum::<Duration>();
        match probes.into_iter().find(|(results, _)| results.encoding == encoding) {
            Some((results, _)) => Ok(results),
            None => self.encode(encoding, hits, encode),
        }
    }

    /// Returns the seconds of the preliminary search and of the traceback of the last block.
    /// `phases` are the times of the whole search so far.
    fn block_times(&mut self, phases: PhaseTimes) -> [f64; 2] {
        let before = std::mem::replace(&mut self.before, phases);
        let took = |now: Duration, before: Duration| now.saturating_sub(before).as_secs_f64();
        [took(phases.search, before.search), took(phases.traceback, before.traceback)]
    }

    /// Returns the expected cost of a block with these hits in each encoding. `search` and
    /// `traceback` are the seconds that these phases took for the block.
    fn costs(
        &mut self,
        encodings: &[Encoding],
        hits: &[Vec<SubjectHit>],
        [search, traceback]: [f64; 2],
    ) -> Vec<Cost> {
        let weight = block_weight(hits);
        let SearchCapacity { threads, groups } = self.capacity;
        let workers = self.costs.link.map_or(threads, |link| link.workers.max(1) as usize);
        // Seconds that the I/O site takes for a second of work at the search site.
        let there = threads as f64 / workers as f64;
        let expected = self.costs.expected_cost(Encoding::Report, weight);
        let format = expected.map_or(0.0, |(_, format)| there * format);
        let report_seconds = there * (search * self.subject_share(hits) + traceback);
        let mut cost = |encoding| {
            let (cost, _) = self.costs.expected_cost(encoding, weight)?;
            let cost = Cost { encode_seconds: cost.encode_seconds / groups as f64, ..cost };
            Some(match encoding {
                Encoding::Oids => Cost { report_seconds: report_seconds + format, ..cost },
                Encoding::Hits => Cost { report_seconds: format, ..cost },
                Encoding::Report => cost,
            })
        };
        encodings.iter().filter_map(|&encoding| cost(encoding)).collect()
    }

    /// Returns the share of the database's letters that are in the subjects of a query's hits, as
    /// the mean over all queries.
    fn subject_share(&self, hits: &[Vec<SubjectHit>]) -> f64 {
        let length = |hit: &SubjectHit| f64::from(self.subjects.searched.length_of(hit.oid));
        let shown: f64 = hits.iter().flatten().map(length).sum();
        let all = hits.len().max(1) as f64 * self.subjects.searched.residue_count().max(1) as f64;
        (shown / all).min(1.0)
    }

    fn link_rate(&self) -> Option<f64> {
        self.costs.link.and_then(|link| link.bytes_per_second)
    }
}

/// Returns whether to encode a block in all encodings. `block` is its number, `probing` the time of
/// probes so far, and `all` the time since the start.
fn is_probe_due(block: u64, probing: Duration, all: Duration) -> bool {
    let is_cheap = probing.as_secs_f64() <= PROBE_SHARE * all.as_secs_f64();
    block.is_multiple_of(PROBE_INTERVAL) || block.is_power_of_two() && is_cheap
}

/// Returns the weight of a block, to which its costs are proportional: the number of alignments
/// plus the number of queries.
fn block_weight(hits: &[Vec<SubjectHit>]) -> f64 {
    let alignments: usize = hits.iter().flatten().map(|hit| hit.alignments.len()).sum();
    (alignments + hits.len().max(1)) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_probed_regularly_and_at_first_more_often_if_that_is_cheap() {
        let [second, long] = [Duration::from_secs(1), Duration::from_secs(1000)];
        let due =
            |all| (0..100).filter(|&block| is_probe_due(block, second, all)).collect::<Vec<_>>();
        assert_eq!(due(long), [0, 1, 2, 4, 8, 16, 32, 64, 96]);
        assert_eq!(due(second), [0, 32, 64, 96]);
    }
}
