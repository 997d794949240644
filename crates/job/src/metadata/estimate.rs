//! What metadata of a search are expected to be, by a sample of its queries, which are searched for that.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::{Duration, Instant};

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::search::Search;
use fleetblast_fleet::payload::Weight;
use fleetblast_fleet::plan::BLOCK_RESIDUES;
use fleetblast_metadata::{Kind, Kinds, subjects};
use rayon::prelude::*;

use super::carrier::amount;
use super::teller::{Searched, Teller, body};
use super::writer::Parts;
use crate::audience::Nobody;
use crate::cost::{Cost, NAMES, Outlook, choose};
use crate::error::Error;
use crate::plan::{Carriage, Format, Metadata, Plan};
use crate::queries::count::count;
use crate::queries::{Block, Queries, QueryRecord};
use crate::reports::Reporter;
use crate::search::TwoPhases;
use crate::subjects::Target;
use crate::trace::Recorder;

/// More is not searched for a sample after so long.
const LONG_ENOUGH: Duration = Duration::from_secs(2);
/// Times that the sample is made larger, twice as large each time.
const ROUNDS: u32 = 7;
/// Links of which the times are told, megabit a second.
const LINKS: [f64; 3] = [10.0, 100.0, 1000.0];

/// What is expected.
pub struct Estimate {
    /// Queries in all, if that is known, and of these searched.
    queries: Option<u64>,
    sampled: u64,
    /// How long these took, on so many threads.
    took: Duration,
    threads: usize,
    /// Threads of the whole search, and of the other site.
    here: usize,
    there: usize,
    /// Seconds of the whole search.
    search: f64,
    /// The report, and seconds to make it here.
    report_bytes: f64,
    format: f64,
    costs: Vec<Cost>,
    kinds: Kinds,
    limit: f64,
    /// Search, link and other site work at the same time.
    together: bool,
    /// What the link gives will be seen.
    measures: bool,
}

/// Sums over a sample.
#[derive(Default)]
struct Sums {
    weight: Weight,
    search: Duration,
    report_bytes: usize,
    format: Duration,
    /// Of each kind that may be: bytes, and the times to make it here and to find its alignments again there.
    kinds: [Option<(usize, Duration, Duration)>; 3],
}

impl Estimate {
    /// Of a search on so many ranks, on the threads of the current pool.
    ///
    /// # Errors
    /// Queries or a database that cannot be read, or searched.
    pub fn new(
        plan: &Plan,
        metadata: &Metadata,
        target: &Target,
        ranks: u32,
    ) -> Result<Self, Error> {
        let (all, engine) = (count(plan), plan.engine(target.totals));
        let records = sample(plan, target, &engine, all)?;
        let mut sampler = Sampler {
            plan,
            target,
            engine: &engine,
            search: TwoPhases::new(target, &engine, plan, &Nobody, Recorder::default())?,
            sums: Sums::default(),
        };
        let begun = Instant::now();
        for round in records {
            if begun.elapsed() > LONG_ENOUGH {
                break;
            }
            sampler.search(round)?;
        }
        let (sums, took) = (sampler.sums, begun.elapsed());
        let threads = plan.threads.count;
        let here = threads * ranks as usize;
        let there = match plan.io_ranks() {
            0 => here,
            ranks => threads * ranks as usize,
        };
        let times = |all: u64, sampled: u64| all as f64 / sampled.max(1) as f64;
        let all_of_it = all.unwrap_or(sums.weight);
        let queries = times(all_of_it.sequences, sums.weight.sequences);
        let letters = times(all_of_it.residues, sums.weight.residues);
        let on = |threads_used: usize, time: Duration, times: f64| {
            time.as_secs_f64() * times * threads as f64 / threads_used as f64
        };
        let format_there = on(there, sums.format, queries);
        let costs = NAMES.iter().zip(&sums.kinds).filter_map(|(&(kind, _), found)| {
            let (bytes, make, again) = (*found)?;
            let (bytes, make) = (bytes as f64 * queries, on(here, make, queries));
            let format = if kind == Kind::Report { 0.0 } else { format_there };
            Some(Cost { kind, bytes, make, again: on(there, again, queries) + format })
        });
        Ok(Estimate {
            queries: all.map(|all| all.sequences),
            sampled: sums.weight.sequences,
            took,
            threads,
            here,
            there,
            search: on(here, sums.search, letters),
            report_bytes: sums.report_bytes as f64 * queries,
            format: on(here, sums.format, queries),
            costs: costs.collect(),
            kinds: metadata.kinds,
            limit: metadata.limit,
            together: !matches!(metadata.out, Carriage::File(_)),
            measures: matches!(metadata.out, Carriage::Link(_)),
        })
    }

    /// Seconds until the report is whole, over a link of that many megabit a second.
    fn job(&self, [make, bytes, again]: [f64; 3], link: f64) -> f64 {
        let stages = [self.search + make, 8e-6 * bytes / link, again];
        match self.together {
            true => stages.into_iter().fold(0.0, f64::max),
            false => stages.into_iter().sum(),
        }
    }

    fn row(
        &self,
        f: &mut fmt::Formatter<'_>,
        name: &str,
        [make, bytes, again]: [f64; 3],
    ) -> fmt::Result {
        let seconds = |seconds: f64| format!("{seconds:.2} s");
        write!(f, "  {name:<26}{:>12}", amount(bytes as u64))?;
        write!(f, "{:>12}{:>12}", seconds(make), seconds(again))?;
        let jobs = LINKS.map(|link| seconds(self.job([make, bytes, again], link)));
        jobs.iter().try_for_each(|job| write!(f, "{job:>12}"))?;
        writeln!(f)
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Estimate { sampled, took, threads, here, there, .. } = self;
        let of = match self.queries {
            Some(all) => format!("{sampled} of {all} queries"),
            None => format!("the first {sampled} queries; of these"),
        };
        writeln!(
            f,
            "metadata                    by {of}, searched in {:.2} s",
            took.as_secs_f64()
        )?;
        writeln!(
            f,
            "  on threads                {threads}, of {here} of the search and {there} there"
        )?;
        writeln!(f, "  search                    {:.2} s", self.search)?;
        let how = if self.together { "at the same time" } else { "one after the other" };
        writeln!(f, "  search, link, other site  {how}, without round trips")?;
        write!(
            f,
            "  {:<26}{:>12}{:>12}{:>12}",
            "what crosses", "bytes", "made here", "used there"
        )?;
        LINKS.iter().try_for_each(|link| write!(f, "{:>12}", format!("{link} Mbit/s")))?;
        writeln!(f)?;
        self.row(f, "directly", [self.format, self.report_bytes, 0.0])?;
        for (kind, name) in NAMES {
            let wished = if self.kinds == Kinds::Only(kind) { " (-metadata)" } else { "" };
            let name = format!("{name}{wished}");
            match self.costs.iter().find(|cost| cost.kind == kind) {
                Some(cost) => self.row(f, &name, [cost.make, cost.bytes, cost.again])?,
                None => writeln!(f, "  {name:<26}{:>12}", "as hits")?,
            }
        }
        write!(f, "  {:<26}{:>36}", "auto would take", "")?;
        let chosen = LINKS.map(|link| {
            // Else its bytes are what counts.
            let rate = self.measures.then_some(link * 125e3);
            let outlook = Outlook { search: self.search, rate, limit: self.limit };
            let chosen = choose(&self.costs, &outlook).0;
            NAMES.iter().find(|(kind, _)| *kind == chosen).map_or("", |(_, name)| name)
        });
        chosen.iter().try_for_each(|name| write!(f, "{name:>12}"))
    }
}

/// Queries of a sample, round by round: spread over all, if it is known how many there are.
fn sample(
    plan: &Plan,
    target: &Target,
    engine: &Search,
    all: Option<Weight>,
) -> Result<Vec<Vec<QueryRecord>>, Error> {
    let rounds = places(all.map(|all| all.sequences));
    let wanted: BTreeSet<u64> = rounds.iter().flatten().copied().collect();
    let last = wanted.last().copied().unwrap_or(0);
    let (letters, included) = (target.letters(), target.nothing_included);
    let queries = Queries::open(plan, BLOCK_RESIDUES, letters, included, &Nobody)?;
    let mut found = BTreeMap::new();
    let mut at = 0;
    if let Some(mut queries) = queries {
        while at <= last
            && let Some(read) = queries.next_records(engine, &Nobody)?
        {
            // Where batches depend on that, it does not matter how they are cut.
            queries.found(0);
            for record in read.records {
                if wanted.contains(&at) {
                    found.insert(at, record);
                }
                at += 1;
            }
        }
    }
    let of_round = |places: Vec<u64>| places.iter().filter_map(|at| found.remove(at)).collect();
    Ok(rounds.into_iter().map(of_round).collect())
}

/// Which queries are searched in which round: of so many, those in the middle between the ones before; else the first ones.
fn places(all: Option<u64>) -> Vec<Vec<u64>> {
    let mut taken = BTreeSet::new();
    let rounds = (0..ROUNDS).map(|round| {
        let own = 1u64 << round;
        let place = |number: u64| match all {
            Some(all) => (2 * number + 1) * all / (2 * own),
            None => own - 1 + number,
        };
        let new = (0..own).map(place).filter(|place| taken.insert(*place));
        new.collect::<Vec<_>>()
    });
    rounds.collect()
}

/// Searches a sample.
struct Sampler<'a> {
    plan: &'a Plan,
    target: &'a Target,
    engine: &'a Search,
    search: TwoPhases<'a>,
    sums: Sums,
}

impl Sampler<'_> {
    /// Searches some queries, and makes of what is found whatever can cross.
    fn search(&mut self, records: Vec<QueryRecord>) -> Result<(), Error> {
        if records.is_empty() {
            return Ok(());
        }
        let prepared: Vec<_> =
            records.par_iter().map(|record| record.prepare(self.engine)).collect();
        let batches = vec![1; records.len()];
        let block = Block { records, prepared, batches, failure: None };
        let begun = Instant::now();
        let hits = self.search.run(&block.prepared, &block.batches)?;
        self.sums.search += begun.elapsed();
        self.sums.weight.sequences += block.records.len() as u64;
        self.sums.weight.residues +=
            block.prepared.iter().map(|query| u64::from(query.length)).sum::<u64>();
        let begun = Instant::now();
        let parts = self.report(&block, &hits)?;
        let format = begun.elapsed();
        self.sums.format += format;
        self.sums.report_bytes += parts.iter().map(Vec::len).sum::<usize>();
        let overflowed = std::mem::take(&mut self.search.overflowed);
        // Ranks may search blocks that begin and end amid a batch.
        let cut = self.plan.has_unknown_batches() && self.plan.fleet.ranks > Some(1);
        let searched = || Searched {
            records: &block.records,
            prepared: &block.prepared,
            batches: &block.batches,
            reach_out: if cut { block.searched() } else { Vec::new() },
            hits: &hits,
            overflowed: &overflowed,
            has_pieces: self.search.has_pieces,
            course: None,
        };
        let teller = Teller::new(self.plan, self.engine, self.target);
        let mut told = Vec::new();
        for (kind, _) in NAMES {
            if teller.possible(kind, &searched()) != kind {
                continue;
            }
            let begun = Instant::now();
            let found = teller.found(kind, &searched(), || Ok(parts.clone()))?;
            let shown = found.bytes.clone();
            let bytes = body(searched(), found)?.len();
            let made = begun.elapsed();
            let made = if kind == Kind::Report { made + format } else { made };
            told.push((kind, shown, bytes, made));
        }
        for (kind, shown, bytes, made) in told {
            let begun = Instant::now();
            if kind == Kind::Oids {
                let count = self.target.searched.oid_count();
                let shown = subjects::decode(&shown, hits.len(), count);
                self.search.run_again(
                    &block.prepared,
                    &block.batches,
                    &shown.unwrap_or_default(),
                )?;
            }
            let sum = self.sums.kinds[kind as usize].get_or_insert_default();
            *sum = (sum.0 + bytes, sum.1 + made, sum.2 + begun.elapsed());
        }
        Ok(())
    }

    /// What is reported of some queries, without what begins and ends a report, unless that is of them.
    fn report(&self, block: &Block, hits: &[Vec<SubjectHit>]) -> Result<Vec<Vec<u8>>, Error> {
        let mut reporter = Reporter::new(self.plan, self.target, Recorder::default());
        let mut pages = Parts::default();
        reporter.pass_over(0);
        reporter.block(block, &block.searched(), hits, &mut pages, &Nobody)?;
        if self.plan.report.format == Format::Sam {
            reporter.finish(&mut pages, &Nobody)?;
        }
        Ok(pages.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_over_all_queries_and_has_each_once() {
        assert_eq!(places(Some(8))[..3], [vec![4], vec![2, 6], vec![1, 3, 5, 7]]);
        for all in [1, 2, 25, 1000] {
            let mut places: Vec<u64> = places(Some(all)).concat();
            assert!(places.iter().all(|&place| place < all));
            places.sort_unstable();
            assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(places.len() as u64 >= all.min(64), "{all}: {places:?}");
        }
        assert_eq!(places(None)[..3], [vec![0], vec![1, 2], vec![3, 4, 5, 6]]);
    }

    #[test]
    fn stages_overlap_unless_somebody_carries_a_file() {
        let mut estimate = Estimate {
            queries: Some(9),
            sampled: 9,
            took: Duration::from_secs(1),
            threads: 2,
            here: 4,
            there: 2,
            search: 5.0,
            report_bytes: 1e7,
            format: 1.0,
            costs: vec![
                Cost { kind: Kind::Hits, bytes: 1e5, make: 0.5, again: 1.0 },
                Cost { kind: Kind::Report, bytes: 1e6, make: 1.5, again: 0.0 },
            ],
            kinds: Kinds::Only(Kind::Hits),
            limit: 0.5,
            together: true,
            measures: true,
        };
        assert_eq!(estimate.job([1.0, 1e7, 0.0], 10.0), 8.0);
        assert_eq!(estimate.job([0.5, 1e5, 7.0], 10.0), 7.0);
        let text = estimate.to_string();
        assert!(text.contains("hits (-metadata)") && text.contains("as hits"), "{text}");
        estimate.together = false;
        assert_eq!(estimate.job([1.0, 1e7, 0.0], 10.0), 14.0);
    }
}
