//! Shapes of a fleet: numbers of ranks and threads, and options for ranks. The report must not
//! depend on the shape.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs};

use crate::error::{Result, io_error};
use crate::process::{MINUTE, Outcome, Tool};
use crate::rng::Draw;
use fastrand::Rng;

/// How FleetBLAST's searches are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParallelMode {
    /// Over the threads of one process, without ranks.
    None,
    /// Over ranks in one process.
    Ranks,
    /// Over processes that `mpirun` starts.
    Processes,
}

/// Name of the directory for the checkpoint of a random shape.
pub const CHECKPOINT: &str = "checkpoint";

/// Value of `-output` that writes the report as records.
const RECORDS: &str = "records";

/// A shape of a fleet: numbers of ranks and threads, and options for ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    ranks: u32,
    /// Number of threads of each rank.
    threads: u32,
    /// Whether processes load the database with `-loader broadcast`.
    broadcast: bool,
    options: Vec<String>,
}

/// The shapes of cases: ranks, threads per rank, and options. Cases use them in turn.
const SHAPES: [(u32, u32, &str); 20] = [
    (1, 1, "-partitions 1"),
    (2, 1, "-partitions 3 -output individual"),
    (3, 2, "-partitions 16"),
    (4, 1, "-partitions 61 -output collective"),
    (7, 1, "-partitions 7 -groups 2"),
    (3, 1, "-partitions 7 -output records"),
    (1, 2, "-partitions 61 -output collective"),
    (2, 2, "-partitions 1 -replicas 2"),
    (3, 1, "-partitions 3 -groups 3 -output individual"),
    (4, 1, "-partitions 16 -replicas 2 -schedule length"),
    (7, 1, "-partitions 61 -groups 2 -replicas 2 -output individual"),
    (2, 1, "-partitions 16 -write_buffer 5000 -result_memory 30000"),
    (3, 1, "-partitions 1 -replicas 3 -schedule weight"),
    (
        5,
        1,
        "-partitions 5 -groups 2 -output records -compression gzip -write_buffer 5000 -result_memory 30000",
    ),
    (1, 2, "-partitions 3 -output records"),
    (4, 2, "-partitions 3 -write_buffer 700 -result_memory 9000 -output individual"),
    (7, 1, "-partitions 3 -replicas 3 -output collective -write_buffer 3000"),
    (3, 1, "-partitions 2 -groups 2 -segment_size 500 -query_order longest"),
    (7, 1, "-partitions 61 -groups 3 -output records -write_buffer 700 -result_memory 9000"),
    (5, 1, "-partitions 9 -groups 2 -write_buffer 100 -result_memory 1000"),
];

/// Whether these options of a shape are possible for a program whose queries ranks search in order.
fn suits(options: &str) -> bool {
    !["-schedule", "-segment_size", "-query_order"].iter().any(|refused| options.contains(refused))
}

/// Options of a case that set the number of threads or make it meaningless. The shape then sets
/// none.
const OF_THREADS: [&str; 3] = ["-num_threads", "-mt_mode", "-subject"];
/// Options of a case that set how the database is loaded, or that name no database. The shape then
/// sets no loader.
const OF_LOADING: [&str; 3] = ["-loader", "-memory", "-subject"];

impl ParallelMode {
    /// Whether standard error comes from FleetBLAST alone. Launchers write messages, too.
    pub fn keeps_stderr(self) -> bool {
        self != ParallelMode::Processes
    }
}

impl Shape {
    /// Creates a shape of `ranks` ranks with `threads` threads each, without options.
    pub fn new(ranks: u32, threads: u32) -> Self {
        Shape { ranks, threads, broadcast: false, options: Vec::new() }
    }

    /// Returns the shape for the case with this number; cases use the shapes in turn. Some shapes
    /// are impossible if ranks search the queries in order.
    pub fn numbered(number: usize, in_order: bool) -> Self {
        let shapes: Vec<_> =
            SHAPES.iter().filter(|(.., options)| !in_order || suits(options)).collect();
        let &(ranks, threads, options) = shapes[number % shapes.len()];
        let options = options.split(' ').map(String::from).collect();
        Shape { ranks, threads, broadcast: number % 3 == 1, options }
    }

    /// Draws a random shape. Its checkpoint, if any, is in the current directory.
    pub fn random(rng: &mut Rng, in_order: bool) -> Self {
        let ranks = rng.u32(1..=7);
        let mut options = Vec::new();
        let mut add = |name: &str, value: String| options.extend([format!("-{name}"), value]);
        add("output", (*rng.pick(&["merge", "individual", "collective", RECORDS])).to_owned());
        if rng.chance(0.8) {
            add("partitions", rng.usize(1..=61).to_string());
        }
        if rng.chance(0.3) {
            add("groups", rng.u32(1..=ranks).to_string());
        }
        if rng.chance(0.3) {
            add("replicas", rng.u32(1..=ranks).to_string());
        }
        if rng.chance(0.2) {
            add("schedule", (*rng.pick(&["length", "weight"])).to_owned());
        } else if rng.chance(0.3) {
            add("query_order", (*rng.pick(&["given", "longest"])).to_owned());
        }
        if rng.chance(0.3) {
            add("segment_size", rng.usize(1..=3_000).to_string());
        }
        if rng.chance(0.4) {
            let buffer = rng.usize(64..=20_000);
            add("write_buffer", buffer.to_string());
            add("result_memory", (buffer * rng.usize(5..=30)).to_string());
        }
        if rng.chance(0.2) {
            add("checkpoint", CHECKPOINT.to_owned());
        }
        let (threads, broadcast) = (rng.u32(1..=2), rng.chance(0.3));
        let shape = Shape { ranks, threads, broadcast, options };
        // A report as records is also the checkpoint.
        let shape = if shape.keeps_records() { shape.without("checkpoint") } else { shape };
        let ordered = ["schedule", "segment_size", "query_order"];
        if in_order { ordered.into_iter().fold(shape, Shape::without) } else { shape }
    }

    /// Returns the shape without `option` and its value.
    pub fn without(mut self, option: &str) -> Self {
        let at = self.options.iter().position(|name| name.strip_prefix('-') == Some(option));
        if let Some(at) = at {
            self.options.drain(at..at + 2);
        }
        self
    }

    /// Returns the shape with or without a report as records.
    pub fn with_records(mut self, records: bool) -> Self {
        if self.keeps_records() != records {
            self = self.without("output").without("compression");
            let output = if records { RECORDS } else { "merge" };
            self.options.extend(["-output".to_owned(), output.to_owned()]);
        }
        self
    }

    /// Returns the shape with this many additional ranks.
    pub fn with_more(self, ranks: u32) -> Self {
        Shape { ranks: self.ranks + ranks, ..self }
    }

    /// Whether the shape writes the report as records.
    pub fn keeps_records(&self) -> bool {
        self.options.iter().any(|word| word == RECORDS)
    }

    /// Runs a search on these ranks to its end, or kills it after `limit`. A report as records goes
    /// to a directory of its own and is joined to the usual report. Without ranks the search runs
    /// as usual.
    pub fn run(
        &self,
        tested: &Tool,
        parallel_mode: ParallelMode,
        args: &[String],
        place: &SearchPaths,
        limit: Duration,
    ) -> Result<Outcome> {
        let says_where = args.iter().any(|arg| arg == "-out");
        let records = parallel_mode != ParallelMode::None
            && self.keeps_records()
            && !says_where
            && !is_sam(args)
            && !has_files(args);
        let shape = self.clone().with_records(records);
        let (tool, mut all) = shape.command(tested, parallel_mode, args);
        if !records {
            return tool.run(&all, place.cwd, place.stdin, limit);
        }
        place.clear()?;
        all.splice(0..0, ["-out".to_owned(), place.records.display().to_string()]);
        let outcome = tool.run(&all, place.cwd, place.stdin, limit)?;
        let shown = join_records(tested, outcome, &place.records, place.cwd)?;
        place.clear()?;
        Ok(shown)
    }

    /// Returns the program to start for a search in this shape, and all its arguments.
    pub fn command(
        &self,
        tested: &Tool,
        parallel_mode: ParallelMode,
        args: &[String],
    ) -> (Tool, Vec<String>) {
        let mut all = self.options.clone();
        let say = |options: &[&str]| args.iter().any(|arg| options.contains(&arg.as_str()));
        if !say(&OF_THREADS) {
            all.extend(["-num_threads".to_owned(), self.threads.to_string()]);
        }
        if self.broadcast && parallel_mode == ParallelMode::Processes && !say(&OF_LOADING) {
            all.extend(["-loader".to_owned(), "broadcast".to_owned()]);
        }
        let tool = match parallel_mode {
            ParallelMode::None => return (tested.clone(), args.to_vec()),
            ParallelMode::Ranks => {
                all.extend(["-ranks".to_owned(), self.ranks.to_string()]);
                tested.clone()
            }
            ParallelMode::Processes => launch_tool(tested, self.ranks),
        };
        // These come before the case's own arguments, because some of those end in the middle of an
        // option.
        all.extend_from_slice(args);
        (tool, all)
    }
}

/// Whether the report is SAM, which cannot be written as records.
pub fn is_sam(args: &[String]) -> bool {
    has_format(args, &["17"])
}

/// Whether the report has a file for each query, and cannot be written as records.
fn has_files(args: &[String]) -> bool {
    has_format(args, &["13", "14"])
}

fn has_format(args: &[String], numbers: &[&str]) -> bool {
    let format = args.iter().position(|arg| arg == "-outfmt").and_then(|at| args.get(at + 1));
    let starts = |format: &String| numbers.iter().any(|it| format.trim_start().starts_with(it));
    format.is_some_and(starts)
}

/// The directories and files of a search.
pub struct SearchPaths<'a> {
    /// The current directory.
    pub cwd: &'a Path,
    /// The file that is standard input.
    pub stdin: Option<&'a Path>,
    /// Directory for records. No other search uses it at the same time.
    pub records: PathBuf,
}

impl SearchPaths<'_> {
    fn clear(&self) -> Result<()> {
        match fs::remove_dir_all(&self.records) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            cleared => cleared.map_err(io_error("remove", &self.records)),
        }
    }
}

/// Joins the records of a search to its report, which becomes the standard output. After a failed
/// search, the report consists of the records that exist.
pub fn join_records(
    tested: &Tool,
    outcome: Outcome,
    records: &Path,
    cwd: &Path,
) -> Result<Outcome> {
    let cat = Tool { prefix: vec!["cat".to_owned()], ..tested.clone() };
    let mut args = vec![records.display().to_string()];
    if outcome.code != 0 {
        args.push("-partial".to_owned());
    }
    let shown = cat.run(&args, cwd, None, MINUTE)?;
    match (outcome.code, shown.code) {
        (0, code) if code != 0 => {
            Ok(Outcome { stderr: [outcome.stderr, shown.stderr].concat(), code, ..outcome })
        }
        _ => Ok(Outcome { stdout: shown.stdout, ..outcome }),
    }
}

/// Returns the program that starts processes: `$MPIRUN` for an MPI library that is not the system's
/// default, otherwise `mpirun`.
pub fn launcher() -> PathBuf {
    env::var_os("MPIRUN").map_or_else(|| PathBuf::from("mpirun"), PathBuf::from)
}

/// Returns a tool that starts the program on `ranks` processes. They may exceed the cores
/// ([`Tool::command`] allows that).
fn launch_tool(tested: &Tool, ranks: u32) -> Tool {
    let mut prefix = vec!["-n".to_owned(), ranks.to_string(), tested.program.display().to_string()];
    prefix.extend(tested.prefix.iter().cloned());
    let environment = tested.environment.clone();
    Tool { program: launcher(), prefix, environment }
}
