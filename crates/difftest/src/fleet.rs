//! Shapes of a fleet: how many ranks, and what they do how. The report must be the same with all of them.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs};

use crate::error::{Result, io_error};
use crate::process::{MINUTE, Outcome, Tool};
use crate::rng::Rng;

/// How FleetBLAST's searches are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Over the threads of one process.
    None,
    /// Over ranks in one process.
    Ranks,
    /// Over processes that `mpirun` starts.
    Processes,
}

/// Directory of a random shape's checkpoint.
pub const CHECKPOINT: &str = "checkpoint";

/// What `-output` calls a report of records.
const RECORDS: &str = "records";

/// How many ranks, and what they do how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    ranks: u32,
    /// Of each rank.
    threads: u32,
    /// Processes load the database together.
    broadcast: bool,
    options: Vec<String>,
}

/// Ranks, threads of each, and options. Cases take turns, so that together they see all.
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

/// Whether a program that takes its queries in order can be given these options.
fn suits(options: &str) -> bool {
    !["-schedule", "-segment_size", "-query_order"].iter().any(|refused| options.contains(refused))
}

/// Options that say how many threads there are, or that it does not matter.
const OF_THREADS: [&str; 3] = ["-num_threads", "-mt_mode", "-subject"];
/// Options that say how the database is loaded, or that there is none.
const OF_LOADING: [&str; 3] = ["-loader", "-memory", "-subject"];

impl Spread {
    /// Whether standard error is the program's own: launchers have something to say, too.
    pub fn keeps_stderr(self) -> bool {
        self != Spread::Processes
    }
}

impl Shape {
    /// So many ranks with so many threads each.
    pub fn of(ranks: u32, threads: u32) -> Self {
        Shape { ranks, threads, broadcast: false, options: Vec::new() }
    }

    /// One of those that cases take turns in; with queries taken in order not all can be.
    pub fn numbered(number: usize, in_order: bool) -> Self {
        let shapes: Vec<_> =
            SHAPES.iter().filter(|(.., options)| !in_order || suits(options)).collect();
        let &(ranks, threads, options) = shapes[number % shapes.len()];
        let options = options.split(' ').map(String::from).collect();
        Shape { ranks, threads, broadcast: number % 3 == 1, options }
    }

    /// A random one; a checkpoint, if it has one, is in the current directory.
    pub fn random(rng: &mut Rng, in_order: bool) -> Self {
        let ranks = rng.between(1, 7) as u32;
        let mut options = Vec::new();
        let mut add = |name: &str, value: String| options.extend([format!("-{name}"), value]);
        add("output", (*rng.pick(&["merge", "individual", "collective", RECORDS])).to_owned());
        if rng.chance(0.8) {
            add("partitions", rng.between(1, 61).to_string());
        }
        if rng.chance(0.3) {
            add("groups", rng.between(1, ranks as usize).to_string());
        }
        if rng.chance(0.3) {
            add("replicas", rng.between(1, ranks as usize).to_string());
        }
        if rng.chance(0.2) {
            add("schedule", (*rng.pick(&["length", "weight"])).to_owned());
        } else if rng.chance(0.3) {
            add("query_order", (*rng.pick(&["given", "longest"])).to_owned());
        }
        if rng.chance(0.3) {
            add("segment_size", rng.between(1, 3_000).to_string());
        }
        if rng.chance(0.4) {
            let buffer = rng.between(64, 20_000);
            add("write_buffer", buffer.to_string());
            add("result_memory", (buffer * rng.between(5, 30)).to_string());
        }
        if rng.chance(0.2) {
            add("checkpoint", CHECKPOINT.to_owned());
        }
        let (threads, broadcast) = (rng.between(1, 2) as u32, rng.chance(0.3));
        let shape = Shape { ranks, threads, broadcast, options };
        // These are their own checkpoint, where that is named.
        let shape = if shape.keeps_records() { shape.without("checkpoint") } else { shape };
        let ordered = ["schedule", "segment_size", "query_order"];
        if in_order { ordered.into_iter().fold(shape, Shape::without) } else { shape }
    }

    /// The same without an option that has a value.
    pub fn without(mut self, option: &str) -> Self {
        let at = self.options.iter().position(|name| name.strip_prefix('-') == Some(option));
        if let Some(at) = at {
            self.options.drain(at..at + 2);
        }
        self
    }

    /// The same with the report as records, or not.
    pub fn with_records(mut self, records: bool) -> Self {
        if self.keeps_records() != records {
            self = self.without("output").without("compression");
            let output = if records { RECORDS } else { "merge" };
            self.options.extend(["-output".to_owned(), output.to_owned()]);
        }
        self
    }

    /// The same with so many more ranks.
    pub fn with_more(self, ranks: u32) -> Self {
        Shape { ranks: self.ranks + ranks, ..self }
    }

    /// Whether the report is records.
    pub fn keeps_records(&self) -> bool {
        self.options.iter().any(|word| word == RECORDS)
    }

    /// Runs a search on these ranks to its end, or kills it after `limit`. A report of records, which is made in a directory of
    /// its own, is put together to what the search would have written. Without ranks nothing is spread.
    pub fn run(
        &self,
        tested: &Tool,
        spread: Spread,
        args: &[String],
        place: &Place,
        limit: Duration,
    ) -> Result<Outcome> {
        let says_where = args.iter().any(|arg| arg == "-out");
        let records =
            spread != Spread::None && self.keeps_records() && !says_where && !is_sam(args);
        let shape = self.clone().with_records(records);
        let (tool, mut all) = shape.spread(tested, spread, args);
        if !records {
            return tool.run(&all, place.cwd, place.stdin, limit);
        }
        place.clear()?;
        all.splice(0..0, ["-out".to_owned(), place.records.display().to_string()]);
        let outcome = tool.run(&all, place.cwd, place.stdin, limit)?;
        let shown = put_together(tested, outcome, &place.records, place.cwd)?;
        place.clear()?;
        Ok(shown)
    }

    /// What starts `tested` on these ranks, and all arguments.
    pub fn spread(&self, tested: &Tool, spread: Spread, args: &[String]) -> (Tool, Vec<String>) {
        let mut all = self.options.clone();
        let say = |options: &[&str]| args.iter().any(|arg| options.contains(&arg.as_str()));
        if !say(&OF_THREADS) {
            all.extend(["-num_threads".to_owned(), self.threads.to_string()]);
        }
        if self.broadcast && spread == Spread::Processes && !say(&OF_LOADING) {
            all.extend(["-loader".to_owned(), "broadcast".to_owned()]);
        }
        let tool = match spread {
            Spread::None => return (tested.clone(), args.to_vec()),
            Spread::Ranks => {
                all.extend(["-ranks".to_owned(), self.ranks.to_string()]);
                tested.clone()
            }
            Spread::Processes => launched(tested, self.ranks),
        };
        // Before the case's own: some of those end in the middle of an option.
        all.extend_from_slice(args);
        (tool, all)
    }
}

/// Whether the report is SAM, which cannot be records.
pub fn is_sam(args: &[String]) -> bool {
    let format = args.iter().position(|arg| arg == "-outfmt").and_then(|at| args.get(at + 1));
    format.is_some_and(|format| format.trim_start().starts_with("17"))
}

/// Where a search runs.
pub struct Place<'a> {
    /// The current directory.
    pub cwd: &'a Path,
    /// The file that is standard input.
    pub stdin: Option<&'a Path>,
    /// What no other search makes at the same time.
    pub records: PathBuf,
}

impl Place<'_> {
    fn clear(&self) -> Result<()> {
        match fs::remove_dir_all(&self.records) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            cleared => cleared.map_err(io_error("remove", &self.records)),
        }
    }
}

/// The outcome of a search with the report that its records are: of one that failed, with what there is of it.
pub fn put_together(
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

/// What starts processes: `$MPIRUN`, for an MPI library that is not the system's usual one, else `mpirun`.
pub fn launcher() -> PathBuf {
    env::var_os("MPIRUN").map_or_else(|| PathBuf::from("mpirun"), PathBuf::from)
}

/// The program started on so many ranks, which may be more than there are cores ([`Tool::command`] allows that).
fn launched(tested: &Tool, ranks: u32) -> Tool {
    let mut prefix = vec!["-n".to_owned(), ranks.to_string(), tested.program.display().to_string()];
    prefix.extend(tested.prefix.iter().cloned());
    let environment = tested.environment.clone();
    Tool { program: launcher(), prefix, environment }
}
