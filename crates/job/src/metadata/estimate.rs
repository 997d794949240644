//! Estimates bytes and times of a search's metadata from a sample of its queries, which it
//! searches.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::{Duration, Instant};

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::search::Search;
use fleetblast_fleet::payload::Weight;
use fleetblast_fleet::plan::BLOCK_RESIDUES;
use fleetblast_metadata::{Encoding, EncodingChoice, subjects};
use rayon::prelude::*;

use super::encoder::{MetadataEncoder, SearchedBlock, encode_block};
use super::sink::format_byte_count;
use super::writer::Parts;
use crate::audience::SilentAudience;
use crate::cost::{ChoiceConditions, Cost, ENCODINGS, choose_encoding};
use crate::error::Error;
use crate::plan::{Format, Metadata, MetadataDestination, Plan};
use crate::queries::count::count_queries;
use crate::queries::{PreparedBlock, QueryReader, QueryRecord};
use crate::reports::Reporter;
use crate::search::TwoPhaseSearch;
use crate::subjects::SubjectDatabase;
use crate::trace::Recorder;

/// Time after which the sample is not enlarged.
const LONG_ENOUGH: Duration = Duration::from_secs(2);
/// Number of steps in which the sample grows. Each step has twice as many queries as the last.
const STEPS: u32 = 7;
/// Rates of the links in the table, in megabit per second.
const LINKS: [f64; 3] = [10.0, 100.0, 1000.0];

/// Estimated bytes and times of a search with metadata. Its display is a table for users.
pub struct Estimate {
    /// Number of all queries, if known.
    queries: Option<u64>,
    /// Number of queries in the sample.
    sampled: u64,
    /// Time to search the sample.
    took: Duration,
    /// Number of threads that searched the sample.
    threads: usize,
    /// Number of threads of the whole search.
    search_threads: usize,
    /// Number of threads of the I/O site.
    io_threads: usize,
    /// Expected seconds of the whole search.
    search: f64,
    /// Expected bytes of the report.
    report_bytes: f64,
    /// Expected seconds to make the report at the search site.
    format: f64,
    costs: Vec<Cost>,
    encodings: EncodingChoice,
    limit: f64,
    /// Whether search, link and I/O site work at the same time.
    overlaps: bool,
    /// Whether the rate of the link will be measured.
    measures_link: bool,
}

/// Measurements, added up over the queries of a sample.
#[derive(Default)]
struct SampleSums {
    weight: Weight,
    search: Duration,
    report_bytes: usize,
    format: Duration,
    /// For each possible encoding: bytes, the time to encode at the search site, and the time to
    /// search again at the I/O site.
    encodings: [Option<(usize, Duration, Duration)>; 3],
}

impl Estimate {
    /// Estimates a search on `ranks` ranks; searches the sample on the threads of the current pool.
    ///
    /// # Errors
    /// Queries or a database that cannot be read, or searched.
    pub fn new(
        plan: &Plan,
        metadata: &Metadata,
        subjects: &SubjectDatabase,
        ranks: u32,
    ) -> Result<Self, Error> {
        let (all, engine) = (count_queries(plan), plan.engine(subjects.totals));
        let records = sample(plan, subjects, &engine, all)?;
        let mut sampler = Sampler {
            plan,
            subjects,
            engine: &engine,
            search: TwoPhaseSearch::new(
                subjects,
                &engine,
                plan,
                &SilentAudience,
                Recorder::default(),
            )?,
            sums: SampleSums::default(),
        };
        let begun = Instant::now();
        for step in records {
            if begun.elapsed() > LONG_ENOUGH {
                break;
            }
            sampler.search(step)?;
        }
        let (sums, took) = (sampler.sums, begun.elapsed());
        let threads = plan.threads.count;
        let search_threads = threads * ranks as usize;
        let io_threads = match plan.io_ranks() {
            0 => search_threads,
            ranks => threads * ranks as usize,
        };
        let ratio = |all: u64, sampled: u64| all as f64 / sampled.max(1) as f64;
        let whole = all.unwrap_or(sums.weight);
        let queries = ratio(whole.sequences, sums.weight.sequences);
        let letters = ratio(whole.residues, sums.weight.residues);
        let seconds = |threads_used: usize, time: Duration, times: f64| {
            time.as_secs_f64() * times * threads as f64 / threads_used as f64
        };
        let format_there = seconds(io_threads, sums.format, queries);
        let costs =
            ENCODINGS.iter().zip(&sums.encodings).filter_map(|(&(encoding, _), sampled)| {
                let (bytes, encode_seconds, report_seconds) = (*sampled)?;
                let (bytes, encode_seconds) =
                    (bytes as f64 * queries, seconds(search_threads, encode_seconds, queries));
                let format = if encoding == Encoding::Report { 0.0 } else { format_there };
                Some(Cost {
                    encoding,
                    bytes,
                    encode_seconds,
                    report_seconds: seconds(io_threads, report_seconds, queries) + format,
                })
            });
        Ok(Estimate {
            queries: all.map(|all| all.sequences),
            sampled: sums.weight.sequences,
            took,
            threads,
            search_threads,
            io_threads,
            search: seconds(search_threads, sums.search, letters),
            report_bytes: sums.report_bytes as f64 * queries,
            format: seconds(search_threads, sums.format, queries),
            costs: costs.collect(),
            encodings: metadata.encodings,
            limit: metadata.limit,
            overlaps: !matches!(metadata.out, MetadataDestination::File(_)),
            measures_link: matches!(metadata.out, MetadataDestination::Link(_)),
        })
    }

    /// Returns the seconds until the report is complete, if the link transfers `link` megabits per
    /// second. `encode_seconds` are spent at the search site, and `report_seconds` at the I/O site.
    fn job_seconds(&self, [encode_seconds, bytes, report_seconds]: [f64; 3], link: f64) -> f64 {
        let stages = [self.search + encode_seconds, 8e-6 * bytes / link, report_seconds];
        match self.overlaps {
            true => stages.into_iter().fold(0.0, f64::max),
            false => stages.into_iter().sum(),
        }
    }

    fn write_row(
        &self,
        f: &mut fmt::Formatter<'_>,
        name: &str,
        [encode_seconds, bytes, report_seconds]: [f64; 3],
    ) -> fmt::Result {
        let seconds = |seconds: f64| format!("{seconds:.2} s");
        write!(f, "  {name:<26}{:>12}", format_byte_count(bytes as u64))?;
        write!(f, "{:>12}{:>12}", seconds(encode_seconds), seconds(report_seconds))?;
        let jobs = LINKS
            .map(|link| seconds(self.job_seconds([encode_seconds, bytes, report_seconds], link)));
        jobs.iter().try_for_each(|job| write!(f, "{job:>12}"))?;
        writeln!(f)
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Estimate { sampled, took, threads, search_threads, io_threads, .. } = self;
        let sample = match self.queries {
            Some(all) => format!("{sampled} of {all} queries"),
            None => format!("the first {sampled} queries"),
        };
        writeln!(
            f,
            "metadata                    by {sample}, searched in {:.2} s",
            took.as_secs_f64()
        )?;
        writeln!(
            f,
            "  on threads                {threads}; the search has {search_threads}, the other site {io_threads}"
        )?;
        writeln!(f, "  search                    {:.2} s", self.search)?;
        let how = if self.overlaps { "at the same time" } else { "one after the other" };
        writeln!(f, "  search, link, other site  {how}, without round trips")?;
        write!(f, "  {:<26}{:>12}{:>12}{:>12}", "encoding", "bytes", "made here", "used there")?;
        LINKS.iter().try_for_each(|link| write!(f, "{:>12}", format!("{link} Mbit/s")))?;
        writeln!(f)?;
        self.write_row(f, "directly", [self.format, self.report_bytes, 0.0])?;
        for (encoding, name) in ENCODINGS {
            let wished =
                if self.encodings == EncodingChoice::Only(encoding) { " (-metadata)" } else { "" };
            let name = format!("{name}{wished}");
            match self.costs.iter().find(|cost| cost.encoding == encoding) {
                Some(cost) => self.write_row(
                    f,
                    &name,
                    [cost.encode_seconds, cost.bytes, cost.report_seconds],
                )?,
                None => writeln!(f, "  {name:<26}{:>12}", "as hits")?,
            }
        }
        write!(f, "  {:<26}{:>36}", "auto would choose", "")?;
        let chosen = LINKS.map(|link| {
            // Without a rate, the bytes decide.
            let rate = self.measures_link.then_some(link * 125e3);
            let conditions = ChoiceConditions { search: self.search, rate, limit: self.limit };
            let chosen = choose_encoding(&self.costs, &conditions).0;
            ENCODINGS.iter().find(|(encoding, _)| *encoding == chosen).map_or("", |(_, name)| name)
        });
        chosen.iter().try_for_each(|name| write!(f, "{name:>12}"))
    }
}

/// Reads the queries of the sample and returns them by step. They are spread over all queries if
/// the number `all` is known.
fn sample(
    plan: &Plan,
    subjects: &SubjectDatabase,
    engine: &Search,
    all: Option<Weight>,
) -> Result<Vec<Vec<QueryRecord>>, Error> {
    let steps = positions(all.map(|all| all.sequences));
    let wanted: BTreeSet<u64> = steps.iter().flatten().copied().collect();
    let last = wanted.last().copied().unwrap_or(0);
    let queries = QueryReader::open(plan, BLOCK_RESIDUES, subjects.facts(), &SilentAudience)?;
    let mut sample = BTreeMap::new();
    let mut position = 0;
    if let Some(mut queries) = queries {
        while position <= last
            && let Some(read) = queries.next_records(engine, &SilentAudience)?
        {
            // The sample ignores these batches, so their size does not matter.
            queries.record_extensions(0);
            for record in read.records {
                if wanted.contains(&position) {
                    sample.insert(position, record);
                }
                position += 1;
            }
        }
    }
    let records = |step: Vec<u64>| step.iter().filter_map(|it| sample.remove(it)).collect();
    Ok(steps.into_iter().map(records).collect())
}

/// Returns the positions of the queries of each step. With `all` queries, step n divides them into
/// 2^n equal parts and has the query in the middle of each. If the number is unknown, the steps
/// have the first queries.
fn positions(all: Option<u64>) -> Vec<Vec<u64>> {
    let mut taken = BTreeSet::new();
    let steps = (0..STEPS).map(|step| {
        let own = 1u64 << step;
        let position = |number: u64| match all {
            Some(all) => (2 * number + 1) * all / (2 * own),
            None => own - 1 + number,
        };
        let new = (0..own).map(position).filter(|position| taken.insert(*position));
        new.collect::<Vec<_>>()
    });
    steps.collect()
}

/// Searches the sample.
struct Sampler<'a> {
    plan: &'a Plan,
    subjects: &'a SubjectDatabase,
    engine: &'a Search,
    search: TwoPhaseSearch<'a>,
    sums: SampleSums,
}

impl Sampler<'_> {
    /// Searches the queries of a step, and encodes their results in all possible encodings.
    fn search(&mut self, records: Vec<QueryRecord>) -> Result<(), Error> {
        if records.is_empty() {
            return Ok(());
        }
        let prepared: Vec<_> =
            records.par_iter().map(|record| record.prepare(self.engine)).collect();
        let batches = vec![1; records.len()];
        let block = PreparedBlock { records, prepared, batches, failure: None };
        let begun = Instant::now();
        let hits = self.search.search_block(&block.prepared, &block.batches)?;
        self.sums.search += begun.elapsed();
        self.sums.weight.sequences += block.records.len() as u64;
        self.sums.weight.residues +=
            block.prepared.iter().map(|query| u64::from(query.length)).sum::<u64>();
        let begun = Instant::now();
        let parts = self.format_reports(&block, &hits)?;
        let format = begun.elapsed();
        self.sums.format += format;
        self.sums.report_bytes += parts.iter().map(Vec::len).sum::<usize>();
        let overflowed = std::mem::take(&mut self.search.overflowed);
        // On ranks, a block may begin and end inside a batch.
        let cut = self.plan.has_unknown_batches() && self.plan.fleet.ranks > Some(1);
        let searched = || SearchedBlock {
            records: &block.records,
            prepared: &block.prepared,
            batches: &block.batches,
            searched_by_batch: if cut { block.searched() } else { Vec::new() },
            hits: &hits,
            overflowed: &overflowed,
            has_chunks: self.search.has_chunks,
            batch_state: None,
        };
        let encoder = MetadataEncoder::new(self.plan, self.engine, self.subjects);
        let mut encoded = Vec::new();
        for (encoding, _) in ENCODINGS {
            if encoder.supported_encoding(encoding, &searched()) != encoding {
                continue;
            }
            let begun = Instant::now();
            let results = encoder.encode(encoding, &searched(), || Ok(parts.clone()))?;
            let shown = results.bytes.clone();
            let bytes = encode_block(searched(), results)?.len();
            let took = begun.elapsed();
            let took = if encoding == Encoding::Report { took + format } else { took };
            encoded.push((encoding, shown, bytes, took));
        }
        for (encoding, shown, bytes, took) in encoded {
            let begun = Instant::now();
            if encoding == Encoding::Oids {
                let count = self.subjects.searched.oid_count();
                let shown = subjects::decode(&shown, hits.len(), count);
                self.search.search_known_subjects(
                    &block.prepared,
                    &block.batches,
                    &shown.unwrap_or_default(),
                )?;
            }
            let sum = self.sums.encodings[encoding as usize].get_or_insert_default();
            *sum = (sum.0 + bytes, sum.1 + took, sum.2 + begun.elapsed());
        }
        Ok(())
    }

    /// Formats the report of a block in parts. Omits the start and the end of the report, unless
    /// they depend on the queries as in SAM.
    fn format_reports(
        &self,
        block: &PreparedBlock,
        hits: &[Vec<SubjectHit>],
    ) -> Result<Vec<Vec<u8>>, Error> {
        let mut reporter = Reporter::new(self.plan, self.subjects, Recorder::default());
        let mut pages = Parts::default();
        reporter.add_reported_queries(0);
        reporter.write_block(block, &block.searched(), hits, &mut pages, &SilentAudience)?;
        if self.plan.report.format == Format::Sam {
            reporter.finish(&mut pages, &SilentAudience)?;
        }
        Ok(pages.take_parts())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_over_all_queries_and_has_each_once() {
        assert_eq!(positions(Some(8))[..3], [vec![4], vec![2, 6], vec![1, 3, 5, 7]]);
        for all in [1, 2, 25, 1000] {
            let mut positions: Vec<u64> = positions(Some(all)).concat();
            assert!(positions.iter().all(|&position| position < all));
            positions.sort_unstable();
            assert!(positions.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(positions.len() as u64 >= all.min(64), "{all}: {positions:?}");
        }
        assert_eq!(positions(None)[..3], [vec![0], vec![1, 2], vec![3, 4, 5, 6]]);
    }

    #[test]
    fn stages_overlap_unless_metadata_go_to_a_file() {
        let mut estimate = Estimate {
            queries: Some(9),
            sampled: 9,
            took: Duration::from_secs(1),
            threads: 2,
            search_threads: 4,
            io_threads: 2,
            search: 5.0,
            report_bytes: 1e7,
            format: 1.0,
            costs: vec![
                Cost {
                    encoding: Encoding::Hits,
                    bytes: 1e5,
                    encode_seconds: 0.5,
                    report_seconds: 1.0,
                },
                Cost {
                    encoding: Encoding::Report,
                    bytes: 1e6,
                    encode_seconds: 1.5,
                    report_seconds: 0.0,
                },
            ],
            encodings: EncodingChoice::Only(Encoding::Hits),
            limit: 0.5,
            overlaps: true,
            measures_link: true,
        };
        assert_eq!(estimate.job_seconds([1.0, 1e7, 0.0], 10.0), 8.0);
        assert_eq!(estimate.job_seconds([0.5, 1e5, 7.0], 10.0), 7.0);
        let text = estimate.to_string();
        assert!(text.contains("hits (-metadata)") && text.contains("as hits"), "{text}");
        estimate.overlaps = false;
        assert_eq!(estimate.job_seconds([1.0, 1e7, 0.0], 10.0), 14.0);
    }
}
