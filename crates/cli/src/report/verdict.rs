//! A summary of a run in words.

use fleetblast_job::trace::Kind;

use super::figures::{Figures, ThreadUse};
use super::text::{count, percent, pluralize, seconds};

/// Utilization of the search threads above which there is nothing left to gain.
const WELL_USED: f64 = 0.9;
/// Least share of the ranks' time that gets a remark.
const LEAST_SHARE: f64 = 0.03;
/// Tasks per rank above which all ranks end at about the same time.
const MANY_TASKS: f64 = 12.0;
/// Ratio of the longest task to the median above which there is a remark.
const LONG_TASK: f64 = 5.0;

/// Share of the time spent reading queries above which there is a remark.
const LONG_READING: f64 = 0.3;

/// The summary of a run, with advice.
pub struct Verdict {
    /// The searched queries and subjects, and the time.
    pub search_summary: String,
    /// The limit of the speed, as a sentence.
    pub limit: String,
    /// Remarks with advice.
    pub remarks: Vec<String>,
}

impl Verdict {
    /// Summarizes a run.
    pub fn new(figures: &Figures) -> Self {
        let run = &figures.timeline.description;
        let search_summary = format!(
            "{} searched {} ({} residues) in {}. Their search threads worked {} of that time.",
            pluralize(run.ranks.into(), "rank"),
            pluralize(run.queries, "query").replace("querys", "queries"),
            count(run.query_residues),
            seconds(figures.timeline.end),
            percent(figures.utilisation()),
        );
        Verdict { search_summary, limit: limit(figures), remarks: remarks(figures) }
    }
}

fn limit(figures: &Figures) -> String {
    if figures.utilisation() >= WELL_USED {
        let more = if threads(figures) > cores(figures) { "cores" } else { "ranks" };
        return format!("Searching itself took the time: more {more} would make it shorter.");
    }
    let (begin, tail) = (figures.start_loss(), figures.tail());
    let between = (figures.share(ThreadUse::Idle) - begin - tail.lost).max(0.0);
    if tail.lost >= begin.max(between) {
        format!(
            "{} was lost at the end: from {} on, some ranks had nothing left to do while others finished their last \
             tasks.",
            percent(tail.lost),
            seconds(tail.start),
        )
    } else if between >= begin {
        format!(
            "{} was lost between tasks: ranks waited for their next task, or for a block of queries.",
            percent(between)
        )
    } else {
        format!("{} was lost before the first task: ranks waited for queries.", percent(begin))
    }
}

fn remarks(figures: &Figures) -> Vec<String> {
    let run = &figures.timeline.description;
    let ranks = figures.ranks.len() as f64;
    let mut remarks = Vec::new();
    if threads(figures) > cores(figures) {
        remarks.push(format!(
            "The ranks had {} and shared {}, so their work took longer than with cores of their own.",
            pluralize(threads(figures), "search thread"),
            pluralize(cores(figures), "core")
        ));
    }
    let per_rank = figures.tasks.len() as f64 / ranks;
    if per_rank < MANY_TASKS && figures.tail().lost > LEAST_SHARE {
        remarks.push(format!(
            "There were only {per_rank:.1} tasks per rank. Tasks of half the size, with twice the -partitions (now {}), \
             would end more evenly.",
            run.partition_residues.len()
        ));
    }
    let median = figures.task_seconds(0.5);
    if let Some(longest) = figures.tasks.first().filter(|task| task.seconds() > LONG_TASK * median)
    {
        remarks.push(format!(
            "The longest task took {}, {:.0} times the median.",
            seconds(longest.seconds()),
            longest.seconds() / median.max(1e-9)
        ));
    }
    let reading = figures
        .ranks
        .iter()
        .filter_map(|rank| rank.seconds_outside_threads.get(&Kind::Read))
        .sum::<f64>();
    if reading > LONG_READING * figures.timeline.end {
        remarks.push(format!(
            "Reading the queries took {} on rank 0, during the search: this limits the number of ranks that it can keep busy.",
            seconds(reading)
        ));
    }
    let formatting = figures.share(ThreadUse::Output);
    if formatting > 2.0 * LEAST_SHARE {
        remarks.push(format!("Formatting took {} of the ranks' time.", percent(formatting)));
    }
    let loading = figures.share(ThreadUse::Load);
    if loading > LEAST_SHARE {
        remarks.push(format!(
            "Opening the database took {} of the ranks' time: 'fleetblast doctor' shows why.",
            percent(loading)
        ));
    }
    remarks
}

/// Returns the number of search threads of all ranks.
fn threads(figures: &Figures) -> u64 {
    let run = &figures.timeline.description;
    u64::from(run.ranks) * u64::from(run.threads)
}

/// Returns the number of cores of all hosts.
fn cores(figures: &Figures) -> u64 {
    let run = &figures.timeline.description;
    u64::from(run.hosts) * u64::from(run.cores)
}
