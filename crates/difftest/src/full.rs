//! `difftest full`: all queries against the largest database, in the five main formats.

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
use crate::workspace::{self, Source, Workspace};

/// Longest time one search may take.
const LIMIT: Duration = MINUTE.saturating_mul(60);

/// Makes the largest database and the file of all queries; returns the directory with
/// `q/all.fa` and `db/big`.
pub fn prepare_big(workspace: &Workspace, source: &Source) -> Result<PathBuf> {
    let recipe = Recipe::of_file("big", "big.fa", &source.big);
    // One directory for each source, so that one's sequences are never taken for another's.
    let name = format!("difftest-big/{:016x}", recipe.fingerprint());
    let dir = workspace.target.join(name);
    for sub in ["q", "db"] {
        let sub = dir.join(sub);
        fs::create_dir_all(&sub).map_err(io_error("create", &sub))?;
    }
    let queries = dir.join("q/all.fa");
    write(&queries, fasta::to_bytes(&source.queries))?;
    let text = dir.join("big.fa");
    if !text.is_file() {
        let part = dir.join("big.fa.part");
        fasta::unpack(&source.big, &part)?;
        fs::rename(&part, &text).map_err(io_error("rename", &part))?;
    }
    // The recipe names the file instead of holding its bytes: 80 MB need not be in memory.
    make_database(&dir, &recipe)?;
    Ok(dir)
}

/// Runs the five formats; true if all bytes are equal.
///
/// # Errors
/// If inputs cannot be made or a program cannot be started.
pub fn run(workspace: &Workspace, source: &Source, tools: &Tools) -> Result<bool> {
    workspace::report_source(source);
    let dir = prepare_big(workspace, source)?;
    let cache = Cache::open(workspace.target.join("difftest-cache"), tools.oracle.version()?)?;
    let mut failed = 0;
    for format in ["6", "7", "10", "5", "0"] {
        let args = ["-query", "q/all.fa", "-db", "db/big", "-outfmt", format].map(String::from);
        let expected = oracle(tools, &cache, &args, &dir)?;
        let started = Instant::now();
        let actual = tools.tested.run(&args, &dir, None, LIMIT)?;
        let seconds = started.elapsed().as_secs_f64();
        let lines = expected.stdout.iter().filter(|&&b| b == b'\n').count();
        let found = compare(&expected, &actual, false);
        let size = format!("{lines} lines, {} bytes", expected.stdout.len());
        let hash = xxh3_64(&expected.stdout);
        if found.is_empty() {
            println!("ok      format {format}: {size} equal (xxh3 {hash:016x}, {seconds:.1} s)");
            continue;
        }
        failed += 1;
        println!("FAILED  format {format}: {size}");
        println!("  in {}: blastp {}", dir.display(), shell(&args));
        for difference in &found {
            println!("  {}", describe(difference));
        }
    }
    println!("difftest full: {} passed, {failed} failed", 5 - failed);
    Ok(failed == 0)
}

fn oracle(tools: &Tools, cache: &Cache, args: &[String], dir: &std::path::Path) -> Result<Outcome> {
    let key = cache.key(args, &inputs_of(args, None, dir));
    if let Some(outcome) = cache.get(&key) {
        return Ok(outcome);
    }
    let outcome = tools.oracle.run(args, dir, None, LIMIT)?;
    if !outcome.timed_out {
        cache.put(&key, &outcome)?;
    }
    Ok(outcome)
}
