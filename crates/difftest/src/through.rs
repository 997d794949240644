//! Cases whose report is made at another site: the search writes metadata, and `fleetblast expand` makes the report of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cases::Case;
use crate::error::{Result, io_error};
use crate::fleet::{Shape, Spread, is_sam};
use crate::process::{MINUTE, Outcome, Tool};

/// Longest time a run may take.
const LIMIT: Duration = MINUTE.saturating_mul(10);

/// What crosses to the other site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Subjects.
    Oids,
    /// Alignments.
    Hits,
    /// The report.
    Report,
    /// What is cheapest of each block.
    Auto,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 4] = [Kind::Oids, Kind::Hits, Kind::Report, Kind::Auto];

    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Oids => "oids",
            Kind::Hits => "hits",
            Kind::Report => "report",
            Kind::Auto => "auto",
        }
    }
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
    /// What crosses.
    pub kind: Kind,
    /// How the search is spread, and over which ranks.
    pub spread: (Spread, Shape),
    /// The metadata of one search.
    pub file: PathBuf,
}

impl Sites<'_> {
    /// Whether a case may be refused by name since ranks search it: they choose no kind, and SAM begins with what is known in the end.
    pub fn may_refuse(&self, case: &Case) -> bool {
        let refuses = match self.kind {
            Kind::Report => is_sam(&case.args),
            Kind::Auto => true,
            Kind::Oids | Kind::Hits => false,
        };
        self.spread.0 != Spread::None && refuses
    }

    /// Runs a case in one job of ranks of both sites, of which one to three make the report, if it is not SAM.
    ///
    /// # Errors
    /// If the program cannot be started.
    pub fn run_in_one_job(
        &self,
        case: &Case,
        stdin: Option<&Path>,
        number: usize,
    ) -> Result<Crossed> {
        let (spread, shape) = &self.spread;
        let more = if is_sam(&case.args) { 1 } else { 1 + number as u32 % 3 };
        let told = ["-io_ranks", &more.to_string(), "-metadata", self.kind.name()];
        let told = told.map(str::to_owned);
        let shape = shape.clone().with_records(false).with_more(more);
        let (tool, all) = shape.spread(self.tested, *spread, &[&told[..], &case.args].concat());
        Ok(Crossed { outcome: tool.run(&all, self.cwd, stdin, LIMIT)?, bytes: 0 })
    }

    /// Runs a case; every other one tells the format at the second site only, if that may be.
    ///
    /// # Errors
    /// If files cannot be used or the program cannot be started.
    pub fn run(&self, case: &Case, stdin: Option<&Path>, number: usize) -> Result<Crossed> {
        if let Some(dir) = self.file.parent() {
            fs::create_dir_all(dir).map_err(io_error("create", dir))?;
        }
        let settled = matches!(self.kind, Kind::Report | Kind::Auto);
        let late = number % 2 == 1 && !settled;
        let (search, format) = if late { parted(&case.args) } else { (case.args.clone(), vec![]) };
        let file = self.file.display().to_string();
        let mut told = vec!["-metadata_out", &file, "-metadata", self.kind.name()];
        if self.kind == Kind::Auto {
            told.extend(["-metadata_limit", LIMITS[number % LIMITS.len()]]);
        }
        let told: Vec<String> = told.into_iter().map(str::to_owned).collect();
        let (spread, shape) = &self.spread;
        let shape = shape.clone().with_records(false);
        let (tool, search) = shape.spread(self.tested, *spread, &[&told[..], &search].concat());
        let mut outcome = tool.run(&search, self.cwd, stdin, LIMIT)?;
        if outcome.code != 0 || !outcome.stdout.is_empty() {
            return Ok(Crossed { outcome, bytes: 0 });
        }
        let bytes = fs::metadata(&self.file).map_or(0, |meta| meta.len());
        let mut expand = vec!["-metadata".to_owned(), file];
        let whether = self.kind != Kind::Report || number % 2 == 1;
        for option in SEARCHED.into_iter().filter(|_| whether) {
            let value = value_of(&case.args, option);
            expand.extend(value.into_iter().flat_map(|value| [option.to_owned(), value.clone()]));
        }
        expand.extend(format);
        let prefix = vec!["expand".to_owned()];
        let other = Tool { prefix, ..self.tested.clone() };
        let cpu = outcome.cpu;
        outcome = other.run(&expand, self.cwd, None, LIMIT)?;
        outcome.cpu += cpu;
        fs::remove_file(&self.file).map_err(io_error("remove", &self.file))?;
        Ok(Crossed { outcome, bytes })
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
