//! `-sites`: the cost of a report at another site.

use fleetblast_fleet::end::JobEnd;
use fleetblast_fleet::ids::BlockId;
use fleetblast_fleet::sim::scaling::Scale;
use fleetblast_fleet::sim::sites::{
    EncodedBlock, EncodingCost, Link, ReportSite, SiteReport, fingerprint, simulate_report_site,
};
use fleetblast_fleet::sim::world::{Job, Outcome, RunEnd, simulate};
use fleetblast_job::error::Error;
use fleetblast_job::standard::print;
use serde::Serialize;

use super::setup::{
    LARGEST_DURATION, adapt_machine, invalid_value_error, layout_error, rate, scale,
};
use super::{incomplete, show_elapsed_time};
use crate::options::simulate::{SITE_DELAY, SITE_RATE, SimulateOptions};
use crate::report::text::{bytes, pluralize, seconds};

/// Least rate of a link, in bytes per second.
const LEAST_SITE_RATE: u64 = 1000;

/// Links of the table: bytes per second, and delay in one direction in seconds.
const LINKS: [Link; 5] = [
    Link { rate: 12.5e9, delay: 0.001 },
    Link { rate: 1.25e9, delay: 0.01 },
    Link { rate: 1.25e9, delay: 0.1 },
    Link { rate: 125e6, delay: 0.1 },
    Link { rate: 12.5e6, delay: 0.1 },
];

/// Costs of each encoding: shares and seconds, measured on one thread with format 0 and 500
/// subjects (docs/paramedic.md).
const CONTENTS: [(&str, EncodingCost); 3] = [
    (
        "oids",
        EncodingCost {
            share: 0.0038,
            encode_seconds: 0.0,
            report_seconds: 77e-9,
            is_compared: true,
        },
    ),
    (
        "hits",
        EncodingCost {
            share: 0.0123,
            encode_seconds: 12e-9,
            report_seconds: 10e-9,
            is_compared: true,
        },
    ),
    (
        "report",
        EncodingCost {
            share: 0.161,
            encode_seconds: 11e-9,
            report_seconds: 1e-9,
            is_compared: false,
        },
    ),
];

/// A row of the table of sites: a search, a link, and how the report crosses it.
#[derive(Debug, Serialize)]
pub struct SiteRow {
    link: Link,
    way: &'static str,
    /// Seconds until the end of the search.
    search_seconds: f64,
    /// Seconds until the report is complete at the other site.
    report_seconds: f64,
    /// Bytes sent over the link.
    crossed: u64,
    /// Figures of the report that was made at the other site; `None` if the searching ranks wrote
    /// it over the link.
    arrival: Option<SiteReport>,
}

/// A search by a number of ranks, with its report at another site.
struct SiteSearch {
    scale: Scale,
    /// Bytes of the database.
    database: u64,
    /// The search with its report at the search site.
    job: Job,
}

/// Simulates reports at another site, over each link and with each encoding (`-sites`). Prints each
/// row of the table as soon as it is computed.
///
/// # Errors
/// A job that does not complete, invalid values.
pub fn table(options: &SimulateOptions) -> Result<Vec<SiteRow>, Error> {
    let searches = SiteSearch::new(options)?;
    let all = searches.scale.ranks;
    let ranks = options.io_ranks.unwrap_or((all / 10).max(1));
    let links = links(options)?;
    print(&format!(
        "{} search, {} make the report\n{:<22}{:<8}{:>16}{:>16}{:>12}  limit\n",
        pluralize(all.into(), "rank"),
        pluralize(ranks.into(), "rank"),
        "link",
        "way",
        "searched",
        "report there",
        "crossed",
    ))?;
    let encoded = CONTENTS.iter().map(|(_, encoding)| searches.encode(encoding));
    let encoded = encoded.collect::<Result<Vec<_>, _>>()?;
    let mut lines = Vec::new();
    for link in links {
        let mut add = |line: SiteRow| {
            print(&line.text())?;
            lines.push(line);
            Ok::<_, Error>(())
        };
        add(searches.direct(link)?)?;
        for ((way, encoding), encoded) in CONTENTS.into_iter().zip(&encoded) {
            let (search_seconds, blocks) = encoded;
            let (machine, database) = (searches.job.machine.clone(), searches.database);
            let site = ReportSite { link, ranks, machine, database, encoding };
            let arrival = simulate_report_site(blocks, &site);
            add(SiteRow {
                link,
                way,
                search_seconds: *search_seconds,
                report_seconds: arrival.end.max(*search_seconds),
                crossed: arrival.link_bytes,
                arrival: Some(arrival),
            })?;
        }
    }
    Ok(lines)
}

/// Returns the links of the table: the one in the options, or else the default ones.
fn links(options: &SimulateOptions) -> Result<Vec<Link>, Error> {
    let given =
        rate(&SITE_RATE, options.site_rate.as_deref(), LEAST_SITE_RATE)?.zip(options.site_delay);
    if let Some(milliseconds) = options.site_delay.filter(|&delay| delay > LARGEST_DURATION) {
        return Err(invalid_value_error(
            SITE_DELAY.name(),
            &format!("a number of at most {LARGEST_DURATION}"),
            &format!("{milliseconds:e}"),
        ));
    }
    let link = given.map(|(rate, milliseconds)| Link { rate, delay: milliseconds / 1e3 });
    Ok(link.map_or(LINKS.to_vec(), |link| vec![link]))
}

impl SiteSearch {
    fn new(options: &SimulateOptions) -> Result<Self, Error> {
        let scale = scale(options);
        let (_, mut job) = scale.job().map_err(|error| layout_error(&error))?;
        adapt_machine(options, &mut job.machine)?;
        let database = scale.request().database.bytes;
        Ok(SiteSearch { scale, database, job })
    }

    /// Simulates the search with the report written over a link.
    fn direct(&self, link: Link) -> Result<SiteRow, Error> {
        let machine = self.job.machine.clone().with_remote_files(link);
        let job = Job { machine, ..self.job.clone() };
        let report = simulate_completion(&job)?.report;
        Ok(SiteRow {
            link,
            way: "direct",
            search_seconds: report.makespan,
            report_seconds: report.makespan,
            crossed: report.written,
            arrival: None,
        })
    }

    /// Simulates the search with metadata in this encoding. Returns the end of the search in
    /// seconds, and the blocks with the times from which they can be sent.
    fn encode(&self, encoding: &EncodingCost) -> Result<(f64, Vec<EncodedBlock>), Error> {
        let workload = self.job.workload.clone();
        let workload = workload.with_source(encoding.encoded_source(&self.scale.distribution()));
        let mut job = Job { workload, audit: true, ..self.job.clone() };
        let reading = fingerprint(self.database, &job.topology, &job.machine);
        if let Some(startup) = &mut job.startup {
            startup.more.push(reading);
        }
        let Outcome { report, written_at, violations, .. } = simulate_completion(&job)?;
        if !violations.is_empty() || written_at.len() != job.workload.blocks() as usize {
            return Err(Error::engine(format_args!(
                "the simulated output is not whole: {violations:?}"
            )));
        }
        let encoded = (0..).map(BlockId).zip(written_at).map(|(block, at)| EncodedBlock {
            at,
            bytes: job.workload.size(block),
            queries: job.workload.weight(block).sequences,
        });
        Ok((report.makespan, encoded.collect()))
    }
}

fn simulate_completion(job: &Job) -> Result<Outcome, Error> {
    let outcome = show_elapsed_time(job, || simulate(job));
    match outcome.end {
        RunEnd::Exited(JobEnd::Completed) => Ok(outcome),
        end => Err(incomplete(&end)),
    }
}

impl SiteRow {
    fn text(&self) -> String {
        let SiteRow { link, way, search_seconds, report_seconds, crossed, .. } = self;
        let link = format!("{}/s, {} ms", bytes(link.rate), link.delay * 1e3);
        format!(
            "{link:<22}{way:<8}{:>16}{:>16}{:>12}  {}\n",
            seconds(*search_seconds),
            seconds(*report_seconds),
            bytes(*crossed as f64),
            self.limit(),
        )
    }

    /// Returns the name of the resource that limits the time of the report.
    fn limit(&self) -> &'static str {
        let Some(arrival) = &self.arrival else { return "" };
        let end = self.report_seconds.max(1e-9);
        if self.report_seconds < LATER * self.search_seconds {
            "the search"
        } else if arrival.ready > BUSY * end {
            "the database is read there"
        } else if arrival.link > BUSY * end {
            "the link"
        } else if arrival.writing > BUSY * end {
            "one rank writes"
        } else {
            "the ranks that make it"
        }
    }
}

/// Largest ratio of the times of report and search at which the search is the limit.
const LATER: f64 = 1.05;
/// Share of the time above which a busy resource is the limit.
const BUSY: f64 = 0.7;
