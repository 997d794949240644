//! `-sites`: what a report costs that is wanted at another site.

use fleetblast_fleet::end::Exit;
use fleetblast_fleet::ids::BlockId;
use fleetblast_fleet::sim::scaling::Scale;
use fleetblast_fleet::sim::sites::{
    EncodedBlock, EncodingCost, Link, ReportSite, SiteReport, fingerprint, simulate_report_site,
};
use fleetblast_fleet::sim::world::{Job, Outcome, RunEnd, simulate};
use fleetblast_job::error::Error;
use fleetblast_job::standard::print;
use serde::Serialize;

use super::setup::{MOST, adapt_machine, impossible, rate, refused, scale};
use super::{incomplete, watched};
use crate::options::simulate::{SITE_DELAY, SITE_RATE, SimulateOptions};
use crate::report::text::{bytes, many, seconds};

/// Least bytes a second of a link.
const LEAST_SITE_RATE: u64 = 1000;

/// Links of the table: bytes a second, and seconds one way.
const LINKS: [Link; 5] = [
    Link { rate: 12.5e9, delay: 0.001 },
    Link { rate: 1.25e9, delay: 0.01 },
    Link { rate: 1.25e9, delay: 0.1 },
    Link { rate: 125e6, delay: 0.1 },
    Link { rate: 12.5e6, delay: 0.1 },
];

/// What crosses: shares and seconds as measured on one thread with format 0 and 500 targets (docs/paramedic.md).
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

/// A line of the table.
#[derive(Debug, Serialize)]
pub struct Line {
    link: Link,
    way: &'static str,
    /// Seconds until the search has ended.
    search_seconds: f64,
    /// Seconds until the report is whole at the other site.
    report_seconds: f64,
    /// Bytes over the link.
    crossed: u64,
    /// How it came there; nothing if those who searched wrote it.
    arrival: Option<SiteReport>,
}

/// Searches by so many ranks, whose report is wanted elsewhere.
struct Searches {
    scale: Scale,
    /// Bytes of the database.
    database: u64,
    /// The search, whose report is written where it is searched.
    job: Job,
}

/// Prints the table line by line.
///
/// # Errors
/// A job that does not complete, values that make no sense.
pub fn table(options: &SimulateOptions) -> Result<Vec<Line>, Error> {
    let searches = Searches::new(options)?;
    let all = searches.scale.ranks;
    let ranks = options.io_ranks.unwrap_or((all / 10).max(1));
    let links = links(options)?;
    print(&format!(
        "{} search, {} make the report\n{:<22}{:<8}{:>16}{:>16}{:>12}  limit\n",
        many(all.into(), "rank"),
        many(ranks.into(), "rank"),
        "link",
        "way",
        "searched",
        "report there",
        "crossed",
    ))?;
    let told = CONTENTS.iter().map(|(_, encoding)| searches.tell(encoding));
    let told = told.collect::<Result<Vec<_>, _>>()?;
    let mut lines = Vec::new();
    for link in links {
        let mut add = |line: Line| {
            print(&line.text())?;
            lines.push(line);
            Ok::<_, Error>(())
        };
        add(searches.direct(link)?)?;
        for ((way, encoding), told) in CONTENTS.into_iter().zip(&told) {
            let (search_seconds, blocks) = told;
            let (machine, database) = (searches.job.machine.clone(), searches.database);
            let site = ReportSite { link, ranks, machine, database, encoding };
            let arrival = simulate_report_site(blocks, &site);
            add(Line {
                link,
                way,
                search_seconds: *search_seconds,
                report_seconds: arrival.end.max(*search_seconds),
                crossed: arrival.crossed,
                arrival: Some(arrival),
            })?;
        }
    }
    Ok(lines)
}

/// The links to be looked at.
fn links(options: &SimulateOptions) -> Result<Vec<Link>, Error> {
    let given =
        rate(&SITE_RATE, options.site_rate.as_deref(), LEAST_SITE_RATE)?.zip(options.site_delay);
    if let Some(milliseconds) = options.site_delay.filter(|&delay| delay > MOST) {
        return Err(refused(
            SITE_DELAY.name(),
            &format!("a number of at most {MOST}"),
            &format!("{milliseconds:e}"),
        ));
    }
    let link = given.map(|(rate, milliseconds)| Link { rate, delay: milliseconds / 1e3 });
    Ok(link.map_or(LINKS.to_vec(), |link| vec![link]))
}

impl Searches {
    fn new(options: &SimulateOptions) -> Result<Self, Error> {
        let scale = scale(options);
        let (_, mut job) = scale.job().map_err(|error| impossible(&error))?;
        adapt_machine(options, &mut job.machine)?;
        let database = scale.request().database.bytes;
        Ok(Searches { scale, database, job })
    }

    /// The search that writes its report over a link.
    fn direct(&self, link: Link) -> Result<Line, Error> {
        let machine = self.job.machine.clone().with_remote_files(link);
        let job = Job { machine, ..self.job.clone() };
        let report = completed(&job)?.report;
        Ok(Line {
            link,
            way: "direct",
            search_seconds: report.makespan,
            report_seconds: report.makespan,
            crossed: report.written,
            arrival: None,
        })
    }

    /// The search that tells something instead: until when it searches, and when each block can be sent.
    fn tell(&self, encoding: &EncodingCost) -> Result<(f64, Vec<EncodedBlock>), Error> {
        let workload = self.job.workload.clone();
        let workload = workload.with_source(encoding.encoded_source(&self.scale.distribution()));
        let mut job = Job { workload, audit: true, ..self.job.clone() };
        let reading = fingerprint(self.database, &job.topology, &job.machine);
        if let Some(startup) = &mut job.startup {
            startup.more.push(reading);
        }
        let Outcome { report, reached, violations, .. } = completed(&job)?;
        if !violations.is_empty() || reached.len() != job.workload.blocks() as usize {
            return Err(Error::engine(format_args!(
                "the simulated output is not whole: {violations:?}"
            )));
        }
        let told = (0..).map(BlockId).zip(reached).map(|(block, at)| EncodedBlock {
            at,
            bytes: job.workload.size(block),
            queries: job.workload.weight(block).sequences,
        });
        Ok((report.makespan, told.collect()))
    }
}

fn completed(job: &Job) -> Result<Outcome, Error> {
    let outcome = watched(job, || simulate(job));
    match outcome.end {
        RunEnd::Exited(Exit::Completed) => Ok(outcome),
        end => Err(incomplete(&end)),
    }
}

impl Line {
    fn text(&self) -> String {
        let Line { link, way, search_seconds, report_seconds, crossed, .. } = self;
        let link = format!("{}/s, {} ms", bytes(link.rate), link.delay * 1e3);
        format!(
            "{link:<22}{way:<8}{:>16}{:>16}{:>12}  {}\n",
            seconds(*search_seconds),
            seconds(*report_seconds),
            bytes(*crossed as f64),
            self.limit(),
        )
    }

    /// What the report waits for most.
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

/// How much later than the search a report is that has not waited for anything else.
const LATER: f64 = 1.05;
/// The share of the time for which something is busy that bounds all.
const BUSY: f64 = 0.7;
