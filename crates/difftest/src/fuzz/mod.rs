//! `difftest fuzz`: runs both programs on random inputs and options until the time is over.

mod masks;
mod minimise;
pub mod options;
pub mod trial;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::compare::describe;
use crate::error::{Error, Result};
use crate::fleet::{ParallelMode, Shape};
use crate::process::Tools;
use crate::program::{Program, Trial};
use crate::rng;
use crate::workspace::{self, Source, Workspace};

use trial::Bench;

/// Options of `difftest fuzz`.
#[derive(Debug)]
pub struct FuzzOptions {
    /// The tested programs, each with FleetBLAST's and BLAST+'s executable. They run one after the
    /// other.
    pub programs: Vec<(&'static Program, Tools)>,
    /// Time for each program.
    pub time: Duration,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Run only this item of the seed, and of that item only this search if there is a second
    /// number.
    pub only: Option<(u64, Option<usize>)>,
    /// Maximal number of searches to make one difference small.
    pub effort: usize,
    /// Number of items that run at the same time.
    pub jobs: usize,
    /// How FleetBLAST's searches are distributed.
    pub parallel_mode: ParallelMode,
}

/// Counters that all workers share.
#[derive(Default)]
struct Counts {
    next: AtomicU64,
    searches: AtomicU64,
    refused: AtomicU64,
    differences: AtomicU64,
}

/// Number of searches of one generated database, each with other options.
const SEARCHES_PER_ITEM: usize = 12;
/// Number of searches of an item with long queries or many subjects, which takes BLAST+ seconds.
const SEARCHES_PER_HEAVY_ITEM: usize = 4;

/// Runs random searches of each program until its time is over. Returns true if no difference was
/// found.
///
/// # Errors
/// If inputs cannot be written or a program cannot be started.
pub fn run(workspace: &Workspace, source: &Source, options: &FuzzOptions) -> Result<bool> {
    workspace::report_source(source);
    let mut same = true;
    for (program, tools) in &options.programs {
        same &= run_program(workspace, source, options, (program, tools))?;
    }
    Ok(same)
}

fn run_program(
    workspace: &Workspace,
    source: &Source,
    options: &FuzzOptions,
    (program, tools): (&'static Program, &Tools),
) -> Result<bool> {
    println!("fuzz {}: seed {}, {} s", program.name, options.seed, options.time.as_secs());
    let home = workspace.target.join("fuzzdiff");
    let session = Session { source, program, options, home, counts: Counts::default() };
    let counts = &session.counts;
    let deadline = Instant::now() + options.time;
    let worker = |number: usize| -> Result<()> {
        // Several testers may run at the same time.
        let name = format!("work-{}-{number}", std::process::id());
        let bench = Bench::new(session.home.join(&name), tools)?;
        let _removed = RemoveOnDrop(session.home.join(name));
        loop {
            let index = counts.next.fetch_add(1, Ordering::Relaxed);
            if let Some((only, _)) = options.only {
                let mine = index == 0;
                return if mine { session.item(&bench, only) } else { Ok(()) };
            }
            if Instant::now() >= deadline {
                return Ok(());
            }
            session.item(&bench, index)?;
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
        "difftest fuzz {}: {searches} searches, {} refused by name, {differences} differences, seed {}",
        program.name,
        counts.refused.load(Ordering::Relaxed),
        options.seed
    );
    Ok(differences == 0)
}

/// A directory that is removed at the end.
struct RemoveOnDrop(PathBuf);

impl Drop for RemoveOnDrop {
    fn drop(&mut self) {
        // A failure only leaves files behind.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The data that all workers of one program share.
struct Session<'a> {
    source: &'a Source,
    program: &'static Program,
    options: &'a FuzzOptions,
    home: PathBuf,
    counts: Counts,
}

impl Session<'_> {
    /// Runs one item: a generated pair of query file and database, searched with several sets of
    /// options.
    fn item(&self, bench: &Bench, index: u64) -> Result<()> {
        let mut rng = rng::for_item(self.options.seed, index);
        let mut shapes = rng::for_item(!self.options.seed, index);
        let mut trial = (self.program.trial)(&mut rng, self.source);
        if let Err(refusal) = bench.write(&trial) {
            // makeblastdb does not recognise every file as FASTA: it fails on few letters that are
            // mostly odd.
            println!("left out {index}: {refusal}");
            return Ok(());
        }
        let only = self.options.only.and_then(|(_, search)| search);
        let searches = if trial.is_heavy() { SEARCHES_PER_HEAVY_ITEM } else { SEARCHES_PER_ITEM };
        for search in 0..searches {
            trial.options = (self.program.options)(&mut rng, &trial);
            // The shapes come from another generator, so that the searches of a seed are the same
            // with and without ranks.
            let parallel_mode = Some(self.options.parallel_mode)
                .filter(|&parallel_mode| parallel_mode != ParallelMode::None);
            trial.shape = parallel_mode.map(|parallel_mode| {
                (parallel_mode, Shape::random(&mut shapes, self.program.is_in_order))
            });
            if only.is_some_and(|only| only != search) {
                continue;
            }
            self.counts.searches.fetch_add(1, Ordering::Relaxed);
            let found = bench.search(&trial)?;
            self.counts.refused.fetch_add(u64::from(found.refused), Ordering::Relaxed);
            if !found.differences.is_empty() {
                self.counts.differences.fetch_add(1, Ordering::Relaxed);
                self.explain(bench, &trial, &format!("{index}:{search}"))?;
                bench.write(&trial)?;
            }
        }
        Ok(())
    }

    /// Makes the search of a difference small, saves it and prints it.
    fn explain(&self, bench: &Bench, trial: &Trial, name: &str) -> Result<()> {
        let seed = self.options.seed;
        let small = minimise::minimise(bench, trial, self.options.effort)?;
        let kept =
            self.home.join(format!("{}-seed{seed}-{}", self.program.name, name.replace(':', "-")));
        let found = bench.keep(&small, &kept)?.differences;
        // This is printed as one text, so that reports of two workers do not mix.
        let mut text = format!(
            "DIFFERENCE  {} --seed {seed} --only {name}\n  {}\n  was: {}\n",
            self.program.name,
            small.summary(),
            trial.summary()
        );
        for difference in &found {
            text += &format!("  {}\n", describe(difference));
        }
        println!("{text}  kept in {}", kept.display());
        Ok(())
    }
}
