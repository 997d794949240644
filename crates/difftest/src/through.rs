//! Cases whose report is made at another site: of a file of metadata, by other ranks of the job, or behind a link.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cases::Case;
use crate::error::{Result, io_error};
use crate::fleet::{Shape, Spread, is_sam};
use crate::kind::Kind;
use crate::listener::{Keys, Listener};
use crate::process::{MINUTE, Outcome, Tool};

/// Longest time a run may take.
const LIMIT: Duration = MINUTE.saturating_mul(10);
/// How long the other site may take to end when no search has sent it all.
const PATIENCE: Duration = Duration::from_secs(5);

/// How it crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// In a file, of which `fleetblast expand` makes the report.
    File,
    /// By messages of the job, to ranks at the other site.
    Job,
    /// To `fleetblast receive`, encrypted.
    Link,
}

/// Options of the format that take a value and may be chosen at the other site only.
const FORMAT: [&str; 4] = ["-outfmt", "-line_length", "-sorthits", "-sorthsps"];
/// The same without a value.
const FORMAT_FLAGS: [&str; 2] = ["-html", "-show_gis"];
/// Shares of the report above which it is the report that crosses: always, now and then, seldom.
const LIMITS: [&str; 3] = ["0", "0.2", "1"];
/// Where one of these is typed, the search depends on the format.
const COUNTS: [&str; 3] = ["-num_descriptions", "-num_alignments", "-max_target_seqs"];
/// What is searched.
const SEARCHED: [&str; 2] = ["-db", "-subject"];

/// How a case went.
#[derive(Debug)]
pub struct Crossed {
    /// How the last of the two runs ended; what it printed is the report.
    pub outcome: Outcome,
    /// Bytes that crossed.
    pub bytes: u64,
}

/// Whether the report of a case can be made elsewhere: it goes where we say, there is one, and both sites can read what is searched.
pub fn can_be(case: &Case, kind: Kind, expected_code: i32) -> bool {
    // SAM has no blocks of a report.
    let is_whole = kind != Kind::Auto || !is_sam(&case.args);
    let says = |option: &str| case.args.iter().any(|arg| arg == option);
    is_whole
        && expected_code == 0
        && !says("-out")
        && value_of(&case.args, "-subject").is_none_or(|file| file != "-")
}

fn value_of<'a>(args: &'a [String], option: &str) -> Option<&'a String> {
    args.get(args.iter().position(|arg| arg == option)? + 1)
}

/// How the cases are searched, and where.
pub struct Sites<'a> {
    /// FleetBLAST.
    pub tested: &'a Tool,
    /// The directory of the fixtures.
    pub cwd: &'a Path,
    /// What crosses, and how.
    pub kind: Kind,
    /// See [`Way`].
    pub way: Way,
    /// How the search is spread, and over which ranks.
    pub spread: (Spread, Shape),
    /// The other site may be told what was searched where it needs only the report: it holds that it is the same there.
    pub names_database: bool,
    /// The metadata of one search, or the report behind a link; beside it are the keys of the two sites.
    pub file: PathBuf,
}

impl Sites<'_> {
    /// Whether a case may be refused by name since ranks search it: SAM begins with what is known in the end.
    pub fn may_refuse(&self, case: &Case) -> bool {
        self.spread.0 != Spread::None && self.kind == Kind::Report && is_sam(&case.args)
    }

    /// Runs a case, each way.
    ///
    /// # Errors
    /// If files cannot be used or a program cannot be started.
    pub fn run(&self, case: &Case, stdin: Option<&Path>, number: usize) -> Result<Crossed> {
        if let Some(dir) = self.file.parent() {
            fs::create_dir_all(dir).map_err(io_error("create", dir))?;
        }
        match self.way {
            Way::File => self.run_by_file(case, stdin, number),
            Way::Job => self.run_in_one_job(case, stdin, number),
            Way::Link => self.run_by_link(case, stdin, number),
        }
    }

    /// One job of ranks of both sites, of which one to three make the report, if it is not SAM.
    fn run_in_one_job(&self, case: &Case, stdin: Option<&Path>, number: usize) -> Result<Crossed> {
        let (spread, shape) = &self.spread;
        let more = if is_sam(&case.args) { 1 } else { 1 + number as u32 % 3 };
        let told = [&["-io_ranks".to_owned(), more.to_string()][..], &self.told(number)].concat();
        let shape = shape.clone().with_records(false).with_more(more);
        let (tool, all) = shape.spread(self.tested, *spread, &[&told[..], &case.args].concat());
        Ok(Crossed { outcome: tool.run(&all, self.cwd, stdin, LIMIT)?, bytes: 0 })
    }

    /// A file, which is expanded after the search; every other case tells the format there only, if that may be.
    fn run_by_file(&self, case: &Case, stdin: Option<&Path>, number: usize) -> Result<Crossed> {
        let (search, there) = self.parts(case, number);
        let file = self.file.display().to_string();
        let outcome = self.search(&["-metadata_out", &file], (&search, number), stdin)?;
        if outcome.code != 0 || !outcome.stdout.is_empty() {
            return Ok(Crossed { outcome, bytes: 0 });
        }
        let bytes = fs::metadata(&self.file).map_or(0, |meta| meta.len());
        let expand = [vec!["-metadata".to_owned(), file], there].concat();
        let mut expanded = self.as_another("expand").run(&expand, self.cwd, None, LIMIT)?;
        expanded.cpu += outcome.cpu;
        fs::remove_file(&self.file).map_err(io_error("remove", &self.file))?;
        Ok(Crossed { outcome: expanded, bytes })
    }

    /// A link to a process that makes the report while the search goes on.
    fn run_by_link(&self, case: &Case, stdin: Option<&Path>, number: usize) -> Result<Crossed> {
        let (search, there) = self.parts(case, number);
        let keys = Keys::make(&self.as_another("keygen"), &self.file)?;
        let receive = self.as_another("receive");
        let listener = Listener::start(&receive, self.cwd, &keys, &self.file, &there)?;
        let searched = listener.address.clone().map(|address| {
            let key = keys.here.file.display().to_string();
            let told = ["-send", &address, "-key", &key, "-peer", &keys.there.fingerprint];
            self.search(&told, (&search, number), stdin)
        });
        let searched = searched.transpose()?;
        // Nobody else sends to it: it ends with the search, or soon.
        let patience =
            if searched.as_ref().is_some_and(|it| it.code == 0) { LIMIT } else { PATIENCE };
        let ended = listener.end(patience)?;
        keys.remove()?;
        let report = fs::read(&self.file).unwrap_or_default();
        let left = [self.file.clone(), self.file.with_extension("fbm")];
        left.iter()
            .filter(|file| file.exists())
            .try_for_each(fs::remove_file)
            .map_err(io_error("clear", &self.file))?;
        Ok(match searched {
            Some(search) if search.code != 0 || !search.stdout.is_empty() => {
                Crossed { outcome: search, bytes: 0 }
            }
            searched => Crossed {
                outcome: Outcome {
                    stdout: report,
                    stderr: ended.said,
                    code: ended.code,
                    cpu: searched.map_or(0.0, |it| it.cpu),
                    timed_out: false,
                },
                bytes: 0,
            },
        })
    }

    /// The options that say what crosses.
    fn told(&self, number: usize) -> Vec<String> {
        let mut told = vec!["-metadata", self.kind.name()];
        if self.kind == Kind::Auto {
            told.extend(["-metadata_limit", LIMITS[number % LIMITS.len()]]);
        }
        told.into_iter().map(str::to_owned).collect()
    }

    /// The search at this site, with what is `told` besides.
    fn search(
        &self,
        told: &[&str],
        (search, number): (&[String], usize),
        stdin: Option<&Path>,
    ) -> Result<Outcome> {
        let told = told.iter().map(|&word| word.to_owned());
        let told: Vec<String> = told.chain(self.told(number)).collect();
        let (spread, shape) = &self.spread;
        let shape = shape.clone().with_records(false);
        let (tool, search) = shape.spread(self.tested, *spread, &[&told[..], search].concat());
        tool.run(&search, self.cwd, stdin, LIMIT)
    }

    /// What is told to the search, and to the other site.
    fn parts(&self, case: &Case, number: usize) -> (Vec<String>, Vec<String>) {
        let settled = matches!(self.kind, Kind::Report | Kind::Auto);
        let late = number % 2 == 1 && !settled;
        let (search, format) = if late { parted(&case.args) } else { (case.args.clone(), vec![]) };
        // A report needs no database.
        let whether = self.kind != Kind::Report || self.names_database && number % 2 == 1;
        let mut there = Vec::new();
        for option in SEARCHED.into_iter().filter(|_| whether) {
            let value = value_of(&case.args, option);
            there.extend(value.into_iter().flat_map(|value| [option.to_owned(), value.clone()]));
        }
        there.extend(format);
        (search, there)
    }

    /// Another command of FleetBLAST.
    fn as_another(&self, command: &str) -> Tool {
        Tool { prefix: vec![command.to_owned()], ..self.tested.clone() }
    }
}

/// The options of the search, and those of the format, which the search does not need to know.
fn parted(args: &[String]) -> (Vec<String>, Vec<String>) {
    let is = |arg: &String, options: &[&str]| options.contains(&arg.as_str());
    // SAM holds the command line of the search.
    if is_sam(args) || args.iter().any(|arg| is(arg, &COUNTS)) {
        return (args.to_vec(), Vec::new());
    }
    let (mut search, mut format) = (Vec::new(), Vec::new());
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if is(arg, &FORMAT_FLAGS) {
            format.push(arg.clone());
        } else if is(arg, &FORMAT) {
            format.push(arg.clone());
            format.extend(rest.next().cloned());
        } else {
            search.push(arg.clone());
        }
    }
    (search, format)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_format_is_told_late_unless_the_search_depends_on_it() {
        let (search, format) = parted(&words("-db d -outfmt 6 -html -evalue 1 -line_length 7"));
        assert_eq!(search, words("-db d -evalue 1"));
        assert_eq!(format, words("-outfmt 6 -html -line_length 7"));
        for all in ["-db d -outfmt 6 -max_target_seqs 5", "-outfmt 17 -db d"] {
            assert_eq!(parted(&words(all)), (words(all), Vec::new()));
        }
    }
}
