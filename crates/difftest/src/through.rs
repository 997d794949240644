//! Makes the report of a case at an I/O site. The metadata come from a file, to I/O ranks of the
//! same job, or over a link.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cases::Case;
use crate::error::{Result, io_error};
use crate::fleet::{ParallelMode, Shape, is_sam};
use crate::kind::MetadataKind;
use crate::listener::{Keys, Listener};
use crate::process::{MINUTE, Outcome, Tool};

/// Time limit of a run.
const LIMIT: Duration = MINUTE.saturating_mul(10);
/// Time limit for the I/O site to end after a search that has not sent everything.
const PATIENCE: Duration = Duration::from_secs(5);

/// The route of metadata from the search site to the I/O site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataRoute {
    /// A file, from which `fleetblast expand` makes the report.
    File,
    /// Messages of the job to its I/O ranks.
    Job,
    /// An encrypted link to `fleetblast receive`.
    Link,
}

/// Options of the format with a value that can be given at the I/O site alone.
const FORMAT: [&str; 4] = ["-outfmt", "-line_length", "-sorthits", "-sorthsps"];
/// Options of the format without a value that can be given at the I/O site alone.
const FORMAT_FLAGS: [&str; 2] = ["-html", "-show_gis"];
/// Values of `-metadata_limit`. Above the limit, the search sends the report itself: always,
/// sometimes, rarely.
const LIMITS: [&str; 3] = ["0", "0.2", "1"];
/// Options whose effect on the search depends on the format. If one is given, the search site gets
/// all options of the format.
const COUNTS: [&str; 3] = ["-num_descriptions", "-num_alignments", "-max_target_seqs"];
/// Options that name the subjects.
const SEARCHED: [&str; 2] = ["-db", "-subject"];

/// The result of a case whose report an I/O site made.
#[derive(Debug)]
pub struct SiteOutcome {
    /// The result of the last of the two runs. Its standard output is the report.
    pub outcome: Outcome,
    /// Number of bytes of metadata, if they went through a file; otherwise 0.
    pub bytes: u64,
}

/// Whether an I/O site can make the report of a case. It can if there is a report, it can be
/// redirected, and both sites can read the inputs.
pub fn can_be_reported_elsewhere(case: &Case, kind: MetadataKind, expected_code: i32) -> bool {
    // A SAM report has no blocks, whose encoding `auto` could choose.
    let is_whole = kind != MetadataKind::Auto || !is_sam(&case.args);
    let says = |option: &str| case.args.iter().any(|arg| arg == option);
    is_whole
        && expected_code == 0
        && !says("-out")
        && value_of(&case.args, "-subject").is_none_or(|file| file != "-")
}

fn value_of<'a>(args: &'a [String], option: &str) -> Option<&'a String> {
    args.get(args.iter().position(|arg| arg == option)? + 1)
}

/// The programs, routes and files for cases at two sites.
pub struct TwoSiteRunner<'a> {
    /// FleetBLAST.
    pub tested: &'a Tool,
    /// The directory of the fixtures.
    pub cwd: &'a Path,
    /// Kind of the metadata.
    pub kind: MetadataKind,
    /// The route of the metadata.
    pub route: MetadataRoute,
    /// How the search is distributed, and the shape of its fleet.
    pub parallel_mode: (ParallelMode, Shape),
    /// Whether `fleetblast expand` also gets the name of the database when metadata of the kind
    /// `report` do not need it. It then verifies that the database is the same.
    pub names_database: bool,
    /// File for the metadata of one search, or for the report behind a link. The keys of the two
    /// sites are in the same directory.
    pub file: PathBuf,
}

impl TwoSiteRunner<'_> {
    /// Whether FleetBLAST may refuse a case because ranks search it. SAM begins with data that are
    /// known only at the end of the search.
    pub fn may_refuse(&self, case: &Case) -> bool {
        self.parallel_mode.0 != ParallelMode::None
            && self.kind == MetadataKind::Report
            && is_sam(&case.args)
    }

    /// Runs a case at two sites, by the chosen route. `number` varies the options.
    ///
    /// # Errors
    /// If files cannot be used or a program cannot be started.
    pub fn run(&self, case: &Case, stdin: Option<&Path>, number: usize) -> Result<SiteOutcome> {
        if let Some(dir) = self.file.parent() {
            fs::create_dir_all(dir).map_err(io_error("create", dir))?;
        }
        match self.route {
            MetadataRoute::File => self.run_by_file(case, stdin, number),
            MetadataRoute::Job => self.run_in_one_job(case, stdin, number),
            MetadataRoute::Link => self.run_by_link(case, stdin, number),
        }
    }

    /// Runs one job with ranks of both sites. One to three of them are I/O ranks, for SAM one.
    fn run_in_one_job(
        &self,
        case: &Case,
        stdin: Option<&Path>,
        number: usize,
    ) -> Result<SiteOutcome> {
        let (parallel_mode, shape) = &self.parallel_mode;
        let more = if is_sam(&case.args) { 1 } else { 1 + number as u32 % 3 };
        let options =
            [&["-io_ranks".to_owned(), more.to_string()][..], &self.metadata_options(number)]
                .concat();
        let shape = shape.clone().with_records(false).with_more(more);
        let (tool, all) =
            shape.command(self.tested, *parallel_mode, &[&options[..], &case.args].concat());
        Ok(SiteOutcome { outcome: tool.run(&all, self.cwd, stdin, LIMIT)?, bytes: 0 })
    }

    /// Writes the metadata to a file and expands it after the search. Every other case gives the
    /// options of the format to `expand` only, if that is possible.
    fn run_by_file(&self, case: &Case, stdin: Option<&Path>, number: usize) -> Result<SiteOutcome> {
        let (search, expand_options) = self.split_options(case, number);
        let file = self.file.display().to_string();
        let outcome = self.search(&["-metadata_out", &file], (&search, number), stdin)?;
        if outcome.code != 0 || !outcome.stdout.is_empty() {
            return Ok(SiteOutcome { outcome, bytes: 0 });
        }
        let bytes = fs::metadata(&self.file).map_or(0, |meta| meta.len());
        let expand = [vec!["-metadata".to_owned(), file], expand_options].concat();
        let mut expanded = self.as_another("expand").run(&expand, self.cwd, None, LIMIT)?;
        expanded.cpu += outcome.cpu;
        fs::remove_file(&self.file).map_err(io_error("remove", &self.file))?;
        Ok(SiteOutcome { outcome: expanded, bytes })
    }

    /// Sends the metadata over a link to a process that makes the report during the search.
    fn run_by_link(&self, case: &Case, stdin: Option<&Path>, number: usize) -> Result<SiteOutcome> {
        let (search, expand_options) = self.split_options(case, number);
        let keys = Keys::make(&self.as_another("keygen"), &self.file)?;
        let receive = self.as_another("receive");
        let listener = Listener::start(&receive, self.cwd, &keys, &self.file, &expand_options)?;
        let searched = listener.address.clone().map(|address| {
            let key = keys.search_site.file.display().to_string();
            let options = ["-send", &address, "-key", &key, "-peer", &keys.io_site.fingerprint];
            self.search(&options, (&search, number), stdin)
        });
        let searched = searched.transpose()?;
        // No other search sends to the listener, so it ends with this search or soon after.
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
                SiteOutcome { outcome: search, bytes: 0 }
            }
            searched => SiteOutcome {
                outcome: Outcome {
                    stdout: report,
                    stderr: ended.stderr,
                    code: ended.code,
                    cpu: searched.map_or(0.0, |it| it.cpu),
                    timed_out: false,
                },
                bytes: 0,
            },
        })
    }

    /// Returns the options that select the kind of metadata.
    fn metadata_options(&self, number: usize) -> Vec<String> {
        let mut options = vec!["-metadata", self.kind.name()];
        if self.kind == MetadataKind::Auto {
            options.extend(["-metadata_limit", LIMITS[number % LIMITS.len()]]);
        }
        options.into_iter().map(str::to_owned).collect()
    }

    /// Runs the search at the search site with additional `options`.
    fn search(
        &self,
        options: &[&str],
        (search, number): (&[String], usize),
        stdin: Option<&Path>,
    ) -> Result<Outcome> {
        let options = options.iter().map(|&word| word.to_owned());
        let options: Vec<String> = options.chain(self.metadata_options(number)).collect();
        let (parallel_mode, shape) = &self.parallel_mode;
        let shape = shape.clone().with_records(false);
        let (tool, search) =
            shape.command(self.tested, *parallel_mode, &[&options[..], search].concat());
        tool.run(&search, self.cwd, stdin, LIMIT)
    }

    /// Splits the options of a case into those of the search site and those of the I/O site.
    fn split_options(&self, case: &Case, number: usize) -> (Vec<String>, Vec<String>) {
        let settled = matches!(self.kind, MetadataKind::Report | MetadataKind::Auto);
        let late = number % 2 == 1 && !settled;
        let (search, format) =
            if late { split_format(&case.args) } else { (case.args.clone(), vec![]) };
        // With the report as metadata, the I/O site needs no database.
        let whether = self.kind != MetadataKind::Report || self.names_database && number % 2 == 1;
        let mut expand_options = Vec::new();
        for option in SEARCHED.into_iter().filter(|_| whether) {
            let value = value_of(&case.args, option);
            expand_options
                .extend(value.into_iter().flat_map(|value| [option.to_owned(), value.clone()]));
        }
        expand_options.extend(format);
        (search, expand_options)
    }

    /// Returns a tool for another subcommand of FleetBLAST.
    fn as_another(&self, command: &str) -> Tool {
        Tool { prefix: vec![command.to_owned()], ..self.tested.clone() }
    }
}

/// Separates the options that the search needs from options of the format that it does not need.
fn split_format(args: &[String]) -> (Vec<String>, Vec<String>) {
    let is = |arg: &String, options: &[&str]| options.contains(&arg.as_str());
    // SAM contains the command line of the search.
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
    fn the_format_is_given_late_unless_the_search_depends_on_it() {
        let (search, format) =
            split_format(&words("-db d -outfmt 6 -html -evalue 1 -line_length 7"));
        assert_eq!(search, words("-db d -evalue 1"));
        assert_eq!(format, words("-outfmt 6 -html -line_length 7"));
        for all in ["-db d -outfmt 6 -max_target_seqs 5", "-outfmt 17 -db d"] {
            assert_eq!(split_format(&words(all)), (words(all), Vec::new()));
        }
    }
}
