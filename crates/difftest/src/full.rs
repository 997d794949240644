//! `difftest full`: searches all of the data with all queries, in every format.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use xxhash_rust::xxh3::xxh3_64;

use crate::cache::{Cache, inputs_of};
use crate::compare::{compare, describe};
use crate::error::{Result, io_error, write};
use crate::fasta;
use crate::fixtures::{Recipe, make_database};
use crate::process::{MINUTE, Outcome, Tools, shell};
use crate::program::{FullSearches, Program};
use crate::programs::BLASTP;
use crate::workspace::{self, Source, Workspace};

/// Time limit of one search.
const LIMIT: Duration = MINUTE.saturating_mul(60);

/// Options of `difftest full`.
#[derive(Debug)]
pub struct FullOptions {
    /// The tested programs, each with FleetBLAST's and BLAST+'s executable.
    pub programs: Vec<(&'static Program, Tools)>,
    /// Run only searches whose arguments contain this text.
    pub filter: Option<String>,
}

/// Makes the largest database of proteins and the file of all queries. Returns the directory with
/// `q/all.fa` and `db/big`.
///
/// # Errors
/// If the database or the file cannot be made.
pub fn prepare_big(workspace: &Workspace, source: &Source) -> Result<PathBuf> {
    prepare(workspace, &(BLASTP.large)(source)?)
}

fn prepare(workspace: &Workspace, large: &FullSearches) -> Result<PathBuf> {
    let recipe = Recipe::of_file("big", "big.fa", &large.database);
    // Each source has a directory of its own, so that sequences of different sources are never
    // confused.
    let more = large.more.iter().map(Recipe::fingerprint);
    let fingerprint = more.fold(recipe.fingerprint(), |all, other| all ^ other);
    let name = format!("difftest-big/{fingerprint:016x}");
    let dir = workspace.target.join(name);
    for sub in ["q", "db"] {
        let sub = dir.join(sub);
        fs::create_dir_all(&sub).map_err(io_error("create", &sub))?;
    }
    for (name, bytes) in &large.queries {
        write(&dir.join(format!("q/{name}.fa")), bytes)?;
    }
    let text = dir.join("big.fa");
    if !text.is_file() {
        let part = dir.join("big.fa.part");
        fasta::unpack(&large.database, &part)?;
        fs::rename(&part, &text).map_err(io_error("rename", &part))?;
    }
    // The recipe names the file instead of holding its bytes, to keep 80 MB out of memory.
    make_database(&dir, &Recipe { molecule: large.molecule, ..recipe })?;
    large.more.iter().try_for_each(|recipe| make_database(&dir, recipe))?;
    Ok(dir)
}

/// Runs the searches of all programs. Returns true if all outputs are equal.
///
/// # Errors
/// If inputs cannot be made or a program cannot be started.
pub fn run(workspace: &Workspace, source: &Source, options: &FullOptions) -> Result<bool> {
    workspace::report_source(source);
    let (mut passed, mut failed) = (0, 0);
    for (program, tools) in &options.programs {
        let large = (program.large)(source)?;
        let cache = Cache::open(workspace.target.join("difftest-cache"), tools.oracle.version()?)?;
        let place = Place { program, tools, cache, dir: prepare(workspace, &large)? };
        let is_wanted =
            |search: &&String| options.filter.as_ref().is_none_or(|f| search.contains(f));
        for search in large.searches.iter().filter(is_wanted) {
            match place.is_same(search)? {
                true => passed += 1,
                false => failed += 1,
            }
        }
    }
    println!("difftest full: {passed} passed, {failed} failed");
    Ok(failed == 0)
}

/// A tested program: its description, the two executables, and the directory of the searches.
struct Place<'a> {
    program: &'static Program,
    tools: &'a Tools,
    cache: Cache,
    dir: PathBuf,
}

impl Place<'_> {
    /// Runs one search with both programs and prints the result. Returns true if the outputs are
    /// equal.
    fn is_same(&self, search: &str) -> Result<bool> {
        let (dir, name) = (&self.dir, self.program.name);
        let big = if search.contains(" -db ") { "" } else { " -db db/big" };
        let words = format!("{search}{big}");
        let args: Vec<String> = words.split_whitespace().map(String::from).collect();
        let expected = self.oracle(&args)?;
        let started = Instant::now();
        let actual = self.tools.tested.run(&args, dir, None, LIMIT)?;
        let seconds = started.elapsed().as_secs_f64();
        let lines = expected.stdout.iter().filter(|&&b| b == b'\n').count();
        let found = compare(&expected, &actual, false);
        let size = format!("{lines} lines, {} bytes", expected.stdout.len());
        if found.is_empty() {
            let hash = xxh3_64(&expected.stdout);
            println!("ok      {name} {search}: {size} equal (xxh3 {hash:016x}, {seconds:.1} s)");
            return Ok(true);
        }
        println!("FAILED  {name} {search}: {size}");
        println!("  in {}: {name} {}", dir.display(), shell(&args));
        for difference in &found {
            println!("  {}", describe(difference));
        }
        Ok(false)
    }

    fn oracle(&self, args: &[String]) -> Result<Outcome> {
        let key = self.cache.key(args, &inputs_of(args, None, &self.dir));
        if let Some(outcome) = self.cache.get(&key) {
            return Ok(outcome);
        }
        let outcome = self.tools.oracle.run(args, &self.dir, None, LIMIT)?;
        if !outcome.timed_out {
            self.cache.put(&key, &outcome)?;
        }
        Ok(outcome)
    }
}
