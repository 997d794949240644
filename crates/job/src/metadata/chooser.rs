//! Chooses as what blocks are told, by what was seen so far.

use std::time::{Duration, Instant};

use fleetblast_engine::hits::SubjectHit;
use fleetblast_metadata::{Found, Kind, Kinds};

use crate::cost::{Account, Cost, NAMES, Outlook, choose};
use crate::error::Error;
use crate::plan::Metadata;
use crate::search::Phases;
use crate::subjects::Target;

/// A block is made as every kind this often at least, since queries change; at first sooner, where it costs little.
const LOOK_EVERY: u64 = 32;
/// Sooner only while what was made to be looked at took less than this share of the time.
const LOOK_SHARE: f64 = 0.01;

/// How a block is made as a kind, and how long that takes: in all, and formatting.
type Make<'a> = dyn FnMut(Kind) -> Result<(Found, [Duration; 2]), Error> + 'a;

/// Who searches, and is seen to take some time for a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seekers {
    /// Threads of those who search a block together.
    pub threads: usize,
    /// How many such there are: they search others meanwhile, but have one link, and one other site.
    pub groups: usize,
}

/// Chooses.
pub struct Chooser<'a> {
    /// What is asked for.
    pub kinds: Kinds,
    /// What was seen.
    pub account: Account,
    limit: f64,
    target: &'a Target,
    seekers: Seekers,
    /// Blocks so far.
    blocks: u64,
    begun: Instant,
    /// How long it took to make what did not cross.
    looking: Duration,
    /// How long the search took so far.
    before: Phases,
}

impl<'a> Chooser<'a> {
    /// For a search of that target.
    pub fn new(metadata: &Metadata, seekers: Seekers, target: &'a Target) -> Self {
        let Metadata { kinds, limit, .. } = *metadata;
        let (account, before) = (Account::new(), Phases::default());
        let (begun, looking) = (Instant::now(), Duration::ZERO);
        Chooser { kinds, account, limit, target, seekers, blocks: 0, begun, looking, before }
    }

    /// A block as one kind.
    pub fn made(
        &mut self,
        kind: Kind,
        hits: &[Vec<SubjectHit>],
        make: &mut Make,
    ) -> Result<Found, Error> {
        let (found, times) = make(kind)?;
        self.account.made(kind, weight(hits), found.bytes.len(), times);
        Ok(found)
    }

    /// A block with this number as the cheapest of the kinds that are possible; `phases` are the times of the whole search so far.
    pub fn cheapest(
        &mut self,
        (number, hits): (u64, &[Vec<SubjectHit>]),
        phases: Phases,
        possible: &dyn Fn(Kind) -> bool,
        make: &mut Make,
    ) -> Result<Found, Error> {
        let kinds: Vec<Kind> =
            NAMES.into_iter().map(|(kind, _)| kind).filter(|&kind| possible(kind)).collect();
        let mut looked_at = Vec::new();
        let unseen = kinds.iter().any(|&kind| self.account.expected(kind, 1.0).is_none());
        if unseen || is_due(self.blocks, self.looking, self.begun.elapsed()) {
            for &kind in &kinds {
                let begun = Instant::now();
                looked_at.push((self.made(kind, hits, make)?, begun.elapsed()));
            }
        }
        let [search, traceback] = self.took(phases);
        let costs = self.costs(&kinds, hits, [search, traceback]);
        // Of the blocks of all groups, each next one is through so much sooner.
        let search = (search + traceback) / self.seekers.groups as f64;
        let outlook = Outlook { search, rate: self.rate(), limit: self.limit };
        let (kind, why) = choose(&costs, &outlook);
        self.account.chose(number, kind, why);
        self.blocks += 1;
        let others = looked_at.iter().filter(|(found, _)| found.kind != kind);
        self.looking += others.map(|&(_, took)| took).sum::<Duration>();
        match looked_at.into_iter().find(|(found, _)| found.kind == kind) {
            Some((found, _)) => Ok(found),
            None => self.made(kind, hits, make),
        }
    }

    /// Seconds of the preliminary search and of the traceback of the last block.
    fn took(&mut self, phases: Phases) -> [f64; 2] {
        let before = std::mem::replace(&mut self.before, phases);
        let took = |now: Duration, before: Duration| now.saturating_sub(before).as_secs_f64();
        [took(phases.search, before.search), took(phases.traceback, before.traceback)]
    }

    /// What a block with these hits is expected to cost.
    fn costs(
        &mut self,
        kinds: &[Kind],
        hits: &[Vec<SubjectHit>],
        [search, traceback]: [f64; 2],
    ) -> Vec<Cost> {
        let weight = weight(hits);
        let Seekers { threads, groups } = self.seekers;
        let workers = self.account.link.map_or(threads, |link| link.workers.max(1) as usize);
        // What takes a second here takes so many there.
        let there = threads as f64 / workers as f64;
        let expected = self.account.expected(Kind::Report, weight);
        let format = expected.map_or(0.0, |(_, format)| there * format);
        let again = there * (search * self.share(hits) + traceback);
        let mut of = |kind| {
            let (cost, _) = self.account.expected(kind, weight)?;
            let cost = Cost { make: cost.make / groups as f64, ..cost };
            Some(match kind {
                Kind::Oids => Cost { again: again + format, ..cost },
                Kind::Hits => Cost { again: format, ..cost },
                Kind::Report => cost,
            })
        };
        kinds.iter().filter_map(|&kind| of(kind)).collect()
    }

    /// How much of the database's letters a query's subjects have, on an average.
    fn share(&self, hits: &[Vec<SubjectHit>]) -> f64 {
        let length = |hit: &SubjectHit| f64::from(self.target.searched.length_of(hit.oid));
        let shown: f64 = hits.iter().flatten().map(length).sum();
        let all = hits.len().max(1) as f64 * self.target.searched.residues().max(1) as f64;
        (shown / all).min(1.0)
    }

    fn rate(&self) -> Option<f64> {
        self.account.link.and_then(|link| link.bytes_per_second)
    }
}

/// Whether a block is to be made as every kind, by its number, how long `looking` at others took, and how long everything did.
fn is_due(block: u64, looking: Duration, all: Duration) -> bool {
    let is_cheap = looking.as_secs_f64() <= LOOK_SHARE * all.as_secs_f64();
    block.is_multiple_of(LOOK_EVERY) || block.is_power_of_two() && is_cheap
}

/// What the costs of a block grow with: alignments, and a little for each query.
fn weight(hits: &[Vec<SubjectHit>]) -> f64 {
    let alignments: usize = hits.iter().flatten().map(|hit| hit.alignments.len()).sum();
    (alignments + hits.len().max(1)) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_looked_at_soon_where_that_costs_little_and_now_and_then_in_any_case() {
        let [second, long] = [Duration::from_secs(1), Duration::from_secs(1000)];
        let due = |all| (0..100).filter(|&block| is_due(block, second, all)).collect::<Vec<_>>();
        assert_eq!(due(long), [0, 1, 2, 4, 8, 16, 32, 64, 96]);
        assert_eq!(due(second), [0, 32, 64, 96]);
    }
}
