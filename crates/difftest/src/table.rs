//! `difftest table`: runs every case of the tables with both programs.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::cache::{Cache, inputs_of};
use crate::cases::{self, Case};
use crate::compare::{
    Difference, REFUSED_METADATA, REFUSED_ON_RANKS, compare, describe, is_one_of_refusals,
    is_refusal,
};
use crate::error::{Error, Result, io_error, write};
use crate::fixtures::{self, Fixtures};
use crate::fleet::{ParallelMode, SearchPaths, Shape};
use crate::formatter;
use crate::kind::MetadataKind;
use crate::process::{Outcome, Tools, shell};
use crate::program::Program;
use crate::resume::{self, ResumeRunner, ResumedRun};
use crate::sample;
use crate::through::{self, MetadataRoute, SiteOutcome, TwoSiteRunner};
use crate::workspace::{self, Source, Workspace};
use crate::written::run_with_output_files;

/// Time limit of one search.
const LIMIT: Duration = Duration::from_secs(600);
/// Number of searches below which a sample may have too few interrupted ones.
const FEW: usize = 12;

/// Options of `difftest table`.
#[derive(Debug)]
pub struct TableOptions {
    /// Whether to run only the quick cases.
    pub quick: bool,
    /// Run only a part of the covering sample that this seed selects.
    pub sample: Option<u64>,
    /// Run only the `i`-th of `n` parts of these cases: `(i, n)`, from 1.
    pub part: Option<(usize, usize)>,
    /// Run only cases whose id contains this text.
    pub filter: Option<String>,
    /// Number of cases that run at the same time.
    pub jobs: usize,
    /// How FleetBLAST's searches are distributed.
    pub parallel_mode: ParallelMode,
    /// Whether each search is interrupted and resumed.
    pub resume: bool,
    /// Kind of metadata from which another site makes each report; `None` for one site.
    pub through: Option<MetadataKind>,
    /// The `blast_formatter` programs, which make the reports from archives of the searches; `None`
    /// if the searches make the reports themselves.
    pub formatters: Option<Tools>,
    /// The route of the metadata from one site to the other.
    pub route: MetadataRoute,
    /// The tested programs, each with FleetBLAST's and BLAST+'s executable.
    pub programs: Vec<(&'static Program, Tools)>,
}

/// The data that all workers of one program share.
struct Session<'a> {
    program: &'static Program,
    tools: &'a Tools,
    options: &'a TableOptions,
    fixtures: Fixtures,
    cache: Cache,
    failed_dir: PathBuf,
    resume_dir: PathBuf,
    oracle_runs: AtomicUsize,
    resumed: AtomicUsize,
    interrupted: AtomicUsize,
    refused: AtomicUsize,
    through_dir: PathBuf,
    written_dir: PathBuf,
    crossed: AtomicUsize,
    crossed_bytes: AtomicUsize,
    crossed_report: AtomicUsize,
}

impl Session<'_> {
    /// Counts and prints a case that FleetBLAST rightly refused. Returns true, because this is no
    /// failure.
    fn refused(&self, case: &Case) -> bool {
        self.refused.fetch_add(1, Ordering::Relaxed);
        println!("refused {}", case.id);
        true
    }
}

/// Runs the cases. Prints one line for each and a closing summary of each program. Returns true if
/// none failed.
///
/// # Errors
/// If inputs cannot be made, a program cannot be started, or no case is chosen. Differences are not
/// errors.
pub fn run(workspace: &Workspace, source: &Source, options: &TableOptions) -> Result<bool> {
    workspace::report_source(source);
    let mut same = true;
    let mut tried = 0;
    for (program, tools) in &options.programs {
        let chosen = choose(program, cases::all(program)?, options);
        tried += chosen.len();
        if !chosen.is_empty() {
            let session = session(workspace, source, (program, tools), options)?;
            same &= run_program(&session, &chosen)?;
        }
    }
    if tried == 0 {
        return Err(Error::Usage("no case matches; a run of nothing proves nothing".into()));
    }
    Ok(same)
}

fn session<'a>(
    workspace: &Workspace,
    source: &Source,
    (program, tools): (&'static Program, &'a Tools),
    options: &'a TableOptions,
) -> Result<Session<'a>> {
    let version = tools.oracle.version()?;
    println!("oracle: {} ({version})", tools.oracle.program.display());
    println!("tested: {} ({})", tools.tested.program.display(), tools.tested.version()?);
    let dir = workspace.target.join("difftest").join(program.name);
    Ok(Session {
        program,
        tools,
        options,
        fixtures: fixtures::prepare(dir, &(program.inputs)(source)?)?,
        cache: Cache::open(workspace.target.join("difftest-cache"), version)?,
        failed_dir: workspace.target.join("difftest-failed").join(program.name),
        resume_dir: workspace.target.join("difftest-resume"),
        oracle_runs: AtomicUsize::new(0),
        resumed: AtomicUsize::new(0),
        interrupted: AtomicUsize::new(0),
        refused: AtomicUsize::new(0),
        written_dir: workspace.target.join("difftest-written").join(program.name),
        through_dir: workspace.target.join("difftest-through").join(program.name),
        crossed: AtomicUsize::new(0),
        crossed_bytes: AtomicUsize::new(0),
        crossed_report: AtomicUsize::new(0),
    })
}

/// Runs the cases of one program and prints the summary. Returns true if none failed.
fn run_program(session: &Session, chosen: &[Case]) -> Result<bool> {
    let failed = run_all(session, chosen)?;
    let runs = session.oracle_runs.load(Ordering::Relaxed);
    println!("searches by the oracle: {runs} run, {} from the cache", chosen.len() - runs);
    if session.options.resume {
        report_resumed(session)?;
    }
    if let Some(kind) = session.options.through {
        report_crossed(session, kind)?;
    }
    for id in &failed {
        println!("failed: {id}");
    }
    let refused = session.refused.load(Ordering::Relaxed);
    if refused > 0 {
        println!("refused by name: {refused}");
    }
    println!(
        "difftest table {}: {} passed, {} failed",
        session.program.name,
        chosen.len() - failed.len() - refused,
        failed.len()
    );
    Ok(failed.is_empty())
}

/// Prints how many searches were interrupted.
///
/// # Errors
/// If fewer than a quarter were interrupted, which would prove nothing. A small sample only prints
/// that this was not tested.
fn report_resumed(session: &Session) -> Result<()> {
    let resumed = session.resumed.load(Ordering::Relaxed);
    let interrupted = session.interrupted.load(Ordering::Relaxed);
    println!(
        "interrupted and resumed: {interrupted} of {resumed} searches, the others were through before"
    );
    if interrupted * 4 < resumed.max(1) {
        if session.options.sample.is_some() && resumed < FEW {
            println!(
                "NOT TESTED: interrupted searches of {}, few in a sample",
                session.program.name
            );
            return Ok(());
        }
        return Err(Error::Usage("too few searches were interrupted to prove anything".into()));
    }
    Ok(())
}

/// Prints how many reports another site made, and the bytes of metadata.
///
/// # Errors
/// If no report was made there, which would prove nothing. A sample only prints that this was not
/// tested.
fn report_crossed(session: &Session, kind: MetadataKind) -> Result<()> {
    let crossed = session.crossed.load(Ordering::Relaxed);
    let bytes = session.crossed_bytes.load(Ordering::Relaxed);
    let report = session.crossed_report.load(Ordering::Relaxed);
    let kind = kind.name();
    match session.options.route {
        MetadataRoute::File => println!(
            "made of {kind} at another site: {crossed} reports, of {report} bytes, of {bytes} bytes of metadata"
        ),
        MetadataRoute::Job => {
            println!("made of {kind} by other ranks: {crossed} reports, of {report} bytes")
        }
        MetadataRoute::Link => {
            println!("made of {kind} behind a link: {crossed} reports, of {report} bytes")
        }
    }
    match crossed {
        0 if session.options.sample.is_some() => {
            println!("NOT TESTED: metadata {kind} of {}, none in a sample", session.program.name);
            Ok(())
        }
        0 => Err(Error::Usage("no report was made at another site".into())),
        _ => Ok(()),
    }
}

fn choose(program: &Program, cases: Vec<Case>, options: &TableOptions) -> Vec<Case> {
    let wanted = |c: &Case| {
        (c.quick || !options.quick)
            && options.filter.as_ref().is_none_or(|f| c.id.contains(f.as_str()))
    };
    let mut chosen: Vec<Case> = cases.into_iter().filter(wanted).collect();
    let of = chosen.len();
    if let Some(seed) = options.sample {
        chosen = sample::eighth(program, chosen, seed);
    }
    if let Some((part, parts)) = options.part {
        chosen = chosen.into_iter().skip(part - 1).step_by(parts).collect();
    }
    if let Some(seed) = options.sample {
        println!("sample of {}: {} of {of} cases, seed {seed}", program.name, chosen.len());
    }
    chosen
}

/// Hands the cases to the workers. Returns the ids of the failed ones, in the tables' order.
fn run_all(session: &Session, cases: &[Case]) -> Result<Vec<String>> {
    let next = AtomicUsize::new(0);
    let failed: Mutex<Vec<(usize, String)>> = Mutex::new(Vec::new());
    let work = || -> Result<()> {
        while let Some((index, case)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            cases.get(index).map(|case| (index, case))
        } {
            if !run_case(session, case, index)?
                && let Ok(mut failed) = failed.lock()
            {
                failed.push((index, case.id.clone()));
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..session.options.jobs).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|w| w.join().unwrap_or_else(|_| Err(worker_panicked())))
    })?;
    let mut failed = failed.into_inner().map_err(|_| worker_panicked())?;
    failed.sort_unstable();
    Ok(failed.into_iter().map(|(_, id)| id).collect())
}

fn worker_panicked() -> Error {
    Error::Tool { program: "difftest".into(), reason: "a worker thread panicked".into() }
}

/// Runs one case and prints its line, with both programs' CPU time. Returns true if the programs
/// agree. `number` selects the shape of the fleet.
fn run_case(session: &Session, case: &Case, number: usize) -> Result<bool> {
    let stdin = case.stdin.as_ref().map(|name| session.fixtures.dir.join(name));
    let expected = oracle_outcome(session, case, number, stdin.as_deref())?;
    let parallel_mode = session.options.parallel_mode;
    if session.options.resume && resume::can_be_resumed(case, &expected) {
        return run_resumed(session, case, number, &expected);
    }
    if let Some(kind) = session.options.through
        && through::can_be_reported_elsewhere(case, kind, expected.code)
    {
        return run_at_two_sites(session, case, (kind, number), stdin.as_deref(), &expected);
    }
    if let Some(formatters) = &session.options.formatters {
        let dir = &session.fixtures.dir;
        return match formatter::can_be_archived(case, session.program.name, dir, expected.code) {
            true => run_formatters(session, case, number, (formatters, stdin.as_deref())),
            false => Ok(session.refused(case)),
        };
    }
    let shape = Shape::numbered(number, session.program.is_in_order);
    let tested = session.tools.tested.with_environment(&case.environment);
    fs::create_dir_all(&session.resume_dir).map_err(io_error("create", &session.resume_dir))?;
    let place = SearchPaths {
        cwd: &session.fixtures.dir,
        stdin: stdin.as_deref(),
        records: session.resume_dir.join(format!("records-{number}")),
    };
    let written = session.written_dir.join(number.to_string());
    let actual = run_with_output_files(&case.args, &written, |args| {
        shape.run(&tested, parallel_mode, args, &place, LIMIT)
    })?;
    let may_refuse = session.program.may_refuse(session.options.parallel_mode, &case.args);
    if is_one_of_refusals(may_refuse, &REFUSED_ON_RANKS, &actual) {
        return Ok(session.refused(case));
    }
    let found = compare(&expected, &actual, case.stderr && parallel_mode.keeps_stderr());
    report_case(session, case, &found, (&expected, &actual))
}

/// Formats an archive of one case with both programs, and prints its line. Returns true if the
/// reports are equal.
fn run_formatters(
    session: &Session,
    case: &Case,
    number: usize,
    (formatters, stdin): (&Tools, Option<&Path>),
) -> Result<bool> {
    let dir = &session.written_dir;
    fs::create_dir_all(dir).map_err(io_error("create", dir))?;
    let archive = dir.join(format!("{number}.asn"));
    let files = (&*session.fixtures.dir, stdin, &*archive);
    match formatter::run(case, &session.tools.oracle, formatters, files, number)? {
        Some((_, actual)) if is_refusal(true, formatter::REFUSED, &actual) => {
            Ok(session.refused(case))
        }
        Some((expected, actual)) => {
            let found = compare(&expected, &actual, case.stderr);
            report_case(session, case, &found, (&expected, &actual))
        }
        None => Ok(session.refused(case)),
    }
}

/// Runs one case whose search is interrupted and resumed, and prints its line. Returns true if the
/// report equals `expected`.
fn run_resumed(session: &Session, case: &Case, number: usize, expected: &Outcome) -> Result<bool> {
    let tested = session.tools.tested.with_environment(&case.environment);
    let searches = ResumeRunner {
        tested: &tested,
        parallel_mode: session.options.parallel_mode,
        cwd: &session.fixtures.dir,
        in_order: session.program.is_in_order,
        dir: session.resume_dir.join(number.to_string()),
        records: Cell::new(false),
    };
    let written = session.written_dir.join(number.to_string());
    let mut resumed = None;
    let outcome = run_with_output_files(&case.args, &written, |args| {
        let case = Case { args: args.to_vec(), ..case.clone() };
        Ok(resumed.insert(searches.run(&case, number)?).outcome.clone())
    })?;
    let resumed =
        resumed.map(|resumed| ResumedRun { outcome, ..resumed }).ok_or_else(worker_panicked)?;
    let may_refuse = session.program.may_refuse(session.options.parallel_mode, &case.args);
    if is_one_of_refusals(may_refuse, &REFUSED_ON_RANKS, &resumed.outcome) {
        return Ok(session.refused(case));
    }
    session.resumed.fetch_add(1, Ordering::Relaxed);
    session.interrupted.fetch_add(usize::from(resumed.interrupted), Ordering::Relaxed);
    let mut found = compare(expected, &resumed.outcome, false);
    found.extend(resumed.fault.map(Difference::Resume));
    report_case(session, case, &found, (expected, &resumed.outcome))
}

/// Runs one case whose report another site makes, and prints its line. Returns true if the report
/// equals `expected`.
fn run_at_two_sites(
    session: &Session,
    case: &Case,
    (kind, number): (MetadataKind, usize),
    stdin: Option<&Path>,
    expected: &Outcome,
) -> Result<bool> {
    let tested = session.tools.tested.with_environment(&case.environment);
    let file = session.through_dir.join(number.to_string());
    let parallel_mode = session.options.parallel_mode;
    let shape = Shape::numbered(number, session.program.is_in_order);
    let cwd = &session.fixtures.dir;
    let route = session.options.route;
    let (parallel_mode, names_database) = ((parallel_mode, shape), session.program.takes_database);
    let sites =
        TwoSiteRunner { tested: &tested, cwd, kind, route, parallel_mode, names_database, file };
    let written = session.written_dir.join(number.to_string());
    let mut crossed = None;
    let outcome = run_with_output_files(&case.args, &written, |args| {
        let case = Case { args: args.to_vec(), ..case.clone() };
        Ok(crossed.insert(sites.run(&case, stdin, number)?).outcome.clone())
    })?;
    let crossed =
        crossed.map(|crossed| SiteOutcome { outcome, ..crossed }).ok_or_else(worker_panicked)?;
    let parallel_mode = session.options.parallel_mode;
    let on_ranks = session.program.may_refuse(parallel_mode, &case.args) || sites.may_refuse(case);
    let refused = session.program.may_refuse_metadata(kind, &case.args);
    if is_one_of_refusals(refused, &REFUSED_METADATA, &crossed.outcome)
        || is_one_of_refusals(on_ranks, &REFUSED_ON_RANKS, &crossed.outcome)
    {
        return Ok(session.refused(case));
    }
    session.crossed.fetch_add(1, Ordering::Relaxed);
    session.crossed_bytes.fetch_add(crossed.bytes as usize, Ordering::Relaxed);
    session.crossed_report.fetch_add(expected.stdout.len(), Ordering::Relaxed);
    let found = compare(expected, &crossed.outcome, false);
    report_case(session, case, &found, (expected, &crossed.outcome))
}

/// Prints the line of a case without differences. Otherwise saves both outputs and prints the
/// differences. Returns true if there are none.
fn report_case(
    session: &Session,
    case: &Case,
    found: &[Difference],
    (expected, actual): (&Outcome, &Outcome),
) -> Result<bool> {
    if found.is_empty() {
        println!("ok      {} ({:.2} s, oracle {:.2} s)", case.id, actual.cpu, expected.cpu);
        return Ok(true);
    }
    let kept = keep(session, case, expected, actual)?;
    println!("{}", report(session.program, case, found, actual, &kept));
    Ok(false)
}

fn oracle_outcome(
    session: &Session,
    case: &Case,
    number: usize,
    stdin: Option<&Path>,
) -> Result<Outcome> {
    let dir = &session.fixtures.dir;
    let words = [vec![session.program.name.to_owned()], case.words()].concat();
    let inputs = inputs_of(&words, case.stdin.as_deref(), dir);
    let key = session.cache.key(&words, &inputs);
    if let Some(outcome) = session.cache.get(&key) {
        return Ok(outcome);
    }
    session.oracle_runs.fetch_add(1, Ordering::Relaxed);
    let oracle = session.tools.oracle.with_environment(&case.environment);
    let written = session.written_dir.join(number.to_string());
    let outcome =
        run_with_output_files(&case.args, &written, |args| oracle.run(args, dir, stdin, LIMIT))?;
    if !outcome.timed_out {
        session.cache.put(&key, &outcome)?;
    }
    Ok(outcome)
}

/// Saves both outputs of a failed case. Returns the directory with them.
fn keep(session: &Session, case: &Case, expected: &Outcome, actual: &Outcome) -> Result<PathBuf> {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "-_.,".contains(c) { c } else { '_' };
    let dir = session.failed_dir.join(case.id.chars().map(safe).collect::<String>());
    fs::create_dir_all(&dir).map_err(io_error("create", &dir))?;
    let files = [
        ("expected.out", &expected.stdout),
        ("expected.err", &expected.stderr),
        ("actual.out", &actual.stdout),
        ("actual.err", &actual.stderr),
    ];
    for (name, bytes) in files {
        let path = dir.join(name);
        write(&path, bytes)?;
    }
    Ok(dir)
}

/// Describes the failure of a case: its command and its differences. If the exit code is wrong, it
/// adds the last line of FleetBLAST's standard error, which names the reason.
fn report(
    program: &Program,
    case: &Case,
    found: &[Difference],
    actual: &Outcome,
    kept: &Path,
) -> String {
    let stdin = case.stdin.as_ref().map(|s| format!(" < {s}")).unwrap_or_default();
    let settings = case.environment.iter().map(|setting| format!("{setting} ")).collect::<String>();
    let mut text =
        format!("FAILED  {}\n  {settings}{} {}{stdin}\n", case.id, program.name, shell(&case.args));
    for difference in found {
        text += &format!("  {}\n", describe(difference));
    }
    if found.iter().any(|d| matches!(d, Difference::ExitCode { .. })) {
        let said = String::from_utf8_lossy(&actual.stderr);
        text += &format!("  FleetBLAST says: {}\n", said.trim().lines().last().unwrap_or(""));
    }
    text + &format!("  kept in {}", kept.display())
}
