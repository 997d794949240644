//! `difftest fuzz`: random inputs and options with both programs, until the time is over.

mod generate;
mod minimise;
mod options;
mod trial;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::Tools;
use crate::compare::describe;
use crate::error::{Error, Result};
use crate::rng::Rng;
use crate::workspace::{self, Source, Workspace};

use trial::Bench;

/// What to run.
#[derive(Debug)]
pub struct Options {
    /// Time to use.
    pub time: Duration,
    /// Seed of everything.
    pub seed: u64,
    /// Only this item of the seed.
    pub only: Option<u64>,
    /// Items at a time.
    pub jobs: usize,
    /// The programs.
    pub tools: Tools,
}

/// Counters shared by the workers.
#[derive(Default)]
struct Counts {
    next: AtomicU64,
    searches: AtomicU64,
    differences: AtomicU64,
}

/// Searches that one generated database serves, each with other options.
const SEARCHES_PER_ITEM: usize = 6;

/// Runs until the time is over; true if no difference was found.
///
/// # Errors
/// If inputs cannot be written or a program cannot be started.
pub fn run(workspace: &Workspace, source: &Source, options: &Options) -> Result<bool> {
    workspace::report_source(source);
    println!("fuzz: seed {}, {} s", options.seed, options.time.as_secs());
    let counts = Counts::default();
    let home = workspace.target.join("fuzzdiff");
    let deadline = Instant::now() + options.time;
    let worker = |number: usize| -> Result<()> {
        let bench = Bench::new(home.join(format!("work-{number}")), &options.tools)?;
        loop {
            let index = counts.next.fetch_add(1, Ordering::Relaxed);
            if let Some(only) = options.only {
                return if index == 0 {
                    item(&bench, source, options, only, &counts, &home)
                } else {
                    Ok(())
                };
            }
            if Instant::now() >= deadline {
                return Ok(());
            }
            item(&bench, source, options, index, &counts, &home)?;
        }
    };
    let worker = &worker;
    thread::scope(|scope| {
        let workers: Vec<_> =
            (0..options.jobs).map(|number| scope.spawn(move || worker(number))).collect();
        workers.into_iter().try_for_each(|w| {
            let panicked = Error::Tool {
                program: "difftest".into(),
                reason: "a worker thread panicked".into(),
            };
            w.join().unwrap_or(Err(panicked))
        })
    })?;
    let differences = counts.differences.load(Ordering::Relaxed);
    let searches = counts.searches.load(Ordering::Relaxed);
    println!(
        "difftest fuzz: {searches} searches, {differences} differences, seed {}",
        options.seed
    );
    Ok(differences == 0)
}

/// One generated pair of query file and database, searched with several option sets.
fn item(
    bench: &Bench,
    source: &Source,
    options: &Options,
    index: u64,
    counts: &Counts,
    home: &std::path::Path,
) -> Result<()> {
    let mut rng = Rng::for_item(options.seed, index);
    let mut trial = generate::trial(&mut rng, source);
    bench.write(&trial)?;
    for search in 0..SEARCHES_PER_ITEM {
        trial.options = options::choose(&mut rng, &trial);
        counts.searches.fetch_add(1, Ordering::Relaxed);
        if bench.search(&trial)?.is_empty() {
            continue;
        }
        counts.differences.fetch_add(1, Ordering::Relaxed);
        let small = minimise::minimise(bench, &trial)?;
        let kept: PathBuf = home.join(format!("seed{}-item{index}-search{search}", options.seed));
        let found = bench.keep(&small, &kept)?;
        println!("DIFFERENCE  seed {} item {index} search {search}", options.seed);
        println!("  {}", small.summary());
        for difference in &found {
            println!("  {}", describe(difference));
        }
        println!("  kept in {}", kept.display());
        bench.write(&trial)?;
    }
    Ok(())
}
