//! What a run was like, in words.

use fleetblast_job::trace::Kind;

use super::figures::{Figures, Use};
use super::text::{count, many, percent, seconds};

/// Use of the search threads from which on nothing is left to be gained.
const WELL_USED: f64 = 0.9;
/// A share of the time that is worth a word.
const WORTH: f64 = 0.03;
/// Tasks per rank from which on the ends of ranks are even.
const MANY_TASKS: f64 = 12.0;
/// The longest task, in medians, that is worth a word.
const LONG_TASK: f64 = 5.0;

/// Time of reading queries, as a part of all time, from which on it is worth a word.
const LONG_READING: f64 = 0.3;

/// The verdict, and what would help.
pub struct Verdict {
    /// What was done in what time.
    pub what: String,
    /// What bounded that.
    pub limit: String,
    /// Remarks.
    pub remarks: Vec<String>,
}

impl Verdict {
    /// Of a run.
    pub fn of(figures: &Figures) -> Self {
        let run = &figures.timeline.description;
        let what = format!(
            "{} searched {} ({} residues) in {}. Their search threads worked {} of that time.",
            many(run.ranks.into(), "rank"),
            many(run.queries, "query").replace("querys", "queries"),
            count(run.query_residues),
            seconds(figures.timeline.end),
            percent(figures.utilisation()),
        );
        Verdict { what, limit: limit(figures), remarks: remarks(figures) }
    }
}

fn limit(figures: &Figures) -> String {
    if figures.utilisation() >= WELL_USED {
        let more = if threads(figures) > cores(figures) { "cores" } else { "ranks" };
        return format!("Searching itself took the time: more {more} would make it shorter.");
    }
    let (begin, tail) = (figures.begin_lost(), figures.tail());
    let between = (figures.share(Use::Idle) - begin - tail.lost).max(0.0);
    if tail.lost >= begin.max(between) {
        format!(
            "{} was lost at the end: from {} on, some ranks had nothing left to do while others finished their last \
             tasks.",
            percent(tail.lost),
            seconds(tail.start),
        )
    } else if between >= begin {
        format!(
            "{} was lost between tasks: ranks waited until the next was given to them, or for a block of queries.",
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
            "The ranks had {} and shared {}, so works took longer than they would alone.",
            many(threads(figures), "search thread"),
            many(cores(figures), "core")
        ));
    }
    let per_rank = figures.tasks.len() as f64 / ranks;
    if per_rank < MANY_TASKS && figures.tail().lost > WORTH {
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
    let reading = figures.ranks.iter().filter_map(|rank| rank.beside.get(&Kind::Read)).sum::<f64>();
    if reading > LONG_READING * figures.timeline.end {
        remarks.push(format!(
            "Reading the queries took {} on rank 0, beside the search: it bounds how many ranks can be kept busy.",
            seconds(reading)
        ));
    }
    let formatting = figures.share(Use::Output);
    if formatting > 2.0 * WORTH {
        remarks.push(format!("Formatting took {} of the ranks' time.", percent(formatting)));
    }
    let loading = figures.share(Use::Load);
    if loading > WORTH {
        remarks.push(format!(
            "Opening the database took {} of the ranks' time: 'fleetblast doctor' tells why.",
            percent(loading)
        ));
    }
    remarks
}

/// Search threads of all ranks.
fn threads(figures: &Figures) -> u64 {
    let run = &figures.timeline.description;
    u64::from(run.ranks) * u64::from(run.threads)
}

/// Cores of all hosts.
fn cores(figures: &Figures) -> u64 {
    let run = &figures.timeline.description;
    u64::from(run.hosts) * u64::from(run.cores)
}
